/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gdbstub/base/words.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/client.h"

static struct run run;
static struct startup startup;
static struct client client = {.run = &run, .startup = &startup};

static void set_up(void)
{
	startup_init(client.startup, NULL);
	startup.with_shell = true;
	setenv("SHELL", "/bin/sh", 1);
}

static void tear_down(void)
{
	startup_deinit(client.startup);
}

TestSuite(startup, .init = set_up, .fini = tear_down);

static void expect_reply(const char *packet, const char *expected)
{
	struct buffer reply _cleanup_buffer_ = {0};

	packet_dispatch(&client, packet, strlen(packet), &reply);
	cr_expect_str_eq(buffer_string(&reply), expected, "%s -> %s", packet,
			 buffer_string(&reply));
}

/* The packet's argument in hex digits. */
static void expect_reply_to(const char *name, const char *text, const char *expected)
{
	struct buffer packet _cleanup_buffer_ = {0};

	buffer_append_string(&packet, name);
	buffer_append_hex(&packet, text, strlen(text));
	expect_reply(buffer_string(&packet), expected);
}

static const char *variable(const char *name)
{
	char *const *envp = startup_launch_options(client.startup).envp;
	size_t len = strlen(name);
	const char *found = NULL;

	for (; envp && *envp; envp++)
		if (strncmp(*envp, name, len) == 0 && (*envp)[len] == '=') {
			cr_expect_null(found, "%s is there twice", name);
			found = *envp + len + 1;
		}
	return found;
}

Test(startup, environment)
{
	setenv("OWN", "1", 1);
	cr_expect_null(startup_launch_options(client.startup).envp);
	expect_reply_to("QEnvironmentHexEncoded:", "A=b=c", "OK");
	cr_expect_str_eq(variable("A"), "b=c");
	cr_expect_str_eq(variable("OWN"), "1");
	expect_reply_to("QEnvironmentHexEncoded:", "OWN=", "OK");
	cr_expect_str_eq(variable("OWN"), "");
	expect_reply_to("QEnvironmentUnset:", "OWN", "OK");
	cr_expect_null(variable("OWN"));
	expect_reply_to("QEnvironmentUnset:", "NOT_THERE", "OK");
	cr_expect_str_eq(variable("A"), "b=c");
	cr_expect_str_eq(getenv("OWN"), "1", "the server's own is untouched");
	expect_reply("QEnvironmentReset", "OK");
	cr_expect_null(startup_launch_options(client.startup).envp);
}

Test(startup, bad_variables)
{
	expect_reply_to("QEnvironmentHexEncoded:", "A", "E.'A' is not NAME=VALUE");
	expect_reply_to("QEnvironmentHexEncoded:", "=A", "E.'=A' is not NAME=VALUE");
	expect_reply_to("QEnvironmentUnset:", "", "E.'' is not the name of a variable");
	expect_reply("QEnvironmentHexEncoded:413", "E.not a string in hex digits");
	expect_reply("QEnvironmentHexEncoded:413d00", "E.not a string in hex digits");
}

Test(startup, directory)
{
	expect_reply_to("QSetWorkingDir:", "/tmp", "OK");
	cr_expect_str_eq(startup_launch_options(client.startup).directory, "/tmp");
	expect_reply("QSetWorkingDir:", "OK");
	cr_expect_null(startup_launch_options(client.startup).directory);
	expect_reply("QSetWorkingDir:x", "E.not a string in hex digits");
}

Test(startup, directory_of_a_user)
{
	setenv("HOME", "/home/me", 1);
	expect_reply_to("QSetWorkingDir:", "~", "OK");
	cr_expect_str_eq(startup_launch_options(client.startup).directory, "/home/me");
	expect_reply_to("QSetWorkingDir:", "~/x", "OK");
	cr_expect_str_eq(startup_launch_options(client.startup).directory,
			 "/home/me/x");
	expect_reply_to("QSetWorkingDir:", "~root/x", "OK");
	cr_expect_str_eq(startup_launch_options(client.startup).directory, "/root/x");
	expect_reply_to("QSetWorkingDir:", "~no one/x", "OK");
	cr_expect_str_eq(startup_launch_options(client.startup).directory, "~no one/x");
}

Test(startup, switches)
{
	cr_expect_str_eq(startup_launch_options(client.startup).shell, "/bin/sh");
	expect_reply("QStartupWithShell:0", "OK");
	cr_expect_null(startup_launch_options(client.startup).shell);
	expect_reply("QStartupWithShell:1", "OK");
	cr_expect_not_null(startup_launch_options(client.startup).shell);
	expect_reply("QStartupWithShell:2", "E.QStartupWithShell: neither 0 nor 1");
	expect_reply("QDisableRandomization:1", "OK");
	cr_expect(startup_launch_options(client.startup).disable_randomization);
	expect_reply("QDisableRandomization:0", "OK");
	cr_expect_not(startup_launch_options(client.startup).disable_randomization);
}

Test(startup, program_and_arguments_are_told)
{
	char *argv[] = {(char *)"p", (char *)"a b", (char *)"c", NULL};
	struct error *error;

	expect_reply("qExecAndArgs", "U");
	error = startup_set_program(client.startup, NULL, argv);
	cr_assert_not_null(error);
	cr_expect_str_eq(error_text(error), "no program to run: name one");
	error_destroy(error);
	cr_assert_null(startup_set_program(client.startup, "/p", argv));
	/* 'a b' c */
	expect_reply("qExecAndArgs", "S;2f70;2761206227"
				     "2063;");
	cr_assert_null(startup_set_command(client.startup, NULL, "*.c"));
	expect_reply("qExecAndArgs", "S;2f70;2a2e63;");
	cr_assert_null(startup_set_command(client.startup, "/q", ""));
	expect_reply("qExecAndArgs", "S;2f71;;");
	cr_assert_null(startup_set_program(client.startup, NULL, argv + 2));
	expect_reply("qExecAndArgs", "S;2f71;;");
}
