/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The allocation tags of memory (kernel: Documentation/arch/arm64/
 * memory-tagging-extension.rst, "ptrace support").
 */
#include "arch/aarch64/aarch64.h"

#include <asm/hwcap.h>
#include <asm/ptrace.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

/* Of an address: what is above may be a tag, too. */
enum { ADDRESS_BITS = 56 };

static ssize_t copy(enum __ptrace_request request, pid_t tid, uint64_t addr,
		    uint8_t *tags, size_t count)
{
	struct iovec io = {tags, count};

	addr &= (UINT64_C(1) << ADDRESS_BITS) - 1;
	if (ptrace(request, tid, (void *)addr, &io) < 0)
		return -errno;
	return (ssize_t)io.iov_len;
}

static ssize_t read_tags(pid_t tid, uint64_t addr, uint8_t *tags, size_t count)
{
	return copy((enum __ptrace_request)PTRACE_PEEKMTETAGS, tid, addr, tags, count);
}

static ssize_t write_tags(pid_t tid, uint64_t addr, uint8_t *tags, size_t count)
{
	return copy((enum __ptrace_request)PTRACE_POKEMTETAGS, tid, addr, tags, count);
}

const struct memory_tags *aarch64_memory_tags(void)
{
	static const struct memory_tags tags = {
		.granule = 16,
		.type = 1, /* gdb manual, "ARM Memory Tag Types": allocation tags */
		.read = read_tags,
		.write = write_tags,
	};

	return getauxval(AT_HWCAP2) & HWCAP2_MTE ? &tags : NULL;
}
