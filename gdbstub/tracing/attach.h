/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaching to processes, and the ends of sessions with them. */
#ifndef TRUEHIT_TRACING_ATTACH_H
#define TRUEHIT_TRACING_ATTACH_H

#include "gdbstub/base/error.h"
#include "gdbstub/inferior/inferior.h"

/**
 * Attaches to all threads of a process, including those that appear while
 * attaching, and stops them; all but a leader that has ended before the others, which
 * is not in the list then. The error says why not and what to do (no such process, not
 * permitted: ptrace_scope or another tracer, a zombie, ourselves).
 */
struct error *inferior_attach(struct inferiors *inferiors, pid_t pid,
			      struct inferior **ret);
/**
 * Detaches from all threads (all must be held) and destroys @inferior. From late ones
 * the server or the kernel detaches when they stop (leaving.h). @signal is delivered to
 * the thread @signal_tid (0: none). Pending signals of the other threads are delivered
 * too. The process runs on.
 */
void inferior_detach(struct inferior *inferior, pid_t signal_tid, int signal);
/** Detaches from a child that is no inferior: it is stopped at its start, and nothing
 * of ours is in it. As it has executed nothing, no signal of ours waits for it. */
void newborn_detach(pid_t pid);
/** SIGKILL, waits for its end, but not for what sleeps where it cannot end, destroys
 * @inferior. */
void inferior_kill(struct inferior *inferior);

#endif
