/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rights that the server's file lends to whoever executes it: capabilities (setcap), or
 * another user (setuid). They serve the kernel's events and programs only, for the
 * moment of a call; for all the rest the server has what its user has himself. Nothing
 * that a user can choose (a library, a file, a program) may reach them.
 */
#ifndef TRUEHIT_BASE_RIGHTS_H
#define TRUEHIT_BASE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/base/error.h"

/** Has the file given this process more than its user has (getauxval(3), AT_SECURE)?
 * Never for root. */
bool rights_are_lent(void);

/**
 * To be called first of all, before anything of the user's is looked at. Of what is
 * lent only capabilities stay that BPF and perf events need (CAP_BPF, CAP_PERFMON,
 * CAP_CHECKPOINT_RESTORE), and these are in no effect outside of
 * RIGHTS_RAISED_IN_SCOPE; the user and the group are the invoker's; and the process is
 * not dumpable, so that it belongs to nobody but root (proc(5), ptrace(2)). An error:
 * the server must not go on. Where nothing is lent, it does nothing.
 */
struct error *rights_init(void);

/** Puts what is lent into effect for the calling thread. False: it was so already, or
 * nothing is lent. */
bool rights_raise(void);
void rights_lower(const bool *raised);

/** Until the scope's end what is lent is in effect. errno is preserved. */
#define RIGHTS_RAISED_IN_SCOPE                                                         \
	__attribute__((unused)) _cleanup_(rights_lower) const bool rights_raised_ =    \
		rights_raise()

/** Gives up for good all that is lent. 0 or a negative errno. */
int rights_give_up(void);

/**
 * For a forked child: others of the same user may trace it from now on, so first it
 * gives up all that is lent, and closes what is to be closed at exec, but @keep (up to
 * @count descriptors): what BPF has open would serve whoever traces it
 * (pidfd_getfd(2)). 0 or a negative errno: then the child has to end.
 */
int rights_let_trace(const int *keep, size_t count);

#endif
