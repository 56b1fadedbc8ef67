/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The register table, in the order of gdbserver's target descriptions. All
 * values lie in their regsets as they are (kernel
 * arch/arm64/include/uapi/asm/ptrace.h, arch/arm64/kernel/ptrace.c).
 */
#include "arch/aarch64/aarch64.h"

#include <asm/ptrace.h>
#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <stddef.h>
#include <string.h>

#define GENERAL(name, type, member)                                                    \
	{                                                                              \
		name, AARCH64_CORE, type, NULL, 64, AARCH64_GENERAL,                   \
			offsetof(struct user_pt_regs, member),                         \
			offsetof(struct bpf_perf_event_data, regs) +                   \
				offsetof(struct user_pt_regs, member),                 \
			0,                                                             \
		{                                                                      \
			0                                                              \
		}                                                                      \
	}
#define X(n) GENERAL("x" #n, "int", regs[n])
#define OTHER(name, feature, type, bits, regset, offset)                               \
	{                                                                              \
		name, feature, type, NULL, bits, regset, offset,                       \
			REG_NOT_IN_BPF_CONTEXT, 0,                                     \
		{                                                                      \
			0                                                              \
		}                                                                      \
	}
#define V(n)                                                                           \
	OTHER("v" #n, AARCH64_FPU, "aarch64v", 128, AARCH64_FPREGS,                    \
	      offsetof(struct user_fpsimd_state, vregs[n]))

const struct bpf_user_mode aarch64_user_mode = {
	.offset = offsetof(struct bpf_perf_event_data, regs) +
		  offsetof(struct user_pt_regs, pstate),
	.mask = PSR_MODE_MASK,
	.user = PSR_MODE_EL0t,
};

static const struct reg_def table[] = {
	X(0),
	X(1),
	X(2),
	X(3),
	X(4),
	X(5),
	X(6),
	X(7),
	X(8),
	X(9),
	X(10),
	X(11),
	X(12),
	X(13),
	X(14),
	X(15),
	X(16),
	X(17),
	X(18),
	X(19),
	X(20),
	X(21),
	X(22),
	X(23),
	X(24),
	X(25),
	X(26),
	X(27),
	X(28),
	X(29),
	X(30),
	GENERAL("sp", "data_ptr", sp),
	GENERAL("pc", "code_ptr", pc),
	/* The BPF context has pstate, but not the SS bit that ptrace shows. */
	OTHER("cpsr", AARCH64_CORE, "cpsr_flags", 32, AARCH64_GENERAL,
	      offsetof(struct user_pt_regs, pstate)),
	V(0),
	V(1),
	V(2),
	V(3),
	V(4),
	V(5),
	V(6),
	V(7),
	V(8),
	V(9),
	V(10),
	V(11),
	V(12),
	V(13),
	V(14),
	V(15),
	V(16),
	V(17),
	V(18),
	V(19),
	V(20),
	V(21),
	V(22),
	V(23),
	V(24),
	V(25),
	V(26),
	V(27),
	V(28),
	V(29),
	V(30),
	V(31),
	OTHER("fpsr", AARCH64_FPU, "fpsr_flags", 32, AARCH64_FPREGS,
	      offsetof(struct user_fpsimd_state, fpsr)),
	OTHER("fpcr", AARCH64_FPU, "fpcr_flags", 32, AARCH64_FPREGS,
	      offsetof(struct user_fpsimd_state, fpcr)),
	OTHER("tpidr", AARCH64_TLS, "data_ptr", 64, AARCH64_TLSREGS, 0),
};

const struct reg_def *aarch64_registers(unsigned int *count)
{
	*count = sizeof(table) / sizeof(table[0]);
	return table;
}

int aarch64_reg_read(const struct regs *regs, const struct reg_def *reg, void *value)
{
	size_t size = reg_size(reg);

	if (reg->offset + size > regs->size[reg->regset])
		return -ENODATA;
	memcpy(value, regs->data[reg->regset] + reg->offset, size);
	return 0;
}

int aarch64_reg_write(struct regs *regs, const struct reg_def *reg, const void *value)
{
	size_t size = reg_size(reg);

	if (reg->offset + size > regs->size[reg->regset])
		return -ENODATA;
	memcpy(regs->data[reg->regset] + reg->offset, value, size);
	return 0;
}

/* libthread_db gives the size of what glibc keeps below the thread pointer. */
int aarch64_thread_area(const struct regs *regs, int index, uint64_t *addr)
{
	int r = reg_read_named(regs, "tpidr", addr);

	*addr -= (uint64_t)(int64_t)index;
	return r;
}
