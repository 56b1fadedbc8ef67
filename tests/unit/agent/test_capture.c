/* SPDX-License-Identifier: BSD-2-Clause */
/* Captured printfs: their text is that of the interpreter. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/agent/capture.h"
#include "gdbstub/agent/format.h"
#include "gdbstub/agent/insn.h"
#include "gdbstub/agent/interp.h"
#include "gdbstub/base/buffer.h"
#include "tests/unit/expr.h"

enum { MEMORY_ADDR = 0x1000, ARGUMENTS_MAX = 8 };

static const char memory[1024] = "text\0\0a longer text, of some words";
enum { TEXT = MEMORY_ADDR, EMPTY = MEMORY_ADDR + 5, LONGER = MEMORY_ADDR + 6 };

static int read_memory(void *data, uint64_t addr, void *value, size_t len)
{
	(void)data;
	if (addr < MEMORY_ADDR || addr + len > MEMORY_ADDR + sizeof(memory))
		return -EFAULT;
	memcpy(value, memory + (addr - MEMORY_ADDR), len);
	return 0;
}

static int read_register(void *data, unsigned int number, uint64_t *value)
{
	(void)data;
	*value = number;
	return 0;
}

/* Each printf is to be a call of its own. */
static void print(void *data, const char *text, size_t len)
{
	buffer_append(data, text, len);
	buffer_append_char(data, '|');
}

static void append_printf(struct text *out, const char *format,
			  const uint64_t *arguments, size_t count)
{
	for (size_t i = count; i-- > 0;)
		text_put(out, CONST64(arguments[i]));
	text_printf(out, format, (unsigned int)count);
}

static void interpret(const struct agent_list *commands, struct buffer *text)
{
	const struct agent_context context = {
		.read_memory = read_memory,
		.read_register = read_register,
		.print = print,
		.data = text,
	};

	for (size_t i = 0; i < commands->count; i++) {
		uint64_t result;
		struct error *error _cleanup_error_ =
			agent_expr_evaluate(commands->exprs[i], &context, &result);

		cr_assert_null(error, "%s", error ? error_text(error) : "");
	}
}

/* What a program does with one argument. */
static void store(char *record, const struct capture_argument *argument, uint64_t value)
{
	const char *text;
	uint64_t len = value;

	if (argument->room > 0 && value != 0) {
		text = memory + (value - MEMORY_ADDR);
		len = strnlen(text, argument->room - 1) + 1;
		memcpy(record + argument->offset + sizeof(len), text, len - 1);
	} else if (argument->room > 0) {
		len = 0;
	}
	memcpy(record + argument->offset, &len, sizeof(len));
}

static void store_printf(char *record, const struct capture_printf *printf,
			 const uint64_t *arguments, size_t narguments)
{
	const uint64_t reached = 1;

	memcpy(record + printf->offset, &reached, sizeof(reached));
	cr_assert_eq(printf->count, narguments);
	for (size_t i = 0; i < narguments; i++)
		store(record, &printf->arguments[i], arguments[i]);
}

/* The same printf by both ways, with something to its left and right. */
static void compare(const char *format, uint64_t argument)
{
	struct buffer wanted _cleanup_buffer_ = {0}, got _cleanup_buffer_ = {0};
	struct text code = {0};
	const uint64_t arguments[] = {7, argument, UINT64_MAX};
	char text[64], record[CAPTURE_SIZE_MAX] = {0};
	struct agent_list commands = {0};
	struct capture capture;

	snprintf(text, sizeof(text), "%%u\\t%s%%%%%%d\\n", format);
	append_printf(&code, text, arguments, 3);
	agent_list_append(&commands, text_command(&code));
	interpret(&commands, &wanted);

	cr_assert_null(capture_init(&capture, &commands));
	cr_assert_eq(capture.count, 1);
	store_printf(record, &capture.printfs[0], arguments, 3);
	cr_expect_eq(capture_render(&capture, record, print, &got), 0);
	cr_expect_str_eq(buffer_string(&got), buffer_string(&wanted), "%s", text);
	capture_deinit(&capture);
	agent_list_clear(&commands);
}

/* All that the format allows; what it refuses, it refuses. */
static unsigned int compare_all(const char *conversions, const char *const *sizes,
				const uint64_t *values, size_t nvalues)
{
	static const char *const flags[] = {"", "-", "0", "+", " ", "#", "-#", "+0"};
	static const char *const widths[] = {"", "1", "9", "30", ".0", ".3", "12.7"};
	unsigned int compared = 0;

	for (size_t all = 0; all < 8 * 7 * 7 * strlen(conversions); all++) {
		const char *size = sizes[all / 56 % 7];
		char format[32];
		const char *p = format;
		struct format_piece piece;
		struct error *error _cleanup_error_ = NULL;

		if (!size)
			continue;
		snprintf(format, sizeof(format), "%%%s%s%s%c", flags[all % 8],
			 widths[all / 8 % 7], size, conversions[all / (8 * 7 * 7)]);
		error = format_next(&p, &piece);
		for (size_t i = 0; i < nvalues && !error; i++, compared++)
			compare(format, values[i]);
	}
	return compared;
}

Test(capture, every_value_directive)
{
	static const char *const sizes[7] = {"", "hh", "h", "l", "ll", "z", "j"};
	static const uint64_t values[] = {0, 1, 'A', 0x8000000080008080, UINT64_MAX};

	cr_expect_gt(compare_all("diuoxXcp", sizes, values, 5), 5000);
}

Test(capture, every_string_directive)
{
	static const char *const sizes[7] = {""};
	static const uint64_t values[] = {0, TEXT, EMPTY, LONGER};

	cr_expect_gt(compare_all("s", sizes, values, 4), 50);
}

Test(capture, room_of_strings)
{
	static const struct {
		const char *format;
		uint32_t room;
		bool cut;
	} cases[] = {
		{"%s", CAPTURE_STRING_MAX, false},
		{"%9s", CAPTURE_STRING_MAX, false},
		{"%.0s", 1, true},
		{"%.4s", 5, true},
		{"%.255s", 256, true},
		{"%.256s", CAPTURE_STRING_MAX, false},
		{"%.4000s", CAPTURE_STRING_MAX, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text code = {0};
		const uint64_t arguments[] = {TEXT};
		struct agent_list commands = {0};
		struct capture capture;

		append_printf(&code, cases[i].format, arguments, 1);
		agent_list_append(&commands, text_command(&code));
		cr_assert_null(capture_init(&capture, &commands));
		cr_expect_eq(capture.printfs[0].arguments[0].room, cases[i].room, "%s",
			     cases[i].format);
		cr_expect_eq(capture.printfs[0].arguments[0].cut, cases[i].cut, "%s",
			     cases[i].format);
		capture_deinit(&capture);
		agent_list_clear(&commands);
	}
}

/* @value ? printf("yes %s") : printf("no %d"); printf("end") */
static struct agent_expr *choice(uint8_t value)
{
	static const uint64_t text[] = {TEXT}, number[] = {3};
	struct text code = {0};
	size_t yes, end;

	text_put(&code, CONST8(value));
	yes = text_jump(&code, AGENT_IF_GOTO);
	append_printf(&code, "no %d", number, 1);
	end = text_jump(&code, AGENT_GOTO);
	text_land(&code, yes);
	append_printf(&code, "yes %s", text, 1);
	text_land(&code, end);
	append_printf(&code, "end", NULL, 0);
	return text_command(&code);
}

/* Several printfs in several commands; some are not reached. */
Test(capture, control_flow)
{
	static const uint64_t text[] = {TEXT}, number[] = {3};
	struct buffer wanted _cleanup_buffer_ = {0}, got _cleanup_buffer_ = {0};
	char record[CAPTURE_SIZE_MAX] = {0};
	struct agent_list commands = {0};
	struct capture capture;

	agent_list_append(&commands, choice(1));
	agent_list_append(&commands, choice(0));
	interpret(&commands, &wanted);
	cr_expect_str_eq(buffer_string(&wanted), "yes text|end|no 3|end|");

	cr_assert_null(capture_init(&capture, &commands));
	cr_assert_eq(capture.count, 6);
	store_printf(record, &capture.printfs[1], text, 1);
	store_printf(record, &capture.printfs[2], NULL, 0);
	store_printf(record, &capture.printfs[3], number, 1);
	store_printf(record, &capture.printfs[5], NULL, 0);
	cr_expect_eq(capture_render(&capture, record, print, &got), 0);
	cr_expect_str_eq(buffer_string(&got), buffer_string(&wanted));
	cr_expect_eq(capture_find(&capture, 1, capture.printfs[4].insn),
		     &capture.printfs[4]);
	cr_expect_null(capture_find(&capture, 2, capture.printfs[4].insn));
	capture_deinit(&capture);
	agent_list_clear(&commands);
}

static void expect_uncaptured(const char *why, const struct text *code)
{
	struct error *error _cleanup_error_ = NULL;
	struct agent_list commands = {0};
	struct capture capture;

	agent_list_append(&commands, text_command(code));
	error = capture_init(&capture, &commands);
	cr_assert_not_null(error, "%s", why);
	cr_expect_str_eq(error_text(error), why);
	cr_expect_eq(error_errno(error), 0);
	cr_expect_eq(capture.count, 0);
	agent_list_clear(&commands);
}

Test(capture, what_cannot_be)
{
	struct text loops = {0}, sets = {0}, many = {0};
	uint64_t arguments[20] = {0};

	text_put(&loops, GOTO(0));
	expect_uncaptured("may loop", &loops);
	text_put(&sets, CONST8(1), SETV(1));
	expect_uncaptured("sets a trace state variable", &sets);
	append_printf(&many, "%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s", arguments, 20);
	expect_uncaptured("has more than 4096 bytes of arguments", &many);
}

/* The room that a record takes is that of its text, but for what a field adds. */
Test(capture, text_has_its_room)
{
	static const struct {
		size_t text;
		uint32_t size;
	} cases[] = {{3, 16}, {200, 200}, {5000, CAPTURE_SIZE_MAX}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct text code = {0};
		const uint64_t arguments[] = {0};
		struct agent_list commands = {0};
		struct capture capture;
		char format[6000] = {0};

		memset(format, 'x', cases[i].text);
		memcpy(format + cases[i].text, "%d", 2);
		append_printf(&code, format, arguments, 1);
		agent_list_append(&commands, text_command(&code));
		cr_assert_null(capture_init(&capture, &commands));
		cr_expect_eq(capture.size, cases[i].size, "%u", capture.size);
		capture_deinit(&capture);
		agent_list_clear(&commands);
	}
}
