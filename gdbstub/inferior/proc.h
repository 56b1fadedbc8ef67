/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc tells of processes and threads. */
#ifndef TRUEHIT_INFERIOR_PROC_H
#define TRUEHIT_INFERIOR_PROC_H

#include <stdbool.h>
#include <sys/stat.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "gdbstub/base/buffer.h"

struct inferior;
struct inferiors;
struct thread;

enum {
	PROC_STAT_STATE = 3,
	PROC_STAT_GROUP = 5,
	PROC_STAT_FLAGS = 9,
	PROC_STAT_PROCESSOR = 39
}; /* proc(5), fields of stat */

/** Appends a whole file: 0 or a negative errno. -EFBIG: it is longer than
 * PROC_READ_MAX bytes (a map of tens of thousands of rows, say), and out holds those.
 */
int proc_read(const char *path, struct buffer *out);
/** The same, with at most @max bytes. */
int proc_read_some(const char *path, size_t max, struct buffer *out);
enum { PROC_READ_MAX = 32 << 20 };
/**
 * Opens for reading what @found, a descriptor of O_PATH, names, whatever its path leads
 * to by now. Only a regular file: to open a device may have effects, to open a FIFO may
 * wait for ever. A new descriptor, or a negative errno (-EINVAL: it is none). *st: of
 * the file.
 */
int proc_open_regular(int found, struct stat *st);
/** The memory of a process, as a file to read and write (proc(5), /proc/PID/mem); to
 * read only, where /proc is mounted so. The caller closes it. Negative: errno says why
 * not. */
int proc_open_memory(pid_t pid);
/**
 * Copies a field (3 and up) of /proc/TID/task/TID/stat, NUL-terminated. False: the
 * thread is gone.
 */
bool proc_stat_field(pid_t tid, unsigned int field, char *value, size_t size);
/** A number from a line "Name:\tNUMBER" of /proc/TID/status; -1: not there. */
long proc_status_number(pid_t tid, const char *name);
/** Several of them, at the price of one. */
void proc_status_numbers(pid_t tid, const char *const *names, long *numbers,
			 unsigned int count);
/** A hexadecimal number from such a line, or 0. */
uint64_t proc_status_bits(pid_t tid, const char *name);
/** Is @word in the line "Name:\t..." of /proc/TID/status? */
bool proc_status_word(pid_t tid, const char *name, const char *word);
/** The number that a file begins with, or -1. */
long proc_number(const char *path);

/** The thread's name from /proc ("" if it is gone); NUL-terminated. */
void thread_name(const struct thread *thread, char *name, size_t size);
/** The CPU it last ran on, or -1. A descriptor stays open, for the next time. */
int thread_core(const struct thread *thread);
void proc_close_stat(struct inferiors *inferiors);
/** Both, at the price of one. Returns the CPU. */
int thread_core_and_name(const struct thread *thread, char *name, size_t size);
/**
 * One of its tasks, of which /proc tells what is the same for all (auxv, exe, maps,
 * mem, root): a leader that has ended before other threads has none of that (Linux
 * 6.12), and those others may be tasks that only share its memory, by clone(2).
 */
pid_t inferior_living_task(const struct inferior *inferior);
/** The absolute path of the program's file (readlink /proc/PID/exe), or /proc/PID/exe
 * itself where only that can be read: the file was deleted or replaced. The caller
 * frees it; NULL: the process is gone. */
char *inferior_exe(const struct inferior *inferior);
/** A whole file of a living task's directory in /proc: 0 or a negative errno. An
 * inferior without threads is asked for by its pid. */
int inferior_proc_file(const struct inferior *inferior, const char *name,
		       struct buffer *out);

/** Has it a descriptor of this kind, which is what its link in /proc says
 * ("anon_inode:[userfaultfd]")? */
bool inferior_has_descriptor(const struct inferior *inferior, const char *kind);
/** A value from the auxiliary vector (getauxval(3)) of a 64-bit program; 0: it has
 * none.
 */
uint64_t inferior_auxv(const struct inferior *inferior, uint64_t type);
/** The same of a living task. */
uint64_t task_auxv(pid_t tid, uint64_t type);

/** Has it ended, and is there to be waited for? Others may have to be before it. */
bool proc_is_zombie(pid_t tid);
/**
 * Is this thread a zombie leader: ended while other threads live on? It will
 * not report again until the process ends, so nobody may wait for it.
 */
bool thread_is_zombie(const struct thread *thread);

#endif
