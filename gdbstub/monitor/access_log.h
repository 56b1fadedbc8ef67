/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `monitor accesses`: all accesses of an inferior's threads to some bytes of its
 * memory, while nobody stops: filters of libtruehit leave a record of each, which the
 * event loop counts in a table. Each part of the bytes that a breakpoint register can
 * watch has a filter of its own. It ends with the inferior, or when that executes
 * another program.
 */
#ifndef TRUEHIT_MONITOR_ACCESS_LOG_H
#define TRUEHIT_MONITOR_ACCESS_LOG_H

#include "gdbstub/base/buffer.h"
#include "gdbstub/control/control.h"

struct access_log;

struct access_log_options {
	bool reads; /* all accesses; else writes alone */
	uint64_t addr, len;
	const void *condition; /* an agent expression, or NULL */
	size_t condition_len;
};

/** How much a poll has found. */
enum access_log_turn { ACCESSES_NONE, ACCESSES_SOME, ACCESSES_MANY };

/** Nothing of the inferior runs. The error says what is not had here, or what is wrong
 * with the options. */
struct error *access_log_begin(struct inferior *inferior,
			       const struct access_log_options *options,
			       struct access_log **ret);
/** NULL is legal, for the others, too. */
void access_log_end(struct access_log *log);
/** Readable by poll(2) while there are records; -1: there is nothing to wait for. */
int access_log_fd(const struct access_log *log);
/** Counts what is there. */
enum access_log_turn access_log_poll(struct access_log *log);
/** Has its program ended, or is it not ours any more? */
bool access_log_is_over(const struct access_log *log);
/**
 * Appends a line with how many accesses there were; lines that begin with a blank for
 * what of them is not in the table; and the table: for each row
 *
 *   "  COUNT  thread PID.TID at 0xADDR by 0xPC <SYMBOL>: INSN"
 *
 * or "... after 0xPC <SYMBOL>" if the instruction before the PC is not known, and then
 * its changes, "    COUNT  0xBEFORE -> 0xVALUE", "?" for a value that is not known.
 */
void access_log_show(struct access_log *log, struct buffer *out);

#endif
