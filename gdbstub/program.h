/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts programs, and attaches to processes, for the client or the command line. */
#ifndef TRUEHIT_PROGRAM_H
#define TRUEHIT_PROGRAM_H

#include <sys/types.h>
#include <server.h>

/** An error if the client has a process and cannot have more. */
struct error *server_check_room(const struct server *server);
/** Starts the program that server->startup names, and says so on stderr. */
struct error *server_launch(struct server *server);
/** Attaches, and says so on stderr. */
struct error *server_attach(struct server *server, pid_t pid);

#endif
