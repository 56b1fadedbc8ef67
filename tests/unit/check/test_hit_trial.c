/* SPDX-License-Identifier: BSD-2-Clause */
/* Sessions with a child that is hit in vain. */
#include "gdbstub/check/hit_trial.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "gdbstub/engines/engines.h"
#include "gdbstub/run/lifetimes.h"

static const struct hit_wish by_int3 = {ENGINE_INT3, BREAKPOINT_SOFTWARE, CHOOSE_PTRACE,
					false, 10},
			     in_pad = {-1, BREAKPOINT_SOFTWARE, CHOOSE_AUTO, true,
				       1000};

static struct run run;
static struct hit_trial trial;

static void begin(void)
{
	struct error *error;

	cr_assert_null(arch_native()->init());
	run_init(&run);
	engines_probe(&run.engines);
	error = hit_trial_begin(&trial, &run);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
}

static void end(void)
{
	hit_trial_end(&trial);
	run_deinit(&run);
}

TestSuite(hit_trial, .init = begin, .fini = end);

static double measure(const struct hit_wish *wish)
{
	double ns = -1;
	_cleanup_error_ struct error *error = hit_trial_measure(&trial, wish, &ns);

	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return ns;
}

static void expect_error(const struct hit_wish *wish, const char *part)
{
	double ns;
	_cleanup_error_ struct error *error = hit_trial_measure(&trial, wish, &ns);

	cr_assert_not_null(error);
	cr_expect_not_null(strstr(error_text(error), part), "%s", error_text(error));
}

Test(hit_trial, a_hit_costs_something)
{
	cr_expect_gt(trial.call_ns, 0);
	cr_expect_gt(measure(&by_int3), 0);
}

/* One leaves nothing behind that the next would find. */
Test(hit_trial, one_after_the_other)
{
	if (!arch_native()->native)
		cr_skip_test("no filters for this processor");
	for (int i = 0; i < 2; i++) {
		measure(&by_int3);
		measure(&in_pad);
	}
}

Test(hit_trial, every_engine_that_is_usable)
{
	const struct hit_wish uprobe = {ENGINE_UPROBE, BREAKPOINT_SOFTWARE,
					CHOOSE_UPROBE, false, 10};

	if (run.engines.engine[ENGINE_UPROBE].unusable)
		cr_skip_test("%s",
			     error_text(run.engines.engine[ENGINE_UPROBE].unusable));
	cr_expect_gt(measure(&uprobe), 0);
	measure(&in_pad);
}

/* A way that is not the one which was asked for is not measured. */
Test(hit_trial, another_engine)
{
	struct hit_wish wish = by_int3;

	wish.engine = ENGINE_UPROBE;
	expect_error(&wish, "int3 has it");
	measure(&by_int3);
}

Test(hit_trial, no_pad)
{
	struct hit_wish wish = by_int3;

	run.engines.others_run = true; /* as in non-stop mode */
	wish.in_pad = true;
	expect_error(&wish, "non-stop");
}

/* Whatever becomes of the child, there is an answer. */
Test(hit_trial, the_child_is_killed)
{
	kill(hit_trial_child(&trial)->pid, SIGKILL);
	expect_error(&by_int3, "trial process");
	expect_error(&by_int3, "trial process");
}
