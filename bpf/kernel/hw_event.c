/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/kernel/hw_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gdbstub/base/rights.h"

/* si_code of a perf event's SIGTRAP; glibc 2.36 does not name it (the kernel's
 * include/uapi/asm-generic/siginfo.h). */
enum { SI_CODE_PERF = 6 };

/* glibc 2.36 lacks si_perf_data. The kernel puts it, an unsigned long, into the
 * union that follows si_addr, where si_addr_lsb begins as well. */
_Static_assert(sizeof(siginfo_t) == 128, "the kernel's siginfo");
_Static_assert(offsetof(siginfo_t, si_addr_lsb) ==
		       offsetof(siginfo_t, si_addr) + sizeof(void *),
	       "where the union after si_addr begins");

bool hw_event_siginfo(const siginfo_t *info, uint64_t *sig_data)
{
	unsigned long value;

	if (info->si_signo != SIGTRAP || info->si_code != SI_CODE_PERF)
		return false;
	memcpy(&value, (const char *)info + offsetof(siginfo_t, si_addr_lsb),
	       sizeof(value));
	*sig_data = value;
	return true;
}

int hw_event_open(const struct hw_event_options *options, pid_t tid)
{
	RIGHTS_RAISED_IN_SCOPE;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.disabled = 1, /* until its program is in place */
		.inherit = 1,
		.inherit_thread = 1,
		.remove_on_exec = 1, /* sigtrap demands it */
		.sigtrap = options->sigtrap,
		.sig_data = options->sigtrap ? options->sig_data : 0,
		.exclude_kernel = !options->kernel,
		.exclude_hv = 1,
	};
	uint32_t type = 0;
	uint64_t len = 0;
	int fd, r;

	options->arch->hw_perf_attr(&options->region, &type, &len);
	attr.bp_type = type;
	attr.bp_addr = options->region.addr;
	attr.bp_len = len;

	fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (options->program_fd >= 0 &&
	    ioctl(fd, PERF_EVENT_IOC_SET_BPF, options->program_fd) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

int hw_event_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}
