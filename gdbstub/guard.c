/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/guard.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/base/shutdown.h"
#include "gdbstub/base/log.h"
#include "gdbstub/base/rights.h"

/* What the guard takes: the server's signals and those of job control. Any other ends
 * it, and so the server. */
static void guarded_signals(sigset_t *set)
{
	static const int job_control[] = {SIGCHLD, SIGTSTP, SIGCONT};

	shutdown_signals(set);
	for (size_t i = 0; i < sizeof(job_control) / sizeof(job_control[0]); i++)
		sigaddset(set, job_control[i]);
}

/* Ends as the server has, without a second core file. */
static void __attribute__((noreturn)) end_like(int status)
{
	const struct rlimit none = {0, 0};
	int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	sigset_t set;

	if (WIFEXITED(status))
		_exit(WEXITSTATUS(status));
	setrlimit(RLIMIT_CORE, &none);
	signal(signal_number, SIG_DFL);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	raise(signal_number);
	_exit(128 + signal_number);
}

static void follow(pid_t server)
{
	int status;
	pid_t ret = waitpid(server, &status, WNOHANG | WUNTRACED);

	if (ret == 0 || (ret < 0 && errno == EINTR))
		return;
	if (ret < 0)
		_exit(EXIT_FAILURE); /* the server is not there any more */
	if (WIFSTOPPED(status))
		raise(SIGSTOP); /* for the shell, and until SIGCONT comes for us */
	else
		end_like(status);
}

/* Nothing stays open here: who waits for the end of a pipe waits for the server's. */
static void __attribute__((noreturn)) guard_main(pid_t server, const sigset_t *set)
{
	close_range(0, ~0U, 0);
	rights_give_up();
	for (;;) {
		int number = sigwaitinfo(set, NULL);

		if (number == SIGCHLD)
			follow(server);
		else if (number > 0)
			kill(server, number);
	}
}

pid_t guard_start(void)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};
	pid_t guard = getpid(), server;
	struct sigaction saved_action;
	sigset_t set, saved;

	guarded_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &saved);
	/* Ignored, it would reap the server. To set this later would throw away the
	 * SIGCHLD of a server that has ended by then (POSIX, sigaction). */
	sigaction(SIGCHLD, &by_default, &saved_action);
	server = fork();
	if (server > 0)
		guard_main(server, &set);
	sigaction(SIGCHLD, &saved_action, NULL);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	if (server < 0) {
		log_warning("SIGKILL will not be harmless: no process to guard the "
			    "server: %s",
			    strerror(errno));
		return 0;
	}
	prctl(PR_SET_NAME, "truehit-server");
	return guard;
}

void guard_watch(pid_t guard)
{
	if (guard == 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGNAL_GUARD_ENDED);
	if (getppid() != guard)
		raise(SIGNAL_GUARD_ENDED);
}
