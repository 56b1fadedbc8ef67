/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/progs.h"

const char progs_dir[] = PROGS_DIR;
