/* SPDX-License-Identifier: BSD-2-Clause */
/* Which registers a processor has, whatever this one does; streaming mode. */
#include "arch/aarch64/aarch64.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "arch/register_table.h"

/* elf_hwcaps.rst; newer than the C library's headers. */
#define GCS  (1UL << 32)
#define SME  (1UL << 23)
#define SME2 (1UL << 37)
#define FPMR (1UL << 48)

enum { ZA_HEADER = 16, SIDE = 32 };

static const struct reg_def *row(const char *name)
{
	return reg_by_name(arch_native(), name);
}

static void expect_row(const char *name, const char *feature, unsigned int nt_type,
		       unsigned int bits)
{
	const struct reg_def *reg = row(name);

	cr_assert_not_null(reg, "%s", name);
	cr_expect_str_eq(reg->feature, feature);
	cr_expect_eq(aarch64_regsets[reg->regset].nt_type, nt_type, "%s", name);
	cr_expect_eq(reg->bits, bits, "%s", name);
}

Test(aarch64_registers, all_that_there_is)
{
	const struct aarch64_features all = {
		.hwcap = GCS,
		.hwcap2 = SME | SME2 | FPMR,
		.quads = 4,
		.streaming = SIDE / 16,
	};
	struct buffer xml _cleanup_buffer_ = {0};

	aarch64_make_table(&all);
	expect_row("svg", "org.gnu.gdb.aarch64.sme", 0x40c, 64);
	expect_row("svcr", "org.gnu.gdb.aarch64.sme", 0x40c, 64);
	expect_row("za", "org.gnu.gdb.aarch64.sme", 0x40c, SIDE * SIDE * 8);
	expect_row("zt0", "org.gnu.gdb.aarch64.sme2", 0x40d, 512);
	expect_row("gcspr", "org.gnu.gdb.aarch64.gcs", 0x410, 64);
	expect_row("gcs_features_enabled", "org.gnu.gdb.aarch64.gcs.linux", 0x410, 64);
	expect_row("gcs_features_locked", "org.gnu.gdb.aarch64.gcs.linux", 0x410, 64);
	expect_row("fpmr", "org.gnu.gdb.aarch64.fpmr", 0x40e, 64);
	cr_expect_eq(row("gcspr")->offset, 16);
	cr_expect_eq(row("z31")->bits, 512);
	aarch64_target_xml(&xml);
	cr_expect_not_null(strstr(buffer_string(&xml),
				  "<vector id=\"sme_bvv\" type=\"sme_bv\" "
				  "count=\"32\"/>"));
	cr_expect_not_null(strstr(buffer_string(&xml),
				  "<vector id=\"sme2_bv\" type=\"uint8\" "
				  "count=\"64\"/>"));
	cr_expect_not_null(strstr(buffer_string(&xml), "PR_SHADOW_STACK_PUSH"));
}

Test(aarch64_registers, none_of_it)
{
	static const char *const names[] = {
		"svg",	 "svcr", "za", "zt0",
		"gcspr", "fpmr", "z0", "gcs_features_enabled",
		"tpidr2"};
	const struct aarch64_features none = {0};

	aarch64_make_table(&none);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		cr_expect_null(row(names[i]), "%s", names[i]);
	cr_expect_not_null(row("v31"));
	for (unsigned int i = AARCH64_ZTREGS; i < AARCH64_NREGSETS; i++)
		cr_expect_eq(aarch64_regsets[i].nt_type, 0);
}

/* Its matrix would not fit. */
Test(aarch64_registers, longest_vectors)
{
	const struct aarch64_features features = {
		.hwcap2 = SME | SME2, .quads = 16, .streaming = 16};

	aarch64_make_table(&features);
	cr_expect_null(row("za"));
	cr_expect_null(row("zt0"));
	cr_expect_not_null(row("tpidr2"));
	cr_expect_eq(aarch64_regsets[AARCH64_FPREGS].other_type, 0);
}

Test(aarch64_registers, mode)
{
	const struct aarch64_features features = {
		.hwcap2 = SME, .quads = 4, .streaming = SIDE / 16};
	static struct regs regs;
	uint64_t svcr, other = 3;

	aarch64_make_table(&features);
	regs.arch = arch_native();
	regs.size[AARCH64_ZAREGS] = ZA_HEADER;
	regs.data[AARCH64_ZAREGS][0] = ZA_HEADER;
	regs.data[AARCH64_ZAREGS][8] = SIDE;
	/* Nobody knows the mode. */
	cr_expect_eq(aarch64_reg_read(&regs, row("svcr"), &svcr), -ENODATA);
	cr_expect_eq(aarch64_reg_write(&regs, row("svcr"), &other), -ENODATA);
	regs.size[AARCH64_FPREGS] = 16;
	cr_expect_eq(aarch64_reg_read(&regs, row("svcr"), &svcr), 0);
	cr_expect_eq(svcr, 0);
	regs.by_other[AARCH64_FPREGS] = true;
	cr_expect_eq(aarch64_reg_read(&regs, row("svcr"), &svcr), 0);
	cr_expect_eq(svcr, 1);
	cr_expect_eq(aarch64_reg_write(&regs, row("svcr"), &other), -EOPNOTSUPP);
	cr_expect_eq(row("svcr")->also, AARCH64_FPREGS);
}
