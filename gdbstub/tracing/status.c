/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/status.h"

#include <errno.h>
#include <sched.h>
#include <time.h>
#include <sys/wait.h>

#include "gdbstub/inferior/late.h"
#include "gdbstub/inferior/proc.h"

int wait_status(pid_t tid, int *status)
{
	enum { TURNS_AT_ONCE = 100 }; /* mostly, it takes some microseconds */
	const struct timespec pause = {.tv_nsec = 50000};
	struct lateness lateness;
	bool zombie = false;
	pid_t ret;

	lateness_begin(&lateness);
	for (int turn = 0;; turn++) {
		lateness_look(&lateness);
		ret = waitpid(tid, status, __WALL | WNOHANG);
		if (ret == tid)
			return 0;
		if (ret < 0 && errno != EINTR)
			return -errno;
		if (zombie)
			return -ESRCH;
		if (turn < TURNS_AT_ONCE)
			sched_yield();
		else if (proc_is_zombie(tid))
			zombie = true; /* it has ended since we have asked, or before */
		else if (lateness_is_over(&lateness, tid))
			return -ETIMEDOUT;
		else
			nanosleep(&pause, NULL);
	}
}
