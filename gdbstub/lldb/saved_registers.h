/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers of threads that the client has had saved (QSaveRegisterState), and may have
 * put back once. */
#ifndef TRUEHIT_LLDB_SAVED_REGISTERS_H
#define TRUEHIT_LLDB_SAVED_REGISTERS_H

struct saved_registers;

/** NULL is legal. */
void saved_registers_destroy(struct saved_registers *saved);

#endif
