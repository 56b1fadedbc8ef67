/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that packets are about: the one that Hg chose. */
#ifndef TRUEHIT_CLIENT_CHOSEN_H
#define TRUEHIT_CLIENT_CHOSEN_H

#include "gdbstub/base/error.h"

struct client;
struct inferior;
struct thread;

/** That thread, or a sensible default; NULL: no process. */
struct thread *client_thread(struct client *client);
/** Its inferior; NULL: no process. */
struct inferior *client_inferior(struct client *client);
/** The thread; an error if there is no process. */
struct error *threads_current(struct client *client, struct thread **ret);
/** The same for registers: an error if that very thread has ended or runs. */
struct error *threads_stopped(struct client *client, struct thread **ret);

#endif
