/* SPDX-License-Identifier: BSD-2-Clause */
/* Starting programs. */
#ifndef TRUEHIT_TRACING_LAUNCH_H
#define TRUEHIT_TRACING_LAUNCH_H

#include <signal.h>
#include <stdbool.h>

#include "gdbstub/base/error.h"
#include "gdbstub/inferior/inferior.h"

/** What a process inherits from its parent and may not notice being changed. */
struct signal_state {
	sigset_t blocked, ignored;
};

/** Our own as it is now. */
void signal_state_save(struct signal_state *state);

struct launch_options {
	const char *program;   /* a file of the current directory, a path, or a
				* name that is looked up in PATH; also argv[0] */
	char *const *argv;     /* NULL-terminated, argv[0] included */
	const char *arguments; /* instead of argv: as for a shell, which reads
				* them; NULL: argv counts */
	const char *shell;     /* starts the program: `-c "exec PROGRAM ..."`; the
				* words of argv are quoted for it. NULL: none */
	char *const *wrapper;  /* NULL-terminated: a command that executes what
				* is appended to it (env); or NULL */
	char *const *envp;     /* NULL: our own environment */
	const char *directory; /* working directory, or NULL */
	const struct signal_state *signals; /* NULL: nothing blocked or ignored */
	const struct rlimit *descriptors;   /* how many it may have; NULL: as we */
	bool disable_randomization;	    /* personality(ADDR_NO_RANDOMIZE) */
	const char *stdio[3]; /* files for the standard streams; NULL: as ours */
	bool stdin_is_null;   /* stdio connection: stdin from /dev/null and
			       * stdout to our stderr; .stdio goes before */
};

/**
 * Starts a program, stopped at its first instruction (the dynamic linker's
 * entry), in a process group of its own that is made the terminal's foreground
 * group if there is a terminal. It dies with us (PTRACE_O_EXITKILL). Shell and
 * wrapper run untouched; each is to call exec once. If they take their time, the start
 * is given up when the client goes or the server is to end (gdbstub/base/patience.h).
 * An error of ours has an errno ("Cannot exec PROG: No such file ..."). That shell,
 * wrapper or program ended before its time has none: "During startup program exited
 * with code 127."; shells tell the reason on stderr.
 */
struct error *inferior_launch(struct inferiors *inferiors,
			      const struct launch_options *options,
			      struct inferior **ret);

#endif
