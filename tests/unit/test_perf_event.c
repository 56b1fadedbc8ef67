/* SPDX-License-Identifier: BSD-2-Clause */
/* The engine on real processes. What the machine does not allow is skipped. */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/placement.h"
#include "inferior/attach.h"
#include "inferior/inferiors.h"
#include "inferior/memory.h"
#include "inferior/registers.h"
#include "inferior/resume.h"
#include "inferior/wait.h"
#include "stops/engine.h"
#include "tests/unit/child.h"
#include "tests/unit/expr.h"
#include "tests/unit/support.h"

/* ---- what the inferior runs ---- */

enum { ROUNDS = 1000, GOOD_STATUS = 7 };

static volatile uint64_t counter;
static volatile bool *go; /* shared with the child */

#define PLACE(name)                                                                    \
	static __attribute__((noinline)) void name(void)                               \
	{                                                                              \
		__asm__ volatile("" ::: "memory");                                     \
	}
PLACE(place)
PLACE(place_1)
PLACE(place_2)
PLACE(place_3)
PLACE(before_store)

static void rounds(void)
{
	void (*volatile call)(void) = place;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		counter = i;
		call();
	}
}

static void rounds_and_marks(void)
{
	for (int i = 0; i < 3; i++) {
		rounds();
		raise(SIGUSR1);
	}
}

static void block_sigtrap(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	rounds();
}

static void *thread_main(void *data)
{
	(void)data;
	rounds();
	return NULL;
}

/* Makes the thread that hits, and ends before it does. */
static void *thread_maker(void *data)
{
	pthread_create(data, NULL, thread_main, NULL);
	return NULL;
}

static void thread_of_thread(void)
{
	pthread_t maker, hitter;

	pthread_create(&maker, NULL, thread_maker, &hitter);
	pthread_join(maker, NULL);
	pthread_join(hitter, NULL);
}

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

static void fork_child(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		rounds();
		_exit(GOOD_STATUS);
	}
	waitpid(pid, &status, 0);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void exec_other(void)
{
	execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
}

static void own_stop(void)
{
	raise(SIGSTOP);
}

/* ---- the tracer's side ---- */

struct fixture {
	struct engine engine;
	struct inferiors inferiors;
	struct inferior *inferior;
	pid_t pid;
	struct event event;
	struct hits hits;
	unsigned int stops; /* of the signals that the engine calls its own */
};

static struct fixture fixture;

static void start(void (*run)(void))
{
	_cleanup_error_ struct error *error = NULL;

	go = mmap(NULL, sizeof(*go), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		  -1, 0);
	cr_assert_neq((void *)go, MAP_FAILED);
	fixture.pid = child_fork();
	if (fixture.pid == 0) {
		while (!*go)
			sched_yield();
		run();
		_exit(GOOD_STATUS);
	}
	inferiors_init(&fixture.inferiors);
	error = inferior_attach(&fixture.inferiors, fixture.pid, &fixture.inferior);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	*go = true;
}

static void probe(void)
{
	_cleanup_error_ struct error *error = arch_native()->init();

	cr_assert_null(error);
	fixture = (struct fixture){.engine.ops = &perf_event_engine,
				   .engine.placements = placements_create()};
	fixture.engine.unusable = fixture.engine.ops->probe(&fixture.engine);
	if (fixture.engine.unusable && geteuid() != 0)
		cr_skip_test("%s", error_text(fixture.engine.unusable));
	cr_assert_null(fixture.engine.unusable, "%s",
		       fixture.engine.unusable ? error_text(fixture.engine.unusable)
					       : "");
}

static void finish(void)
{
	if (fixture.inferior)
		inferior_kill(fixture.inferior);
	inferiors_deinit(&fixture.inferiors);
	fixture.engine.ops->deinit(&fixture.engine);
	placements_destroy(fixture.engine.placements);
}

/* Resumes whatever is stopped, with the signal that was seen if it is not ours. */
static void resume_all(void)
{
	struct thread *thread;

	TAILQ_FOREACH (thread, &fixture.inferior->threads, link)
		if (!thread->running)
			cr_assert_geq(thread_continue(thread, 0), -ESRCH);
}

/* The next event that is no thread starting or ending. */
static enum event_kind next(void)
{
	fixture.hits = (struct hits){0};
	do {
		resume_all();
		inferiors_wait(&fixture.inferiors, true, &fixture.event);
	} while (fixture.event.kind == EVENT_CLONE ||
		 fixture.event.kind == EVENT_THREAD_EXIT);
	if (fixture.event.kind == EVENT_SIGNAL)
		fixture.engine.ops->on_stop(&fixture.engine, &fixture.event,
					    &fixture.hits);
	fixture.stops += fixture.hits.signal_is_ours;
	return fixture.event.kind;
}

static void expect_good_end(void)
{
	cr_assert_eq(next(), EVENT_EXITED, "%s, signal %d",
		     event_kind_name(fixture.event.kind), fixture.event.signal);
	cr_expect_eq(fixture.event.status, GOOD_STATUS);
}

static uint64_t pc(void)
{
	uint64_t value = 0;

	cr_assert_eq(thread_get_pc(fixture.event.thread, &value), 0);
	return value;
}

static uint64_t counter_there(void)
{
	uint64_t value = 0;

	cr_assert_eq(inferior_read(fixture.inferior, (uintptr_t)&counter, &value,
				   sizeof(value)),
		     sizeof(value));
	return value;
}

/* ---- locations ---- */

/* counter == @value */
static struct agent_expr *condition(uint64_t value)
{
	return EXPR(CONST64((uintptr_t)&counter), AGENT_REF64, CONST64(value),
		    AGENT_EQUAL, AGENT_END);
}

static struct error *try_insert(struct location *location, enum breakpoint_type type,
				const volatile void *addr, struct agent_expr *expr)
{
	*location = (struct location){
		.inferior = fixture.inferior,
		.type = type,
		.addr = (uintptr_t)addr,
		.len = type == BREAKPOINT_HARDWARE ? 1 : sizeof(counter),
		.engine = &fixture.engine,
	};
	if (expr) {
		cr_assert_eq(agent_list_append(&location->conditions, expr), 0);
	}
	return fixture.engine.ops->insert(&fixture.engine, location);
}

static void insert(struct location *location, enum breakpoint_type type,
		   const volatile void *addr, struct agent_expr *expr)
{
	_cleanup_error_ struct error *error = try_insert(location, type, addr, expr);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

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

static void take_out(struct location *location, bool gone)
{
	fixture.engine.ops->remove(&fixture.engine, location, gone);
	agent_list_clear(&location->conditions);
}

static void expect_counts(const struct location *location, uint64_t hits,
			  uint64_t trues)
{
	struct counts by_thread = {0};
	struct hit_counts counts;

	fixture.engine.ops->counts(&fixture.engine, location, &by_thread);
	counts = counts_total(&by_thread);
	counts_clear(&by_thread);
	cr_expect_eq(counts.hits, hits, "%llu hits", (unsigned long long)counts.hits);
	cr_expect_eq(counts.trues, trues, "%llu trues",
		     (unsigned long long)counts.trues);
	cr_expect_eq(counts.maybes, 0);
}

static void expect_hit(const struct location *location, bool ours)
{
	cr_assert_eq(fixture.event.kind, EVENT_SIGNAL, "%s",
		     event_kind_name(fixture.event.kind));
	cr_assert_eq(fixture.hits.count, 1, "%u hits, signal %d", fixture.hits.count,
		     fixture.event.signal);
	cr_expect_eq(fixture.hits.hit[0].location, location);
	cr_expect_eq(fixture.hits.hit[0].verdict, HIT_TRUE);
	cr_expect_eq(fixture.hits.signal_is_ours, ours);
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

TestSuite(perf_event, .init = probe, .fini = finish, .timeout = 300);

Test(perf_event, false_hits_leave_no_stop)
{
	struct location location;

	start(rounds);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(ROUNDS));
	expect_good_end();
	expect_counts(&location, ROUNDS, 0);
	take_out(&location, true);
}

Test(perf_event, true_hit_stops_there)
{
	struct location location;
	struct hits again = {0};

	start(rounds);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(500));
	next();
	expect_hit(&location, true);
	cr_expect_eq(pc(), (uintptr_t)place);
	cr_expect_eq(counter_there(), 500);
	expect_counts(&location, 501, 1);

	/* The same SIGTRAP without a record, and none was lost: no hit. */
	if (fixture.event.signal == SIGTRAP) {
		fixture.engine.ops->on_stop(&fixture.engine, &fixture.event, &again);
		cr_expect(again.signal_is_ours);
		cr_expect_eq(again.count, 0);
	}

	expect_good_end();
	expect_counts(&location, ROUNDS, 1);
	fixture.engine.ops->reset_counts(&fixture.engine, &location);
	expect_counts(&location, 0, 0);
	take_out(&location, true);
}

Test(perf_event, unconditional)
{
	struct location location;

	start(rounds);
	insert(&location, BREAKPOINT_HARDWARE, place, NULL);
	for (uint64_t i = 0; i < 3; i++) {
		next();
		expect_hit(&location, true);
		cr_expect_eq(counter_there(), i);
	}
	take_out(&location, false);
	expect_good_end();
}

Test(perf_event, new_threads)
{
	struct location location;

	start(thread_of_thread);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(500));
	next();
	expect_hit(&location, true);
	cr_expect_neq(fixture.event.tid, fixture.pid);
	cr_expect_eq(pc(), (uintptr_t)place);
	cr_expect_eq(counter_there(), 500);
	expect_good_end();
	expect_counts(&location, ROUNDS, 1);
	take_out(&location, true);
}

Test(perf_event, suspend_and_resume)
{
	struct location location;

	start(rounds_and_marks);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(ROUNDS));
	next();
	cr_assert_eq(fixture.event.signal, SIGUSR1);
	expect_counts(&location, ROUNDS, 0);

	cr_assert_eq(fixture.engine.ops->suspend(&fixture.engine, &location), 0);
	next();
	cr_assert_eq(fixture.event.signal, SIGUSR1);
	expect_counts(&location, ROUNDS, 0);

	cr_assert_eq(fixture.engine.ops->resume(&fixture.engine, &location), 0);
	next();
	cr_assert_eq(fixture.event.signal, SIGUSR1);
	cr_expect_not(fixture.hits.signal_is_ours);
	expect_counts(&location, 2 * ROUNDS, 0);
	expect_good_end();
	take_out(&location, true);
}

Test(perf_event, removed_and_inserted_again)
{
	struct location location;

	start(rounds_and_marks);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(500));
	next();
	expect_hit(&location, true);
	take_out(&location, false);
	next();
	cr_assert_eq(fixture.event.signal, SIGUSR1);
	cr_expect_eq(fixture.hits.count, 0);

	insert(&location, BREAKPOINT_HARDWARE, place, condition(500));
	expect_counts(&location, 0, 0);
	next();
	expect_hit(&location, true);
	expect_counts(&location, 501, 1);
	take_out(&location, false);
	next();
	cr_assert_eq(fixture.event.signal, SIGUSR1);
}

Test(perf_event, one_too_many)
{
	static void (*const places[])(void) = {place, place_1, place_2, place_3};
	struct location location[HW_SLOTS_MAX + 1];
	_cleanup_error_ struct error *error = NULL;
	bool shared;
	unsigned int slots = arch_native()->hw_slots(HW_EXECUTE, &shared);

	cr_assert_leq(slots, HW_SLOTS_MAX);
	start(rounds);
	for (unsigned int i = 0; i < slots; i++)
		insert(&location[i], BREAKPOINT_HARDWARE, places[i % 4], NULL);
	error = try_insert(&location[slots], BREAKPOINT_HARDWARE, place, NULL);
	cr_assert_not_null(error);
	cr_expect_eq(error_errno(error), ENOSPC, "%s", error_text(error));
	cr_expect_null(location[slots].engine_data);
	take_out(&location[0], false);
	insert(&location[0], BREAKPOINT_HARDWARE, place, NULL);
	for (unsigned int i = 0; i < slots; i++)
		take_out(&location[i], false);
	expect_good_end();
}

Test(perf_event, sigtrap_blocked)
{
	struct location location;

	start(block_sigtrap);
	insert(&location, BREAKPOINT_HARDWARE, place, condition(500));
	next();
	expect_hit(&location, true);
	cr_expect_eq(fixture.event.signal, SIGSTOP);
	cr_expect_eq(pc(), (uintptr_t)place);
	cr_expect_eq(counter_there(), 500);
	expect_good_end();
	cr_expect_eq(fixture.stops, 1);
	expect_counts(&location, ROUNDS, 1);
	take_out(&location, true);
}

Test(perf_event, own_sigstop_is_not_ours)
{
	struct location location;

	start(own_stop);
	insert(&location, BREAKPOINT_HARDWARE, place, NULL);
	next();
	cr_assert_eq(fixture.event.signal, SIGSTOP);
	cr_expect_not(fixture.hits.signal_is_ours);
	cr_expect_eq(fixture.hits.count, 0);
	expect_good_end();
	take_out(&location, true);
}

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

Test(perf_event, forked_child_is_free)
{
	struct location location;

	start(fork_child);
	insert(&location, BREAKPOINT_HARDWARE, place, NULL);
	cr_assert_eq(next(), EVENT_FORK);
	cr_assert_eq(ptrace(PTRACE_DETACH, fixture.event.child_pid, 0, 0), 0);
	do
		next();
	while (fixture.event.kind == EVENT_SIGNAL && fixture.event.signal == SIGCHLD);
	cr_assert_eq(fixture.event.kind, EVENT_EXITED);
	cr_expect_eq(fixture.event.status, GOOD_STATUS);
	expect_counts(&location, 0, 0);
	take_out(&location, true);
}

Test(perf_event, exec_takes_everything_out)
{
	struct location location[HW_SLOTS_MAX];
	bool shared;
	unsigned int slots = arch_native()->hw_slots(HW_EXECUTE, &shared);

	start(exec_other);
	for (unsigned int i = 0; i < slots; i++)
		insert(&location[i], BREAKPOINT_HARDWARE, place, NULL);
	cr_assert_eq(next(), EVENT_EXEC);
	for (unsigned int i = 0; i < slots; i++)
		take_out(&location[i], true);
	for (unsigned int i = 0; i < slots; i++)
		insert(&location[i], BREAKPOINT_HARDWARE, place, NULL);
	expect_good_end();
	for (unsigned int i = 0; i < slots; i++)
		take_out(&location[i], true);
}

Test(perf_event, leaves_the_reserve_of_descriptors)
{
	struct rlimit before, limit;
	struct location location;
	struct error *error;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	start(rounds);
	limit = (struct rlimit){3, before.rlim_max};
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	error = try_insert(&location, BREAKPOINT_HARDWARE, place, NULL);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_assert(error && error_errno(error) == EMFILE);
	error_destroy(error);
	insert(&location, BREAKPOINT_HARDWARE, place, NULL);
	take_out(&location, false);
	expect_good_end();
}
