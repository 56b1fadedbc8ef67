/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens once the verdict is known: counts, the record, the stop. */
#ifndef TRUEHIT_BPF_COMPILER_EMIT_EPILOGUE_H
#define TRUEHIT_BPF_COMPILER_EMIT_EPILOGUE_H

#include "bpf/emit/compiler.h"

/** What becomes of a hit: of the c->used_true and c->used_maybe that come by their
 * labels, and of the false ones that fall through, if they can. */
void epilogue_emit(struct compiler *c, bool used_false);

#endif
