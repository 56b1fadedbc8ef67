/* SPDX-License-Identifier: BSD-2-Clause */
/* Breakpoint commands: bytecode that prints. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gdbstub/agent/expr.h"
#include "gdbstub/agent/format.h"
#include "gdbstub/agent/interp.h"
#include "gdbstub/agent/print.h"
#include "tests/unit/assembler.h"
#include "tests/unit/rng.h"

enum { MEMORY_ADDR = 0x1000, MEMORY_LEN = 0x20000 };

/* Memory at MEMORY_ADDR; after it there is none. */
static char memory[MEMORY_LEN];

static int read_memory(void *data, uint64_t addr, void *value, size_t len)
{
	(void)data;
	if (addr < MEMORY_ADDR || addr + len > MEMORY_ADDR + MEMORY_LEN)
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

static void print(void *data, const char *text, size_t len)
{
	buffer_append(data, text, len);
}

/* What gdb makes of printf("FORMAT", ARGUMENTS): the last argument first, then
 * channel and function. */
static struct text assemble(const char *format, const uint64_t *arguments, size_t count)
{
	struct text text = {0};

	for (size_t i = count; i-- > 0;)
		text_put(&text, CONST64(arguments[i]));
	text_printf(&text, format, (unsigned int)count);
	text_put(&text, AGENT_END);
	return text;
}

static struct error *run(const struct text *code, struct buffer *text)
{
	const struct agent_context context = {
		.read_memory = read_memory,
		.read_register = read_register,
		.print = print,
		.data = text,
	};
	struct agent_expr *expr = NULL;
	uint64_t result = 77;
	struct error *error = agent_expr_create_command(code->bytes, code->len, &expr);

	if (!error)
		error = agent_expr_evaluate(expr, &context, &result);
	if (!error)
		cr_expect_eq(result, 0);
	agent_expr_unref(expr);
	return error;
}

static void expect(const char *wanted, const char *format, const uint64_t *arguments,
		   size_t count)
{
	const struct text code = assemble(format, arguments, count);
	struct buffer text _cleanup_buffer_ = {0};
	struct error *error _cleanup_error_ = NULL;

	error = run(&code, &text);
	cr_assert_null(error, "%s: %s", format, error ? error_text(error) : "");
	cr_expect_str_eq(buffer_string(&text), wanted, "%s: got \"%s\", wanted \"%s\"",
			 format, buffer_string(&text), wanted);
}

static void expect_error(const char *wanted, const char *format,
			 const uint64_t *arguments, size_t count)
{
	const struct text code = assemble(format, arguments, count);
	struct buffer text _cleanup_buffer_ = {0};
	struct error *error _cleanup_error_ = NULL;

	error = run(&code, &text);
	cr_assert_not_null(error, "%s: accepted", format);
	cr_expect_str_eq(error_text(error), wanted);
	cr_expect_eq(text.len, 0);
}

#define ARGUMENTS(...)                                                                 \
	((const uint64_t[]){__VA_ARGS__}), sizeof((uint64_t[]){__VA_ARGS__}) / 8
#define PRINTS(wanted, format, ...) expect(wanted, format, ARGUMENTS(__VA_ARGS__))
#define REFUSES(wanted, format, ...)                                                   \
	expect_error("offset " wanted, format, ARGUMENTS(__VA_ARGS__))

Test(agent_command, text_and_escapes)
{
	expect("", "", NULL, 0);
	expect("hello", "hello", NULL, 0);
	expect("100%\n", "100%%\\n", NULL, 0);
	expect("%%d", "%%%%d", NULL, 0);
	expect("a\\b\"c\td\ae\bf\fg\vh\ri\033",
	       "a\\\\b\\\"c\\td\\ae\\bf\\fg\\vh\\ri\\e", NULL, 0);
}

Test(agent_command, several_arguments_in_order)
{
	PRINTS("1, 2 and 3\n", "%d, %d and %d\\n", 1, 2, 3);
	PRINTS("-1 ffffffff A", "%d %x %c", UINT64_MAX, UINT64_MAX, 'A');
}

/* Only so many bytes of a cell count; the rest may be anything. */
Test(agent_command, sizes)
{
	const uint64_t value = 0x123456789abcdef0;

	PRINTS("-1698898192", "%d", value);
	PRINTS("1311768467463790320", "%ld", value);
	PRINTS("1311768467463790320", "%lld", value);
	PRINTS("1311768467463790320", "%zd", value);
	PRINTS("9abcdef0", "%x", value);
	PRINTS("def0", "%hx", value);
	PRINTS("-8464", "%hd", value);
	PRINTS("-16", "%hhd", value);
	PRINTS("123456789abcdef0", "%lx", value);
	PRINTS("110642547423257157360", "%llo", value);
	PRINTS("0x123456789abcdef0", "%p", value);
	PRINTS("(nil)", "%p", 0);
	PRINTS("     (nil)", "%10p", 0);
	PRINTS("0x1  |", "%-5p|", 1);
}

/* printf of the C library is the reference: both see the same formats. */
Test(agent_command, fields_are_those_of_printf)
{
	static const char *const formats[] = {
		"%d",	   "%i",    "%5d",   "%-5d|",  "%05d",	  "%+d",    "% d",
		"%+5d",	   "%-+5d", "%.3d",  "%8.3d",  "%-8.3d|", "%08.3d", "%.0d",
		"%.d",	   "%+.0d", "%u",    "%12u",   "%012u",	  "%x",	    "%X",
		"%#x",	   "%#X",   "%#10x", "%#010x", "%-#10x|", "%#.6x",  "%#10.6x",
		"%#.0x",   "%o",    "%#o",   "%#6o",   "%#06o",	  "%#.0o",  "%#.4o",
		"%c",	   "%4c",   "%-4c|", "%-05d|", "%+05d",	  "% 05d",  "%022.11d",
		"%30.25d", "%3x",   "%-3x|",
	};
	static const int values[] = {0,	 1,    -1,  7,	   8,	      42,
				     65, -300, 255, 99999, INT32_MIN, INT32_MAX};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
			char wanted[64];

			if (strchr(formats[i], 'c') && values[j] % 256 == 0)
				continue;
			snprintf(wanted, sizeof(wanted), formats[i], values[j]);
			expect(wanted, formats[i], ARGUMENTS((uint64_t)values[j]));
		}
}

Test(agent_command, long_fields_are_those_of_printf)
{
	static const char *const formats[] = {
		"%ld", "%lld", "%lu", "%llu", "%lx", "%#llx", "%lo", "%#lo", "%40ld",
	};
	static const long values[] = {0, 1, -1, INT64_MIN, INT64_MAX, 0x100000000};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		for (size_t j = 0; j < sizeof(values) / sizeof(values[0]); j++) {
			char wanted[64];

			snprintf(wanted, sizeof(wanted), formats[i], values[j]);
			expect(wanted, formats[i], ARGUMENTS((uint64_t)values[j]));
		}
}

Test(agent_command, a_character_may_be_zero)
{
	const struct text code = assemble("a%cb", ARGUMENTS(0));
	struct buffer text _cleanup_buffer_ = {0};

	cr_assert_null(run(&code, &text));
	cr_expect_eq(text.len, 3);
	cr_expect_arr_eq(text.data, "a\0b", 3);
}

Test(agent_command, strings)
{
	strcpy(memory + 0x10, "hello");
	PRINTS("hello", "%s", MEMORY_ADDR + 0x10);
	PRINTS("[   hello]", "[%8s]", MEMORY_ADDR + 0x10);
	PRINTS("[hello   ]", "[%-8s]", MEMORY_ADDR + 0x10);
	PRINTS("[  hel]", "[%5.3s]", MEMORY_ADDR + 0x10);
	PRINTS("[]", "[%.0s]", 8); /* nothing is read */
	PRINTS("[hello]", "[%.100s]", MEMORY_ADDR + 0x10);
	PRINTS("[]", "[%s]", MEMORY_ADDR);
	PRINTS("(null) and hello", "%s and %s", 0, MEMORY_ADDR + 0x10);
	/* Over the bounds of what is read at once, and up to the last byte. */
	memset(memory + 100, 'x', 900);
	memset(memory + MEMORY_LEN - 5, 'y', 4);
	PRINTS("yyyy", "%s", MEMORY_ADDR + MEMORY_LEN - 5);
	memory[MEMORY_LEN - 1] = 'z';
	PRINTS("yyz", "%.3s", MEMORY_ADDR + MEMORY_LEN - 3);
}

Test(agent_command, a_long_string_is_whole)
{
	char wanted[901] = {0};

	memset(wanted, 'x', 900);
	memset(memory + 100, 'x', 900);
	PRINTS(wanted, "%s", MEMORY_ADDR + 100);
}

Test(agent_command, an_endless_string_is_cut)
{
	const struct text code = assemble("%s", ARGUMENTS(MEMORY_ADDR + 3));
	struct buffer text _cleanup_buffer_ = {0};

	memset(memory, 'x', MEMORY_LEN);
	cr_assert_null(run(&code, &text));
	cr_expect_eq(text.len, 65536 + 3);
	cr_expect_str_eq(text.data + 65536 - 1, "x...");
}

Test(agent_command, unreadable_strings_print_nothing)
{
	REFUSES("22: printf: cannot read a string at 0x8: Bad address", "a%db%s", 1, 8);
	memory[MEMORY_LEN - 1] = 'z';
	REFUSES("13: printf: cannot read a string at 0x21000: Bad address", "%s",
		MEMORY_ADDR + MEMORY_LEN - 1);
}

Test(agent_command, refuses_bad_formats)
{
	REFUSES("13: printf: format, byte 0: it is cut off", "%", 1);
	REFUSES("13: printf: format, byte 2: it is cut off", "a %5.3l", 1);
	REFUSES("13: printf: format, byte 0: unknown conversion 'q'", "%5q", 1);
	REFUSES("13: printf: format, byte 0: unknown conversion '%'", "%5%", 1);
	REFUSES("13: printf: format, byte 0: unknown conversion '?'", "%\x01", 1);
	REFUSES("13: printf: format, byte 0: storing is not supported", "%n", 1);
	REFUSES("13: printf: format, byte 3: storing is not supported", "%%a%lln", 1);
	REFUSES("13: printf: format, byte 0: floating point is not supported", "%f", 1);
	REFUSES("13: printf: format, byte 0: floating point is not supported", "%5.2Lg",
		1);
	REFUSES("13: printf: format, byte 0: a width that is an argument is not "
		"supported",
		"%*d", 1);
	REFUSES("13: printf: format, byte 0: a width that is an argument is not "
		"supported",
		"%.*d", 1);
	REFUSES("13: printf: format, byte 0: wider than 4096", "%4097d", 1);
	REFUSES("13: printf: format, byte 0: wider than 4096", "%99999999999999d", 1);
	REFUSES("13: printf: format, byte 0: wider than 4096", "%.4097s", 1);
	REFUSES("13: printf: format, byte 0: a flag that 's' does not have", "%05s", 1);
	REFUSES("13: printf: format, byte 0: a flag that 'u' does not have", "%+u", 1);
	REFUSES("13: printf: format, byte 0: 'c' has no precision", "%.3c", 1);
	REFUSES("13: printf: format, byte 0: 's' with a size is not supported", "%ls",
		1);
	REFUSES("13: printf: format, byte 1: unknown escape '\\q'", "a\\q%d", 1);
	REFUSES("13: printf: format, byte 2: the text ends in '\\'", "%d\\", 1);
}

Test(agent_command, refuses_wrong_numbers_of_arguments)
{
	REFUSES("13: printf: 1 arguments for 2 directives", "%d %d", 1);
	REFUSES("13: printf: 1 arguments for 0 directives", "%%", 1);
	expect_error("offset 4: printf: 0 arguments for 1 directives", "%d", NULL, 0);
}

/* Bytecode as it must not come from a client. */
static void refuse_bytes(const char *wanted, const void *bytes, size_t len)
{
	struct agent_expr *expr = NULL;
	struct error *error _cleanup_error_ =
		agent_expr_create_command(bytes, len, &expr);

	cr_assert_not_null(error, "accepted, should be: %s", wanted);
	cr_expect_str_eq(error_text(error), wanted);
}
#define REFUSE_BYTES(wanted, bytes) refuse_bytes(wanted, bytes, sizeof(bytes) - 1)

Test(agent_command, refuses_broken_bytecode)
{
	REFUSE_BYTES("offset 0: printf: its operand of 1 bytes is cut off", "\x34");
	REFUSE_BYTES("offset 0: printf: the length of its format is cut off",
		     "\x34\0\0");
	REFUSE_BYTES("offset 0: printf: its format of 4 bytes is cut off",
		     "\x34\0\0\x04"
		     "ab\0");
	REFUSE_BYTES("offset 0: printf: the NUL of its format is not its last byte",
		     "\x34\0\0\0\x27");
	REFUSE_BYTES("offset 0: printf: the NUL of its format is not its last byte",
		     "\x34\0\0\x02"
		     "ab\x27");
	REFUSE_BYTES("offset 0: printf: the NUL of its format is not its last byte",
		     "\x34\0\0\x03"
		     "a\0\0\x27");
	REFUSE_BYTES("offset 2: printf: needs a stack depth of 2, it is 1",
		     "\x22\0\x34\0\0\x02"
		     "a\0\x27");
	REFUSE_BYTES("offset 4: printf: needs a stack depth of 3, it is 2",
		     "\x22\0\x22\0\x34\x01\0\x03%d\0\x27");
	REFUSE_BYTES("offset 0: trace: needs a stack depth of 2, it is 0", "\x0c\x27");
	/* A jump into the format. */
	REFUSE_BYTES("offset 0: goto: jumps to 12, into an operand",
		     "\x21\0\x0c\x22\0\x22\0\x34\0\0\x02"
		     "\x27\0\x27");
}

/* The stack may be empty at the end; what a condition leaves is no error. */
Test(agent_command, needs_no_value)
{
	struct agent_expr *expr = NULL;

	cr_assert_null(agent_expr_create_command("\x27", 1, &expr));
	agent_expr_unref(expr);
	cr_assert_null(agent_expr_create_command("\x22\x01\x27", 3, &expr));
	agent_expr_unref(expr);
}

Test(agent_command, is_shown_as_typed)
{
	struct buffer out _cleanup_buffer_ = {0};
	const struct text code = assemble("i=%d of %d\\n", ARGUMENTS(3, 4));
	struct agent_expr *expr;

	cr_assert_null(agent_expr_create_command(code.bytes, code.len, &expr));
	agent_expr_print(expr, NULL, &out);
	cr_expect_str_eq(buffer_string(&out), "printf \"i=%d of %d\\n\", 3, 4");
	buffer_reset(&out);
	agent_expr_disassemble(expr, NULL, &out);
	cr_expect_str_eq(buffer_string(&out), "    0  const64 0x4\n"
					      "    9  const64 0x3\n"
					      "   18  const8 0\n"
					      "   20  const8 0\n"
					      "   22  printf \"i=%d of %d\\n\"\n"
					      "   39  end\n");
	agent_expr_unref(expr);
}

/* Bytes as a client may send them: text or an error, never anything else. */
Test(agent_command, random_formats_never_hurt)
{
	static const char alphabet[] = "%%%%dxscpul0123.-+# *\\n\"hjLzfq\x80";
	struct rng rng = {7};

	for (int round = 0; round < 100000; round++) {
		char text[16] = {0};
		const char *format = text;
		struct buffer out _cleanup_buffer_ = {0};

		for (size_t i = 0; i < sizeof(text) - 1; i++)
			text[i] = alphabet[rng_below(&rng, sizeof(alphabet))];
		for (;;) {
			struct format_piece piece;
			struct error *error = format_next(&format, &piece);

			if (error || piece.kind == FORMAT_END) {
				error_destroy(error);
				break;
			}
			if (piece.kind == FORMAT_STRING)
				format_string(&piece, "text", 4, &out);
			else if (piece.kind != FORMAT_TEXT)
				format_value(&piece, rng_next(&rng), &out);
		}
		cr_assert_leq(format, text + sizeof(text) - 1);
	}
}
