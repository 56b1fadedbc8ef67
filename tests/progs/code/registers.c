/* SPDX-License-Identifier: BSD-2-Clause */
/* Known values in many registers, and what a debugger left in them. */
#include <stdint.h>
#include <stdio.h>

#ifdef __x86_64__

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

#else

static uint64_t out_x2, out_x3, out_v3[2];
static double out_d5;
static uint64_t vector[2] = {0x1111111111111111, 0x2222222222222222};

static void general(void)
{
	__asm__ volatile("ldr x2, =0x0123456789abcdef\n\t"
			 "ldr x3, =0x7766554433221100\n\t"
			 ".globl stop_general\n"
			 "stop_general: nop\n\t"
			 "str x2, %0\n\t"
			 "str x3, %1\n\t"
			 : "=m"(out_x2), "=m"(out_x3)
			 :
			 : "x2", "x3");
}

static void vectors(void)
{
	__asm__ volatile("ldr q3, %1\n\t"
			 ".globl stop_vector\n"
			 "stop_vector: nop\n\t"
			 "str q3, %0\n\t"
			 : "=m"(out_v3)
			 : "m"(vector)
			 : "v3");
}

static void doubles(void)
{
	double x = 2.5;

	__asm__ volatile("ldr d5, %1\n\t"
			 ".globl stop_double\n"
			 "stop_double: nop\n\t"
			 "str d5, %0\n\t"
			 : "=m"(out_d5)
			 : "m"(x)
			 : "v5");
}

int main(void)
{
	general();
	vectors();
	doubles();
	printf("x2 %llx x3 %llx\n", (unsigned long long)out_x2,
	       (unsigned long long)out_x3);
	printf("v3 %llx %llx\n", (unsigned long long)out_v3[0],
	       (unsigned long long)out_v3[1]);
	printf("d5 %g\n", out_d5);
	return 0;
}

#endif
