/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes that exist in the test only, for run control to be put to work on. The
 * linker puts functions of the test in the place of those of inferior/ that reach the
 * kernel (--wrap, in Makefile.am): run control waits for these processes, resumes and
 * interrupts their threads, and reads and writes their registers and their memory, in
 * which its traps really are. What is real comes in one order of events or another by
 * chance; here a random generator chooses it, and a number names the order.
 *
 *   simulated            the processes: what their threads execute and stop for
 *   simulated_scripts    ... what there is to execute
 *   simulated_inferior   ... behind the functions of inferior/
 *   simulated_told       the model: what is to be told of them, and what is never to
 *                        happen
 *   test_events          the client, and the orders
 *
 * Each thread goes through a script of instructions. All scripts are at the same few
 * addresses, one for each kind of instruction and some for those that do nothing, so
 * that several threads come through one place all the time.
 */
#ifndef TRUEHIT_TESTS_SIMULATED_H
#define TRUEHIT_TESTS_SIMULATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/run/run.h"
#include "tests/unit/rng.h"

/** The instructions, by their place in the text. */
enum sim_slot {
	SLOT_PLACES = 5,	 /* so many places, the first ones, do nothing */
	SLOT_FILL = SLOT_PLACES, /* nor does this one, where nobody has a breakpoint */
	SLOT_CLONE,
	SLOT_FORK,
	SLOT_VFORK,
	SLOT_RAISE,
	SLOT_EXEC,
	SLOT_JOIN, /* waits until the thread is the last one of its process */
	SLOT_END_THREAD,
	SLOT_EXIT,
	SIM_SLOTS,
};

enum {
	SIM_BASE = 0x400000,
	SIM_INSN_LEN = 4, /* a trap of any processor fits */
	SIM_OPS = 24,
	SIM_SCRIPTS = 16,
	SIM_SPACES = 16,
	SIM_PROCESSES = 16,
	SIM_THREADS = 40,
	SIM_SIGNALS = 8, /* that wait for one thread */
	SIM_PLANNED = 4, /* events */
	SIM_KINDS = 7,
	SIM_SYSTEMATIC = SIM_KINDS * SIM_KINDS * SIM_KINDS * SIM_KINDS,
	SIM_STATUS = 42, /* that processes exit with */
	SIM_FIRST_PID = 1000,
};

struct sim_op {
	enum sim_slot slot;
	unsigned int value;  /* of the register that conditions are about */
	int signal;	     /* SLOT_RAISE */
	unsigned int script; /* of what it makes */
	bool copies;	     /* SLOT_VFORK: the child has memory of its own */
};

struct sim_script {
	struct sim_op op[SIM_OPS];
	unsigned int count;
};

/** An address space. */
struct sim_space {
	uint8_t text[SIM_SLOTS * SIM_INSN_LEN];
	bool wanted[SIM_SLOTS];	     /* the client has a breakpoint there */
	bool conditional[SIM_SLOTS]; /* ... that is true where the value is not 0 */
	bool changed;		     /* that, since a thread has gone on here */
};

struct sim_process {
	pid_t pid;
	struct sim_space *space;
	bool traced;
	bool is_known; /* to the client */
	bool is_fresh; /* none of its threads has gone on yet */
	bool ends;     /* its threads have ended; some have not told it yet */
	bool is_killed;
	bool is_done;		/* with the memory of its parent, which has vforked */
	bool end_due, end_told; /* to the client */
};

enum sim_state {
	SIM_HELD, /* stopped, and run control knows */
	SIM_RUNNING,
	SIM_IN_VFORK, /* its vfork child is not done yet */
	SIM_STOPPED,  /* run control does not know yet */
	SIM_DEAD,     /* the same of its end */
	SIM_GONE,
};

/** How a thread was resumed. */
enum sim_how { SIM_CONTINUE, SIM_STEP, SIM_TO_RETURN };

/** What a thread has stopped for. */
struct sim_stop {
	enum event_kind kind;
	int signal, si_code;
	struct sim_thread *child; /* the first thread of what was made */
};

/** What is to be told of a thread; .kind is STOP_NONE: nothing. */
struct sim_due {
	enum stop_kind kind;
	int signal;
	enum sim_slot slot; /* STOP_SWBREAK */
	pid_t child;
	bool may_be_dropped; /* when the client has the thread continue */
};

struct sim_thread {
	pid_t tid;
	struct sim_process *process;
	const struct sim_script *script;
	unsigned int at; /* in the script */
	bool past_trap;	 /* it has executed a trap there */
	enum sim_state state;
	enum sim_how how;
	struct sim_stop stop;
	bool in_call;	    /* ... inside the call that it has just made */
	bool returns;	    /* ... from which the step is to end */
	bool asked;	    /* to stop: by an interrupt */
	bool asked_stopped; /* the same, when it had stopped already */
	bool event_stop;    /* it stops for an interrupt */
	int signals[SIM_SIGNALS];
	unsigned int nsignals;
	struct sim_process *vfork_child; /* until it has told that that is done */
	bool shares;			 /* its memory with that one */

	/* The model's. */
	struct sim_due due;
	bool end_due;		    /* its end is to be told */
	bool hit;		    /* here, where it is in the script */
	bool hit_told;		    /* ... and the client knows */
	bool may_hit_again;	    /* here, since a signal has come between */
	unsigned int executed;	    /* instructions */
	unsigned int step_began_at; /* the client's last step of it */
	unsigned int evaluations, evaluations_due;
	unsigned int raised[SIGNALS_MAX], told[SIGNALS_MAX], delivered[SIGNALS_MAX];
	bool killed;		    /* what waited for it may be lost */
	int passes;		    /* the signal that the client gives it next */
	enum resume_kind asked_for; /* what the client asked of it last */
};

/** The one thing that is simulated, for the order that runs. */
struct sim {
	unsigned int number; /* of the order */
	bool trace;	     /* it is printed */
	struct rng rng;
	struct run *run;
	int64_t now_ms;
	struct sim_script script[SIM_SCRIPTS];
	unsigned int nscripts;
	struct sim_space space[SIM_SPACES];
	unsigned int nspaces;
	struct sim_process process[SIM_PROCESSES];
	unsigned int nprocesses;
	struct sim_thread thread[SIM_THREADS];
	unsigned int nthreads;
	pid_t last_pid;
	unsigned int signals_left; /* that come from outside */
	bool kills;		   /* SIGKILL among them */

	/* The first events come in this order: of these threads. */
	pid_t plan[SIM_PLANNED]; /* 0: the client's interrupt */
	unsigned int nplanned, planned_at;
	bool plan_interrupts, plan_waits; /* the client is to interrupt; now */

	/* The model's. */
	unsigned int requests, requests_told;	  /* to stop one thread */
	unsigned int interrupts, interrupts_told; /* to stop any */
	unsigned int told_since_interrupt;	  /* so many stops of other reasons */
	bool interrupt_is_open;
};

extern struct sim sim;

/* ---- simulated.c ---- */

/** Forgets everything. */
void sim_begin(unsigned int number, struct rng rng, struct run *run);
/** A process with a space of its own; its threads are held. */
struct sim_process *sim_process_add(struct sim_space *space, bool traced);
struct sim_space *sim_space_add(const struct sim_space *copied);
struct sim_thread *sim_thread_add(struct sim_process *process, pid_t tid,
				  unsigned int script);
/** NULL: there is none. */
struct sim_process *sim_process(pid_t pid);
struct sim_thread *sim_thread(pid_t tid);
const struct sim_op *sim_op_of(const struct sim_thread *thread);
uint64_t sim_address(enum sim_slot slot);
uint64_t sim_pc(const struct sim_thread *thread);
void sim_set_pc(struct sim_thread *thread, uint64_t pc);
bool sim_has_trap(const struct sim_space *space, enum sim_slot slot);
bool sim_has_traps(const struct sim_space *space);
/** A process that has not ended has it. */
bool sim_is_used(const struct sim_space *space);
/** A traced process that waits for a child that nobody traces has it. */
bool sim_is_lent(const struct sim_space *space);
/** Some thread has a turn. False: none runs. */
bool sim_tick(void);
/** This one has, if it runs. */
void sim_tick_thread(struct sim_thread *thread);
/** The thread's vfork child is done with the memory. */
void sim_end_vfork(struct sim_thread *thread);
/** One of those that have stopped, or ended, and have not told it; NULL: there is none
 * now. */
struct sim_thread *sim_next(void);
/** The test fails, with the number of the order. */
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define sim_check(condition, ...)                                                      \
	do {                                                                           \
		if (!(condition))                                                      \
			sim_fail(__VA_ARGS__);                                         \
	} while (0)
/** A line of the trace. */
void sim_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- simulated_scripts.c ---- */

/**
 * In non-stop mode, the client gets past a hit by executing the instruction elsewhere.
 * Where it cannot do that, all hits are false.
 */
bool sim_must_pass(enum sim_slot slot);
/** A process with some threads, which nobody is attached to. */
struct sim_process *sim_make_random(void);
/** Its first events, of SIM_KINDS kinds each, come in the order that @number, below
 * SIM_SYSTEMATIC, says. */
struct sim_process *sim_make_systematic(unsigned int number);

/* ---- simulated_inferior.c ---- */

/** What attaching finds. */
void sim_offer(struct sim_process *process);

/* ---- simulated_told.c ---- */

/** The thread executes this instruction, or the trap that is in its place. */
void model_executes(struct sim_thread *thread);
void model_meets_trap(struct sim_thread *thread);
/** Run control has been told of the event. */
void model_reported(struct sim_thread *thread, const struct event *event);
/** Run control has it go on. */
void model_resumed(struct sim_thread *thread, const struct thread *known);
/** It gets this signal when it goes on. */
void model_delivered(struct sim_thread *thread, int signal);
/** A process goes its own way. */
void model_detached(const struct sim_process *process);
/** The client has been told of this. */
void model_told(const struct stop *stop);
/** All have ended. */
void model_ended(void);

#endif
