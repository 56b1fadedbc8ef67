/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which instructions the kernel does itself at a uprobe. For the first one that it has
 * the processor step over, it gives the process a page for copies of instructions.
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/cleanup.h"
#include "bpf/kernel/kernel.h"
#include "bpf/kernel/trial.h"
#include "bpf/uprobe/uprobe_trial.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/text/decoder.h"

#define FUNCTION(name, code)                                                           \
	void name(void);                                                               \
	__asm__(".pushsection .text\n" #name ":\n" code ".popsection\n")

FUNCTION(at_nop, "nop\nret\n");
FUNCTION(at_push, "push %rbp\npop %rbp\nret\n");
FUNCTION(at_push_r12, "push %r12\npop %r12\nret\n");
FUNCTION(at_call, "call 1f\nret\n1: ret\n");
FUNCTION(at_jump, "jmp 1f\nud2\n1: ret\n");
FUNCTION(at_far_jump, ".byte 0xe9, 2, 0, 0, 0\nud2\nret\n");
FUNCTION(at_jump_if, "je 1f\nnop\n1: ret\n");
FUNCTION(at_far_jump_if, ".byte 0x0f, 0x85, 1, 0, 0, 0\nnop\nret\n");
FUNCTION(at_mov, "mov %rsp, %rax\nret\n");
FUNCTION(at_ret, "ret\n");
FUNCTION(at_push_constant, "push $1\npop %rax\nret\n");
FUNCTION(at_push_memory, "push (%rsp)\npop %rax\nret\n");
FUNCTION(at_jrcxz, "jrcxz 1f\nnop\n1: ret\n");
FUNCTION(at_jump_to_register, "lea 1f(%rip), %rax\njmp *%rax\n1: ret\n");

static const struct {
	const char *name;
	void (*function)(void);
	bool emulated;
} rows[] = {
	{"nop", at_nop, true},
	{"push %rbp", at_push, true},
	{"push %r12", at_push_r12, true},
	{"call", at_call, true},
	{"jmp", at_jump, true},
	{"jmp, 32 bits", at_far_jump, true},
	{"je", at_jump_if, true},
	{"jne, 32 bits", at_far_jump_if, true},
	{"mov", at_mov, false},
	{"ret", at_ret, false},
	{"push $1", at_push_constant, false},
	{"push (%rsp)", at_push_memory, false},
	{"jrcxz", at_jrcxz, false},
	{"lea", at_jump_to_register, false},
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void begin(void)
{
	_cleanup_error_ struct error *error = arch_native()->init();

	cr_assert_null(error);
}

TestSuite(emulated, .init = begin);

/* Also sets how long the instruction is. */
static struct insn_undo judge(void (*function)(void), unsigned int *len)
{
	struct decoder decoder;
	struct insn_undo undo;

	cr_assert(decoder_init(&decoder, arch_native()));
	cr_assert(decoder_run(&decoder, (const uint8_t *)(uintptr_t)function, 15,
			      (uintptr_t)function));
	arch_native()->undo(decoder.insn, &undo);
	*len = decoder.insn->size;
	decoder_deinit(&decoder);
	return undo;
}

Test(emulated, the_table_knows)
{
	for (unsigned int i = 0; i < ROWS; i++) {
		unsigned int len;
		struct insn_undo undo = judge(rows[i].function, &len);

		cr_expect_null(undo.why_not, "%s: %s", rows[i].name, undo.why_not);
		cr_expect_eq(undo.emulated, rows[i].emulated, "%s", rows[i].name);
	}
}

static bool has_page(pid_t pid)
{
	struct buffer maps _cleanup_buffer_ = {0};
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	cr_assert_geq(proc_read(path, &maps), 0);
	return strstr(buffer_string(&maps), "[uprobes]");
}

static bool is_emulated(void (*function)(void), const struct uprobe_options *options,
			struct background_close *closer)
{
	const struct trial_job job = {function, 1, false};
	_cleanup_close_ int program_fd = bpf_kernel_load_false(uprobe_kind(options));
	struct trial_outcome outcome;
	struct probe_place place = {.function = function};
	struct error *error;
	struct trial trial;
	bool page;
	int fd;

	judge(function, &place.len);
	cr_assert_null(trial_init(&trial, arch_native()));
	error = trial_open_probe(&trial, &place, options, program_fd, &fd);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	error = trial_run(&trial, &job, false, &outcome);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	page = has_page(trial.pid);
	trial_deinit(&trial);
	background_close_add_fd(closer, fd);
	return !page;
}

Test(emulated, as_the_kernel_does)
{
	struct background_close *closer = background_close_create();
	struct uprobe_options options;
	_cleanup_error_ struct error *error = NULL;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	error = uprobe_choose(arch_native(), closer, &options);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	for (unsigned int i = 0; i < ROWS; i++)
		cr_expect_eq(is_emulated(rows[i].function, &options, closer),
			     rows[i].emulated, "%s", rows[i].name);
	background_close_destroy(closer);
}
