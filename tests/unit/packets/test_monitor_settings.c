/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/log.h"
#include "tests/unit/packets/fake_monitor.h"

TestSuite(monitor_settings, .init = fake_begin, .fini = fake_end);

Test(monitor_settings, debugging_by_category)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set debug stops,rsp", "Debug output enabled.\n");
	cr_assert(log_enabled(LOG_STOPS) && log_enabled(LOG_RSP));
	cr_assert_not(log_enabled(LOG_BPF));
	assert_text("set remote-debug 0", "Protocol debug output disabled.\n");
	cr_assert(log_enabled(LOG_STOPS) && !log_enabled(LOG_RSP));
	assert_text("set debug 1", "Debug output enabled.\n");
	cr_assert(log_enabled(LOG_BPF));
	assert_text("set debug 0", "Debug output disabled.\n");
	cr_assert_not(log_enabled(LOG_STOPS));
	assert_text("set remote-debug 1", "Protocol debug output enabled.\n");
	cr_assert(log_enabled(LOG_RSP) && !log_enabled(LOG_STOPS));
}

Test(monitor_settings, format_of_debugging_output)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set debug-format all",
		    "All extra debug format options enabled.\n");
	assert_text("set debug-format none",
		    "All extra debug format options disabled.\n");
	assert_text("set debug-format timestamp",
		    "Debug messages begin with: timestamp.\n");
	assert_failure("set debug-format nonsense",
		       "unknown part of debugging output 'nonsense'");
}

Test(monitor_settings, file_of_debugging_output)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set debug-file /dev/null", "Debug output goes to /dev/null.\n");
	assert_text("set debug-file", "Debug output goes to stderr.\n");
	assert_failure("set debug-file /no/such/file",
		       "Cannot open /no/such/file for writing: No such file");
}

Test(monitor_settings, watch_kernel)
{
	const bool *on = &fake.client.run->engines.engine[0].watch_kernel;
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set watch-kernel on",
		    "Writes by system calls are hits of watchpoints.\n");
	cr_assert(*on);
	assert_text("set watch-kernel off",
		    "Writes by system calls are no hits of watchpoints.\n");
	cr_assert_not(*on);
	assert_failure("set watch-kernel maybe",
		       "set watch-kernel takes on or off, not 'maybe'.\n");
	cr_assert_not(*on);
}

Test(monitor_settings, engine)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set engine uprobe",
		    "Breakpoints are served by uprobe from the next resume on.\n");
	cr_assert_eq(fake.client.run->engines.choice, CHOOSE_UPROBE);
	assert_failure("set engine magic", "set engine takes auto, uprobe");
	cr_assert_eq(fake.client.run->engines.choice, CHOOSE_UPROBE);
}

Test(monitor_settings, watch_filter)
{
	const bool *unfiltered = &fake.client.run->engines.unfiltered;
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set watch-filter on", "Writes that change nothing are no hits.\n");
	cr_expect_not(*unfiltered);
	assert_text("set watch-filter off", "Writes that change nothing are hits.\n");
	cr_expect(*unfiltered);
	assert_failure("set watch-filter no", "set watch-filter takes on or off");
}
