/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes by instructions of many kinds, one function each. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int number;
static volatile uint64_t counter;
#ifdef __x86_64__
static char buffer[64];
static uint64_t stack[64];
#endif
static int pipe_fds[2];

static void by_mov(void)
{
	number = 1;
}

static void by_xadd(void)
{
	__sync_fetch_and_add(&counter, 5);
}

#ifdef __x86_64__
static void by_rep_stos(void)
{
	void *to = buffer;
	unsigned long left = sizeof(buffer);

	__asm__ volatile("rep stosb" : "+D"(to), "+c"(left) : "a"('x') : "memory");
}

/* On a stack of our own, for its addresses to be known. */
static void by_push(void)
{
	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "lea %0, %%rsp\n\t"
			 "push $7\n\t"
			 "mov %%rbx, %%rsp"
			 : "=m"(stack[32])
			 :
			 : "rbx", "memory");
}

__asm__(".text\n"
	"callee: ret\n");

static void by_call(void)
{
	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "lea %0, %%rsp\n\t"
			 "call callee\n\t"
			 "mov %%rbx, %%rsp"
			 : "=m"(stack[16])
			 :
			 : "rbx", "memory");
}
#else
static void by_rep_stos(void)
{
}
static void by_push(void)
{
}
static void by_call(void)
{
}
#endif

static void by_read(void)
{
	int value = 2;

	if (write(pipe_fds[1], &value, sizeof(value)) < 0 ||
	    read(pipe_fds[0], (void *)&number, sizeof(number)) < 0)
		perror("accesses");
}

int main(void)
{
	if (pipe(pipe_fds) < 0)
		return 1;
	by_mov();
	by_xadd();
	by_rep_stos();
	by_push();
	by_call();
	by_read();
	return 0;
}
