/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/control/turn.h"

#include <sched.h>
#include <time.h>

enum {
	TOO_LONG = 300000, /* ns; a step in a virtual machine takes a tenth of it */
	PAUSE = 500000000, /* ns; the slice that is lost then is less than 1 % of it */
};

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool turn_give(struct turn *turn)
{
	const int64_t begin = now();
	int64_t end;

	if (begin < turn->not_before)
		return false;
	sched_yield();
	end = now();
	if (end - begin > TOO_LONG)
		turn->not_before = end + PAUSE;
	return true;
}
