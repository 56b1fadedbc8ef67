/* SPDX-License-Identifier: BSD-2-Clause */
/* shadow: turns its shadow stack on, as a C library may before main, and calls
 * functions with it. Status 77: there are no shadow stacks. */
#include <sys/syscall.h>
#include <unistd.h>

enum { SHSTK_ENABLE = 0x5001, SHSTK = 1 }; /* <asm/prctl.h>, as of Linux 6.6 */

__attribute__((noinline)) int twice(int x)
{
	return 2 * x;
}

__attribute__((noinline)) static int work(int x)
{
	return twice(x) + 1;
}

/* No function may return that was called before. */
__attribute__((always_inline)) static inline long shadow_stack_on(void)
{
	long ret = -1;
#ifdef __x86_64__
	register long number __asm__("rax") = SYS_arch_prctl;

	__asm__ volatile("syscall"
			 : "+r"(number)
			 : "D"(SHSTK_ENABLE), "S"(SHSTK)
			 : "rcx", "r11", "memory");
	ret = number;
#endif
	return ret;
}

int main(void)
{
	if (shadow_stack_on() != 0)
		return 77;
	_exit(work(1) + work(2));
}
