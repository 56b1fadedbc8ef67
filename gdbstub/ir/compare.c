/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/ir/compare.h"

static const struct compare_def {
	enum ir_compare negated, swapped;
} compares[] = {
	[IR_EQ] = {IR_NE, IR_EQ},
	[IR_NE] = {IR_EQ, IR_NE},
	[IR_LT_SIGNED] = {IR_GE_SIGNED, IR_GT_SIGNED},
	[IR_LE_SIGNED] = {IR_GT_SIGNED, IR_GE_SIGNED},
	[IR_GT_SIGNED] = {IR_LE_SIGNED, IR_LT_SIGNED},
	[IR_GE_SIGNED] = {IR_LT_SIGNED, IR_LE_SIGNED},
	[IR_LT_UNSIGNED] = {IR_GE_UNSIGNED, IR_GT_UNSIGNED},
	[IR_LE_UNSIGNED] = {IR_GT_UNSIGNED, IR_GE_UNSIGNED},
	[IR_GT_UNSIGNED] = {IR_LE_UNSIGNED, IR_LT_UNSIGNED},
	[IR_GE_UNSIGNED] = {IR_LT_UNSIGNED, IR_LE_UNSIGNED},
};

enum ir_compare ir_compare_negated(enum ir_compare compare)
{
	return compares[compare].negated;
}

enum ir_compare ir_compare_swapped(enum ir_compare compare)
{
	return compares[compare].swapped;
}
