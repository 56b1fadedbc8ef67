/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that counts the hits of trials, and calls each false: that something is in
 * place does not mean that it is hit. */
#ifndef TRUEHIT_BPF_KERNEL_TRIAL_COUNTER_H
#define TRUEHIT_BPF_KERNEL_TRIAL_COUNTER_H

#include <stdint.h>

#include "gdbstub/base/error.h"
#include "bpf/emit/compile_options.h"

struct trial_counter {
	int map_fd, program_fd; /* -1: there is none */
};

/** Loads it. On error there is nothing to deinitialise, but that is legal. */
struct error *trial_counter_init(struct trial_counter *counter, enum bpf_kind kind);
void trial_counter_deinit(struct trial_counter *counter);

/** What its hits come to, each TRIAL_COOKIE (trial.h): a multi link's adds what it is
 * told. */
uint64_t trial_counter_sum(const struct trial_counter *counter);

static inline void cleanup_trial_counter(struct trial_counter *counter)
{
	trial_counter_deinit(counter);
}
#define _cleanup_trial_counter_ _cleanup_(cleanup_trial_counter)

#endif
