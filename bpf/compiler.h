/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the compiler. compile.c drives it, condition by condition, and notes what
 * cannot be decided; operations.c emits one operation of the IR at a time; values.c
 * moves operands between slots, the event's context and BPF's registers; variables.c
 * has the copies of trace state variables that an evaluation works on; mode.c is about
 * hits by system calls; exits.c
 * emits what happens once the verdict is known, by tally.c, gate.c and capture.c: the
 * hit is counted, may be ignored, runs its commands; the record, the stop.
 */
#ifndef TRUEHIT_BPF_COMPILER_H
#define TRUEHIT_BPF_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/ir.h"
#include "base/buffer.h"
#include "bpf/compile.h"
#include "bpf/emit.h"
#include "bpf/hits.h"

enum {
	REG_CONTEXT = BPF_REG_6,
	/* The first slots are in registers that helpers leave alone ... */
	REG_SLOT = BPF_REG_7,
	SLOT_REGS = 3,
	/* ... the others below the head of the record on BPF's stack. */
	FRAME_SIZE = 512,
	FRAME_RECORD = -(int)BPF_HIT_RECORD_HEAD,
	FRAME_SLOTS = FRAME_RECORD - 8,
	SLOTS_MAX = SLOT_REGS + (FRAME_SIZE + FRAME_RECORD) / 8,
	/* 8 bytes for a helper to write to, where no record is yet. */
	FRAME_SCRATCH = -8,
	FRAME_OUTPUT = -16, /* the address of the record of commands */
	/* At the exits no slot is needed any more, and the record is begun. */
	FRAME_TID = FRAME_RECORD + (int)offsetof(struct bpf_hit_record, tid),
	FRAME_VALUES = FRAME_RECORD + (int)offsetof(struct bpf_hit_record, values),
	REG_VERDICT = BPF_REG_7,
	REG_BY_STOP = BPF_REG_8,
	REG_LOCATION = BPF_REG_9, /* the struct bpf_location */
	STORE_INSN_LEN = 4,	  /* of what arch_ops.stores has */
	/* In the value filter. */
	REG_LAST = BPF_REG_7, /* the struct watch_last */
};

/** Trace state variables that a program can use: each takes room in its frame. */
enum { PROGRAM_VARIABLES_MAX = 8 };

struct program_variables {
	struct program_variable {
		unsigned int number, cell; /* in struct variable_cells */
		bool is_set;		   /* by some condition */
	} of[PROGRAM_VARIABLES_MAX];
	unsigned int count;
	bool locked; /* the program holds the lock of the cells */
};

struct compiler {
	const struct bpf_compile_options *options;
	const struct reg_def *registers;
	unsigned int nregisters;
	struct bpf_emitter emitter;
	struct buffer undecided, uncaptured; /* for struct bpf_code */
	struct buffer *notes;		     /* the one of them that is written */
	uint32_t label_true, label_maybe;
	uint32_t labels; /* the first label of the condition at hand */
	bool used_true, used_maybe;
	unsigned int doubts, command_doubts; /* as in struct bpf_code */
	struct program_variables variables;
	bool reads_registers; /* some condition does, where the stub decides */
	/* The commands, if they are captured. */
	bool captures;
	struct capture capture;
	struct ir *commands;
	size_t ncommands, command; /* the one at hand */
};

/* compile.c */

void compile_ir(struct compiler *c, const struct ir *ir);

/* values.c */

/** Does the operand fit the immediate of a BPF instruction? */
bool values_is_imm(struct ir_operand operand);
void values_zero_extend(struct bpf_emitter *e, uint8_t reg, unsigned int bits);
void values_sign_extend(struct bpf_emitter *e, uint8_t reg, unsigned int bits);
/** reg = register @number of the thread, one that the context has; or to the maybe
 * exit if its value is not sure (struct bpf_rule). */
void values_load_register(struct compiler *c, uint64_t number, uint8_t reg);
/** reg = where the hit came, in the kernel if need be. */
void values_load_pc(struct compiler *c, uint8_t reg);
/** Sends the thread there (bpf_site.redirects). */
void values_store_pc(struct compiler *c, uint8_t reg);
/** The BPF register that has the operand: @scratch, unless it is in one already. */
uint8_t values_load(struct compiler *c, struct ir_operand operand, uint8_t scratch);
void values_load_into(struct compiler *c, struct ir_operand operand, uint8_t reg);
void values_store_slot(struct compiler *c, unsigned int number, uint8_t reg);
/** Where to compute a result that goes to a slot while @other is still needed. */
uint8_t values_result_reg(unsigned int number, struct ir_operand other);
/** r0 = 0, or an error: helper(fp + FRAME_SCRATCH, size, r3) */
void values_read_to_scratch(struct bpf_emitter *e, int32_t helper, int32_t size);

/* operations.c */

void operations_emit(struct compiler *c, const struct ir_insn *insn);
/** To the maybe exit if [r3, r3 + size) touches what the stub has planted. r3 stays. */
void operations_check_shadow(struct compiler *c, int32_t size);

/* variables.c */

/** The program is to use the variables of these expressions: all of them, or none if
 * they are too many. */
void variables_note_uses(struct compiler *c, const struct agent_list *exprs);
/** Can it be used? */
bool variables_known(const struct compiler *c, unsigned int number);
/** Slots at the end of the frame that are not for the stack. */
unsigned int variables_slots(const struct compiler *c);
/** Before any way to the exits: the lock is not held yet. */
void variables_emit_unheld(struct compiler *c);
/** Copies them, under the lock unless one is only read. */
void variables_emit_begin(struct compiler *c);
/** IR_GETV, IR_SETV */
void variables_emit_use(struct compiler *c, const struct ir_insn *insn);
/** Before each end of the program, one of these: what was set takes effect, when the
 * hit is decided for good; or nothing was set. They need r0, r1 and r2. */
void variables_emit_commit(struct compiler *c);
void variables_emit_abort(struct compiler *c);

/* mode.c */

/** First of all: a hit in kernel mode by a task that stops for nobody is dropped. */
void mode_emit_begin(struct compiler *c);
/** To the maybe exit if the hit came in kernel mode; @reg is free to be used. */
void mode_check_user(struct compiler *c, uint8_t reg);

/* where.c */

/** The index of the location that is hit, in @reg; where it is told, r0 to r5 are used
 * up. */
void where_emit_index(struct compiler *c, uint8_t reg);
/** REG_LOCATION = its struct bpf_location; r0 to r5 are used up. */
void where_emit(struct compiler *c);

/* exits.c */

void exits_return(struct compiler *c, int32_t value);
/** A jump to the maybe exit, and what for. */
void exits_doubt(struct compiler *c, struct bpf_insn jump, enum bpf_doubt doubt);
/** A field of struct bpf_location += 1, by its offset. */
void exits_count(struct compiler *c, size_t field);
/** What becomes of a hit: of the c->used_true and c->used_maybe that come by their
 * labels, and of the false ones that fall through, if they can. */
void exits_emit(struct compiler *c, bool used_false);

/* tally.c */

/** Counts the hit for the thread FRAME_TID, by REG_VERDICT. */
void tally_emit(struct compiler *c);
/** The hit, which was counted by REG_VERDICT, is a maybe after all. */
void tally_emit_maybe(struct compiler *c);

/* capture.c */

/** IR_PRINT and IR_STORE. */
void capture_print(struct compiler *c, const struct ir_insn *insn);
void capture_store(struct compiler *c, const struct ir_insn *insn);
/**
 * Captures what the commands print, and jumps to @captured. Falls through if it
 * cannot: then no record is left. No register but REG_CONTEXT survives.
 */
void capture_emit(struct compiler *c, uint32_t captured);

/* lock.c */

/** Takes the lock in the field of what @reg points to, or goes to the maybe exit. It
 * needs r0, r1 and r3, giving it back r1. */
void lock_emit_take(struct compiler *c, uint8_t reg, size_t field,
		    enum bpf_doubt doubt);
void lock_emit_release(struct compiler *c, uint8_t reg, size_t field);

/* watch.c */

/** No values are in the record. */
void watch_emit_clear(struct compiler *c);
/** Compares what is watched, and jumps to @unchanged if it is what it was. A change by
 * a system call is a maybe. Only REG_CONTEXT survives. */
void watch_emit(struct compiler *c, uint32_t unchanged);
/** r0 = 0, or an error: the bytes that are watched, into the frame. */
void watch_emit_read(struct compiler *c, int16_t frame);
/** REG_LAST = what is kept of the location; takes its lock, or goes to the maybe exit.
 */
void watch_emit_lock(struct compiler *c);
void watch_emit_unlock(struct compiler *c);
/** Are the @size bytes at @addr among those that were compared? Then *frame is where
 * they are: a condition is about what the filter has seen, not about what another
 * thread has written since, which has a hit of its own. */
bool watch_has(const struct compiler *c, struct ir_operand addr, int32_t size,
	       int16_t *frame);

/* watch_ahead.c */

/** Do hits come before the access? Then nothing is exchanged: the stub keeps what the
 * client has seen, and programs compare with that. */
bool watch_is_ahead(const struct compiler *c);
/** watch_emit() where it is so: compares what the access is about to make of what is
 * watched. If the stub decides, it only puts that where watch_has() finds it. */
void watch_ahead_emit(struct compiler *c, uint32_t unchanged);
/** Of a false hit: keeps what the access is about to make of what is watched. */
void watch_ahead_keep(struct compiler *c);
/** The program notes which registers its conditions read. */
void watch_ahead_note_reads(struct compiler *c, const struct agent_list *conditions);
/** To the maybe exit if [r3, r3 + size), which is not what watch_has() knows, may be
 * about to change. r3 stays. */
void watch_ahead_check_read(struct compiler *c, int32_t size);

/* probe.c */

bool probe_is(const struct compiler *c);
/** First of all: a hit of a uprobe that is not armed, or elsewhere, is dropped. */
void probe_emit_begin(struct compiler *c);
/** Sends the record whose head is in the frame, with the state that the instruction is
 * about to change, and jumps to @sent; falls through if there is no room. REG_BY_STOP
 * does not survive. */
void probe_emit_send(struct compiler *c, uint32_t sent);

/* sequence.c */

/**
 * To the maybe exit if the thread is in a restartable sequence: the kernel is about to
 * execute the instruction elsewhere, where it would not begin the sequence anew. That
 * rseq_cs is not NULL does not say it: it stays when the sequence has ended.
 */
void sequence_emit_check(struct compiler *c);
/** Completes the record in the frame, of which the scratch is a part. */
void sequence_emit_record(struct compiler *c);

/* gate.c */

/** Jumps to @ignored if this true hit is one of those. */
void gate_emit(struct compiler *c, uint32_t ignored);

#endif
