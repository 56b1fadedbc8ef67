/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qXfer: objects that the client reads (and writes) by offset and length, over a
 * table. To add an object is to add a row. packet_qXfer is declared in packet.h.
 *
 * Source of the facts: "Debugging with GDB", appendix "Remote Protocol", General
 * Query Packets, qXfer.
 */
#ifndef TRUEHIT_PACKETS_XFER_H
#define TRUEHIT_PACKETS_XFER_H

#include "gdbstub/base/buffer.h"

struct xfer;

/** Appends what qSupported says of the objects: features, separated by ";". */
void xfer_append_features(struct buffer *out);

/** Frees the object that the client is reading in pieces. NULL: there is none. */
void xfer_destroy(struct xfer *xfer);

#endif
