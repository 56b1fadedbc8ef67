/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that are not there: memory of a few bytes, and threads that do one thing
 * after another, as a generator chooses. A program that is linked with the options
 * --wrap of tests/unit/run/tests.am has run control trace these instead of the kernel's
 * (simulated_inferior.c), with its own engine of traps: a trap is a byte in their
 * memory.
 *
 * What a thread does is compared with what it should: each time that it comes to a
 * place with a breakpoint, its condition is evaluated once, and a true hit is told
 * once, before the thread goes past it; no signal is lost; nobody passes a place whose
 * trap is lifted for another; whoever is let go meets no trap. What is first found
 * wrong is kept.
 */
#ifndef TRUEHIT_TESTS_SIMULATED_H
#define TRUEHIT_TESTS_SIMULATED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/run/run.h"
#include "tests/unit/rng.h"

/* What threads do. */
enum deed {
	DEED_TRUE,	/* comes to a place, where the condition is true */
	DEED_FALSE,	/* ... false */
	DEED_SIGNAL,	/* gets a signal that the client wants to hear of */
	DEED_PASSED,	/* ... that is passed to the program */
	DEED_CLONE,	/* makes a thread */
	DEED_VFORK,	/* makes a process in its memory, which is let go */
	DEED_EXIT,	/* ends; the first thread: once it is alone */
	DEED_FORK,	/* makes a process with a copy of its memory, let go too */
	DEED_CONTINUED, /* SIGCONT comes for the process */
	DEED_KILLED,	/* SIGKILL comes for the process */
	DEEDS,
	SCRIPTED_DEEDS = DEED_EXIT + 1, /* of which every order is tried */
};

enum {
	TEXT = 0x1000, /* where memory begins */
	TEXT_LEN = 64,
	ELSEWHERE = TEXT + 8, /* no place is there */
	PLACES = 2,	      /* TEXT + 32 and TEXT + 40 */
	NO_PLACE = PLACES,
	SIM_THREADS = 8,
	SIM_PROCESSES = 12, /* that have been let go, and the traced one */
	SIGNAL_TOLD = 10,   /* SIGUSR1 */
	SIGNAL_PASSED = 12, /* SIGUSR2 */
	SIM_REGISTER = 0,   /* its number: what conditions read */
};

struct sim_memory {
	uint8_t bytes[TEXT_LEN];
};

struct sim_thread {
	pid_t tid; /* 0: there is none */
	bool runs, interrupted, steps;
	bool waits; /* for its vfork child, when it runs */
	uint64_t pc;
	uint64_t value; /* of the register that conditions read */
	bool has_event;
	struct event event; /* .kind, .signal, .siginfo.si_code, .child_pid */
	unsigned int deeds; /* left, before it ends */

	/* The place that it has come to; NO_PLACE: none. */
	unsigned int place;
	unsigned int epoch; /* of the place, when it came */
	unsigned int evaluated, told;
	/* Signals, by number: it has got them, was resumed with them. */
	unsigned int raised, delivered;
};

/* One that was let go. */
struct sim_child {
	pid_t pid; /* 0: there is none */
	bool let_go;
	bool shares; /* the traced process's memory */
	struct sim_memory memory;
	struct sim_thread *maker; /* who waits for it, if it shares */
	unsigned int left;	  /* instructions until it ends */
};

struct sim {
	uint64_t order;	    /* its number */
	unsigned int waits; /* for events */
	struct rng rng;
	bool prints; /* a line for each thing that happens */
	struct sim_memory memory;
	struct sim_thread thread[SIM_THREADS];
	struct sim_child child[SIM_PROCESSES];
	pid_t pid, last_tid;
	bool ended; /* the process */
	bool wanted[PLACES];
	unsigned int epoch[PLACES]; /* how often that has changed */
	enum deed script[4];
	unsigned int scripted, script_done;
	char failure[256]; /* what was wrong first; "": nothing */
};

extern struct sim sim;

/** A process with so many threads, stopped, that has not been traced yet. */
void sim_begin(uint64_t seed, uint64_t order, unsigned int threads);
/** Keeps what is wrong, unless something was before. */
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void sim_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

uint64_t sim_place(unsigned int number);
/** The place at this address, or NO_PLACE. */
unsigned int sim_place_at(uint64_t addr);
struct sim_thread *sim_find(pid_t tid);
struct sim_thread *sim_new_thread(void);
/** The memory of a process: its own, its parent's, or NULL: there is no such process.
 */
struct sim_memory *sim_memory_of(pid_t pid);
struct sim_child *sim_find_child(pid_t pid);
/** Does a process that was let go run in the traced one's memory? */
bool sim_is_lent(void);
/** Has a trap been taken out of the traced process's memory that the client wants? */
bool sim_is_lifted(void);

/** Some thread, or process that was let go, does something, if any can. */
void sim_act(void);
/** It is resumed: the signal goes to it. */
void sim_resume(struct sim_thread *thread, int signal, bool steps);
/** The client has it go on past the place where it was told of it. */
void sim_pass(struct sim_thread *thread);
/** The client inserts or removes the breakpoint there. */
void sim_set_wanted(unsigned int place, bool wanted);

#endif
