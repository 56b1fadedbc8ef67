/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/trials/uprobe_event.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/descriptors.h"
#include "gdbstub/base/rights.h"
#include "gdbstub/base/setcap.h"
#include "bpf/kernel/kernel.h"
#include "gdbstub/symbols/mapping.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/text.h"
#include "gdbstub/text/traps.h"

/* include/linux/errno.h: not meant for user space, and yet what it gets from
 * arch_uprobe_analyze_insn(). */
enum { ENOTSUPP_KERNEL = 524 };

/* ---- The place in a file ---- */

/* As kernel/events/uprobes.c has it in valid_vma(); what is not executable is no
 * place for a breakpoint. */
static const char *why_not(const struct mapping *mapping)
{
	if (mapping->file.inode == 0)
		return "it is in no file (generated code, for instance)";
	if (mapping->permissions[3] != 'p')
		return "the file is mapped shared there";
	if (mapping->permissions[1] == 'w')
		return "the program may write there";
	if (mapping->permissions[2] != 'x')
		return "nothing can be executed there";
	return NULL;
}

/* The kernel plants traps where something may become executable, not only where it is,
 * and they stay where the program may write by now. */
static bool may_have_traps(const struct mapping *mapping)
{
	return mapping->file.inode != 0 && mapping->permissions[3] == 'p';
}

/* By the mapping itself: any file. Needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN. */
static char *path_by_mapping(const struct inferior *inferior,
			     const struct mapping *mapping)
{
	char *path;

	if (asprintf(&path, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, inferior->pid,
		     mapping->start, mapping->end) < 0)
		return NULL;
	return path;
}

/* By its name, which may be another file's by now. */
static char *path_by_name(const struct inferior *inferior,
			  const struct mapping *mapping)
{
	char *path;

	if (asprintf(&path, "/proc/%d/root%.*s", inferior->pid, mapping->name_len,
		     mapping->name) < 0)
		return NULL;
	return path;
}

/* Devices are not compared: some file systems (btrfs) tell two different ones. */
static int open_mapped(const char *path, const struct mapping *mapping)
{
	_cleanup_close_ int found = path ? open(path, O_PATH | O_CLOEXEC) : -1, fd = -1;
	struct stat file;

	if (found < 0)
		return path ? -errno : -ENOMEM;
	fd = proc_open_regular(found, &file);
	if (fd < 0)
		return fd;
	return file.st_ino == mapping->file.inode ? take_fd(&fd) : -ENOENT;
}

static int open_by_mapping(const char *path, const struct mapping *mapping)
{
	RIGHTS_RAISED_IN_SCOPE;

	return open_mapped(path, mapping);
}

/* Sets the target's path. */
static struct error *open_target(const struct inferior *inferior,
				 const struct mapping *mapping, int *fd,
				 struct uprobe_target *ret)
{
	_cleanup_free_ char *command = NULL;

	ret->path = path_by_mapping(inferior, mapping);
	*fd = open_by_mapping(ret->path, mapping);
	if (*fd < 0) {
		free(ret->path);
		ret->path = path_by_name(inferior, mapping);
		*fd = open_mapped(ret->path, mapping);
	}
	if (*fd >= 0)
		return NULL;
	command = setcap_command("cap_checkpoint_restore");
	return error_create(-*fd,
			    "its file %.*s cannot be reached (one that was deleted or "
			    "replaced needs root, or: %s)",
			    mapping->name_len, mapping->name,
			    command ? command : "setcap");
}

static struct error *compare(struct inferior *inferior, uint64_t addr, unsigned int len,
			     int fd, const struct uprobe_target *target)
{
	unsigned char in_memory[INSN_LEN_MAX], in_file[INSN_LEN_MAX];

	if (len > sizeof(in_file) ||
	    breakpoints_read_memory(inferior, addr, in_memory, len) != (ssize_t)len)
		return error_create(EFAULT, "the instruction cannot be read");
	if (pread(fd, in_file, len, (off_t)target->offset) != (ssize_t)len ||
	    memcmp(in_memory, in_file, len) != 0)
		return error_create(0, "the program's code was changed there (the file "
				       "has another instruction)");
	return NULL;
}

static struct error *find_target(struct inferior *inferior, uint64_t addr,
				 unsigned int len, struct uprobe_target *ret)
{
	struct buffer maps _cleanup_buffer_ = {0};
	_cleanup_close_ int fd = -1;
	struct mapping mapping;
	struct error *error;
	int r = inferior_proc_file(inferior, "maps", &maps);

	if (r < 0)
		return error_create(-r, "the map of its memory cannot be read");
	if (maps.len == 0)
		return error_create(0, "the process's first thread has ended");
	if (!mapping_find(buffer_string(&maps), addr, &mapping))
		return error_create(0, "there is no memory");
	if (why_not(&mapping))
		return error_create(0, "%s", why_not(&mapping));
	ret->file = mapping.file;
	ret->offset = mapping.offset + (addr - mapping.start);
	error = open_target(inferior, &mapping, &fd, ret);
	return error ? error : compare(inferior, addr, len, fd, ret);
}

struct error *uprobe_target_find(struct inferior *inferior, uint64_t addr,
				 unsigned int len, struct uprobe_target *ret)
{
	struct error *error;

	*ret = (struct uprobe_target){0};
	error = find_target(inferior, addr, len, ret);
	if (!error)
		return NULL;
	uprobe_target_deinit(ret);
	return error_prefix(error, "no uprobe at 0x%" PRIx64, addr);
}

void uprobe_target_deinit(struct uprobe_target *target)
{
	free(target->path);
	target->path = NULL;
}

bool uprobe_memory_is_shared(const struct inferior *inferior, uint64_t addr)
{
	struct buffer maps _cleanup_buffer_ = {0};
	struct mapping mapping;

	return inferior_proc_file(inferior, "maps", &maps) == 0 &&
	       mapping_find(buffer_string(&maps), addr, &mapping) &&
	       mapping.permissions[3] != 'p';
}

bool uprobe_text_find(const struct inferior *inferior, uint64_t addr,
		      struct uprobe_text *ret)
{
	struct buffer maps _cleanup_buffer_ = {0};
	struct mapping mapping;

	if (inferior_proc_file(inferior, "maps", &maps) < 0 ||
	    !mapping_find(buffer_string(&maps), addr, &mapping) ||
	    !may_have_traps(&mapping))
		return false;
	*ret = (struct uprobe_text){.file = mapping.file,
				    .start = mapping.start,
				    .end = mapping.end,
				    .offset = mapping.offset};
	return true;
}

/* ---- The probe ---- */

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
