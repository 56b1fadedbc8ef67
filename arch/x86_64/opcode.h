/* SPDX-License-Identifier: BSD-2-Clause */
/* What the bytes of an instruction say before its operands (Intel SDM volume 2, 2.1).
 */
#ifndef TRUEHIT_ARCH_X86_64_OPCODE_H
#define TRUEHIT_ARCH_X86_64_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

struct cs_insn; /* capstone/capstone.h */

struct x86_64_opcode {
	bool lock, rep, repne, operand_size, address_size;
	bool wide;	 /* REX.W, which beats the operand size */
	bool segment;	 /* fs or gs, of which capstone may forget one */
	bool odd;	 /* prefixes where processors may differ */
	uint8_t first;	 /* its first byte, after prefixes and REX */
	unsigned int at; /* ... where in the instruction */
};

/** By the bytes, as capstone's versions keep different ones of them. */
struct x86_64_opcode x86_64_opcode(const struct cs_insn *insn);
/** The same of at least one byte, of which it may be less than all. */
struct x86_64_opcode x86_64_opcode_at(const uint8_t *code, unsigned int len);

#endif
