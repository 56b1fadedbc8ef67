/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/terminal.h"

#include <signal.h>
#include <unistd.h>

/* A background process that does this is sent SIGTTOU, unless it is blocked. */
static int set_foreground(pid_t group)
{
	sigset_t block, saved;
	int ret;

	sigemptyset(&block);
	sigaddset(&block, SIGTTOU);
	sigprocmask(SIG_BLOCK, &block, &saved);
	ret = tcsetpgrp(STDIN_FILENO, group);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	return ret;
}

pid_t terminal_lend(pid_t group)
{
	pid_t ours = getpgrp();

	if (tcgetpgrp(STDIN_FILENO) != ours || set_foreground(group) < 0)
		return 0;
	return ours;
}

void terminal_return(pid_t group, pid_t ours)
{
	if (ours > 0 && tcgetpgrp(STDIN_FILENO) == group)
		set_foreground(ours);
}
