/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A terminal between the program and lldb's console, for standard streams that lldb has
 * named no file for, as lldb-server has it: what the program prints comes in O packets
 * (console.h), and what lldb's user types is its input. gdb's programs have the
 * server's own streams.
 */
#ifndef TRUEHIT_CLIENT_PROGRAM_TERMINAL_H
#define TRUEHIT_CLIENT_PROGRAM_TERMINAL_H

#include <stddef.h>

#include "gdbstub/base/error.h"

struct client;

/** Makes a new one, in the place of one before. *path: the program's side; valid as
 * long as the terminal is there. */
struct error *program_terminal_open(struct client *client, const char **path);
/** Prints what is left, and closes it. */
void program_terminal_close(struct client *client);
/** The descriptor to wait for, to read from; -1: there is none, or the console is full.
 */
int program_terminal_fd(const struct client *client);
/** Prints what there is on the console. */
void program_terminal_read(struct client *client);
/** Types for the program. */
struct error *program_terminal_write(struct client *client, const void *text,
				     size_t len);

#endif
