/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A decoder for the processor of an inferior, which its engines keep while nobody uses
 * it: to make one, and to decode the first instruction by it, takes capstone longer
 * than all else that is done about a breakpoint (0.14 ms; 0.7 us for one that was
 * used).
 */
#ifndef TRUEHIT_TEXT_KEPT_DECODER_H
#define TRUEHIT_TEXT_KEPT_DECODER_H

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/text/decoder.h"

/** The caller's alone, who gives it back. NULL: as decoder_init(). */
struct decoder *decoder_take(const struct inferior *inferior);
void decoder_give_back(const struct inferior *inferior, struct decoder *decoder);

/** Of engines that end; NULL: none was kept. */
void decoder_destroy(struct decoder *decoder);

#endif
