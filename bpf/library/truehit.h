/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libtruehit: breakpoints and watchpoints whose false hits end in the kernel.
 *
 * A filter is a place, a match, and what a true hit does. One in another process stops
 * the thread for its tracer; one in the own process raises a SIGTRAP right there, with
 * no tracer at all. Threads that are made later have it from their first instruction.
 *
 * Calls return 0 or a negative errno; truehit_why() has the text. [S] may be called in
 * a signal handler: no lock, no allocation, system calls only. [0] makes no system call
 * either. A context and its filters may be used by several threads, one at a time; [S]
 * and [0] of different filters at any time.
 *
 * The library makes no threads, handles no signals, and keeps nothing outside of its
 * contexts. Its descriptors are closed at exec. After fork(2) the child has none of it
 * to use.
 *
 * Needed are Linux 5.13, CAP_BPF and CAP_PERFMON (or root), and a processor with
 * breakpoint registers: each filter takes one of them in each thread, from
 * truehit_open() to truehit_close().
 */
#ifndef TRUEHIT_H
#define TRUEHIT_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct truehit;
struct truehit_filter;

/** What is a hit. READ is not had on x86_64: ACCESS is both. */
enum truehit_kind { TRUEHIT_EXECUTE, TRUEHIT_WRITE, TRUEHIT_READ, TRUEHIT_ACCESS };

/** What a true hit does. */
enum truehit_deed {
	/** SIGTRAP. In another process the thread stops for its tracer; if it blocks
	 * SIGTRAP, it is stopped by a SIGSTOP at once. In the own process one that is
	 * blocked comes when it is not any more (truehit_hit.late); and on aarch64 the
	 * instruction hits again when the handler returns to it, so arm it for one hit.
	 */
	TRUEHIT_STOP,
	TRUEHIT_RECORD, /**< Leaves a record for truehit_poll(), and goes on. */
	TRUEHIT_COUNT,	/**< Is counted, and goes on. */
};

enum truehit_flag {
	TRUEHIT_ONE_THREAD = 1, /**< @pid is a thread, and none inherits from it. */
	/** Hits of data read what is watched: struct truehit_hit,
	 * truehit_match.changes. That is the cost of a read and an exchange at each
	 * hit, armed or not. */
	TRUEHIT_VALUES = 2,
	/** counter_fd of the options is a counter. Needs TRUEHIT_ONE_THREAD. */
	TRUEHIT_COUNTER = 4,
};

enum { TRUEHIT_REGISTERS = 34 };
#define TRUEHIT_FOREVER INT64_MAX

/** How a filter is made. Callers set @size to that of the struct as they know it; what
 * they do not know of is zero. */
struct truehit_options {
	size_t size;
	enum truehit_deed deed;
	unsigned int flags; /**< of enum truehit_flag */
	/** A GDB agent expression ("Debugging with GDB", appendix F) that has to be
	 * true, copied; NULL: there is none. */
	const void *condition;
	size_t condition_len;
	void *data; /**< the caller's, in struct truehit_hit */
	/**
	 * With TRUEHIT_COUNTER: a perf event of the filter's very thread
	 * (perf_event_open(2): its tid, any CPU, not inherited, and not sampling, which
	 * the kernel may throttle), which programs read.
	 * It stays the caller's, to be read, set to zero, stopped or closed: the filter
	 * holds the event, not the descriptor. Whatever it counts can be matched: in
	 * user mode alone (exclude_kernel) it is a place in what the thread executes.
	 */
	int counter_fd;
};

/** What else must hold at a hit. Zeros match all. */
struct truehit_match {
	size_t size;
	uint64_t registers; /**< bit n: gdb's register n, of the general ones and the
			     * PC, has to be value[n] */
	uint64_t value[TRUEHIT_REGISTERS];
	uint64_t flags_mask, flags; /**< of eflags, or of pstate: these bits, as they
				     * are; arithmetic ones only */
	pid_t only_tid, not_tid;    /**< 0: any, none */
	/** Not 0: only hits after which the bytes that are watched are others than
	 * after the hit before, whosever that was and whether or not it matched. What
	 * cannot be compared is a maybe; of instructions it means nothing. Needs
	 * TRUEHIT_VALUES, and a processor whose hits come after the access: not
	 * aarch64. */
	int changes;
	/**
	 * With @counts not 0: only hits at which the counter (TRUEHIT_COUNTER) is
	 * exactly this, as read(2) would find it. A counter that is stopped has the
	 * value at which it was. What is not known is a maybe: another thread's, one
	 * that is pinned and not running, and one that did not count all the time since
	 * it was made, as it had to share the processor's counters with others.
	 */
	uint64_t counter;
	int counts;
};

struct truehit_hit {
	struct truehit_filter *filter;
	void *data;
	uint64_t addr; /**< of the access; of an instruction, where it is */
	uint64_t pc;   /**< of a record: of an access, the instruction after it (on
			* aarch64, the instruction); else 0 */
	pid_t tid;
	int stale; /**< the filter was aimed elsewhere when it came */
	int late;  /**< the thread has run on since */
	/** The kernel may not have decided the condition or the match: evaluate it. Of
	 * a SIGTRAP it is 0 only if it has decided all hits of the filter until then.
	 */
	int maybe;
	/* Of records of data, with TRUEHIT_VALUES; what is not known is 0. */
	int has_value, has_before;
	/**
	 * The bytes that are watched, as a number of that length without a sign: after
	 * the access, read by the thread itself when it hits. Another thread may have
	 * written since the access: then this is what that one has written, and its own
	 * hit finds the same. On aarch64 the hit comes before the access: it is not
	 * known. */
	uint64_t value;
	/**
	 * What the filter has found there last, before this hit: at the hit before, of
	 * any thread, armed or not and whether or not it matched; or, at the first one,
	 * when it was aimed. So no value that hits have found is left out between two
	 * hits, and what is written without hits (by system calls, other processes, or
	 * other addresses of the same memory) shows at the next hit as if it had made
	 * it. On aarch64: what the thread reads just before the access; others may
	 * write until that. Unknown are the values of a hit that comes while the filter
	 * is being aimed, or while many others do, and then what was before the next
	 * one; and of memory that the thread cannot read without a page fault.
	 */
	uint64_t before;
	/** Of records, with TRUEHIT_COUNTER: what the counter was, if that is known. */
	int has_counter;
	uint64_t counter;
};

/** Since the filter was opened. */
struct truehit_counts {
	size_t size;
	uint64_t hits;	  /**< while it was armed */
	uint64_t skipped; /**< of them: which did not match */
	uint64_t told;	  /**< ... which did what they do */
	uint64_t maybes;  /**< ... of these, which the kernel could not decide */
	uint64_t ignored; /**< ... true ones, beyond those that it was armed for */
	uint64_t lost;	  /**< records for which there was no room, among the maybes */
};

/**
 * Finds out whether this kernel and this user can have filters: ENOTSUP, EPERM, EACCES
 * or what the kernel says; ENODEV: the machine lets breakpoint registers be set, but
 * they do not fire. *ret is a context even then, for truehit_why(), and is to be
 * destroyed; NULL: ENOMEM.
 */
int truehit_create(struct truehit **ret);
/** With all its filters. NULL is legal. */
void truehit_destroy(struct truehit *truehit);
/** What was wrong with the last call that has failed, in a line; "" if none has. The
 * context's, until the next one fails. */
const char *truehit_why(const struct truehit *truehit);

/**
 * Opens a filter, not armed and aimed nowhere, in all threads of a process (0: this
 * one) and those that they make. Threads that are just made by others may have it twice
 * or not at all: stop them, or have few. It does not follow into forked processes, and
 * ends at exec. ENOSPC: a thread has no breakpoint register left; ESRCH: there is no
 * such process; EINVAL: the condition is none, or the counter not of one thread alone;
 * EBADF: the counter is no perf event; see truehit_why().
 */
int truehit_open(struct truehit *truehit, pid_t pid,
		 const struct truehit_options *options, struct truehit_filter **ret);
/** NULL is legal. */
void truehit_close(struct truehit_filter *filter);

/**
 * [S] Aims it, also if it was aimed elsewhere: hits that came there and are told later
 * are stale. @len: of the bytes that are watched, 1, 2, 4 or 8, aligned; of an
 * instruction it means nothing. With TRUEHIT_VALUES, what is there is read, once it is
 * aimed, in /proc/PID/mem; if truehit_open() may not open that, it is not known what
 * was before the first hit. EINVAL: not so; EOPNOTSUPP: not of this processor's kinds.
 */
int truehit_aim(struct truehit_filter *filter, enum truehit_kind kind, uint64_t addr,
		size_t len);
/** [0] What has to match from now on. Meanwhile, hits are none. EINVAL: a register that
 * programs in the kernel do not have, changes without TRUEHIT_VALUES, or a counter
 * without TRUEHIT_COUNTER; EOPNOTSUPP: changes, on this processor. */
int truehit_set(struct truehit_filter *filter, const struct truehit_match *match);
/** [0] For so many true hits, of all threads together: 1 is the first thread alone;
 * what the kernel cannot decide is told beside them. 0: it is not armed; hits cost as
 * little as a false one, and are not counted. */
void truehit_arm(struct truehit_filter *filter, int64_t hits);
/**
 * What the general registers and the PC of a stopped tracee are, as a match: all of
 * them, and no flags. @ret's size is to be set. ESRCH: it is not stopped, or not traced
 * by this thread.
 */
int truehit_save(struct truehit *truehit, pid_t tid, struct truehit_match *ret);
/** [0] gdb's number of a register that can match ("rdi", "x0", "pc"); ENOENT: there is
 * none on this processor. */
int truehit_register(const struct truehit *truehit, const char *name);
/** [0] *ret: with its size set. */
void truehit_read(const struct truehit_filter *filter, struct truehit_counts *ret);

/**
 * Whose is this signal, which the thread @tid has got: in its handler, or at its
 * signal-delivery-stop (PTRACE_GETSIGINFO)? 1: it is a hit, and *ret tells of it; it is
 * not to be passed on to the program. 0: it is somebody else's. 2: it is nothing: the
 * handler returns, or truehit_resume() is called again as before. [S] of a SIGTRAP.
 *
 * 2 is of truehit_resume(), or an exception whose reason the processor tells wrongly,
 * as happens in virtual machines: of an instruction, the hit is still to come; of data,
 * it is told, of one filter, as a maybe (deed TRUEHIT_STOP), or missing in the counts.
 * After PTRACE_SINGLESTEP it is the end of the step.
 */
int truehit_whose(struct truehit *truehit, pid_t tid, const siginfo_t *info,
		  struct truehit_hit *ret);
/**
 * Resumes a tracee that is stopped, at a hit or anywhere else, while it has filters: as
 * ptrace(@request, @tid, 0, @signal) of PTRACE_CONT or PTRACE_SINGLESTEP. On aarch64
 * ptrace(2) itself would have a step from a hit run on, or lose the filters; there,
 * truehit_whose() is to be asked of each SIGTRAP that follows; a step from where an
 * armed filter has been hit hits it again; and filters are not for instructions that
 * enter the kernel. 0; 1: it had to step first, and has stopped or ended for something
 * else, *status as of waitpid(2): that is to be seen to, and @signal to be given with
 * the next resume. EINVAL: another request; ESRCH: it is not stopped, or is being
 * killed.
 */
int truehit_resume(struct truehit *truehit, pid_t tid, int request, int signal,
		   int *status);
/**
 * Hands over the records that are there, waiting for one @timeout milliseconds (-1:
 * without end, 0: not at all), in the order of each thread's hits. Returns how many.
 */
int truehit_poll(struct truehit *truehit, int timeout,
		 void (*fn)(void *data, const struct truehit_hit *hit), void *data);
/** Readable by poll(2) while there are records. */
int truehit_fd(const struct truehit *truehit);

#ifdef __cplusplus
}
#endif
#endif
