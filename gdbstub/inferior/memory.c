/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/memory.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/inferior/thread_end.h"

/* The file of any thread, and whose it is; -1: none can be opened. A leader that has
 * ended before its threads has no memory. */
static int open_any(const struct inferior *inferior, pid_t *tid)
{
	const struct thread *thread;
	int fd = -1;

	FOREACH_THREAD (thread, inferior) {
		if (thread_is_zombie(thread))
			continue;
		fd = proc_open_memory(thread->tid);
		*tid = thread->tid;
		if (fd >= 0)
			break;
	}
	return fd;
}

/* At the first access: a child that is let go at once has none. */
static void open_once(struct inferior *inferior)
{
	if (inferior->mem_fd < 0)
		inferior->mem_fd = open_any(inferior, &inferior->mem_tid);
}

void memory_close(struct inferior *inferior)
{
	if (inferior->mem_fd >= 0)
		close(inferior->mem_fd);
	inferior->mem_fd = -1;
}

/*
 * Opens the file of another thread if the one whose it is has ended: a kernel may let
 * nobody but a thread's tracer write to what is protected (Linux 6.12,
 * proc_mem.force_override). False: it has not, or there is no other.
 */
static bool reopen(struct inferior *inferior)
{
	const struct thread *thread = inferior_thread(inferior, inferior->mem_tid);
	pid_t tid;
	int fd;

	if (thread && !thread_is_zombie(thread))
		return false;
	fd = open_any(inferior, &tid);
	if (fd < 0)
		return false;
	memory_close(inferior);
	inferior->mem_fd = fd;
	inferior->mem_tid = tid;
	return true;
}

/* Positions above INT64_MAX are legal in this file but not in pread(2), hence the two
 * calls. */
static ssize_t move_far(int fd, uint64_t addr, void *data, size_t len, bool write_it)
{
	/* The last page's addresses look like errors of lseek's, EINTR among them. */
	if (lseek(fd, (off_t)addr, SEEK_SET) != (off_t)addr) {
		errno = EFAULT;
		return -1;
	}
	return write_it ? write(fd, data, len) : read(fd, data, len);
}

static ssize_t move_part(int fd, uint64_t addr, void *data, size_t len, bool write_it)
{
	ssize_t n;

	do {
		if (addr > INT64_MAX - len)
			n = move_far(fd, addr, data, len, write_it);
		else
			n = write_it ? pwrite(fd, data, len, (off_t)addr)
				     : pread(fd, data, len, (off_t)addr);
	} while (n < 0 && errno == EINTR);
	return n;
}

/* ---- where /proc is mounted read-only, as in a container ---- */

/* The bytes of a word of the memory's, at a multiple of its size, that lie within
 * [@addr, @addr + @len), from @data, whose first one is for @addr. */
static int poke_word(pid_t tid, uint64_t at, uint64_t addr, const void *data,
		     size_t len)
{
	uint64_t from = at < addr ? addr : at, to = at + sizeof(long);
	long word;

	if (to > addr + len)
		to = addr + len;
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, tid, at, NULL);
	if (errno != 0)
		return -errno;
	memcpy((char *)&word + (from - at), (const char *)data + (from - addr),
	       to - from);
	return ptrace(PTRACE_POKEDATA, tid, at, word) < 0 ? -errno : 0;
}

/* Through this thread, if it is stopped. */
static size_t poke_through(pid_t tid, uint64_t addr, const void *data, size_t len)
{
	uint64_t at = addr - addr % sizeof(long);

	while (at < addr + len && poke_word(tid, at, addr, data, len) == 0)
		at += sizeof(long);
	return at <= addr ? 0 : at < addr + len ? at - addr : len;
}

static size_t poke(const struct inferior *inferior, uint64_t addr, const void *data,
		   size_t len)
{
	size_t done = poke_through(inferior->pid, addr, data, len);
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (done > 0)
			break;
		done = poke_through(thread->tid, addr, data, len);
	}
	return done;
}

/*
 * By the file, which reaches what its protection forbids, and fails where a page is yet
 * to come from the program itself (userfaultfd): its access allows no retry
 * (mm/memory.c,
 * __access_remote_vm; fs/userfaultfd.c, handle_userfault). process_vm_readv() would
 * wait for a thread that we have stopped, and nothing but its end would free us.
 */
static size_t move_memory(struct inferior *inferior, uint64_t addr, void *data,
			  size_t len, bool write_it)
{
	size_t done = 0;

	open_once(inferior);
	while (done < len) {
		ssize_t n = move_part(inferior->mem_fd, addr + done,
				      (char *)data + done, len - done, write_it);

		if (n < 0 && errno == EBADF && write_it)
			n = (ssize_t)poke(inferior, addr + done, (char *)data + done,
					  len - done);
		if (n > 0)
			done += (size_t)n;
		else if (!reopen(inferior))
			break;
	}
	return done;
}

ssize_t inferior_read(struct inferior *inferior, uint64_t addr, void *data, size_t len)
{
	size_t done = move_memory(inferior, addr, data, len, false);

	return done > 0 || len == 0 ? (ssize_t)done : -EFAULT;
}

int inferior_write(struct inferior *inferior, uint64_t addr, const void *data,
		   size_t len)
{
	size_t done = move_memory(inferior, addr, (void *)data, len, true);

	return done == len ? 0 : -EFAULT;
}
