/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `monitor stats every SECONDS`: while the program runs, in all-stop mode, the client's
 * console shows the table again and again. Nobody stops for it, and nothing of the
 * program is read for it: what locations are called is found out before they run.
 */
#ifndef TRUEHIT_CLIENT_LIVE_STATS_H
#define TRUEHIT_CLIENT_LIVE_STATS_H

struct client;

/** @interval: ms; 0: no longer. */
void live_stats_set(struct client *client, int interval);
/** The program is about to be resumed. */
void live_stats_prepare(struct client *client);
/** Shows the table, if it is time. */
void live_stats_look(struct client *client);
/** How long live_stats_look() need not be called, ms; -1: for ever. */
int live_stats_patience(const struct client *client);

#endif
