/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands in the kernel: the program at real hits, of a child that has our memory. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gdbstub/agent/opcode.h"
#include "gdbstub/base/buffer.h"
#include "bpf/placement/program.h"
#include "bpf/kernel/trial.h"
#include "tests/unit/expr.h"
#include "tests/unit/support.h"

static struct bpf_kernel kernel;
static struct programs programs;
static struct trial trial;
static struct bpf_hit_record last_hit;
static unsigned int nhits;

/* What the child has, too. */
static char short_text[] = "some text", empty_text[] = "";
static char longest_text[CAPTURE_STRING_MAX - 1], long_text[CAPTURE_STRING_MAX];
static char *page_end; /* the last bytes of a page with nothing after it */
static uint64_t number = 0x1122334455667788;

static void on_record(void *data, const struct bpf_hit_record *record)
{
	(void)data;
	last_hit = *record;
	nhits++;
}

/* A page that a process has not touched since it was forked is not read for a program
 * where the processor leaves it to the kernel to note that. */
static void touch(void)
{
	*(volatile char *)page_end;
}

static void set_up(void)
{
	const struct trial_job touches = {.function = touch, .calls = 1};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct trial_outcome outcome;
	_cleanup_close_ int fd = -1;
	char *pages;

	need_breakpoint_registers();
	pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(pages + page, page, PROT_NONE);
	page_end = strcpy(pages + page - 4, "end");
	memset(longest_text, 'x', sizeof(longest_text) - 1);
	memset(long_text, 'y', sizeof(long_text) - 1);
	start_programs(&kernel, &programs, on_record, NULL);
	skip_unless(trial_init(&trial, arch_native()));
	skip_unless(trial_run(&trial, &touches, false, &outcome));
	fd = bpf_kernel_load_false(BPF_KIND_EVENT);
	skip_unless(trial_pass(&trial, fd, true, false, &outcome));
	if (outcome.stops > 0)
		cr_skip_test("the kernel stops threads at false hits");
}

static void tear_down(void)
{
	trial_deinit(&trial);
	programs_deinit(&programs);
	bpf_kernel_deinit(&kernel);
}

/* ---- commands ---- */

/* printf(@format, @argument), as gdb makes it */
static struct agent_expr *prints(const char *format, uint64_t argument)
{
	struct text text = {0};

	text_put(&text, CONST64(argument));
	text_printf(&text, format, 1);
	return text_command(&text);
}

static struct agent_expr *prints_text(const char *format, const char *text)
{
	return prints(format, (uintptr_t)text);
}

/* printf("%x", *(@size bytes at @addr)) */
static struct agent_expr *prints_memory(uint64_t addr)
{
	struct text text = {0};

	text_put(&text, CONST64(addr), AGENT_REF64);
	text_printf(&text, "%lx", 1);
	return text_command(&text);
}

/* printf(number == @value ? "yes" : "no"), printf(" %d", 7) */
static struct agent_expr *chooses(uint64_t value)
{
	struct text text = {0};
	size_t yes, end;

	text_put(&text, CONST64(value), CONST64((uintptr_t)&number), AGENT_REF64,
		 AGENT_EQUAL);
	yes = text_jump(&text, AGENT_IF_GOTO);
	text_printf(&text, "no", 0);
	end = text_jump(&text, AGENT_GOTO);
	text_land(&text, yes);
	text_printf(&text, "yes", 0);
	text_land(&text, end);
	text_put(&text, CONST64(7));
	text_printf(&text, " %d", 1);
	return text_command(&text);
}

static struct program *get(struct agent_expr *condition, struct agent_expr **commands,
			   size_t count)
{
	const struct agent_list conditions = {&condition, condition ? 1 : 0};
	const struct agent_list list = {commands, count};
	struct program *program = NULL;

	skip_unless(program_get(&programs, &conditions, &list, NULL, &program));
	cr_expect_null(program->refused, "%s", program->refused);
	for (size_t i = 0; i < count; i++)
		agent_expr_unref(commands[i]);
	agent_expr_unref(condition);
	return program;
}

static struct program *get_one(struct agent_expr *command)
{
	return get(NULL, &command, 1);
}

/* ---- hits ---- */

/* How often the child stopped at one pass. */
static unsigned int pass(const struct program *program)
{
	struct trial_outcome outcome;

	skip_unless(trial_pass(&trial, program->fd, true, false, &outcome));
	bpf_kernel_drain(&kernel);
	return outcome.stops;
}

static void append(void *data, const char *text, size_t len)
{
	buffer_append(data, text, len);
}

struct taking {
	const struct program *program;
	struct buffer *text;
};

static bool take(void *data, const void *bytes, size_t len)
{
	const struct taking *taking = data;
	const struct capture *capture = &taking->program->code.capture;
	const struct bpf_output_record *record = bytes;

	cr_expect_eq(record->location, taking->program->location);
	cr_assert_eq(len, sizeof(*record) + capture->size);
	cr_expect_eq(capture_render(capture, record->capture, append, taking->text), 0);
	return true;
}

static size_t take_text(const struct program *program, struct buffer *text)
{
	struct taking taking = {program, text};

	return ring_drain(&kernel.output, take, &taking);
}

static void expect_printed(struct program *program, const char *wanted)
{
	struct buffer text _cleanup_buffer_ = {0};
	unsigned int before = nhits;

	cr_expect_eq(pass(program), 0, "%s: no stop", wanted);
	cr_expect_eq(take_text(program, &text), 1, "%s: one record", wanted);
	cr_expect_str_eq(buffer_string(&text), wanted, "%s", buffer_string(&text));
	cr_expect_eq(nhits, before);
	program_put(&programs, program);
}

/* It is the stub that has to run the commands, of a hit that is true. */
static void expect_stop(struct program *program)
{
	const struct bpf_location *location =
		&kernel.shared->locations[program->location];
	struct buffer text _cleanup_buffer_ = {0};
	unsigned int before = nhits;

	cr_expect_eq(pass(program), 1);
	cr_expect_eq(nhits, before + 1);
	cr_expect_eq(last_hit.verdict, BPF_TRUE);
	cr_expect_eq(last_hit.location, program->location);
	cr_expect_eq(location->uncaptured, 1);
	cr_expect_eq(take_text(program, &text), 0, "printed twice: %s",
		     buffer_string(&text));
	program_put(&programs, program);
}

TestSuite(commands, .init = set_up, .fini = tear_down, .timeout = 300);

Test(commands, values)
{
	expect_printed(get_one(prints("%d", 42)), "42");
	expect_printed(get_one(prints("%lx", number)), "1122334455667788");
	expect_printed(get_one(prints("%hhd|", number)), "-120|");
	expect_printed(get_one(prints_memory((uintptr_t)&number)), "1122334455667788");
}

Test(commands, strings)
{
	expect_printed(get_one(prints_text("%s", short_text)), short_text);
	expect_printed(get_one(prints_text("%-4s|", page_end)), "end |");
	expect_printed(get_one(prints_text("%.4s|", short_text)), "some|");
	expect_printed(get_one(prints_text("%.4s|", long_text)), "yyyy|");
	expect_printed(get_one(prints_text("%.40s|", short_text)), "some text|");
	expect_printed(get_one(prints_text("%s", longest_text)), longest_text);
	expect_printed(get_one(prints("%8s", 0)), "  (null)");
}

/* Older kernels do not tell it from one that cannot be read. */
Test(commands, empty_string)
{
	struct program *program = get_one(prints_text("<%s>", empty_text));
	struct buffer text _cleanup_buffer_ = {0};

	if (pass(program) == 0) {
		cr_expect_eq(take_text(program, &text), 1);
		cr_expect_str_eq(buffer_string(&text), "<>");
	} else {
		cr_expect_eq(take_text(program, &text), 0);
	}
}

Test(commands, several)
{
	struct agent_expr *commands[] = {
		prints("a=%d ", 1),
		prints_text("b=%s ", short_text),
		chooses(number),
		chooses(3),
	};

	expect_printed(get(NULL, commands, 4), "a=1 b=some text yes 7no 7");
}

Test(commands, only_if_the_condition_holds)
{
	for (uint8_t value = 0; value < 2; value++) {
		struct agent_expr *condition = EXPR(CONST8(value), AGENT_END);
		struct agent_expr *command = prints("%d", 5);
		struct buffer text _cleanup_buffer_ = {0};
		struct program *program;

		program = get(condition, &command, 1);
		cr_expect_eq(pass(program), 0);
		cr_expect_eq(take_text(program, &text), value);
	}
}

Test(commands, what_cannot_be_captured_stops)
{
	expect_stop(get_one(prints_text("%s", long_text)));
	expect_stop(get_one(prints_text("%.300s", long_text)));
	expect_stop(get_one(prints("%s", 1)));
	expect_stop(get_one(prints_text("%.9s", page_end + 4)));
	expect_stop(get_one(prints_memory(1)));
}

/* What was stored before is given up. */
Test(commands, the_second_one_cannot_be_captured)
{
	struct agent_expr *commands[] = {prints("%d", 1), prints("%s", 1),
					 prints("%d", 3)};

	expect_stop(get(NULL, commands, 3));
}

/* Bytes under planted traps are not what memory shows. */
Test(commands, strings_under_traps)
{
	kernel.shared->shadow_start = (uintptr_t)short_text + 3;
	kernel.shared->shadow_end = (uintptr_t)short_text + 4;
	expect_stop(get_one(prints_text("%s", short_text)));
	expect_printed(get_one(prints_text("%.2s", short_text)), "so");
}

/* The thread waits in a stop, and not one line is lost. */
Test(commands, full_ring)
{
	enum { COMMANDS = 12 };
	struct agent_expr *commands[COMMANDS];
	struct buffer text _cleanup_buffer_ = {0};
	struct program *program;
	size_t passes = 0;

	for (int i = 0; i < COMMANDS; i++)
		commands[i] = prints_text("%s", longest_text);
	program = get(NULL, commands, COMMANDS);
	while (pass(program) == 0)
		cr_assert_lt(++passes, 10000);
	cr_expect_gt(passes, 100);
	cr_expect_eq(nhits, 1);
	cr_expect_eq(last_hit.verdict, BPF_TRUE);
	cr_expect_eq(take_text(program, &text), passes);
	cr_expect_eq(text.len, passes * COMMANDS * strlen(longest_text));
	buffer_reset(&text);
	cr_expect_eq(pass(program), 0, "there is room again");
	cr_expect_eq(take_text(program, &text), 1);
}

/* Commands that are not for a program: the hit is decided there all the same. */
Test(commands, left_to_the_stub)
{
	struct text loops = {0};
	struct program *program;

	text_put(&loops, GOTO(0));
	program = get_one(text_command(&loops));
	cr_expect_str_eq(program->code.uncaptured, "may loop");
	cr_expect_eq(pass(program), 1);
	cr_expect_eq(last_hit.verdict, BPF_TRUE);
}
