/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/shutdown.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

enum { LOOK_INTERVAL = 20 }; /* ms */

void shutdown_signals(sigset_t *set)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT,
				      SIGNAL_GUARD_ENDED};

	sigemptyset(set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaddset(set, signals[i]);
}

bool shutdown_asked(void)
{
	sigset_t pending, ending, both;

	sigpending(&pending);
	shutdown_signals(&ending);
	sigandset(&both, &pending, &ending);
	return !sigisemptyset(&both);
}

bool shutdown_by_guard(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGNAL_GUARD_ENDED) == 1;
}

/* Until something can be written. False: nobody reads, and the end was asked for. */
static bool wait_for_reader(int fd)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLOUT};

	while (poll(&pollfd, 1, LOOK_INTERVAL) <= 0)
		if (shutdown_asked())
			return false;
	return true;
}

int shutdown_write(int fd, const char *text, size_t len)
{
	while (len > 0) {
		/* As much as a pipe has room for when it says that it has some. */
		size_t piece = len < PIPE_BUF ? len : PIPE_BUF;
		ssize_t n;

		if (!wait_for_reader(fd))
			return -EINTR;
		n = write(fd, text, piece);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
	return 0;
}
