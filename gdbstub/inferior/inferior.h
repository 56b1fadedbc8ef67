/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes under our control and their threads, over ptrace.
 *
 * Every thread is attached by PTRACE_SEIZE, so that our stops
 * (PTRACE_INTERRUPT) cannot be confused with the program's own SIGSTOP or
 * SIGTRAP. New threads are followed by PTRACE_O_TRACECLONE and are stopped
 * before they run their first instruction.
 */
#ifndef TRUEHIT_INFERIOR_INFERIOR_H
#define TRUEHIT_INFERIOR_INFERIOR_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "arch/arch.h"
#include "base/error.h"
#include "base/patience.h"
#include "base/table.h"
#include "inferior/event.h"
#include "inferior/syscalls.h"

struct breakpoints;
struct pending_stop;
struct last_hit;
struct look;
struct threaddb;

enum { HITS_IN_VAIN_MAX = 16 }; /* no instruction can hit more */

/** What a client asked a thread to do (vCont); kept until it is reported. */
enum resume_kind {
	RESUME_NONE, /* stay stopped */
	RESUME_CONTINUE,
	RESUME_STEP,  /* one instruction */
	RESUME_RANGE, /* step while start <= PC < end */
	RESUME_STOP,  /* vCont;t: stop, report signal 0 */
};

struct resume_action {
	enum resume_kind kind;
	int signal;	     /* to deliver, host number; 0: none */
	uint64_t start, end; /* RESUME_RANGE */
};

/** What the client wants to hear of one thread (QThreadOptions). */
enum thread_option {
	THREAD_OPTION_CLONE = 1, /* that it makes a thread */
	THREAD_OPTION_EXIT = 2,	 /* that it ends */
	THREAD_OPTIONS = THREAD_OPTION_CLONE | THREAD_OPTION_EXIT,
};

/** What the kernel tells of a thread that sleeps in it (proc(5), /proc/PID/syscall). */
struct kernel_call {
	unsigned int count; /* how many words are known: 0, 2 or all */
	int number;	    /* of the system call; SYSCALL_NONE: it is in none */
	uint64_t word[SYSCALL_ARGUMENTS + 2]; /* arguments, if all are known; then
					       * stack pointer and PC */
};

/** The regset with the PC as it was read last since the thread stopped: all that is
 * left if somebody else kills it. */
struct last_regset {
	size_t size; /* 0: not read */
	unsigned char data[512];
};

struct thread {
	TAILQ_ENTRY(thread) link;
	struct table_entry by_tid;
	struct inferior *inferior;
	pid_t tid;   /* changed by thread_renumber only */
	pid_t group; /* its process, as the kernel sees it: not the inferior's if it
		      * was made by clone(CLONE_VM) without CLONE_THREAD */

	/* Kept by inferior/. */
	bool running;	   /* resumed, and no stop seen since */
	bool interrupting; /* PTRACE_INTERRUPT sent, no stop reported since */
	bool late;	   /* ... and the thread sleeps where it cannot stop (late.h) */
	struct kernel_call call; /* ... when it became late */
	bool is_expected;	 /* in inferiors->expected, by: */
	TAILQ_ENTRY(thread) expected;
	bool stepping;	      /* resumed for one instruction: by PTRACE_SINGLESTEP, or
			       * through a system call by PTRACE_SYSCALL */
	int request;	      /* the one it was last resumed by */
	bool listening;	      /* resumed by PTRACE_LISTEN: in a group stop */
	bool at_signal;	      /* in a signal-delivery stop */
	int at_group_stop;    /* the signal of a group stop that its stop tells of; 0 */
	bool group_stopped;   /* job control has stopped its process, as it has told
			       * (group_stop.h); it may run all the same */
	bool step_ended;      /* its stop is the end of a single step */
	bool ends_hit_step;   /* resumed by PTRACE_SINGLESTEP instead of the request
			       * (hit_step.h) */
	bool in_syscall;      /* stopped inside a call that it was not stepping */
	bool tells_end;	      /* it stops before it ends (thread_tell_end) */
	bool options_due;     /* ... but late, it is to be told that when it stops */
	bool bound;	      /* the kernel kills it when the server ends (leaving.h) */
	bool left_group_stop; /* it was to tell of one, and had a trap to take first,
			       * say: when it is resumed, it goes back */
	int syscall;	      /* the call that it is in, if its entry was seen;
			       * SYSCALL_NONE */
	bool call_cut_off;    /* ... which our interrupt cut off: it begins anew */
	struct last_regset *last_regset; /* NULL: none is kept */
	int injected_signal; /* sent by us, its delivery stop not yet seen; or 0 */
	uint64_t handle;     /* its pthread_t; 0: not known (threaddb.h) */

	/* Kept by stops/. */
	struct resume_action action; /* not RESUME_NONE: resumed */
	bool fresh;		     /* action given, run_resume not yet called */
	bool stop_requested;	     /* vCont;t, not yet answered */
	bool untold;		     /* non-stop: its stop is to be told again */
	bool passed_over;	     /* non-stop: ... when the client asks for it */
	bool debugreg_stale; /* late: its debug registers are not what they should be */
	bool lends_memory;   /* its vfork child runs there, without traps (fork.c) */
	bool hidden;	     /* made by a thread whose STOP_CLONE is not reported yet */
	unsigned int options; /* enum thread_option */
	bool end_told;	      /* a leader that has ended, and the client knows */
	int last_signal;      /* of the stop that was reported last */
	int owed_signal;      /* the client gave it, but another stop came before the
			       * thread ran; 0: none */
	struct event pending; /* a signal of the program's, seen but not yet
			       * reported; EVENT_NONE: nothing */
	struct pending_stop *pending_stop; /* a stop not yet reported; freed with
					    * the thread. If there is one: */
	TAILQ_ENTRY(thread) has_pending;   /* in inferiors->has_pending */
	struct last_hit *last_hit;	   /* at a watchpoint; freed with the thread */
	struct look *look;    /* ... that is decided after the access (look.h); the
			       * same */
	bool at_hit;	      /* it has stopped for a hit, or where it had */
	bool steps_program;   /* its step began at a trap that has a program */
	bool needs_step_over; /* at step_over_at it has hit in vain: step_over.h */
	uint64_t step_over_at;
	bool trap_in_vain; /* the trap there is among what it has hit */
	unsigned int hit_in_vain[HITS_IN_VAIN_MAX]; /* numbers of locations there that
						     * are no traps, so many: */
	unsigned int hits_in_vain;
};

TAILQ_HEAD(thread_list, thread);

struct inferior {
	TAILQ_ENTRY(inferior) link;
	pid_t pid;
	bool attached; /* attached to, rather than started by us */
	bool compat;   /* it runs a program of 32 bits (compat.h) */
	struct thread_list threads;
	const struct arch_ops *arch;
	struct breakpoints *breakpoints;   /* of stops/; NULL until it made them */
	struct pending_stop *pending_stop; /* its end, not yet reported */
	bool awaited; /* non-stop: the client has resumed a thread, and waits */
	struct syscalls syscalls; /* to tell of */
	bool seen;		  /* a client has been told of a stop of it */
	bool hidden;	      /* forked: the client has not been told of it yet; or: */
	bool unattended;      /* the client has left it, it runs on for its commands */
	bool has_perf_events; /* it has or had: hit_step.h */
	unsigned int ntasks; /* threads that are none for the kernel (thread_leads), and
			      * the like: of other groups than pid */
	bool leaderless;     /* its leader ends before others, and stops/ knows */
	unsigned int lenders; /* threads with lends_memory: only they run until their
			       * vfork children are done with it */
	struct inferior *vfork_parent; /* whose memory this vfork child is in; NULL once
					* it is not */
	pid_t vfork_maker;	       /* ... and the thread that waits for it */
	pid_t lender_group;	   /* takes the terminal back at the end; 0: not lent */
	int mem_fd;		   /* /proc/PID/task/TID/mem, or -1 */
	pid_t mem_tid;		   /* the TID */
	struct threaddb *threaddb; /* of threaddb.c; NULL until used */
	uint64_t warnings[4];	   /* hashes of what inferior_warn has said last */
	unsigned int nwarnings;
	struct inferiors *owner;
};

TAILQ_HEAD(inferior_list, inferior);

/** All inferiors of a server. */
struct inferiors {
	struct inferior_list list;
	struct table by_tid;	     /* all threads */
	struct thread_list expected; /* to stop, as they were interrupted; some have */
	struct thread_list has_pending; /* a stop, the oldest first */
	bool told_by_sigchld; /* SIGCHLD is blocked: nothing changes without */
	bool quiet;	      /* ... of which there was none a moment ago */
	bool changed;	      /* something has, since a wait found nothing */
	struct early_stop *early_stops; /* stops of children not known yet (wait.c) */
	struct leaving *leaving;	/* let go, but not stopped yet (leaving.h) */
	char *threaddb_path;		/* set by the user; NULL: the default */
	int client; /* the descriptor of the client that work is done for, or
		     * PATIENCE_NOBODY (base/patience.h) */
};

void inferiors_init(struct inferiors *inferiors);
/** Frees everything; neither kills nor detaches anything. */
void inferiors_deinit(struct inferiors *inferiors);

/** Is the memory of these two the same (vfork)? */
bool inferior_shares_memory(const struct inferior *a, const struct inferior *b);

/** Work begins on what the inferior tells of itself. @limit: as patience_begin. */
void inferior_patience(const struct inferior *inferior, struct patience *patience,
		       int limit);
/** Says on stderr what is wrong with the inferior, once: each of the last warnings is
 * not repeated. */
void inferior_warn(struct inferior *inferior, const char *text);

struct inferior *inferior_find(struct inferiors *inferiors, pid_t pid);
/** The thread with this tid in any inferior, or NULL. */
struct thread *thread_find(struct inferiors *inferiors, pid_t tid);
/** The thread with this tid in @inferior, or NULL. */
struct thread *inferior_thread(struct inferior *inferior, pid_t tid);
/** Adds a process with its leader as only thread (stopped). NULL: no memory. */
struct inferior *inferior_create(struct inferiors *inferiors, pid_t pid, bool attached);
/** Takes it off the list and frees it and its threads. */
void inferior_destroy(struct inferior *inferior);
/** Is it a process of its own for the kernel, rather than a thread of one? */
static inline bool thread_leads(const struct thread *thread)
{
	return thread->tid == thread->group;
}
/** Is it stopped, or late, which is as good (late.h)? It executes nothing then. */
static inline bool thread_is_held(const struct thread *thread)
{
	return !thread->running || thread->late;
}
/** Adds a thread (stopped) of the inferior's process. NULL: out of memory. */
struct thread *thread_create(struct inferior *inferior, pid_t tid);
void thread_destroy(struct thread *thread);
/** It is of that thread group. */
void thread_set_group(struct thread *thread, pid_t group);
/** Exec gives a thread its leader's tid. */
void thread_renumber(struct thread *thread, pid_t tid);

/* ---- launch.c ---- */

/** What a process inherits from its parent and may not notice being changed. */
struct signal_state {
	sigset_t blocked, ignored;
};

/** Our own as it is now. */
void signal_state_save(struct signal_state *state);

struct launch_options {
	const char *program;   /* a file of the current directory, a path, or a
				* name that is looked up in PATH; also argv[0] */
	char *const *argv;     /* NULL-terminated, argv[0] included */
	const char *arguments; /* instead of argv: as for a shell, which reads
				* them; NULL: argv counts */
	const char *shell;     /* starts the program: `-c "exec PROGRAM ..."`; the
				* words of argv are quoted for it. NULL: none */
	char *const *wrapper;  /* NULL-terminated: a command that executes what
				* is appended to it (env); or NULL */
	char *const *envp;     /* NULL: our own environment */
	const char *directory; /* working directory, or NULL */
	const struct signal_state *signals; /* NULL: nothing blocked or ignored */
	const struct rlimit *descriptors;   /* how many it may have; NULL: as we */
	bool disable_randomization;	    /* personality(ADDR_NO_RANDOMIZE) */
	bool stdin_is_null; /* stdio connection: stdin from /dev/null and
			     * stdout to our stderr */
};

/**
 * Starts a program, stopped at its first instruction (the dynamic linker's
 * entry), in a process group of its own that is made the terminal's foreground
 * group if there is a terminal. It dies with us (PTRACE_O_EXITKILL). Shell and
 * wrapper run untouched; each is to call exec once. If they take their time, the start
 * is given up when the client goes or the server is to end (base/patience.h).
 * An error of ours has an errno ("Cannot exec PROG: No such file ..."). That shell,
 * wrapper or program ended before its time has none: "During startup program exited
 * with code 127."; shells tell the reason on stderr.
 */
struct error *inferior_launch(struct inferiors *inferiors,
			      const struct launch_options *options,
			      struct inferior **ret);

/* ---- attach.c ---- */

/**
 * Attaches to all threads of a process, including those that appear while
 * attaching, and stops them; all but a leader that has ended before the others, which
 * is not in the list then. The error says why not and what to do (no such process, not
 * permitted: ptrace_scope or another tracer, a zombie, ourselves).
 */
struct error *inferior_attach(struct inferiors *inferiors, pid_t pid,
			      struct inferior **ret);
/**
 * Detaches from all threads (all must be held) and destroys @inferior. From late ones
 * the server or the kernel detaches when they stop (leaving.h). @signal is delivered to
 * the thread @signal_tid (0: none). Pending signals of the other threads are delivered
 * too. The process runs on.
 */
void inferior_detach(struct inferior *inferior, pid_t signal_tid, int signal);
/** SIGKILL, waits for its end, but not for what sleeps where it cannot end, destroys
 * @inferior. */
void inferior_kill(struct inferior *inferior);

/* ---- wait.c ---- */

/**
 * The next event of any traced thread. @block: wait for one; false: return
 * EVENT_NONE if there is none. Handles by itself: threads that start (added to
 * the list), group-stop bookkeeping, a leader that exits before other threads.
 * A blocking call returns EVENT_NONE only if no traced thread is left to wait for.
 * After EVENT_EXITED or EVENT_KILLED the inferior is still in the list; the
 * caller destroys it.
 */
void inferiors_wait(struct inferiors *inferiors, bool block, struct event *event);
/**
 * A wait asks about all traced threads, which takes long if they are many. Whoever has
 * SIGCHLD blocked spares the waits that would find nothing (told_by_sigchld); and
 * whoever takes a SIGCHLD from the queue has to tell by this.
 */
void inferiors_changed(struct inferiors *inferiors);

/**
 * Has a stopped thread stop once more when it ends, its memory still there
 * (PTRACE_O_TRACEEXIT). Of a leader whom others outlive EVENT_LEADER_ENDS tells; all
 * others are passed over. -ESRCH: it is ending.
 */
int thread_tell_end(struct thread *thread);

/**
 * Is this thread a zombie leader: ended while other threads live on? It will
 * not report again until the process ends, so nobody may wait for it.
 */
bool thread_is_zombie(const struct thread *thread);
/**
 * Has this leader ended by itself, and do other threads of its process live on? When
 * the whole process ends, or one of its threads calls exec, the leader can be a zombie
 * before the kernel has told of the ends of the others; that is no end of its own.
 */
bool thread_is_outlived(const struct thread *leader);

/* ---- resume.c ---- */

/**
 * 0 or a negative errno; -ESRCH: it is gone or being killed (it counts as running,
 * and its end will be reported by a wait). The thread must be stopped. @signal may
 * be given at any kind of stop; its delivery is not reported again.
 */
int thread_continue(struct thread *thread, int signal);
/** The same, and a hit of a perf event that the kernel is taking it past comes again
 * (hit_step.h). */
int thread_continue_anew(struct thread *thread, int signal);
/**
 * One instruction: its end is a SIGTRAP. From within a system call, or if the process's
 * calls are to be told, EVENT_SYSCALL may come first: a return with thread->stepping is
 * the end of the step; after other ones the thread is to be stepped again.
 */
int thread_step(struct thread *thread, int signal);
/** As it was last resumed, and as thread_continue. */
int thread_resume_again(struct thread *thread, int signal);
/** Leaves it in its group stop but lets SIGCONT wake it (PTRACE_LISTEN). */
int thread_listen(struct thread *thread);
/** Asks a running thread to stop. Its next event, of whatever kind, is the answer:
 * what the thread has already run into (a trap, a signal it caused) comes first. */
int thread_interrupt(struct thread *thread);
/** Sends it a signal; its delivery is no event. For the client's signals that come
 * at a stop where none can be injected. */
void thread_send_signal(struct thread *thread, int signal);
int thread_get_siginfo(const struct thread *thread, siginfo_t *info);
int thread_set_siginfo(const struct thread *thread, const siginfo_t *info);

/* ---- memory.c ---- */

/**
 * Reads the inferior's memory as it is (planted traps included; see
 * breakpoints_read_memory). Returns the number of bytes read, which is short
 * if the rest is unreadable, or a negative errno if nothing could be read.
 * Works while threads run, and on pages without read permission.
 */
ssize_t inferior_read(struct inferior *inferior, uint64_t addr, void *data, size_t len);
/** Writes everything or fails: 0 or a negative errno. Read-only pages too. */
int inferior_write(struct inferior *inferior, uint64_t addr, const void *data,
		   size_t len);

/* ---- registers.c ---- */

/** Makes @regs empty. */
void regs_init(struct regs *regs, const struct arch_ops *arch);
/** Fetches one regset of a stopped thread: 0, -ESRCH, -ENODATA (not there, or another
 * one, as the thread executes code of 32 bits). Of a
 * thread that has been killed, the one with the PC is what was fetched last. */
int regs_fetch(const struct thread *thread, struct regs *regs, unsigned int regset);
/** Fetches all regsets there are. 0 or -ESRCH. */
int regs_fetch_all(const struct thread *thread, struct regs *regs);
/** Writes one fetched and changed regset back. */
int regs_store(const struct thread *thread, const struct regs *regs,
	       unsigned int regset);
/** Shorthands over the regset that holds the PC. 0 or a negative errno. */
int thread_get_pc(const struct thread *thread, uint64_t *pc);
int thread_set_pc(const struct thread *thread, uint64_t pc);
/** Has a thread that hardware stopped at a breakpoint hit it again when it is resumed
 * there, as it would one in the text (x86: without RF). Negative errno on failure. */
int thread_hit_again(const struct thread *thread);
/** The reverse: it passes one in hardware where it is (x86: with RF). */
int thread_hit_no_more(const struct thread *thread);
/** The thread pointer, and the thread area @index (arch_ops.thread_area), of a
 * stopped thread. 0 or a negative errno. */
int thread_get_pointer(const struct thread *thread, uint64_t *pointer);
int thread_get_area(const struct thread *thread, int index, uint64_t *addr);

/* ---- proc.c ---- */

/** The thread's name from /proc ("" if it is gone); NUL-terminated. */
void thread_name(const struct thread *thread, char *name, size_t size);
/** The CPU it last ran on, or -1. */
int thread_core(const struct thread *thread);
/** Both, at the price of one. Returns the CPU. */
int thread_core_and_name(const struct thread *thread, char *name, size_t size);
/** The absolute path of the program's file (readlink /proc/PID/exe), or /proc/PID/exe
 * itself where only that can be read: the file was deleted or replaced. The caller
 * frees it; NULL: the process is gone. */
char *inferior_exe(const struct inferior *inferior);
/** A whole file of /proc/PID (auxv, maps: the same for all threads): 0 or a negative
 * errno. */
int inferior_proc_file(const struct inferior *inferior, const char *name,
		       struct buffer *out);

#endif
