/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children of a test. They have its functions and variables at the same addresses, and
 * end with it, also when it fails. A step that fails fails the test.
 */
#ifndef TRUEHIT_TESTS_CHILD_H
#define TRUEHIT_TESTS_CHILD_H

#include <signal.h>
#include <sys/ptrace.h>

#include "gdbstub/inferior/inferior.h"

/** fork() */
pid_t child_fork(void);
/** A child that does this and exits with 0. */
pid_t child_start(void (*main)(void));
/** One that is traced, by this thread, and has stopped for a SIGSTOP. Resumed, it does
 * this, if it is not NULL, and exits with 1. */
pid_t child_trace(void (*main)(uint64_t arg), uint64_t arg);
/** The signal of its next stop. */
int child_wait_stop(pid_t pid);
/** Its end, with the status 0. */
void child_wait_good(pid_t pid);
/** Kills it and takes it away. */
void child_end(pid_t pid);

/** Two processes, or threads, that wait for each other. */
struct turns {
	int to[2], from[2]; /* the child; pipes */
};

void turns_open(struct turns *turns);
/** Tells whoever waits at that pipe, now or later. */
void turns_give(const int *pipe);
/** Aborts where nobody tells anything for two minutes: the other one may have died. */
void turns_await(const int *pipe);

/** A child that is traced, as the parts under test know it. */
struct tracee {
	struct inferiors inferiors;
	struct inferior inferior;
	struct thread thread;
};

/** child_trace() */
void tracee_start(struct tracee *tracee, void (*main)(uint64_t arg), uint64_t arg);
siginfo_t tracee_wait(const struct tracee *tracee);
siginfo_t tracee_resume(const struct tracee *tracee, enum __ptrace_request request);
/** Legal without a child. */
void tracee_end(const struct tracee *tracee);

#endif
