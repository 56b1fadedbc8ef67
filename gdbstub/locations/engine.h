/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An engine is a way to make threads stop at a location. One engine, one ops
 * table; packets/ never learns which engine serves a location.
 *
 *   uprobe      uprobe.c      the kernel's traps, condition in the kernel
 *   perf_event  perf_event.c  hardware, condition in the kernel
 *   debugreg    debugreg.c    hardware, over ptrace, condition in the stub
 *   int3        int3.c        software traps, condition in the stub
 *   shared      share.c       slots of the former that several share
 */
#ifndef TRUEHIT_LOCATIONS_ENGINE_H
#define TRUEHIT_LOCATIONS_ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "gdbstub/agent/list.h"
#include "gdbstub/agent/variables.h"
#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"
#include "gdbstub/base/table.h"
#include "bpf/shared/ignore_gate.h"
#include "bpf/shared/watch_last.h"
#include "gdbstub/inferior/inferior.h"
#include "gdbstub/locations/counts.h"
#include "gdbstub/locations/output.h"
#include "bpf/shared/shadow.h"

/** The digit of the Z packet. */
enum breakpoint_type {
	BREAKPOINT_SOFTWARE = 0,
	BREAKPOINT_HARDWARE = 1,
	WATCHPOINT_WRITE = 2,
	WATCHPOINT_READ = 3,
	WATCHPOINT_ACCESS = 4,
};

enum location_state {
	LOCATION_OUT,	    /* nothing in place */
	LOCATION_IN,	    /* threads stop here */
	LOCATION_SUSPENDED, /* in place but switched off: cheap to switch on */
};

struct engine;
struct trap;
struct decoder;	     /* gdbstub/text/decoder.h */
struct placements;   /* bpf/placement/placement.h */
struct location_pad; /* gdbstub/pads/location_pad.h */
struct hit_costs;    /* gdbstub/locations/hit_costs.h */
struct left_over;    /* bpf/shared/left_over.h */
struct handed_count; /* gdbstub/locations/handed_counts.h */

TAILQ_HEAD(handed_counts, handed_count);

/** What is done at a true hit, so that the client need not hear of it. */
struct commands {
	struct agent_list list;
	bool persistent; /* they go on when the client has gone */
};

/** The value filter of a write watchpoint (watch.h). */
struct watch {
	bool filters;	/* it has one */
	bool ahead;	/* ... which is asked before the access: by programs alone */
	bool rewritten; /* the client has written there since the last resume */
	uint8_t told[WATCH_BYTES]; /* what the client remembers */
	bool guessed;		   /* ... or else */
	uint64_t ignored;	   /* by the gate until it was told */
	struct watch_last last;	   /* unless the engine has it: watch_last() */

	/* A hit at which the client has yet to look at memory: */
	pid_t reader;  /* the thread, or 0 */
	bool to_come;  /* the access that hit is not made yet, if it is ahead */
	uint64_t at;   /* ... the PC at which it hit */
	uint32_t seen; /* what it has looked at, a bit per byte */
	struct watch_values hit; /* what that has changed, if it is known */
};

/** Which engines may serve locations (choice.h). */
enum engine_choice { CHOOSE_AUTO, CHOOSE_UPROBE, CHOOSE_HARDWARE, CHOOSE_PTRACE };

/** Which traps of breakpoints are put into pads (pads.h): of those whose location is
 * hot, of none, or all. */
enum pads_choice { PADS_AUTO, PADS_OFF, PADS_ALWAYS };

/** What has become of a planted trap, as far as that was noticed (trap_inspection.h).
 */
enum trap_fate {
	TRAP_PLANTED,  /* it is there */
	TRAP_DROPPED,  /* the program's own bytes are, which it was planted in */
	TRAP_REPLACED, /* other bytes are, or none: it is nobody's business any more */
	TRAP_MOVED,    /* the engine's, in memory where the engine is not exact */
	TRAP_CHANGED,  /* the program has changed the code under it and after it */
};

enum { TRAP_CODE_MAX = 16 }; /* bytes of a trap, with what follows */

/** One place to stop: what gdb asked for, and how it is served. */
struct location {
	TAILQ_ENTRY(location) link;
	TAILQ_ENTRY(location) watch_link;      /* in breakpoints->watchpoints */
	TAILQ_ENTRY(location) way_link;	       /* while it makes way for another one */
	struct table_entry by_cell, by_number; /* index.h */
	struct inferior *inferior;
	unsigned int number;   /* of the inferior's locations; from 1 up */
	int shown_number;      /* for people (numbers.h); 0: none yet */
	bool hook, hook_known; /* symbols_is_hook() */
	enum breakpoint_type type;
	uint64_t addr;
	uint64_t tag;		      /* ... without this, which the client's has */
	unsigned int len;	      /* the packet's kind: bytes to watch */
	struct agent_list conditions; /* one has to hold; none: always */
	struct agent_list asked;      /* ... as the client has them, without */
	struct wanted_state *wanted_state; /* what else must hold, or NULL. Owned. */
	struct commands commands; /* if there are any, they run instead of a stop */

	bool wanted; /* the client wants it now */
	enum location_state state;
	struct engine *engine;	/* who serves it; NULL if OUT */
	void *engine_data;	/* the engine's own */
	struct trap *trap;	/* if it is served by a trap in the text (trap.h), */
	unsigned int trap_len;	/* ... which takes so many bytes, */
	unsigned int trap_span; /* and so many, with what follows, make it work */
	bool doubtful; /* ... others' traps that are there have come or gone since */
	enum trap_fate fate;  /* what has become of that */
	bool seen;	      /* ... in memory just now: it need not be read again */
	uint64_t switched_in; /* breakpoints.period + 1: it was switched on then */
	unsigned int dropped, moved; /* how often it was put in anew for that */
	uint64_t lifted_in;	     /* engines.shadow_round + 1: lifted, and in the
				      * shadow */
	enum engine_choice choice;   /* by which it was chosen */
	bool among_uprobes; /* ... in memory with uprobes: choice_among_uprobes */
	bool passes_hits;   /* ... with choice_passes_hits */
	char *why;	    /* why this engine, for people; or NULL */
	bool padless;	    /* it was to have a pad, and cannot */
	bool hot;	    /* its false hits have cost more than a pad does */
	bool restartable;   /* it is known to be in a restartable sequence (rseq(2)),
			     * which must be executed in place */

	struct counts counts;	 /* by the stub; the engine adds its own in counts() */
	struct count_mark begun; /* when they were zero, */
	struct count_mark shown; /* ... and when people were shown their pace last */
	char *place;		 /* then, in words; or NULL. Owned. */
	struct gate gate;	 /* unless the engine has it: ignore_gate() */
	struct watch watch;
};

/** What an engine knows about one stop of one thread. */
enum hit_verdict {
	HIT_TRUE,   /* the kernel found the condition true */
	HIT_MAYBE,  /* the kernel could not decide: evaluate */
	HIT_PLAIN,  /* nothing was evaluated yet: evaluate */
	HIT_SHARED, /* the same, and it is a hit only if the value has changed */
};

struct hit {
	struct location *location;
	enum hit_verdict verdict;
	struct watch_values values; /* if the location filters; of a hit that a program
				     * has not compared, not yet */
	bool by_kernel;		    /* a system call made it, not an instruction */
	/* The thread has been looked at after the access (look_after.h): what was
	 * watched before it, WATCH_BYTES of it. NULL: it has not. */
	const uint8_t *before;
	/* The thread is not where it hit, nor can be moved there: nothing more can be
	 * evaluated, but it is told. */
	bool late;
	bool told; /* true, and the client's to hear of: hits_evaluate() says so */
};

enum { HITS_MAX = 8 };

/** The answer of on_stop. */
struct hits {
	struct hit hit[HITS_MAX];
	unsigned int count;
	/* The signal of the event was made by the engine and is none of the
	 * program's business, nor the end of a single step. */
	bool signal_is_ours;
	/* It is a fault of the instruction at the location, which is going to fault
	 * again if the thread is shown there. */
	bool signal_comes_again;
};

struct engine_ops {
	const char *name;
	/** What it is, for `monitor engines`. */
	const char *title;

	/** Its hits are the processor's debug exceptions, whoever sets the registers.
	 */
	bool by_slots;
	/** A false hit stops no thread, which stays at its instruction: a restartable
	 * sequence goes on. */
	bool drops_in_place;
	/** A thread that is resumed where it has hit hits again, where the processor
	 * does that (arch_ops.debugreg_hits_repeat). */
	bool hits_repeat;
	/** Its traps are bytes that it writes into the program's memory. */
	bool own_traps;
	/**
	 * Its traps are the kernel's: a single step at one runs the program and the
	 * instruction, which the kernel takes from the file that is mapped there, and
	 * ends by a SIGTRAP of SI_USER.
	 */
	bool kernel_traps;
	/** Its locations share what another engine has in place: engine_data is a
	 * struct share (carrier.h). */
	bool shares;

	/**
	 * Finds out by doing whether the engine works here, and makes its
	 * state. An error says what is missing and what the user can do.
	 */
	struct error *(*probe)(struct engine *engine);
	void (*deinit)(struct engine *engine);

	/**
	 * Puts a location in place for all threads of its inferior (all stopped)
	 * and those to come. On error nothing is left behind; errno ENOSPC: no
	 * slot is free; EOPNOTSUPP: not of this engine's kind.
	 */
	struct error *(*insert)(struct engine *engine, struct location *location);
	/**
	 * Takes it out. All threads are stopped, or @gone: the process has
	 * ended or runs another program, and only our own state is to be freed.
	 */
	void (*remove)(struct engine *engine, struct location *location, bool gone);
	/** Switches off and on again; negative errno on failure. -ESTALE: other code
	 * is there by now; it has to be taken out and put in anew. */
	int (*suspend)(struct engine *engine, struct location *location);
	int (*resume)(struct engine *engine, struct location *location);
	/**
	 * Is a location that was put in still there? The program may have replaced
	 * what it lay in (a library unloaded, another one loaded), or changed the
	 * code. NULL: always.
	 */
	bool (*intact)(struct engine *engine, const struct location *location);
	/**
	 * Of one that is not: has what it lay in gone? Such a location, of which
	 * clients say nothing more, is to be dropped. NULL: it costs nothing to keep
	 * it.
	 */
	bool (*vanished)(struct engine *engine, const struct location *location);
	/**
	 * Is it to be put in anew, as a setting of struct engine has changed? NULL:
	 * never.
	 */
	bool (*outdated)(struct engine *engine, const struct location *location);
	/** A new, stopped thread, whose tid may be that of one that has ended; NULL if
	 * the kernel takes care of all of them. */
	int (*thread_added)(struct engine *engine, struct location *location,
			    struct thread *thread);

	/** A stopped thread may have missed what was done while it could not be reached
	 * (thread->debugreg_stale). NULL: nothing of that is a thread's own. */
	void (*catch_up)(struct engine *engine, struct thread *thread);

	/**
	 * How many more slots of a kind every thread has, found out by taking them, or
	 * a negative errno. NULL: it takes part in what others find out only.
	 */
	int (*slots_free)(struct engine *engine, const struct inferior *inferior,
			  enum hw_kind kind);

	/**
	 * Looks at a stopped thread and appends what it knows to @hits. Must be called
	 * once for each signal stop, single steps too, and for each stop that
	 * PTRACE_INTERRUPT, a group stop or SIGCONT has made.
	 */
	void (*on_stop)(struct engine *engine, const struct event *event,
			struct hits *hits);
	/**
	 * Has a stopped thread hit at @addr, as on_stop will see, by whatever signal it
	 * has stopped? NULL: hits are seen by their signals alone.
	 */
	bool (*has_hit)(struct engine *engine, const struct thread *thread,
			uint64_t addr);
	/**
	 * Nobody is told of the hits that on_stop has seen: the thread, which it may
	 * have moved back to the location, is to go on after it. NULL: it has not.
	 */
	void (*pass)(struct engine *engine, struct thread *thread);
	/**
	 * Puts the program's own bytes into @data, read from memory at @addr, for traps
	 * of the engine's that are no location's: the kernel's are at each place where
	 * a file is mapped. NULL: it has none.
	 */
	void (*show_originals)(struct engine *engine, const struct inferior *inferior,
			       uint64_t addr, uint8_t *data, size_t len);
	/** Waits until nothing of what was removed is left in the kernel: a trap of
	 * another engine at the same place would be taken for it. NULL: nothing is. */
	void (*settle)(struct engine *engine);
	/** Closes the descriptors that it keeps only to be quicker later on, and waits
	 * for those that it is closing. NULL: locations of its kind need none. */
	void (*give_back)(struct engine *engine);
	/** Marks the locations that are hot (location->hot), which are outdated then:
	 * how many are cold. *any: some became hot. NULL: it has no pads. */
	unsigned int (*note_hot)(struct engine *engine, bool *any);
	/** What false hits cost on this machine. NULL: it does not know. */
	const struct hit_costs *(*costs)(const struct engine *engine);
	/** Appends a line on what probe() has found out, for `monitor engines`. NULL:
	 * there is nothing to tell. */
	void (*print_found)(const struct engine *engine, struct buffer *out);
	/** Adds the kernel's counts; NULL if the stub counts everything. */
	void (*counts)(struct engine *engine, const struct location *location,
		       struct counts *counts);
	/** The location's gate where the kernel sees it, as long as the location is in.
	 * location->gate is what it was before, and will be after. NULL: it stays
	 * there, as the stub decides. */
	struct gate *(*gate)(struct engine *engine, const struct location *location);
	/** The same for what the value filter compares with. */
	struct watch_last *(*last)(struct engine *engine,
				   const struct location *location);
	/** Sets the kernel's counts of a location to zero; NULL as above. */
	void (*reset_counts)(struct engine *engine, struct location *location);
	/**
	 * Appends what decides about hits ("kernel", "kernel; maybe: reads $xmm0",
	 * "stub"; "gdb", which is told of all, if there is nothing to decide by), for
	 * `monitor breakpoints`.
	 */
	void (*describe)(struct engine *engine, const struct location *location,
			 struct buffer *out);
	/** Adds what is left to the stub, and why. NULL: all is, as it is. */
	void (*left_over)(struct engine *engine, const struct location *location,
			  struct left_over *left);
	/** Appends the program that decides in the kernel, a line each instruction, and
	 * the verifier's words if that has refused it. NULL: there is none. */
	void (*print_program)(struct engine *engine, const struct location *location,
			      struct buffer *out);
	/** The pad of a location that is in. NULL: the engine has none. */
	const struct location_pad *(*pad)(const struct location *location);
	/** Why the engine sees no writes that system calls make; NULL: it does. The
	 * operation is NULL: it is of the engine's nature. */
	const char *(*no_kernel_hits)(const struct engine *engine);
};

/** What programs in the kernel share with the server, for those who attach none. */
struct kernel_side {
	/* Operations of bpf/placement/placement.h and placement_output.h. */
	int (*output_fd)(const struct placements *placements);
	size_t (*print_output)(struct placements *placements,
			       const struct output *output, const struct output *own,
			       bool all);
	void (*set_shadow)(struct placements *placements, const struct shadow *shadow);
};

struct engine {
	const struct engine_ops *ops;
	void *state;				  /* the engine's own */
	struct error *unusable;			  /* why it cannot be used, or NULL */
	struct placements *placements;		  /* of all kernel engines */
	const struct output *output, *own_output; /* ... of unattended inferiors */
	/* Setting: a write to watched memory by a system call is a hit
	 * (WATCHPOINT_WRITE). */
	bool watch_kernel;
};

extern const struct engine_ops uprobe_engine;
extern const struct engine_ops perf_event_engine;
extern const struct engine_ops debugreg_engine;
extern const struct engine_ops int3_engine;
extern const struct engine_ops shared_engine;

/** The numbers by which users know locations (numbers.h), by what these are. */
enum { NUMBERS_KEPT = 4096 };
struct numbers {
	int last, last_of_gdb;
	struct number_row {
		uint64_t program, addr;
		enum breakpoint_type type;
		unsigned int len;
		int number; /* 0: the row is free */
	} * rows;	    /* NULL: none; owned */
	size_t next;	    /* row to be used */
};

/** All engines, probed. */
enum {
	ENGINE_UPROBE,
	ENGINE_PERF_EVENT,
	ENGINE_DEBUGREG,
	ENGINE_INT3,
	ENGINE_SHARED,
	NENGINES
};
struct engines {
	struct engine engine[NENGINES];
	enum engine_choice choice; /* the user's: monitor set engine */
	bool unfiltered;	   /* the user wants to hear of each write (monitor set
				    * watch-filter off) */
	bool every_write;	   /* ... the client does */
	bool handed_hold; /* conditions that were handed over for breakpoints do:
			   * gdbstub/run/continuation.h */
	struct handed_counts ended_counts; /* of the last process that ended with some,
					    */
	pid_t ended_pid;		   /* ... this one */
	enum pads_choice pads;		   /* monitor set pads */
	bool others_run; /* a stop halts no other thread: non-stop mode */
	const struct kernel_side *kernel_side; /* NULL: there is none */
	struct placements *placements;	       /* what kernel engines have in place */
	struct shadow shadow;  /* of all traps in place, and maybe of more: */
	bool shadow_is_loose;  /* ... traps have come and gone since */
	uint64_t shadow_round; /* how often it was told exactly */
	size_t shadow_lifted;  /* traps in it that are only lifted since */
	const struct output *output, *own_output;
	struct numbers numbers;
	struct variables variables; /* what expressions set, whoever evaluates them */
	struct decoder *decoder;    /* while nobody uses it; NULL: there is none
				     * (gdbstub/text/kept_decoder.h) */
};

/** Are writes by system calls hits of watchpoints? What is in place follows at the next
 * commit. It is on at first. */
void engines_set_watch_kernel(struct engines *engines, bool on);
/** Why writes by system calls are no hits of this engine's watchpoints; NULL: they are.
 */
const char *engine_no_kernel_hits(const struct engine *engine);
/** Why no location can have a hardware slot here; NULL: an engine is usable that takes
 * them. */
const char *engines_no_slots(const struct engines *engines);
/** A thread that could not be reached can be (engine_ops.catch_up). */
void engines_catch_up(struct engines *engines, struct thread *thread);
/** Waits until all that was taken out is really gone (engine_ops.settle). */
void engines_settle(struct engines *engines);
/** Closes all descriptors that are not needed now (engine_ops.give_back). */
void engines_give_back(struct engines *engines);
/** Marks hot locations (engine_ops.note_hot): how many are cold. */
unsigned int engines_note_hot(struct engines *engines, bool *any);
/** -1: there is none. */
int engines_output_fd(struct engines *engines);
size_t engines_print_output(struct engines *engines, bool all);
/** Appends the table of `monitor engines`. */
void engines_print(const struct engines *engines, struct buffer *out);

#endif
