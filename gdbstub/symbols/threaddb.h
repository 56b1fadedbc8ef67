/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the C library of an inferior knows of its threads: thread-local storage and
 * pthread_t, through glibc's libthread_db, loaded at run time. Without a library
 * that fits, our own reader (tls.h) does it, unless the user has named the
 * directories to search: then only what is found there is used.
 *
 * The state hangs on the inferior and is made when it is first needed.
 */
#ifndef TRUEHIT_SYMBOLS_THREADDB_H
#define TRUEHIT_SYMBOLS_THREADDB_H

#include "gdbstub/inferior/inferior.h"

/** Where libthread_db is looked for unless the user says otherwise: nowhere that the
 * inferior chooses. All there is for a server whose rights are lent
 * (gdbstub/base/rights.h). */
#define THREADDB_DEFAULT_PATH "$sdir"

/**
 * Sets the directories, separated by ":". "$sdir": where dlopen(3) looks by itself;
 * "$pdir", also with more after it: where the inferior's C library is, if it sees
 * the same files as we do. Of any but "$sdir", a library is loaded only if nobody else
 * can change it (threaddb_path.h). "": the default. Takes effect at once. 0, -ENOMEM,
 * or -EPERM: the default is the only one.
 */
int threaddb_set_path(struct inferiors *inferiors, const char *path);
/** What is set now. */
const char *threaddb_path(const struct inferiors *inferiors);

/** Drops what is known of an inferior, as after an exec. */
void threaddb_forget(struct inferior *inferior);

/**
 * There are new symbols: looks for the C library if it is not known yet. @again: the
 * client begins to offer symbols. Returns the name of a symbol to ask the client
 * for, NULL if there is none to ask for. Owned by @inferior.
 */
const char *threaddb_new_symbols(struct inferior *inferior, bool again);
/** The client's answer. */
void threaddb_symbol(struct inferior *inferior, const char *name, uint64_t addr);

/** As tls_find (tls.h). The thread is stopped. */
struct error *threaddb_tls_address(struct thread *thread, uint64_t map, uint64_t offset,
				   uint64_t *addr);
/**
 * The pthread_t of a thread. False: it is not known (yet); so as long as
 * threaddb_new_symbols was not called.
 */
bool threaddb_handle(struct thread *thread, uint64_t *handle);

#endif
