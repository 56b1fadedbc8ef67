/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/check/machine.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/inferior/proc.h"

static const char own_file[] = "/proc/self/exe";

/* ---- capabilities ---- */

#define BIT(capability) (UINT64_C(1) << (capability))

static const struct {
	uint64_t bit;
	const char *name;
} capabilities[] = {
	{BIT(CAP_BPF), "cap_bpf"},
	{BIT(CAP_PERFMON), "cap_perfmon"},
	{BIT(CAP_SYS_PTRACE), "cap_sys_ptrace"},
	{BIT(CAP_SYS_ADMIN), "cap_sys_admin"},
	{BIT(CAP_CHECKPOINT_RESTORE), "cap_checkpoint_restore"},
};

bool machine_capability(unsigned int index, uint64_t *bit, const char **name)
{
	if (index >= sizeof(capabilities) / sizeof(*capabilities))
		return false;
	*bit = capabilities[index].bit;
	*name = capabilities[index].name;
	return true;
}

/* struct vfs_cap_data, as the kernel shows it also of a file that has struct
 * vfs_ns_cap_data. */
static uint64_t read_lent(void)
{
	struct vfs_ns_cap_data data = {0};
	const ssize_t n =
		getxattr(own_file, "security.capability", &data, sizeof(data));

	if (n < (ssize_t)XATTR_CAPS_SZ_2)
		return 0;
	return le32toh(data.data[0].permitted) |
	       (uint64_t)le32toh(data.data[1].permitted) << 32;
}

static bool is_nosuid(void)
{
	struct statvfs fs;

	return statvfs(own_file, &fs) == 0 && fs.f_flag & ST_NOSUID;
}

/* ---- settings ---- */

static struct setting read_setting(const char *path)
{
	if (access(path, R_OK) < 0)
		return (struct setting){0};
	return (struct setting){.known = true, .value = proc_number(path)};
}

/* By opening one that every kernel has. */
static enum proc_sys try_proc_sys(void)
{
	static const char path[] = "/proc/sys/kernel/panic";
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		return PROC_SYS_WRITABLE;
	if (access(path, F_OK) < 0)
		return PROC_SYS_ABSENT;
	return errno == EROFS ? PROC_SYS_READ_ONLY : PROC_SYS_ROOTS;
}

/* The first word of a file that is made of letters. False: there is none. */
static bool read_word(const char *path, size_t skip, char word[MACHINE_WORD])
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
	_cleanup_buffer_ struct buffer text = {0};
	size_t len;

	if (proc_read_some(path, PATH_MAX, &text) < 0 || text.len < skip)
		return false;
	len = strspn(buffer_string(&text) + skip, letters);
	if (len == 0 || len >= MACHINE_WORD)
		return false;
	memcpy(word, buffer_string(&text) + skip, len);
	word[len] = '\0';
	return true;
}

/* "none [integrity] confidentiality": the one in brackets. */
static void read_lockdown(char word[MACHINE_WORD])
{
	static const char path[] = "/sys/kernel/security/lockdown";
	_cleanup_buffer_ struct buffer text = {0};
	const char *bracket;

	word[0] = '\0';
	if (proc_read_some(path, PATH_MAX, &text) < 0)
		return;
	bracket = strchr(buffer_string(&text), '[');
	if (bracket)
		read_word(path, (size_t)(bracket + 1 - buffer_string(&text)), word);
}

/* ---- containers ---- */

/* The inode numbers of the first name spaces never change (kernel,
 * include/linux/proc_ns.h: PROC_USER_INIT_INO, ...). */
static const struct {
	const char *path, *first;
} name_spaces[] = {
	{"/proc/self/ns/user", "user:[4026531837]"},
	{"/proc/self/ns/pid", "pid:[4026531836]"},
	{"/proc/self/ns/uts", "uts:[4026531838]"},
	{"/proc/self/ns/ipc", "ipc:[4026531839]"},
	{"/proc/self/ns/cgroup", "cgroup:[4026531835]"},
};

enum { OWN_USER, OWN_PID, NAME_SPACES = sizeof(name_spaces) / sizeof(*name_spaces) };

static bool is_own(int name_space)
{
	char link[MACHINE_WORD];
	const ssize_t n =
		readlink(name_spaces[name_space].path, link, sizeof(link) - 1);

	if (n < 0)
		return false;
	link[n] = '\0';
	return strcmp(link, name_spaces[name_space].first) != 0;
}

static bool is_any_own(void)
{
	for (int i = 0; i < NAME_SPACES; i++)
		if (is_own(i))
			return true;
	return false;
}

/* By what they leave for their programs to find; systemd writes down what it was
 * started by. A machine that was made from a container's files has that, too, but all
 * the system's first name spaces. */
static void find_container(char word[MACHINE_WORD])
{
	static const struct {
		const char *path, *name;
	} files[] = {{"/run/.containerenv", "podman"}, {"/.dockerenv", "docker"}};

	word[0] = '\0';
	if (!is_any_own() || read_word("/run/systemd/container", 0, word))
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		if (access(files[i].path, F_OK) < 0)
			continue;
		strcpy(word, files[i].name);
		return;
	}
}

bool machine_is_contained(const struct machine *machine)
{
	return machine->container[0] != '\0' || machine->own_user_ns ||
	       machine->own_pid_ns;
}

/* ---- all ---- */

static void find_file(char file[PATH_MAX])
{
	const ssize_t n = readlink(own_file, file, PATH_MAX - 1);

	if (n > 0)
		file[n] = '\0';
	else
		strcpy(file, "truehit");
}

static void look_at_process(struct machine *ret)
{
	const pid_t self = getpid();

	ret->uid = geteuid();
	ret->permitted = proc_status_bits(self, "CapPrm");
	ret->bounding = proc_status_bits(self, "CapBnd");
	ret->lent_by_file = read_lent();
	ret->nosuid = is_nosuid();
	ret->seccomp = proc_status_number(self, "Seccomp");
	ret->no_new_privs = proc_status_number(self, "NoNewPrivs") == 1;
	ret->own_user_ns = is_own(OWN_USER);
	ret->own_pid_ns = is_own(OWN_PID);
	find_container(ret->container);
	find_file(ret->file);
}

void machine_look(struct machine *ret)
{
	*ret = (struct machine){
		.paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid"),
		.bpf_disabled =
			read_setting("/proc/sys/kernel/unprivileged_bpf_disabled"),
		.ptrace_scope = read_setting("/proc/sys/kernel/yama/ptrace_scope"),
		.proc_sys = try_proc_sys(),
	};
	uname(&ret->name);
	read_lockdown(ret->lockdown);
	look_at_process(ret);
}
