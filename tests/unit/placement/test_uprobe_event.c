/* SPDX-License-Identifier: BSD-2-Clause */
/* Uprobes in the test's own process, as multi links and as perf events. What the
 * machine does not allow is skipped. */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"
#include "bpf/kernel/kernel.h"
#include "bpf/kernel/uprobe_event.h"
#include "gdbstub/inferior/inferior.h"
#include "tests/unit/child.h"
#include "tests/unit/support.h"

/* ---- a program that counts, and where it is put ---- */

static struct uprobe_options options;
static int map_fd, program_fd;

static int load_counter(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_IMM | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_VALUE,
		 .imm = map_fd},
		{0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 1},
		{.code = BPF_STX | BPF_ATOMIC | BPF_DW,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_REG_2,
		 .imm = BPF_ADD},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};

	return load_for_uprobe(&options, insns, sizeof(insns) / sizeof(*insns));
}

/* Hits since the last time. */
static uint64_t take_hits(void)
{
	const uint32_t key = 0;
	const uint64_t none = 0;
	uint64_t count = 0;

	cr_assert_eq(bpf_map_lookup_elem(map_fd, &key, &count), 0);
	cr_assert_eq(bpf_map_update_elem(map_fd, &key, &none, BPF_ANY), 0);
	return count;
}

static void begin(bool multi)
{
	options = use_uprobes(multi);
	map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test", sizeof(uint32_t),
				sizeof(uint64_t), 1, NULL);
	cr_assert_geq(map_fd, 0);
	program_fd = load_counter();
}

static void *address(enum probe_kind kind)
{
	return (void *)(uintptr_t)arch_native()->probe_places[kind].function;
}

static void call(enum probe_kind kind)
{
	arch_native()->probe_places[kind].function();
}

/* Where there is no trap yet: nobody here knows what is under it. */
static struct uprobe_target target_of(enum probe_kind kind)
{
	struct uprobe_target target;
	_cleanup_error_ struct error *error =
		find_target(getpid(), address(kind),
			    arch_native()->probe_places[kind].len, &target);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return target;
}

static int open_at(const struct uprobe_target *target, pid_t pid)
{
	int fd = uprobe_event_open(&options, target, pid, program_fd);

	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	return fd;
}

static int probe(enum probe_kind kind)
{
	struct uprobe_target target = target_of(kind);
	int fd = open_at(&target, getpid());

	uprobe_target_deinit(&target);
	return fd;
}

/* ---- who hits ---- */

static void *wait_and_call(void *turns)
{
	if (turns)
		turns_await(((struct turns *)turns)->to);
	call(PROBE_STEPPED);
	return NULL;
}

BOTH(all_threads)
{
	struct turns turns;
	pthread_t old, young;
	int fd;

	turns_open(&turns);
	pthread_create(&old, NULL, wait_and_call, &turns);
	fd = probe(PROBE_STEPPED);
	cr_expect(is_trapped(address(PROBE_STEPPED)));
	turns_give(turns.to);
	pthread_create(&young, NULL, wait_and_call, NULL);
	call(PROBE_STEPPED);
	pthread_join(old, NULL);
	pthread_join(young, NULL);
	cr_expect_eq(take_hits(), 3);
	close(fd);
	cr_expect_not(is_trapped(address(PROBE_STEPPED)));
	call(PROBE_STEPPED);
	cr_expect_eq(take_hits(), 0);
}

BOTH(other_process)
{
	struct turns turns;
	pid_t pid;
	int fd;

	turns_open(&turns);
	pid = child_fork();
	if (pid == 0) {
		turns_await(turns.to);
		call(PROBE_EMULATED);
		_exit(is_trapped(address(PROBE_EMULATED)));
	}
	fd = probe(PROBE_EMULATED);
	turns_give(turns.to);
	child_wait_good(pid);
	cr_expect_eq(take_hits(), 0);
	close(fd);
}

/* The copied trap goes with the probe at the latest; earlier if another process, a test
 * beside this one, takes its own probe of the same place away. */
BOTH(forked_child)
{
	int fd = probe(PROBE_EMULATED);
	struct turns turns;
	pid_t pid;

	turns_open(&turns);
	pid = child_fork();
	if (pid == 0) {
		close(fd);
		call(PROBE_EMULATED);
		turns_give(turns.from);
		turns_await(turns.to);
		call(PROBE_EMULATED);
		_exit(is_trapped(address(PROBE_EMULATED)));
	}
	turns_await(turns.from);
	cr_expect(is_trapped(address(PROBE_EMULATED)));
	close(fd);
	turns_give(turns.to);
	child_wait_good(pid);
	cr_expect_eq(take_hits(), 0);
}

/* What shares the memory without being a thread. */
static unsigned int expected_of_others(void)
{
	return options.multi ? 0 : 2;
}

BOTH(vforked_child)
{
	int fd = probe(PROBE_EMULATED);
	pid_t pid = vfork();

	if (pid == 0) {
		call(PROBE_EMULATED);
		call(PROBE_EMULATED);
		_exit(0);
	}
	child_wait_good(pid);
	cr_expect_eq(take_hits(), expected_of_others());
	cr_expect(is_trapped(address(PROBE_EMULATED)));
	call(PROBE_EMULATED);
	cr_expect_eq(take_hits(), 1);
	close(fd);
}

static int task_main(void *data)
{
	turns_await(((struct turns *)data)->to);
	call(PROBE_EMULATED);
	call(PROBE_EMULATED);
	return 0;
}

static pid_t make_task(struct turns *turns)
{
	enum { SIZE = 65536 };
	char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq((void *)stack, MAP_FAILED);
	return clone(task_main, stack + SIZE, CLONE_VM | CLONE_FS | CLONE_FILES, turns);
}

BOTH(task_with_same_memory)
{
	struct uprobe_target target = target_of(PROBE_EMULATED);
	int fd = open_at(&target, getpid()), own;
	struct turns turns;
	pid_t pid;

	turns_open(&turns);
	pid = make_task(&turns);
	turns_give(turns.to);
	child_wait_good(pid);
	cr_expect_eq(take_hits(), expected_of_others());

	pid = make_task(&turns);
	own = open_at(&target, pid);
	turns_give(turns.to);
	child_wait_good(pid);
	cr_expect_eq(take_hits(), expected_of_others() + 2);
	close(own);
	call(PROBE_EMULATED);
	cr_expect_eq(take_hits(), 1);
	close(fd);
	uprobe_target_deinit(&target);
}

static void *outlive(void *turns)
{
	turns_await(((struct turns *)turns)->to);
	_exit(0);
}

static void __attribute__((noreturn)) end_leader(struct turns *turns)
{
	pthread_t thread;

	pthread_create(&thread, NULL, outlive, turns);
	syscall(SYS_exit, 0);
	abort();
}

/* Until a process has no leader whose memory could be found. */
static void await_end_of_leader(pid_t pid)
{
	bool ended = false;

	while (!ended) {
		struct uprobe_target target;
		_cleanup_error_ struct error *error = NULL;

		sched_yield();
		error = find_target(pid, address(PROBE_STEPPED), 1, &target);
		uprobe_target_deinit(&target);
		ended = error && strstr(error_text(error), "first thread");
	}
}

/* Probes hang on the leader. */
BOTH(leader_has_ended)
{
	struct turns turns;
	pid_t pid;

	turns_open(&turns);
	pid = child_fork();
	if (pid == 0)
		end_leader(&turns);
	await_end_of_leader(pid);
	turns_give(turns.to);
	child_wait_good(pid);
}

/* ---- where ---- */

/* The page of the file that has the target, once more. */
static void *map_again(const struct uprobe_target *target)
{
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), inside = target->offset % page;
	char *mapped = mmap(NULL, page + INSN_LEN_MAX, PROT_READ | PROT_EXEC,
			    MAP_PRIVATE, fd, (off_t)(target->offset - inside));

	cr_assert_neq((void *)mapped, MAP_FAILED);
	return mapped + inside;
}

/* Nothing else is mapped in its place. */
static void unmap(void *addr)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)addr & -page);

	cr_assert_eq(mmap(start, page + INSN_LEN_MAX, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		     start);
}

static void call_at(void *addr)
{
	((void (*)(void))(uintptr_t)addr)();
}

/* As by dlclose and dlopen. */
BOTH(mapped_again)
{
	struct uprobe_target target = target_of(PROBE_EMULATED);
	void *first = map_again(&target), *second;
	int fd = open_at(&target, getpid());

	cr_expect(is_trapped(first));
	call_at(first);
	unmap(first);
	second = map_again(&target);
	cr_expect(is_trapped(second));
	call_at(second);
	cr_expect_eq(take_hits(), 2);
	close(fd);
	cr_expect_not(is_trapped(second));
	uprobe_target_deinit(&target);
}

BOTH(two_places_of_a_page)
{
	int emulated = probe(PROBE_EMULATED), stepped = probe(PROBE_STEPPED);

	call(PROBE_EMULATED);
	call(PROBE_STEPPED);
	cr_expect_eq(take_hits(), 2);
	close(emulated);
	cr_expect_not(is_trapped(address(PROBE_EMULATED)));
	cr_expect(is_trapped(address(PROBE_STEPPED)));
	call(PROBE_EMULATED);
	call(PROBE_STEPPED);
	cr_expect_eq(take_hits(), 1);
	close(stepped);
}

static volatile bool enough;

static void *call_until_enough(void *calls)
{
	while (!enough) {
		call(PROBE_EMULATED);
		call(PROBE_STEPPED);
		__atomic_add_fetch((uint64_t *)calls, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void await_calls(uint64_t *calls)
{
	uint64_t start = __atomic_load_n(calls, __ATOMIC_RELAXED);

	while (__atomic_load_n(calls, __ATOMIC_RELAXED) < start + 100)
		sched_yield();
}

BOTH(while_threads_run)
{
	enum { THREADS = 4, TIMES = 4 };
	pthread_t threads[THREADS];
	uint64_t calls = 0;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, call_until_enough, &calls);
	for (int i = 0; i < TIMES; i++) {
		int emulated = probe(PROBE_EMULATED), stepped = probe(PROBE_STEPPED);

		take_hits();
		await_calls(&calls);
		cr_expect_gt(take_hits(), 100);
		close(emulated);
		close(stepped);
		take_hits();
		await_calls(&calls);
		cr_expect_eq(take_hits(), 0);
	}
	enough = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* ---- errors ---- */

/* Multi links need no more than their program; perf events need root. */
BOTH(rights)
{
	struct uprobe_target target = target_of(PROBE_EMULATED);
	_cleanup_error_ struct error *error = NULL;
	int fd;

	/* By name: the mapping would need a right as well. */
	free(target.path);
	target.path = strdup("/proc/self/exe");
	keep_rights(0);
	fd = uprobe_event_open(&options, &target, getpid(), program_fd);
	uprobe_target_deinit(&target);
	if (options.multi) {
		cr_assert_geq(fd, 0, "%s", strerror(-fd));
		close(fd);
		return;
	}
	cr_assert_eq(fd, -EACCES);
	error = uprobe_event_error(&options, -fd);
	cr_expect_not_null(strstr(error_text(error), "root"));
}

BOTH(process_that_is_gone)
{
	struct uprobe_target target = target_of(PROBE_EMULATED);
	pid_t pid = child_fork();

	if (pid == 0)
		_exit(0);
	child_wait_good(pid);
	cr_expect_eq(uprobe_event_open(&options, &target, pid, program_fd), -ESRCH);
	uprobe_target_deinit(&target);
}
