/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `truehit --check`: what this machine and this user can have, and what is missing.
 *
 *   findings       all that is found out
 *   machine        ... by what the kernel tells
 *   hit_trial      ... by a session with a child
 *   attach_trial   ... by attaching to a process
 *   machine_facts  what is told of the machine and its user, a row each
 *   advice         what would help
 *   check_text     the same for people,
 *   check_json     and for scripts
 */
#ifndef TRUEHIT_CHECK_CHECK_H
#define TRUEHIT_CHECK_CHECK_H

enum check_format { CHECK_NONE, CHECK_TEXT, CHECK_JSON };

/** What the exit status says. */
enum check_status {
	CHECK_FAST = 0,	  /* false hits of breakpoints stop no thread: the kernel or the
			   * program itself decides conditions */
	CHECK_FAILED = 1, /* nothing could be said */
	CHECK_SLOW = 2,	  /* the server decides them, at a stop each */
};

/** Finds out, prints to stdout, returns the process's exit status. */
int check_main(enum check_format format);

#endif
