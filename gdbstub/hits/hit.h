/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread stopped at locations: which of them does the client want to know of? */
#ifndef TRUEHIT_HITS_HIT_H
#define TRUEHIT_HITS_HIT_H

#include "gdbstub/locations/engine.h"
#include "gdbstub/locations/output.h"

/** Asks every usable engine what it knows about a stop (engine_ops.on_stop). */
void hits_collect(struct engines *engines, const struct event *event,
		  struct hits *hits);
/**
 * The hit to tell the client of, one with a true condition, or NULL: evaluates
 * what no kernel program has decided (an evaluation that fails counts as true), and
 * counts. A true hit of a location with commands runs them instead, as gdbserver does.
 * It is .told then, and with it, if it is a watchpoint's and the client hears of
 * @all_watches, those of the other watchpoints that the access has hit.
 */
const struct hit *hits_evaluate(struct hits *hits, struct thread *thread,
				const struct output *output, bool all_watches);
/** None of the hits is told: the thread goes on past them. */
void hits_pass(const struct hits *hits, struct thread *thread);
/**
 * Runs the commands at the place that a step has led to. For the client that is
 * a hit: it takes the thread on from there without one.
 */
void hits_stepped_to(struct thread *thread, const struct output *output);
/**
 * Has a client's step led to a place whose hits are counted in its place
 * (handed_counts.h)? For the client that is a hit, which it must not see, as it has not
 * the count: the thread makes one more step. What is in place there counts then; else
 * it is counted now, and false if it is not ignored.
 */
bool hits_stepped_to_counted(struct thread *thread);

#endif
