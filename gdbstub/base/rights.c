/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/rights.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(capability) (UINT64_C(1) << (capability))

/* The last one lets uprobes into files that were deleted or replaced. Not among them is
 * CAP_SYS_PTRACE: with it, the kernel would let us trace what our user may not, and run
 * setuid programs that he traces with all their rights (security/commoncap.c). */
static const uint64_t useful =
	BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_CHECKPOINT_RESTORE);

/* ---- capget(2), capset(2) ---- */

struct sets {
	uint64_t effective, permitted, inheritable;
};

static int sets_get(struct sets *ret)
{
	struct __user_cap_header_struct header = {.version =
							  _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	*ret = (struct sets){0};
	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		ret->effective |= (uint64_t)data[i].effective << (32 * i);
		ret->permitted |= (uint64_t)data[i].permitted << (32 * i);
		ret->inheritable |= (uint64_t)data[i].inheritable << (32 * i);
	}
	return 0;
}

static int sets_set(const struct sets *sets)
{
	struct __user_cap_header_struct header = {.version =
							  _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i] = (struct __user_cap_data_struct){
			.effective = (uint32_t)(sets->effective >> (32 * i)),
			.permitted = (uint32_t)(sets->permitted >> (32 * i)),
			.inheritable = (uint32_t)(sets->inheritable >> (32 * i)),
		};
	return syscall(SYS_capset, &header, data) < 0 ? -errno : 0;
}

/* ---- for a moment ---- */

bool rights_are_lent(void)
{
	return getauxval(AT_SECURE) != 0 && getuid() != 0;
}

bool rights_raise(void)
{
	struct sets sets = {0};

	if (!rights_are_lent() || sets_get(&sets) < 0 ||
	    sets.effective == sets.permitted)
		return false;
	sets.effective = sets.permitted;
	return sets_set(&sets) == 0;
}

void rights_lower(const bool *raised)
{
	int saved = errno;
	struct sets sets = {0};

	if (*raised && sets_get(&sets) == 0) {
		sets.effective = 0;
		sets_set(&sets);
	}
	errno = saved;
}

/* ---- for good ---- */

/* All but @kept, none of it in effect. What is ambient goes with what is permitted. */
static int keep_only(uint64_t kept)
{
	struct sets sets = {0};
	int r = sets_get(&sets);

	if (r < 0)
		return r;
	sets = (struct sets){.permitted = sets.permitted & kept};
	return sets_set(&sets);
}

/* Of a setuid or setgid file. Capabilities stay permitted. */
static int become_invoker(void)
{
	uid_t uid = getuid();
	gid_t gid = getgid();

	prctl(PR_SET_KEEPCAPS, 1);
	return setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0 ? -errno
									    : 0;
}

struct error *rights_init(void)
{
	int r;

	if (!rights_are_lent())
		return NULL;
	r = become_invoker();
	if (r == 0)
		r = keep_only(useful);
	if (r == 0 && prctl(PR_SET_DUMPABLE, 0) < 0)
		r = -errno;
	return r == 0 ? NULL
		      : error_create(-r, "the rights of truehit's file cannot be "
					 "given up");
}

int rights_give_up(void)
{
	return rights_are_lent() ? keep_only(0) : 0;
}

/* ---- for children ---- */

static bool is_kept(int fd, const int *keep, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (keep[i] == fd)
			return true;
	return false;
}

/* What has no such flag came from our invoker, for the program. */
static int close_own(const int *keep, size_t count)
{
	_cleanup_closedir_ DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		int fd = (int)strtol(entry->d_name, NULL, 10), flags;

		if (*entry->d_name == '.' || fd == dirfd(dir) ||
		    is_kept(fd, keep, count))
			continue;
		flags = fcntl(fd, F_GETFD);
		if (flags >= 0 && flags & FD_CLOEXEC)
			close(fd);
	}
	return 0;
}

int rights_let_trace(const int *keep, size_t count)
{
	int r = rights_give_up();

	if (r == 0 && rights_are_lent())
		r = close_own(keep, count);
	if (r < 0)
		return r;
	return prctl(PR_SET_DUMPABLE, 1) < 0 ? -errno : 0;
}
