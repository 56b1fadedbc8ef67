/* SPDX-License-Identifier: BSD-2-Clause */
/* For `monitor explain`: the program, what it leaves to the stub, and what can be done
 * about it. */
#include "bpf/placement/placement_explain.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "bpf/emit/compiler.h"
#include "bpf/placement/placement.h"
#include "bpf/shared/disassembly.h"
#include "bpf/shared/left_over.h"

/* What the compiler says of a path that it cannot compile, by its first words. */
static const struct {
	const char *reason;
	const char *advice;
} advices[] = {
	{"reads ",
	 "The kernel does not have it at a hit. What is decided before it is\n"
	 "      read, as in \"i == 5 && $xmm0...\", stays in the kernel."},
	{"divides by zero", "The divisor is the constant 0; gdb shows the error."},
	{"needs a deeper stack", "Nest it less deeply."},
	{"uses more than 8", "Use fewer of them in one condition."},
};

static const char *const doubts[BPF_DOUBTS] = {
	[BPF_DOUBT_PAGE] = "a page that is read is not resident (the stub's reading "
			   "brings it in)",
	[BPF_DOUBT_TRAP] = "a byte that is read lies under a planted trap (hbreak "
			   "plants none)",
	[BPF_DOUBT_DIVISOR] = "a divisor is zero: an error, which gdb shows",
	[BPF_DOUBT_REGISTER] = "the program steps itself, as its flags are read",
	[BPF_DOUBT_KERNEL] = "a system call has written (the stub looks where it "
			     "returns)",
	[BPF_DOUBT_VARIABLE] = "a trace state variable does not exist: an error, which "
			       "gdb shows",
	[BPF_DOUBT_LOCK] = "another thread is busy with the trace state variables",
	[BPF_DOUBT_STEPS] = "a loop takes too many steps",
	[BPF_DOUBT_BUSY] = "other threads write the watched bytes all the time",
	[BPF_DOUBT_TEXT] = "the program has changed the instruction there, after the "
			   "trap",
	[BPF_DOUBT_SEQUENCE] = "the thread is in a restartable sequence (rseq): the "
			       "location moves to another engine",
	[BPF_DOUBT_STORE] =
		"what the instruction is about to store is not known (it is "
		"none of the usual ones)",
	[BPF_DOUBT_AHEAD] = "it is not false before the access (the stub looks after "
			    "it)",
	[BPF_DOUBT_THREAD] = "the thread is in another PID name space",
	[BPF_DOUBT_COUNTER] = "what the counter has counted is not known",
	[BPF_DOUBT_STRING] = "a string is too long to be captured",
	[BPF_DOUBT_FULL] = "the ring of what was captured is full",
};

static const char *advice_for(const char *reason)
{
	for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++)
		if (strncmp(reason, advices[i].reason, strlen(advices[i].reason)) == 0)
			return advices[i].advice;
	return NULL;
}

/* @reasons, as bpf_code has them, separated by ", "; NULL: none. @what: of which this
 * is so. */
static void add_reasons(struct left_over *left, enum left_kind kind, const char *what,
			const char *reasons)
{
	while (reasons && *reasons != '\0') {
		const size_t len = strcspn(reasons, ",");

		left_over_add(left, kind, advice_for(reasons), "%s%.*s", what, (int)len,
			      reasons);
		reasons += len;
		reasons += strspn(reasons, ", ");
	}
}

/* What the bits stand for. */
static void add_doubts(struct left_over *left, enum left_kind kind, unsigned int bits)
{
	for (int i = 0; i < BPF_DOUBTS; i++)
		if (bits & 1U << i)
			left_over_add(left, kind, NULL, "%s", doubts[i]);
}

void placement_left_over(struct engine *engine, const struct location *location,
			 struct left_over *left)
{
	const struct placement *placement = location->engine_data;
	const struct program *program = placement->program;
	const struct bpf_code *code = &program->code;
	const enum left_kind commands =
		code->capture.count > 0 ? LEFT_COMMANDS : LEFT_ALL_COMMANDS;

	(void)engine;
	if (program->refused) {
		left_over_add(
			left, LEFT_ALL_HITS,
			"A shorter condition, or one with fewer branches, may do.",
			"%s", program->refused);
		return;
	}
	add_reasons(left, LEFT_HITS, "the condition ", code->undecided);
	add_doubts(left, LEFT_HITS, code->doubts);
	add_reasons(left, commands, "", code->uncaptured);
	add_doubts(left, commands, code->command_doubts);
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

static const char *map_name(const struct bpf_compile_options *options, int fd)
{
	if (fd == options->shared_fd)
		return "shared with the stub";
	if (fd == options->ring_fd)
		return "records of hits";
	return fd == options->output_fd ? "records of commands" : "empty";
}

/* Only emit_constants.c loads what is there through the register that it is loaded to.
 */
static const uint64_t *constant_of(const struct bpf_code *code,
				   const struct bpf_insn *insn)
{
	const size_t start = offsetof(struct bpf_location, constants);
	const size_t at = ((size_t)insn->off - start) / sizeof(*code->constants);

	if (insn->src_reg != insn->dst_reg || insn->off < (int)start ||
	    at >= code->nconstants)
		return NULL;
	return &code->constants[at];
}

/* Names registers of the thread, and what else the instruction alone does not tell. */
static void comment(void *data, const struct bpf_insn *insn, struct buffer *out)
{
	const struct placement *placement = data;
	const struct bpf_compile_options *options = &placement->programs->options;
	const uint64_t *constant = constant_of(&placement->program->code, insn);
	unsigned int count;
	const struct reg_def *registers = options->arch->registers(&count);

	if (insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg != 0)
		buffer_append_string(out, map_name(options, insn->imm));
	if (insn->code != (BPF_LDX | BPF_MEM | BPF_DW))
		return;
	if (constant)
		buffer_printf(out, "0x%" PRIx64, *constant);
	if (insn->src_reg != REG_CONTEXT)
		return;
	for (unsigned int i = 0; i < count; i++)
		if (registers[i].bpf_offset == insn->off) {
			buffer_printf(out, "$%s", registers[i].name);
			return;
		}
	buffer_append_string(out, "the event's address");
}

void placement_print_program(struct engine *engine, const struct location *location,
			     struct buffer *out)
{
	struct placement *placement = location->engine_data;
	const struct program *program = placement->program;

	(void)engine;
	buffer_printf(out, "BPF program, %zu instructions%s:\n", program->code.count,
		      program->refused ? ", which was refused" : "");
	bpf_print(program->code.insns, program->code.count, comment, placement, out);
	if (!program->log)
		return;
	buffer_append_string(out, "\nThe last words of the kernel's verifier, which "
				  "refused the program:\n");
	append_lines(program->log, out);
}
