/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/shared/left_over.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void left_over_add(struct left_over *left, enum left_kind kind, const char *advice,
		   const char *format, ...)
{
	struct left_reason *rows =
		reallocarray(left->rows, left->count + 1, sizeof(*rows));
	char *text;
	va_list args;
	int len;

	if (!rows)
		return;
	left->rows = rows;
	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return;
	rows[left->count++] =
		(struct left_reason){.kind = kind, .text = text, .advice = advice};
}

void left_over_clear(struct left_over *left)
{
	for (size_t i = 0; i < left->count; i++)
		free(left->rows[i].text);
	free(left->rows);
	*left = (struct left_over){0};
}
