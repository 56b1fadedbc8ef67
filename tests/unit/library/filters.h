/* SPDX-License-Identifier: BSD-2-Clause */
/* Filters of libtruehit, and a function whose calls they tell apart. */
#ifndef TRUEHIT_TESTS_UNIT_LIBRARY_FILTERS_H
#define TRUEHIT_TESTS_UNIT_LIBRARY_FILTERS_H

#include "bpf/library/truehit.h"

extern struct truehit *truehit;
extern struct truehit_filter *filter;

/** Makes the context; skips the test without rights. */
void start_filters(void);
/** Opens @filter; it has to go well, as the next one has. */
void open_filter(pid_t pid, enum truehit_deed deed, unsigned int flags);
/** From now on, this process ends if it asks for anything of BPF's, */
void forbid_bpf(void);
/** ... and cannot read memory by pread(2). */
void forbid_memory(void);
void match(const struct truehit_match *match);
struct truehit_counts counts_of(const struct truehit_filter *of);

void place(long a, long b);
/** Calls place(0, 0), place(1, 0) up to place(9, 0), place(0, 1) and so on. */
void pass(long times);
/** Registers of its two arguments, by the calling convention, and the PC. */
unsigned int register_number(const char *x86_64, const char *aarch64);
#define FIRST  register_number("rdi", "x0")
#define SECOND register_number("rsi", "x1")
#define PC     register_number("rip", "pc")

#endif
