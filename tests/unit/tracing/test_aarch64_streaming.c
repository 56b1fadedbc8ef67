/* SPDX-License-Identifier: BSD-2-Clause */
/* The registers of a thread in streaming mode, with the matrix on (SME). */
#include <criterion/criterion.h>

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "arch/aarch64/aarch64.h"
#include "arch/register_table.h"
#include "gdbstub/inferior/task_registers.h"
#include "tests/unit/child.h"

#ifndef PR_SME_GET_VL
#define PR_SME_GET_VL 64
#endif

enum {
	LENGTH_MAX = 256,
	LENGTH_MASK = 0xffff,
	ROW = 0x11, /* each byte of the matrix's first row, and of z0 */
	Z0 = 0x22,
	NEW_ROW = 0x33, /* ... as the debugger leaves them */
	NEW_Z0 = 0x44,
};

static unsigned char row[LENGTH_MAX], z0[LENGTH_MAX], new_row[LENGTH_MAX];

/* A system call would end streaming mode: it stops by a breakpoint. */
static void stream(uint64_t length)
{
	memset(row, ROW, sizeof(row));
	__asm__ volatile(
		".arch_extension sve\n\t"
		".arch_extension sme\n\t"
		"smstart\n\t"
		"mov z0.b, %[number]\n\t"
		"mov w12, 0\n\t"
		"ldr za[w12, 0], [%[row]]\n\t"
		"brk 0\n\t"
		"str z0, [%[z0]]\n\t"
		"str za[w12, 0], [%[new_row]]\n\t"
		"smstop\n\t"
		:
		: [row] "r"(row), [z0] "r"(z0), [new_row] "r"(new_row), [number] "i"(Z0)
		: "memory", "x12", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8",
		  "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
		  "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
		  "v29", "v30", "v31");
	for (uint64_t i = 0; i < length; i++) {
		if (z0[i] != NEW_Z0 || new_row[i] != NEW_ROW)
			_exit(2);
	}
	_exit(0);
}

static struct regs regs;

static const struct reg_def *named(const char *name)
{
	const struct reg_def *reg = reg_by_name(arch_native(), name);

	cr_assert_not_null(reg, "%s", name);
	return reg;
}

static void fetch(pid_t pid)
{
	regs_init(&regs, arch_native());
	cr_assert_eq(task_regs_fetch(pid, &regs, AARCH64_GENERAL), 0);
	cr_assert_eq(task_regs_fetch(pid, &regs, AARCH64_FPREGS), 0);
	cr_assert_eq(task_regs_fetch(pid, &regs, AARCH64_ZAREGS), 0);
}

static void store(pid_t pid, unsigned int regset)
{
	cr_assert_eq(task_regs_store(pid, &regs, regset), 0, "%u", regset);
}

static uint64_t number(const char *name)
{
	uint64_t value;

	cr_assert_eq(reg_read_named(&regs, name, &value), 0, "%s", name);
	return value;
}

/* Its first @length bytes. */
static void expect_bytes(const char *name, unsigned char byte, size_t length)
{
	unsigned char value[REG_MAX_SIZE];

	cr_assert_eq(arch_native()->reg_read(&regs, named(name), value), 0);
	for (size_t i = 0; i < length; i++)
		cr_assert_eq(value[i], byte, "%s[%zu] is %#x", name, i, value[i]);
}

static void set_bytes(const char *name, unsigned char byte, size_t length)
{
	unsigned char value[REG_MAX_SIZE];

	cr_assert_eq(arch_native()->reg_read(&regs, named(name), value), 0);
	memset(value, byte, length);
	cr_assert_eq(arch_native()->reg_write(&regs, named(name), value), 0);
}

static void expect_mode(pid_t pid, size_t length)
{
	fetch(pid);
	cr_expect(regs.by_other[AARCH64_FPREGS]);
	cr_expect_eq(number("svcr"), 3);
	cr_expect_eq(number("svg"), length / 8);
	cr_expect_eq(number("vg"), length / 8);
}

Test(streaming, registers_of_a_thread, .timeout = 300)
{
	int length;
	pid_t pid;

	cr_assert_null(arch_native()->init());
	if (aarch64_streaming_quads() == 0)
		cr_skip_test("the processor or the kernel has no streaming mode");
	length = prctl(PR_SME_GET_VL) & LENGTH_MASK;
	cr_assert_leq(length, LENGTH_MAX);
	pid = child_trace(stream, (uint64_t)length);
	cr_assert_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	cr_assert_eq(child_wait_stop(pid), SIGTRAP);
	expect_mode(pid, (size_t)length);
	expect_bytes("z0", Z0, (size_t)length);
	expect_bytes("za", ROW, (size_t)length);
	set_bytes("z0", NEW_Z0, (size_t)length);
	set_bytes("za", NEW_ROW, (size_t)length);
	store(pid, AARCH64_FPREGS);
	store(pid, AARCH64_ZAREGS);
	expect_mode(pid, (size_t)length);
	expect_bytes("z0", NEW_Z0, (size_t)length);
	expect_bytes("za", NEW_ROW, (size_t)length);
	cr_assert_eq(reg_write_u64(&regs, AARCH64_PC, number("pc") + 4), 0);
	store(pid, AARCH64_GENERAL);
	cr_assert_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	child_wait_good(pid);
}

/* A thread that is not in it has the same registers elsewhere, and no matrix. */
Test(streaming, other_threads)
{
	pid_t pid;

	cr_assert_null(arch_native()->init());
	if (aarch64_streaming_quads() == 0)
		cr_skip_test("the processor or the kernel has no streaming mode");
	pid = child_trace(NULL, 0);
	fetch(pid);
	cr_expect_not(regs.by_other[AARCH64_FPREGS]);
	cr_expect_eq(number("svcr"), 0);
	expect_bytes("za", 0, reg_size(named("za")));
	child_end(pid);
}
