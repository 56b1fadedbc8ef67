/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The register table, in the order of gdbserver's target descriptions: what this
 * processor has, by the kernel's word (Documentation/arch/arm64/elf_hwcaps.rst). All
 * values but those of SVE and SME lie in their regsets as they are (kernel
 * arch/arm64/include/uapi/asm/ptrace.h, arch/arm64/kernel/ptrace.c).
 *
 * In streaming mode a thread has the registers of SVE in another regset.
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

#include "arch/aarch64/sme.h"
#include "arch/aarch64/sve.h"
#include "arch/register_table.h"

/* Newer than glibc 2.36's, or than its kernel headers. */
#ifndef HWCAP_GCS
#define HWCAP_GCS (1UL << 32)
#endif
#ifndef HWCAP2_SME
#define HWCAP2_SME (1 << 23)
#endif
#ifndef HWCAP2_SME2
#define HWCAP2_SME2 (1UL << 37)
#endif
#ifndef HWCAP2_FPMR
#define HWCAP2_FPMR (1UL << 48)
#endif
#ifndef PR_SME_GET_VL
#define PR_SME_GET_VL	   64
#define PR_SME_VL_LEN_MASK 0xffff
#endif
#ifndef NT_ARM_SSVE
#define NT_ARM_SSVE 0x40b
#define NT_ARM_ZA   0x40c
#endif
#ifndef NT_ARM_ZT
#define NT_ARM_ZT 0x40d
#endif
#ifndef NT_ARM_FPMR
#define NT_ARM_FPMR 0x40e
#endif
#ifndef NT_ARM_GCS
#define NT_ARM_GCS 0x410
#endif

/* reg_def.access: as it is, or the first of these + an enum sve_part, whose number the
 * offset is then, or + an enum sme_part. */
enum { ACCESS_PLAIN, ACCESS_SVE, ACCESS_SME = ACCESS_SVE + SVE_VG + 1 };

/* struct user_gcs */
enum { GCS_ENABLED = 0, GCS_LOCKED = 8, GCS_POINTER = 16 };

enum {
	ZT_BITS = 512,
	Z_MAX = 256, /* bytes, of today's architecture */
};

#define GENERAL(name, type, member)                                                    \
	{                                                                              \
		name, AARCH64_CORE, type, NULL, 64, AARCH64_GENERAL,                   \
			offsetof(struct user_pt_regs, member),                         \
			offsetof(struct bpf_perf_event_data, regs) +                   \
				offsetof(struct user_pt_regs, member),                 \
			0, 0,                                                          \
		{                                                                      \
			0                                                              \
		}                                                                      \
	}
#define X(n) GENERAL("x" #n, "int", regs[n])
#define ACCESSED(name, feature, type, bits, regset, offset, access, also)              \
	{                                                                              \
		name, feature, type, NULL, bits, regset, offset,                       \
			REG_NOT_IN_BPF_CONTEXT, access, also,                          \
		{                                                                      \
			0                                                              \
		}                                                                      \
	}
#define OTHER(name, feature, type, bits, regset, offset)                               \
	ACCESSED(name, feature, type, bits, regset, offset, ACCESS_PLAIN, 0)
/* The vector's length comes later: these are per 16 bytes of it. */
#define SVE(name, type, bits, part, number)                                            \
	ACCESSED(name, AARCH64_SVE, type, bits, AARCH64_FPREGS, number,                \
		 ACCESS_SVE + (part), 0)
/* Whether the thread is in streaming mode, the other regset tells. */
#define SME(name, type, bits, part)                                                    \
	ACCESSED(name, AARCH64_SME, type, bits, AARCH64_ZAREGS, part,                  \
		 ACCESS_SME + (part), AARCH64_FPREGS)
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

/* The matrix's length comes later. */
static const struct reg_def sme[] = {
	SME("svg", "int", 64, SME_SVG),
	SME("svcr", "svcr_flags", 64, SME_SVCR),
	SME("za", "sme_bvv", 0, SME_ZA),
};

static const struct reg_def sme2[] = {
	OTHER("zt0", AARCH64_SME2, "sme2_bv", ZT_BITS, AARCH64_ZTREGS, 0),
};

static const struct reg_def gcs[] = {
	OTHER("gcspr", AARCH64_GCS, "data_ptr", 64, AARCH64_GCSREGS, GCS_POINTER),
	OTHER("gcs_features_enabled", AARCH64_GCS_LINUX, "features_flags", 64,
	      AARCH64_GCSREGS, GCS_ENABLED),
	OTHER("gcs_features_locked", AARCH64_GCS_LINUX, "features_flags", 64,
	      AARCH64_GCSREGS, GCS_LOCKED),
};

static const struct reg_def fpmr[] = {
	OTHER("fpmr", AARCH64_FPMR, "fpmr_flags", 64, AARCH64_FPMREGS, 0),
};

enum { ROWS_MAX = 128 };

/* Of those without a type, make_table finds out whether they are here. */
struct regset_def aarch64_regsets[AARCH64_NREGSETS] = {
	[AARCH64_GENERAL] = {.name = "general", .nt_type = NT_PRSTATUS},
	[AARCH64_FPREGS] = {.name = "fpregs"},
	[AARCH64_TLSREGS] = {.name = "tls", .nt_type = NT_ARM_TLS},
	[AARCH64_PACREGS] = {.name = "pac",
			     .nt_type = NT_ARM_PAC_MASK,
			     .read_only = true},
	[AARCH64_TAGREGS] = {.name = "tags", .nt_type = NT_ARM_TAGGED_ADDR_CTRL},
	[AARCH64_ZTREGS] = {.name = "zt"},
	[AARCH64_ZAREGS] = {.name = "za"},
	[AARCH64_GCSREGS] = {.name = "gcs"},
	[AARCH64_FPMREGS] = {.name = "fpmr"},
};

/* What this processor has; filled by init. */
static struct {
	struct reg_def table[ROWS_MAX];
	unsigned int count;
	unsigned int quads;	/* 16 bytes each, in a vector of SVE; 0: no SVE */
	unsigned int streaming; /* ... in one of streaming mode; 0: no SME */
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
			reg.bits *= here.quads;
		add(&reg, 1);
	}
}

/* Rows of so many bytes in the matrix. */
static size_t matrix_side(void)
{
	return (size_t)here.streaming * 16;
}

static void add_sme(void)
{
	for (unsigned int i = 0; i < ALL(sme); i++) {
		struct reg_def reg = sme[i];

		if (reg.access == ACCESS_SME + SME_ZA)
			reg.bits = (uint32_t)(matrix_side() * matrix_side() * 8);
		add(&reg, 1);
	}
}

/* Programs begin with the lengths that we have; one that takes another is shown as much
 * of its registers. */
static unsigned int quads_of(int length)
{
	return length < 0 ? 0 : (unsigned int)(length & PR_SVE_VL_LEN_MASK) / 16;
}

/* In streaming mode the registers are elsewhere (sme.rst, "ptrace extensions"). */
static void choose_regsets(const struct aarch64_features *features)
{
	struct regset_def *vectors = &aarch64_regsets[AARCH64_FPREGS];
	const bool has_sme = here.streaming > 0;

	*vectors = (struct regset_def){.name = "fpregs", .nt_type = NT_PRFPREG};
	if (here.quads > 0)
		*vectors = (struct regset_def){.name = "sve",
					       .nt_type = NT_ARM_SVE,
					       .other_type = has_sme ? NT_ARM_SSVE : 0,
					       .is_empty = sve_is_empty};
	aarch64_regsets[AARCH64_ZAREGS].nt_type = has_sme ? NT_ARM_ZA : 0;
	aarch64_regsets[AARCH64_ZTREGS].nt_type =
		has_sme && features->hwcap2 & HWCAP2_SME2 ? NT_ARM_ZT : 0;
	aarch64_regsets[AARCH64_GCSREGS].nt_type =
		features->hwcap & HWCAP_GCS ? NT_ARM_GCS : 0;
	aarch64_regsets[AARCH64_FPMREGS].nt_type =
		features->hwcap2 & HWCAP2_FPMR ? NT_ARM_FPMR : 0;
}

static void choose_lengths(const struct aarch64_features *features)
{
	const size_t side = (size_t)features->streaming * 16;

	here.quads = features->quads * 16 > Z_MAX ? 0 : features->quads;
	/* Without SVE outside of streaming mode, its state would come and go. */
	here.streaming =
		here.quads == 0 || side * side > REG_MAX_SIZE ? 0 : features->streaming;
}

void aarch64_make_table(const struct aarch64_features *features)
{
	here.count = 0;
	choose_lengths(features);
	choose_regsets(features);
	add(core, ALL(core));
	if (here.quads > 0)
		add_sve();
	else
		add(fpu, ALL(fpu));
	if (features->hwcap & HWCAP_PACA)
		add(pauth, ALL(pauth));
	if (features->hwcap2 & HWCAP2_MTE)
		add(mte, ALL(mte));
	add(tls, features->hwcap2 & HWCAP2_SME ? 2 : 1);
	if (here.streaming > 0)
		add_sme();
	if (aarch64_regsets[AARCH64_ZTREGS].nt_type)
		add(sme2, ALL(sme2));
	if (aarch64_regsets[AARCH64_GCSREGS].nt_type)
		add(gcs, ALL(gcs));
	if (aarch64_regsets[AARCH64_FPMREGS].nt_type)
		add(fpmr, ALL(fpmr));
}

void aarch64_registers_init(void)
{
	struct aarch64_features features = {
		.hwcap = getauxval(AT_HWCAP),
		.hwcap2 = getauxval(AT_HWCAP2),
	};

	if (features.hwcap & HWCAP_SVE)
		features.quads = quads_of(prctl(PR_SVE_GET_VL));
	if (features.hwcap2 & HWCAP2_SME)
		features.streaming = quads_of(prctl(PR_SME_GET_VL));
	aarch64_make_table(&features);
}

unsigned int aarch64_vector_quads(void)
{
	return here.quads;
}

unsigned int aarch64_streaming_quads(void)
{
	return here.streaming;
}

const struct reg_def *aarch64_registers(unsigned int *count)
{
	*count = here.count;
	return here.table;
}

static bool is_sme(const struct reg_def *reg)
{
	return reg->access >= ACCESS_SME;
}

static bool is_streaming(const struct regs *regs)
{
	return regs->by_other[AARCH64_FPREGS];
}

/* What tells of streaming mode is missing. */
static bool lacks_mode(const struct regs *regs, const struct reg_def *reg)
{
	return reg->access == ACCESS_SME + SME_SVCR && regs->size[AARCH64_FPREGS] == 0;
}

int aarch64_reg_read(const struct regs *regs, const struct reg_def *reg, void *value)
{
	const unsigned char *data = regs->data[reg->regset];
	size_t size = reg_size(reg);

	if (lacks_mode(regs, reg))
		return -ENODATA;
	if (is_sme(reg))
		return sme_read(data, regs->size[reg->regset], is_streaming(regs),
				reg->access - ACCESS_SME, matrix_side(), value, size);
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

	if (lacks_mode(regs, reg))
		return -ENODATA;
	if (is_sme(reg))
		return sme_write(data, &regs->size[reg->regset], REGSET_MAX_SIZE,
				 is_streaming(regs), reg->access - ACCESS_SME,
				 matrix_side(), value, size);
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
