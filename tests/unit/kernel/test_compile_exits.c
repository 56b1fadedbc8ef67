/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a verdict. */
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/compiled.h"

TestSuite(compile, .init = set_up, .fini = tear_down, .timeout = 300);
TestSuite(compile_blocked, .init = set_up_blocked, .fini = tear_down, .timeout = 300);

Test(compile, false_path_is_short)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = reg_equals(0, 1);
	struct bpf_code code;
	size_t at = 0;

	/* After what ends the program while it is suspended: load, compare; then the
	 * verdict, and off to the exits */
	cr_assert_null(compile(&expr, 1, &options, &code));
	while (code.insns[at].code != (BPF_JMP | BPF_EXIT))
		at++;
	cr_assert_geq(code.count, at + 5);
	cr_expect_eq(code.insns[at + 3].code, BPF_ALU64 | BPF_MOV | BPF_K);
	cr_expect_eq(code.insns[at + 3].imm, BPF_FALSE);
	cr_expect_eq(code.insns[at + 4].code, BPF_JMP | BPF_JA);
	bpf_code_deinit(&code);
	agent_expr_unref(expr);
}

/* Waits until hit() has returned, or the child got so many SIGTRAPs; the event's end is
 * the end of these, too. */
static void close_after(int event, uint64_t traps)
{
	struct pollfd answer = {.fd = fixture.turns.from[0], .events = POLLIN};

	while (poll(&answer, 1, 1) == 0)
		if (__atomic_load_n(&fixture.exchange->traps, __ATOMIC_SEQ_CST) >=
		    traps)
			break;
	close(event);
	await_return();
}

/* Before Linux 6.10, an event's SIGTRAP comes whatever its program says. */
static bool false_hits_trap(void)
{
	int program = bpf_kernel_load_false(BPF_KIND_EVENT), event;

	cr_assert_geq(program, 0, "load: %s", strerror(-program));
	event = attach(program, true);
	fixture.exchange->traps = 0;
	call_hit();
	close_after(event, 1);
	close(program);
	return fixture.exchange->traps > 0;
}

/* Is its first byte what it is until the handler of SIGTRAP has run? aarch64 hits again
 * when that returns: for ever, where false hits trap. */
static struct agent_expr *memory_is_new(void)
{
	return EXPR(CONST64((uintptr_t)memory), AGENT_REF8, CONST64(memory[0]),
		    AGENT_EQUAL, AGENT_END);
}

Test(compile, a_true_hit_raises_sigtrap)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = memory_is_new();
	int event;

	if (fixture.blocked_offset < 0)
		cr_skip_test("the kernel has no BTF that tells of task_struct.blocked");
	event = start(&expr, 1, &options, true);
	call_hit();
	close_after(event, 2);
	cr_expect_eq(tally_total(fixture.shared, LOCATION).by[BPF_TRUE], 1);
	cr_expect_eq(take_records(), 1);
	cr_expect_eq(fixture.last_record.verdict, BPF_TRUE);
	cr_expect_eq(fixture.last_record.by_stop, 0);
	cr_expect(fixture.exchange->traps == 1 ||
		  (fixture.exchange->traps > 1 && false_hits_trap()));
	agent_expr_unref(expr);
}

static void expect_stop_by_signal(const struct bpf_compile_options *options,
				  bool sigtrap)
{
	struct agent_expr *expr = reg_equals(0, 1);
	int event = start(&expr, 1, options, sigtrap);

	set_args(1, 0);
	call_hit();
	cr_expect_eq(child_wait_stop(fixture.child), SIGSTOP);
	cr_expect_eq(fixture.exchange->calls, 0, "it stopped after the hit");
	kill(fixture.child, SIGCONT);
	await_return();
	cr_expect_eq(take_verdict(), BPF_TRUE);
	cr_expect_eq(fixture.last_record.by_stop, 1);
	cr_expect_eq(fixture.exchange->traps, 0);
	set_args(0, 0);
	cr_expect_eq(run(), BPF_FALSE);
	close(event);
	agent_expr_unref(expr);
}

Test(compile, stop_by_signal)
{
	struct bpf_compile_options options = default_options();

	options.stop_by_signal = true;
	expect_stop_by_signal(&options, false);
}

Test(compile, unknown_task_layout_stops_by_signal)
{
	struct bpf_compile_options options = default_options();

	options.task_blocked_offset = -1;
	expect_stop_by_signal(&options, false);
}

Test(compile_blocked, a_blocked_sigtrap_stops_by_signal)
{
	struct bpf_compile_options options = default_options();

	if (fixture.blocked_offset < 0)
		cr_skip_test("the kernel has no BTF that tells of task_struct.blocked");
	expect_stop_by_signal(&options, false);
}

Test(compile, a_full_ring_is_counted)
{
	struct bpf_compile_options options = default_options();
	int event = start(NULL, 0, &options, false);
	unsigned int taken, hits = 2 * RECORDS_SIZE / BPF_HIT_RECORD_HEAD;
	struct tally_hits counted;
	uint64_t lost;

	for (unsigned int i = 0; i < hits; i++) {
		call_hit();
		await_return();
	}
	taken = take_records();
	lost = fixture.shared->locations[LOCATION].lost;
	counted = tally_total(fixture.shared, LOCATION);
	cr_expect_gt(lost, 0);
	cr_expect_eq(lost + taken, hits);
	cr_expect_eq(counted.by[BPF_TRUE], taken);
	cr_expect_eq(counted.by[BPF_MAYBE], lost, "the stub evaluates those");
	cr_expect_eq(fixture.shared->locations[LOCATION].gate.left, -(int64_t)taken,
		     "... and takes them through the gate");
	close(event);
}
