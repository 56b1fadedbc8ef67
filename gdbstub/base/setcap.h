/* SPDX-License-Identifier: BSD-2-Clause */
/* How an ordinary user's truehit gets a right: file capabilities (capabilities(7)). */
#ifndef TRUEHIT_BASE_SETCAP_H
#define TRUEHIT_BASE_SETCAP_H

/** The command that gives this program's file what it needs, and @more (a capability,
 * or NULL), to be shown, with the place in README that tells whom the file should
 * serve. The caller's to free; NULL: no memory. */
char *setcap_command(const char *more);

#endif
