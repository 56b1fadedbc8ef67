/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thread-local storage without libthread_db: our own reading of what glibc tells
 * debuggers about itself.
 *
 * glibc's libc (before 2.34 libpthread) has a symbol _thread_db_STRUCT_FIELD for each
 * field that debuggers need, with the size and the place of that field (glibc
 * nptl_db/db_info.c and structs.def). They are in .dynsym, so stripping leaves them.
 */
#ifndef TRUEHIT_SYMBOLS_TLS_H
#define TRUEHIT_SYMBOLS_TLS_H

#include "gdbstub/inferior/inferior.h"
#include "gdbstub/symbols/thread_symbols.h"

/** The symbols that the functions below look for, for thread_symbols_add. */
const char *const *tls_symbol_names(void);

/** Is the C library known? If not, its first symbol is remembered as missing. */
bool tls_is_described(struct thread_symbols *symbols);

/**
 * Where the byte @offset of a module's storage is for a stopped thread. @map: the
 * address of the module's struct link_map; 0: the program itself, where there is no
 * list of modules (static ones). Errors: not glibc, the module has no such storage,
 * or the thread has not allocated it yet.
 */
struct error *tls_find(const struct thread *thread, struct thread_symbols *symbols,
		       uint64_t map, uint64_t offset, uint64_t *addr);

/** The pthread_t of a stopped thread. False: it has none (yet). */
bool tls_handle(const struct thread *thread, struct thread_symbols *symbols,
		uint64_t *handle);

/** The error of a thread whose storage of a module is yet to be allocated. */
struct error *tls_not_allocated(const struct thread *thread);
/** The error of a module that has no thread-local storage. */
struct error *tls_no_storage(uint64_t map);

#endif
