/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line, as gdbserver's. */
#ifndef TRUEHIT_OPTIONS_H
#define TRUEHIT_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "gdbstub/base/error.h"
#include "gdbstub/check/check.h"

struct options {
	const char *comm; /* :PORT, HOST:PORT, -, stdio, unix:PATH, a tty device */
	bool once;
	bool multi;
	pid_t attach_pid;    /* 0: none */
	char **wrapper;	     /* NULL-terminated, in argv; NULL: none */
	char **program_argv; /* NULL-terminated, in argv; NULL: none */
	bool disable_randomization;
	bool with_shell;
	bool escape_args; /* the program gets the words of program_argv as they are */
	unsigned int disabled;	 /* packets: gdbstub/rsp/disable.h */
	void (*print)(void);	 /* print this and end; NULL: serve */
	enum check_format check; /* the same of what can be had here */
};

/** Reads the command line; the error is one clear line for the user. */
struct error *options_parse(struct options *options, int argc, char **argv);
/** What --help, --version and --selftest print. */
void options_print_help(void);
void options_print_version(void);
void options_print_selftest(void);

#endif
