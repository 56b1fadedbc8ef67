/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/error.h"

#undef error_create /* what the analyzer is told */

#include <errno.h>
#include <stdarg.h>
#include <string.h>

struct error {
	int err;
	char *text;
};

static struct error out_of_memory = {ENOMEM, (char *)"out of memory"};

struct error *error_create(int err, const char *format, ...)
{
	struct error *error = malloc(sizeof(*error));
	_cleanup_free_ char *what = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&what, format, args);
	va_end(args);
	if (n < 0)
		what = NULL;
	if (!error || !what) {
		free(error);
		return &out_of_memory;
	}
	error->err = err;
	if (err == 0)
		error->text = take_ptr(what);
	else if (asprintf(&error->text, "%s: %s", what, strerror(err)) < 0)
		error->text = take_ptr(what);
	return error;
}

struct error *error_prefix(struct error *error, const char *format, ...)
{
	_cleanup_free_ char *prefix = NULL;
	char *text;
	va_list args;
	int n;

	if (!error || error == &out_of_memory)
		return error;
	va_start(args, format);
	n = vasprintf(&prefix, format, args);
	va_end(args);
	if (n < 0) {
		prefix = NULL;
		return error;
	}
	if (asprintf(&text, "%s: %s", prefix, error->text) < 0)
		return error;
	free(error->text);
	error->text = text;
	return error;
}

struct error *error_copy(const struct error *error)
{
	struct error *copy = error_create(0, "%s", error->text);

	if (copy != &out_of_memory)
		copy->err = error->err;
	return copy;
}

const char *error_text(const struct error *error)
{
	return error->text;
}

int error_errno(const struct error *error)
{
	return error->err;
}

void error_destroy(struct error *error)
{
	if (!error || error == &out_of_memory)
		return;
	free(error->text);
	free(error);
}
