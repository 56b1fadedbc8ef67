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

/* What has changed with gdb 15, gdb's test suite looks for. */
Test(monitor_settings, answers_of_gdbservers)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set debug on", "Debug output enabled.\n");
	cr_assert(log_enabled(LOG_STOPS) && log_enabled(LOG_BPF));
	assert_text("set debug off", "Debug output disabled.\n");
	fake.client.session.thread_options = true;
	for (int i = 0; i < 2; i++) {
		assert_text(i ? "set debug on" : "set debug 1",
			    "General debug output enabled.\n");
		cr_assert(log_enabled(LOG_STOPS) && log_enabled(LOG_BPF));
		assert_text(i ? "set debug off" : "set debug 0",
			    "All debug output disabled.\n");
		cr_assert_not(log_enabled(LOG_STOPS) || log_enabled(LOG_BPF));
	}
	fake.client.session.thread_options = false;
	assert_text("set debug-hw-points 1", "H/W point debugging output enabled.\n");
	cr_assert(log_enabled(LOG_STOPS));
	assert_text("set debug-hw-points 0", "H/W point debugging output disabled.\n");
	cr_assert_not(log_enabled(LOG_STOPS));
	assert_text("set event-loop-debug 1", "Event loop debug output enabled.\n");
	cr_assert(log_enabled(LOG_SERVER));
	assert_text("set event-loop-debug off", "Event loop debug output disabled.\n");
	cr_assert_not(log_enabled(LOG_SERVER));
}

Test(monitor_settings, debugging_of_a_part)
{
	static const struct {
		const char *name;
		bool rsp, stops, server;
	} parts[] = {
		{"remote", true, false, false},	    {"threads", false, true, false},
		{"event-loop", false, false, true}, {"all", true, true, true},
		{"stops", false, true, false},	    {"rsp,server", true, false, true},
	};
	static const char *const values[] = {"1", "0", "on", "off"};
	_cleanup_buffer_ struct buffer text = {0}, line = {0}, expected = {0};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) * 4; i++) {
		const bool on = i % 2 == 0;

		buffer_reset(&line);
		buffer_reset(&expected);
		buffer_printf(&line, "set debug %s %s", parts[i / 4].name,
			      values[i % 4]);
		buffer_printf(&expected, "Debug output for '%s' %s.\n",
			      parts[i / 4].name, on ? "enabled" : "disabled");
		assert_text(buffer_string(&line), buffer_string(&expected));
		cr_expect_eq(log_enabled(LOG_RSP), on && parts[i / 4].rsp);
		cr_expect_eq(log_enabled(LOG_STOPS), on && parts[i / 4].stops);
		cr_expect_eq(log_enabled(LOG_SERVER), on && parts[i / 4].server);
	}
	assert_text("set debug all,-remote", "Debug output enabled.\n");
	cr_expect(log_enabled(LOG_STOPS) && !log_enabled(LOG_RSP));
	log_disable("all");
}

#define LIST "\nThe following monitor commands are supported:\n"

Test(monitor_settings, debugging_that_is_refused)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_failure("set debug yeah", "unknown debug category 'yeah' (known: ");
	cr_assert_not_null(
		strstr(buffer_string(&fake.console),
		       "\nMissing value for 'set debug yeah' command." LIST));
	assert_failure("set debug on  sometimes",
		       "Junk 'sometimes' found at end of 'set debug on' command." LIST);
	assert_failure("set debug all yeah",
		       "Invalid value 'yeah' for 'set debug all'." LIST);
	assert_failure("set debug all on sometimes at",
		       "Junk 'sometimes at' found at end of 'set debug all on' "
		       "command." LIST);
	assert_failure("set debug some on", "unknown debug category 'some'");
	assert_failure("set debug rsp,some", "unknown debug category 'some'");
	cr_assert_not(log_enabled(LOG_RSP));
	assert_failure("set debug rsp,,stops", "unknown debug category ''");
	assert_failure("set event-loop-debug 2",
		       "set event-loop-debug takes 0, 1, off or on, not '2'.\n");
}

Test(monitor_settings, format_of_debugging_output)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("set debug-format all",
		    "All extra debug format options enabled.\n");
	assert_text("set debug-format none",
		    "All extra debug format options disabled.\n");
	assert_text("set debug-format timestamp",
		    "Timestamps will be added to debug output.\n");
	assert_text("set debug-format none,,timestamp",
		    "All extra debug format options disabled.\n"
		    "Timestamps will be added to debug output.\n");
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
