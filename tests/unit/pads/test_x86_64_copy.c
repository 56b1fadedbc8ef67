/* SPDX-License-Identifier: BSD-2-Clause */
/* Which instructions of x86_64 have no copy, and how far one may be. */
#include <criterion/criterion.h>
#include <string.h>

#include "arch/displaced.h"
#include "gdbstub/text/decoder.h"

enum { CODE = 0x401000 };

static struct decoder decoder;

static void begin(void)
{
	cr_assert_null(arch_native()->init());
	cr_assert(decoder_init(&decoder, arch_native()));
}

static void end(void)
{
	decoder_deinit(&decoder);
}

TestSuite(x86_64_copy, .init = begin, .fini = end);

static struct displaced copy(const uint8_t *code, size_t len, uint64_t to)
{
	struct displaced ret;

	cr_assert(decoder_run(&decoder, code, len, CODE));
	cr_assert_eq(decoder.insn->size, len, "%s %s", decoder.insn->mnemonic,
		     decoder.insn->op_str);
	arch_native()->displaced->copy(decoder.insn, to, &ret);
	return ret;
}

#define COPY_TO(to, ...)                                                               \
	copy((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), to)
#define COPY(...) COPY_TO(CODE + 0x10000, __VA_ARGS__)

static void refused(struct displaced copy, const char *words)
{
	cr_assert_not_null(copy.why_not, "%s %s", decoder.insn->mnemonic,
			   decoder.insn->op_str);
	cr_expect_not_null(strstr(copy.why_not, words), "%s: %s",
			   decoder.insn->mnemonic, copy.why_not);
}

static void copied(struct displaced copy, unsigned int len)
{
	cr_expect_null(copy.why_not, "%s: %s", decoder.insn->mnemonic, copy.why_not);
	cr_expect_eq(copy.len, len, "%s: %u bytes", decoder.insn->mnemonic, copy.len);
	cr_expect_eq(copy.state[0].pc, CODE);
	cr_expect_eq(copy.state[0].offset, 0);
}

Test(x86_64_copy, what_enters_the_kernel)
{
	refused(COPY(0x0f, 0x05), "enters the kernel"); /* syscall */
	refused(COPY(0x0f, 0x34), "enters the kernel"); /* sysenter */
	refused(COPY(0xcd, 0x80), "enters the kernel"); /* int $0x80 */
	refused(COPY(0xcc), "enters the kernel");	/* int3 */
	refused(COPY(0xf1), "enters the kernel");	/* int1 */
	refused(COPY(0x48, 0xcf), "enters the kernel"); /* iretq */
}

Test(x86_64_copy, what_is_privileged)
{
	refused(COPY(0xf4), "privileged");	       /* hlt */
	refused(COPY(0xfa), "privileged");	       /* cli */
	refused(COPY(0x0f, 0x20, 0xc0), "privileged"); /* mov %cr0, %rax */
	refused(COPY(0x0f, 0x01, 0xc1), "privileged"); /* vmcall */
}

Test(x86_64_copy, what_a_step_changes)
{
	refused(COPY(0x9c), "flag by which threads are stepped"); /* pushf */
	refused(COPY(0x9d), "flag by which threads are stepped"); /* popf */
	refused(COPY(0x66, 0x9c), "flag by which");		  /* pushfw */
}

Test(x86_64_copy, what_code_jumps_into)
{
	refused(COPY(0xf0, 0xff, 0x03), "LOCK"); /* lock incl (%rbx) */
	refused(COPY(0xf0, 0x48, 0x0f, 0xb1, 0x0b), "LOCK");
}

Test(x86_64_copy, transactions)
{
	refused(COPY(0xc7, 0xf8, 0, 0, 0, 0), "transaction"); /* xbegin */
	refused(COPY(0xc6, 0xf8, 1), "transaction");	      /* xabort */
}

Test(x86_64_copy, far_transfers)
{
	refused(COPY(0xff, 0x1b), "segment registers"); /* far call (%rbx) */
	refused(COPY(0xff, 0x2b), "segment registers"); /* far jmp (%rbx) */
	refused(COPY(0xcb), "segment registers");	/* far ret */
}

/* After the push, the stack pointer is another one. */
Test(x86_64_copy, calls_by_the_stack_pointer)
{
	refused(COPY(0xff, 0xd4), "stack pointer");	     /* call *%rsp */
	refused(COPY(0xff, 0x54, 0x24, 8), "stack pointer"); /* call *8(%rsp) */
	copied(COPY(0xff, 0x64, 0x24, 8), 4);		     /* jmp *8(%rsp) */
}

Test(x86_64_copy, unusual_prefixes)
{
	refused(COPY(0x66, 0xe8, 0, 0), "prefixes");
	refused(COPY(0x66, 0xff, 0xd0), "prefixes");
}

/* With EIP as the base. */
Test(x86_64_copy, addresses_of_32_bits)
{
	refused(COPY(0x67, 0x8b, 0x05, 1, 2, 3, 0), "unusual way");
}

/* Its operand is 0x10007 bytes further, as seen from here. */
Test(x86_64_copy, as_far_as_displacements_reach)
{
	const uint64_t operand = CODE + 7 + 0x10000, reach = INT32_MAX;
	struct displaced ret;

	ret = COPY_TO(operand + reach - 6, 0x48, 0x8b, 0x05, 0, 0, 1, 0);
	copied(ret, 7);
	cr_expect(ret.refers);
	cr_expect_eq(ret.reference, operand);
	ret = COPY_TO(operand + reach - 5, 0x48, 0x8b, 0x05, 0, 0, 1, 0);
	refused(ret, "too far");
	ret = COPY_TO(operand - reach - 7, 0x48, 0x8b, 0x05, 0, 0, 1, 0);
	copied(ret, 7);
	ret = COPY_TO(operand - reach - 8, 0x48, 0x8b, 0x05, 0, 0, 1, 0);
	refused(ret, "too far");
}

Test(x86_64_copy, what_leaves)
{
	cr_expect(COPY(0xc3).leaves);
	cr_expect(COPY(0xeb, 0x10).leaves);
	cr_expect(COPY(0xff, 0xe0).leaves);
	cr_expect(COPY(0xff, 0xd0).leaves); /* the address after it is pushed */
	cr_expect(COPY(0xff, 0xd0).pushes_return);
	cr_expect_not(COPY(0x75, 0x10).leaves);
	cr_expect_not(COPY(0xff, 0x33).leaves); /* push (%rbx) */
	cr_expect_not(COPY(0x55).refers);
}

/* ---- jumps in the place of instructions ---- */

/* Where position independent programs are. */
static const uint64_t place = 0x555555555000;

static unsigned int forms_at(uint64_t addr, const uint8_t *text, unsigned int len,
			     struct jump_form forms[JUMP_FORMS_MAX])
{
	return arch_native()->displaced->jump_forms(addr, text, len, forms);
}

static unsigned int forms_of(const uint8_t *text, unsigned int len,
			     struct jump_form forms[JUMP_FORMS_MAX])
{
	return forms_at(place, text, len, forms);
}

/* Of one byte: what follows is all of the displacement. */
Test(x86_64_copy, one_place)
{
	static const uint8_t text[] = {0x55, 0x48, 0x89, 0xe5, 0x10};
	struct jump_form forms[JUMP_FORMS_MAX];

	cr_assert_eq(forms_of(text, 1, forms), 1);
	cr_expect_eq(forms[0].lowest, place + 5 + 0x10e58948);
	cr_expect_eq(forms[0].highest, forms[0].lowest);
}

/* The first byte of the displacement is free, or none after a prefix; it may lead
 * backwards. */
Test(x86_64_copy, places_by_prefixes)
{
	static const uint8_t text[] = {0x75, 0x10, 0x01, 0x02, 0xff, 0x80};
	struct jump_form forms[JUMP_FORMS_MAX];

	cr_assert_eq(forms_of(text, 2, forms), 2);
	cr_expect_eq(forms[0].lowest, place + 5 - UINT64_C(0xfdff00));
	cr_expect_eq(forms[0].highest, forms[0].lowest + 0xff);
	cr_expect_eq(forms[1].prefixes, 1);
	cr_expect_eq(forms[1].lowest,
		     place + 6 + (uint64_t)(int64_t)(int32_t)0x80ff0201);
	cr_expect_eq(forms[1].highest, forms[1].lowest);
}

Test(x86_64_copy, any_place)
{
	static const uint8_t text[9] = {0xb8};
	struct jump_form forms[JUMP_FORMS_MAX];

	cr_assert_eq(forms_of(text, 5, forms), 5);
	cr_expect_eq(forms[0].lowest, place + 5 - UINT64_C(0x80000000));
	cr_expect_eq(forms[0].highest, place + 5 + UINT64_C(0x7fffffff));
}

/* Programs that are not position independent have no 2 GiB before them. */
Test(x86_64_copy, places_from_low_text)
{
	static const uint8_t any[9] = {0xb8};
	static const uint8_t some[] = {0x48, 0x8b, 0x45, 0xf8, 0xff, 0x8b, 0x8b, 0x8b};
	struct jump_form forms[JUMP_FORMS_MAX];
	cr_assert_eq(forms_at(CODE, any, 5, forms), 5);
	cr_expect_eq(forms[0].lowest, 0);
	cr_expect_eq(forms[0].highest, CODE + 5 + UINT64_C(0x7fffffff));
	/* Those with prefixes would lead far before it. */
	cr_assert_eq(forms_at(CODE, some, 4, forms), 1);
	cr_expect_eq(forms[0].prefixes, 0);
	cr_expect_eq(forms[0].lowest, 0);
	cr_expect_eq(forms[0].highest, CODE + 5 - 1);
}

/* The last bytes are those of the text, whatever of the range is chosen. */
Test(x86_64_copy, encoded)
{
	static const uint8_t text[] = {0x89, 0xc8, 0xeb, 0x01, 0x02, 0x03, 0x04, 0x05};
	struct jump_form forms[JUMP_FORMS_MAX];
	const unsigned int count = forms_of(text, 3, forms);
	uint8_t code[JUMP_LEN_MAX];

	cr_assert_eq(count, 3);
	for (unsigned int i = 0; i < count; i++) {
		const unsigned int len = arch_native()->displaced->jump_encode(
			&forms[i], place, forms[i].highest, code);

		cr_expect_eq(len, 5 + i);
		cr_expect_eq(memcmp(code + 3, text + 3, len - 3), 0);
	}
}
