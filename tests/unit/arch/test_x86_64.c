/* SPDX-License-Identifier: BSD-2-Clause */
/* What is peculiar to x86_64 registers: x87 tags, components in initial state. */
#include "arch/x86_64/x86_64.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/user.h>

#include "arch/register_table.h"
#include "gdbstub/base/buffer.h"

enum { XSTATE_BV = 512, X87 = 1, SSE = 2, AVX = 4 };

/* An extended state of stale bytes with no component in use. */
static struct regs *initial_state(void)
{
	static struct regs regs;

	cr_assert_null(x86_64_init());
	regs.arch = arch_native();
	if (x86_64_regsets[X86_64_XSTATE].nt_type != NT_X86_XSTATE)
		cr_skip_test("the processor has no XSAVE");
	memset(regs.data[X86_64_XSTATE], 0xee, sizeof(regs.data[X86_64_XSTATE]));
	memset(regs.data[X86_64_XSTATE] + XSTATE_BV, 0, 8);
	regs.size[X86_64_GENERAL] = sizeof(struct user_regs_struct);
	regs.size[X86_64_XSTATE] = sizeof(regs.data[X86_64_XSTATE]);
	return &regs;
}

static uint64_t xstate_bv(const struct regs *regs)
{
	uint64_t bits;

	memcpy(&bits, regs->data[X86_64_XSTATE] + XSTATE_BV, sizeof(bits));
	return bits;
}

static uint64_t get(const struct regs *regs, const char *name)
{
	const struct reg_def *reg = reg_by_name(regs->arch, name);
	uint64_t value = 0;
	unsigned char bytes[REG_MAX_SIZE];

	cr_assert_not_null(reg, "%s", name);
	cr_assert_eq(x86_64_reg_read(regs, reg, bytes), 0);
	memcpy(&value, bytes, reg_size(reg) < 8 ? reg_size(reg) : 8);
	return value;
}

static void set(struct regs *regs, const char *name, uint64_t value)
{
	unsigned char bytes[REG_MAX_SIZE] = {0};

	memcpy(bytes, &value, sizeof(value));
	cr_assert_eq(x86_64_reg_write(regs, reg_by_name(regs->arch, name), bytes), 0);
}

static bool is_zero(const struct regs *regs, const struct reg_def *reg)
{
	static const unsigned char zero[REG_MAX_SIZE];
	unsigned char bytes[REG_MAX_SIZE];

	cr_assert_eq(x86_64_reg_read(regs, reg, bytes), 0);
	return memcmp(bytes, zero, reg_size(reg)) == 0;
}

Test(x86_64, initial_state_hides_stale_bytes)
{
	struct regs *regs = initial_state();
	unsigned int count;
	const struct reg_def *table = x86_64_registers(&count);

	for (unsigned int i = 0; i < count; i++) {
		if (table[i].regset != X86_64_XSTATE)
			continue;
		if (strcmp(table[i].name, "fctrl") == 0)
			cr_expect_eq(get(regs, "fctrl"), 0x37f);
		else if (strcmp(table[i].name, "ftag") == 0)
			cr_expect_eq(get(regs, "ftag"), 0xffff);
		else if (strcmp(table[i].name, "mxcsr") == 0)
			cr_expect_eq(get(regs, "mxcsr"), 0x1f80);
		else
			cr_expect(is_zero(regs, &table[i]), "%s", table[i].name);
	}
}

Test(x86_64, a_write_makes_its_component_live)
{
	unsigned int count;
	const struct reg_def *table;

	initial_state();
	table = x86_64_registers(&count);
	for (unsigned int i = 0; i < count; i++) {
		struct regs *regs = initial_state();
		unsigned char value[REG_MAX_SIZE], back[REG_MAX_SIZE];

		if (table[i].regset != X86_64_XSTATE)
			continue;
		memset(value, 0, sizeof(value));
		value[0] = value[1] = 0x15;
		cr_assert_eq(x86_64_reg_write(regs, &table[i], value), 0);
		cr_expect_eq(__builtin_popcountll(xstate_bv(regs)), 1, "%s",
			     table[i].name);
		/* The tag word does not keep what a tag's register is like. */
		if (strcmp(table[i].name, "ftag") != 0) {
			x86_64_reg_read(regs, &table[i], back);
			cr_expect_arr_eq(back, value, reg_size(&table[i]), "%s",
					 table[i].name);
		}
		/* The component's other bytes are no longer stale either. */
		for (unsigned int j = 0; j < count; j++)
			if (j != i && table[j].regset == X86_64_XSTATE &&
			    table[j].bits >= 64)
				cr_expect(is_zero(regs, &table[j]), "%s shows in %s",
					  table[i].name, table[j].name);
	}
}

Test(x86_64, bits_of_the_components)
{
	struct regs *regs = initial_state();

	set(regs, "st0", 1);
	cr_expect_eq(xstate_bv(regs), X87);
	cr_expect_eq(get(regs, "fctrl"), 0x37f);
	cr_expect_eq(get(regs, "ftag"), 0xffff);
	set(regs, "mxcsr", 0x1fa0);
	cr_expect_eq(xstate_bv(regs), X87 | SSE);
	cr_expect_eq(get(regs, "mxcsr"), 0x1fa0);
	set(regs, "xmm3", 7);
	cr_expect_eq(get(regs, "mxcsr"), 0x1fa0);
	cr_expect_eq(get(regs, "xmm3"), 7);
	cr_expect_eq(get(regs, "st0"), 1);
}

Test(x86_64, mxcsr_lives_with_avx_too)
{
	struct regs *regs = initial_state();

	if (!reg_by_name(regs->arch, "ymm0h"))
		cr_skip_test("the processor has no AVX");
	set(regs, "ymm5h", 1);
	cr_expect_eq(xstate_bv(regs), AVX);
	cr_expect_eq(get(regs, "mxcsr"), 0x1f80);
	set(regs, "mxcsr", 0x1fa0);
	cr_expect_eq(xstate_bv(regs), AVX);
	set(regs, "xmm0", 1);
	cr_expect_eq(xstate_bv(regs), AVX | SSE);
	cr_expect_eq(get(regs, "mxcsr"), 0x1fa0);
	cr_expect_eq(get(regs, "ymm5h"), 1);
}

static void set_st(struct regs *regs, const char *name, uint16_t exponent,
		   uint64_t significand)
{
	unsigned char bytes[REG_MAX_SIZE] = {0};

	memcpy(bytes, &significand, 8);
	memcpy(bytes + 8, &exponent, 2);
	cr_assert_eq(x86_64_reg_write(regs, reg_by_name(regs->arch, name), bytes), 0);
}

/* Two bits a physical register: 0 valid, 1 zero, 2 special, 3 empty. With TOP 3,
 * st0 is physical register 3. */
Test(x86_64, full_tag_word)
{
	const uint64_t one = UINT64_C(1) << 63;
	struct regs *regs = initial_state();
	const unsigned char *abridged = regs->data[X86_64_XSTATE] + 4;

	set(regs, "fstat", 3 << 11);
	set_st(regs, "st0", 0x3fff, one);      /* 3: 1.0: valid */
	set_st(regs, "st1", 0x8000, 0);	       /* 4: -0: zero */
	set_st(regs, "st2", 0x7fff, one);      /* 5: infinity: special */
	set_st(regs, "st3", 0, 1);	       /* 6: denormal: special */
	set_st(regs, "st4", 0x4000, one >> 1); /* 7: unnormal: special */
	set_st(regs, "st5", 0xbfff, one | 1);  /* 0: valid */
	set_st(regs, "st6", 0x3fff, one);      /* 1: made empty */
	set(regs, "ftag", 0x000c);
	cr_expect_eq(*abridged, 0xfd);
	/* Physical 2 is st7, never written: zero. */
	cr_expect_eq(get(regs, "ftag"), 0xa91c, "%#lx",
		     (unsigned long)get(regs, "ftag"));
	set(regs, "ftag", 0xffff);
	cr_expect_eq(*abridged, 0);
	cr_expect_eq(get(regs, "ftag"), 0xffff);
}

Test(x86_64, tag_words_survive_a_round_trip)
{
	struct regs *regs = initial_state();
	unsigned char *fx = regs->data[X86_64_XSTATE];

	set(regs, "fctrl", 0x37f);
	for (unsigned int tag = 0; tag < 256; tag++)
		for (unsigned int top = 0; top < 8; top++) {
			set(regs, "fstat", top << 11);
			fx[4] = (unsigned char)tag;
			set(regs, "ftag", get(regs, "ftag"));
			cr_expect_eq(fx[4], tag);
		}
}

Test(x86_64, narrow_fields_keep_their_neighbours)
{
	struct regs *regs = initial_state();

	set(regs, "fioff", 0x11223344);
	set(regs, "fiseg", 0xffff5566);
	set(regs, "fop", 0x77);
	set(regs, "fctrl", 0xffff027f);
	cr_expect_eq(get(regs, "fioff"), 0x11223344);
	cr_expect_eq(get(regs, "fiseg"), 0x5566);
	cr_expect_eq(get(regs, "fop"), 0x77);
	cr_expect_eq(get(regs, "fctrl"), 0x27f);
	cr_expect_eq(get(regs, "fstat"), 0);
	cr_expect_eq(get(regs, "fooff"), 0);
}

/* Of AMX and APX, and of what comes after them, there is no row: bits 17 and up. */
Test(x86_64, components_that_nobody_knows_stay)
{
	const uint64_t unknown = ~UINT64_C(0) << 17;
	const size_t all = sizeof(initial_state()->data[X86_64_XSTATE]);
	unsigned int count;
	const struct reg_def *table;

	initial_state();
	table = x86_64_registers(&count);
	for (unsigned int i = 0; i < count; i++) {
		struct regs *regs = initial_state();
		unsigned char *data = regs->data[X86_64_XSTATE];
		static unsigned char before[REGSET_MAX_SIZE];
		unsigned char value[REG_MAX_SIZE] = {0x15};
		size_t changed = 0;

		if (table[i].regset != X86_64_XSTATE)
			continue;
		memcpy(data + XSTATE_BV, &unknown, sizeof(unknown));
		memcpy(before, data, all);
		cr_assert_eq(x86_64_reg_write(regs, &table[i], value), 0);
		cr_expect_eq(xstate_bv(regs) & unknown, unknown, "%s", table[i].name);
		/* Its own component is the most that is made anew: the 16 upper
		 * vector registers have 1024 bytes. */
		for (size_t at = XSTATE_BV + 64; at < all; at++)
			changed += data[at] != before[at];
		cr_expect_leq(changed, 1024, "%s", table[i].name);
	}
}

/* gdb's numbers, which agent expressions name: they must never move. */
Test(x86_64, numbers)
{
	static const struct {
		const char *name;
		unsigned int number;
	} rows[] = {
		{"rax", 0},    {"rbx", 1},	 {"rbp", 6},	  {"rsp", 7},
		{"r15", 15},   {"rip", 16},	 {"eflags", 17},  {"gs", 23},
		{"st0", 24},   {"fctrl", 32},	 {"fop", 39},	  {"xmm0", 40},
		{"mxcsr", 56}, {"orig_rax", 57}, {"fs_base", 58}, {"gs_base", 59},
	};
	const struct arch_ops *ops = arch_native();

	cr_assert_null(x86_64_init());
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(reg_by_name(ops, rows[i].name),
			     reg_by_number(ops, rows[i].number), "%s", rows[i].name);
	cr_expect_eq(ops->pc_reg, 16);
	cr_expect_eq(ops->sp_reg, 7);
}

Test(x86_64, bpf_context)
{
	const struct arch_ops *ops = arch_native();

	cr_assert_null(x86_64_init());
	cr_expect_eq(reg_by_name(ops, "r15")->bpf_offset, 0);
	cr_expect_eq(reg_by_name(ops, "rax")->bpf_offset, 80);
	cr_expect_eq(reg_by_name(ops, "rip")->bpf_offset, 128);
	cr_expect_eq(reg_by_name(ops, "rsp")->bpf_offset, 152);
	cr_expect_eq(reg_by_name(ops, "eflags")->bpf_offset, 144);
	cr_expect_eq(reg_by_name(ops, "ds")->bpf_offset, REG_NOT_IN_BPF_CONTEXT);
	cr_expect_eq(reg_by_name(ops, "fs_base")->bpf_offset, REG_NOT_IN_BPF_CONTEXT);
	cr_expect_eq(reg_by_name(ops, "xmm0")->bpf_offset, REG_NOT_IN_BPF_CONTEXT);
}

/* Where the kernel makes shadow stacks, whatever this one does; a thread without one
 * does not have the register. */
Test(x86_64, shadow_stack_pointer)
{
	static struct regs regs;
	const struct arch_ops *ops = arch_native();
	struct buffer xml _cleanup_buffer_ = {0};
	const struct reg_def *reg;
	unsigned int count;
	uint64_t value;

	x86_64_make_table(true);
	cr_expect_eq(ops->regsets[X86_64_SHSTK].nt_type, 0x204);
	reg = reg_by_name(ops, "pl3_ssp");
	x86_64_registers(&count);
	cr_assert_eq(reg, reg_by_number(ops, count - 1), "gdb has it after all others");
	ops->target_xml(&xml);
	cr_expect_not_null(strstr(buffer_string(&xml),
				  "<feature name=\"org.gnu.gdb.i386.pl3_ssp\">\n"
				  "    <reg name=\"pl3_ssp\" bitsize=\"64\" "
				  "type=\"data_ptr\""));
	regs.arch = ops;
	cr_expect_eq(x86_64_reg_read(&regs, reg, &value), -ENODATA);
	cr_expect_eq(x86_64_reg_write(&regs, reg, &value), -ENODATA);
	regs.size[X86_64_SHSTK] = 8;
	set(&regs, "pl3_ssp", 0x7ffff7bffff8);
	cr_expect_eq(get(&regs, "pl3_ssp"), 0x7ffff7bffff8);
}

Test(x86_64, no_shadow_stacks)
{
	const struct arch_ops *ops = arch_native();
	struct buffer xml _cleanup_buffer_ = {0};

	x86_64_make_table(false);
	cr_expect_eq(ops->regsets[X86_64_SHSTK].nt_type, 0);
	cr_expect_null(reg_by_name(ops, "pl3_ssp"));
	ops->target_xml(&xml);
	cr_expect_null(strstr(buffer_string(&xml), "pl3_ssp"));
}
