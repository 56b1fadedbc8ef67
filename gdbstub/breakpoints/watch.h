/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The value filter of write watchpoints, on the stub's side. What gdb does at each hit
 * that it is told of (breakpoint.c, watchpoint_check): if the value is the one that it
 * remembers, the program goes on; else it remembers the new one, and then the condition
 * decides. It does not even look where another thread has written a local variable. It
 * forgets what it remembers, and reads it anew at the next resume, where it writes the
 * memory itself. So hits that change nothing need not be told.
 *
 * Of each watchpoint two things are kept: what the last hit has found
 * (bpf/shared/watch_last.h), which is what gdb would remember if it were told of all,
 * and with which the next one is compared; and what gdb does remember: what it has read
 * since it was told of the last one. Where these may not be the same, the next hit
 * counts as a change: gdb, told of one too many, ignores it.
 *
 * Where hits come before the access (arch_ops.stores), those of watchpoints with
 * conditions are decided after it (look_after.h), and then all is as above. Without,
 * gdb, told of one, steps the thread and looks then. Only programs compare
 * (bpf/compiler/emit_watch_ahead.c), and only what gdb remembers is kept. From a hit
 * that is told on, until gdb has looked at memory after the access, each one counts as
 * a change.
 */
#ifndef TRUEHIT_BREAKPOINTS_WATCH_H
#define TRUEHIT_BREAKPOINTS_WATCH_H

#include "gdbstub/breakpoints/breakpoints.h"

struct stop;

/** Before the location is put in place: decides about its filter. A new one begins with
 * what memory holds; one that had it goes on. */
void watch_init(struct location *location);
/** Are its hits decided after the access, which they come before (look_after.h)? It has
 * conditions or commands then. */
bool watch_looks_after(const struct location *location);
/**
 * Is a hit of it, which comes before the access, decided or told after it? Also where
 * hits were ignored and the next is told: gdb ignores it if the value returns to the
 * one that it remembers (replay.h).
 */
bool watch_hit_looks_after(struct location *location);
/** May a thread be about to store, by a hit that was false, to another one that is so?
 */
bool watch_has_others(const struct location *location);
/** Do user or client want it otherwise meanwhile? */
bool watch_is_outdated(const struct location *location);
/** What the filter compares with: in the memory that programs see, if one serves it. */
struct watch_last *watch_last(struct location *location);

/** Are hits told apart as it is in place? Where they come before the access, only
 * programs do that. */
bool watch_compares(const struct location *location);
/** Is there nothing to decide at its hits, each of which the client is told of: neither
 * conditions nor commands, nor a value to compare? */
bool watch_tells_all(const struct location *location);
/** Is this hit a change, or of a location without a filter? Fills in its values, unless
 * a program has compared already. */
bool watch_changed(struct hit *hit);
/** A hit that was a change is not told to the client. */
void watch_untold(struct location *location);
/** ... but ignored (ignore.h). */
void watch_ignored(struct location *location);
/** The client is told of a thread's hit. What it reads then, for this thread and until
 * this is resumed, is what it compares. */
void watch_told(const struct thread *thread, const struct stop *stop);
/** It reads memory for this thread, and is shown this. */
void watch_shown(const struct thread *thread, uint64_t addr, const void *data,
		 size_t len);
/** It resumes the thread. A hit of it that the client has been told of, but has not
 * looked at, is none for it: to a local variable, by another thread than its own. */
void watch_looked(const struct thread *thread);
/** May the client remember other bytes than these, WATCH_BYTES of them? */
bool watch_may_differ(const struct location *location, const uint8_t *bytes);
/** Were hits ignored (ignore.h) since the client looked last? */
bool watch_has_ignored(struct location *location);
/** The client has written memory. */
void watch_wrote(struct inferior *inferior, uint64_t addr, size_t len);
/** Before threads are resumed. */
void watch_prepare(struct breakpoints *breakpoints);
/**
 * May a stopped thread have hit before an access that a program has found to change
 * nothing, without having made it? What it stores then may be a change by now.
 */
bool watch_may_be_late(const struct thread *thread);
/** A forked child's copy of a location. */
void watch_inherit(struct location *child, struct location *parent);

#endif
