/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/words.h"

#include <stdlib.h>
#include <string.h>

size_t words_count(char *const *words)
{
	size_t count = 0;

	while (words && words[count])
		count++;
	return count;
}

bool words_take(char ***words, char *word)
{
	size_t count = words_count(*words);
	char **grown = word ? realloc(*words, (count + 2) * sizeof(*grown)) : NULL;

	if (!grown) {
		free(word);
		return false;
	}
	grown[count] = word;
	grown[count + 1] = NULL;
	*words = grown;
	return true;
}

bool words_append(char ***words, char *const *more)
{
	for (; more && *more; more++)
		if (!words_take(words, strdup(*more)))
			return false;
	return true;
}

char **words_copy(char *const *words)
{
	char **copy = calloc(1, sizeof(*copy));

	if (copy && words_append(&copy, words))
		return copy;
	words_free(copy);
	return NULL;
}

void words_free(char **words)
{
	for (char **word = words; word && *word; word++)
		free(*word);
	free(words);
}
