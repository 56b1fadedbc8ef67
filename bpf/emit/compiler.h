/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the compiler, whose parts are named emit_*.c. compile.c drives it, condition
 * by condition, and notes what cannot be decided; emit_operations.c emits one operation
 * of the IR at a time, emit_values.c moves operands, emit_variables.c has the copies of
 * trace state variables; emit_exits.c emits what happens once the verdict is known: the
 * hit is counted, may be ignored, runs its commands; the record, the stop.
 */
#ifndef TRUEHIT_BPF_EMIT_COMPILER_H
#define TRUEHIT_BPF_EMIT_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gdbstub/ir/ir.h"
#include "gdbstub/base/buffer.h"
#include "bpf/emit/compile_options.h"
#include "bpf/emit/emit.h"
#include "bpf/shared/hits.h"

enum {
	REG_CONTEXT = BPF_REG_6,
	/* The first slots are in registers that helpers leave alone ... */
	REG_SLOT = BPF_REG_7,
	SLOT_REGS = 3,
	/* ... the others below the head of the record on BPF's stack. */
	FRAME_SIZE = 512,
	FRAME_RECORD = -(int)BPF_HIT_RECORD_HEAD,
	FRAME_LOCATION = FRAME_RECORD - 8, /* as REG_LOCATION, for constants */
	FRAME_SLOTS = FRAME_RECORD - 16,
	SLOTS_MAX = SLOT_REGS + (FRAME_SIZE + FRAME_LOCATION) / 8,
	/* 8 bytes for a helper to write to, where no record is yet. */
	FRAME_SCRATCH = -8,
	FRAME_OUTPUT = -16, /* the address of the record of commands */
	/* At the exits no slot is needed any more, and the record is begun. */
	FRAME_TID = FRAME_RECORD + (int)offsetof(struct bpf_hit_record, tid),
	FRAME_VALUES = FRAME_RECORD + (int)offsetof(struct bpf_hit_record, values),
	/* In a pad, from the begin on. */
	FRAME_PC = FRAME_RECORD + (int)offsetof(struct bpf_hit_record, pc),
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
	bool constants_apart; /* of the conditions at hand */
	uint64_t constants[BPF_CONSTANTS_MAX];
	unsigned int nconstants;
	bool reads_registers; /* some condition does, where the stub decides */
	/* The commands, if they are captured. */
	bool captures;
	struct capture capture;
	struct ir *commands;
	size_t ncommands, command; /* the one at hand */
};

#endif
