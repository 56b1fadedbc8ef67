/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/runs.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <time.h>

#include "gdbstub/run/lifetimes.h"

enum { STOP_SECONDS = 120 };

void use_only(struct run *run, int engine)
{
	for (int i = 0; i < ENGINE_INT3; i++) {
		struct engine *other = &run->engines.engine[i];

		if (i == engine || other->unusable)
			continue;
		other->ops->deinit(other);
		other->unusable = error_create(0, "test");
	}
}

struct inferior *attach_child(struct run *run, pid_t pid)
{
	struct inferior *inferior = NULL;
	struct error *error = run_attach(run, pid, &inferior);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	inferior->attached = false; /* as if it had been launched */
	return inferior;
}

struct stop wait_stop(struct run *run)
{
	const struct timespec tick = {.tv_nsec = 100000000};
	struct stop stop = {0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD); /* which run_init() has blocked */
	for (time_t start = time(NULL); time(NULL) < start + STOP_SECONDS;) {
		if (run_poll(run, &stop))
			return stop;
		sigtimedwait(&set, NULL, &tick);
	}
	cr_assert_fail("no stop in time");
	return stop;
}
