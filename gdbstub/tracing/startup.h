/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How programs are started: what the command line and clients have set, for the next
 * start (vRun, R). It outlives the client.
 */
#ifndef TRUEHIT_TRACING_STARTUP_H
#define TRUEHIT_TRACING_STARTUP_H

#include <stdbool.h>
#include <sys/resource.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/tracing/launch.h"

struct startup {
	char *program;	    /* NULL: none is known yet */
	char **argv;	    /* its words; [0] does not count */
	char *arguments;    /* instead of argv: as for a shell; or NULL */
	char **environment; /* NULL: the server's own */
	char *directory;    /* NULL: the server's own */
	bool with_shell, disable_randomization;
	char *const *wrapper;	     /* of the command line, or NULL */
	struct signal_state signals; /* what programs inherit */
	struct rlimit descriptors;   /* ... too */
};

/** To be called before the server changes signals; raises the limit of descriptors.
 * @wrapper: stays the caller's. The rest is to be set. */
void startup_init(struct startup *startup, char *const *wrapper);
void startup_deinit(struct startup *startup);

/**
 * The program, and its words (argv[0] included) or its arguments as for a shell.
 * NULL for @program: the same as before, which is an error if there is none.
 */
struct error *startup_set_program(struct startup *startup, const char *program,
				  char *const *argv);
struct error *startup_set_command(struct startup *startup, const char *program,
				  const char *arguments);
/** Appends the arguments as a user types them for a shell. */
void startup_append_arguments(const struct startup *startup, struct buffer *out);

/** "NAME=VALUE". */
struct error *startup_set_variable(struct startup *startup, const char *assignment);
struct error *startup_unset_variable(struct startup *startup, const char *name);
/** The server's own environment again. */
void startup_reset_environment(struct startup *startup);
/** NULL or "": the server's own. "~" and "~USER" stand for home directories. */
struct error *startup_set_directory(struct startup *startup, const char *directory);

/** Everything but stdin_is_null. Lives as long as nothing is set. */
struct launch_options startup_launch_options(const struct startup *startup);

#endif
