/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler: agent expressions to a BPF program for a location, or for many.
 *
 * What leaves watched bytes as they were is false (watch_last.h). Else the program
 * evaluates the conditions in order and comes to one of three verdicts (of two, if the
 * stub decides after the access: there is no true one), by which the hit is counted
 * (hit_tally.h):
 *
 *   false  return 0: the kernel forgets the hit
 *   true   if it passes the gate (ignore_gate.h), a record {BPF_TRUE} into the ring,
 *          then the stop; else as if it were false
 *   maybe  a record {BPF_MAYBE} into the ring, then the stop
 *
 * What commands print is captured (capture.h) in a ring of its own, and there is no
 * stop; where that cannot be done, the stub runs them, at the stop. The list is true if
 * any condition is true. Conditions before a maybe that are false stay decided: the
 * first condition that is not false decides the exit.
 *
 * The stop: return 1, so that the event raises SIGTRAP, unless the thread blocks
 * SIGTRAP (then the signal would come late): bpf_send_signal_thread(SIGSTOP) and
 * return 0. With stop_by_signal, and at uprobes, always the latter.
 */
#ifndef TRUEHIT_BPF_COMPILER_COMPILE_H
#define TRUEHIT_BPF_COMPILER_COMPILE_H

#include "gdbstub/agent/list.h"
#include "gdbstub/base/error.h"
#include "bpf/emit/compile_options.h"

/**
 * Compiles a list of conditions, an empty one is always true, and of commands, which
 * must outlive the result. NULL is an empty list. The caller frees the result by
 * bpf_code_deinit. Errors: more code than a jump can span, or out of memory; an
 * expression that cannot be compiled is no error but a maybe.
 */
struct error *bpf_compile(const struct agent_list *conditions,
			  const struct agent_list *commands,
			  const struct bpf_compile_options *options,
			  struct bpf_code *ret);
void bpf_code_deinit(struct bpf_code *code);

#endif
