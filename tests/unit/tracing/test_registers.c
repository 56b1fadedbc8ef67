/* SPDX-License-Identifier: BSD-2-Clause */
/* The register table of the processor, against a real stopped process. */
#include "arch/arch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "arch/register_table.h"
#include "gdbstub/base/buffer.h"
#include "tests/unit/child.h"

static const struct arch_ops *arch(void)
{
	const struct arch_ops *ops = arch_native();
	unsigned int count;

	ops->registers(&count);
	if (count == 0)
		cr_assert_null(ops->init());
	return ops;
}

static void fetch(pid_t pid, struct regs *regs)
{
	regs->arch = arch();
	for (unsigned int i = 0; i < regs->arch->nregsets; i++) {
		struct iovec iov = {regs->data[i], sizeof(regs->data[i])};
		unsigned long type = regs->arch->regsets[i].nt_type;

		regs->size[i] = 0;
		if (ptrace(PTRACE_GETREGSET, pid, type, &iov) == 0)
			regs->size[i] = iov.iov_len;
	}
}

/* The child may do without a shadow stack, say. */
static bool is_absent(const struct regs *regs, const struct reg_def *reg)
{
	return regs->size[reg->regset] == 0 && arch()->regsets[reg->regset].optional;
}

static int store(pid_t pid, const struct regs *regs, unsigned int regset)
{
	struct iovec iov = {(void *)regs->data[regset], regs->size[regset]};
	unsigned long type = regs->arch->regsets[regset].nt_type;

	return ptrace(PTRACE_SETREGSET, pid, type, &iov) == 0 ? 0 : -errno;
}

Test(registers, names_are_unique_and_found)
{
	unsigned int count;
	const struct reg_def *table = arch()->registers(&count);

	cr_assert_gt(count, 32);
	for (unsigned int i = 0; i < count; i++) {
		cr_expect_eq(reg_by_name(arch(), table[i].name), &table[i], "%s twice",
			     table[i].name);
		cr_expect_eq(reg_by_number(arch(), i), &table[i]);
	}
	cr_expect_null(reg_by_number(arch(), count));
	cr_expect_null(reg_by_number(arch(), UINT32_MAX));
	cr_expect_null(reg_by_name(arch(), "nothing"));
}

Test(registers, rows_lie_inside_their_regsets)
{
	static struct regs regs;
	pid_t pid = child_trace(NULL, 0);
	unsigned int count;
	const struct reg_def *table = arch()->registers(&count);

	fetch(pid, &regs);
	for (unsigned int i = 0; i < count; i++) {
		const struct reg_def *reg = &table[i];

		cr_assert_lt(reg->regset, arch()->nregsets);
		cr_expect_leq(reg_size(reg), REG_MAX_SIZE);
		if (is_absent(&regs, reg))
			continue;
		/* A narrow field of memory may be shown as a wider register. */
		cr_expect_lt(reg->offset, regs.size[reg->regset], "%s", reg->name);
	}
	child_end(pid);
}

Test(registers, rows_do_not_overlap)
{
	unsigned int count;
	const struct reg_def *table = arch()->registers(&count);

	for (unsigned int i = 0; i < count; i++)
		for (unsigned int j = 0; j < i; j++)
			cr_expect(table[i].regset != table[j].regset ||
					  table[i].access != table[j].access ||
					  table[i].offset != table[j].offset,
				  "%s and %s", table[i].name, table[j].name);
}

Test(registers, the_named_rows_are_right)
{
	const struct arch_ops *ops = arch();

	cr_assert_not_null(reg_by_number(ops, ops->pc_reg));
	cr_assert_str_eq(reg_by_number(ops, ops->pc_reg)->type, "code_ptr");
	cr_assert_str_eq(reg_by_number(ops, ops->sp_reg)->type, "data_ptr");
	for (unsigned int i = 0; i < ops->nexpedited; i++)
		cr_assert_not_null(reg_by_number(ops, ops->expedited[i]));
}

/* What gdb expects of a server without a description ends with these: SSE and the
 * segment bases of amd64, the FPU of aarch64. */
Test(registers, basic_ones_end_a_feature)
{
	unsigned int count;
	const struct reg_def *table = arch()->registers(&count);
	const char *last = table[arch()->basic_regs - 1].name;

	cr_assert_leq(arch()->basic_regs, count);
	cr_assert(strcmp(last, "gs_base") == 0 || strcmp(last, "fpcr") == 0, "%s",
		  last);
}

/* ... whatever a register's own width: that is what the kernel lets programs read. */
Test(registers, bpf_context_holds_only_whole_words)
{
	unsigned int count;
	const struct reg_def *table = arch()->registers(&count);

	for (unsigned int i = 0; i < count; i++)
		if (table[i].bpf_offset != REG_NOT_IN_BPF_CONTEXT) {
			cr_expect_leq(table[i].bits, 64, "%s", table[i].name);
			cr_expect_leq(table[i].bpf_rule.bits, table[i].bits);
			cr_expect_eq(table[i].bpf_offset % 8, 0, "%s", table[i].name);
		}
}

/* Registers that do not take any bits: what to flip. All others: everything. */
static uint64_t bits_to_flip(const struct reg_def *reg)
{
	static const struct {
		const char *name;
		uint64_t bits;
	} rows[] = {
		{"eflags", 0xcd5},
		{"cs", 0},
		{"ss", 0},
		{"ds", 0x2b},
		{"es", 0x2b},
		{"fs", 0x2b},
		{"gs", 0x2b},
		{"fs_base", 0x3ffffffff000},
		{"gs_base", 0x3ffffffff000},
		{"rip", 0x3ffffffff000},
		{"mxcsr", 0x603f},
		{"fctrl", 0xf3f},
		{"fstat", 0x47ff},
		{"ftag", 3}, /* valid: st0 was written before */
		{"fop", 0x7ff},
		{"fiseg", 0xffff},
		{"foseg", 0xffff},
		{"pkru", 0x55555550},
		{"cpsr", 0xf0000000},
		{"fpcr", 0x07c00000},
		{"fpsr", 0xf800009f},
		{"vg", 0},
		{"svg", 0},
		{"svcr", 0},
		{"gcspr", 0},
		{"gcs_features_enabled", 0},
		{"gcs_features_locked", 0},
		{"fpmr", 0x49},
		{"tag_ctl", 0x7ffff},
	};

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, reg->name) == 0)
			return rows[i].bits;
	return UINT64_MAX;
}

static void write_register(pid_t pid, const struct reg_def *reg, const void *value)
{
	static struct regs regs;

	fetch(pid, &regs);
	cr_assert_eq(arch()->reg_write(&regs, reg, value), 0, "%s", reg->name);
	cr_assert_eq(store(pid, &regs, reg->regset), 0, "%s: store", reg->name);
}

static void read_register(pid_t pid, const struct reg_def *reg, void *value)
{
	static struct regs regs;

	fetch(pid, &regs);
	cr_assert_eq(arch()->reg_read(&regs, reg, value), 0, "%s", reg->name);
}

/* A processor without fsgsbase takes fs_base from the selector, unless that is 0. */
static bool takes_another_along(const struct reg_def *reg)
{
	return strcmp(reg->name, "fs") == 0 || strcmp(reg->name, "gs") == 0;
}

/* Changes one register of the child; reads it back by a fresh fetch. */
static void check_write(pid_t pid, const struct reg_def *reg)
{
	unsigned char before[REG_MAX_SIZE], written[REG_MAX_SIZE], after[REG_MAX_SIZE];
	uint64_t flip = bits_to_flip(reg);

	if (arch()->regsets[reg->regset].read_only)
		return;
	read_register(pid, reg, before);
	for (unsigned int i = 0; i < reg_size(reg); i++)
		written[i] =
			(unsigned char)(before[i] ^
					(flip == UINT64_MAX ? 0xa5 + i
							    : flip >> 8 * (i % 8)));
	write_register(pid, reg, written);
	read_register(pid, reg, after);
	cr_expect_arr_eq(written, after, reg_size(reg), "%s is not as written",
			 reg->name);
	if (takes_another_along(reg))
		write_register(pid, reg, before);
}

Test(registers, each_is_written_and_read_back)
{
	static struct regs regs;
	unsigned int count;
	const struct reg_def *table = arch()->registers(&count);
	pid_t pid = child_trace(NULL, 0);

	fetch(pid, &regs);
	for (unsigned int i = 0; i < count; i++)
		if (!is_absent(&regs, &table[i]))
			check_write(pid, &table[i]);
	child_end(pid);
}

/* What a debugger does not change. */
static bool is_threads_own(const char *name)
{
	return strcmp(name, "vg") == 0 || strcmp(name, "svg") == 0 ||
	       strcmp(name, "svcr") == 0;
}

/* The x87 tag word, of whether registers are in use; SVCR, of whether the matrix is. */
static bool tells_of_others(const char *name)
{
	return strcmp(name, "ftag") == 0 || strcmp(name, "svcr") == 0;
}

Test(registers, a_write_changes_no_other_register)
{
	static struct regs before, after;
	unsigned int count;
	const struct reg_def *table = arch()->registers(&count);
	pid_t pid = child_trace(NULL, 0);

	fetch(pid, &before);
	for (unsigned int i = 0; i < count; i++) {
		unsigned char value[REG_MAX_SIZE], other[REG_MAX_SIZE];
		int r;

		if (is_absent(&before, &table[i]))
			continue;
		after = before;
		memset(value, 0x5a, sizeof(value));
		r = arch()->reg_write(&after, &table[i], value);
		cr_assert(r == 0 ||
			  (r == -EOPNOTSUPP && is_threads_own(table[i].name)));
		for (unsigned int j = 0; j < count; j++) {
			if (j == i || tells_of_others(table[j].name) ||
			    is_absent(&before, &table[j]))
				continue;
			arch()->reg_read(&before, &table[j], value);
			arch()->reg_read(&after, &table[j], other);
			cr_expect_arr_eq(value, other, reg_size(&table[j]),
					 "writing %s changed %s", table[i].name,
					 table[j].name);
		}
	}
	child_end(pid);
}

Test(registers, missing_regset_is_unavailable)
{
	static struct regs regs;
	unsigned char value[REG_MAX_SIZE] = {0};
	unsigned int count;
	const struct reg_def *table = arch()->registers(&count);

	regs.arch = arch();
	for (unsigned int i = 0; i < count; i++) {
		cr_expect_eq(arch()->reg_read(&regs, &table[i], value), -ENODATA);
		cr_expect_eq(arch()->reg_write(&regs, &table[i], value), -ENODATA);
	}
}

Test(registers, u64_helpers)
{
	static struct regs regs;
	const struct arch_ops *ops = arch();
	pid_t pid = child_trace(NULL, 0);
	unsigned int count;
	const struct reg_def *table = ops->registers(&count);
	uint64_t value;

	fetch(pid, &regs);
	cr_assert_eq(reg_write_u64(&regs, ops->sp_reg, 0x8877665544332211), 0);
	cr_assert_eq(reg_read_u64(&regs, ops->sp_reg, &value), 0);
	cr_assert_eq(value, 0x8877665544332211);
	for (unsigned int i = 0; i < count; i++) {
		if (is_absent(&regs, &table[i]))
			continue;
		value = UINT64_MAX;
		cr_expect_eq(reg_read_u64(&regs, i, &value),
			     table[i].bits > 64 ? -ERANGE : 0, "%s", table[i].name);
		if (table[i].bits < 64)
			cr_expect_eq(value >> table[i].bits, 0, "%s", table[i].name);
		if (table[i].bits > 64)
			cr_expect_eq(reg_write_u64(&regs, i, 0), -ERANGE);
	}
	cr_expect_eq(reg_read_u64(&regs, count, &value), -ENODATA);
	cr_expect_eq(reg_write_u64(&regs, count, 0), -ENODATA);
	child_end(pid);
}

Test(registers, description_lists_the_table_in_order)
{
	struct buffer xml _cleanup_buffer_ = {0};
	unsigned int count, seen = 0;
	const struct reg_def *table = arch()->registers(&count);
	const char *feature = "", *at;

	arch()->target_xml(&xml);
	cr_assert_not(buffer_failed(&xml));
	at = buffer_string(&xml);
	for (; seen < count && (at = strstr(at, "<reg ")); at++, seen++) {
		char expected[160];

		snprintf(expected, sizeof(expected),
			 "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\" regnum=\"%u\"",
			 table[seen].name, table[seen].bits, table[seen].type, seen);
		cr_assert_eq(strncmp(at, expected, strlen(expected)), 0,
			     "%.60s instead of %s", at, expected);
	}
	cr_assert_eq(seen, count);
	cr_assert_null(strstr(at, "<reg "));
	/* A feature is one element: it must not be named again later. */
	for (unsigned int i = 0; i < count; i++) {
		char element[80];

		if (strcmp(table[i].feature, feature) == 0)
			continue;
		feature = table[i].feature;
		snprintf(element, sizeof(element), "<feature name=\"%s\">", feature);
		at = strstr(buffer_string(&xml), element);
		cr_assert_not_null(at);
		cr_assert_null(strstr(at + 1, element), "%s twice", feature);
	}
}

Test(registers, description_is_well_formed)
{
	struct buffer xml _cleanup_buffer_ = {0};
	FILE *lint;

	if (system("command -v xmllint >/dev/null") != 0)
		cr_skip_test("xmllint is not installed");
	arch()->target_xml(&xml);
	lint = popen("xmllint --nonet --noout -", "w");
	cr_assert_not_null(lint);
	cr_assert_eq(fwrite(xml.data, 1, xml.len, lint), xml.len);
	cr_assert_eq(pclose(lint), 0);
}
