/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparisons of the intermediate code (ir.h). */
#ifndef TRUEHIT_IR_COMPARE_H
#define TRUEHIT_IR_COMPARE_H

enum ir_compare {
	IR_EQ,
	IR_NE,
	IR_LT_SIGNED,
	IR_LE_SIGNED,
	IR_GT_SIGNED,
	IR_GE_SIGNED,
	IR_LT_UNSIGNED,
	IR_LE_UNSIGNED,
	IR_GT_UNSIGNED,
	IR_GE_UNSIGNED,
};

/** The comparison that holds when @compare does not. */
enum ir_compare ir_compare_negated(enum ir_compare compare);
/** The same comparison with its operands exchanged. */
enum ir_compare ir_compare_swapped(enum ir_compare compare);

#endif
