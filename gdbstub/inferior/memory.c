/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "gdbstub/inferior/proc.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/inferior/thread_end.h"

/* The file of any thread, and whose it is; -1: none can be opened. A leader that has
 * ended before its threads has no memory. */
static int open_any(const struct inferior *inferior, pid_t *tid)
{
	const struct thread *thread;
	char path[64];
	int fd = -1;

	FOREACH_THREAD (thread, inferior) {
		if (thread_is_zombie(thread))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/mem", thread->tid);
		fd = open(path, O_RDWR | O_CLOEXEC);
		*tid = thread->tid;
		if (fd >= 0)
			break;
	}
	return fd;
}

void memory_open(struct inferior *inferior)
{
	memory_close(inferior);
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

	while (done < len) {
		ssize_t n = move_part(inferior->mem_fd, addr + done,
				      (char *)data + done, len - done, write_it);

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
