/* SPDX-License-Identifier: BSD-2-Clause */
/* The hardware engine for `monitor explain`: the program, what it leaves to the stub,
 * and what can be done about it. */
#include <string.h>

#include "bpf/compiler.h"
#include "bpf/perf_event.h"
#include "bpf/print.h"

/* What the compiler says of a path that it cannot compile, by its first words. */
static const struct {
	const char *reason;
	const char *advice;
} advices[] = {
	{"reads ", "the kernel does not have this register at a hit; what is decided "
		   "before it is read, as in\n    \"i == 5 && $xmm0...\", stays in the "
		   "kernel"},
	{"divides by zero", "the divisor is the constant 0; gdb shows the error"},
	{"needs a deeper stack", "nest it less deeply"},
	{"uses more than 8", "use fewer of them in one condition"},
};

static void append_reason(const char *reason, size_t len, struct buffer *out)
{
	buffer_append_string(out, "  hits at which the condition ");
	buffer_append(out, reason, len);
	for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++)
		if (strncmp(reason, advices[i].reason, strlen(advices[i].reason)) == 0)
			buffer_printf(out, ":\n    %s", advices[i].advice);
	buffer_append_char(out, '\n');
}

/* @reasons as bpf_code has them, separated by ", ". */
static void append_reasons(const char *reasons, struct buffer *out)
{
	while (*reasons != '\0') {
		size_t len = strcspn(reasons, ",");

		append_reason(reasons, len, out);
		reasons += len;
		reasons += strspn(reasons, ", ");
	}
}

static const char *const doubts[BPF_DOUBTS] = {
	[BPF_DOUBT_PAGE] = "a page that is read is not resident: the stub's reading "
			   "brings it\n    in, so that the next hits are decided in "
			   "the kernel",
	[BPF_DOUBT_TRAP] = "a byte that is read lies under the trap of another "
			   "location: hbreak plants\n    none",
	[BPF_DOUBT_DIVISOR] = "a divisor is zero: an error, which gdb shows",
	[BPF_DOUBT_REGISTER] = "the program steps itself, as its flags are read",
	[BPF_DOUBT_VARIABLE] = "a trace state variable does not exist: an error, which "
			       "gdb shows",
	[BPF_DOUBT_LOCK] = "another thread is busy with the trace state variables",
	[BPF_DOUBT_STEPS] = "a loop of the condition takes too many steps",
};

static void append_left_to_stub(const struct bpf_code *code, struct buffer *out)
{
	if (code->undecided)
		append_reasons(code->undecided, out);
	for (int i = 0; i < BPF_DOUBTS; i++)
		if (code->doubts & 1U << i)
			buffer_printf(out, "  hits at which %s\n", doubts[i]);
	if (code->uncaptured)
		buffer_printf(out, "  all commands, as one %s\n", code->uncaptured);
	else if (code->capture.count > 0)
		buffer_printf(out,
			      "  commands of hits at which memory that they read is "
			      "not resident, a string has\n    more than %d bytes, "
			      "or the client does not keep up with the output\n",
			      CAPTURE_STRING_MAX - 2);
	else if (!code->undecided && code->doubts == 0)
		buffer_append_string(out, "  nothing\n");
}

/* Indented, as it may be long. */
static void append_lines(const char *text, struct buffer *out)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		buffer_append_string(out, "    ");
		buffer_append(out, text, len);
		buffer_append_char(out, '\n');
		text += len + (text[len] == '\n');
	}
}

static void append_refusal(const struct program *program, struct buffer *out)
{
	buffer_printf(out, "  every hit: %s\n", program->refused);
	if (program->log) {
		buffer_append_string(out, "  The last words of the kernel's verifier, "
					  "which refused the program:\n");
		append_lines(program->log, out);
	}
	buffer_append_string(
		out, "  A shorter condition, or one with fewer branches, may do.\n");
}

static const char *map_name(const struct perf_event *state, int fd)
{
	if (fd == state->kernel.hits.fd)
		return "records";
	return fd == state->kernel.output.fd ? "output" : "shared with the stub";
}

/* Names registers of the thread, and what else the instruction alone does not tell. */
static void comment(void *data, const struct bpf_insn *insn, struct buffer *out)
{
	const struct perf_event *state = data;
	unsigned int count;
	const struct reg_def *registers = state->arch->registers(&count);

	if (insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg != 0)
		buffer_append_string(out, map_name(state, insn->imm));
	if (insn->code != (BPF_LDX | BPF_MEM | BPF_DW) || insn->src_reg != REG_CONTEXT)
		return;
	for (unsigned int i = 0; i < count; i++)
		if (registers[i].bpf_offset == insn->off) {
			buffer_printf(out, "$%s", registers[i].name);
			return;
		}
	buffer_append_string(out, "the event's address");
}

void perf_event_explain(struct engine *engine, const struct location *location,
			struct buffer *out)
{
	const struct placement *placement = location->engine_data;
	const struct program *program = placement->program;

	if (program->code.count > 0) {
		buffer_printf(out, "\nBPF program, %zu instructions%s:\n",
			      program->code.count,
			      program->refused ? ", which was refused" : "");
		bpf_print(program->code.insns, program->code.count, comment,
			  engine->state, out);
	}
	buffer_append_string(out, "\nLeft to the stub:\n");
	if (program->refused)
		append_refusal(program, out);
	else
		append_left_to_stub(&program->code, out);
}
