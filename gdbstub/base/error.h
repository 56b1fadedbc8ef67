/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors that a user reads: a text with context, and the errno behind it.
 *
 * A function that returns struct error * returns NULL for success. The caller
 * owns a returned error and frees it by error_destroy() (or _cleanup_error_).
 * Running out of memory is reported by one static error, so that creating an
 * error never fails.
 */
#ifndef TRUEHIT_BASE_ERROR_H
#define TRUEHIT_BASE_ERROR_H

#include "gdbstub/base/cleanup.h"

struct error;

/**
 * A new error. @err is a positive errno whose meaning is appended to the text
 * as ": meaning", or 0 for a text that stands alone.
 */
struct error *error_create(int err, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result, returns_nonnull));

/** Puts "text: " in front of @error. Takes @error over, returns the result. */
struct error *error_prefix(struct error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result, returns_nonnull));

#ifdef __clang_analyzer__
/* It does not know returns_nonnull, and would follow an error that is none. */
#define error_create(...)                                                              \
	({                                                                             \
		struct error *created_ = (error_create)(__VA_ARGS__);                  \
		if (!created_)                                                         \
			__builtin_unreachable();                                       \
		created_;                                                              \
	})
#endif

/** The same error once more. */
struct error *error_copy(const struct error *error)
	__attribute__((warn_unused_result, returns_nonnull));

/** The whole text, one line, without a newline. Lives as long as @error. */
const char *error_text(const struct error *error);

/** The positive errno behind @error, or 0. */
int error_errno(const struct error *error);

/** Frees @error; NULL is legal. */
void error_destroy(struct error *error);

static inline void cleanup_error(struct error **error)
{
	error_destroy(*error);
}
#define _cleanup_error_ _cleanup_(cleanup_error)

#endif
