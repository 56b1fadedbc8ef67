/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts programs, and attaches to processes, for the client or the command line. */
#ifndef TRUEHIT_CLIENT_CLIENT_PROGRAM_H
#define TRUEHIT_CLIENT_CLIENT_PROGRAM_H

#include <sys/types.h>

#include "gdbstub/base/error.h"

struct client;

/** An error if the client has a process and cannot have more. */
struct error *client_check_room(const struct client *client);
/** Starts the program that client->startup names, and says so on stderr. */
struct error *client_launch(struct client *client);
/** The same for a client, who is told why there is no program; the user, too. */
struct error *client_run(struct client *client);
/** Attaches, and says so on stderr. */
struct error *client_attach(struct client *client, pid_t pid);

#endif
