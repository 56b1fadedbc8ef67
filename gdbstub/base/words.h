/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of words such as argv and environ: arrays that end with NULL. The array and
 * the words in it are owned together.
 */
#ifndef TRUEHIT_BASE_WORDS_H
#define TRUEHIT_BASE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "gdbstub/base/cleanup.h"

/** The number of words; 0 for NULL. */
size_t words_count(char *const *words);
/** A copy of all words; NULL: no memory. */
char **words_copy(char *const *words);
/** Appends copies of all words of @more (NULL: none) to @*words, which may be NULL.
 * False: no memory; @*words then holds some of them. */
bool words_append(char ***words, char *const *more);
/** Appends one word, which is taken over; NULL counts as "no memory". */
bool words_take(char ***words, char *word);
/** Frees the words and the array; NULL is legal. */
void words_free(char **words);

static inline void cleanup_words(char ***words)
{
	words_free(*words);
}
#define _cleanup_words_ _cleanup_(cleanup_words)

#endif
