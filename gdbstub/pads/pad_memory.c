/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/pads/pad_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/displaced.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/base/log.h"
#include "gdbstub/inferior/memory.h"
#include "gdbstub/base/server_word.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U /* Linux 6.3 */
#endif

#define FILE_NAME "truehit-pads"

static bool is_ours(const struct mapping *mapping)
{
	static const char shown[] = "/memfd:" FILE_NAME " (deleted)";

	return mapping->name_len == (int)sizeof(shown) - 1 &&
	       memcmp(mapping->name, shown, sizeof(shown) - 1) == 0;
}

bool pad_memory_is_code(const struct mapping *mapping)
{
	return is_ours(mapping) && mapping->permissions[2] == 'x';
}

bool pad_memory_is_shared(const struct mapping *mapping)
{
	return is_ours(mapping) && mapping->permissions[3] == 's';
}

static struct error *call_error(int64_t err, const char *what)
{
	return error_create((int)-err, "the program cannot %s", what);
}

/* In the program: a file in memory, whose name is what its list of mappings shows. */
static int64_t make_file(struct injection *injection, unsigned int flags)
{
	static const char name[INJECTION_SCRATCH] = FILE_NAME;
	struct inferior *inferior = injection->thread->inferior;
	const uint64_t at = injection_scratch(injection);
	uint64_t arguments[SYSCALL_ARGUMENTS] = {at, flags | MFD_EXEC};
	char before[sizeof(name)];
	int64_t fd;

	if (inferior_read(inferior, at, before, sizeof(before)) !=
	    (ssize_t)sizeof(before))
		return -EFAULT;
	fd = inferior_write(inferior, at, name, sizeof(name));
	if (fd == 0)
		fd = injection_call(injection, SYS_memfd_create, arguments);
	arguments[1] = flags;
	if (fd == -EINVAL) /* before Linux 6.3 */
		fd = injection_call(injection, SYS_memfd_create, arguments);
	inferior_write(inferior, at, before, sizeof(before));
	return fd;
}

static int open_file(const struct injection *injection, int64_t fd)
{
	char path[64];
	int own;

	snprintf(path, sizeof(path), "/proc/%d/fd/%" PRId64, injection->thread->tid,
		 fd);
	own = open(path, O_RDWR | O_CLOEXEC);
	return own < 0 ? -errno : own;
}

static int fill_with_nops(const struct displaced_ops *ops, int fd, size_t len)
{
	_cleanup_free_ uint8_t *nops = malloc(len);

	if (!nops)
		return -ENOMEM;
	for (size_t at = 0; at < len; at++)
		nops[at] = ops->nop[at % ops->nop_len];
	return pwrite(fd, nops, len, 0) == (ssize_t)len ? 0 : -EIO;
}

/* Zeros. Nobody can make the file shorter: what the server reads of it would be a fault
 * of its own. */
static int fill_with_zeros(int fd, size_t len)
{
	struct stat stat;

	if (ftruncate(fd, (off_t)len) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0 ||
	    fstat(fd, &stat) < 0)
		return -errno;
	return stat.st_size == (off_t)len ? 0 : -EIO;
}

static int64_t map_file(struct injection *injection, uint64_t addr, size_t len,
			bool shared, int64_t fd)
{
	const uint64_t arguments[SYSCALL_ARGUMENTS] = {
		addr,
		len,
		shared ? PROT_READ | PROT_WRITE : PROT_READ | PROT_EXEC,
		(shared ? MAP_SHARED : MAP_PRIVATE) | MAP_FIXED_NOREPLACE,
		(uint64_t)fd,
		0,
	};
	const int64_t r = injection_call(injection, SYS_mmap, arguments);

	return r < 0 || (uint64_t)r == addr ? r : -EEXIST;
}

/* A file of @len bytes, mapped. *own: the server's descriptor of it. */
static struct error *map_new_file(struct injection *injection, uint64_t addr,
				  size_t len, bool shared, int *own)
{
	const struct displaced_ops *ops = injection->before.arch->displaced;
	const int64_t fd =
		make_file(injection, MFD_CLOEXEC | (shared ? MFD_ALLOW_SEALING : 0));
	int64_t r;

	if (fd < 0)
		return call_error(fd, "make a file in memory");
	*own = open_file(injection, fd);
	r = *own;
	if (r >= 0)
		r = shared ? fill_with_zeros(*own, len)
			   : fill_with_nops(ops, *own, len);
	if (r >= 0)
		r = map_file(injection, addr, len, shared, fd);
	injection_call(injection, SYS_close,
		       (const uint64_t[SYSCALL_ARGUMENTS]){(uint64_t)fd});
	return r < 0 ? call_error(r, shared ? "map shared memory"
					    : "map memory that can be executed")
		     : NULL;
}

struct error *pad_memory_map_code(struct injection *injection, uint64_t addr,
				  size_t len, int *fd)
{
	_cleanup_close_ int own = -1;
	struct error *error = map_new_file(injection, addr, len, false, &own);

	if (!error)
		*fd = take_fd(&own);
	return error;
}

struct error *pad_memory_map_shared(struct injection *injection, uint64_t addr,
				    void **memory)
{
	_cleanup_close_ int own = -1;
	struct error *error =
		map_new_file(injection, addr, SERVER_WORD_MEMORY, true, &own);
	int err;

	if (error)
		return error;
	err = server_word_map(own, SERVER_WORD_MEMORY, memory);
	if (err == 0)
		return NULL;
	pad_memory_unmap(injection, addr, SERVER_WORD_MEMORY);
	return error_create(-err, "memory that the server shares with the program");
}

void pad_memory_unmap(struct injection *injection, uint64_t addr, size_t len)
{
	const uint64_t arguments[SYSCALL_ARGUMENTS] = {addr, len};
	const int64_t r = injection_call(injection, SYS_munmap, arguments);

	if (r < 0)
		log_warning("pads stay at 0x%jx of process %d: %s", (uintmax_t)addr,
			    injection->thread->inferior->pid, strerror((int)-r));
}
