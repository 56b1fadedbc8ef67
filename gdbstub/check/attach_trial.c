/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/check/attach_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/base/rights.h"

/* Two pipes: the process tells its number in one, and ends when the other one ends. */
struct pipes {
	int told[2], held[2];
};

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(take_fd(fd));
}

static void close_pipes(struct pipes *pipes)
{
	for (int i = 0; i < 2; i++) {
		close_end(&pipes->told[i]);
		close_end(&pipes->held[i]);
	}
}

/* Whoever attaches to it finds no rights of ours in it. */
static void __attribute__((noreturn)) be_attached_to(const struct pipes *pipes)
{
	const int kept[] = {pipes->told[1], pipes->held[0]};
	const pid_t self = getpid();
	char end;

	close(pipes->held[1]);
	if (rights_let_trace(kept, 2) == 0 &&
	    write(pipes->told[1], &self, sizeof(self)) == (ssize_t)sizeof(self) &&
	    read(pipes->held[0], &end, 1) < 0)
		_exit(1);
	_exit(0);
}

/* Its parent ends at once, so that it is nobody's descendant: to its own descendants, a
 * process may attach where it may not to others (Yama). 0: it could not be made. */
static pid_t start_orphan(struct pipes *pipes)
{
	const pid_t parent = fork();
	pid_t orphan = 0;

	if (parent == 0) {
		if (fork() == 0)
			be_attached_to(pipes);
		_exit(0);
	}
	if (parent < 0)
		return 0;
	while (waitpid(parent, NULL, __WALL) < 0 && errno == EINTR)
		;
	close_end(&pipes->told[1]);
	if (read(pipes->told[0], &orphan, sizeof(orphan)) != (ssize_t)sizeof(orphan))
		return 0;
	return orphan;
}

/* As its tracer, or as the first process of a container, whose children orphans are. */
static void end_orphan(pid_t orphan)
{
	kill(orphan, SIGKILL);
	while (waitpid(orphan, NULL, __WALL) == orphan || errno == EINTR)
		;
}

static struct error *try_with(struct pipes *pipes)
{
	pid_t orphan;
	int err;

	if (pipe2(pipes->told, O_CLOEXEC) < 0 || pipe2(pipes->held, O_CLOEXEC) < 0)
		return error_create(errno, "no pipe for a trial process");
	orphan = start_orphan(pipes);
	if (orphan == 0)
		return error_create(0, "no process could be made for a trial");
	err = ptrace(PTRACE_SEIZE, orphan, NULL, NULL) < 0 ? errno : 0;
	end_orphan(orphan);
	return err == 0 ? NULL
			: error_create(err, "a process of this user that truehit has "
					    "not started");
}

struct error *attach_trial(void)
{
	struct pipes pipes = {{-1, -1}, {-1, -1}};
	struct error *error = try_with(&pipes);

	close_pipes(&pipes);
	return error;
}
