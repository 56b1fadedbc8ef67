/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "gdbstub/rsp/frame.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/client.h"
#include "gdbstub/packets/vfile.h"
#include "gdbstub/server.h"
#include "tests/unit/child.h"

static struct run run;
static struct client client = {.run = &run};
static char folder[] = "/tmp/truehit-vfile-XXXXXX";
static struct buffer reply;

static void begin(void)
{
	client = (struct client){.run = &run};
	cr_assert_not_null(mkdtemp(folder));
}

static void end(void)
{
	vfile_destroy(client.session.vfile);
	buffer_deinit(&reply);
	rmdir(folder);
}

/* The reply to "vFile:" and these bytes; an error as "E.text". */
static const char *ask_bytes(const void *text, size_t len)
{
	struct cursor args = {text, (const char *)text + len};
	struct error *error;

	buffer_reset(&reply);
	error = packet_vFile(&client, &args, &reply);
	if (error) {
		buffer_reset(&reply);
		buffer_printf(&reply, "E.%s", error_text(error));
	}
	error_destroy(error);
	return buffer_string(&reply);
}

static const char *ask(const char *text)
{
	return ask_bytes(text, strlen(text));
}

/* "OPERATION:HEXPATH" and the rest. */
static const char *ask_path(const char *operation, const char *path, const char *rest)
{
	_cleanup_buffer_ struct buffer text = {0};

	buffer_printf(&text, "%s:", operation);
	buffer_append_hex(&text, path, strlen(path));
	buffer_append_string(&text, rest);
	return ask_bytes(text.data, text.len);
}

/* A path in the test's folder. */
static const char *in_folder(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void make_file(const char *path, const char *contents)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, contents, strlen(contents)), (ssize_t)strlen(contents));
	close(fd);
}

TestSuite(vfile, .init = begin, .fini = end);

Test(vfile, write_read_unlink)
{
	const char *path = in_folder("file");
	struct stat st;

	/* O_RDWR | O_CREAT | O_EXCL in the protocol's numbers. */
	cr_assert_str_eq(ask_path("open", path, ",a02,1a4"), "F0");
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_str_eq(ask("pwrite:0,0,hello, world"), "Fc");
	cr_assert_str_eq(ask_bytes("pwrite:0,5,\0:;", 14), "F3");
	ask("pread:0,1000,3");
	cr_assert_eq(reply.len, 3 + 9);
	cr_assert_arr_eq(reply.data, "F9;lo\0:;orld", 12);
	cr_assert_str_eq(ask("pread:0,2,0"), "F2;he");
	cr_assert_str_eq(ask("pread:0,2,c"), "F0;");
	cr_assert_str_eq(ask_path("open", path, ",a02,1a4"), "F-1,11");
	cr_assert_str_eq(ask("close:0"), "F0");
	cr_assert_str_eq(ask("close:0"), "F-1,9");
	/* O_WRONLY | O_TRUNC */
	cr_assert_str_eq(ask_path("open", path, ",401,0"), "F0");
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_size, 0);
	cr_assert_str_eq(ask("pread:0,1,0"), "F-1,9");
	cr_assert_str_eq(ask("close:0"), "F0");
	cr_assert_str_eq(ask_path("unlink", path, ""), "F0");
	cr_assert_str_eq(ask_path("unlink", path, ""), "F-1,2");
	cr_assert_lt(stat(path, &st), 0);
}

Test(vfile, errors_have_the_protocols_numbers)
{
	cr_assert_str_eq(ask_path("open", "/nonexistent/x", ",0,0"), "F-1,2");
	cr_assert_str_eq(ask_path("open", "/etc/passwd/x", ",0,0"), "F-1,14");
	cr_assert_str_eq(ask_path("open", "/", ",1,0"), "F-1,15");
	cr_assert_str_eq(ask_path("open", "/", ",3,0"), "F-1,16");
	cr_assert_str_eq(ask_path("open", "/", ",10000,0"), "F-1,16");
	cr_assert_str_eq(ask_path("open", in_folder("x"), ",201,fff"), "F-1,16");
	cr_assert_str_eq(ask_path("unlink", folder, ""), "F-1,15");
	/* ELOOP has no number: FILEIO_EUNKNOWN. */
	cr_assert_eq(symlink("loop", in_folder("loop")), 0);
	cr_assert_str_eq(ask_path("open", in_folder("loop"), ",0,0"), "F-1,270f");
	unlink(in_folder("loop"));
}

static uint32_t be32_at(size_t offset)
{
	uint32_t value;

	memcpy(&value, reply.data + 4 + offset, sizeof(value));
	return be32toh(value);
}

static uint64_t be64_at(size_t offset)
{
	uint64_t value;

	memcpy(&value, reply.data + 4 + offset, sizeof(value));
	return be64toh(value);
}

/* The layout is the manual's: "struct stat" of the File-I/O extension. */
static void assert_stat(const struct stat *st, uint32_t mode)
{
	cr_assert_eq(reply.len, 4 + 64);
	cr_assert_arr_eq(reply.data, "F40;", 4);
	cr_assert_eq(be32_at(0), (uint32_t)st->st_dev);
	cr_assert_eq(be32_at(4), (uint32_t)st->st_ino);
	cr_assert_eq(be32_at(8), mode, "%o", be32_at(8));
	cr_assert_eq(be32_at(12), st->st_nlink);
	cr_assert_eq(be32_at(16), st->st_uid);
	cr_assert_eq(be32_at(20), st->st_gid);
	cr_assert_eq(be32_at(24), (uint32_t)st->st_rdev);
	cr_assert_eq(be64_at(28), (uint64_t)st->st_size);
	cr_assert_eq(be64_at(36), (uint64_t)st->st_blksize);
	cr_assert_eq(be64_at(44), (uint64_t)st->st_blocks);
	cr_assert_eq(be32_at(52), (uint32_t)st->st_atime);
	cr_assert_eq(be32_at(56), (uint32_t)st->st_mtime);
	cr_assert_eq(be32_at(60), (uint32_t)st->st_ctime);
}

Test(vfile, stat_has_the_manuals_layout)
{
	const char *path = in_folder("file");
	struct stat st;

	make_file(path, "12345");
	cr_assert_eq(chmod(path, 04751), 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_str_eq(ask_path("open", path, ",0,0"), "F0");
	ask("fstat:0");
	assert_stat(&st, 0100751);
	ask_path("stat", path, "");
	assert_stat(&st, 0100751);
	unlink(path);
	cr_assert_eq(stat("/dev/null", &st), 0);
	ask_path("stat", "/dev/null", "");
	assert_stat(&st, 020666);
	cr_assert_eq(lstat("/proc/self/exe", &st), 0);
	ask_path("lstat", "/proc/self/exe", "");
	assert_stat(&st, 0777); /* a type that the manual does not have */
	cr_assert_str_eq(ask_path("stat", path, ""), "F-1,2");
	cr_assert_str_eq(ask("fstat:1"), "F-1,9");
	cr_assert_str_eq(ask("fstat:ffffffffffffffff"), "F-1,9");
}

Test(vfile, readlink_answers_with_the_target)
{
	char expected[64];

	cr_assert_eq(symlink("some/where", in_folder("link")), 0);
	cr_assert_str_eq(ask_path("readlink", in_folder("link"), ""), "Fa;some/where");
	unlink(in_folder("link"));
	cr_assert_str_eq(ask_path("readlink", "/proc/self", ""),
			 (snprintf(expected, sizeof(expected), "F%zx;%d",
				   (size_t)snprintf(NULL, 0, "%d", getpid()), getpid()),
			  expected));
	cr_assert_str_eq(ask_path("readlink", "/etc/passwd", ""), "F-1,16");
	cr_assert_str_eq(ask_path("readlink", "/nonexistent", ""), "F-1,2");
}

Test(vfile, a_reply_fits_into_a_packet_with_its_escapes)
{
	static char stars[RSP_PACKET_SIZE];
	const char *path = in_folder("stars");
	unsigned int count;

	memset(stars, '*', sizeof(stars) - 1);
	make_file(path, stars);
	cr_assert_str_eq(ask_path("open", path, ",0,0"), "F0");
	unlink(path);
	ask("pread:0,ffffffff,0");
	cr_assert_eq(sscanf(reply.data, "F%x;", &count), 1);
	cr_assert_eq(reply.len, strcspn(reply.data, ";") + 1 + count);
	cr_assert_leq(strcspn(reply.data, ";") + 1 + 2 * count, RSP_PACKET_SIZE);
	cr_assert_gt(2 * count, RSP_PACKET_SIZE - 64);
}

Test(vfile, the_number_of_open_files_is_bounded)
{
	char expected[16], last[16];
	int count = 0;

	while (strncmp(ask_path("open", "/dev/null", ",0,0"), "F-1", 3) != 0) {
		snprintf(expected, sizeof(expected), "F%x", count++);
		cr_assert_str_eq(reply.data, expected);
		cr_assert_lt(count, 1000);
	}
	cr_assert_str_eq(reply.data, "F-1,18");
	cr_assert_geq(count, 16);
	snprintf(last, sizeof(last), "close:%x", count - 1);
	cr_assert_str_eq(ask(last), "F0");
	cr_assert_str_eq(ask_path("open", "/dev/null", ",0,0"), expected);
}

Test(vfile, files_are_closed_with_the_session)
{
	int probe = open("/dev/null", O_RDONLY), again;

	close(probe);
	for (int i = 0; i < 5; i++)
		ask_path("open", "/dev/null", ",0,0");
	vfile_destroy(client.session.vfile);
	client.session.vfile = NULL;
	again = open("/dev/null", O_RDONLY);
	cr_assert_eq(again, probe);
	close(again);
}

Test(vfile, a_fifo_does_not_block_the_server, .timeout = 300)
{
	cr_assert_eq(mkfifo(in_folder("fifo"), 0600), 0);
	cr_assert_str_eq(ask_path("open", in_folder("fifo"), ",0,0"), "F0");
	cr_assert_str_eq(ask("pread:0,10,0"), "F-1,1d");
	unlink(in_folder("fifo"));
}

Test(vfile, malformed_packets_are_errors_and_unknown_ones_are_empty)
{
	static const char *const bad[] = {
		"setfs",	 "setfs:",
		"setfs:x",	 "setfs:0,",
		"setfs:-1",	 "open:",
		"open:2f",	 "open:2f,0",
		"open:2,0,0",	 "open:2f,0,0,",
		"open:2f00,0,0", "open:zz,0,0",
		"close:",	 "close:x",
		"close:0,",	 "pread:0",
		"pread:0,1",	 "pread:0,1,",
		"pread:0,1,0,",	 "pread:0,1,ffffffffffffffff",
		"pwrite:0",	 "pwrite:0,0",
		"fstat:",	 "stat:2",
		"lstat:2f,",	 "unlink:2",
		"readlink:2f,",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_eq(strncmp(ask(bad[i]), "E.vFile:", 8), 0, "%s: %s", bad[i],
			     buffer_string(&reply));
	cr_assert_str_eq(ask("nonsense:2f"), "");
	cr_assert_str_eq(ask("ope:2f,0,0"), "");
	cr_assert_str_eq(ask(""), "");
}

Test(vfile, setfs_of_a_process_among_us_and_of_none)
{
	char text[64];

	cr_assert_str_eq(ask("setfs:0"), "F0");
	snprintf(text, sizeof(text), "setfs:%x", (unsigned int)getpid());
	cr_assert_str_eq(ask(text), "F0");
	cr_assert_str_eq(ask("setfs:7ffffff0"), "F-1,2");
}

/* The child's side of the next test: a root of its own, with an absolute link. */
static int child_in_other_namespace(int ready)
{
	char inside[256];

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", folder, "tmpfs", 0, NULL) < 0)
		return 1;
	make_file(in_folder("secret"), "inside");
	snprintf(inside, sizeof(inside), "/secret");
	if (symlink(inside, in_folder("absolute")) < 0 || chroot(folder) < 0 ||
	    chdir("/") < 0 || write(ready, "x", 1) != 1)
		return 1;
	pause();
	return 0;
}

Test(vfile, setfs_of_another_mount_name_space)
{
	char text[64];
	int ready[2];
	pid_t child;
	struct stat st;

	cr_assert_eq(pipe(ready), 0);
	child = child_fork();
	if (child == 0)
		_exit(child_in_other_namespace(ready[1]));
	close(ready[1]);
	if (read(ready[0], text, 1) != 1) {
		child_end(child);
		cr_skip_test("mount name spaces cannot be made here");
	}
	snprintf(text, sizeof(text), "setfs:%x", (unsigned int)child);
	cr_assert_str_eq(ask(text), "F0");
	cr_assert_lt(stat("/secret", &st), 0);
	cr_assert_str_eq(ask_path("open", "/secret", ",0,0"), "F0");
	cr_assert_str_eq(ask("pread:0,10,0"), "F6;inside");
	cr_assert_str_eq(ask_path("open", "/absolute", ",0,0"), "F1");
	cr_assert_str_eq(ask("pread:1,10,0"), "F6;inside");
	cr_assert_str_eq(ask_path("open", "/../../secret", ",0,0"), "F2");
	cr_assert_str_eq(ask_path("open", "/etc/passwd", ",0,0"), "F-1,2");
	cr_assert_str_eq(ask_path("readlink", "/absolute", ""), "F7;/secret");
	ask_path("stat", "/absolute", "");
	cr_assert_eq(be64_at(28), 6);
	ask_path("lstat", "/absolute", "");
	cr_assert_eq(be64_at(28), 7);
	cr_assert_str_eq(ask_path("open", "/new", ",201,180"), "F3");
	cr_assert_str_eq(ask_path("unlink", "/new", ""), "F0");
	cr_assert_str_eq(ask_path("unlink", "/new", ""), "F-1,2");
	cr_assert_str_eq(ask("setfs:0"), "F0");
	cr_assert_str_eq(ask_path("open", "/secret", ",0,0"), "F-1,2");
	child_end(child);
}
