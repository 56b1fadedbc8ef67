/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pads of a server that was killed. They do no harm (server_word.h), but the jumps to
 * them are not the text's: a server that attaches puts there what the files have. The
 * memory of the pads stays, as a thread may have to come back to it, from a signal
 * handler, say.
 */
#ifndef TRUEHIT_PADS_LEFTOVERS_H
#define TRUEHIT_PADS_LEFTOVERS_H

#include "gdbstub/inferior/inferior.h"

/** All threads are stopped, and there are no pads of ours yet. How many jumps were
 * taken out. */
unsigned int leftovers_take_out(struct inferior *inferior);

#endif
