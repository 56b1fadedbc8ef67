/* SPDX-License-Identifier: BSD-2-Clause */
/* --disable-packet: the server plays an older one that lacks some packets. */
#ifndef TRUEHIT_RSP_DISABLE_H
#define TRUEHIT_RSP_DISABLE_H

#include "gdbstub/base/error.h"

/* No bit of enum packet_flags, so that both fit into a packet's flags. */
enum {
	DISABLE_VCONT = 0x100,	      /* vCont and vCont? */
	DISABLE_QC = 0x200,	      /* qC */
	DISABLE_QFTHREADINFO = 0x400, /* qfThreadInfo */
	DISABLE_TTHREAD = 0x800,      /* the thread in stop replies */
	DISABLE_T = 0x1000,	      /* T stop replies: S instead */
	DISABLE_NO_ACK = 0x2000,      /* QStartNoAckMode: no option, for serial lines */
	DISABLE_MEMORY_TAGS = 0x4000, /* no option, for processors without them */
};

/** Adds what a comma-separated list of names means to *mask. The error names the
 * unknown one; nothing is changed then. */
struct error *disable_parse(const char *list, unsigned int *mask);
/** Prints the names and what they mean to stdout. */
void disable_print_names(void);

#endif
