/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

/* The file of any thread, and whose it is; -1: none can be opened. A leader that has
 * ended before its threads has no memory. */
static int open_any(const struct inferior *inferior, pid_t *tid)
{
	const struct thread *thread;
	char path[64];
	int fd = -1;

	TAILQ_FOREACH (thread, &inferior->threads, link) {
		if (thread_is_zombie(thread))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", inferior->pid,
			 thread->tid);
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

typedef ssize_t vm_transfer(pid_t pid, const struct iovec *local, unsigned long nlocal,
			    const struct iovec *remote, unsigned long nremote,
			    unsigned long flags);

/* Bytes moved, 0 if none. Respects page permissions. */
static size_t move_by_call(vm_transfer *transfer, struct inferior *inferior,
			   uint64_t addr, void *data, size_t len)
{
	struct iovec local = {.iov_base = data, .iov_len = len};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)addr, .iov_len = len};
	ssize_t n = transfer(inferior->pid, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

/*
 * Positions above INT64_MAX are legal in this file but not in pread(2), hence
 * the two calls.
 */
static ssize_t move_by_file(struct inferior *inferior, uint64_t addr, void *data,
			    size_t len, bool write_it)
{
	ssize_t n;

	if (inferior->mem_fd < 0)
		return -1;
	if (lseek(inferior->mem_fd, (off_t)addr, SEEK_SET) != (off_t)addr)
		return -1;
	do
		n = write_it ? write(inferior->mem_fd, data, len)
			     : read(inferior->mem_fd, data, len);
	while (n < 0 && errno == EINTR);
	return n;
}

/* process_vm_* is quicker; the file also reaches pages whose protection forbids it. */
static size_t move_memory(vm_transfer *transfer, struct inferior *inferior,
			  uint64_t addr, void *data, size_t len)
{
	size_t done = move_by_call(transfer, inferior, addr, data, len);

	while (done < len) {
		ssize_t n = move_by_file(inferior, addr + done, (char *)data + done,
					 len - done, transfer == process_vm_writev);

		if (n > 0)
			done += (size_t)n;
		else if (!reopen(inferior))
			break;
	}
	return done;
}

ssize_t inferior_read(struct inferior *inferior, uint64_t addr, void *data, size_t len)
{
	size_t done = move_memory(process_vm_readv, inferior, addr, data, len);

	return done > 0 || len == 0 ? (ssize_t)done : -EFAULT;
}

int inferior_write(struct inferior *inferior, uint64_t addr, const void *data,
		   size_t len)
{
	size_t done = move_memory(process_vm_writev, inferior, addr, (void *)data, len);

	return done == len ? 0 : -EFAULT;
}
