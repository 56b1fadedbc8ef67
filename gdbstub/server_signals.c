/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/server_signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "gdbstub/base/shutdown.h"
#include "gdbstub/guard.h"

static void on_sigpipe(int signal)
{
	(void)signal;
}

/* ... unless our parent wants them ignored (nohup). */
static void signals_to_catch(sigset_t *set)
{
	shutdown_signals(set);
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (number != SIGNAL_GUARD_ENDED &&
		    sigaction(number, NULL, &action) == 0 &&
		    action.sa_handler == SIG_IGN)
			sigdelset(set, number);
	}
	sigaddset(set, SIGCHLD);
}

bool server_signals_tell_of_children(void)
{
	struct sigaction action;

	return sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
	       !(action.sa_flags & SA_NOCLDSTOP);
}

struct error *server_signals_catch(pid_t guard, int *ret)
{
	struct sigaction pipe_action = {.sa_handler = on_sigpipe};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	sigaddset(&set, SIGTTIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals_to_catch(&set);
	sigaction(SIGPIPE, &pipe_action, NULL);
	sigprocmask(SIG_BLOCK, &set, NULL);
	guard_watch(guard);
	*ret = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return *ret < 0 ? error_create(errno, "no signal descriptor") : NULL;
}
