/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/kernel/uprobe_event.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gdbstub/base/descriptors.h"
#include "gdbstub/base/rights.h"
#include "bpf/kernel/kernel.h"
#include "gdbstub/inferior/proc.h"

/* include/linux/errno.h: not meant for user space, and yet what it gets from
 * arch_uprobe_analyze_insn(). */
enum { ENOTSUPP_KERNEL = 524 };

int uprobe_perf_type(void)
{
	long type = proc_number("/sys/bus/event_source/devices/uprobe/type");

	return type < 0 ? -ENOENT : (int)type;
}

enum bpf_kind uprobe_kind(const struct uprobe_options *options)
{
	return options->multi ? BPF_KIND_UPROBE_MULTI : BPF_KIND_UPROBE;
}

/*
 * The part of union bpf_attr for BPF_LINK_CREATE with link_create.uprobe_multi, of
 * Linux 6.6's include/uapi/linux/bpf.h: older headers lack it.
 */
struct multi_link {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies; /* user space's pointers */
	uint32_t cnt, multi_flags, pid;
	uint32_t zero; /* else padding, which initializers leave as it was, and the
			* kernel refuses what it does not know */
};

static int open_multi(const struct uprobe_target *target, pid_t pid, int program_fd)
{
	struct multi_link link = {
		.prog_fd = (uint32_t)program_fd,
		.attach_type = UPROBE_MULTI_ATTACH_TYPE,
		.path = (uintptr_t)target->path,
		.offsets = (uintptr_t)&target->offset,
		.cookies = (uintptr_t)&target->cookie,
		.cnt = 1,
		.pid = (uint32_t)pid,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link));

	return fd < 0 ? -errno : fd;
}

/* The program runs whatever the event is about: it needs no sample. */
static int open_perf(uint32_t type, const struct uprobe_target *target, pid_t pid,
		     int program_fd)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.sample_period = 1,
		.uprobe_path = (uintptr_t)target->path,
		.probe_offset = target->offset,
	};
	_cleanup_close_ int fd = (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1,
					      PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) < 0)
		return -errno;
	return take_fd(&fd);
}

int uprobe_event_open(const struct uprobe_options *options,
		      const struct uprobe_target *target, pid_t pid, int program_fd)
{
	RIGHTS_RAISED_IN_SCOPE;

	return options->multi ? open_multi(target, pid, program_fd)
			      : open_perf(options->perf_type, target, pid, program_fd);
}

struct error *uprobe_event_error(const struct uprobe_options *options, int err)
{
	switch (err) {
	case EACCES:
	case EPERM:
		if (options->multi)
			return bpf_kernel_rights_error(err, "uprobes may not be made");
		return error_create(
			err,
			"uprobes may not be made (before Linux 6.10 this needs root)");
	case ENOTSUPP_KERNEL:
		return error_create(0,
				    "the kernel makes no uprobe at this instruction");
	case EMFILE:
		return descriptors_error("a uprobe cannot be made");
	default:
		return error_create(err, "a uprobe cannot be made");
	}
}
