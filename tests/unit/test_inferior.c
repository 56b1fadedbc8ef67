/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/inferior.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "inferior/attach.h"
#include "inferior/inferiors.h"
#include "inferior/launch.h"
#include "inferior/memory.h"
#include "inferior/proc.h"
#include "inferior/registers.h"
#include "inferior/resume.h"
#include "inferior/thread_end.h"
#include "inferior/wait.h"
#include "tests/unit/child.h"

static const char target[] = PROGS_DIR "/target";

/* ---- helpers ---- */

struct fixture {
	struct inferiors inferiors;
	struct inferior *inferior;
	struct thread *leader;
};

static void launch_as(struct fixture *f, const struct launch_options *options)
{
	struct error *error = arch_native()->init();

	cr_assert_null(error);
	inferiors_init(&f->inferiors);
	error = inferior_launch(&f->inferiors, options, &f->inferior);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	f->leader = TAILQ_FIRST(&f->inferior->threads);
	cr_assert_eq(f->leader->tid, f->inferior->pid);
	cr_assert_not(f->leader->running);
}

static struct signal_state inherited(int blocked, int ignored)
{
	struct signal_state state;

	sigemptyset(&state.blocked);
	sigemptyset(&state.ignored);
	sigaddset(&state.blocked, blocked);
	sigaddset(&state.ignored, ignored);
	return state;
}

/* target ACTION [ARGUMENT] */
static void launch(struct fixture *f, const char *action, const char *argument)
{
	char *argv[] = {(char *)target, (char *)action, (char *)argument, NULL};

	launch_as(f, &(struct launch_options){.program = target,
					      .argv = argv,
					      .disable_randomization = true});
}

static struct event next_event(struct fixture *f)
{
	struct event event;

	inferiors_wait(&f->inferiors, true, &event);
	return event;
}

static void expect_event(struct fixture *f, enum event_kind kind, struct event *event)
{
	*event = next_event(f);
	cr_assert_eq(event->kind, kind, "%s instead of %s",
		     event_kind_name(event->kind), event_kind_name(kind));
}

static void expect_exit(struct fixture *f, int status)
{
	struct event event;

	expect_event(f, EVENT_EXITED, &event);
	cr_assert_eq(event.status, status, "exit status %d", event.status);
	inferior_destroy(event.inferior);
	inferiors_deinit(&f->inferiors);
}

static void kill_all(struct fixture *f)
{
	pid_t pid = f->inferior->pid;

	inferior_kill(f->inferior);
	cr_assert(TAILQ_EMPTY(&f->inferiors.list));
	cr_assert_eq(kill(pid, 0), -1);
	cr_assert_eq(errno, ESRCH);
	inferiors_deinit(&f->inferiors);
}

static uint64_t pc_of(const struct thread *thread)
{
	uint64_t pc = 0;

	cr_assert_eq(thread_get_pc(thread, &pc), 0);
	return pc;
}

/* A value of the auxiliary vector. */
static uint64_t auxv(const struct inferior *inferior, uint64_t type)
{
	struct buffer text _cleanup_buffer_ = {0};
	Elf64_auxv_t entry;

	cr_assert_eq(inferior_proc_file(inferior, "auxv", &text), 0);
	for (size_t i = 0; i + sizeof(entry) <= text.len; i += sizeof(entry)) {
		memcpy(&entry, text.data + i, sizeof(entry));
		if (entry.a_type == type)
			return entry.a_un.a_val;
	}
	cr_assert_fail("no auxv entry %lu", (unsigned long)type);
	return 0;
}

static uint64_t linker_entry(struct inferior *inferior)
{
	uint64_t base = auxv(inferior, AT_BASE);
	Elf64_Ehdr header;

	cr_assert_eq(inferior_read(inferior, base, &header, sizeof(header)),
		     (ssize_t)sizeof(header));
	cr_assert_arr_eq(header.e_ident, ELFMAG, SELFMAG);
	return base + header.e_entry;
}

/* ---- launch ---- */

Test(launch, stops_at_the_linkers_entry)
{
	struct fixture f;

	launch(&f, "exit", "3");
	cr_assert_eq(pc_of(f.leader), linker_entry(f.inferior));
	cr_assert_eq(getpgid(f.inferior->pid), f.inferior->pid);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 3);
}

Test(launch, passes_arguments_environment_directory)
{
	char *argv[] = {(char *)"/bin/sh",
			(char *)"-c",
			(char *)"test \"$PWD$V$1\" = '/tmp5a b'",
			(char *)"sh",
			(char *)"a b",
			NULL};
	char *envp[] = {(char *)"V=5", NULL};
	struct fixture f;

	launch_as(&f, &(struct launch_options){.program = "/bin/sh",
					       .argv = argv,
					       .envp = envp,
					       .directory = "/tmp"});
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 0);
}

Test(launch, finds_programs_in_the_path)
{
	char *argv[] = {(char *)"true", NULL};
	_cleanup_free_ char *exe = NULL;
	struct fixture f;

	launch_as(&f, &(struct launch_options){.program = "true", .argv = argv});
	exe = inferior_exe(f.inferior);
	cr_assert_str_eq(strrchr(exe, '/'), "/true");
	kill_all(&f);
}

Test(launch, prefers_the_current_directory)
{
	char *argv[] = {(char *)"target", NULL};
	_cleanup_free_ char *exe = NULL;
	struct fixture f;

	cr_assert_eq(chdir(PROGS_DIR), 0);
	launch_as(&f, &(struct launch_options){.program = "target", .argv = argv});
	exe = inferior_exe(f.inferior);
	cr_assert_str_eq(exe, target);
	kill_all(&f);
}

static struct error *launch_error(const char *program, const char *directory)
{
	char *argv[] = {(char *)program, NULL};
	struct inferiors inferiors;
	struct inferior *inferior;
	struct error *error;

	inferiors_init(&inferiors);
	error = inferior_launch(&inferiors,
				&(struct launch_options){.program = program,
							 .argv = argv,
							 .directory = directory},
				&inferior);
	cr_assert_not_null(error);
	cr_assert(TAILQ_EMPTY(&inferiors.list));
	cr_assert_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1, "a child is left");
	return error;
}

Test(launch, tells_why_exec_failed)
{
	struct {
		const char *program, *directory, *text;
	} cases[] = {
		{"/no/such", NULL, "Cannot exec /no/such: No such file or directory"},
		{"/etc/passwd", NULL, "Cannot exec /etc/passwd: Permission denied"},
		{"/tmp", NULL, "Cannot exec /tmp: Permission denied"},
		{"/bin/true", "/no/dir",
		 "Cannot change to the working directory of /bin/true: "
		 "No such file or directory"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_error_ struct error *error =
			launch_error(cases[i].program, cases[i].directory);

		cr_expect_str_eq(error_text(error), cases[i].text, "%s",
				 error_text(error));
	}
}

/* From /proc/PID/status. */
static unsigned long long ignored_signals(const struct buffer *text)
{
	const char *line = strstr(text->data, "\nSigIgn:\t");

	cr_assert_not_null(line);
	/* 32 and 33 are glibc's own, and a posix_spawn above us may ignore them. */
	return strtoull(line + strlen("\nSigIgn:\t"), NULL, 16) & ~(3ULL << 31);
}

Test(launch, resets_signal_mask_and_dispositions)
{
	struct buffer text _cleanup_buffer_ = {0};
	struct fixture f;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	launch(&f, "exit", NULL);
	cr_assert_eq(inferior_proc_file(f.inferior, "status", &text), 0);
	cr_assert_not_null(strstr(text.data, "\nSigBlk:\t0000000000000000\n"));
	cr_assert_eq(ignored_signals(&text), 0);
	kill_all(&f);
}

Test(launch, hands_on_what_the_server_inherited)
{
	const struct signal_state state = inherited(SIGUSR1, SIGHUP);
	char *argv[] = {(char *)target, (char *)"exit", NULL};
	struct buffer text _cleanup_buffer_ = {0};
	struct fixture f;

	launch_as(&f, &(struct launch_options){
			      .program = target, .argv = argv, .signals = &state});
	cr_assert_eq(inferior_proc_file(f.inferior, "status", &text), 0);
	cr_expect_not_null(strstr(text.data, "\nSigBlk:\t0000000000000200\n"));
	cr_expect_eq(ignored_signals(&text), 1);
	kill_all(&f);
}

/* The shell's and the wrapper's exec are not the program's. */
Test(launch, by_shell_and_wrapper_stops_in_the_program)
{
	char *argv[] = {(char *)"",
			(char *)"-c",
			(char *)"test \"$A$1\" = \"a b'\\\\!\" && exit 7",
			(char *)"sh",
			(char *)" b'\\!",
			NULL};
	char *wrapper[] = {(char *)"env", (char *)"A=a", NULL};
	_cleanup_free_ char *exe = NULL, *dash = realpath("/bin/sh", NULL);
	struct fixture f;

	launch_as(&f, &(struct launch_options){.program = "/bin/sh",
					       .argv = argv,
					       .wrapper = wrapper,
					       .shell = "/bin/sh"});
	exe = inferior_exe(f.inferior);
	cr_expect_str_eq(exe, dash);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 7);
}

/* Arguments as for a shell, with one and without. */
Test(launch, arguments_in_one_string)
{
	static const struct {
		const char *shell, *arguments;
	} cases[] = {
		{"/bin/sh", "-c 'exit $1' sh $((2 + 1))"},
		{NULL, "-c 'exit $1'  sh \"3\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;

		launch_as(&f, &(struct launch_options){.program = "/bin/sh",
						       .arguments = cases[i].arguments,
						       .shell = cases[i].shell});
		cr_assert_eq(thread_continue(f.leader, 0), 0);
		expect_exit(&f, 3);
	}
}

/* More than a shell's command can hold. */
Test(launch, long_argument_lists)
{
	enum { COUNT = 3, LENGTH = 100000 };
	char *argv[COUNT + 2] = {(char *)"true"};
	struct fixture f;

	for (int i = 1; i <= COUNT; i++) {
		argv[i] = calloc(1, LENGTH + 1);
		cr_assert_not_null(argv[i]);
		memset(argv[i], 'x', LENGTH);
	}
	launch_as(&f, &(struct launch_options){
			      .program = "true", .argv = argv, .shell = "/bin/sh"});
	for (int i = 1; i <= COUNT; i++)
		free(argv[i]);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 0);
}

static void expect_startup_failure(const char *shell, char *const *wrapper,
				   const char *text, bool ours)
{
	static char *const argv[] = {(char *)"/bin/true", NULL};
	struct inferiors inferiors;
	struct inferior *inferior;
	struct error *error _cleanup_error_ = NULL;

	inferiors_init(&inferiors);
	error = inferior_launch(&inferiors,
				&(struct launch_options){.program = argv[0],
							 .argv = argv,
							 .wrapper = wrapper,
							 .shell = shell},
				&inferior);
	cr_assert_not_null(error);
	cr_expect_str_eq(error_text(error), text);
	cr_expect_eq(error_errno(error) != 0, ours);
	cr_assert_eq(waitpid(-1, NULL, __WALL | WNOHANG), -1, "a child is left");
}

Test(launch, tells_how_shell_or_wrapper_ended)
{
	char *sh[] = {(char *)"sh", (char *)"-c", NULL, NULL};

	sh[2] = (char *)"exit 3";
	expect_startup_failure("/bin/sh", sh,
			       "During startup program exited with code 3.", false);
	sh[2] = (char *)"exit 0";
	expect_startup_failure(NULL, sh, "During startup program exited normally.",
			       false);
	sh[2] = (char *)"kill -9 $$";
	expect_startup_failure("/bin/sh", sh,
			       "During startup program terminated with signal SIGKILL, "
			       "Killed.",
			       false);
	expect_startup_failure("/no/shell", NULL,
			       "Cannot exec /no/shell: No such file or directory",
			       true);
}

/* A wrapper that takes its time does not keep the server from ending. */
Test(launch, gives_up_when_the_server_is_to_end)
{
	char *wrapper[] = {(char *)"sh", (char *)"-c",
			   (char *)"kill -TERM $PPID; sleep 1000", NULL};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	expect_startup_failure("/bin/sh", wrapper,
			       "During startup program terminated with signal SIGKILL, "
			       "Killed.",
			       false);
	cr_assert_eq(sigwaitinfo(&set, NULL), SIGTERM, "it is still to be told");
}

Test(launch, disables_randomization_on_demand)
{
	struct buffer text _cleanup_buffer_ = {0};
	struct fixture f;

	launch(&f, "exit", NULL);
	cr_assert_eq(inferior_proc_file(f.inferior, "personality", &text), 0);
	cr_assert_str_eq(text.data, "00040000\n");
	kill_all(&f);
}

/* ---- stepping ---- */

Test(step, moves_from_the_exec_stop)
{
	struct fixture f;
	uint64_t entry;
	struct event event;
	uint8_t insn[4];

	launch(&f, "exit", NULL);
	entry = pc_of(f.leader);
	cr_assert_eq(inferior_read(f.inferior, entry, insn, 4), 4);
	cr_assert_eq(thread_step(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_eq(event.siginfo.si_code, TRAP_TRACE);
	cr_assert_gt(pc_of(f.leader), entry);
	cr_assert_leq(pc_of(f.leader), entry + 4, "one instruction (mov %%rsp,%%rdi)");
	kill_all(&f);
}

Test(step, moves_after_a_changed_pc)
{
	struct fixture f;
	struct event event;
	uint64_t entry;

	launch(&f, "exit", NULL);
	entry = auxv(f.inferior, AT_ENTRY);
	cr_assert_eq(thread_set_pc(f.leader, entry), 0);
	cr_assert_eq(pc_of(f.leader), entry);
	cr_assert_eq(thread_step(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_gt(pc_of(f.leader), entry);
	cr_assert_leq(pc_of(f.leader), entry + 15);
	kill_all(&f);
}

/* A thread that was continued into clone or fork and is stepped from there moves. */
static void step_from(const char *action, const char *argument, enum event_kind kind)
{
	struct fixture f;
	struct event event;
	uint64_t pc;

	launch(&f, action, argument);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, kind, &event);
	pc = pc_of(f.leader);
	cr_assert_eq(thread_step(f.leader, 0), 0);
	expect_event(&f, EVENT_SYSCALL, &event);
	cr_assert_not(event.entry);
	cr_assert_not(f.leader->stepping, "the step has not ended");
	cr_assert_eq(thread_step(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_neq(pc_of(f.leader), pc);
	kill_all(&f);
}

Test(step, moves_from_a_clone_stop)
{
	step_from("threads", "1", EVENT_CLONE);
}

Test(step, moves_from_a_fork_stop)
{
	step_from("fork", NULL, EVENT_FORK);
}

/* ---- system calls ---- */

/* Returns the call's number. */
static int expect_call(struct fixture *f, bool entry)
{
	struct event event;

	expect_event(f, EVENT_SYSCALL, &event);
	cr_assert_eq(event.entry, entry);
	return event.syscall;
}

Test(syscalls, entry_and_return_are_told)
{
	struct fixture f;
	int number;

	launch(&f, "exit", NULL);
	syscalls_set_all(&f.inferior->syscalls);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	number = expect_call(&f, true);
	cr_assert_geq(number, 0);
	cr_assert(f.leader->in_syscall);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	cr_assert_eq(expect_call(&f, false), number);
	cr_assert_not(f.leader->in_syscall);
	kill_all(&f);
}

Test(syscalls, none_are_told_of_an_empty_set)
{
	struct fixture f;

	launch(&f, "exit", NULL);
	syscalls_set_all(&f.inferior->syscalls);
	syscalls_clear(&f.inferior->syscalls);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 0);
}

Test(syscalls, sets)
{
	static const uint64_t numbers[] = {3, 0};
	struct syscalls set = {0}, copy = {0};

	cr_assert_not(syscalls_any(&set));
	cr_assert_not(syscalls_wanted(&set, 3));
	cr_assert_eq(syscalls_set(&set, numbers, 2), 0);
	cr_assert_eq(syscalls_copy(&copy, &set), 0);
	syscalls_clear(&set);
	cr_assert_not(syscalls_any(&set));
	cr_assert(syscalls_any(&copy));
	cr_assert(syscalls_wanted(&copy, 0));
	cr_assert(syscalls_wanted(&copy, 3));
	cr_assert_not(syscalls_wanted(&copy, 1));
	cr_assert_not(syscalls_wanted(&copy, SYSCALL_NONE));
	syscalls_set_all(&copy);
	cr_assert(syscalls_wanted(&copy, 1));
	cr_assert_not(syscalls_wanted(&copy, SYSCALL_NONE));
	syscalls_clear(&copy);
}

/* ---- threads ---- */

struct tally {
	int clones, exits;
	struct event last;
};

/* Runs everything until the process ends; signals are delivered. */
static struct tally run_to_end(struct fixture *f)
{
	struct tally tally = {0};

	for (;;) {
		struct event event = next_event(f);

		tally.last = event;
		tally.clones += event.kind == EVENT_CLONE;
		tally.exits += event.kind == EVENT_THREAD_EXIT;
		if (event.kind == EVENT_EXITED || event.kind == EVENT_KILLED ||
		    event.kind == EVENT_NONE)
			return tally;
		if (event.child) {
			cr_assert_eq(event.child->inferior, f->inferior);
			cr_assert_not(event.child->running);
			cr_assert_eq(thread_continue(event.child, 0), 0);
		}
		if (event.thread)
			thread_continue(event.thread,
					event.kind == EVENT_SIGNAL ? event.signal : 0);
	}
}

Test(threads, all_are_followed_and_their_ends_seen)
{
	struct tally tally;
	struct fixture f;

	launch(&f, "threads", "32");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	tally = run_to_end(&f);
	cr_assert_eq(tally.last.kind, EVENT_EXITED);
	cr_assert_eq(tally.last.status, 0);
	cr_assert_eq(tally.clones, 64);
	cr_assert_eq(tally.exits, 64);
	cr_assert_eq(TAILQ_FIRST(&f.inferior->threads), f.leader);
	cr_assert_null(TAILQ_NEXT(f.leader, link));
	cr_assert_null(f.inferiors.early_stops);
	inferior_destroy(f.inferior);
	inferiors_deinit(&f.inferiors);
}

Test(threads, name_and_core)
{
	char name[32], tiny[3];
	struct fixture f;

	launch(&f, "exit", NULL);
	thread_name(f.leader, name, sizeof(name));
	cr_assert_str_eq(name, "target");
	thread_name(f.leader, tiny, sizeof(tiny));
	cr_assert_str_eq(tiny, "ta");
	cr_assert_geq(thread_core(f.leader), 0);
	cr_assert_lt(thread_core(f.leader), sysconf(_SC_NPROCESSORS_CONF));
	kill_all(&f);
}

Test(threads, leader_that_exits_first)
{
	struct fixture f;
	struct event event;
	struct thread *other;
	Elf64_Ehdr header;
	uint64_t base;

	launch(&f, "leader-exits", NULL);
	base = auxv(f.inferior, AT_BASE);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_CLONE, &event);
	other = event.child;
	cr_assert_not(thread_is_zombie(f.leader));
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	/* Only the leader runs, and it reports nothing when it ends. */
	while (!thread_is_zombie(f.leader)) {
		inferiors_wait(&f.inferiors, false, &event);
		cr_assert_eq(event.kind, EVENT_NONE);
		usleep(1000);
	}
	cr_assert_not(thread_is_zombie(other));
	cr_assert_eq(inferior_read(f.inferior, base, &header, sizeof(header)),
		     (ssize_t)sizeof(header), "memory outlives the leader");
	cr_assert_eq(thread_continue(other, 0), 0);
	expect_event(&f, EVENT_THREAD_EXIT, &event);
	expect_exit(&f, 7);
}

Test(threads, kill_with_a_zombie_leader)
{
	struct fixture f;
	struct event event;

	launch(&f, "leader-exits", NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_CLONE, &event);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	while (!thread_is_zombie(f.leader))
		usleep(1000);
	kill_all(&f);
}

/* Another thread's exec may be killing this one already. */
static void expect_continue_or_dying(struct thread *thread)
{
	int err = thread_continue(thread, 0);

	cr_assert(err == 0 || err == -ESRCH, "%d", err);
}

Test(threads, exec_by_another_thread)
{
	char text[16];
	uint64_t pc;
	struct fixture f;
	struct event event;

	launch(&f, "thread-exec", NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	do {
		event = next_event(&f);
		if (event.child)
			expect_continue_or_dying(event.child);
		if (event.kind == EVENT_CLONE)
			expect_continue_or_dying(event.thread);
	} while (event.kind == EVENT_CLONE || event.kind == EVENT_THREAD_EXIT);
	cr_assert_eq(event.kind, EVENT_EXEC, "%s", event_kind_name(event.kind));
	cr_assert_eq(event.tid, f.inferior->pid);
	cr_assert_eq(event.thread->tid, f.inferior->pid);
	cr_assert_eq(TAILQ_FIRST(&f.inferior->threads), event.thread);
	cr_assert_null(TAILQ_NEXT(event.thread, link));
	pc = pc_of(event.thread);
	cr_assert_eq(pc, linker_entry(f.inferior), "new memory");
	cr_assert_eq(inferior_read(f.inferior, pc, text, sizeof(text)), sizeof(text));
	cr_assert_eq(inferior_write(f.inferior, pc, text, sizeof(text)), 0);
	cr_assert_eq(thread_step(event.thread, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_gt(pc_of(event.thread), pc);
	cr_assert_eq(thread_continue(event.thread, 0), 0);
	expect_exit(&f, 5);
}

/* ---- processes ---- */

/* A forked child is taken over, let go, and its parent sees it exit. */
static void fork_child(const char *action, enum event_kind kind)
{
	struct inferior *child;
	struct fixture f;
	struct event event;

	launch(&f, action, NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, kind, &event);
	cr_assert_neq(event.child_pid, f.inferior->pid);
	child = inferior_create(&f.inferiors, event.child_pid, true);
	cr_assert_eq(pc_of(TAILQ_FIRST(&child->threads)), pc_of(f.leader));
	inferior_detach(child, 0, 0);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	if (kind == EVENT_VFORK) {
		expect_event(&f, EVENT_VFORK_DONE, &event);
		cr_assert_eq(thread_continue(f.leader, 0), 0);
	}
	event = next_event(&f);
	if (event.kind == EVENT_SIGNAL) {
		cr_assert_eq(event.signal, SIGCHLD);
		cr_assert_eq(thread_continue(f.leader, SIGCHLD), 0);
		event = next_event(&f);
	}
	cr_assert_eq(event.kind, EVENT_EXITED);
	cr_assert_eq(event.status, 0);
	inferiors_deinit(&f.inferiors);
}

Test(processes, fork)
{
	fork_child("fork", EVENT_FORK);
}

Test(processes, vfork)
{
	fork_child("vfork", EVENT_VFORK);
}

Test(processes, death_by_signal)
{
	struct fixture f;
	struct event event;

	launch(&f, "die", "10"); /* SIGUSR1 */
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGUSR1);
	cr_assert_eq(event.siginfo.si_code, SI_TKILL);
	cr_assert_eq(thread_continue(f.leader, SIGUSR1), 0);
	expect_event(&f, EVENT_KILLED, &event);
	cr_assert_eq(event.signal, SIGUSR1);
	inferior_destroy(f.inferior);
	inferiors_deinit(&f.inferiors);
}

Test(processes, killed_from_outside_while_stopped)
{
	struct fixture f;
	struct event event;
	int err;

	launch(&f, "spin", NULL);
	kill(f.inferior->pid, SIGKILL);
	err = thread_continue(f.leader, 0);
	cr_assert(err == 0 || err == -ESRCH);
	cr_assert(f.leader->running);
	expect_event(&f, EVENT_KILLED, &event);
	cr_assert_eq(event.signal, SIGKILL);
	expect_event(&f, EVENT_NONE, &event);
	inferiors_deinit(&f.inferiors);
}

/* ---- signals and interrupts ---- */

Test(interrupts, stop_a_running_thread)
{
	struct fixture f;
	struct event event;

	launch(&f, "spin", NULL);
	for (int i = 0; i < 20; i++) {
		cr_assert_eq(thread_continue(f.leader, 0), 0);
		cr_assert_eq(thread_interrupt(f.leader), 0);
		cr_assert(f.leader->interrupting);
		expect_event(&f, EVENT_INTERRUPTED, &event);
		cr_assert_not(f.leader->interrupting);
		cr_assert_not(f.leader->running);
		pc_of(f.leader);
	}
	kill_all(&f);
}

/* An interrupt that is sent when the thread has stopped for something else already
 * must not show up as a stop after the next resume. */
Test(interrupts, stale_ones_are_no_answers)
{
	struct fixture f;
	struct event event;
	siginfo_t info = {0};

	launch(&f, "raise", "10");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	cr_assert_eq(waitid(P_PID, (id_t)f.inferior->pid, &info,
			    WSTOPPED | WNOWAIT | __WALL),
		     0);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGUSR1);
	cr_assert_eq(thread_continue(f.leader, SIGUSR1), 0);
	expect_event(&f, EVENT_UNASKED, &event);
	cr_assert_eq(thread_resume_again(f.leader, 0), 0);
	expect_exit(&f, 0);
}

/* The same while stepping: the step is one instruction all the same. */
Test(interrupts, stale_ones_do_not_disturb_a_step)
{
	struct fixture f;
	struct event event;
	siginfo_t info = {0};
	uint64_t pc;

	launch(&f, "spin", NULL);
	for (int i = 0; i < 5; i++) {
		cr_assert_eq(thread_step(f.leader, 0), 0);
		cr_assert_eq(waitid(P_PID, (id_t)f.inferior->pid, &info,
				    WSTOPPED | WNOWAIT | __WALL),
			     0);
		cr_assert_eq(thread_interrupt(f.leader), 0);
		expect_event(&f, EVENT_SIGNAL, &event);
		pc = pc_of(f.leader);
		cr_assert_eq(thread_step(f.leader, 0), 0);
		expect_event(&f, EVENT_UNASKED, &event);
		cr_assert_eq(thread_resume_again(f.leader, 0), 0);
		expect_event(&f, EVENT_SIGNAL, &event);
		cr_assert_eq(event.siginfo.si_code, TRAP_TRACE);
		cr_assert_neq(pc_of(f.leader), pc);
	}
	kill_all(&f);
}

/* To where it has raised SIGTRAP, which is blocked. */
static void launch_to_blocked_trap(struct fixture *f)
{
	struct event event;

	launch(f, "blocked-trap", NULL);
	cr_assert_eq(thread_continue(f->leader, 0), 0);
	expect_event(f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGUSR1);
}

/*
 * The two meet for certain: a trap is pending when the interrupt stops the thread.
 * While the signal is blocked there is nothing to tell.
 */
Test(interrupts, tell_a_pending_trap_first)
{
	struct fixture f;
	struct event event;
	uint64_t none = 0;

	launch_to_blocked_trap(&f);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_INTERRUPTED, &event);
	cr_assert_eq(ptrace(PTRACE_SETSIGMASK, f.leader->tid, sizeof(none), &none), 0);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_eq(event.siginfo.si_code, TRAP_TRACE);
	kill_all(&f);
}

/* Whatever has raised it, the program is not to die of it. */
Test(interrupts, no_trap_is_left_to_a_process_that_is_let_go)
{
	struct fixture f;
	uint64_t none = 0;
	int status;
	pid_t pid;

	launch_to_blocked_trap(&f);
	pid = f.inferior->pid;
	cr_assert_eq(ptrace(PTRACE_SETSIGMASK, f.leader->tid, sizeof(none), &none), 0);
	kill(pid, SIGTERM);
	inferior_detach(f.inferior, 0, 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFSIGNALED(status));
	cr_expect_eq(WTERMSIG(status), SIGTERM);
}

/* So it is when job control stops the thread; afterwards it is stopped. */
Test(interrupts, tell_a_pending_trap_before_a_group_stop)
{
	struct fixture f;
	struct event event;
	uint64_t none = 0;

	launch_to_blocked_trap(&f);
	cr_assert_eq(ptrace(PTRACE_SETSIGMASK, f.leader->tid, sizeof(none), &none), 0);
	cr_assert_eq(thread_continue(f.leader, SIGSTOP), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGTRAP);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_GROUP_STOP, &event);
	cr_assert_eq(event.signal, SIGSTOP);
	cr_assert_eq(thread_listen(f.leader), 0);
	kill(f.inferior->pid, SIGCONT);
	expect_event(&f, EVENT_UNASKED, &event);
	kill_all(&f);
}

/*
 * A thread that has executed a breakpoint instruction reports that, even if it was
 * interrupted before it could: after an interrupt's stop, no trap is outstanding.
 */
Test(interrupts, never_hide_a_trap)
{
	const struct arch_ops *arch = arch_native();
	int traps = 0, interrupts = 0;
	struct fixture f;
	struct event event;
	uint64_t entry;

	launch(&f, "spin", NULL);
	entry = pc_of(f.leader);
	cr_assert_eq(inferior_write(f.inferior, entry, arch->breakpoint_insn,
				    arch->breakpoint_len),
		     0);
	for (int i = 0; i < 2000; i++) {
		cr_assert_eq(thread_set_pc(f.leader, entry), 0);
		cr_assert_eq(thread_continue(f.leader, 0), 0);
		for (volatile int delay = i % 500 * 40; delay > 0; delay--)
			; /* so that the interrupt meets the trap at every point */
		cr_assert_eq(thread_interrupt(f.leader), 0);
		event = next_event(&f);
		if (event.kind == EVENT_INTERRUPTED) {
			interrupts++;
			cr_assert_eq(pc_of(f.leader), entry, "trapped, not told");
		} else {
			traps++;
			cr_assert_eq(event.kind, EVENT_SIGNAL);
			cr_assert_eq(event.signal, SIGTRAP);
			cr_assert_eq(pc_of(f.leader),
				     entry + arch->breakpoint_pc_advance);
		}
	}
	cr_log_info("%d traps, %d interrupts", traps, interrupts);
	kill_all(&f);
}

Test(signals, are_delivered_at_a_signal_stop)
{
	struct fixture f;
	struct event event;

	launch(&f, "raise", "12");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGUSR2);
	cr_assert_eq(thread_continue(f.leader, SIGUSR2), 0);
	expect_exit(&f, 0);
}

Test(signals, can_be_kept_from_the_program)
{
	struct fixture f;
	struct event event;

	launch(&f, "raise", "12");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 1);
}

/* The kernel ignores a signal given at such a stop; the program must get it. */
Test(signals, are_delivered_at_any_other_stop)
{
	struct fixture f;
	struct event event;

	launch(&f, "wait-signal", "12");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGUSR1);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_INTERRUPTED, &event);
	cr_assert_eq(thread_continue(f.leader, SIGUSR2), 0);
	expect_exit(&f, 0);
}

Test(signals, injected_before_an_interrupt_do_not_swallow_it)
{
	struct fixture f;
	struct event event;

	launch(&f, "spin", NULL);
	cr_assert_eq(thread_continue(f.leader, SIGCHLD), 0);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_INTERRUPTED, &event);
	cr_assert_eq(thread_continue(f.leader, SIGCHLD), 0);
	inferiors_wait(&f.inferiors, false, &event);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_INTERRUPTED, &event);
	kill_all(&f);
}

Test(signals, group_stop)
{
	struct fixture f;
	struct event event;

	launch(&f, "stop", NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGSTOP);
	cr_assert_eq(thread_continue(f.leader, SIGSTOP), 0);
	expect_event(&f, EVENT_GROUP_STOP, &event);
	cr_assert_eq(event.signal, SIGSTOP);
	cr_assert_eq(thread_listen(f.leader), 0);
	cr_assert(f.leader->listening);
	inferiors_wait(&f.inferiors, false, &event);
	cr_assert_eq(event.kind, EVENT_NONE);
	/* An interrupt gets an answer there too. */
	cr_assert_eq(thread_interrupt(f.leader), 0);
	expect_event(&f, EVENT_GROUP_STOP, &event);
	cr_assert_not(f.leader->listening);
	cr_assert_eq(thread_listen(f.leader), 0);
	kill(f.inferior->pid, SIGCONT);
	expect_event(&f, EVENT_UNASKED, &event);
	cr_assert_eq(thread_resume_again(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(event.signal, SIGCONT);
	cr_assert_eq(thread_continue(f.leader, SIGCONT), 0);
	expect_exit(&f, 4);
}

/* A thread that is resumed runs on; the process stays stopped for the kernel, whose
 * answer to an interrupt looks like a group stop. The signal has been delivered before.
 */
Test(signals, run_on_in_a_group_stop)
{
	struct fixture f;
	struct event event;

	launch(&f, "stop", NULL);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_SIGNAL, &event);
	cr_assert_eq(thread_continue(f.leader, SIGSTOP), 0);
	expect_event(&f, EVENT_GROUP_STOP, &event);
	cr_assert_eq(thread_interrupt(f.leader), 0);
	cr_assert_eq(thread_continue(f.leader, SIGSTOP), 0);
	expect_event(&f, EVENT_INTERRUPTED, &event);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_exit(&f, 4);
}

/* ---- memory ---- */

static uint64_t inferior_stack(struct inferior *inferior)
{
	return auxv(inferior, AT_RANDOM);
}

Test(memory, reads_what_is_there)
{
	struct fixture f;
	char buffer[16];
	uint64_t stack;

	launch(&f, "exit", NULL);
	stack = inferior_stack(f.inferior);
	cr_assert_eq(inferior_write(f.inferior, stack, "0123456789", 10), 0);
	cr_assert_eq(inferior_read(f.inferior, stack, buffer, 10), 10);
	cr_assert_arr_eq(buffer, "0123456789", 10);
	cr_assert_eq(inferior_read(f.inferior, 0, buffer, 4), -EFAULT);
	cr_assert_eq(inferior_read(f.inferior, UINT64_MAX - 3, buffer, 4), -EFAULT);
	cr_assert_eq(inferior_read(f.inferior, stack, buffer, 0), 0);
	kill_all(&f);
}

/* [stack] ends where nothing is mapped. */
Test(memory, reads_up_to_the_hole)
{
	struct buffer maps _cleanup_buffer_ = {0};
	static char data[8192];
	unsigned long start, end;
	struct fixture f;
	const char *line;

	launch(&f, "exit", NULL);
	cr_assert_eq(inferior_proc_file(f.inferior, "maps", &maps), 0);
	line = strstr(maps.data, "[stack]");
	while (line > maps.data && line[-1] != '\n')
		line--;
	cr_assert_eq(sscanf(line, "%lx-%lx", &start, &end), 2);
	cr_assert_eq(inferior_read(f.inferior, end - 5000, data, 8192), 5000);
	cr_assert_eq(inferior_read(f.inferior, end, data, 1), -EFAULT);
	cr_assert_eq(inferior_write(f.inferior, end - 2, "abcd", 4), -EFAULT);
	kill_all(&f);
}

Test(memory, writes_read_only_text)
{
	uint8_t before[64], after[64], junk[4] = {1, 2, 3, 4};
	struct fixture f;
	uint64_t pc;

	launch(&f, "exit", NULL);
	pc = pc_of(f.leader);
	cr_assert_eq(inferior_read(f.inferior, pc, before, 64), 64);
	cr_assert_eq(inferior_write(f.inferior, pc + 8, junk, 4), 0);
	cr_assert_eq(inferior_read(f.inferior, pc, after, 64), 64);
	cr_assert_arr_eq(after, before, 8);
	cr_assert_arr_eq(after + 8, junk, 4);
	cr_assert_arr_eq(after + 12, before + 12, 52);
	kill_all(&f);
}

/* ---- attach ---- */

static void wait_for_pause(void)
{
	for (;;)
		pause();
}

static struct inferior *attach(struct fixture *f, pid_t pid)
{
	struct error *error = arch_native()->init();

	cr_assert_null(error);
	inferiors_init(&f->inferiors);
	error = inferior_attach(&f->inferiors, pid, &f->inferior);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	f->leader = TAILQ_FIRST(&f->inferior->threads);
	return f->inferior;
}

static char state_of(pid_t pid)
{
	char path[64], line[256], *p;
	_cleanup_fclose_ FILE *file = NULL;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return '?';
	p = strrchr(line, ')');
	return p ? p[2] : '?';
}

/* Waits (bounded) for a state: a thread needs a moment to get there. */
static bool reaches_state(pid_t pid, char state)
{
	for (int i = 0; i < 2000; i++) {
		if (state_of(pid) == state)
			return true;
		usleep(1000);
	}
	return false;
}

Test(attach, stops_and_detach_lets_run)
{
	pid_t child = child_start(wait_for_pause);
	struct fixture f;

	cr_assert(attach(&f, child)->attached);
	cr_assert_not(f.leader->running);
	cr_assert_eq(state_of(child), 't');
	pc_of(f.leader);
	inferior_detach(f.inferior, 0, 0);
	cr_assert(TAILQ_EMPTY(&f.inferiors.list));
	cr_assert(reaches_state(child, 'S'));
	child_end(child);
}

Test(attach, detach_delivers_a_signal)
{
	pid_t child = child_start(wait_for_pause);
	struct fixture f;
	int status;

	attach(&f, child);
	inferior_detach(f.inferior, child, SIGTERM);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status));
	cr_assert_eq(WTERMSIG(status), SIGTERM);
}

Test(attach, detach_delivers_a_pending_signal)
{
	pid_t child = child_start(wait_for_pause);
	struct event event;
	struct fixture f;
	int status;

	attach(&f, child);
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	kill(child, SIGTERM);
	expect_event(&f, EVENT_SIGNAL, &event);
	f.leader->pending = event;
	inferior_detach(f.inferior, 0, 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status));
	cr_assert_eq(WTERMSIG(status), SIGTERM);
}

Test(attach, detach_keeps_our_traps_from_the_program)
{
	pid_t child = child_start(wait_for_pause);
	struct event event;
	struct fixture f;

	attach(&f, child);
	cr_assert_eq(thread_step(f.leader, 0), 0);
	kill(child, SIGCHLD); /* wakes nobody; pause goes on */
	cr_assert_eq(thread_interrupt(f.leader), 0);
	event = next_event(&f);
	cr_assert_neq(event.kind, EVENT_NONE);
	event.kind = EVENT_SIGNAL;
	event.signal = SIGTRAP;
	event.siginfo.si_code = TRAP_TRACE;
	f.leader->pending = event;
	inferior_detach(f.inferior, 0, 0);
	cr_assert(reaches_state(child, 'S'));
	child_end(child);
}

Test(attach, a_stopped_process_stays_stopped)
{
	pid_t child = child_start(wait_for_pause);
	struct fixture f;

	cr_assert(reaches_state(child, 'S'));
	kill(child, SIGSTOP);
	cr_assert(reaches_state(child, 'T'));
	attach(&f, child);
	cr_assert_not(f.leader->running);
	inferior_detach(f.inferior, 0, 0);
	cr_assert(reaches_state(child, 'T'));
	child_end(child);
}

static void *end_at_once(void *arg)
{
	return arg;
}

/* Two threads that do nothing but make short-lived threads. */
static void *make_threads(void *arg)
{
	for (;;) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
			pthread_join(thread, NULL);
	}
	return arg;
}

static void thread_storm(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, make_threads, NULL);
	make_threads(NULL);
}

static int count_untraced(pid_t pid)
{
	char path[64], line[256];
	_cleanup_closedir_ DIR *tasks = NULL;
	struct dirent *entry;
	int untraced = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		_cleanup_fclose_ FILE *file = NULL;
		int tracer = -1;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%.10s/status", entry->d_name);
		file = fopen(path, "re");
		while (file && fgets(line, sizeof(line), file))
			sscanf(line, "TracerPid: %d", &tracer);
		untraced += tracer != getpid();
	}
	return untraced;
}

Test(attach, catches_every_short_lived_thread)
{
	pid_t child = child_start(thread_storm);

	for (int i = 0; i < 30; i++) {
		struct fixture f;
		struct thread *thread;

		attach(&f, child);
		cr_assert_eq(count_untraced(child), 0);
		TAILQ_FOREACH (thread, &f.inferior->threads, link)
			cr_assert_not(thread->running);
		inferior_detach(f.inferior, 0, 0);
		inferiors_deinit(&f.inferiors);
	}
	cr_assert_neq(state_of(child), 'Z');
	child_end(child);
}

Test(attach, kill_ends_it)
{
	pid_t child = child_start(thread_storm);
	struct fixture f;

	attach(&f, child);
	kill_all(&f);
}

static void expect_attach_error(pid_t pid, const char *part)
{
	struct inferiors inferiors;
	struct inferior *inferior;
	_cleanup_error_ struct error *error = NULL;

	inferiors_init(&inferiors);
	error = inferior_attach(&inferiors, pid, &inferior);
	cr_assert_not_null(error);
	cr_expect_not_null(strstr(error_text(error), part), "%s", error_text(error));
	cr_expect(TAILQ_EMPTY(&inferiors.list));
}

Test(attach, tells_why_not)
{
	pid_t zombie = child_start(sync);

	expect_attach_error(getpid(), "itself");
	expect_attach_error(0, "no such process");
	expect_attach_error(-1, "no such process");
	expect_attach_error(0x7fffffff, "no such process");
	cr_assert(reaches_state(zombie, 'Z'));
	expect_attach_error(zombie, "zombie");
	waitpid(zombie, NULL, 0);
}

Test(attach, names_the_leader_of_a_thread)
{
	char text[32];
	struct event event;
	struct fixture f;

	launch(&f, "threads", "1");
	cr_assert_eq(thread_continue(f.leader, 0), 0);
	expect_event(&f, EVENT_CLONE, &event);
	snprintf(text, sizeof(text), "thread of process %d", f.inferior->pid);
	expect_attach_error(event.child->tid, text);
	kill_all(&f);
}

Test(attach, names_another_tracer)
{
	pid_t child = child_trace(NULL, 0);
	char text[64];

	snprintf(text, sizeof(text), "process %d already traces it", getpid());
	expect_attach_error(child, text);
	child_end(child);
}
