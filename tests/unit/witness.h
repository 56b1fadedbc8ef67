/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A perf event that only counts what a breakpoint register sees, beside the one that is
 * tested. In virtual machines hits have come to nobody for a while, and debug
 * exceptions say wrongly what they are about (doc/exactness/verdicts.md): a test that
 * counts very many hits is skipped there, and not failed, if the witness has not seen
 * all of them either.
 */
#ifndef TRUEHIT_TESTS_UNIT_WITNESS_H
#define TRUEHIT_TESTS_UNIT_WITNESS_H

#include <stdint.h>
#include <sys/types.h>

/** Of writes of 8 bytes at @addr, in this thread and those that it makes. A descriptor,
 * the caller's. */
int witness_writes(const volatile void *addr);
/** Of calls of @function, in thread @tid or, if that is 0, as above. */
int witness_runs(uintptr_t function, pid_t tid);
/** Any event that counts: skips the test, with the numbers, if fewer hits were seen. */
void witness_need(int witness, uint64_t hits);

#endif
