/* SPDX-License-Identifier: BSD-2-Clause */
/* Known values in many registers, and what a debugger left in them. */
#include <stdint.h>
#include <stdio.h>

static uint64_t out_rbx, out_rax, out_xmm[2], out_ymm[4];
static long double out_st0;
static uint64_t vector[4] = {0x1111111111111111, 0x2222222222222222, 0x3333333333333333,
			     0x4444444444444444};

static void general(void)
{
	__asm__ volatile("mov $0x0123456789abcdef, %%rax\n\t"
			 "mov $0x7766554433221100, %%rbx\n\t"
			 ".globl stop_general\n"
			 "stop_general: nop\n\t"
			 "mov %%rax, %0\n\t"
			 "mov %%rbx, %1\n\t"
			 : "=m"(out_rax), "=m"(out_rbx)
			 :
			 : "rax", "rbx");
}

static void sse(void)
{
	__asm__ volatile("movdqu %1, %%xmm3\n\t"
			 ".globl stop_sse\n"
			 "stop_sse: nop\n\t"
			 "movdqu %%xmm3, %0\n\t"
			 : "=m"(out_xmm)
			 : "m"(vector)
			 : "xmm3");
}

static void avx(void)
{
	__asm__ volatile("vmovdqu %1, %%ymm5\n\t"
			 ".globl stop_avx\n"
			 "stop_avx: nop\n\t"
			 "vmovdqu %%ymm5, %0\n\t"
			 : "=m"(out_ymm)
			 : "m"(vector)
			 : "xmm5");
}

static void x87(void)
{
	double x = 2.5;

	__asm__ volatile("fldl %1\n\t"
			 ".globl stop_x87\n"
			 "stop_x87: nop\n\t"
			 "fstpt %0\n\t"
			 : "=m"(out_st0)
			 : "m"(x)
			 : "st");
}

int main(void)
{
	general();
	sse();
	x87();
	printf("rax %llx rbx %llx\n", (unsigned long long)out_rax,
	       (unsigned long long)out_rbx);
	printf("xmm3 %llx %llx\n", (unsigned long long)out_xmm[0],
	       (unsigned long long)out_xmm[1]);
	printf("st0 %Lg\n", out_st0);
	if (__builtin_cpu_supports("avx")) {
		avx();
		printf("ymm5 %llx %llx\n", (unsigned long long)out_ymm[0],
		       (unsigned long long)out_ymm[3]);
	}
	return 0;
}
