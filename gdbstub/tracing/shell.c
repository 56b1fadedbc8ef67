/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/tracing/shell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/words.h"

static const char default_shell[] = "/bin/sh";

/* Login shells that are no shells, that forbid exec, or with another grammar. */
static const char *const unusable[] = {
	"elvish", "es",	   "false", "nologin", "nu",
	"pwsh",	  "rbash", "rc",    "rksh",    "xonsh",
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *shell_path(void)
{
	const char *shell = getenv("SHELL");

	if (!shell || *shell == '\0')
		return default_shell;
	for (size_t i = 0; i < sizeof(unusable) / sizeof(unusable[0]); i++)
		if (strcmp(base_name(shell), unusable[i]) == 0)
			return default_shell;
	return shell;
}

/* csh, tcsh */
static bool is_c_shell(const char *shell)
{
	size_t len = strlen(shell);

	return len >= 3 && strcmp(shell + len - 3, "csh") == 0;
}

/* ---- quoting ---- */

/* Nothing in any shell. '=' and '%' are something at the begin of a word. */
static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || strchr("/._-+,:@", c);
}

/*
 * Within single quotes a C shell reads '!', and fish a backslash as something
 * special: these stand outside, after a backslash, where all shells agree.
 */
static bool needs_backslash(char c)
{
	return c == '\'' || c == '\\' || c == '!';
}

static void set_quoted(struct buffer *out, bool *quoted, bool on)
{
	if (*quoted != on)
		buffer_append_char(out, '\'');
	*quoted = on;
}

void shell_quote(struct buffer *out, const char *shell, const char *word)
{
	const char *p = word;
	bool quoted = false;

	while (*p != '\0' && is_plain(*p))
		p++;
	if (*p == '\0' && p != word) {
		buffer_append_string(out, word);
		return;
	}
	if (*word == '\0')
		buffer_append_string(out, "''");
	for (p = word; *p != '\0'; p++) {
		set_quoted(out, &quoted, !needs_backslash(*p));
		if (!quoted || (*p == '\n' && is_c_shell(shell)))
			buffer_append_char(out, '\\');
		buffer_append_char(out, *p);
	}
	set_quoted(out, &quoted, false);
}

void shell_quote_words(struct buffer *out, const char *shell, char *const *words)
{
	for (char *const *word = words; word && *word; word++) {
		if (word != words)
			buffer_append_char(out, ' ');
		shell_quote(out, shell, *word);
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

/* A newline after a backslash would be nothing. */
static void join_word(struct buffer *out, const char *word)
{
	if (*word == '\0')
		buffer_append_string(out, "''");
	for (const char *p = word; *p != '\0'; p++) {
		if (*p == '\n') {
			buffer_append_string(out, "'\n'");
			continue;
		}
		if (is_blank(*p) || *p == '\'' || *p == '"')
			buffer_append_char(out, '\\');
		buffer_append_char(out, *p);
	}
}

void shell_join_words(struct buffer *out, char *const *words)
{
	for (char *const *word = words; word && *word; word++) {
		if (word != words)
			buffer_append_char(out, ' ');
		join_word(out, *word);
	}
}

/* ---- splitting ---- */

/* Reads one word at *p, which is no blank. False: a quote has no end. */
static bool split_word(const char **p, struct buffer *word)
{
	char quote = '\0';

	for (; **p != '\0' && (quote || !is_blank(**p)); (*p)++) {
		char c = **p, next = (*p)[1];

		if (c == quote) {
			quote = '\0';
			continue;
		}
		if (!quote && (c == '\'' || c == '"')) {
			quote = c;
			continue;
		}
		/* In double quotes it protects only what would be special there. */
		if (c == '\\' && next != '\0' &&
		    (!quote || (quote == '"' && strchr("\"\\$`", next)))) {
			c = next;
			(*p)++;
		}
		buffer_append_char(word, c);
	}
	return !quote;
}

struct error *shell_split(const char *text, char ***words)
{
	char **found _cleanup_words_ = words_copy(NULL);
	const char *p = text;

	while (is_blank(*p))
		p++;
	while (found && *p != '\0') {
		struct buffer word _cleanup_buffer_ = {0};

		if (!split_word(&p, &word))
			return error_create(0, "a quote has no end: %s", text);
		if (buffer_failed(&word) ||
		    !words_take(&found, strdup(buffer_string(&word))))
			return error_create(ENOMEM, "%s", text);
		while (is_blank(*p))
			p++;
	}
	if (!found)
		return error_create(ENOMEM, "%s", text);
	*words = take_ptr(found);
	return NULL;
}
