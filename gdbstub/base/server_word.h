/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A word in memory that the server shares with a program, or with programs in the
 * kernel, which says that the server lives: a robust futex. When the thread that holds
 * it ends, by whatever, the kernel clears its number in the word, and only then lets go
 * of who is traced by it (kernel/exit.c: exit_mm() comes before exit_notify()). So code
 * in the program can pass a trap by that nobody would handle, and a program in the
 * kernel, whose event may outlive that thread by the descriptors of others, stops
 * nobody.
 *
 * The kernel finds the word by a list in the server's own memory (set_robust_list(2)),
 * whose entries are all as far from their words. It follows nothing that the program
 * could write, and clears no word that has not the thread's number.
 */
#ifndef TRUEHIT_BASE_SERVER_WORD_H
#define TRUEHIT_BASE_SERVER_WORD_H

#include <stddef.h>

enum {
	/** Bytes, of each such memory at most. */
	SERVER_WORD_MEMORY = 2 << 20,
};

/**
 * Maps @len bytes of such memory from the beginning of a file, to be written to and
 * shared. *ret: for server_word_unmap(). Returns 0, or a negative errno.
 */
int server_word_map(int fd, size_t len, void **ret);
/**
 * The calling thread holds the word, of 4 bytes, that is @at bytes from that memory's
 * beginning, a multiple of 8: its number is there (FUTEX_TID_MASK). One word of each
 * memory at most. The list of the C library's robust mutexes
 * (pthread_mutexattr_setrobust) is no longer the thread's after that. Returns 0, or a
 * negative errno.
 */
int server_word_hold(void *memory, size_t at);
/** The word is held no longer; only by the thread that holds it, or in a process of its
 * own (fork). */
void server_word_unmap(void *memory);

#endif
