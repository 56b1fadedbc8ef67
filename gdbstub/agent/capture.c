/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/agent/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/format.h"
#include "gdbstub/agent/insn.h"

/* ---- the layout ---- */

static void lay_out_argument(struct capture *capture, struct capture_argument *argument,
			     const struct format_piece *piece)
{
	uint32_t precision = (uint32_t)piece->precision;

	argument->offset = capture->size;
	capture->size += sizeof(uint64_t);
	if (piece->kind != FORMAT_STRING)
		return;
	argument->cut = piece->precision >= 0 && precision < CAPTURE_STRING_MAX;
	argument->room = argument->cut ? precision + 1 : CAPTURE_STRING_MAX;
	capture->size += (argument->room + 7) & ~7U;
}

static struct error *add_printf(struct capture *capture, size_t command, size_t index,
				const struct agent_insn *insn)
{
	struct capture_printf *printfs =
		reallocarray(capture->printfs, capture->count + 1, sizeof(*printfs));
	struct capture_printf *last;
	const char *format = insn->format;
	struct format_piece piece;

	if (!printfs)
		return error_create(ENOMEM, "a printf");
	capture->printfs = printfs;
	last = &printfs[capture->count++];
	*last = (struct capture_printf){.command = command,
					.insn = index,
					.format = format,
					.offset = capture->size};
	last->arguments = calloc(insn->operand + 1, sizeof(*last->arguments));
	if (!last->arguments)
		return error_create(ENOMEM, "a printf");
	capture->size += sizeof(uint64_t);
	for (;;) {
		error_destroy(format_next(&format, &piece)); /* it was checked */
		if (piece.kind == FORMAT_END)
			break;
		capture->text +=
			piece.kind == FORMAT_TEXT ? (uint32_t)piece.len : piece.width;
		if (piece.kind != FORMAT_TEXT)
			lay_out_argument(capture, &last->arguments[last->count++],
					 &piece);
	}
	if (capture->size > CAPTURE_SIZE_MAX)
		return error_create(0, "has more than %d bytes of arguments",
				    CAPTURE_SIZE_MAX);
	return NULL;
}

static struct error *add_command(struct capture *capture, size_t command,
				 const struct agent_expr *expr)
{
	struct error *error = NULL;
	size_t count;
	const struct agent_insn *insns = agent_expr_insns(expr, &count);

	/* What is printed twice has no place of its own. */
	if (agent_expr_jumps_back(expr))
		return error_create(0, "may loop");
	for (size_t i = 0; i < count && !error; i++) {
		if (insns[i].depth == AGENT_UNREACHED)
			continue;
		if (insns[i].code == AGENT_SETV)
			error = error_create(0, "sets a trace state variable");
		else if (insns[i].code == AGENT_PRINTF)
			error = add_printf(capture, command, i, &insns[i]);
	}
	return error;
}

struct error *capture_init(struct capture *capture, const struct agent_list *commands)
{
	struct error *error = NULL;

	*capture = (struct capture){0};
	for (size_t i = 0; i < commands->count && !error; i++)
		error = add_command(capture, i, commands->exprs[i]);
	if (capture->size < capture->text)
		capture->size = capture->text < CAPTURE_SIZE_MAX ? capture->text
								 : CAPTURE_SIZE_MAX;
	if (error)
		capture_deinit(capture);
	return error;
}

void capture_deinit(struct capture *capture)
{
	for (size_t i = 0; i < capture->count; i++)
		free(capture->printfs[i].arguments);
	free(capture->printfs);
	*capture = (struct capture){0};
}

const struct capture_printf *capture_find(const struct capture *capture, size_t command,
					  size_t insn)
{
	for (size_t i = 0; i < capture->count; i++)
		if (capture->printfs[i].command == command &&
		    capture->printfs[i].insn == insn)
			return &capture->printfs[i];
	return NULL;
}

/* ---- the text ---- */

static uint64_t read_u64(const char *record, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, record + offset, sizeof(value));
	return value;
}

static void render_argument(const struct capture_argument *argument,
			    const struct format_piece *piece, const char *record,
			    struct buffer *text)
{
	uint64_t value = read_u64(record, argument->offset);

	if (argument->room == 0)
		format_value(piece, value, text);
	else if (value == 0)
		format_string(piece, "(null)", strlen("(null)"), text);
	else
		format_string(piece, record + argument->offset + sizeof(value),
			      value - 1, text);
}

static void render_printf(const struct capture_printf *printf, const char *record,
			  struct buffer *text)
{
	const struct capture_argument *argument = printf->arguments;
	const char *format = printf->format;
	struct format_piece piece;

	for (;;) {
		error_destroy(format_next(&format, &piece));
		if (piece.kind == FORMAT_END)
			return;
		if (piece.kind == FORMAT_TEXT)
			buffer_append(text, piece.text, piece.len);
		else
			render_argument(argument++, &piece, record, text);
	}
}

int capture_render(const struct capture *capture, const void *record,
		   void (*print)(void *data, const char *text, size_t len), void *data)
{
	for (size_t i = 0; i < capture->count; i++) {
		struct buffer text _cleanup_buffer_ = {0};

		if (read_u64(record, capture->printfs[i].offset) == 0)
			continue;
		render_printf(&capture->printfs[i], record, &text);
		if (buffer_failed(&text))
			return -ENOMEM;
		print(data, buffer_string(&text), text.len);
	}
	return 0;
}
