/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/terminal.h"

#include <signal.h>
#include <unistd.h>

/* The terminal that we share with the program; -1: none. */
static int terminal(void)
{
	static const int standard[] = {STDIN_FILENO, STDERR_FILENO};

	for (size_t i = 0; i < sizeof(standard) / sizeof(standard[0]); i++)
		if (tcgetpgrp(standard[i]) >= 0)
			return standard[i];
	return -1;
}

/* A background process that does this is sent SIGTTOU, unless it is blocked. */
static int set_foreground(int fd, pid_t group)
{
	sigset_t block, saved;
	int ret;

	sigemptyset(&block);
	sigaddset(&block, SIGTTOU);
	sigprocmask(SIG_BLOCK, &block, &saved);
	ret = tcsetpgrp(fd, group);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	return ret;
}

pid_t terminal_lend(pid_t group)
{
	pid_t ours = getpgrp();
	int fd = terminal();

	if (fd < 0 || tcgetpgrp(fd) != ours || set_foreground(fd, group) < 0)
		return 0;
	return ours;
}

void terminal_return(pid_t group, pid_t ours)
{
	const int fd = ours > 0 ? terminal() : -1;

	if (fd >= 0 && tcgetpgrp(fd) == group)
		set_foreground(fd, ours);
}
