/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/demangle.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/buffer.h"

#ifdef HAVE_LIBIBERTY
#ifdef HAVE_LIBIBERTY_DEMANGLE_H
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

enum { NAME_ALONE = DMGL_ANSI, WITH_PARAMETERS = DMGL_ANSI | DMGL_PARAMS };

bool demangle_is_built_in(void)
{
	return true;
}

/* A short name can stand for one without end, as parts of it are repeated: a type of
 * pairs of pairs of pairs. The demanglers go on until it is written, but leave nothing
 * allocated that they were to free while they hand it over. */
struct source_name {
	struct buffer text;
	jmp_buf too_long;
};

static void take_part(const char *text, size_t len, void *data)
{
	struct source_name *name = data;

	if (name->text.len + len > DEMANGLED_MAX)
		longjmp(name->too_long, 1);
	buffer_append(&name->text, text, len);
}

/* Rust's first: its older names are C++'s, with a hash and without some letters. */
static void demangle_as(const char *name, int options, struct buffer *out)
{
	struct source_name source = {0};

	if (setjmp(source.too_long) == 0 &&
	    (rust_demangle_callback(name, options, take_part, &source) ||
	     cplus_demangle_v3_callback(name, options, take_part, &source)))
		buffer_append(out, source.text.data, source.text.len);
	buffer_deinit(&source.text);
}
#else
enum { NAME_ALONE, WITH_PARAMETERS };

bool demangle_is_built_in(void)
{
	return false;
}

static void demangle_as(const char *name, int options, struct buffer *out)
{
	(void)name;
	(void)options;
	(void)out;
}
#endif

void demangle(const char *name, struct buffer *out)
{
	demangle_as(name, WITH_PARAMETERS, out);
}

/* But for blanks. */
static bool is_same(const char *a, const char *b)
{
	for (;; a++, b++) {
		a += strspn(a, " ");
		b += strspn(b, " ");
		if (*a != *b || *a == '\0')
			return *a == *b;
	}
}

static bool is_source_name(const char *name, const char *typed, int options)
{
	_cleanup_buffer_ struct buffer source = {0};

	demangle_as(name, options, &source);
	return source.len > 0 && is_same(buffer_string(&source), typed);
}

bool demangle_is_named(const char *name, const char *typed)
{
	return strcmp(name, typed) == 0 || is_source_name(name, typed, NAME_ALONE) ||
	       is_source_name(name, typed, WITH_PARAMETERS);
}
