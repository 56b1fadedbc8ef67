/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine of perf events on real processes: what is stored, and hits without a
 * record. */
#include <criterion/criterion.h>
#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#include "bpf/placement/placement.h"
#include "gdbstub/tracing/resume.h"
#include "tests/unit/perf_child.h"
#include "tests/unit/support.h"

/* ---- what the inferior runs ---- */

PLACE(place)
PLACE(place_1)
PLACE(before_store)

static void store(void)
{
	void (*volatile call)(void) = before_store;

	call();
	counter = 42;
	counter = 43;
}

static void two_places(void)
{
	place();
	place_1();
	counter = 42;
}

/* ---- the ring of the records ---- */

/* A program that takes so much room, for nothing that is to be read, and returns
 * whether there was any. */
static int load_taker(int ring_fd, int size)
{
	enum { NO_WAKEUP = BPF_RB_NO_WAKEUP };
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_IMM | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = ring_fd},
		{0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K,
		 .dst_reg = BPF_REG_2,
		 .imm = size},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ringbuf_reserve},
		{.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = BPF_REG_0, .off = 4},
		{.code = BPF_ALU64 | BPF_MOV | BPF_X,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_REG_0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K,
		 .dst_reg = BPF_REG_2,
		 .imm = NO_WAKEUP},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ringbuf_discard},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "taker", "GPL", insns,
			     sizeof(insns) / sizeof(*insns), NULL);
}

/* Leaves no room for a record until the engine looks at the next stop. */
static void fill_ring(void)
{
	const struct ring *ring = &fixture.engine.placements->kernel.hits;
	char packet[64] = {0};

	for (size_t size = ring->size / 2; size >= 8; size /= 2) {
		LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet,
			    .data_size_in = sizeof(packet));
		_cleanup_close_ int fd = load_taker(ring->fd, (int)size);

		cr_assert_geq(fd, 0, "%s", strerror(errno));
		do
			cr_assert_eq(bpf_prog_test_run_opts(fd, &options), 0);
		while (options.retval == 1);
	}
}

/* ---- tests ---- */

/* A write watchpoint of the counter that compares with 0. */
static void insert_filter(struct location *location)
{
	struct error *error;

	*location = (struct location){
		.inferior = fixture.inferior,
		.type = WATCHPOINT_WRITE,
		.addr = (uintptr_t)&counter,
		.len = sizeof(counter),
		.engine = &fixture.engine,
		.watch.filters = true,
	};
	error = fixture.engine.ops->insert(&fixture.engine, location);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

TestSuite(perf_event, .init = set_up, .fini = tear_down, .timeout = 300);

/* One step, or what comes before it. */
static void step(bool blocked)
{
	const uint64_t mask = blocked ? UINT64_C(1) << (SIGTRAP - 1) : 0;

	/* The SIGTRAP of a step unblocks SIGTRAP: block it again each time. */
	cr_assert_eq(ptrace(PTRACE_SETSIGMASK, fixture.pid, sizeof(mask), &mask), 0);
	cr_assert_eq(thread_step(fixture.event.thread, 0), 0);
	inferiors_wait(&fixture.inferiors, true, &fixture.event);
	cr_assert_eq(fixture.event.kind, EVENT_SIGNAL);
	fixture.hits = (struct hits){0};
	fixture.engine.ops->on_stop(&fixture.engine, &fixture.event, &fixture.hits);
}

/* The step's SIGTRAP hides that of the hit, but the hit is told: once, and at
 * the step that stored. */
static void step_over_watched_stores(bool blocked)
{
	struct location at, watch;
	unsigned int hits = 0;

	if (arch_native()->debugreg_hits_repeat)
		cr_skip_test("hits come before the access: such a step has not stored");
	need_steps_over_watched();
	start(store);
	insert(&at, BREAKPOINT_HARDWARE, before_store, NULL);
	next();
	expect_hit(&at, true);
	take_out(&at, false);
	insert(&watch, WATCHPOINT_WRITE, &counter, NULL);
	for (int i = 0; i < 80 && hits < 2; i++) {
		step(blocked);
		if (fixture.event.signal == SIGSTOP) {
			cr_expect(fixture.hits.signal_is_ours);
			cr_expect_eq(fixture.hits.count, 0);
		} else {
			cr_assert_eq(fixture.event.signal, SIGTRAP);
		}
		hits += fixture.hits.count;
		if (fixture.hits.count)
			cr_expect_eq(counter_there(), 41 + hits);
	}
	cr_expect_eq(hits, 2);
	expect_counts(&watch, 2, 2);
	next();
	/* Without SIGTRAPs of the events' own, every hit is stopped by SIGSTOP. */
	if (blocked || fixture.event.kind == EVENT_SIGNAL) {
		cr_assert_eq(fixture.event.signal, SIGSTOP);
		cr_expect(fixture.hits.signal_is_ours);
		cr_expect_eq(fixture.hits.count, 0);
		next();
	}
	cr_expect_eq(fixture.event.kind, EVENT_EXITED);
	take_out(&watch, true);
}

Test(perf_event, step_over_a_watched_store)
{
	step_over_watched_stores(false);
}

Test(perf_event, step_with_sigtrap_blocked)
{
	step_over_watched_stores(true);
}

/* A hit whose record did not fit into the ring is left to the stub to decide. */
Test(perf_event, lost_record)
{
	struct location first, last;
	struct counts counts = {0};

	start(two_places);
	insert(&first, BREAKPOINT_HARDWARE, place, NULL);
	insert(&last, BREAKPOINT_HARDWARE, place_1, NULL);
	cr_assert_eq(next(), EVENT_SIGNAL);
	expect_hit(&first, true);
	fill_ring();
	cr_assert_eq(next(), EVENT_SIGNAL);
	cr_assert_eq(pc(), (uintptr_t)place_1);
	cr_expect(fixture.hits.signal_is_ours);
	cr_assert_eq(fixture.hits.count, 1, "%u", fixture.hits.count);
	cr_expect_eq(fixture.hits.hit[0].location, &last);
	cr_expect_eq(fixture.hits.hit[0].verdict, HIT_MAYBE);
	fixture.engine.ops->counts(&fixture.engine, &last, &counts);
	cr_expect_eq(counts_total(&counts).maybes, 1);
	cr_expect_eq(counts_total(&counts).trues, 0, "that is for the stub to say");
	counts_clear(&counts);
	take_out(&first, false);
	take_out(&last, false);
	expect_good_end();
}

static void need_values(void)
{
	if (arch_native()->debugreg_hits_repeat)
		cr_skip_test("hits come before the access: no values are compared");
}

/* While somebody else compares, a hit is left to the stub, and nothing is kept. */
Test(perf_event, another_compares)
{
	struct location written;
	struct watch_last *last;
	uint64_t old = 1, new = 0;

	need_values();
	start(store);
	insert_filter(&written);
	last = fixture.engine.ops->last(&fixture.engine, &written);
	last->lock = 1;
	cr_assert_eq(next(), EVENT_SIGNAL);
	cr_assert_eq(fixture.hits.count, 1);
	cr_expect_eq(fixture.hits.hit[0].verdict, HIT_MAYBE);
	cr_expect_eq(fixture.hits.hit[0].values.len, 0);
	cr_expect_eq(last->bytes[0], 0);

	last->lock = 0;
	cr_assert_eq(next(), EVENT_SIGNAL);
	expect_hit(&written, true);
	memcpy(&old, fixture.hits.hit[0].values.old, sizeof(old));
	memcpy(&new, fixture.hits.hit[0].values.new, sizeof(new));
	cr_expect_eq(old, 0);
	cr_expect_eq(new, 43);
	cr_expect_eq(last->lock, 0);
	take_out(&written, false);
	expect_good_end();
}

/* A write watchpoint's filter has compared at a hit whose record is lost: the stub,
 * which does it again, is not to take that for no change. */
Test(perf_event, lost_change)
{
	struct location first, written;

	need_values();
	start(two_places);
	insert(&first, BREAKPOINT_HARDWARE, place, NULL);
	insert_filter(&written);
	cr_assert_eq(next(), EVENT_SIGNAL);
	expect_hit(&first, true);
	fill_ring();
	cr_assert_eq(next(), EVENT_SIGNAL);
	cr_expect_eq(counter_there(), 42);
	cr_assert_eq(fixture.hits.count, 1, "%u", fixture.hits.count);
	cr_expect_eq(fixture.hits.hit[0].location, &written);
	cr_expect_eq(fixture.hits.hit[0].verdict, HIT_MAYBE);
	cr_expect_eq(fixture.hits.hit[0].values.len, 0);
	cr_expect_eq(fixture.engine.ops->last(&fixture.engine, &written)->unsure, 1);
	take_out(&first, false);
	take_out(&written, false);
	expect_good_end();
}
