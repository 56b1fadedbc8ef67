/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The register table, in the order of gdbserver's target descriptions: what this
 * processor has, by the kernel's word (Documentation/arch/arm64/elf_hwcaps.rst). All
 * values but those of SVE lie in their regsets as they are (kernel
 * arch/arm64/include/uapi/asm/ptrace.h, arch/arm64/kernel/ptrace.c).
 */
#include "arch/aarch64/aarch64.h"

#include <asm/ptrace.h>
#include <elf.h>
#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "arch/aarch64/sve.h"
#include "arch/register_table.h"

/* Newer than glibc 2.36's, or than its kernel headers. */
#ifndef HWCAP2_SME
#define HWCAP2_SME (1 << 23)
#endif

/* reg_def.access: as it is, or 1 + an enum sve_part; the offset is a number then. */
enum { ACCESS_PLAIN, ACCESS_SVE };

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
#define ACCESSED(name, feature, type, bits, regset, offset, access)                    \
	{                                                                              \
		name, feature, type, NULL, bits, regset, offset,                       \
			REG_NOT_IN_BPF_CONTEXT, access,                                \
		{                                                                      \
			0                                                              \
		}                                                                      \
	}
#define OTHER(name, feature, type, bits, regset, offset)                               \
	ACCESSED(name, feature, type, bits, regset, offset, ACCESS_PLAIN)
/* The vector's length comes later: these are per 16 bytes of it. */
#define SVE(name, type, bits, part, number)                                            \
	ACCESSED(name, AARCH64_SVE, type, bits, AARCH64_FPREGS, number,                \
		 ACCESS_SVE + (part))
#define Z(n) SVE("z" #n, "svev", 128, SVE_Z, n)
#define P(n) SVE("p" #n, "svep", 16, SVE_P, n)
#define V(n)                                                                           \
	OTHER("v" #n, AARCH64_FPU, "aarch64v", 128, AARCH64_FPREGS,                    \
	      offsetof(struct user_fpsimd_state, vregs[n]))

const struct bpf_user_mode aarch64_user_mode = {
	.offset = offsetof(struct bpf_perf_event_data, regs) +
		  offsetof(struct user_pt_regs, pstate),
	.mask = PSR_MODE_MASK,
	.user = PSR_MODE_EL0t,
};

#define ROWS_0_15(row)                                                                 \
	row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7), row(8),        \
		row(9), row(10), row(11), row(12), row(13), row(14), row(15)
#define ROWS_16_30(row)                                                                \
	row(16), row(17), row(18), row(19), row(20), row(21), row(22), row(23),        \
		row(24), row(25), row(26), row(27), row(28), row(29), row(30)

static const struct reg_def core[] = {
	ROWS_0_15(X),
	ROWS_16_30(X),
	GENERAL("sp", "data_ptr", sp),
	GENERAL("pc", "code_ptr", pc),
	/* The BPF context has pstate, but not the SS bit that ptrace shows. */
	OTHER("cpsr", AARCH64_CORE, "cpsr_flags", 32, AARCH64_GENERAL,
	      offsetof(struct user_pt_regs, pstate)),
};

static const struct reg_def fpu[] = {
	ROWS_0_15(V),
	ROWS_16_30(V),
	V(31),
	OTHER("fpsr", AARCH64_FPU, "fpsr_flags", 32, AARCH64_FPREGS,
	      offsetof(struct user_fpsimd_state, fpsr)),
	OTHER("fpcr", AARCH64_FPU, "fpcr_flags", 32, AARCH64_FPREGS,
	      offsetof(struct user_fpsimd_state, fpcr)),
};

static const struct reg_def sve[] = {
	ROWS_0_15(Z),
	ROWS_16_30(Z),
	Z(31),
	SVE("fpsr", "int", 32, SVE_FPSR, 0),
	SVE("fpcr", "int", 32, SVE_FPCR, 0),
	ROWS_0_15(P),
	SVE("ffr", "svep", 16, SVE_FFR, 0),
	SVE("vg", "int", 64, SVE_VG, 0),
};

/* Which bits of an address hold its signature. */
static const struct reg_def pauth[] = {
	OTHER("pauth_dmask", AARCH64_PAUTH, "int", 64, AARCH64_PACREGS,
	      offsetof(struct user_pac_mask, data_mask)),
	OTHER("pauth_cmask", AARCH64_PAUTH, "int", 64, AARCH64_PACREGS,
	      offsetof(struct user_pac_mask, insn_mask)),
};

static const struct reg_def mte[] = {
	OTHER("tag_ctl", AARCH64_MTE, "uint64", 64, AARCH64_TAGREGS, 0),
};

static const struct reg_def tls[] = {
	OTHER("tpidr", AARCH64_TLS, "data_ptr", 64, AARCH64_TLSREGS, 0),
	OTHER("tpidr2", AARCH64_TLS, "data_ptr", 64, AARCH64_TLSREGS, 8),
};

enum { ROWS_MAX = 128 };

struct regset_def aarch64_regsets[AARCH64_NREGSETS] = {
	[AARCH64_GENERAL] = {"general", NT_PRSTATUS, false},
	[AARCH64_FPREGS] = {"fpregs", NT_PRFPREG, false}, /* or NT_ARM_SVE */
	[AARCH64_TLSREGS] = {"tls", NT_ARM_TLS, false},
	[AARCH64_PACREGS] = {"pac", NT_ARM_PAC_MASK, true},
	[AARCH64_TAGREGS] = {"tags", NT_ARM_TAGGED_ADDR_CTRL, false},
};

/* What this processor has; filled by init. */
static struct {
	struct reg_def table[ROWS_MAX];
	unsigned int count;
	unsigned int quads; /* 16 bytes each, in a vector of SVE; 0: no SVE */
} here;

static void add(const struct reg_def *rows, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		here.table[here.count++] = rows[i];
}

#define ALL(rows) (sizeof(rows) / sizeof((rows)[0]))

static void add_sve(void)
{
	for (unsigned int i = 0; i < ALL(sve); i++) {
		struct reg_def reg = sve[i];

		if (reg.access != ACCESS_SVE + SVE_FPSR &&
		    reg.access != ACCESS_SVE + SVE_FPCR &&
		    reg.access != ACCESS_SVE + SVE_VG)
			reg.bits = (uint16_t)(reg.bits * here.quads);
		add(&reg, 1);
	}
	aarch64_regsets[AARCH64_FPREGS] =
		(struct regset_def){"sve", NT_ARM_SVE, false, false};
}

/* Programs begin with the length that we have; one that takes another is shown as much
 * of its registers. */
static unsigned int vector_quads(void)
{
	const int length = getauxval(AT_HWCAP) & HWCAP_SVE ? prctl(PR_SVE_GET_VL) : 0;
	const unsigned int quads =
		length < 0 ? 0 : (unsigned int)(length & PR_SVE_VL_LEN_MASK) / 16;

	return quads * 16 > REG_MAX_SIZE ? 0 : quads;
}

void aarch64_registers_init(void)
{
	const unsigned long more = getauxval(AT_HWCAP2);

	here.count = 0;
	here.quads = vector_quads();
	add(core, ALL(core));
	if (here.quads > 0)
		add_sve();
	else
		add(fpu, ALL(fpu));
	if (getauxval(AT_HWCAP) & HWCAP_PACA)
		add(pauth, ALL(pauth));
	if (more & HWCAP2_MTE)
		add(mte, ALL(mte));
	add(tls, more & HWCAP2_SME ? 2 : 1);
}

unsigned int aarch64_vector_quads(void)
{
	return here.quads;
}

const struct reg_def *aarch64_registers(unsigned int *count)
{
	*count = here.count;
	return here.table;
}

int aarch64_reg_read(const struct regs *regs, const struct reg_def *reg, void *value)
{
	const unsigned char *data = regs->data[reg->regset];
	size_t size = reg_size(reg);

	if (reg->access >= ACCESS_SVE)
		return sve_read(data, regs->size[reg->regset], reg->access - ACCESS_SVE,
				reg->offset, value, size);
	if (reg->offset + size > regs->size[reg->regset])
		return -ENODATA;
	memcpy(value, data + reg->offset, size);
	return 0;
}

int aarch64_reg_write(struct regs *regs, const struct reg_def *reg, const void *value)
{
	unsigned char *data = regs->data[reg->regset];
	size_t size = reg_size(reg);

	if (reg->access >= ACCESS_SVE)
		return sve_write(data, &regs->size[reg->regset], REGSET_MAX_SIZE,
				 reg->access - ACCESS_SVE, reg->offset, value, size);
	if (reg->offset + size > regs->size[reg->regset])
		return -ENODATA;
	memcpy(data + reg->offset, value, size);
	return 0;
}

/* libthread_db gives the size of what glibc keeps below the thread pointer. */
int aarch64_thread_area(const struct regs *regs, int index, uint64_t *addr)
{
	int r = reg_read_named(regs, "tpidr", addr);

	*addr -= (uint64_t)(int64_t)index;
	return r;
}
