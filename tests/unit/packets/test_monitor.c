/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <errno.h>

#include "gdbstub/packets/monitor_commands.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/rsp/frame.h"
#include "tests/unit/packets/fake_monitor.h"

TestSuite(monitor, .init = fake_begin, .fini = fake_end);

Test(monitor, help_is_what_gdbs_test_suite_looks_for)
{
	_cleanup_buffer_ struct buffer text = {0};

	fake_type("help", &text);
	cr_assert_eq(strncmp(text.data,
			     "The following monitor commands are supported:\n", 46),
		     0);
	cr_assert_not_null(strstr(text.data, "\n  exit\n    Quit GDBserver\n"));
	cr_assert_not_null(strstr(text.data, "\n  set debug <on|off|CATEGORIES> "));
}

Test(monitor, help_of_one_command)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("help ignore",
		    "Usage: monitor ignore <LOCATION> <N>\n"
		    "Count the next N true hits, and do nothing else.\n\n"
		    "LOCATION is as for 'explain'. 0: none is ignored any more.\n");
	assert_text(
		"help se  watch-k",
		"Usage: monitor set watch-kernel <on|off>\n"
		"Stop where a system call has written to what is watched, or do "
		"not.\n\n"
		"If the thread blocks SIGTRAP, and the call waits for more, the stop "
		"cuts it\noff.\n");
	assert_text("help reset", "Usage: monitor reset\n"
				  "Set the counts of all breakpoints to zero.\n");
	/* Its own name, though others begin so. */
	fake_type("help set debug", &text);
	cr_assert_eq(strncmp(text.data, "Usage: monitor set debug <", 26), 0);
	fake_type("help set", &text);
	cr_assert_eq(
		strncmp(text.data, "  set variable <NUMBER> <VALUE>\n    Set a ", 42),
		0);
	cr_assert_null(strstr(text.data, "explain"));
	cr_assert_not_null(strstr(text.data, "\n  set skid <auto|off|N>\n"));
	assert_failure("help me", "Unknown monitor command 'me'; see monitor help.\n");
	assert_failure("help reset x", "Unknown monitor command 'reset x'");
}

Test(monitor, stats)
{
	const int *interval = &fake.client.session.stats_interval;
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("stats", "the stats\n");
	assert_text("stats --json", "the stats\n");
	assert_text("stats every  1.5",
		    "While the program runs, the table follows every 1.5 s.\n");
	cr_expect_eq(*interval, 1500);
	assert_failure("stats every 0.01", "expected seconds, 0.1 to 3600, not '0.01'");
	assert_failure("stats every 1e9", "expected seconds");
	assert_failure("stats every -1", "expected seconds");
	assert_failure("stats every", "stats takes nothing, every or off");
	cr_expect_eq(*interval, 1500);
	assert_text("stats off", "The table is shown when it is asked for.\n");
	cr_expect_eq(*interval, 0);
	fake.run.non_stop = true;
	assert_failure("stats every 1", "in non-stop mode");
	fake.run.non_stop = false;
	TAILQ_INIT(&fake.client.run->inferiors.list);
	assert_failure("stats", "There is no process");
	assert_failure("stats --json", "{\"error\": \"There is no process");
}

/* What is typed is no sentence; the help texts are lines, and begin with a verb. */
Test(monitor, help_texts_are_alike)
{
	unsigned int count;
	const struct monitor_command *commands = monitor_commands(&count);

	for (unsigned int i = 0; i < count; i++) {
		const struct monitor_command *command = &commands[i];

		cr_expect(isupper((unsigned char)command->help[0]), "%s",
			  command->name);
		cr_expect_leq(strlen(command->help), 76, "%s", command->name);
		cr_expect_null(strpbrk(command->help, "\n.:;"), "%s", command->name);
		cr_expect(!command->details ||
				  command->details[strlen(command->details) - 1] == '.',
			  "%s", command->name);
	}
}

Test(monitor, commands_reach_their_handlers)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("accesses write 0x10 8", "accesses <write 0x10 8>\n");
	assert_text("accesses", "accesses <>\n");
	assert_text("breakpoints", "the table\n");
	assert_text("breakpoints all", "the whole table\n");
	assert_failure("breakpoints some", "breakpoints takes nothing or all");
	assert_text("engines", "the engines\nthe slots\n");
	assert_text("explain 2", "about 2\n");
	assert_text("explain 2  bpf", "program of 2\n");
	assert_text("explain f(int, bpf)", "about 2\n");
	assert_text("explain f(int, bpf) bpf", "program of 2\n");
	assert_failure("explain 2 code", "no location 2 code\n");
	assert_failure("explain bpf", "no location bpf\n");
	assert_text("ignore 2 17", "ignore <2 17>\n");
	assert_text("until-hit 2 17", "until-hit <2 17>\n");
	assert_text("until-state 2 rax=1", "until-state <2 rax=1>\n");
	assert_text("stepi 17", "The next single step makes 17.\n");
	cr_assert_eq(fake.client.session.more_steps, 16);
	assert_text("stepi", "0 steps are left.\n");
	assert_text("count  2", "count <2>\n");
	assert_text("reset", "All counts are zero.\n");
	cr_assert_eq(fake.resets, 1);
	assert_text("  breakpoints \t\n", "the table\n");
}

Test(monitor, for_scripts)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("breakpoints --json", "[]\n");
	assert_text("b  --json all", "[\"all\"]\n");
	assert_text("breakpoints all --json ", "[\"all\"]\n");
	assert_text("engines --json", "[\"engines\"]\n");
	assert_text("explain 2 --json", "[2]\n");
	assert_text("explain f(int, bpf) --json", "[2]\n");
	assert_text("help reset --json",
		    "{\"commands\": [{\"name\": \"reset\", \"arguments\": \"\", "
		    "\"help\": \"Set the counts of all breakpoints to zero\", "
		    "\"details\": null, \"json\": false}]}\n");
	/* A failure is a document, too. */
	assert_failure("explain 3 --json", "{\"error\": \"no location 3\"}\n");
	assert_failure("explain 2 bpf --json", "{\"error\": \"no location 2 bpf\"}\n");
	assert_failure("breakpoints --json some",
		       "{\"error\": \"breakpoints takes nothing or all, not "
		       "'some'.\"}\n");
	assert_failure("reset --json", "{\"error\": \"Usage: monitor reset\"}\n");
	assert_failure("explain --json", "{\"error\": \"Usage: monitor explain "
					 "<LOCATION> [bytecode|bpf|pad] [--json]\"}");
	assert_failure("nonsense --json",
		       "{\"error\": \"Unknown monitor command.\\u000a");
	cr_assert_eq(fake.resets, 0);
	/* It is a word. */
	assert_failure("breakpoints --jsons", "breakpoints takes nothing or all");
	assert_failure("--json", "Unknown monitor command.\n");
}

Test(monitor, prefixes_do_if_they_mean_one_command)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("b", "the table\n");
	assert_text("eng", "the engines\nthe slots\n");
	assert_text("se rem 0", "Protocol debug output disabled.\n");
	assert_text("set  debug\t0", "Debug output disabled.\n");
	assert_failure("e", "Ambiguous monitor command 'e': explain, engines, exit.\n");
	cr_assert_not(fake.client.session.exit_server);
	assert_failure("breakpointsx", "Unknown monitor command.\n\n");
	assert_failure("set", "Unknown monitor command.\n\n");
}

Test(monitor, unknown_and_empty_show_the_help)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_failure("nonsense", "Unknown monitor command.\n\nThe following monitor "
				   "commands are supported:\n");
	assert_failure("", "Unknown monitor command.\n\nThe following");
	assert_failure("   ", "Unknown monitor command.\n\nThe following");
}

Test(monitor, arguments_are_checked)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_failure("exit now", "Usage: monitor exit\n");
	cr_assert_not(fake.client.session.exit_server);
	assert_failure(
		"explain",
		"Usage: monitor explain <LOCATION> [bytecode|bpf|pad] [--json]\n");
	assert_failure("explain 3", "no location 3\n");
	assert_failure(
		"set debug",
		"Usage: monitor set debug <on|off|CATEGORIES> | <CATEGORY> <on|off>\n");
	assert_failure("set debug nonsense", "unknown debug category 'nonsense'");
	assert_failure("set remote-debug 2", "set remote-debug takes 0, 1, off or on");
}

Test(monitor, exit_says_nothing_and_ends_the_server)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("exit", "OK");
	cr_assert(fake.client.session.exit_server);
	cr_assert(fake.client.session.ending);
}

Test(monitor, without_a_process)
{
	_cleanup_buffer_ struct buffer text = {0};

	TAILQ_INIT(&fake.client.run->inferiors.list);
	assert_failure("breakpoints", "There is no process");
	assert_failure("reset", "There is no process");
	assert_failure("explain 2", "There is no process");
	assert_text("engines", "the engines\n");
}

Test(monitor, without_breakpoints)
{
	_cleanup_buffer_ struct buffer text = {0};

	fake.inferior.breakpoints = NULL;
	assert_text("breakpoints", "the table\n");
	assert_text("reset", "All counts are zero.\n");
}

Test(monitor, a_large_output_goes_to_the_console)
{
	_cleanup_buffer_ struct buffer text = {0};

	fake.table_size = RSP_PACKET_SIZE / 2 - strlen("the table\n");
	fake_type("breakpoints", &text);
	cr_assert_eq(text.len, RSP_PACKET_SIZE / 2);
	fake.table_size++;
	fake_type("breakpoints", &text);
	cr_assert_str_eq(text.data, "OK");
	cr_assert_eq(fake.console.len, RSP_PACKET_SIZE / 2 + 1);
}

Test(monitor, what_is_not_hex_is_an_error)
{
	static const char *const bad[] = {"6", "xy", "6800"};
	struct buffer reply = {0};

	for (size_t i = 0; i < 3; i++) {
		struct cursor args = {bad[i], bad[i] + strlen(bad[i])};
		struct error *error = packet_qRcmd(&fake.client, &args, &reply);

		cr_assert_not_null(error, "%s", bad[i]);
		error_destroy(error);
	}
}

Test(monitor, last_hit)
{
	_cleanup_buffer_ struct buffer text = {0};

	assert_text("last-hit", "last hit\n");
	assert_text("last-hit all", "last hits of all\n");
	assert_failure("last-hit some", "last-hit takes nothing or all, not 'some'.\n");
}
