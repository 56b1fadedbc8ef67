/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must hold at a hit of one of the library's filters (bpf/library/truehit.h),
 * beside its condition. It lies in memory that programs and their user share, so that
 * it is changed without loading a program, and without a system call.
 */
#ifndef TRUEHIT_BPF_SHARED_MATCH_H
#define TRUEHIT_BPF_SHARED_MATCH_H

#include <stdint.h>

#include "bpf/shared/match_value.h"

enum {
	MATCHES_MAX = 256,
	MATCH_REGISTERS = 34, /* gdb's numbers: the general ones, and the PC */
};

struct bpf_match {
	int64_t armed; /* so many true hits are told; 0 or less: hits are none */
	uint32_t only_tid, not_tid;	 /* 0: any, none */
	uint64_t registers;		 /* bit n: register n has to be ... */
	uint64_t value[MATCH_REGISTERS]; /* ... this */
	uint64_t flags_mask, flags; /* of the flags register: these bits, as they are */
	uint64_t counts, counter;   /* not 0: the counter has to be so much */
	struct match_value seen;
};

#endif
