/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The register table, in the order of gdbserver's target descriptions.
 *
 * The x87, vector and protection-key registers are components of the extended
 * state that XSAVE writes in its standard format (Intel SDM volume 1, "Managing
 * State Using the XSAVE Feature Set"), which is what NT_X86_XSTATE holds. The
 * CPUID leaf 0xD gives the place of each component; the header's first word,
 * XSTATE_BV, has a bit for each component that is not in its initial state.
 * What memory holds for a component without its bit is not its value.
 *
 * The shadow stack pointer, also a component of it, has a regset of its own, as the
 * kernel keeps it with what it does not show (arch/x86/kernel/fpu/regset.c, ssp_get).
 * Threads without a shadow stack do not have it.
 */
#include "arch/x86_64/x86_64.h"

#include <asm/processor-flags.h>
#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <linux/bpf_perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/reg.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>

#include "arch/register_table.h"

/* Newer than glibc 2.36, or than its kernel headers. */
#ifndef NT_X86_SHSTK
#define NT_X86_SHSTK 0x204
#endif
#ifndef __NR_map_shadow_stack
#define __NR_map_shadow_stack 453
#endif

enum component {
	X87 = 0,
	SSE = 1,
	AVX = 2,
	OPMASK = 5,
	ZMM_HI256 = 6,
	HI16_ZMM = 7,
	PKRU = 9,
	NCOMPONENTS,
	NO_COMPONENT = NCOMPONENTS,
};

#define BIT(component) (UINT32_C(1) << (component))

/* The first 512 bytes of the area: what FXSAVE64 writes. */
enum {
	FX_CONTROL = 0,
	FX_STATUS = 2,
	FX_TAG = 4, /* abridged: a bit per physical register, set if not empty */
	FX_OPCODE = 6,
	FX_INSN = 8,  /* 64 bits; fioff and fiseg are its halves */
	FX_DATA = 16, /* likewise fooff and foseg */
	FX_MXCSR = 24,
	FX_ST = 32, /* 16 bytes each */
	FX_XMM = 160,
	FX_XMM_END = 416,
	FX_SIZE = 512,
	XSTATE_BV = FX_SIZE,
	XSTATE_EXTENDED = 576,
};

enum {
	CONTROL_INIT = 0x37f,
	TAG_INIT = 0xffff, /* all empty */
	MXCSR_INIT = 0x1f80,
};

/* How the value lies in memory: reg_def.access. */
enum access {
	ACCESS_GENERAL,
	ACCESS_X87,
	ACCESS_X87_WORD,
	ACCESS_X87_CONTROL,
	ACCESS_X87_TAG,
	ACCESS_MXCSR,
	ACCESS_SSE,
	ACCESS_AVX,
	ACCESS_OPMASK,
	ACCESS_ZMM_HI256,
	ACCESS_HI16_ZMM,
	ACCESS_PKRU,
};

static const struct access_def {
	uint32_t live;	   /* components any of which makes the value live */
	uint32_t init;	   /* the value if none does */
	uint8_t component; /* what a write makes live */
	uint8_t stored;	   /* bytes in memory; 0: all of the register's */
} accesses[] = {
	[ACCESS_GENERAL] = {0, 0, NO_COMPONENT, 0},
	[ACCESS_X87] = {BIT(X87), 0, X87, 0},
	[ACCESS_X87_WORD] = {BIT(X87), 0, X87, 2},
	[ACCESS_X87_CONTROL] = {BIT(X87), CONTROL_INIT, X87, 2},
	[ACCESS_X87_TAG] = {BIT(X87), TAG_INIT, X87, 1},
	[ACCESS_MXCSR] = {BIT(SSE) | BIT(AVX), MXCSR_INIT, SSE, 0},
	[ACCESS_SSE] = {BIT(SSE), 0, SSE, 0},
	[ACCESS_AVX] = {BIT(AVX), 0, AVX, 0},
	[ACCESS_OPMASK] = {BIT(OPMASK), 0, OPMASK, 0},
	[ACCESS_ZMM_HI256] = {BIT(ZMM_HI256), 0, ZMM_HI256, 0},
	[ACCESS_HI16_ZMM] = {BIT(HI16_ZMM), 0, HI16_ZMM, 0},
	[ACCESS_PKRU] = {BIT(PKRU), 0, PKRU, 0},
};

_Static_assert(sizeof(struct pt_regs) == offsetof(struct user_regs_struct, fs_base),
	       "the BPF context is what user_regs_struct begins with");

/* The privilege level in the code segment's selector. */
const struct bpf_user_mode x86_64_user_mode = {
	.offset = offsetof(struct bpf_perf_event_data, regs) +
		  offsetof(struct pt_regs, cs),
	.mask = 3,
	.user = 3,
};

struct regset_def x86_64_regsets[X86_64_NREGSETS] = {
	[X86_64_GENERAL] = {.name = "general", .nt_type = NT_PRSTATUS},
	/* NT_PRFPREG, its first 512 bytes, if the processor has no XSAVE. */
	[X86_64_XSTATE] = {.name = "xstate", .nt_type = NT_X86_XSTATE},
	/* NT_X86_SHSTK, if there are shadow stacks. */
	[X86_64_SHSTK] = {.name = "shstk", .optional = true},
};

#define RULED(name, feature, type, bits, bpf, ...)                                     \
	{                                                                              \
#name, feature, type, NULL, bits, X86_64_GENERAL,                      \
			offsetof(struct user_regs_struct, name), bpf, ACCESS_GENERAL,  \
			0, __VA_ARGS__                                                 \
	}
#define GENERAL(name, feature, type, bits, bpf)                                        \
	RULED(name, feature, type, bits, bpf, {0})
#define IN_BPF(name)                                                                   \
	(offsetof(struct bpf_perf_event_data, regs) + offsetof(struct pt_regs, name))
#define BPF_GENERAL(name, type) GENERAL(name, X86_64_CORE, type, 64, IN_BPF(name))
/* At an execute breakpoint the kernel sets RF after the program has run; a TF that
 * ptrace has set, ptrace hides (kernel arch/x86/kernel/hw_breakpoint.c, ptrace.c). */
#define FLAGS(name, type)                                                              \
	RULED(name, X86_64_CORE, type, 32, IN_BPF(name),                               \
	      {.set = X86_EFLAGS_RF, .unsure = X86_EFLAGS_TF})
/* Newer kernels have other things in the upper bits. */
#define SELECTOR(name) RULED(name, X86_64_CORE, "int32", 32, IN_BPF(name), {.bits = 16})
#define NOT_BPF_GENERAL(name, feature, type, bits)                                     \
	GENERAL(name, feature, type, bits, REG_NOT_IN_BPF_CONTEXT)

/* Extended components are placed relative to their start here; init adds it. */
#define XSTATE(name, feature, type, group, bits, offset, access)                       \
	{                                                                              \
		name, feature, type, group, bits, X86_64_XSTATE, offset,               \
			REG_NOT_IN_BPF_CONTEXT, access, 0,                             \
		{                                                                      \
			0                                                              \
		}                                                                      \
	}
#define X87_ENVIRONMENT(name, offset, access)                                          \
	XSTATE(name, X86_64_CORE, "int", "float", 32, offset, access)
#define ST(n)                                                                          \
	XSTATE("st" #n, X86_64_CORE, "i387_ext", NULL, 80, FX_ST + 16 * (n), ACCESS_X87)
#define XMM(n)                                                                         \
	XSTATE("xmm" #n, X86_64_SSE, "vec128", NULL, 128, FX_XMM + 16 * (n), ACCESS_SSE)
#define YMMH(n)                                                                        \
	XSTATE("ymm" #n "h", X86_64_AVX, "uint128", NULL, 128, 16 * (n), ACCESS_AVX)
#define HI16(name, type, bits, n, part)                                                \
	XSTATE(name, X86_64_AVX512, type, NULL, bits, 64 * ((n)-16) + (part),          \
	       ACCESS_HI16_ZMM)
#define XMM_HI16(n)  HI16("xmm" #n, "vec128", 128, n, 0)
#define YMMH_HI16(n) HI16("ymm" #n "h", "uint128", 128, n, 16)
#define ZMMH_HI16(n) HI16("zmm" #n "h", "v2ui128", 256, n, 32)
#define K(n)	     XSTATE("k" #n, X86_64_AVX512, "uint64", NULL, 64, 8 * (n), ACCESS_OPMASK)
#define ZMMH(n)                                                                        \
	XSTATE("zmm" #n "h", X86_64_AVX512, "v2ui128", NULL, 256, 32 * (n),            \
	       ACCESS_ZMM_HI256)

#define ROWS_0_7(row) row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)
#define ROWS_0_15(row)                                                                 \
	ROWS_0_7(row), row(8), row(9), row(10), row(11), row(12), row(13), row(14),    \
		row(15)
#define ROWS_16_31(row)                                                                \
	row(16), row(17), row(18), row(19), row(20), row(21), row(22), row(23),        \
		row(24), row(25), row(26), row(27), row(28), row(29), row(30), row(31)

/* Every register of every processor. */
static const struct reg_def all_registers[] = {
	BPF_GENERAL(rax, "int64"),
	BPF_GENERAL(rbx, "int64"),
	BPF_GENERAL(rcx, "int64"),
	BPF_GENERAL(rdx, "int64"),
	BPF_GENERAL(rsi, "int64"),
	BPF_GENERAL(rdi, "int64"),
	BPF_GENERAL(rbp, "data_ptr"),
	BPF_GENERAL(rsp, "data_ptr"),
	BPF_GENERAL(r8, "int64"),
	BPF_GENERAL(r9, "int64"),
	BPF_GENERAL(r10, "int64"),
	BPF_GENERAL(r11, "int64"),
	BPF_GENERAL(r12, "int64"),
	BPF_GENERAL(r13, "int64"),
	BPF_GENERAL(r14, "int64"),
	BPF_GENERAL(r15, "int64"),
	BPF_GENERAL(rip, "code_ptr"),
	FLAGS(eflags, "i386_eflags"),
	SELECTOR(cs),
	SELECTOR(ss),
	NOT_BPF_GENERAL(ds, X86_64_CORE, "int32", 32),
	NOT_BPF_GENERAL(es, X86_64_CORE, "int32", 32),
	NOT_BPF_GENERAL(fs, X86_64_CORE, "int32", 32),
	NOT_BPF_GENERAL(gs, X86_64_CORE, "int32", 32),
	ROWS_0_7(ST),
	X87_ENVIRONMENT("fctrl", FX_CONTROL, ACCESS_X87_CONTROL),
	X87_ENVIRONMENT("fstat", FX_STATUS, ACCESS_X87_WORD),
	X87_ENVIRONMENT("ftag", FX_TAG, ACCESS_X87_TAG),
	X87_ENVIRONMENT("fiseg", FX_INSN + 4, ACCESS_X87_WORD),
	X87_ENVIRONMENT("fioff", FX_INSN, ACCESS_X87),
	X87_ENVIRONMENT("foseg", FX_DATA + 4, ACCESS_X87_WORD),
	X87_ENVIRONMENT("fooff", FX_DATA, ACCESS_X87),
	X87_ENVIRONMENT("fop", FX_OPCODE, ACCESS_X87_WORD),
	ROWS_0_15(XMM),
	XSTATE("mxcsr", X86_64_SSE, "i386_mxcsr", "vector", 32, FX_MXCSR, ACCESS_MXCSR),
	GENERAL(orig_rax, X86_64_LINUX, "int", 64, IN_BPF(orig_rax)),
	NOT_BPF_GENERAL(fs_base, X86_64_SEGMENTS, "int", 64),
	NOT_BPF_GENERAL(gs_base, X86_64_SEGMENTS, "int", 64),
	ROWS_0_15(YMMH),
	ROWS_16_31(XMM_HI16),
	ROWS_16_31(YMMH_HI16),
	ROWS_0_7(K),
	ROWS_0_15(ZMMH),
	ROWS_16_31(ZMMH_HI16),
	XSTATE("pkru", X86_64_PKEYS, "uint32", NULL, 32, 0, ACCESS_PKRU),
	{
		"pl3_ssp",
		X86_64_SSP,
		"data_ptr",
		NULL,
		64,
		X86_64_SHSTK,
		0,
		REG_NOT_IN_BPF_CONTEXT,
		ACCESS_GENERAL,
		0,
		{0},
	},
};

enum { ALL_REGISTERS = sizeof(all_registers) / sizeof(all_registers[0]) };

/* What this processor has of them; filled by init. */
static struct {
	struct reg_def table[ALL_REGISTERS];
	unsigned int count;
	struct {
		uint32_t offset, size;
	} component[NCOMPONENTS];
} here;

/* XCR0: the components that the kernel has enabled; 0: no XSAVE at all. */
static uint64_t enabled_components(void)
{
	unsigned int eax, ebx, ecx, edx;

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSXSAVE))
		return 0;
	__asm__ volatile("xgetbv" : "=a"(eax), "=d"(edx) : "c"(0));
	return (uint64_t)edx << 32 | eax;
}

static void locate_components(uint64_t enabled)
{
	here.component[X87].offset = FX_ST;
	here.component[X87].size = FX_XMM - FX_ST;
	here.component[SSE].offset = FX_XMM;
	here.component[SSE].size = FX_XMM_END - FX_XMM;
	for (unsigned int i = AVX; i < NCOMPONENTS; i++) {
		unsigned int ecx, edx;

		if (enabled & BIT(i))
			__cpuid_count(0xd, i, here.component[i].size,
				      here.component[i].offset, ecx, edx);
	}
}

/* Does the kernel make shadow stacks for programs? Then it looks at the flags, and does
 * not know these (arch/x86/kernel/shstk.c, map_shadow_stack). */
static bool kernel_has_shadow_stacks(void)
{
	return syscall(__NR_map_shadow_stack, 0UL, 0UL, ~0U) < 0 && errno == EINVAL;
}

void x86_64_make_table(bool has_shadow_stacks)
{
	const uint64_t avx512 = BIT(OPMASK) | BIT(ZMM_HI256) | BIT(HI16_ZMM);
	uint64_t enabled = enabled_components();

	if (enabled == 0) {
		x86_64_regsets[X86_64_XSTATE] =
			(struct regset_def){.name = "fpregs", .nt_type = NT_PRFPREG};
		enabled = BIT(X87) | BIT(SSE);
	}
	/* They come together or not at all, and so does their feature. */
	if ((enabled & avx512) != avx512)
		enabled &= ~avx512;
	locate_components(enabled);
	x86_64_regsets[X86_64_SHSTK].nt_type = has_shadow_stacks ? NT_X86_SHSTK : 0;
	here.count = 0;
	for (unsigned int i = 0; i < ALL_REGISTERS; i++) {
		struct reg_def reg = all_registers[i];
		unsigned int component = accesses[reg.access].component;

		if (component != NO_COMPONENT && !(enabled & BIT(component)))
			continue;
		if (reg.regset == X86_64_SHSTK && !has_shadow_stacks)
			continue;
		if (component != NO_COMPONENT && component >= AVX)
			reg.offset += here.component[component].offset;
		here.table[here.count++] = reg;
	}
}

struct error *x86_64_init(void)
{
	x86_64_make_table(kernel_has_shadow_stacks());
	return NULL;
}

const struct reg_def *x86_64_registers(unsigned int *count)
{
	*count = here.count;
	return here.table;
}

/* ---- values ---- */

static uint16_t get_u16(const unsigned char *data)
{
	uint16_t value;

	memcpy(&value, data, sizeof(value));
	return value;
}

static void put_u16(unsigned char *data, uint16_t value)
{
	memcpy(data, &value, sizeof(value));
}

static void put_u32(unsigned char *data, uint32_t value)
{
	memcpy(data, &value, sizeof(value));
}

/* XSTATE_BV; without XSAVE every component is live. */
static uint64_t live_components(const struct regs *regs)
{
	uint64_t bits = UINT64_MAX;

	if (regs->size[X86_64_XSTATE] >= XSTATE_EXTENDED)
		memcpy(&bits, regs->data[X86_64_XSTATE] + XSTATE_BV, sizeof(bits));
	return bits;
}

static bool is_live(const struct regs *regs, const struct access_def *access)
{
	return access->live == 0 || (live_components(regs) & access->live);
}

enum tag { TAG_VALID, TAG_ZERO, TAG_SPECIAL, TAG_EMPTY };

/* What the processor would say of a register that is not empty (Intel SDM volume
 * 1, "x87 FPU Tag Word"; the formats in "Operating With X87 FPU Data Types"). */
static enum tag classify(const unsigned char *st)
{
	unsigned int exponent = get_u16(st + 8) & 0x7fff;
	uint64_t significand;

	memcpy(&significand, st, sizeof(significand));
	if (exponent == 0)
		return significand == 0 ? TAG_ZERO : TAG_SPECIAL;
	if (exponent == 0x7fff)
		return TAG_SPECIAL;
	return significand >> 63 ? TAG_VALID : TAG_SPECIAL;
}

/* The full tag word: two bits per physical register. */
static uint16_t full_tag(const unsigned char *fx)
{
	unsigned int top = get_u16(fx + FX_STATUS) >> 11 & 7;
	uint16_t full = 0;

	for (unsigned int physical = 0; physical < 8; physical++) {
		unsigned int st = (physical - top) & 7;
		enum tag tag = TAG_EMPTY;

		if (fx[FX_TAG] >> physical & 1)
			tag = classify(fx + FX_ST + (size_t)16 * st);
		full |= tag << 2 * physical;
	}
	return full;
}

static uint8_t abridged_tag(uint16_t full)
{
	uint8_t abridged = 0;

	for (unsigned int physical = 0; physical < 8; physical++)
		if ((full >> 2 * physical & 3) != TAG_EMPTY)
			abridged |= 1U << physical;
	return abridged;
}

int x86_64_reg_read(const struct regs *regs, const struct reg_def *reg, void *value)
{
	const struct access_def *access = &accesses[reg->access];
	const unsigned char *data = regs->data[reg->regset];
	size_t size = reg_size(reg);
	size_t stored = access->stored ? access->stored : size;

	if (reg->offset + stored > regs->size[reg->regset])
		return -ENODATA;
	memset(value, 0, size);
	if (!is_live(regs, access))
		memcpy(value, &access->init,
		       size < sizeof(access->init) ? size : sizeof(access->init));
	else if (reg->access == ACCESS_X87_TAG)
		put_u16(value, full_tag(data));
	else
		memcpy(value, data + reg->offset, stored);
	return 0;
}

/*
 * Makes a component live: writes its initial state and sets its bit. MXCSR
 * belongs to SSE and AVX both, and the kernel checks it for x87 as well.
 */
static void make_live(struct regs *regs, unsigned int component)
{
	unsigned char *data = regs->data[X86_64_XSTATE];
	uint64_t live = live_components(regs);

	if (live & BIT(component))
		return;
	if (!(live & (BIT(SSE) | BIT(AVX))))
		put_u32(data + FX_MXCSR, MXCSR_INIT);
	if (component == X87) {
		memset(data, 0, FX_MXCSR);
		put_u16(data + FX_CONTROL, CONTROL_INIT);
	}
	memset(data + here.component[component].offset, 0,
	       here.component[component].size);
	live |= BIT(component);
	memcpy(data + XSTATE_BV, &live, sizeof(live));
}

int x86_64_reg_write(struct regs *regs, const struct reg_def *reg, const void *value)
{
	const struct access_def *access = &accesses[reg->access];
	unsigned char *data = regs->data[reg->regset];
	size_t stored = access->stored ? access->stored : reg_size(reg);

	if (reg->offset + stored > regs->size[reg->regset])
		return -ENODATA;
	if (!is_live(regs, access))
		make_live(regs, access->component);
	if (reg->access == ACCESS_X87_TAG)
		data[FX_TAG] = abridged_tag(get_u16(value));
	else
		memcpy(data + reg->offset, value, stored);
	return 0;
}

/* libthread_db names the segment register by its place in struct user. */
int x86_64_thread_area(const struct regs *regs, int index, uint64_t *addr)
{
	if (index == FS)
		return reg_read_named(regs, "fs_base", addr);
	if (index == GS)
		return reg_read_named(regs, "gs_base", addr);
	return -EINVAL;
}
