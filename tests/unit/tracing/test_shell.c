/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "gdbstub/base/words.h"
#include "gdbstub/tracing/shell.h"

static void expect_quoted(const char *shell, const char *word, const char *expected)
{
	struct buffer out _cleanup_buffer_ = {0};

	shell_quote(&out, shell, word);
	cr_expect_str_eq(buffer_string(&out), expected, "%s", buffer_string(&out));
}

Test(shell, quotes_what_a_shell_would_read)
{
	expect_quoted("sh", "/bin/ls-1_2.so", "/bin/ls-1_2.so");
	expect_quoted("sh", "", "''");
	expect_quoted("sh", "a b", "'a b'");
	expect_quoted("sh", "*$HOME", "'*$HOME'");
	expect_quoted("sh", "a=b", "'a=b'");
	expect_quoted("sh", "don't", "'don'\\''t'");
	expect_quoted("sh", "'", "\\'");
	expect_quoted("sh", "a\\b", "'a'\\\\'b'");
	expect_quoted("sh", "hi!", "'hi'\\!");
	expect_quoted("sh", "a\nb", "'a\nb'");
	expect_quoted("/bin/tcsh", "a\nb", "'a\\\nb'");
}

/* Every byte, and pairs of special ones, by the shells that are there. */
static void expect_read_back(const char *shell, char *const *words)
{
	struct buffer line _cleanup_buffer_ = {0};
	_cleanup_free_ char *got = NULL;
	size_t size = 0, at = 0;
	FILE *pipe;

	buffer_append_string(&line, "exec /usr/bin/printf '%s\\0' ");
	shell_quote_words(&line, shell, words);
	setenv("LINE", buffer_string(&line), 1);
	setenv("THE_SHELL", shell, 1);
	pipe = popen("exec \"$THE_SHELL\" -c \"$LINE\"", "r");
	cr_assert_not_null(pipe);
	for (; *words; words++) {
		ssize_t len = getdelim(&got, &size, '\0', pipe);

		cr_expect_eq(len, (ssize_t)strlen(*words) + 1, "%s: word %zu", shell,
			     at);
		if (len > 0)
			cr_expect_str_eq(got, *words, "%s: word %zu: %s", shell, at,
					 got);
		at++;
	}
	cr_expect_eq(pclose(pipe), 0);
}

static bool has_shell(const char *shell)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", shell);
	return system(command) == 0;
}

Test(shell, words_come_back_from_every_shell)
{
	static const char *const shells[] = {"sh",  "bash", "dash", "ksh",  "mksh",
					     "zsh", "csh",  "tcsh", "fish", "yash"};
	static const char special[] = "!'\"\\$`*?[]{}()<>|&;#~^=% \n\t-a";
	char **words _cleanup_words_ = words_copy(NULL);

	cr_assert(words_take(&words, strdup("")));
	for (const char *a = special; *a != '\0'; a++)
		for (const char *b = special; *b != '\0'; b++) {
			char word[] = {*a, *b, 'x', '\0'};

			cr_assert(words_take(&words, strdup(word)));
			word[2] = '\0';
			cr_assert(words_take(&words, strdup(word)));
		}
	for (int c = 1; c < 128; c++) {
		char word[] = {'x', (char)c, '\0'};

		cr_assert(words_take(&words, strdup(word)));
	}
	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (has_shell(shells[i]))
			expect_read_back(shells[i], words);
}

Test(shell, the_users_own_if_it_can_do_it)
{
	unsetenv("SHELL");
	cr_expect_str_eq(shell_path(), "/bin/sh");
	setenv("SHELL", "", 1);
	cr_expect_str_eq(shell_path(), "/bin/sh");
	setenv("SHELL", "/usr/bin/zsh", 1);
	cr_expect_str_eq(shell_path(), "/usr/bin/zsh");
	setenv("SHELL", "/usr/sbin/nologin", 1);
	cr_expect_str_eq(shell_path(), "/bin/sh");
	setenv("SHELL", "nu", 1);
	cr_expect_str_eq(shell_path(), "/bin/sh");
}

/* The words expected, each with a '|' after it. */
static void expect_split(const char *text, const char *expected)
{
	struct buffer joined _cleanup_buffer_ = {0};
	char **words _cleanup_words_ = NULL;
	struct error *error _cleanup_error_ = shell_split(text, &words);

	cr_assert_null(error, "%s", text);
	for (char **word = words; *word; word++)
		buffer_printf(&joined, "%s|", *word);
	cr_expect_str_eq(buffer_string(&joined), expected, "%s: %s", text,
			 buffer_string(&joined));
}

Test(shell, splits_without_expanding)
{
	expect_split("", "");
	expect_split("  \t\n", "");
	expect_split(" a  b ", "a|b|");
	expect_split("'a b'c \"d 'e'\"", "a bc|d 'e'|");
	expect_split("a\\ b \\'", "a b|'|");
	expect_split("\"a\\\"\\$\\b\" '\\'", "a\"$\\b|\\|");
	expect_split("'' \"\"", "||");
	expect_split("*.c $HOME", "*.c|$HOME|");
	expect_split("a\\", "a\\|");
}

Test(shell, quotes_need_an_end)
{
	char **words _cleanup_words_ = NULL;
	struct error *error _cleanup_error_ = shell_split("a 'b", &words);

	cr_assert_not_null(error);
	cr_expect_str_eq(error_text(error), "a quote has no end: a 'b");
	cr_expect_null(words);
}
