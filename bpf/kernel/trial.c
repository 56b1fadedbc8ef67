/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/kernel/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gdbstub/base/rights.h"
#include "bpf/kernel/hw_event.h"
#include "bpf/kernel/kernel.h"
#include "gdbstub/tracing/hit_step.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/registers.h"

enum {
	/* The child stops itself by it after each pass; nobody can block it. */
	MARK = SIGSTOP,
	/* Signals that come to the child by chance (Ctrl-C on the terminal) must
	 * not keep us here forever. */
	STOPS_MAX = 64,
};

/* What the kernel puts into PTRACE_SETSIGMASK, of the size that it knows. */
static const uint64_t sigtrap_bit = UINT64_C(1) << (SIGTRAP - 1);

struct trial_shared {
	struct trial_job job;
	uint64_t ns;
};

/* Where the trial breakpoint is: a function that is really called. */
__attribute__((noinline)) static void passed_by_trials(void)
{
	__asm__ volatile("" ::: "memory");
}

uint64_t trial_addr(void)
{
	return (uintptr_t)passed_by_trials;
}

static uint64_t read_by_trials;

/* Without pipe a child that nobody expects to read does nothing. */
static void make_pipe(int *fds)
{
	if (pipe2(fds, O_CLOEXEC) < 0)
		fds[0] = fds[1] = -1;
}

/* The bytes differ from those of the last time. */
static void let_read(const int *fds)
{
	uint64_t next = read_by_trials + UINT64_C(0x0101010101010101);

	if (write(fds[1], &next, sizeof(next)) == (ssize_t)sizeof(next) &&
	    read(fds[0], &read_by_trials, sizeof(read_by_trials)) < 0)
		_exit(1);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void *call_function(void *data)
{
	struct trial_shared *shared = data;
	const struct trial_job job = shared->job;
	uint64_t start = now();

	for (unsigned int i = 0; i < job.calls; i++)
		job.function();
	shared->ns = now() - start;
	return NULL;
}

static void do_job(struct trial_shared *shared)
{
	pthread_t thread;

	if (!shared->job.in_thread)
		call_function(shared);
	else if (pthread_create(&thread, NULL, call_function, shared) == 0)
		pthread_join(thread, NULL);
	else
		_exit(1);
}

/* Runs in the forked child. kill, as raise may change the signal mask meanwhile,
 * which is the tracer's to set. Descriptors that we close are to be closed. */
static void __attribute__((noreturn))
child_main(pid_t parent, struct trial_shared *shared)
{
	pid_t self = getpid();
	int fds[2];

	close_range(0, ~0U, 0);
	make_pipe(fds);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (rights_let_trace(fds, 2) < 0 || getppid() != parent ||
	    ptrace(PTRACE_TRACEME, 0, 0, 0) < 0)
		_exit(1);
	while (kill(self, MARK) == 0) {
		do_job(shared);
		let_read(fds);
	}
	_exit(1);
}

/* Waits for the next signal stop. By pid only: other children are not ours. */
static struct error *wait_stop(const struct trial *trial, siginfo_t *info)
{
	int status;
	pid_t pid;

	do
		pid = waitpid(trial->pid, &status, __WALL);
	while (pid < 0 && errno == EINTR);
	if (pid < 0)
		return error_create(errno, "the trial process is lost");
	if (!WIFSTOPPED(status))
		return error_create(0, "the trial process ended (status 0x%x)",
				    (unsigned int)status);
	if (ptrace(PTRACE_GETSIGINFO, trial->pid, 0, info) < 0)
		return error_create(errno, "the trial process did not stop well");
	return NULL;
}

/* The child's own SIGSTOP, not one that a program sent. */
static bool is_mark(const struct trial *trial, const siginfo_t *info)
{
	return info->si_signo == MARK && info->si_code == SI_USER &&
	       info->si_pid == trial->pid;
}

static bool is_fault(const siginfo_t *info)
{
	return info->si_signo == SIGSEGV && info->si_code > 0;
}

/* No trap is in the child's text: a debug exception with a wrong reason, after which
 * the breakpoint is hit again (gdbstub/hits/unexplained.h). */
static bool is_unexplained(const siginfo_t *info)
{
	return info->si_signo == SIGTRAP && info->si_code == TRAP_BRKPT;
}

static bool is_trap(const siginfo_t *info)
{
	if (is_unexplained(info))
		return false;
	return info->si_signo == SIGTRAP || is_fault(info) ||
	       (info->si_signo == SIGSTOP && info->si_code == SI_KERNEL);
}

static struct error *share(struct trial *trial)
{
	void *shared = mmap(NULL, sizeof(*trial->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		return error_create(errno, "no memory for a trial process");
	trial->shared = shared;
	return NULL;
}

struct error *trial_init(struct trial *trial, const struct arch_ops *arch)
{
	siginfo_t info = {0};
	pid_t parent = getpid();
	struct error *error;

	*trial = (struct trial){.arch = arch, .mem_fd = -1};
	error = share(trial);
	if (error)
		return error;
	trial->pid = fork();
	if (trial->pid == 0)
		child_main(parent, trial->shared);
	if (trial->pid < 0) {
		trial->pid = 0;
		return error_create(errno, "a trial process cannot be made");
	}
	error = wait_stop(trial, &info);
	if (error)
		return error;
	trial->mem_fd = proc_open_memory(trial->pid);
	return trial->mem_fd < 0
		       ? error_create(errno,
				      "the trial process's memory cannot be opened")
		       : NULL;
}

static void end_child(struct trial *trial)
{
	int status;

	kill(trial->pid, SIGKILL);
	while (waitpid(trial->pid, &status, __WALL) >= 0 || errno == EINTR)
		if (WIFEXITED(status) || WIFSIGNALED(status))
			break;
	trial->pid = 0;
}

void trial_deinit(struct trial *trial)
{
	if (trial->pid != 0)
		end_child(trial);
	if (trial->mem_fd >= 0)
		close(trial->mem_fd);
	trial->mem_fd = -1;
	if (trial->shared)
		munmap(trial->shared, sizeof(*trial->shared));
	trial->shared = NULL;
}

/* The child as an inferior, the only one of @nobody. Its memory stays the trial's. */
static struct inferior as_inferior(const struct trial *trial, struct inferiors *nobody)
{
	inferiors_init(nobody);
	return (struct inferior){
		.pid = trial->pid,
		.arch = trial->arch,
		.owner = nobody,
		.has_perf_events = true,
		.mem_fd = trial->mem_fd,
	};
}

static struct error *run_to_mark(const struct trial *trial,
				 struct trial_outcome *outcome)
{
	struct inferiors nobody;
	struct inferior inferior = as_inferior(trial, &nobody);
	struct thread thread = {.inferior = &inferior, .tid = trial->pid};

	*outcome = (struct trial_outcome){0};
	for (unsigned int i = 0; i < STOPS_MAX; i++) {
		siginfo_t info = {0};
		struct error *error;
		int r;

		thread.ends_hit_step = hit_step_may_be(&thread);
		if (ptrace(thread.ends_hit_step ? PTRACE_SINGLESTEP : PTRACE_CONT,
			   trial->pid, 0, 0) < 0)
			return error_create(errno, "the trial process does not run");
		error = wait_stop(trial, &info);
		if (error || is_mark(trial, &info))
			return error;
		thread.step_ended =
			info.si_signo == SIGTRAP && info.si_code == TRAP_TRACE;
		if (!is_trap(&info) || hit_step_explains(&thread, &info))
			continue;
		outcome->stops++;
		outcome->signal = info.si_signo;
		r = thread_get_pc(&thread, &outcome->pc);
		if (r < 0)
			return error_create(-r, "the trial process has no registers");
		if (is_fault(&info)) {
			outcome->fault = (uintptr_t)info.si_addr;
			return NULL;
		}
	}
	return error_create(0, "the trial process is stopped again and again");
}

static struct error *open_error(int r)
{
	if (r == -EACCES || r == -EPERM)
		return bpf_kernel_rights_error(-r, "perf events may not be opened");
	if (r == -EINVAL || r == -E2BIG)
		return error_create(-r, "this kernel's perf events cannot do it "
					"(needs Linux 5.13 or newer)");
	if (r == -ENOSPC)
		return error_create(-r, "no hardware breakpoint is free");
	return error_create(-r, "a hardware breakpoint event cannot be opened");
}

struct error *trial_run(struct trial *trial, const struct trial_job *job, bool blocked,
			struct trial_outcome *outcome)
{
	uint64_t mask = blocked ? sigtrap_bit : 0;
	struct error *error;

	if (ptrace(PTRACE_SETSIGMASK, trial->pid, sizeof(mask), &mask) < 0)
		return error_create(errno, "the trial process's signal mask");
	trial->shared->job = *job;
	error = run_to_mark(trial, outcome);
	outcome->ns = trial->shared->ns;
	return error;
}

static struct error *run_with(struct trial *trial,
			      const struct hw_event_options *options, bool blocked,
			      struct trial_outcome *outcome)
{
	static const struct trial_job job = {passed_by_trials, 1, false};
	_cleanup_close_ int fd = hw_event_open(options, trial->pid);
	int r;

	if (fd < 0)
		return open_error(fd);
	r = hw_event_enable(fd);
	if (r < 0)
		return open_error(r);
	return trial_run(trial, &job, blocked, outcome);
}

struct error *trial_pass(struct trial *trial, int program_fd, bool sigtrap,
			 bool blocked, struct trial_outcome *outcome)
{
	const struct hw_region region = {HW_EXECUTE, trial_addr(), 1};
	struct hw_event_options options = {
		.arch = trial->arch, .program_fd = program_fd, .sigtrap = sigtrap};
	int r = trial->arch->hw_plan(&region, &options.region, 1);

	if (r < 0)
		return error_create(-r, "no hardware breakpoints");
	return run_with(trial, &options, blocked, outcome);
}

struct error *trial_read(struct trial *trial, int program_fd, bool sigtrap,
			 bool blocked, struct trial_outcome *outcome)
{
	const struct hw_region region = {HW_WRITE, (uintptr_t)&read_by_trials,
					 sizeof(read_by_trials)};
	struct hw_event_options options = {.arch = trial->arch,
					   .program_fd = program_fd,
					   .sigtrap = sigtrap,
					   .kernel = true};
	int r = trial->arch->hw_plan(&region, &options.region, 1);

	if (r < 0)
		return error_create(-r, "no watchpoints");
	return run_with(trial, &options, blocked, outcome);
}

struct error *trial_open_probe(const struct trial *trial,
			       const struct probe_place *place,
			       const struct uprobe_options *options, int program_fd,
			       int *fd)
{
	struct inferiors nobody;
	struct inferior child = as_inferior(trial, &nobody);
	_cleanup_(uprobe_file_deinit) struct uprobe_file file = {0};
	struct uprobe_target target;
	struct error *error;

	error = uprobe_target_find(&child, (uintptr_t)place->function, place->len,
				   &file, &target);
	if (error)
		return error;
	target.cookie = TRIAL_COOKIE;
	*fd = uprobe_event_open(options, &target, trial->pid, program_fd);
	uprobe_target_deinit(&target);
	return *fd < 0 ? uprobe_event_error(options, -*fd) : NULL;
}

bool trial_is_return(const struct trial *trial, uint64_t pc)
{
	const struct arch_ops *arch = trial->arch;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, trial->pid, pc - arch->syscall_len, NULL);
	return errno == 0 && memcmp(&word, arch->syscall_insn, arch->syscall_len) == 0;
}
