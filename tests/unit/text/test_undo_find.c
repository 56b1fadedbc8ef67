/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions of a process that can be undone where they are. */
#include "gdbstub/text/undo.h"

#include <criterion/criterion.h>
#include <string.h>

#include "gdbstub/tracing/attach.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/tracing/launch.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/text/decoder.h"

static struct inferiors inferiors;
static struct inferior *inferior;
static struct symbols *symbols;

static void begin(void)
{
	char *argv[] = {(char *)PROGS_DIR "/frames", NULL};
	const struct launch_options options = {.program = argv[0], .argv = argv};
	struct error *error = arch_native()->init();

	cr_assert_null(error);
	inferiors_init(&inferiors);
	error = inferior_launch(&inferiors, &options, &inferior);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	symbols = symbols_create(inferior);
}

static void end(void)
{
	symbols_destroy(symbols);
	inferior_kill(inferior);
	inferiors_deinit(&inferiors);
}

TestSuite(undo_find, .init = begin, .fini = end);

static uint64_t address(const char *name)
{
	struct symbol_wish wish = {.name = name};

	symbols_find(symbols, &wish, 1);
	cr_assert(wish.found, "%s", name);
	return wish.addr;
}

static struct insn_undo accepted(uint64_t addr)
{
	struct insn_undo undo;
	struct error *error = undo_find(inferior, addr, &undo);

	cr_expect_null(error, "%#lx: %s", (unsigned long)addr,
		       error ? error_text(error) : "");
	error_destroy(error);
	return undo;
}

static void refused(uint64_t addr, const char *words)
{
	struct insn_undo undo;
	struct error *error = undo_find(inferior, addr, &undo);

	cr_assert_not_null(error, "%s", words);
	cr_expect_not_null(strstr(error_text(error), words), "%s", error_text(error));
	error_destroy(error);
}

/* The length of the instruction at @addr. */
static unsigned int length_at(uint64_t addr)
{
	uint8_t code[INSN_LEN_MAX];
	struct decoder decoder;
	unsigned int ret;

	cr_assert_eq(inferior_read(inferior, addr, code, sizeof(code)), sizeof(code));
	cr_assert(decoder_init(&decoder, inferior->arch));
	cr_assert(decoder_run(&decoder, code, sizeof(code), addr));
	ret = decoder.insn->size;
	decoder_deinit(&decoder);
	return ret;
}

Test(undo_find, all_of_a_function_as_compiled_for_debugging)
{
	uint64_t addr = address("plain");
	unsigned int to_frame = 0;

	while (symbols_start(symbols, addr) == address("plain")) {
		to_frame += accepted(addr).by_frame_pointer;
		addr += length_at(addr);
	}
	cr_expect_gt(to_frame, 3);
}

Test(undo_find, a_frame_pointer_is_one_where_the_compiler_says_so)
{
	cr_expect_eq(accepted(address("framed_store")).store.len, 4);
	refused(address("framed_early"), "stack");
	refused(address("framed_late"), "stack");
	refused(address("general_store"), "stack");
	refused(address("silent_store"), "stack");
}

Test(undo_find, what_the_instruction_itself_rules_out)
{
	refused(address("variable"), "undone"); /* add %al,(%rax) */
	refused(0x10, "cannot be read");
}

Test(undo_find, nothing)
{
	struct error *unreadable, *unfit, *error;
	struct insn_undo undo;

	refused(address("variable"), "undone");
	error = undo_find_nothing(inferior, address("variable"), &undo);
	cr_expect_null(error, "%s", error ? error_text(error) : "");
	cr_expect_eq(undo.len, 2);
	cr_expect_null(undo.why_not);
	cr_expect_eq(undo.store.len, 0);
	error = undo_find_nothing(inferior, address("framed_store"), &undo);
	cr_expect_null(error, "%s", error ? error_text(error) : "");
	cr_expect_eq(undo.store.len, 0);
	cr_expect_not(undo.by_frame_pointer);

	unfit = undo_find_nothing(inferior, address("flags"), &undo);
	cr_assert_not_null(unfit);
	cr_expect_not_null(strstr(error_text(unfit), "no uprobe"), "%s",
			   error_text(unfit));
	unreadable = undo_find_nothing(inferior, 0x10, &undo);
	cr_assert_not_null(unreadable);
	error_destroy(unfit);
	error_destroy(unreadable);
}

Test(undo_find, calls_and_returns_with_a_shadow_stack)
{
	/* A word that is there on any processor. */
	static const struct status_word word = {"State", "tracing stop"};
	uint64_t general = address("general");
	struct arch_ops arch = *inferior->arch;
	uint64_t ret = address("framed_late") + length_at(address("framed_late"));

	cr_expect(accepted(ret).transfers_stack);
	arch.shadow_stack = &word;
	inferior->arch = &arch;
	refused(ret, "shadow");
	cr_expect(undo_has_shadow_stack(TAILQ_FIRST(&inferior->threads)));
	accepted(general);
	inferior->arch = arch_native();
	cr_expect_not(undo_has_shadow_stack(TAILQ_FIRST(&inferior->threads)));
}
