/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line, as gdbserver's. */
#ifndef TRUEHIT_OPTIONS_H
#define TRUEHIT_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct options {
	const char *comm; /* :PORT, HOST:PORT, -, stdio, unix:PATH */
	bool once;
	bool multi;
	pid_t attach_pid;    /* 0: none */
	char **wrapper;	     /* NULL-terminated, in argv; NULL: none */
	char **program_argv; /* NULL-terminated, in argv; NULL: none */
	bool disable_randomization;
	unsigned int disabled; /* packets: rsp/disable.h */
	bool show_version, show_help, show_packets;
};

/** Reads the command line; the error is one clear line for the user. */
struct error *options_parse(struct options *options, int argc, char **argv);
/** The texts of --help and --version. */
void options_print_help(void);
void options_print_version(void);
/** What --disable-packet without a list prints. */
void options_print_packets(void);

#endif
