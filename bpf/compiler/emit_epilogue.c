/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/compiler/emit_epilogue.h"

#include <linux/bpf_perf_event.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>

#include "bpf/compiler/emit_capture.h"
#include "bpf/emit/emit_counter.h"
#include "bpf/emit/emit_exits.h"
#include "bpf/compiler/emit_gate.h"
#include "bpf/compiler/emit_match.h"
#include "bpf/compiler/emit_probe.h"
#include "bpf/emit/emit_scratch.h"
#include "bpf/compiler/emit_sequence.h"
#include "bpf/compiler/emit_tally.h"
#include "bpf/compiler/emit_tid.h"
#include "bpf/emit/emit_values.h"
#include "bpf/compiler/emit_variables.h"
#include "bpf/compiler/emit_watch.h"
#include "bpf/emit/emit_where.h"

/* Whom nobody traces any more would stop for ever: events go with the last of the
 * server's threads, which may end after the one that traces. */
static void emit_forget_without_server(struct compiler *c, uint32_t forget)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit_map_value(e, BPF_REG_1, c->options->shared_fd,
			   offsetof(struct bpf_shared, server));
	bpf_emit(e, bpf_load(BPF_W, BPF_REG_1, BPF_REG_1, 0));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JSET, BPF_REG_1, FUTEX_OWNER_DIED),
		      forget);
}

/* Is the stop always made by SIGSTOP? */
static bool always_by_stop(const struct compiler *c)
{
	return c->options->stop_by_signal || c->options->task_blocked_offset < 0 ||
	       probe_is(c);
}

/* by_stop = does the thread block SIGTRAP, or can that not be known? */
static void emit_choose_stop(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t known;

	bpf_emit(e, bpf_alu_imm(BPF_MOV, REG_BY_STOP, 1));
	if (always_by_stop(c))
		return;
	known = bpf_emit_new_labels(e, 1);
	bpf_emit(e, bpf_call(BPF_FUNC_get_current_task));
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_3, BPF_REG_0));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_3, c->options->task_blocked_offset));
	scratch_emit_read(e, BPF_FUNC_probe_read_kernel, 8);
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_0, 0), known);
	bpf_emit(e, bpf_load(BPF_DW, REG_BY_STOP, BPF_REG_FP, FRAME_SCRATCH));
	bpf_emit(e, bpf_alu_imm(BPF_RSH, REG_BY_STOP, SIGTRAP - 1));
	bpf_emit(e, bpf_alu_imm(BPF_AND, REG_BY_STOP, 1));
	bpf_emit_bind(e, known);
}

#define FRAME_FIELD(field)                                                             \
	((int16_t)(FRAME_RECORD + (int)offsetof(struct bpf_hit_record, field)))

/* The stub, which evaluates it, takes it through the gate. */
static void emit_take_back_pass(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	const uint32_t done = bpf_emit_new_labels(e, 1);

	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, REG_VERDICT, BPF_TRUE), done);
	exits_count(c, offsetof(struct bpf_location, gate.left));
	bpf_emit_bind(e, done);
}

/* The stub takes a hit without a record for a maybe, and so it has to be one. That it
 * was a change is not to be forgotten. */
static void emit_lost(struct compiler *c)
{
	if (c->used_true)
		emit_take_back_pass(c);
	if (c->options->site.watch.len > 0)
		bpf_emit(&c->emitter,
			 bpf_store_imm(BPF_DW, REG_LOCATION,
				       offsetof(struct bpf_location, last.unsure), 1));
	exits_count(c, offsetof(struct bpf_location, lost));
	tally_emit_maybe(c);
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, REG_VERDICT, BPF_MAYBE));
}

/* The stub cannot do anything with the record of an unknown thread. */
static void emit_count_unknown(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t known = bpf_emit_new_labels(e, 1);

	if (c->options->pid_ns_inode == 0)
		return;
	bpf_emit(e, bpf_load(BPF_W, BPF_REG_1, BPF_REG_FP, FRAME_TID));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, BPF_REG_1, 0), known);
	emit_lost(c);
	bpf_emit_bind(e, known);
}

/* An address is in the context of breakpoint events only. */
static void emit_addr(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	if (probe_is(c)) {
		bpf_emit(e, bpf_store_imm(BPF_DW, BPF_REG_FP, FRAME_FIELD(addr), 0));
		return;
	}
	bpf_emit(e, bpf_load(BPF_DW, BPF_REG_1, REG_CONTEXT,
			     offsetof(struct bpf_perf_event_data, addr)));
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_FIELD(addr), BPF_REG_1));
}

/* What every record has, in the frame. */
static void emit_head(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;

	where_emit_index(c, BPF_REG_0);
	bpf_emit(e, bpf_store(BPF_W, BPF_REG_FP, FRAME_FIELD(location), BPF_REG_0));
	bpf_emit(e, bpf_store(BPF_W, BPF_REG_FP, FRAME_FIELD(verdict), REG_VERDICT));
	bpf_emit(e, bpf_store(BPF_W, BPF_REG_FP, FRAME_FIELD(by_stop), REG_BY_STOP));
	values_load_pc(c, BPF_REG_1);
	bpf_emit(e, bpf_store(BPF_DW, BPF_REG_FP, FRAME_FIELD(pc), BPF_REG_1));
	emit_addr(c);
	if (c->options->site.watch.len == 0 && !c->options->keeps_values)
		watch_emit_clear(c);
	if (c->options->reads_counter)
		counter_emit_record(c);
	else
		sequence_emit_record(c);
}

/* Jumps to @sent; falls through if there is no room. */
static void emit_send(struct compiler *c, uint32_t sent)
{
	struct bpf_emitter *e = &c->emitter;

	bpf_emit_map(e, BPF_REG_1, c->options->ring_fd);
	bpf_emit(e, bpf_alu(BPF_MOV, BPF_REG_2, BPF_REG_FP));
	bpf_emit(e, bpf_alu_imm(BPF_ADD, BPF_REG_2, FRAME_RECORD));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_3, BPF_HIT_RECORD_HEAD));
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_4, 0));
	bpf_emit(e, bpf_call(BPF_FUNC_ringbuf_output));
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_0, 0), sent);
}

static void emit_record(struct compiler *c)
{
	uint32_t sent = bpf_emit_new_labels(&c->emitter, 1);

	emit_count_unknown(c);
	emit_head(c);
	if (probe_is(c))
		probe_emit_send(c, sent);
	else
		emit_send(c, sent);
	emit_lost(c);
	bpf_emit_bind(&c->emitter, sent);
}

/* Of a true hit that the stub will not evaluate again, the assignments count. */
static void emit_settle(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t maybe = bpf_emit_new_labels(e, 2), done = maybe + 1;

	if (!c->variables.locked)
		return;
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, REG_VERDICT, BPF_TRUE), maybe);
	variables_emit_commit(c);
	bpf_emit_jump(e, bpf_jump(), done);
	bpf_emit_bind(e, maybe);
	variables_emit_abort(c);
	bpf_emit_bind(e, done);
}

static void emit_stop(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t stop = bpf_emit_new_labels(e, 2), done = stop + 1;

	if (!always_by_stop(c)) {
		bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, REG_BY_STOP, 0), stop);
		exits_return(c, 1);
	}
	bpf_emit_bind(e, stop);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_1, SIGSTOP));
	bpf_emit(e, bpf_call(BPF_FUNC_send_signal_thread));
	if (c->options->stop_by_signal || probe_is(c)) {
		exits_return(c, 0);
		return;
	}
	/* A late SIGTRAP is better than none. */
	bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, BPF_REG_0, 0), done);
	bpf_emit(e, bpf_alu_imm(BPF_MOV, BPF_REG_0, 1));
	bpf_emit_bind(e, done);
	bpf_emit(e, bpf_exit());
}

/* Of those that match, which have no variables: the signal needs no record. */
static void emit_signal(struct compiler *c)
{
	struct bpf_emitter *e = &c->emitter;
	const uint32_t blocked = bpf_emit_new_labels(e, 1);

	if (c->options->deed == BPF_SIGNAL && !always_by_stop(c))
		bpf_emit_jump(e, bpf_jump_if_imm(BPF_JNE, REG_BY_STOP, 0), blocked);
	if (c->options->deed == BPF_TRAP || !always_by_stop(c))
		exits_return(c, 1);
	bpf_emit_bind(e, blocked);
}

static void emit_deed(struct compiler *c)
{
	const enum bpf_deed deed = c->options->deed;

	if (deed == BPF_COUNT || deed == BPF_RECORD)
		bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, REG_BY_STOP, 0));
	else if (deed != BPF_TRAP)
		emit_choose_stop(c);
	if (deed == BPF_TRAP || deed == BPF_SIGNAL)
		emit_signal(c);
	if (deed == BPF_TRAP)
		return;
	if (deed != BPF_COUNT)
		emit_record(c);
	emit_settle(c);
	if (deed == BPF_STOP || deed == BPF_SIGNAL)
		emit_stop(c);
}

static void emit_verdict(struct compiler *c, enum bpf_verdict verdict, uint32_t next)
{
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, REG_VERDICT, verdict));
	bpf_emit_jump(&c->emitter, bpf_jump(), next);
}

static void emit_verdicts(struct compiler *c, bool used_false)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t decided = bpf_emit_new_labels(e, 1);

	if (used_false)
		emit_verdict(c, BPF_FALSE, decided);
	if (c->used_true) {
		bpf_emit_bind(e, c->label_true);
		emit_verdict(c, BPF_TRUE, decided);
	}
	if (c->used_maybe) {
		bpf_emit_bind(e, c->label_maybe);
		emit_verdict(c, BPF_MAYBE, decided);
	}
	bpf_emit_bind(e, decided);
	where_emit(c);
}

static void emit_commands(struct compiler *c, uint32_t captured)
{
	capture_emit(c, captured);
	bpf_emit(&c->emitter, bpf_alu_imm(BPF_MOV, REG_VERDICT, BPF_TRUE));
	where_emit(c);
	exits_count(c, offsetof(struct bpf_location, uncaptured));
}

/* Only what something leads to: the verifier refuses dead code. */
void epilogue_emit(struct compiler *c, bool used_false)
{
	struct bpf_emitter *e = &c->emitter;
	uint32_t report = bpf_emit_new_labels(e, 2), forget = report + 1;

	emit_verdicts(c, used_false);
	tid_emit(c);
	tally_emit(c);
	if (used_false)
		bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, REG_VERDICT, BPF_FALSE),
			      forget);
	if (c->used_true) {
		bpf_emit_jump(e, bpf_jump_if_imm(BPF_JEQ, REG_VERDICT, BPF_MAYBE),
			      report);
		gate_emit(c, forget);
		match_emit_disarm(c, forget);
		if (c->captures)
			emit_commands(c, forget);
	}
	if (c->used_true || c->used_maybe) {
		bpf_emit_bind(e, report);
		emit_forget_without_server(c, forget);
		emit_deed(c);
	}
	bpf_emit_bind(e, forget);
	variables_emit_commit(c);
	exits_return(c, 0);
}
