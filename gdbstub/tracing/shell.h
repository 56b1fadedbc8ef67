/* SPDX-License-Identifier: BSD-2-Clause */
/* The shell that starts programs, and words as shells read them. Pure, but for $SHELL.
 */
#ifndef TRUEHIT_TRACING_SHELL_H
#define TRUEHIT_TRACING_SHELL_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"

/**
 * The user's own shell, $SHELL; /bin/sh if there is none, or it is one that is known
 * not to start programs by `-c "exec PROGRAM 'an argument'"`. Never NULL; lives as
 * long as the environment.
 */
const char *shell_path(void);

/**
 * Appends @word in such a way that @shell (a path or a name) reads it as one word
 * that holds just these bytes.
 */
void shell_quote(struct buffer *out, const char *shell, const char *word);

/** Appends all words, quoted, with blanks in between. */
void shell_quote_words(struct buffer *out, const char *shell, char *const *words);

/**
 * Appends all words, with blanks in between, for a shell that is to expand them: what
 * protects and separates, quotes and blanks, is taken as it is, as gdbserver 18 does.
 */
void shell_join_words(struct buffer *out, char *const *words);

/**
 * Splits @text into words as a shell would that expands nothing: blanks separate,
 * quotes and backslashes protect. The caller frees *words (words_free). An error: a
 * quote without its end.
 */
struct error *shell_split(const char *text, char ***words);

#endif
