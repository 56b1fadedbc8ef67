/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages on stderr: what users wait for (log_info), what went wrong for
 * them (log_warning), and debugging output by category (--debug=rsp,stops).
 */
#ifndef TRUEHIT_BASE_LOG_H
#define TRUEHIT_BASE_LOG_H

#include <stdbool.h>
#include <stdio.h>

#include "gdbstub/base/error.h"

/** Debugging categories, one row of the table in log.c each. */
enum log_category {
	LOG_RSP,      /* packets in and out */
	LOG_INFERIOR, /* ptrace: events, resumes, threads */
	LOG_STOPS,    /* breakpoints: wanted, installed, hits */
	LOG_BPF,      /* compiler, programs, kernel engines */
	LOG_SERVER,   /* connections, event loop */
	LOG_NCATEGORIES
};

/**
 * Turns categories on, or off by a '-' before one: a comma-separated list of names, of
 * gdbserver's ("remote", "threads", "event-loop"), or "all". An error names the unknown
 * category and lists the known ones; nothing is changed then.
 */
struct error *log_enable(const char *categories);

/** Turns categories off, or on by a '+', in the same way. */
struct error *log_disable(const char *categories);

/**
 * What each line of debugging output begins with: a comma-separated list of
 * "timestamp" (seconds since 1970), "all" and "none". An error changes nothing.
 */
struct error *log_format(const char *parts);

/** Debugging output goes to this file from now on, instead of stderr; "": to stderr
 * again. An error changes nothing. */
struct error *log_open_file(const char *path);

/** Is the category on? For output that is costly to make. */
bool log_enabled(enum log_category category);

/** Debugging output "truehit: category: text"; a newline is added. */
void log_debug(enum log_category category, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/** A line for the user on stderr, as it is; a newline is added. */
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** "truehit: text" on stderr; a newline is added. */
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
