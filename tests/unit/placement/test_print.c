/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/compiler/compile.h"
#include "gdbstub/agent/expr.h"
#include "bpf/emit/emit.h"
#include "bpf/kernel/kernel.h"
#include "bpf/shared/disassembly.h"
#include "bpf/placement/program.h"
#include "tests/unit/expr.h"
#include "tests/unit/support.h"

enum { LOG_SIZE = 1024 * 1024 };

/* Without number and newline. */
static void check(struct bpf_insn insn, const char *text)
{
	_cleanup_buffer_ struct buffer out = {0}, wanted = {0};

	bpf_print(&insn, 1, NULL, NULL, &out);
	buffer_printf(&wanted, "     0: %s\n", text);
	cr_expect_str_eq(buffer_string(&out), buffer_string(&wanted));
}

Test(print, arithmetic)
{
	static const struct {
		uint8_t op;
		const char *text;
	} rows[] = {
		{BPF_ADD, "r1 += r2"},	{BPF_SUB, "r1 -= r2"},	  {BPF_MUL, "r1 *= r2"},
		{BPF_DIV, "r1 /= r2"},	{BPF_OR, "r1 |= r2"},	  {BPF_AND, "r1 &= r2"},
		{BPF_LSH, "r1 <<= r2"}, {BPF_RSH, "r1 >>= r2"},	  {BPF_MOD, "r1 %= r2"},
		{BPF_XOR, "r1 ^= r2"},	{BPF_ARSH, "r1 s>>= r2"}, {BPF_MOV, "r1 = r2"},
		{BPF_NEG, "r1 = -r1"},
	};
	struct bpf_insn insn;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check(bpf_alu(rows[i].op, 1, 2), rows[i].text);
	check(bpf_alu_imm(BPF_ADD, 10, -8), "r10 += -8");
	check(bpf_mov32(3, 4), "w3 = w4");
	insn = bpf_alu(BPF_DIV, 1, 2);
	insn.off = 1;
	check(insn, "r1 s/= r2");
	insn = bpf_alu(BPF_MOD, 1, 2);
	insn.off = 1;
	check(insn, "r1 s%= r2");
	insn = bpf_alu(BPF_MOV, 1, 2);
	insn.off = 16;
	check(insn, "r1 = (s16)r2");
	check((struct bpf_insn){.code = BPF_ALU | BPF_END | BPF_TO_BE,
				.dst_reg = 7,
				.imm = 32},
	      "r7 = be32 r7");
}

Test(print, memory)
{
	check(bpf_load(BPF_B, 1, 6, 80), "r1 = *(u8 *)(r6 +80)");
	check(bpf_load(BPF_H, 1, 10, -8), "r1 = *(u16 *)(r10 -8)");
	check(bpf_load(BPF_W, 1, 6, 0), "r1 = *(u32 *)(r6 +0)");
	check(bpf_load(BPF_DW, 1, 6, 80), "r1 = *(u64 *)(r6 +80)");
	check(bpf_store(BPF_W, 10, -16, 3), "*(u32 *)(r10 -16) = r3");
	check(bpf_store_imm(BPF_DW, 10, -16, -3), "*(u64 *)(r10 -16) = -3");
	check(bpf_atomic_add(2, 8, 1), "lock *(u64 *)(r2 +8) += r1");
	check((struct bpf_insn){.code = BPF_STX | BPF_ATOMIC | BPF_DW,
				.dst_reg = 2,
				.src_reg = 1,
				.imm = BPF_ADD | BPF_FETCH},
	      "r1 = atomic64_fetch_add((u64 *)(r2 +0), r1)");
	check((struct bpf_insn){.code = BPF_STX | BPF_ATOMIC | BPF_W,
				.dst_reg = 2,
				.src_reg = 1,
				.off = 4,
				.imm = BPF_CMPXCHG},
	      "w0 = atomic_cmpxchg((u32 *)(r2 +4), w0, w1)");
}

Test(print, control)
{
	static const struct {
		uint8_t op;
		const char *text;
	} rows[] = {
		{BPF_JEQ, "=="},  {BPF_JNE, "!="},   {BPF_JSET, "&"},
		{BPF_JGT, ">"},	  {BPF_JGE, ">="},   {BPF_JLT, "<"},
		{BPF_JLE, "<="},  {BPF_JSGT, "s>"},  {BPF_JSGE, "s>="},
		{BPF_JSLT, "s<"}, {BPF_JSLE, "s<="},
	};
	struct bpf_insn jump = bpf_jump();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		_cleanup_buffer_ struct buffer wanted = {0};
		struct bpf_insn insn = bpf_jump_if(rows[i].op, 1, 2);

		insn.off = 3;
		buffer_printf(&wanted, "if r1 %s r2 goto pc+3 <4>", rows[i].text);
		check(insn, buffer_string(&wanted));
	}
	check(bpf_jump_if_imm(BPF_JSLT, 1, -1), "if r1 s< 0xffffffff goto pc+0 <1>");
	jump.off = -1;
	check(jump, "goto pc-1 <0>");
	check((struct bpf_insn){.code = BPF_JMP32 | BPF_JA, .imm = 70000},
	      "goto pc+70000 <70001>");
	check((struct bpf_insn){.code = BPF_JMP32 | BPF_JEQ | BPF_K, .imm = 1},
	      "if w0 == 0x1 goto pc+0 <1>");
	check(bpf_call(BPF_FUNC_probe_read_user), "call bpf_probe_read_user#112");
	check(bpf_exit(), "exit");
}

Test(print, constants_of_64_bits)
{
	_cleanup_buffer_ struct buffer out = {0};
	struct bpf_emitter e = {0};

	bpf_emit_const(&e, 1, 0x1122334455667788);
	bpf_emit_map(&e, 2, 7);
	bpf_emit_map_value(&e, 3, 7, 32);
	bpf_emit(&e, bpf_exit());
	bpf_print(e.insns, e.count, NULL, NULL, &out);
	cr_expect_str_eq(buffer_string(&out), "     0: r1 = 0x1122334455667788\n"
					      "     2: r2 = map[fd:7]\n"
					      "     4: r3 = map[fd:7][0]+32\n"
					      "     6: exit\n");
	bpf_emitter_deinit(&e);
}

static void name_call(void *data, const struct bpf_insn *insn, struct buffer *out)
{
	if (insn->code == (BPF_JMP | BPF_CALL))
		buffer_append_string(out, data);
}

Test(print, comments)
{
	const struct bpf_insn insns[] = {bpf_call(5), bpf_exit()};
	_cleanup_buffer_ struct buffer out = {0};
	char comment[] = "a call";

	bpf_print(insns, 2, name_call, comment, &out);
	cr_expect_str_eq(buffer_string(&out),
			 "     0: call bpf_ktime_get_ns#5 ; a call\n"
			 "     1: exit\n");
}

Test(print, what_is_not_known)
{
	check(
		(struct bpf_insn){
			.code = 0xff, .dst_reg = 1, .src_reg = 2, .off = -3, .imm = -1},
		"code 0xff dst 1 src 2 off -3 imm 0xffffffff");
	check(bpf_call(100000), "code 0x85 dst 0 src 0 off 0 imm 0x186a0");
	check((struct bpf_insn){.code = BPF_LD | BPF_IMM | BPF_DW},
	      "code 0x18 dst 0 src 0 off 0 imm 0x0");
	check((struct bpf_insn){.code = BPF_JMP | 0xf0},
	      "code 0xf5 dst 0 src 0 off 0 imm 0x0");
	for (unsigned int code = 0; code < 256; code++) {
		_cleanup_buffer_ struct buffer out = {0};
		const struct bpf_insn insn = {.code = (uint8_t)code, .imm = 0x7654321};

		bpf_print(&insn, 1, NULL, NULL, &out);
		cr_expect_not_null(strchr(buffer_string(&out), '\n'));
	}
}

/* ---- against the verifier's own words ---- */

static struct bpf_kernel kernel;

static void set_up(void)
{
	skip_unless(arch_native()->init());
	skip_unless(bpf_kernel_init(&kernel, no_record, NULL));
}

static void tear_down(void)
{
	bpf_kernel_deinit(&kernel);
}

TestSuite(print_compiled, .init = set_up, .fini = tear_down);

/* The lines "12: (bf) r6 = r1 ; R1=ctx()" of the log, by number, without the code. */
static void read_log(char *log, char **lines, size_t count)
{
	for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
		char *end, *text;
		unsigned long number = strtoul(line, &end, 10);

		if (end == line || strncmp(end, ": (", 3) != 0 || number >= count)
			continue;
		text = end + strlen(": (bf) ");
		end = strstr(text, " ;");
		if (end)
			*end = '\0';
		for (end = text + strlen(text); end > text && end[-1] == ' ';)
			*--end = '\0';
		lines[number] = text;
	}
}

/* Maps are shown as they are in the kernel. */
static bool is_map(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW) && insn->src_reg != 0;
}

/* How many instructions were compared. */
static unsigned int compare(const struct bpf_insn *insns, size_t count,
			    char *const *lines)
{
	_cleanup_buffer_ struct buffer out = {0};
	unsigned int compared = 0;
	char *text, *rest;

	bpf_print(insns, count, NULL, NULL, &out);
	for (text = strtok_r(out.data, "\n", &rest); text;
	     text = strtok_r(NULL, "\n", &rest)) {
		unsigned long number = strtoul(text, &text, 10);
		char *jump = strstr(text, "goto"),
		     *target = jump ? strchr(jump, '<') : NULL;

		if (!lines[number] || is_map(&insns[number]))
			continue;
		if (target)
			target[-1] = '\0';
		cr_expect_str_eq(text + strlen(": "), lines[number]);
		compared++;
	}
	return compared;
}

static void check_program_at(struct agent_expr *expr, bool native_division,
			     const struct bpf_site *site)
{
	const struct agent_list conditions = {&expr, 1};
	struct programs programs;
	struct bpf_code code;
	char *log = malloc(LOG_SIZE), **lines;
	struct bpf_prog_load_opts options = {
		.sz = sizeof(options),
		.log_buf = log,
		.log_size = LOG_SIZE,
		.log_level = 2,
	};
	unsigned int compared;
	int fd;

	programs_init(&programs, &kernel, arch_native(), false);
	programs.options.signed_division &= native_division;
	programs.options.site = *site;
	cr_assert_null(bpf_compile(&conditions, NULL, &programs.options, &code));
	lines = calloc(code.count, sizeof(*lines));
	fd = bpf_prog_load(site->kind == BPF_KIND_EVENT ? BPF_PROG_TYPE_PERF_EVENT
							: BPF_PROG_TYPE_KPROBE,
			   "test", "GPL", code.insns, code.count, &options);
	cr_assert_geq(fd, 0, "%s", log);
	close(fd);
	read_log(log, lines, code.count);
	compared = compare(code.insns, code.count, lines);
	cr_expect_gt(compared, code.count / 2);
	free(lines);
	free(log);
	bpf_code_deinit(&code);
	agent_expr_unref(expr);
}

static void check_program(struct agent_expr *expr, bool native_division)
{
	const struct bpf_site breakpoint = {0};

	check_program_at(expr, native_division, &breakpoint);
}

/* Every kind of instruction that conditions become: arithmetic, memory, jumps. */
Test(print_compiled, as_the_verifier_prints_them)
{
	for (enum agent_code op = AGENT_ADD; op <= AGENT_REF64; op++) {
		struct text text = {0};

		if (op == AGENT_TRACE || op == AGENT_TRACE_QUICK)
			continue;
		text_put(&text, REG(0), REG(1), REG(2));
		text_op(&text, op, 17);
		check_program(text_expr(&text), true);
		check_program(text_expr(&text), false);
	}
	check_program(EXPR(REG(0), CONST64(0x0102030405060708), AGENT_EQUAL, AGENT_END),
		      true);
	check_program(
		EXPR(REG(0), ZERO_EXT(32), CONST8(3), AGENT_LESS_SIGNED, AGENT_END),
		true);
}

/* What a uprobe's has besides: the address of a store, the longer record. */
Test(print_compiled, at_a_uprobe)
{
	const struct bpf_site site = {
		.kind = BPF_KIND_UPROBE,
		.store = {.len = 4,
			  .base = 0,
			  .index = 1,
			  .scale = 4,
			  .displacement = INT64_C(0x123456789a)},
	};

	check_program_at(EXPR(REG(0), AGENT_END), true, &site);
}
