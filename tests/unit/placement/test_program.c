/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/placement/program.h"
#include "tests/unit/expr.h"
#include "tests/unit/support.h"

static struct bpf_kernel kernel;
static struct programs programs;

static void set_up(void)
{
	start_programs(&kernel, &programs, no_record, NULL);
}

static void tear_down(void)
{
	programs_deinit(&programs);
	bpf_kernel_deinit(&kernel);
}

/* Each value makes other code. */
static struct agent_expr *sum(unsigned int value)
{
	return EXPR(REG(0), CONST16(value), AGENT_ADD, AGENT_END);
}

/* A used program; takes the condition over. */
static struct program *get_expr(struct agent_expr *expr, const struct bpf_site *site)
{
	const struct agent_list conditions = {&expr, 1};
	struct program *program = NULL;
	_cleanup_error_ struct error *error =
		program_get(&programs, &conditions, NULL, site, &program);

	agent_expr_unref(expr);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	return program;
}

static struct program *get_for(unsigned int value, const struct bpf_site *site)
{
	return get_expr(sum(value), site);
}

/* A used program whose condition has that value in it. */
static struct program *get(unsigned int value)
{
	return get_for(value, NULL);
}

static struct program *get_at(const struct bpf_site *site)
{
	return get_for(0, site);
}

TestSuite(program, .init = set_up, .fini = tear_down, .timeout = 300);

Test(program, comes_back_for_the_same_conditions)
{
	struct program *a = get(0), *b = get(0), *c = get(1);
	unsigned int location = a->location;
	int fd = a->fd;

	cr_expect_neq(a, b, "one program at two locations at once");
	cr_expect_neq(a->location, b->location);
	kernel.shared->locations[location].others.hits.by[BPF_TRUE] = 5;
	program_put(&programs, c);
	program_put(&programs, a);
	cr_expect_eq(get(0), a);
	cr_expect_eq(a->fd, fd);
	cr_expect_eq(a->location, location);
	cr_expect_eq(tally_total(kernel.shared, location).by[BPF_TRUE], 0,
		     "old counts");
	cr_expect_eq(programs.nidle, 1);
}

Test(program, commands_tell_programs_apart)
{
	struct agent_expr *expr = sum(0);
	const struct agent_list list = {&expr, 1};
	struct program *plain = get(0), *with_commands = NULL;
	_cleanup_error_ struct error *error = NULL;

	program_put(&programs, plain);
	error = program_get(&programs, &list, &list, NULL, &with_commands);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	cr_expect_neq(with_commands, plain);
	program_put(&programs, with_commands);
	cr_expect_eq(get(0), plain);
	error = program_get(&programs, &list, &list, NULL, &plain);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	cr_expect_eq(plain, with_commands);
	agent_expr_unref(expr);
}

Test(program, sites_tell_programs_apart)
{
	const struct bpf_site sites[] = {
		{.watch = {.access = true}},
		{.kind = BPF_KIND_UPROBE},
		{.kind = BPF_KIND_UPROBE_MULTI},
		{.kind = BPF_KIND_UPROBE_MULTI, .store = {.len = 8, .displacement = 4}},
		{.kind = BPF_KIND_UPROBE_MULTI, .store = {.len = 8, .displacement = 8}},
	};
	enum { COUNT = sizeof(sites) / sizeof(*sites) };
	struct program *plain = get(0), *first[COUNT], *again;

	program_put(&programs, plain);
	for (unsigned int i = 0; i < COUNT; i++) {
		first[i] = get_at(&sites[i]);
		cr_expect_neq(first[i], plain);
		program_put(&programs, first[i]);
		if (!program_is_told(first[i]))
			kernel.shared->locations[first[i]->location].armed = 1;
	}
	cr_expect_eq(programs.nidle, COUNT + 1);
	for (unsigned int i = 0; i < COUNT; i++) {
		again = get_at(&sites[i]);
		cr_expect_eq(again, first[i]);
		if (!program_is_told(again))
			cr_expect_eq(kernel.shared->locations[again->location].armed,
				     0);
		program_put(&programs, again);
	}
}

/* To verify one takes the kernel most of a millisecond. */
Test(program, one_that_is_told_its_location_serves_many)
{
	const struct bpf_site site = {.kind = BPF_KIND_UPROBE_MULTI, .insn_len = 3},
			      longer = {.kind = BPF_KIND_UPROBE_MULTI, .insn_len = 4};
	struct program *first = get_at(&site), *other = get_at(&longer);
	int a = program_take_location(&programs, first),
	    b = program_take_location(&programs, first);

	cr_expect_eq(get_at(&site), first);
	cr_expect_neq(other, first, "another length of the instruction");
	cr_assert_geq(a, 0);
	cr_assert_geq(b, 0);
	cr_expect_neq(a, b);
	kernel.shared->locations[a].armed = 1;
	kernel.shared->locations[a].others.hits.by[BPF_TRUE] = 5;
	program_give_location(&programs, first, (unsigned int)a);
	cr_expect_eq(program_take_location(&programs, first), a);
	cr_expect_eq(kernel.shared->locations[a].armed, 0);
	cr_expect_eq(tally_total(kernel.shared, (unsigned int)a).by[BPF_TRUE], 0,
		     "old counts");
	program_put(&programs, first);
	cr_expect_eq(programs.nidle, 0, "one user is left");
	program_put(&programs, first);
	cr_expect_eq(programs.nidle, 1);
}

static struct agent_expr *equals(unsigned int number, unsigned int value)
{
	return EXPR(REG(number), CONST16(value), AGENT_EQUAL, AGENT_END);
}

static struct agent_expr *equals_much(unsigned int number)
{
	return EXPR(REG(number), CONST64(0x0102030405060708), AGENT_EQUAL, AGENT_END);
}

/* What the kernel has it by. */
static uint32_t kernel_id(const struct program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	cr_assert_eq(bpf_obj_get_info_by_fd(program->fd, &info, &size), 0);
	return info.id;
}

static uint64_t first_constant(unsigned int location)
{
	return kernel.shared->locations[location].constants[0];
}

/* No other is loaded for it. */
Test(program, what_is_compared_with_is_apart)
{
	struct program *program = get_expr(equals(0, 5), NULL), *other;
	const uint32_t id = kernel_id(program);

	cr_expect_eq(first_constant(program->location), 5);
	other = get_expr(equals(0, 6), NULL);
	cr_expect_neq(other, program, "two locations at once");
	cr_expect_eq(first_constant(other->location), 6);
	program_put(&programs, program);
	program = get_expr(equals(0, 7), NULL);
	cr_expect_eq(kernel_id(program), id);
	cr_expect_eq(first_constant(program->location), 7);
	program_put(&programs, program);
	program = get_expr(equals_much(0), NULL);
	cr_expect_eq(kernel_id(program), id);
	cr_expect_eq(first_constant(program->location), 0x0102030405060708);
	program_put(&programs, program);
	cr_expect_eq(get_expr(equals_much(0), NULL), program, "the same again");
	cr_expect_eq(first_constant(program->location), 0x0102030405060708);
	cr_expect_eq(programs.nidle, 0);
	cr_expect_neq(kernel_id(get_expr(equals(1, 7), NULL)), id, "another register");
}

Test(program, one_that_is_told_its_location_serves_all_constants)
{
	const struct bpf_site site = {.kind = BPF_KIND_UPROBE_MULTI, .insn_len = 3};
	struct program *first = get_expr(equals(0, 5), &site),
		       *second = get_expr(equals(0, 6), &site);
	int a = program_take_location(&programs, first),
	    b = program_take_location(&programs, second);

	cr_assert_geq(a, 0);
	cr_assert_geq(b, 0);
	cr_expect_eq(kernel_id(first), kernel_id(second));
	cr_expect_eq(first_constant((unsigned int)a), 5);
	cr_expect_eq(first_constant((unsigned int)b), 6);
	program_give_location(&programs, first, (unsigned int)a);
	program_put(&programs, first);
	cr_expect_eq(first_constant((unsigned int)b), 6, "they go by themselves");
	cr_expect_geq(fcntl(second->fd, F_GETFD), 0);
	cr_expect_eq(get_expr(equals(0, 8), &site), first, "one that nobody uses");
	cr_expect_eq(programs.nidle, 0);
}

/* Of a printf without arguments. */
static struct agent_expr *prints(const char *format)
{
	static struct text text;

	text = (struct text){0};
	text_printf(&text, format, 0);
	return text_command(&text);
}

/* They print something else. */
Test(program, commands_are_of_no_form)
{
	struct agent_expr *command = prints("a"), *other = prints("b");
	struct agent_expr *five = equals(0, 5), *six = equals(0, 6);
	const struct agent_list commands = {&command, 1}, others = {&other, 1};
	struct program *program = NULL, *second = NULL;

	cr_assert_null(program_get(&programs, &(struct agent_list){&five, 1}, &commands,
				   NULL, &program));
	program_put(&programs, program);
	cr_assert_null(program_get(&programs, &(struct agent_list){&six, 1}, &others,
				   NULL, &second));
	cr_expect_neq(second, program);
	program_put(&programs, second);
	cr_assert_null(program_get(&programs, &(struct agent_list){&six, 1}, &commands,
				   NULL, &second));
	cr_expect_eq(second, program);
	cr_expect_eq(first_constant(second->location), 6);
	agent_expr_unref(command);
	agent_expr_unref(other);
	agent_expr_unref(five);
	agent_expr_unref(six);
}

/* More than there is room for: the rest is in the code. */
Test(program, constants_beyond_are_in_the_code)
{
	static struct text text[2];
	struct program *program;
	uint32_t id;

	for (unsigned int i = 0; i < 2; i++)
		for (unsigned int j = 0; j <= BPF_CONSTANTS_MAX; j++) {
			const unsigned int value = j == BPF_CONSTANTS_MAX ? i : 7;

			text_put(&text[i], REG(j % 16), CONST16(value), AGENT_EQUAL);
			if (j > 0)
				text_put(&text[i], AGENT_BIT_AND);
		}
	program = get_expr(text_expr(&text[0]), NULL);
	cr_expect_eq(program->code.nconstants, BPF_CONSTANTS_MAX);
	id = kernel_id(program);
	program_put(&programs, program);
	cr_expect_neq(kernel_id(get_expr(text_expr(&text[1]), NULL)), id);
}

Test(program, idle_ones_are_bounded)
{
	struct program *first = get(0), *used = get(1);

	program_put(&programs, first);
	for (unsigned int i = 2; i < PROGRAMS_IDLE_MAX + 2; i++)
		program_put(&programs, get(i));
	cr_expect_eq(programs.nidle, PROGRAMS_IDLE_MAX);
	cr_expect_eq(TAILQ_LAST(&programs.list, program_list), used,
		     "the one that is used stays, the oldest idle one goes");
	cr_expect_geq(fcntl(used->fd, F_GETFD), 0);
}

Test(program, as_many_locations_as_there_are)
{
	struct program *program, *last = NULL;
	_cleanup_error_ struct error *error = NULL;

	for (int i = 0; i < BPF_LOCATIONS_MAX; i++)
		cr_assert_eq(bpf_kernel_take_location(&kernel), i);
	error = program_get(&programs, NULL, NULL, NULL, &program);
	cr_assert_not_null(error);

	bpf_kernel_free_location(&kernel, 700);
	last = get(1);
	cr_expect_eq(last->location, 700);
	program_put(&programs, last);
	/* An idle program makes room. */
	cr_expect_eq(get(2)->location, 700);
}

/* Conditions that make more code than can be: a program all the same. */
Test(program, stands_in_for_too_much_code)
{
	enum { OPS = 15000, COUNT = 6 };
	static uint8_t code[2 + 4 * OPS + 1] = {CONST8(0)};
	struct agent_expr *conditions[COUNT];
	const struct agent_list list = {conditions, COUNT};
	struct program *program = NULL;
	struct error *error;

	for (size_t i = 0; i < OPS; i++)
		memcpy(code + 2 + 4 * i, (uint8_t[]){REG(0), AGENT_ADD}, 4);
	code[sizeof(code) - 1] = AGENT_END;
	conditions[0] = make_expr(code, sizeof(code));
	for (int i = 1; i < COUNT; i++)
		conditions[i] = agent_expr_ref(conditions[0]);
	error = program_get(&programs, &list, NULL, NULL, &program);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	cr_expect_geq(program->fd, 0);
	cr_expect_not_null(program->refused);
	cr_expect_null(program->log);
	for (int i = 0; i < COUNT; i++)
		agent_expr_unref(conditions[i]);
}

/* More branches than the verifier remembers (8192): each tests a register. */
static struct agent_expr *many_branches(void)
{
	enum { BRANCHES = 8300, END = 6 * BRANCHES + 3 };
	static uint8_t code[END + 3];

	for (size_t i = 0; i < BRANCHES; i++)
		memcpy(code + 6 * i, (uint8_t[]){REG(i % 16), IF_GOTO(END)}, 6);
	memcpy(code + END - 3, (uint8_t[]){CONST8(0), AGENT_END}, 3);
	memcpy(code + END, (uint8_t[]){CONST8(1), AGENT_END}, 3);
	return make_expr(code, sizeof(code));
}

Test(program, keeps_the_words_of_the_verifier)
{
	struct agent_expr *expr = many_branches();
	const struct agent_list list = {&expr, 1};
	struct program *program = NULL;
	unsigned int lines = 0;
	struct error *error;

	cr_assert_not_null(expr);
	error = program_get(&programs, &list, NULL, NULL, &program);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	cr_assert_geq(program->fd, 0, "what stands in");
	cr_assert_not_null(program->refused);
	cr_assert_not_null(program->log);
	cr_expect_null(strchr(program->refused, '\n'));
	cr_expect_null(strstr(program->refused, "stack depth"), "only figures");
	cr_expect_not_null(strstr(program->log, program->refused), "%s", program->log);
	for (const char *p = program->log; *p != '\0'; p++)
		lines += *p == '\n';
	cr_expect_gt(lines, 1);
	cr_expect_leq(lines, PROGRAM_LOG_LINES);
	cr_expect_gt(program->code.count, 8300, "the code that was refused");
	agent_expr_unref(expr);
}

/* A loop whose two branches leave different values, one of which is compared to a
 * constant in each round: 2 to the power of the rounds for the verifier. */
static struct agent_expr *hard_loop(void)
{
	static const uint8_t code[] = {
		CONST8(0),   REG(0), /* x = 0, n = reg 0 */
		AGENT_DUP,   CONST8(1),	 AGENT_BIT_AND, IF_GOTO(20), /* 5: n & 1? */
		AGENT_SWAP,  CONST8(3),	 AGENT_MUL,	AGENT_SWAP,
		GOTO(25),					     /* x *= 3 */
		AGENT_SWAP,  CONST8(5),	 AGENT_ADD,	AGENT_SWAP,  /* 20: x += 5 */
		AGENT_DUP,   CONST8(2),	 AGENT_BIT_AND, IF_GOTO(40), /* 25: n & 2? */
		AGENT_SWAP,  CONST8(4),	 AGENT_MUL,	AGENT_SWAP,
		GOTO(45),					    /* x *= 4 */
		AGENT_SWAP,  CONST8(6),	 AGENT_ADD,	AGENT_SWAP, /* 40: x += 6 */
		AGENT_SWAP,  AGENT_DUP,	 CONST8(77),	AGENT_EQUAL,
		IF_GOTO(67), AGENT_SWAP,			    /* 45: x == 77? */
		CONST8(1),   AGENT_SUB,	 AGENT_DUP,	IF_GOTO(5), /* --n? */
		AGENT_POP,   REG(1),	 AGENT_EQUAL,	AGENT_END,  /* x == reg 1 */
		AGENT_END,					    /* 67: x */
	};

	return make_expr(code, sizeof(code));
}

Test(program, gives_hard_loops_few_rounds)
{
	struct agent_expr *expr = hard_loop();
	const struct agent_list list = {&expr, 1};
	struct program *program = NULL;
	struct error *error;

	cr_assert_not_null(expr);
	error = program_get(&programs, &list, NULL, NULL, &program);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	cr_expect_geq(program->fd, 0);
	cr_expect_null(program->refused);
	cr_expect_null(program->log);
	agent_expr_unref(expr);
}

Test(program, kernel_abilities)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		cr_skip_test("the kernel has no BTF");
	cr_expect_gt(kernel.task_blocked_offset, 0);
	cr_expect_eq(kernel.task_blocked_offset % 8, 0);
}
