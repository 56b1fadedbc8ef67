/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What depends on the processor, behind one ops table. Everything outside
 * arch/ uses this header only; an #ifdef on the processor elsewhere is a defect.
 *
 * Porting checklist, in the order in which features come to life:
 *   1. regsets and the register table        g/G/p/P, target description
 *   2. breakpoint instruction                Z0
 *   3. hw_plan, debugreg_set, debugreg_hits  Z1..Z4 through ptrace
 *   4. BPF context offsets in the table      conditions in the kernel
 *   5. thread pointer                        thread-local storage
 */
#ifndef TRUEHIT_ARCH_ARCH_H
#define TRUEHIT_ARCH_ARCH_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/error.h"

enum {
	REGSETS_MAX = 9,
	REGSET_MAX_SIZE = 16384, /* x86 xstate with AMX tiles is 11008 */
	REG_MAX_SIZE = 4096,	 /* the matrix of SME, of vectors of 64 bytes */
	REG_NOT_IN_BPF_CONTEXT = -1,
	HW_SLOTS_MAX = 32,
	BPF_CONTEXT_WORDS_MAX = 34, /* struct user_pt_regs of aarch64 */
	SYSCALL_ARGUMENTS = 6,
};

/** One regset as PTRACE_GETREGSET knows it. */
struct regset_def {
	const char *name;
	unsigned int nt_type; /* NT_PRSTATUS, NT_X86_XSTATE, ...; 0: not here */
	bool read_only;	      /* writing does nothing */
	bool optional;	      /* there are threads that do not have it */
	/* Of this type instead, if what comes of the first says that it has none of the
	 * state now (aarch64: in streaming mode). 0: there is no other. */
	unsigned int other_type;
	bool (*is_empty)(const unsigned char *data, size_t size);
};

/**
 * How the kernel context's value of a register becomes the one that ptrace shows at
 * the stop. All zero: it is that.
 */
struct bpf_rule {
	uint8_t bits;	 /* only so many are the register's; 0: all that it has */
	uint32_t set;	 /* ptrace shows these, too, at execute breakpoints */
	uint32_t unsure; /* if one of these is set, the value is not known */
};

/** How a program tells whether a hit came in user mode, where the context has the
 * thread's own registers: (word & mask) == user. */
struct bpf_user_mode {
	int16_t offset; /* of a word of 8 bytes in struct bpf_perf_event_data */
	uint32_t mask, user;
};

/** One register: a row of the architecture's table; its index is gdb's number. */
struct reg_def {
	const char *name;
	const char *feature; /* the feature of the target description it is in */
	const char *type;    /* type in the target description */
	const char *group;   /* "general", "float", "vector", "system" or NULL */
	uint32_t bits;
	uint8_t regset;	    /* index into arch_ops.regsets */
	uint16_t offset;    /* in the regset, in bytes */
	int16_t bpf_offset; /* in struct bpf_perf_event_data, 8 bytes wide and, by
			     * bpf_rule, equal to what ptrace shows at a stop; or
			     * REG_NOT_IN_BPF_CONTEXT */
	uint8_t access;	    /* the architecture's own: how to read and write it */
	uint8_t also;	    /* another regset that tells of it; 0: none */
	struct bpf_rule bpf_rule;
};

/** A register that lldb knows by another name. */
struct reg_name {
	const char *name, *lldb;
};

/** The regsets of one stopped thread, as fetched so far (gdbstub/inferior/registers.h).
 */
struct regs {
	const struct arch_ops *arch;
	size_t size[REGSETS_MAX];   /* bytes in data; 0: not fetched or not there */
	bool by_other[REGSETS_MAX]; /* it came by its other type */
	unsigned char data[REGSETS_MAX][REGSET_MAX_SIZE];
};

/**
 * How the kernel shows a thread that executes instructions of 32 bits, which this
 * processor may have beside its own: another regset of general registers. What else
 * is here is not about such a thread.
 */
struct compat_mode {
	size_t regset_size;	/* bytes of NT_PRSTATUS */
	unsigned int pc_offset; /* in it, of the PC: 4 bytes */
	unsigned int pc_number; /* gdb's for the PC of such a program */
	const char *triple;	/* as struct arch_ops has it */
};

/** Kinds of hardware-assisted stops. */
enum hw_kind { HW_EXECUTE, HW_WRITE, HW_READ, HW_ACCESS };

/** What one hardware slot is asked to do. */
struct hw_region {
	enum hw_kind kind;
	uint64_t addr;
	unsigned int len; /* bytes */
};

enum { INSN_TEXT_MAX = 192, INSN_LEN_MAX = 15, INSN_ACCESSES_MAX = 8 };
enum { UNDO_BYTES_MAX = 32, INSN_WRITTEN_MAX = 64 };
#define REG_NONE UINT_MAX /* no row of the register table */

/** Which registers an instruction writes, by capstone's numbers. */
struct insn_written {
	bool known;
	uint8_t count;
	uint16_t reg[INSN_WRITTEN_MAX];
};

/** One access to memory that an instruction has made. */
struct insn_access {
	bool known; /* .addr is */
	bool reads, writes;
	uint64_t addr;
	unsigned int size;	    /* bytes; 0: not known */
	unsigned int before, after; /* so many more, which it may have accessed */
};

/** What an instruction has done, told by the registers as they are after it. */
struct insn_accesses {
	bool repeats; /* it may not have ended yet: the PC is still at it then */
	bool calls;   /* it leads elsewhere, and leaves the address after it on the
		       * stack */
	bool target_known;
	uint64_t target;
	struct insn_access access[INSN_ACCESSES_MAX];
	unsigned int count;
};

/**
 * What an instruction writes to memory. The address is base + index * scale +
 * displacement, of the registers as they are before the instruction (the PC is its own
 * address then).
 */
struct insn_store {
	unsigned int len; /* bytes, at most UNDO_BYTES_MAX; 0: it writes nothing */
	bool below_stack; /* what the stack pointer excludes: dead memory, which
			   * nobody else looks at (push, call) */
	unsigned int base, index; /* rows of the register table, or REG_NONE */
	uint8_t scale;		  /* 1, 2, 4, 8 */
	int64_t displacement;
};

/**
 * Can an instruction be undone by putting back the general registers (the regset with
 * the PC) and the bytes that it has stored?
 */
struct insn_undo {
	const char *why_not; /* for people: "it ..."; NULL: it can */
	const char *unfit;   /* why it can have no uprobe at all, or NULL */
	unsigned int len;    /* of the instruction, in bytes */
	struct insn_store store;
	bool rewrites; /* ... by what was there before: twice is not the same as once */
	bool by_frame_pointer; /* ... if this register points into the frame there */
	bool jumps; /* call, ret, jumps: it may lead elsewhere than to the next;
		     * of other registers, it changes one at most */
	bool transfers_stack; /* call, ret: shadow stacks know of them, too */
	bool emulated; /* at a uprobe every kernel does it itself: PROBE_EMULATED */
};

/** A word that may be in a line of /proc/TID/status. */
struct status_word {
	const char *line, *word; /* "Name" and what may follow it */
};

/** Bits of addresses that a process may have the processor ignore. */
struct address_tags {
	const char *line; /* of /proc/PID/status, "Name": a mask of those that count */
	unsigned int lowest_bit; /* that may be ignored */
};

/** How the kernel does an instruction that has a uprobe: by itself, or by having the
 * processor step over a copy. */
enum probe_kind { PROBE_EMULATED, PROBE_STEPPED };

/** A function of ours that can be probed at its first instruction. */
struct probe_place {
	void (*function)(void);
	unsigned int len; /* of that instruction, bytes */
};

/** The single step by which the kernel takes a thread past a hit of a perf event, and
 * what a step elsewhere is made of (gdbstub/tracing/hit_step.h). */
struct hit_step {
	unsigned int flags_reg; /* these are rows of the register table, of one regset
				 * with the PC */
	uint64_t flag;		/* set in flags_reg: it is stepped */
	const uint8_t *insn;	/* goes to where link_reg says, and changes no other
				 * register than the PC and flags_reg */
	unsigned int insn_len;
	unsigned int link_reg;
};

/** What of an instruction processors count as a branch: jumps, calls and returns. */
enum branch_kind { BRANCH_NONE, BRANCH_ALWAYS, BRANCH_CONDITIONAL };

struct insn_branch {
	enum branch_kind kind;
	unsigned int len; /* of the instruction, bytes; if it is conditional */
};

/** Instructions of 4 bytes: (word & mask) == value. */
struct insn_pattern {
	uint32_t mask, value;
};

/** A number in such an instruction: @len bits from bit @at on; len 0: there is none. */
struct insn_field {
	uint8_t at, len;
};

/**
 * Instructions of 4 bytes that store one or two general registers, the second after
 * the first, at base + immediate + (index << shift), of the registers as they are
 * before it.
 */
struct store_form {
	struct insn_pattern insn;
	struct insn_field size; /* log2 of the bytes of each register; none: */
	uint8_t log2_size;
	struct insn_field data, second, base;
	struct insn_field immediate; /* none: 0 */
	bool immediate_signed;
	bool immediate_scaled; /* it counts what a register's bytes are */
	struct insn_field index;
	uint8_t index_bits;	 /* only so many of it count */
	bool index_signed;	 /* ... as a signed number */
	struct insn_field shift; /* how often the index is scaled as above */
	bool writes_back;	 /* changes the base: unpredictable if it stores that */
	bool loads;		 /* changes another general register */
};

/** The forms whose value a filter can know ahead of the access. Their numbers of
 * registers are rows of the register table, 8 bytes each. */
struct store_forms {
	const struct store_form *form;
	unsigned int count;
	unsigned int registers;	   /* so many rows */
	unsigned int zero;	   /* where it is no base, this number is 0 */
	unsigned int address_bits; /* the bits above these say nothing of where */
};

/** Tags of memory: one byte for each granule, of which some bits may count. */
struct memory_tags {
	unsigned int granule; /* bytes, a power of 2 */
	int type;	      /* as qMemTags numbers it */
	/* Of a stopped thread's memory, from the granule at @addr on. How many were
	 * copied, at most @count, or a negative errno: EOPNOTSUPP: that memory has
	 * none. */
	ssize_t (*read)(pid_t tid, uint64_t addr, uint8_t *tags, size_t count);
	ssize_t (*write)(pid_t tid, uint64_t addr, uint8_t *tags, size_t count);
};

struct counter_ops;   /* arch/pmu.h */
struct cs_insn;	      /* capstone/capstone.h */
struct displaced_ops; /* arch/displaced.h */

struct arch_ops {
	const char *name;   /* "x86_64" */
	const char *triple; /* as compilers name the machine: "x86_64-pc-linux-gnu" */
	uint32_t audit;	    /* AUDIT_ARCH_* of its system calls, for seccomp(2) */
	const struct regset_def *regsets;
	unsigned int nregsets;

	unsigned int pc_reg, sp_reg; /* rows of the register table */
	/* The PC in struct user, where the kernel writes it alone (PTRACE_POKEUSER),
	 * which takes a third of the time of a register set. 0: it does not. */
	unsigned int pc_in_user;
	const struct compat_mode *compat;
	unsigned int basic_regs;   /* the first rows: what a client knows without
				    * a target description */
	const uint16_t *expedited; /* rows sent with each stop reply */
	unsigned int nexpedited;

	const struct bpf_user_mode *bpf_user_mode;
	/** ... where it has the flags register, as the processor has it. */
	unsigned int bpf_flags_offset;
	unsigned int bpf_context_words; /* registers in the BPF context: its first so
					 * many 8 bytes */

	const uint8_t *breakpoint_insn;
	unsigned int breakpoint_len;
	unsigned int breakpoint_pc_advance; /* PC after the trap minus its address */
	int breakpoint_si_code;		    /* of its SIGTRAP */
	/**
	 * As long as the breakpoint instruction, it faults where it is, with this
	 * signal and si_code, and the kernel does not take it for a trap of its
	 * uprobes, as it does with the other. NULL: it takes none of ours for its own.
	 */
	const uint8_t *distinct_trap;
	int distinct_signal, distinct_si_code;

	/**
	 * What begins a sequence that a step in it makes begin anew, for ever. gdb
	 * steps over such as a whole, by breakpoints. No mask: there is none.
	 */
	struct insn_pattern sequence;

	const uint8_t *syscall_insn;
	unsigned int syscall_len;
	/** The SIGTRAP of a step over one is SI_USER, of process 0
	 * (user_single_step_report(), include/linux/ptrace.h). */
	bool syscall_step_is_user;
	const uint16_t *syscall_arguments; /* SYSCALL_ARGUMENTS rows */
	/* Rows: of the call's number, of what it returns, and of what is -1 when no
	 * call that was cut off is to begin anew; REG_NONE: there is none. */
	unsigned int syscall_number_reg, syscall_result_reg, syscall_restart_reg;

	/** One for each probe_kind, to try uprobes at; NULL: they are not used here. */
	const struct probe_place *probe_places;
	/** An address at which nothing can ever be executed: who is sent there gets a
	 * SIGSEGV at once, with this si_addr and PC. 0: none is known. */
	uint64_t nowhere;

	/**
	 * Fills in the table for the processor that truehit runs on (features
	 * such as AVX-512, offsets in the extended state). Called once at start.
	 */
	struct error *(*init)(void);
	/** The register table: *count rows. Valid after init. */
	const struct reg_def *(*registers)(unsigned int *count);
	/** Appends the target description (target.xml), made from the table. */
	void (*target_xml)(struct buffer *out);
	const struct reg_name *lldb_names; /* the last has a NULL name */

	/**
	 * Copies a register's value, in target byte order, (bits + 7) / 8 bytes.
	 * -ENODATA: its regset is not in @regs (gdb is shown "x", unavailable).
	 */
	int (*reg_read)(const struct regs *regs, const struct reg_def *reg,
			void *value);
	/** Changes @regs; the caller writes the regset back. */
	int (*reg_write)(struct regs *regs, const struct reg_def *reg,
			 const void *value);

	/**
	 * Thread-local storage (ELF Handling For Thread-Local Storage, chapter 3):
	 * the register that it hangs on, and whether static blocks lie above what it
	 * points to (variant I) or below (II).
	 */
	const char *thread_pointer;
	bool tls_above_pointer;
	/**
	 * The thread area as libthread_db numbers them (ps_get_thread_area of
	 * <proc_service.h>). -EINVAL: no such area; else as reg_read_u64.
	 */
	int (*thread_area)(const struct regs *regs, int index, uint64_t *addr);

	/** What memory has by way of tags; NULL, or a function that returns NULL: the
	 * processor has none. */
	const struct memory_tags *(*memory_tags)(void);

	/** Number of hardware slots for @kind; *shared: one pool for all kinds. */
	unsigned int (*hw_slots)(enum hw_kind kind, bool *shared);
	/**
	 * Of an instruction that capstone has decoded with details: which accesses it
	 * has made. NULL: nobody knows.
	 */
	void (*accesses)(const struct cs_insn *insn, const struct insn_written *written,
			 const struct regs *regs, struct insn_accesses *ret);
	/**
	 * Of an instruction that capstone has decoded with details: can it be undone?
	 * It stores nothing, or below the stack pointer, or in its thread's frame or a
	 * variable of its file, which nobody else uses while there is one thread.
	 * NULL: no instruction can be undone.
	 */
	void (*undo)(const struct cs_insn *insn, struct insn_undo *ret);
	/** How instructions are executed elsewhere; NULL: it is not known. */
	const struct displaced_ops *displaced;
	/** How conditions are decided by code in the program; NULL: they are not. */
	const struct native_ops *native;
	int frame_pointer_dwarf; /* its number in call frame information */
	const struct status_word *shadow_stack; /* where a thread has one; or NULL */
	/** NULL: no process has a say in it. */
	const struct address_tags *address_tags;
	int capstone_arch, capstone_mode; /* cs_arch, cs_mode */
	/**
	 * Splits a region into what single slots can do. Returns the number of
	 * regions written to @out (at most @max), -EOPNOTSUPP if the processor
	 * lacks the kind, -EINVAL for an impossible length, -ENOSPC if @max is
	 * too small.
	 */
	int (*hw_plan)(const struct hw_region *region, struct hw_region *out,
		       unsigned int max);
	/** perf_event_attr.bp_len and bp_type for a region made by hw_plan. */
	void (*hw_perf_attr)(const struct hw_region *region, uint32_t *bp_type,
			     uint64_t *bp_len);
	/**
	 * Writes the debug registers of a stopped thread over ptrace: exactly
	 * these regions, everything else off. 0 or a negative errno (ENOSPC:
	 * others use them). The kernel keeps the slots reserved for the life of
	 * the thread: perf events get only what was never used this way.
	 */
	int (*debugreg_set)(pid_t tid, const struct hw_region *regions,
			    unsigned int count);
	/**
	 * Every hit over ptrace stops before the instruction, and again after a
	 * resume: the location must be suspended for one single step. The end of
	 * a step is never a hit then.
	 */
	bool debugreg_hits_repeat;
	/**
	 * A SIGTRAP that nothing explains, of a thread that was not stepped
	 * (gdbstub/hits/unexplained.h): may the program have made it? Not, if it can
	 * only be a debug exception that says wrongly what it is about. @last is the
	 * last byte of the instruction before the PC. NULL: there are none of these.
	 */
	bool (*trap_is_own)(int si_code, uint8_t last, const struct regs *regs);
	/**
	 * Watchpoints stop before the access, so that the value filter has to know what
	 * is about to be stored. NULL: they stop after it.
	 */
	const struct store_forms *stores;
	/** Is the instruction that these bytes begin with a branch? */
	struct insn_branch (*branch)(const uint8_t *code, size_t len);
	/** What it counts. */
	const struct counter_ops *counters;
	/** NULL: the kernel needs no step past a hit of a perf event. */
	const struct hit_step *hit_step;
	/**
	 * The number of the system call that a thread is in or has just returned
	 * from; -1 if it is in none. 0 or a negative errno.
	 */
	int (*syscall_number)(pid_t tid, int *number);
	/**
	 * Which of the regions given to debugreg_set (the same again) fired at
	 * this stop, as a bit mask; clears the record. @siginfo_addr is si_addr
	 * of the SIGTRAP.
	 */
	int (*debugreg_hits)(pid_t tid, uint64_t siginfo_addr,
			     const struct hw_region *regions, unsigned int count,
			     uint32_t *mask);
};

/** The processor this binary was built for. Never fails. */
const struct arch_ops *arch_native(void);

/* Helpers over the table, the same for every architecture (arch/register_table.c). */

/** Size of a register's value in bytes. */
static inline size_t reg_size(const struct reg_def *reg)
{
	return (reg->bits + 7U) / 8;
}
/**
 * A register's value zero-extended to 64 bits, as the agent expression's `reg`
 * gives it. -ENODATA as reg_read; -ERANGE if it is wider than 64 bits.
 */
int reg_read_u64(const struct regs *regs, unsigned int number, uint64_t *value);

#endif
