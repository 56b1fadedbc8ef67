/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/kernel/hw_event.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"
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

/* After si_perf_data are si_perf_type and si_perf_flags, each of 32 bits. */
bool hw_event_is_late(const siginfo_t *info)
{
	enum { ASYNC = 1 }; /* TRAP_PERF_FLAG_ASYNC, since Linux 5.19 */
	uint32_t flags;

	memcpy(&flags,
	       (const char *)info + offsetof(siginfo_t, si_addr_lsb) +
		       sizeof(unsigned long) + sizeof(uint32_t),
	       sizeof(flags));
	return flags & ASYNC;
}

static struct perf_event_attr make_attr(const struct hw_event_options *options)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.disabled = 1, /* until its program is in place */
		.inherit = !options->one_thread,
		.inherit_thread = !options->one_thread,
		.remove_on_exec = 1, /* sigtrap demands it */
		.sigtrap = options->sigtrap,
		.sig_data = options->sigtrap ? options->sig_data : 0,
		.exclude_kernel = !options->kernel,
		.exclude_hv = 1,
	};
	uint32_t type = 0;
	uint64_t len = 0;

	options->arch->hw_perf_attr(&options->region, &type, &len);
	attr.bp_type = type;
	attr.bp_addr = options->region.addr;
	attr.bp_len = len;
	return attr;
}

int hw_event_open(const struct hw_event_options *options, pid_t tid)
{
	RIGHTS_RAISED_IN_SCOPE;
	struct perf_event_attr attr = make_attr(options);
	int fd, r;

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

int hw_event_aim(int fd, const struct hw_event_options *options)
{
	struct perf_event_attr attr = make_attr(options);

	attr.disabled = 0;
	return ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr) < 0 ? -errno : 0;
}

int hw_event_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}

/* One that only counts: it needs no program, and the kernel itself steps over a hit. */
static int open_counting(const volatile uint64_t *word)
{
	RIGHTS_RAISED_IN_SCOPE;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (uintptr_t)word,
		.bp_len = sizeof(*word),
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

enum { FIRES = 1, FIRES_NOT = 2 };

static void on_trap(int number)
{
	(void)number;
	_exit(FIRES);
}

/* In a process of its own: what the processor says of a hit may come out wrong, and
 * then the kernel sends a SIGTRAP (gdbstub/hits/unexplained.h). */
static __attribute__((noreturn)) void try_write(void)
{
	volatile uint64_t word = 0;
	const int fd = open_counting(&word);
	uint64_t count;

	if (fd < 0)
		_exit(FIRES);
	signal(SIGTRAP, on_trap);
	word = 1;
	_exit(read(fd, &count, sizeof(count)) == sizeof(count) && count == 0 ? FIRES_NOT
									     : FIRES);
}

/* A process that has no signal at its end is nobody else's to wait for. */
bool hw_event_fires(void)
{
	const pid_t pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	int status;

	if (pid == 0)
		try_write();
	if (pid < 0)
		return true;
	while (waitpid(pid, &status, __WALL) < 0)
		if (errno != EINTR)
			return true;
	return !WIFEXITED(status) || WEXITSTATUS(status) != FIRES_NOT;
}
