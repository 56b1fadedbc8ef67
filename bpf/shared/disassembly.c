/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/shared/disassembly.h"

#include <inttypes.h>
#include <stdbool.h>

/* Bits that headers of older kernels do not name. */
enum {
	MODE_SIGN_EXTEND = 0x80,
	SIGNED = 1, /* .off of a division */
};

/* Does it take two places? */
static bool is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static void print_unknown(const struct bpf_insn *insn, struct buffer *out)
{
	buffer_printf(out, "code 0x%02x dst %u src %u off %d imm 0x%x", insn->code,
		      insn->dst_reg, insn->src_reg, insn->off, (uint32_t)insn->imm);
}

/* ---- arithmetic ---- */

/* 'r': 64 bits, 'w': the low 32. */
static char width(uint8_t class)
{
	return class == BPF_ALU64 || class == BPF_JMP ? 'r' : 'w';
}

static void print_byte_order(const struct bpf_insn *insn, struct buffer *out)
{
	const char *order = BPF_SRC(insn->code) == BPF_TO_BE ? "be" : "le";

	buffer_printf(out, "r%u = %s%d r%u", insn->dst_reg,
		      BPF_CLASS(insn->code) == BPF_ALU64 ? "bswap" : order, insn->imm,
		      insn->dst_reg);
}

static const char *arith_text(const struct bpf_insn *insn)
{
	static const char *const texts[] = {
		[BPF_ADD >> 4] = "+=",
		[BPF_SUB >> 4] = "-=",
		[BPF_MUL >> 4] = "*=",
		[BPF_DIV >> 4] = "/=",
		[BPF_OR >> 4] = "|=",
		[BPF_AND >> 4] = "&=",
		[BPF_LSH >> 4] = "<<=",
		[BPF_RSH >> 4] = ">>=",
		[BPF_MOD >> 4] = "%=",
		[BPF_XOR >> 4] = "^=",
		[BPF_MOV >> 4] = "=",
		[BPF_ARSH >> 4] = "s>>=",
		[15] = NULL,
	};
	uint8_t op = BPF_OP(insn->code);

	if (insn->off == SIGNED && op == BPF_DIV)
		return "s/=";
	if (insn->off == SIGNED && op == BPF_MOD)
		return "s%=";
	return texts[op >> 4];
}

static void print_arith(const struct bpf_insn *insn, struct buffer *out)
{
	char w = width(BPF_CLASS(insn->code));
	const char *text = arith_text(insn);

	if (BPF_OP(insn->code) == BPF_END) {
		print_byte_order(insn, out);
		return;
	}
	if (BPF_OP(insn->code) == BPF_NEG) {
		buffer_printf(out, "%c%u = -%c%u", w, insn->dst_reg, w, insn->dst_reg);
		return;
	}
	if (!text) {
		print_unknown(insn, out);
		return;
	}
	buffer_printf(out, "%c%u %s ", w, insn->dst_reg, text);
	if (BPF_SRC(insn->code) == BPF_K)
		buffer_printf(out, "%d", insn->imm);
	else if (BPF_OP(insn->code) == BPF_MOV && insn->off != 0)
		buffer_printf(out, "(s%d)%c%u", insn->off, w, insn->src_reg);
	else
		buffer_printf(out, "%c%u", w, insn->src_reg);
}

/* ---- memory ---- */

static const char *size_text(uint8_t code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B:
		return "8";
	case BPF_H:
		return "16";
	case BPF_W:
		return "32";
	default:
		return "64";
	}
}

static void print_wide(const struct bpf_insn *insn, const struct bpf_insn *next,
		       struct buffer *out)
{
	uint64_t value = (uint64_t)(uint32_t)next->imm << 32 | (uint32_t)insn->imm;

	switch (insn->src_reg) {
	case 0:
		buffer_printf(out, "r%u = 0x%" PRIx64, insn->dst_reg, value);
		break;
	case BPF_PSEUDO_MAP_FD:
		buffer_printf(out, "r%u = map[fd:%d]", insn->dst_reg, insn->imm);
		break;
	case BPF_PSEUDO_MAP_VALUE:
		buffer_printf(out, "r%u = map[fd:%d][0]+%d", insn->dst_reg, insn->imm,
			      next->imm);
		break;
	default:
		print_unknown(insn, out);
	}
}

static void print_load(const struct bpf_insn *insn, struct buffer *out)
{
	uint8_t mode = BPF_MODE(insn->code);

	if (mode != BPF_MEM && mode != MODE_SIGN_EXTEND) {
		print_unknown(insn, out);
		return;
	}
	buffer_printf(out, "r%u = *(%c%s *)(r%u %+d)", insn->dst_reg,
		      mode == BPF_MEM ? 'u' : 's', size_text(insn->code), insn->src_reg,
		      insn->off);
}

static void print_fetch(const struct bpf_insn *insn, const char *name,
			struct buffer *out)
{
	const char *size = size_text(insn->code);
	char w = BPF_SIZE(insn->code) == BPF_DW ? 'r' : 'w';
	bool compares = insn->imm == BPF_CMPXCHG;

	buffer_printf(out, "%c%u = atomic%s_%s((u%s *)(r%u %+d), ", w,
		      compares ? BPF_REG_0 : insn->src_reg,
		      BPF_SIZE(insn->code) == BPF_DW ? "64" : "", name, size,
		      insn->dst_reg, insn->off);
	if (compares)
		buffer_printf(out, "%c0, ", w);
	buffer_printf(out, "%c%u)", w, insn->src_reg);
}

static void print_atomic(const struct bpf_insn *insn, struct buffer *out)
{
	static const struct {
		int32_t imm;
		const char *text; /* of the plain operation; NULL: it fetches */
		const char *name;
	} rows[] = {
		{BPF_ADD, "+=", NULL},
		{BPF_AND, "&=", NULL},
		{BPF_OR, "|=", NULL},
		{BPF_XOR, "^=", NULL},
		{BPF_ADD | BPF_FETCH, NULL, "fetch_add"},
		{BPF_AND | BPF_FETCH, NULL, "fetch_and"},
		{BPF_OR | BPF_FETCH, NULL, "fetch_or"},
		{BPF_XOR | BPF_FETCH, NULL, "fetch_xor"},
		{BPF_XCHG, NULL, "xchg"},
		{BPF_CMPXCHG, NULL, "cmpxchg"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (rows[i].imm != insn->imm)
			continue;
		if (rows[i].text)
			buffer_printf(out, "lock *(u%s *)(r%u %+d) %s r%u",
				      size_text(insn->code), insn->dst_reg, insn->off,
				      rows[i].text, insn->src_reg);
		else
			print_fetch(insn, rows[i].name, out);
		return;
	}
	print_unknown(insn, out);
}

static void print_store(const struct bpf_insn *insn, struct buffer *out)
{
	bool is_imm = BPF_CLASS(insn->code) == BPF_ST;

	if (BPF_MODE(insn->code) != BPF_MEM) {
		print_unknown(insn, out);
		return;
	}
	buffer_printf(out, "*(u%s *)(r%u %+d) = ", size_text(insn->code), insn->dst_reg,
		      insn->off);
	if (is_imm)
		buffer_printf(out, "%d", insn->imm);
	else
		buffer_printf(out, "r%u", insn->src_reg);
}

/* ---- control ---- */

/* NULL: it has none. */
static const char *helper_name(int32_t number)
{
#define NAME(name) [BPF_FUNC_##name] = #name
	static const char *const names[] = {__BPF_FUNC_MAPPER(NAME)};
#undef NAME
	const size_t count = sizeof(names) / sizeof(*names);

	return number >= 0 && (size_t)number < count ? names[number] : NULL;
}

static void print_call(const struct bpf_insn *insn, struct buffer *out)
{
	const char *name = insn->src_reg == 0 ? helper_name(insn->imm) : NULL;

	if (name)
		buffer_printf(out, "call bpf_%s#%d", name, insn->imm);
	else
		print_unknown(insn, out);
}

/* NULL: it is no comparison. */
static const char *compare_text(uint8_t code)
{
	static const char *const texts[] = {
		[BPF_JEQ >> 4] = "==",	 [BPF_JNE >> 4] = "!=",
		[BPF_JSET >> 4] = "&",	 [BPF_JGT >> 4] = ">",
		[BPF_JGE >> 4] = ">=",	 [BPF_JLT >> 4] = "<",
		[BPF_JLE >> 4] = "<=",	 [BPF_JSGT >> 4] = "s>",
		[BPF_JSGE >> 4] = "s>=", [BPF_JSLT >> 4] = "s<",
		[BPF_JSLE >> 4] = "s<=", [15] = NULL,
	};

	return texts[BPF_OP(code) >> 4];
}

static void print_condition(const struct bpf_insn *insn, struct buffer *out)
{
	char w = width(BPF_CLASS(insn->code));

	buffer_printf(out, "if %c%u %s ", w, insn->dst_reg, compare_text(insn->code));
	if (BPF_SRC(insn->code) == BPF_K)
		buffer_printf(out, "0x%x", (uint32_t)insn->imm);
	else
		buffer_printf(out, "%c%u", w, insn->src_reg);
	buffer_append_char(out, ' ');
}

/* The distance counts from the next instruction. */
static void print_goto(size_t at, int32_t distance, struct buffer *out)
{
	buffer_printf(out, "goto pc%+d <%" PRId64 ">", distance,
		      (int64_t)at + 1 + distance);
}

static void print_control(const struct bpf_insn *insn, size_t at, struct buffer *out)
{
	switch (insn->code) {
	case BPF_JMP | BPF_CALL:
		print_call(insn, out);
		return;
	case BPF_JMP | BPF_EXIT:
		buffer_append_string(out, "exit");
		return;
	case BPF_JMP | BPF_JA:
		print_goto(at, insn->off, out);
		return;
	case BPF_JMP32 | BPF_JA:
		print_goto(at, insn->imm, out);
		return;
	default:
		break;
	}
	if (!compare_text(insn->code)) {
		print_unknown(insn, out);
		return;
	}
	print_condition(insn, out);
	print_goto(at, insn->off, out);
}

/* @insn is number @at; @next may be its second half, NULL: there is none. */
static void print_insn(const struct bpf_insn *insn, size_t at,
		       const struct bpf_insn *next, struct buffer *out)
{
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		print_arith(insn, out);
		break;
	case BPF_JMP:
	case BPF_JMP32:
		print_control(insn, at, out);
		break;
	case BPF_LDX:
		print_load(insn, out);
		break;
	case BPF_ST:
		print_store(insn, out);
		break;
	case BPF_STX:
		if (BPF_MODE(insn->code) == BPF_ATOMIC)
			print_atomic(insn, out);
		else
			print_store(insn, out);
		break;
	default: /* BPF_LD */
		if (is_wide(insn) && next)
			print_wide(insn, next, out);
		else
			print_unknown(insn, out);
	}
}

static void print_comment(const struct bpf_insn *insn, bpf_comment_fn *comment,
			  void *data, struct buffer *out)
{
	_cleanup_buffer_ struct buffer text = {0};

	if (comment)
		comment(data, insn, &text);
	if (text.len > 0)
		buffer_printf(out, " ; %s", buffer_string(&text));
}

void bpf_print(const struct bpf_insn *insns, size_t count, bpf_comment_fn *comment,
	       void *data, struct buffer *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct bpf_insn *insn = &insns[i];

		buffer_printf(out, "%6zu: ", i);
		print_insn(insn, i, i + 1 < count ? insn + 1 : NULL, out);
		print_comment(insn, comment, data, out);
		buffer_append_char(out, '\n');
		if (is_wide(insn))
			i++;
	}
}
