/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client is told of a thread with its stop, without asking: registers, the CPU.
 */
#ifndef TRUEHIT_CLIENT_EXPEDITED_H
#define TRUEHIT_CLIENT_EXPEDITED_H

#include <stdbool.h>
#include <stdint.h>

#include "gdbstub/base/buffer.h"

struct thread;

/** Appends "NN:hex;" for each, as in stop replies. */
void expedited_append(const struct thread *thread, struct buffer *out);
/** Appends them as the members of an object of JSON, by their numbers in decimal
 * (jThreadsInfo). */
void expedited_append_json(const struct thread *thread, struct buffer *out);
/** The PC as the client is shown it, or 0. */
uint64_t expedited_pc(const struct thread *thread);
/** The CPU that the thread, which is stopped, ran on last, or -1. A descriptor may stay
 * open, as by thread_core(). */
int expedited_cpu(const struct thread *thread);

#endif
