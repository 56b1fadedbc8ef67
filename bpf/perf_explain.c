/* SPDX-License-Identifier: BSD-2-Clause */
/* The hardware engine for `monitor explain`: the program, what it leaves to the stub,
 * and what can be done about it. */
#include <string.h>

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
	{"may loop", "a jump backwards; gdb makes none"},
	{"needs a deeper stack", "nest it less deeply"},
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

static bool calls(const struct bpf_code *code, int32_t helper)
{
	for (size_t i = 0; i < code->count; i++)
		if (code->insns[i].code == (BPF_JMP | BPF_CALL) &&
		    code->insns[i].imm == helper)
			return true;
	return false;
}

static bool divides(const struct bpf_code *code)
{
	for (size_t i = 0; i < code->count; i++)
		if (code->insns[i].code == (BPF_ALU64 | BPF_X | BPF_DIV) ||
		    code->insns[i].code == (BPF_ALU64 | BPF_X | BPF_MOD))
			return true;
	return false;
}

static void append_left_to_stub(const struct bpf_code *code, struct buffer *out)
{
	bool reads = calls(code, BPF_FUNC_probe_read_user);

	if (code->undecided)
		append_reasons(code->undecided, out);
	if (reads)
		buffer_append_string(
			out,
			"  hits at which a page that is read is not resident: the "
			"stub's reading brings it\n    in, so that the next hits are "
			"decided in the kernel\n"
			"  hits at which a byte that is read lies under a planted "
			"trap\n");
	if (divides(code))
		buffer_append_string(out, "  hits at which a divisor is zero: an "
					  "error, which gdb shows\n");
	if (!code->undecided && !reads && !divides(code))
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

void perf_event_explain(struct engine *engine, const struct location *location,
			struct buffer *out)
{
	const struct placement *placement = location->engine_data;
	const struct program *program = placement->program;

	(void)engine;
	if (program->code.count > 0) {
		buffer_printf(out, "\nBPF program, %zu instructions%s:\n",
			      program->code.count,
			      program->refused ? ", which was refused" : "");
		bpf_print(program->code.insns, program->code.count, out);
	}
	buffer_append_string(out, "\nLeft to the stub:\n");
	if (program->refused)
		append_refusal(program, out);
	else
		append_left_to_stub(&program->code, out);
}
