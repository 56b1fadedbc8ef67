/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs at uprobes: when they do nothing, how they decide, and where they stop. */
#include <criterion/criterion.h>
#include <string.h>

#include "gdbstub/agent/opcode.h"
#include "arch/register_table.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/inferior/memory.h"
#include "tests/unit/x86_64_probed.h"
#include "tests/unit/support.h"

TestSuite(probe_multi, .fini = finish, .timeout = 300);
TestSuite(probe_perf, .fini = finish, .timeout = 300);

/* ---- stops before the instruction ---- */

/* Nothing but the PC is another, the instruction is executed when the thread goes on.
 */
static void redirect_once(const char *place)
{
	struct regs then, *now;
	uint32_t value, stored;

	step_to(place);
	then = *fetch();
	value = (uint32_t)get(&then, RSI);
	hit(BPF_TRUE);
	cr_expect_eq(fixture.record.stored_known, 0);
	now = fetch();
	cr_expect_eq(get(now, RIP), arch_native()->nowhere);
	cr_assert_eq(reg_write_u64(now, RIP, (uintptr_t)place), 0);
	expect_equal(now, &then);
	now = fetch();
	cr_assert_eq(uprobe_put_back(&fixture.record, now), 0);
	expect_equal(now, &then);
	cr_assert_eq(regs_store(&fixture.tracee.thread, now, 0), 0);
	fixture.shared->armed = 0;
	pass();
	fixture.shared->armed = (uintptr_t)place;
	cr_assert_eq(
		inferior_read(&fixture.tracee.inferior, (uintptr_t)cell, &stored, 4),
		4);
	cr_expect_eq(stored, value);
}

WITHOUT_FLAGS(redirection)
{
	const char *const places[] = {at_nop,	at_push, at_variable,
				      at_frame, at_call, at_jump};

	skip_unless_redirecting();
	for (unsigned int i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		put(places[i], &no_store, NULL, NULL);
		for (unsigned int round = 0; round < ROUNDS; round++)
			redirect_once(places[i]);
		expect_hits(0, ROUNDS, 0);
		take_out();
	}
}

WITHOUT_FLAGS(false_hits_are_not_redirected)
{
	skip_unless_redirecting();
	put(at_variable, &no_store, register_has("cs", 0), NULL);
	for (unsigned int i = 0; i < ROUNDS; i++)
		pass();
	cr_expect_eq(fixture.records, 0);
	expect_hits(ROUNDS, 0, 0);
}

/* The signal is gone, and the thread executes nothing else. */
WITHOUT_FLAGS(a_lost_signal_leaves_a_fault)
{
	siginfo_t info;

	skip_unless_redirecting();
	put(at_variable, &no_store, NULL, NULL);
	hit(BPF_TRUE);
	for (int i = 0; i < 3; i++) {
		info = resume(i % 2 ? PTRACE_SINGLESTEP : PTRACE_CONT);
		cr_assert_eq(info.si_signo, SIGSEGV);
		cr_expect_gt(info.si_code, 0);
		cr_expect_eq((uintptr_t)info.si_addr, arch_native()->nowhere);
		cr_expect_eq(get(fetch(), RIP), arch_native()->nowhere);
	}
}

/* A step to the place, and one of the instruction. */
WITHOUT_FLAGS(steps_are_redirected)
{
	skip_unless_redirecting();
	put(at_variable, &no_store, NULL, NULL);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct regs *now;
		siginfo_t info;

		step_to(at_variable);
		info = resume(PTRACE_SINGLESTEP);
		cr_assert_eq(info.si_signo, SIGSTOP);
		cr_assert_eq(info.si_code, SI_KERNEL);
		fixture.records = 0;
		bpf_kernel_drain(&fixture.kernel);
		cr_assert_eq(fixture.records, 1);
		now = fetch();
		cr_expect_eq(get(now, RIP), arch_native()->nowhere);
		cr_assert_eq(uprobe_put_back(&fixture.record, now), 0);
		cr_assert_eq(regs_store(&fixture.tracee.thread, now, 0), 0);
		fixture.shared->armed = 0;
		info = resume(PTRACE_SINGLESTEP);
		cr_assert_eq(info.si_signo, SIGTRAP);
		cr_expect_eq(get(fetch(), RIP), (uintptr_t)at_frame);
		pass();
		fixture.shared->armed = (uintptr_t)at_variable;
	}
}

/* ---- decisions ---- */

WITHOUT_FLAGS(only_where_it_is_armed)
{
	put(at_push, &pushed, NULL, NULL);
	fixture.shared->armed = 0;
	pass();
	fixture.shared->armed = (uintptr_t)at_nop;
	pass();
	cr_expect_eq(fixture.records, 0);
	expect_hits(0, 0, 0);
	fixture.shared->armed = (uintptr_t)at_push;
	hit(BPF_TRUE);
}

/* One program is for many places, with instructions of its length. */
WITHOUT_FLAGS(each_location_has_its_own_text)
{
	uint8_t text[5];

	memcpy(text, at_frame, sizeof(text));
	fixture.text_len = sizeof(text);
	put(at_frame, &in_frame, NULL, NULL);
	uprobe_arm(fixture.shared, (uintptr_t)at_frame, text, sizeof(text));
	hit(BPF_TRUE);
	pass();
	text[4] ^= 1;
	uprobe_arm(fixture.shared, (uintptr_t)at_frame, text, sizeof(text));
	hit(BPF_MAYBE);
	pass();
	text[4] ^= 1;
	text[0] ^= 1; /* that is where the trap is */
	uprobe_arm(fixture.shared, (uintptr_t)at_frame, text, sizeof(text));
	hit(BPF_TRUE);
}

WITHOUT_FLAGS(false_hits_leave_nothing)
{
	put(at_push, &pushed, register_has("cs", 0), NULL);
	for (unsigned int i = 0; i < ROUNDS; i++)
		pass();
	cr_expect_eq(fixture.records, 0);
	expect_hits(ROUNDS, 0, 0);
}

WITHOUT_FLAGS(a_condition_on_memory)
{
	const uint64_t addr = (uintptr_t)&cell[1];
	const uint64_t one = 1;

	put(at_push, &pushed, EXPR(CONST64(addr), AGENT_REF64, AGENT_END), NULL);
	hit(BPF_MAYBE);
	pass();
	pass();
	cr_assert_eq(inferior_write(&fixture.tracee.inferior, addr, &one, sizeof(one)),
		     0);
	hit(BPF_TRUE);
	expect_hits(1, 1, 1);
}

/* A register that the context lacks. */
WITHOUT_FLAGS(maybes_have_the_state_before)
{
	struct regs then;

	put(at_push, &pushed, register_has("fs_base", 1), NULL);
	step_to(at_push);
	then = *fetch();
	hit(BPF_MAYBE);
	cr_assert_eq(uprobe_put_back(&fixture.record, fetch()), 0);
	cr_expect_eq(recorded(RIP), (uintptr_t)at_push);
	cr_expect_eq(recorded(RSP), get(&then, RSP));
	cr_expect_eq(fixture.record.stored_known, 1);
	expect_hits(0, 0, 1);
}

WITHOUT_FLAGS(hits_are_ignored)
{
	put(at_push, &pushed, NULL, NULL);
	gate_set(&fixture.shared->gate, 2);
	pass();
	pass();
	cr_expect_eq(fixture.records, 0);
	hit(BPF_TRUE);
	cr_expect_eq(fixture.shared->gate.ignored, 2);
	expect_hits(0, 3, 0);
}

/* ---- commands ---- */

static void append(void *data, const char *text, size_t len)
{
	buffer_append(data, text, len);
}

static bool take_output(void *data, const void *record, size_t len)
{
	const struct bpf_output_record *output = record;

	(void)len;
	cr_expect_eq(output->location, (unsigned int)fixture.location);
	cr_expect_eq(capture_render(&fixture.program->code.capture, output->capture,
				    append, data),
		     0);
	return true;
}

WITHOUT_FLAGS(commands_are_captured)
{
	_cleanup_buffer_ struct buffer text = {0}, expected = {0};
	struct text code = {0};

	text_put(&code, REG(RIP));
	text_printf(&code, "%lx,", 1);
	put(at_push, &pushed, NULL, text_command(&code));
	pass();
	pass();
	cr_expect_eq(fixture.records, 0);
	ring_drain(&fixture.kernel.output, take_output, &text);
	buffer_printf(&expected, "%lx,%lx,", (unsigned long)(uintptr_t)at_push,
		      (unsigned long)(uintptr_t)at_push);
	cr_expect_str_eq(buffer_string(&text), buffer_string(&expected));
	expect_hits(0, 2, 0);
}
