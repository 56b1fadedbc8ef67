/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When to give work up whose length others decide: the program that is debugged, or the
 * client. Each loop over such data asks in each turn.
 */
#ifndef TRUEHIT_BASE_PATIENCE_H
#define TRUEHIT_BASE_PATIENCE_H

#include <stdint.h>

enum { PATIENCE_ENDLESS = -1, PATIENCE_NOBODY = -1 };

struct patience {
	int client;	     /* the connection's descriptor, or PATIENCE_NOBODY */
	int64_t begin;	     /* ms, of CLOCK_MONOTONIC */
	int64_t end;	     /* the same */
	int64_t next_look;   /* the same: before it, nothing but the time counts */
	const char *verdict; /* why the work was given up; NULL: it was not */
};

/**
 * Work begins. @client: the descriptor that the client's requests are read from, or
 * PATIENCE_NOBODY. @limit: how long it may take, in ms, or PATIENCE_ENDLESS.
 */
void patience_begin(struct patience *patience, int client, int limit);

/**
 * Is the work to be given up? NULL: go on. Else why, for the user ("it takes too
 * long"): its time is over; a signal asks for the end (shutdown.h); or the client has
 * gone, which counts only after half a second, as one that has sent all its requests
 * may have closed its side and wait for the replies. Once given up, it stays so. Cheap:
 * the kernel is asked some 50 times a second.
 */
const char *patience_ended(struct patience *patience);

#endif
