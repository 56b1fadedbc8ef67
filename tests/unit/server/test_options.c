/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/options.h"
#include "gdbstub/rsp/disable.h"

enum { WORDS_MAX = 12 };

/* Parses a command line given as words separated by blanks. */
static struct error *parse(struct options *options, const char *line)
{
	static char text[256];
	static char *argv[WORDS_MAX + 1];
	int argc = 0;

	snprintf(text, sizeof(text), "truehit %s", line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return options_parse(options, argc, argv);
}

static struct options good(const char *line)
{
	struct options options;
	struct error *error _cleanup_error_ = parse(&options, line);

	cr_assert_null(error, "%s", line);
	return options;
}

static void bad(const char *line, const char *expected)
{
	struct options options;
	struct error *error _cleanup_error_ = parse(&options, line);

	cr_assert(error, "%s", line);
	cr_expect_str_eq(error_text(error), expected);
}

Test(options, program)
{
	struct options options = good("--once :2345 ls --once -l");

	cr_expect_str_eq(options.comm, ":2345");
	cr_expect(options.once);
	cr_expect_not(options.multi);
	cr_expect(options.disable_randomization);
	cr_expect_eq(options.attach_pid, 0);
	cr_expect_str_eq(options.program_argv[0], "ls");
	cr_expect_str_eq(options.program_argv[1], "--once");
	cr_expect_str_eq(options.program_argv[2], "-l");
	cr_expect_null(options.program_argv[3]);
}

Test(options, attach_before_and_after_comm)
{
	struct options options = good("--attach :1 42");

	cr_expect_eq(options.attach_pid, 42);
	cr_expect_null(options.program_argv);
	options = good("--once localhost:1 --attach 43");
	cr_expect_eq(options.attach_pid, 43);
	cr_expect(options.once);
}

Test(options, multi_needs_no_program)
{
	struct options options = good("--multi -");

	cr_expect(options.multi);
	cr_expect_str_eq(options.comm, "-");
	cr_expect_null(options.program_argv);
	options = good("--multi stdio prog");
	cr_expect_str_eq(options.program_argv[0], "prog");
}

Test(options, wrapper)
{
	struct options options = good("--once --wrapper env A=1 -- :1 p --wrapper");

	cr_expect(options.once);
	cr_expect_str_eq(options.wrapper[0], "env");
	cr_expect_str_eq(options.wrapper[1], "A=1");
	cr_expect_null(options.wrapper[2]);
	cr_expect_str_eq(options.comm, ":1");
	cr_expect_str_eq(options.program_argv[0], "p");
	cr_expect_str_eq(options.program_argv[1], "--wrapper");
	cr_expect_null(good(":1 p").wrapper);
	bad("--wrapper", "no -- after the words of --wrapper");
	bad("--wrapper env :1 p", "no -- after the words of --wrapper");
	bad("--wrapper -- :1 p", "--wrapper needs a command");
}

Test(options, disabled_packets)
{
	cr_expect_eq(good(":1 p").disabled, 0);
	cr_expect_eq(good("--disable-packet=T,qfThreadInfo :1 p").disabled,
		     DISABLE_T | DISABLE_QFTHREADINFO);
	cr_expect_eq(good("--disable-packet=threads :1 p").disabled,
		     DISABLE_VCONT | DISABLE_QC | DISABLE_QFTHREADINFO |
			     DISABLE_TTHREAD);
	cr_expect_eq(good("--disable-packet").print, disable_print_names);
	bad("--disable-packet=vCont,Thread :1 p", "no packet to disable: 'Thread'");
}

Test(options, randomization)
{
	cr_expect_not(good("--no-disable-randomization :1 p").disable_randomization);
	cr_expect(good("--no-disable-randomization --disable-randomization :1 p")
			  .disable_randomization);
}

Test(options, shell)
{
	cr_expect(good(":1 p").with_shell);
	cr_expect(good(":1 p").escape_args);
	cr_expect_not(good("--no-startup-with-shell :1 p").with_shell);
	cr_expect(good("--no-startup-with-shell --startup-with-shell :1 p").with_shell);
	cr_expect_not(good("--no-escape-args :1 p").escape_args);
	bad("--startup-with-shell=1 :1 p", "--startup-with-shell takes no argument");
}

Test(options, debug)
{
	good("--debug=rsp,stops :1 p");
	cr_expect(log_enabled(LOG_RSP));
	cr_expect_not(log_enabled(LOG_BPF));
	good("--debug :1 p");
	cr_expect(log_enabled(LOG_BPF));
}

Test(options, debug_as_older_options_say)
{
	good("--remote-debug :1 p");
	cr_expect(log_enabled(LOG_RSP));
	cr_expect_not(log_enabled(LOG_SERVER));
	good("--event-loop-debug --debug-format=all :1 p");
	cr_expect(log_enabled(LOG_SERVER));
	bad("--debug-format :1 p", "Missing argument value for: --debug-format");
	bad("--debug-file :1 p", "Missing argument value for: --debug-file");
	bad("--debug-file=/no/such/file :1 p",
	    "Cannot open /no/such/file for writing: No such file or directory");
	bad("--debug-format=x :1 p", "unknown part of debugging output 'x' "
				     "(known: all, none, timestamp)");
}

Test(options, version_and_help_need_nothing_else)
{
	cr_expect_eq(good("--version").print, options_print_version);
	cr_expect_eq(good("--help").print, options_print_help);
	cr_expect_eq(good("--selftest").print, options_print_selftest);
	cr_expect_eq(good("--selftest=x").print, options_print_selftest);
	cr_expect_null(good(":1 p").print);
}

Test(options, check_needs_nothing_else)
{
	cr_expect_eq(good("--check").check, CHECK_TEXT);
	cr_expect_eq(good("--check=json").check, CHECK_JSON);
	cr_expect_eq(good(":1 ls").check, CHECK_NONE);
	bad("--check=xml", "--check takes json, or nothing, not 'xml'");
}

Test(options, errors)
{
	bad("", "no COMM given, the place to listen at");
	bad("--once", "no COMM given, the place to listen at");
	bad(":1", "no program to run given (or use --multi)");
	bad("--bogus :1 p", "Unknown argument: --bogus");
	bad("--onc :1 p", "Unknown argument: --onc");
	bad("--once=1 :1 p", "--once takes no argument");
	bad("--attach :1", "--attach needs the PID of a process");
	bad(":1 --attach", "--attach needs the PID of a process");
	bad(":1 --attach x", "'x' is not a PID");
	bad(":1 --attach 1x", "'1x' is not a PID");
	bad(":1 --attach 0", "'0' is not a PID");
	bad(":1 --attach -4", "'-4' is not a PID");
	bad(":1 --attach 99999999999999999999", "'99999999999999999999' is not a PID");
	bad(":1 --attach 7 x", "too many words after --attach PID: x");
	bad("--debug=nonsense :1 p",
	    "unknown debug category 'nonsense' (known: all, rsp, "
	    "inferior, stops, bpf, server)");
}

Test(options, help_names_every_option, .init = cr_redirect_stdout)
{
	static const char *const names[] = {"--once",
					    "--multi",
					    "--attach",
					    "--debug",
					    "--remote-debug",
					    "--event-loop-debug",
					    "--debug-format",
					    "--wrapper",
					    "--disable-randomization",
					    "--version",
					    "--help",
					    "unix:PATH",
					    "stdio",
					    "/dev/ttyS0",
					    "--debug-file",
					    "--startup-with-shell",
					    "--selftest",
					    "--no-escape-args",
					    "--no-startup-with-shell"};
	char text[8192];
	FILE *out = cr_get_redirected_stdout();
	size_t len;

	options_print_help();
	fflush(stdout);
	len = fread(text, 1, sizeof(text) - 1, out);
	text[len] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect(strstr(text, names[i]), "%s", names[i]);
}
