/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of aarch64's stores against another decoder. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "arch/aarch64/aarch64.h"
#include "arch/capstone.h"
#include "tests/unit/rng.h"

enum { WORDS = 100000 };

static unsigned int number(uint32_t word, struct insn_field field)
{
	return word >> field.at & ((1U << field.len) - 1);
}

static const struct store_form *find_form(uint32_t word)
{
	for (unsigned int i = 0; i < aarch64_stores.count; i++) {
		const struct store_form *form = &aarch64_stores.form[i];

		if ((word & form->insn.mask) == form->insn.value)
			return form;
	}
	return NULL;
}

/* Is the base, written back, stored? Or are bits of stlr not ones as they should be? */
static bool is_unpredictable(uint32_t word)
{
	const struct store_form *form = find_form(word);
	unsigned int base = form ? number(word, form->base) : 31;

	if ((word & 0x3fe00000) == 0x08800000 && (word & 0x001f7c00) != 0x001f7c00)
		return true;
	return base != 31 && form->writes_back &&
	       (number(word, form->data) == base ||
		(form->second.len > 0 && number(word, form->second) == base));
}

/* Of general registers, and no exclusive, atomic or tag-setting one. */
static bool is_store(const cs_insn *decoded)
{
	static const char *const names[] = {
		"str",	 "strb",  "strh",  "stur",   "sturb", "sturh",
		"sttr",	 "sttrb", "sttrh", "stp",    "stnp",  "stlr",
		"stlrb", "stlrh", "stllr", "stllrb", "stllrh"};
	char first = decoded->op_str[0];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcmp(decoded->mnemonic, names[i]) == 0)
			return first == 'w' || first == 'x';
	return strncmp(decoded->mnemonic, "swp", 3) == 0 ||
	       strncmp(decoded->mnemonic, "stlur", 5) == 0;
}

/* capstone 4 knows less than the table. */
static bool is_newer(uint32_t word)
{
	return (word & 0x3f000000) == 0x19000000 || (word & 0x3f200c00) == 0x38200000 ||
	       (word & 0x3fff7c00) == 0x089f7c00;
}

Test(watch_ahead, capstone_agrees)
{
	csh handle;
	cs_insn *decoded;
	struct rng rng = {1};
	unsigned int known = 0;

	cr_assert_eq(cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &handle), CS_ERR_OK);
	decoded = cs_malloc(handle);
	for (int i = 0; i < WORDS; i++) {
		/* loads and stores: bit 27 is set, bit 25 is not */
		uint32_t word = ((uint32_t)rng_next(&rng) | 0x08000000) & ~0x02000000U;
		const uint8_t *code = (const uint8_t *)&word;
		size_t size = sizeof(word);
		uint64_t address = 0;

		if (is_unpredictable(word))
			continue;
		if (!cs_disasm_iter(handle, &code, &size, &address, decoded)) {
			cr_assert(!find_form(word) || is_newer(word), "%08x", word);
			continue;
		}
		known += find_form(word) != NULL;
		cr_assert_eq(find_form(word) != NULL, is_store(decoded), "%08x %s %s",
			     word, decoded->mnemonic, decoded->op_str);
	}
	cr_expect_gt(known, 1000);
	cs_free(decoded, 1);
	cs_close(&handle);
}
