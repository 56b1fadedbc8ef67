/* SPDX-License-Identifier: BSD-2-Clause */
/* In which memory of a process uprobes can be. What the machine does not allow is
 * skipped. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/base/cleanup.h"
#include "bpf/kernel/kernel.h"
#include "bpf/kernel/uprobe_event.h"
#include "gdbstub/inferior/inferior.h"
#include "tests/unit/child.h"
#include "tests/unit/support.h"

static struct uprobe_options options;
static int program_fd;

static void begin(bool multi)
{
	options = use_uprobes(multi);
	program_fd = bpf_kernel_load_false(uprobe_kind(&options));
	cr_assert_geq(program_fd, 0, "%s", strerror(-program_fd));
}

static const unsigned char push[] = {0x55};
static const unsigned char locked[] = {0xf0, 0xff, 0x00};

/* A file with this code. */
static int make_file(const char *path, const void *code, size_t len)
{
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755)
		      : memfd_create("test", MFD_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, code, len), (ssize_t)len);
	cr_assert_eq(ftruncate(fd, sysconf(_SC_PAGESIZE)), 0);
	return fd;
}

static void *map_file(int fd, int protection, int flags)
{
	void *addr =
		mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), protection, flags, fd, 0);

	cr_assert_neq(addr, MAP_FAILED);
	return addr;
}

static void expect_refused(const void *addr, const char *why)
{
	struct uprobe_target target;
	_cleanup_error_ struct error *error = find_target(getpid(), addr, 1, &target);

	cr_assert_not_null(error, "%s", why);
	cr_expect_not_null(strstr(error_text(error), why), "%s", error_text(error));
	cr_expect_null(target.path);
}

Test(uprobe_target, memory_that_has_none)
{
	enum { CODE = PROT_READ | PROT_EXEC, ALL = CODE | PROT_WRITE };
	_cleanup_close_ int fd = make_file(NULL, push, sizeof(push));
	char *changed = map_file(fd, ALL, MAP_PRIVATE), *none;

	expect_refused(map_file(-1, ALL, MAP_PRIVATE | MAP_ANONYMOUS), "no file");
	expect_refused(changed, "may write");
	expect_refused(map_file(fd, PROT_READ, MAP_PRIVATE), "executed");
	expect_refused(map_file(fd, CODE, MAP_SHARED), "shared");
	changed[0] = (char)~push[0];
	mprotect(changed, 1, CODE);
	expect_refused(changed, "changed");
	none = map_file(fd, CODE, MAP_PRIVATE);
	munmap(none, 1);
	expect_refused(none, "no memory");
}

static void expect_probed(const char *what, pid_t pid, const void *addr)
{
	struct uprobe_target target;
	_cleanup_error_ struct error *error = find_target(pid, addr, 1, &target);
	unsigned char byte;
	int fd;

	cr_assert_null(error, "%s: %s", what, error ? error_text(error) : "");
	fd = uprobe_event_open(&options, &target, pid, program_fd);
	uprobe_target_deinit(&target);
	cr_assert_geq(fd, 0, "%s: %s", what, strerror(-fd));
	cr_assert_eq(process_vm_readv(pid, &(struct iovec){&byte, 1}, 1,
				      &(struct iovec){(void *)(uintptr_t)addr, 1}, 1,
				      0),
		     1);
	cr_expect(is_trapped(&byte), "%s", what);
	close(fd);
}

static void make_name(char *name, size_t size)
{
	snprintf(name, size, "/tmp/test_uprobe_event-%d", getpid());
}

BOTH(files)
{
	char name[64];
	int fd;
	void *addr;

	make_name(name, sizeof(name));
	fd = make_file(name, push, sizeof(push));
	addr = map_file(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	expect_probed("a file", getpid(), addr);
	unlink(name);
	expect_probed("deleted", getpid(), addr);
	close(make_file(name, locked, sizeof(locked)));
	expect_probed("replaced", getpid(), addr);
	unlink(name);
	close(fd);
	fd = make_file(NULL, push, sizeof(push));
	expect_probed("of no name", getpid(),
		      map_file(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE));
	close(fd);
}

static void expect_out_of_reach(const void *addr)
{
	struct uprobe_target target;
	_cleanup_error_ struct error *error = find_target(getpid(), addr, 1, &target);

	cr_assert_not_null(error);
	cr_expect_not_null(strstr(error_text(error), "setcap"), "%s",
			   error_text(error));
}

/* Without the right to follow the mapping there is only the file's name. */
Test(uprobe_multi, files_by_name)
{
	char name[64], gone[80];
	void *addr;
	int fd;

	begin(true);
	make_name(name, sizeof(name));
	/* So /proc calls it then. */
	snprintf(gone, sizeof(gone), "%s (deleted)", name);
	fd = make_file(name, push, sizeof(push));
	addr = map_file(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	keep_rights(UINT64_C(1) << CAP_BPF | UINT64_C(1) << CAP_PERFMON);
	expect_probed("a file", getpid(), addr);
	unlink(name);
	expect_out_of_reach(addr);
	close(make_file(gone, push, sizeof(push)));
	expect_out_of_reach(addr);
	unlink(gone);
	close(fd);
}

/* Tells where it has mapped a file that is mounted for it alone. */
static void __attribute__((noreturn)) child_of_other_mounts(int to)
{
	char name[64];
	void *addr;

	make_name(name, sizeof(name));
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/tmp", "tmpfs", 0, NULL) < 0)
		_exit(1);
	addr = map_file(make_file(name, push, sizeof(push)), PROT_READ | PROT_EXEC,
			MAP_PRIVATE);
	if (write(to, &addr, sizeof(addr)) != sizeof(addr))
		_exit(1);
	for (;;)
		pause();
}

BOTH(other_mounts)
{
	void *addr = NULL;
	int fds[2];
	pid_t pid;

	cr_assert_eq(pipe(fds), 0);
	pid = child_fork();
	if (pid == 0)
		child_of_other_mounts(fds[1]);
	close(fds[1]);
	if (read(fds[0], &addr, sizeof(addr)) != sizeof(addr))
		cr_skip_test("no mount name spaces");
	expect_probed("a file of other mounts", pid, addr);
	child_end(pid);
}

BOTH(refused_instruction)
{
	_cleanup_close_ int file = make_file(NULL, locked, sizeof(locked));
	void *addr = map_file(file, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	_cleanup_error_ struct error *error = NULL;
	struct uprobe_target target;
	int fd;

	cr_assert_null(find_target(getpid(), addr, sizeof(locked), &target));
	fd = uprobe_event_open(&options, &target, getpid(), program_fd);
	uprobe_target_deinit(&target);
	cr_assert_lt(fd, 0);
	error = uprobe_event_error(&options, -fd);
	cr_expect_not_null(strstr(error_text(error), "instruction"), "%s",
			   error_text(error));
	cr_expect_not(is_trapped(addr));
}
