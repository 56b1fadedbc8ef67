/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every operation on the values where it might go wrong: each result is compared
 * with the right one, and with one that differs in one bit.
 */
#ifndef TRUEHIT_FUZZ_DIRECTED_H
#define TRUEHIT_FUZZ_DIRECTED_H

#include "tests/fuzz/judge.h"

/** Runs all of them. What is wrong is counted and printed. */
struct error *directed_run(struct judge *judge);

#endif
