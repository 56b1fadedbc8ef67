/* SPDX-License-Identifier: BSD-2-Clause */
/* References to memory, also to bytes that are watched, or planted. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/compiled.h"

TestSuite(compile, .init = set_up, .fini = tear_down, .timeout = 300);

static void push_address(struct text *t, const void *base)
{
	text_put(t, CONST64((uintptr_t)base), REG(0), AGENT_ADD);
}

static struct agent_expr *make_ref(uint8_t code, enum source source)
{
	struct text t = {0};

	push_ballast(&t, source);
	push_address(&t, memory);
	text_put(&t, code, REG(1), AGENT_EQUAL);
	return text_expr(&t);
}

Test(compile, references)
{
	struct bpf_compile_options options = default_options();

	for (uint8_t code = AGENT_REF8; code <= AGENT_REF64; code++) {
		struct agent_expr *expr =
			make_ref(code, code % 2 ? FROM_REGISTER : FROM_DEEP_SLOT);
		int event = start(&expr, 1, &options, false);

		for (uint64_t offset = 0; offset < 20; offset++) {
			uint64_t value = 0;

			memcpy(&value, memory + offset, agent_opcode(code)->size);
			fixture.exchange->args[0] = offset;
			fixture.exchange->args[1] = value;
			cr_assert_eq(run(), BPF_TRUE);
			fixture.exchange->args[1] = value ^ 0x80;
			cr_assert_eq(run(), BPF_FALSE);
		}
		/* An address that nothing is at, one of the kernel's. */
		fixture.exchange->args[0] = 16 - (uintptr_t)memory;
		cr_assert_eq(run(), BPF_MAYBE);
		fixture.exchange->args[0] = UINT64_MAX - (uintptr_t)memory;
		cr_assert_eq(run(), BPF_MAYBE);
		close(event);
		agent_expr_unref(expr);
	}
}

static unsigned int count_reads(const struct bpf_code *code)
{
	unsigned int count = 0;

	for (size_t i = 0; i < code->count; i++)
		count += code->insns[i].code == (BPF_JMP | BPF_CALL) &&
			 code->insns[i].imm == BPF_FUNC_probe_read_user;
	return count;
}

/* A condition on @size bytes at an offset into the watched ones. */
static void try_watched(uint8_t code, uint64_t offset, unsigned int len)
{
	struct bpf_compile_options options = default_options();
	unsigned int size = agent_opcode(code)->size;
	bool is_there = offset % size == 0 && offset + size <= len;
	struct text t = {0};
	struct agent_expr *expr;
	struct bpf_code made;
	uint64_t value = 0;
	int event;

	text_put(&t, CONST64((uintptr_t)memory + offset), code, REG(1), AGENT_EQUAL);
	expr = text_expr(&t);
	options.site.watch = (struct bpf_watch){
		.access = true, .addr = (uintptr_t)memory, .len = len};
	cr_assert_null(compile(&expr, 1, &options, &made));
	cr_expect_eq(count_reads(&made), is_there ? 1 : 2, "%u bytes at %d", size,
		     (int)offset);
	bpf_code_deinit(&made);

	event = start(&expr, 1, &options, false);
	memcpy(&value, memory + offset, size);
	for (int differs = 0; differs < 2; differs++) {
		fixture.exchange->args[1] = value ^ (differs ? 0x80 : 0);
		fixture.shared->locations[LOCATION].last =
			(struct watch_last){.unsure = 1};
		cr_expect_eq(run(), differs ? BPF_FALSE : BPF_TRUE, "%u bytes at %d",
			     size, (int)offset);
	}
	fixture.shared->shadow_start = (uintptr_t)memory + offset;
	fixture.shared->shadow_end = fixture.shared->shadow_start + 1;
	fixture.shared->locations[LOCATION].last.unsure = 1;
	cr_expect_eq(run(), BPF_MAYBE);
	fixture.shared->shadow_start = fixture.shared->shadow_end = 0;
	close(event);
	agent_expr_unref(expr);
}

/* The value filter reads the watched bytes; a condition on them is about these. */
Test(compile, watched_bytes_are_read_once)
{
	static const uint64_t offsets[] = {0, 2, 4, 8, 11, 12};

	for (uint8_t code = AGENT_REF8; code <= AGENT_REF64; code++)
		for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
			try_watched(code, offsets[i], 12);
}

Test(compile, planted_bytes_are_a_maybe)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = make_ref(AGENT_REF32, FROM_REGISTER);
	int event = start(&expr, 1, &options, false);

	fixture.exchange->args[1] = 1; /* not the value anywhere */
	fixture.shared->shadow_start = (uintptr_t)memory + 10;
	fixture.shared->shadow_end = (uintptr_t)memory + 12;
	for (uint64_t offset = 0; offset < 20; offset++) {
		fixture.exchange->args[0] = offset;
		cr_expect_eq(run(),
			     offset + 4 > 10 && offset < 12 ? BPF_MAYBE : BPF_FALSE);
	}
	fixture.shared->shadow_start = fixture.shared->shadow_end = 0;
	fixture.exchange->args[0] = 10;
	cr_expect_eq(run(), BPF_FALSE);
	close(event);
	agent_expr_unref(expr);
}

/* [4, 6) is planted, then [9, 10), [15, 16) and [20, 21). */
Test(compile, gaps_between_planted_bytes_are_no_maybe)
{
	struct bpf_compile_options options = default_options();
	struct agent_expr *expr = make_ref(AGENT_REF16, FROM_REGISTER);
	uint64_t base = (uintptr_t)memory;
	struct shadow_range planted[] = {{base + 4, base + 6},
					 {base + 9, base + 10},
					 {base + 15, base + 16},
					 {base + 20, base + 21}};
	struct shadow shadow = shadow_around(planted, 4);
	int event = start(&expr, 1, &options, false);

	fixture.exchange->args[1] = 1; /* not the value anywhere */
	fixture.shared->shadow_start = shadow.all.start;
	fixture.shared->shadow_end = shadow.all.end;
	memcpy(fixture.shared->shadow_gaps, shadow.gaps, sizeof(shadow.gaps));
	for (uint64_t offset = 0; offset < 24; offset++) {
		bool touches = false;

		for (int i = 0; i < 4; i++)
			touches |= base + offset + 2 > planted[i].start &&
				   base + offset < planted[i].end;
		fixture.exchange->args[0] = offset;
		cr_expect_eq(run(), touches ? BPF_MAYBE : BPF_FALSE, "at %d",
			     (int)offset);
	}
	fixture.shared->shadow_start = fixture.shared->shadow_end = 0;
	memset(fixture.shared->shadow_gaps, 0, sizeof(fixture.shared->shadow_gaps));
	close(event);
	agent_expr_unref(expr);
}
