/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where hits come before the access (arch_ops.stores), those of watchpoints with
 * conditions or commands are decided after it, and the first that is told after ignored
 * ones, too (watch_hit_looks_after): the thread makes the access, with the watchpoint
 * switched off and every other thread halted (step_over.h), and the stub looks then.
 *
 * The client, told of a true one, expects the thread before the access, makes a step,
 * and looks itself. As the access is not to be made twice, that is a picture: the
 * registers, and the watched bytes, as they were. The client's step makes nothing run:
 * the thread is shown as it is then. If the client goes on otherwise, it has seen what
 * it wanted to see.
 */
#ifndef TRUEHIT_HITS_LOOK_AFTER_H
#define TRUEHIT_HITS_LOOK_AFTER_H

#include "gdbstub/locations/engine.h"

struct stop;

/** Can this hit only be decided after the access, which the thread has not made yet? */
bool look_is_needed(const struct hit *hit);
/** A stopped thread is to make the access, by a step over its hits that need it, which
 * are noted. False: they are lost, or the thread is. */
bool look_begin(struct thread *thread, const struct hits *hits);
/** Is one of its hits in wait for that? */
bool look_is_wanted(const struct thread *thread);
/** It makes it now, while every other thread is halted: notes what is there. */
void look_note_memory(struct thread *thread);
/** The thread's step has ended: appends its hits, if they are still of interest. They
 * point to what is valid until look_forget(). */
void look_end(struct thread *thread, struct hits *hits);
/** It is not to be shown before the access, and nothing waits for that. */
void look_forget(struct thread *thread);

/** Its stop is a true hit, after the access. */
bool look_has_ended(const struct thread *thread);
/**
 * Such a stop is to be told. True: the client is to be shown the thread before the
 * access. False: that it was; what it is to be told of now is the end of its step.
 */
bool look_tell(struct thread *thread, struct stop *stop);
/** Is it shown before the access? */
bool look_is_shown(const struct thread *thread);

/** The registers as they were before the access. NULL: they are not known. */
const struct last_regset *look_registers(const struct thread *thread);
/** As regs_fetch(), _fetch_all() and _store(), for the client. What it changes changes
 * in the thread as it is. */
int look_fetch(const struct thread *thread, struct regs *regs, unsigned int regset);
int look_fetch_all(const struct thread *thread, struct regs *regs);
int look_store(struct thread *thread, const struct regs *regs, unsigned int regset);
/** Puts watched bytes as they were into @data, which is memory at @addr, if the client
 * is shown a thread before its access. */
void look_show_memory(struct inferior *inferior, uint64_t addr, uint8_t *data,
		      size_t len);

#endif
