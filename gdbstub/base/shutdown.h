/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end that somebody asks for by a signal. The signals are blocked, the event loop
 * sees them; whatever else waits looks here, so that it does not wait for ever.
 */
#ifndef TRUEHIT_BASE_SHUTDOWN_H
#define TRUEHIT_BASE_SHUTDOWN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/** Tells the server that its guard has ended (guard.h). */
enum { SIGNAL_GUARD_ENDED = SIGUSR1 };

/** The signals that ask for the end. */
void shutdown_signals(sigset_t *set);
/** Is one of them pending? It stays so. */
bool shutdown_asked(void);
/** Has the guard ended, and that is why? Whoever has killed it may kill the server
 * next.
 */
bool shutdown_by_guard(void);
/**
 * Writes all of a text. Gives up where nobody reads, once the end was asked for.
 * Returns 0 or a negative errno.
 */
int shutdown_write(int fd, const char *text, size_t len);

#endif
