/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs at uprobes: what their records have is the thread's state before the
 * instruction. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "gdbstub/inferior/memory.h"
#include "gdbstub/text/decoder.h"
#include "tests/unit/x86_64_probed.h"
#include "arch/register_table.h"

TestSuite(probe_multi, .fini = finish, .timeout = 300);
TestSuite(probe_perf, .fini = finish, .timeout = 300);

/* ---- the state before the instruction ---- */

static void read_stored(const struct insn_store *store, const struct regs *regs,
			uint64_t *addr, uint8_t *bytes)
{
	cr_assert_eq(uprobe_store_addr(store, regs, addr), 0);
	cr_assert_eq(inferior_read(&fixture.tracee.inferior, *addr, bytes, store->len),
		     store->len);
}

/* Our own text is the child's. */
static void expect_after(const char *place, const struct regs *now)
{
	struct regs elsewhere = *now;
	struct decoder decoder;
	struct insn_undo undo;

	cr_assert(decoder_init(&decoder, arch_native()));
	cr_assert(decoder_run(&decoder, (const uint8_t *)place, INSN_LEN_MAX,
			      (uintptr_t)place));
	arch_native()->undo(decoder.insn, &undo);
	undo.len = decoder.insn->size;
	decoder_deinit(&decoder);
	cr_expect(uprobe_is_after(&fixture.record, now, undo.len, undo.jumps));
	cr_expect_eq(undo.jumps, place == at_call || place == at_jump);
	if (undo.jumps) {
		cr_assert_eq(reg_write_u64(&elsewhere, RDX, get(now, RDX) + 1), 0);
		cr_assert_eq(reg_write_u64(&elsewhere, RSI, get(now, RSI) + 1), 0);
	} else {
		cr_assert_eq(reg_write_u64(&elsewhere, RIP, get(now, RIP) + 1), 0);
	}
	cr_expect_not(
		uprobe_is_after(&fixture.record, &elsewhere, undo.len, undo.jumps));
}

/* One round: what ptrace shows before, what the record has, and that the instruction
 * can be run again with that. */
static void undo_once(const char *place, const struct insn_store *store)
{
	uint8_t before[UNDO_BYTES_MAX] = {0}, after[UNDO_BYTES_MAX] = {0};
	struct regs then, *now;
	uint64_t addr = 0;
	uint32_t value;

	step_to(place);
	then = *fetch();
	if (store->len > 0)
		read_stored(store, &then, &addr, before);
	hit(BPF_TRUE);
	cr_expect_eq(fixture.record.stored_known, store->len > 0);
	cr_expect_arr_eq(fixture.record.stored, before, store->len);
	now = fetch();
	cr_expect_neq(get(now, RIP), (uintptr_t)place);
	expect_after(place, now);
	if (store->len > 0)
		read_stored(store, &then, &addr, after);
	cr_assert_eq(uprobe_put_back(&fixture.record, now), 0);
	expect_equal(now, &then);

	cr_assert_eq(regs_store(&fixture.tracee.thread, now, 0), 0);
	cr_assert_eq(inferior_write(&fixture.tracee.inferior, addr,
				    fixture.record.stored, store->len),
		     0);
	fixture.shared->armed = 0;
	value = (uint32_t)get(&then, RSI);
	pass();
	fixture.shared->armed = (uintptr_t)place;
	cr_assert_eq(inferior_read(&fixture.tracee.inferior, (uintptr_t)cell, after, 4),
		     4);
	cr_expect_arr_eq(after, &value, 4);
}

static void undo_at(const char *place, const struct insn_store *store)
{
	put(place, store, NULL, NULL);
	for (unsigned int i = 0; i < ROUNDS; i++)
		undo_once(place, store);
	expect_hits(0, ROUNDS, 0);
	take_out();
}

WITHOUT_FLAGS(what_an_instruction_changes)
{
	const struct insn_store variable = in_variable();

	undo_at(at_nop, &no_store);
	undo_at(at_push, &pushed);
	undo_at(at_variable, &variable);
	undo_at(at_frame, &in_frame);
	undo_at(at_call, &pushed);
	undo_at(at_jump, &no_store);
}

/* The program faults no page in, and the instruction does. */
WITHOUT_FLAGS(what_is_overwritten_may_not_be_known)
{
	const struct insn_store variable = in_variable();

	put(at_variable, &variable, NULL, NULL);
	hit(BPF_TRUE);
	cr_expect_eq(fixture.record.stored_known, 0);
	pass();
	hit(BPF_TRUE);
	cr_expect_eq(fixture.record.stored_known, 1);
}

/* Newer kernels have other things in the upper bits. */
Test(probe_multi, selectors_have_16_bits)
{
	const unsigned int numbers[] = {CS, SS};
	struct regs *now, then;

	start(true, false);
	then = *fetch();
	put(at_push, &pushed, NULL, NULL);
	hit(BPF_TRUE);
	now = fetch();
	for (int i = 0; i < 2; i++) {
		const struct reg_def *row = reg_by_number(arch_native(), numbers[i]);

		fixture.record.registers[row->bpf_offset / 8] |= 0xabcd0000;
	}
	cr_assert_eq(uprobe_put_back(&fixture.record, now), 0);
	cr_expect_eq(get(now, CS), get(&then, CS));
	cr_expect_eq(get(now, SS), get(&then, SS));
}

/* ---- flags ---- */

enum { FLAG_ROUNDS = 300 };

/* The nop leaves the registers as they are. No flag is set by the kernel, as RF is at a
 * breakpoint's event: what is put back has none. */
WITH_FLAGS(flags_are_those_of_the_program)
{
	uint64_t ones = 0, zeros = 0;

	put(at_nop, &no_store, NULL, NULL);
	for (unsigned int i = 0; i < FLAG_ROUNDS; i++) {
		struct regs then;
		uint64_t flags;

		hit(BPF_TRUE);
		then = *fetch();
		cr_assert_eq(reg_write_u64(&then, RIP, (uintptr_t)at_nop), 0);
		cr_assert_eq(uprobe_put_back(&fixture.record, fetch()), 0);
		flags = recorded(EFLAGS);
		cr_assert_eq(flags, get(&then, EFLAGS));
		ones |= flags;
		zeros |= ~flags;
		pass();
	}
	cr_expect_eq(ones & FLAGS, FLAGS);
	cr_expect_eq(zeros & (FLAGS | RF | TF), FLAGS | RF | TF);
}

WITH_FLAGS(conditions_see_no_resume_flag)
{
	put(at_nop, &no_store, register_has("eflags", RF), NULL);
	for (unsigned int i = 0; i < ROUNDS; i++)
		pass();
	expect_hits(ROUNDS, 0, 0);
}

/* A trap flag may be that of ptrace, which hides it: a maybe, and not put back. */
WITHOUT_FLAGS(steps)
{
	struct regs *now;
	siginfo_t info;

	put(at_nop, &no_store, register_has("eflags", RF), NULL);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		step_to(at_nop);
		do
			info = resume(PTRACE_SINGLESTEP);
		while (info.si_signo != SIGSTOP);
		fixture.records = 0;
		bpf_kernel_drain(&fixture.kernel);
		cr_assert_eq(fixture.records, 1);
		cr_expect_eq(fixture.record.verdict, BPF_MAYBE);
		cr_expect(recorded(EFLAGS) & TF);
		now = fetch();
		cr_assert_eq(uprobe_put_back(&fixture.record, now), 0);
		cr_expect_eq(get(now, RIP), (uintptr_t)at_nop);
		cr_expect_eq(get(now, EFLAGS) & TF, 0);
		fixture.shared->armed = 0;
		pass();
		fixture.shared->armed = (uintptr_t)at_nop;
	}
	expect_hits(0, 0, ROUNDS);
}
