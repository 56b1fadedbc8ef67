/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the programs of tests/progs have been built. */
#ifndef TRUEHIT_TESTS_PROGS_H
#define TRUEHIT_TESTS_PROGS_H

extern const char progs_dir[];

#endif
