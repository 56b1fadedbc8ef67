/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/symbols_reader.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gdbstub/base/shutdown.h"
#include "gdbstub/symbols/mapped_files.h"

/* What it reads is our own program, mapped as the kernel has done it. */
static struct inferior self;
static struct mapped_files files;
static const struct mapped_file *own;
static struct symbols_reader reader;
static struct reader_request request;
static struct reader_reply reply;
static struct patience patience;

static void begin(void)
{
	struct error *error;
	sigset_t set;

	shutdown_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	self.pid = getpid();
	error = mapped_files_read(&files, &self);
	cr_assert_null(error, "%s", error ? error_text(error) : "");
	own = mapped_files_at(&files, (uintptr_t)begin);
	cr_assert_not_null(own);
	patience_begin(&patience, PATIENCE_NOBODY, 60 * 1000);
	cr_assert_eq(symbols_reader_start(&reader), 0);
	request = (struct reader_request){
		.question = READER_NAME,
		.start = own->start,
		.end = own->end,
		.addr = (uintptr_t)begin + 1,
	};
}

static void end(void)
{
	symbols_reader_stop(&reader);
	mapped_files_deinit(&files);
	cr_assert(waitpid(-1, NULL, WNOHANG) < 0, "a process is left");
}

TestSuite(symbols_reader, .init = begin, .fini = end);

static const char *ask(int fd)
{
	const char *reason =
		symbols_reader_ask(&reader, &request, fd, &reply, &patience);

	if (fd >= 0)
		close(fd);
	return reason;
}

static void give_own(void)
{
	int fd = mapped_file_open(own, &self);

	cr_assert_geq(fd, 0);
	cr_assert_null(ask(fd));
}

Test(symbols_reader, names_and_offsets)
{
	give_own();
	cr_assert_eq(reply.number, 1);
	cr_assert_str_eq(reply.name, "begin");
	cr_assert_eq(reply.offset, 1);
	/* It has the file by now. */
	request.addr = (uintptr_t)end;
	cr_assert_null(ask(-1));
	cr_assert_str_eq(reply.name, "end");
	request.forget = true;
	cr_assert_null(ask(-1));
	cr_assert_eq(reply.number, 0);
}

Test(symbols_reader, it_can_do_nothing_else)
{
	char path[64], line[128], text[4096] = "";
	FILE *file;

	give_own();
	snprintf(path, sizeof(path), "/proc/%d/status", (int)reader.pid);
	file = fopen(path, "r");
	cr_assert_not_null(file);
	while (fgets(line, sizeof(line), file))
		strncat(text, line, sizeof(text) - strlen(text) - 1);
	fclose(file);
	cr_expect_not_null(strstr(text, "Name:\ttruehit-symbols\n"));
	cr_expect_not_null(strstr(text, "CapPrm:\t0000000000000000\n"));
	cr_expect_not_null(strstr(text, "CapEff:\t0000000000000000\n"));
	cr_expect_not_null(strstr(text, "NoNewPrivs:\t1\n"));
	/* A kernel without seccomp(2) has no such line. */
	if (strstr(text, "Seccomp:"))
		cr_expect_not_null(strstr(text, "Seccomp:\t2\n"));
}

/* What the server has open is none of its. */
Test(symbols_reader, it_has_no_descriptors)
{
	int fd = memfd_create("of-the-server", 0);
	char path[64], target[128];
	struct dirent *entry;
	DIR *dir;

	cr_assert_geq(fd, 0);
	symbols_reader_stop(&reader);
	cr_assert_eq(symbols_reader_start(&reader), 0);
	give_own();
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)reader.pid);
	dir = opendir(path);
	if (!dir && errno == EACCES)
		cr_skip("only root can look at its descriptors");
	cr_assert_not_null(dir);
	while ((entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target,
				       sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		cr_expect_null(strstr(target, "of-the-server"));
		cr_expect_null(strstr(target, "pipe:"), "%s", target);
	}
	closedir(dir);
	close(fd);
}

Test(symbols_reader, a_file_that_shrinks_while_it_is_read)
{
	char path[] = "/tmp/truehit-XXXXXX", data[65536];
	int from = mapped_file_open(own, &self), to = mkstemp(path);
	ssize_t n;

	cr_assert(from >= 0 && to >= 0);
	while ((n = read(from, data, sizeof(data))) > 0)
		cr_assert_eq(write(to, data, (size_t)n), n);
	close(from);
	cr_assert_null(ask(open(path, O_RDONLY | O_CLOEXEC)));
	cr_assert_eq(ftruncate(to, 0), 0);
	request.question = READER_FRAME_REGISTER;
	cr_expect_not_null(strstr(ask(-1), "it is damaged"));
	cr_expect_eq(reader.pid, 0);
	close(to);
	unlink(path);
}

Test(symbols_reader, what_is_no_elf_file)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "\177ELF and nothing else", 21), 21);
	cr_assert_null(ask(fd));
	cr_assert_eq(reply.number, 0);
	cr_assert_neq(reader.pid, 0);
}

Test(symbols_reader, one_that_never_answers_is_ended)
{
	give_own();
	cr_assert_eq(kill(reader.pid, SIGSTOP), 0);
	patience_begin(&patience, PATIENCE_NOBODY, 100);
	cr_assert_str_eq(ask(-1), "it takes too long");
	cr_assert_eq(reader.pid, 0);
}

Test(symbols_reader, the_end_that_is_asked_for)
{
	sigset_t set;
	int number;

	give_own();
	cr_assert_eq(kill(reader.pid, SIGSTOP), 0);
	kill(getpid(), SIGTERM);
	cr_assert_str_eq(ask(-1), "the server is asked to end");
	cr_assert_eq(reader.pid, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	cr_assert_eq(sigwait(&set, &number), 0);
}

Test(symbols_reader, a_client_that_has_gone)
{
	int ends[2];

	give_own();
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(kill(reader.pid, SIGSTOP), 0);
	patience_begin(&patience, ends[0], PATIENCE_ENDLESS);
	close(ends[1]);
	cr_assert_str_eq(ask(-1), "the client has gone");
	close(ends[0]);
}

/* ---- which files are opened ---- */

static int open_path(const char *path)
{
	const struct mapped_file file = {.name = path};
	int fd = mapped_file_open(&file, &self);

	if (fd >= 0)
		close(fd);
	return fd;
}

Test(symbols_reader, what_is_no_file_is_not_opened)
{
	char dir[] = "/tmp/truehit-XXXXXX", path[64], link[64];
	int fd;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(link, sizeof(link), "%s/link", dir);
	cr_assert_eq(symlink(path, link), 0);
	cr_expect_eq(open_path(path), -ENOENT);
	cr_expect_eq(mkfifo(path, 0600), 0);
	cr_expect_eq(open_path(path), -EINVAL);
	cr_expect_eq(open_path(link), -EINVAL);
	cr_expect_eq(unlink(path), 0);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_expect_geq(open_path(link), 0);
	/* A TiB of holes; some file systems have no such files. */
	if (ftruncate(fd, (off_t)1 << 40) == 0)
		cr_expect_eq(open_path(path), -EFBIG);
	close(fd);
	cr_expect_eq(open_path("/dev/null"), -EINVAL);
	cr_expect_eq(open_path("/proc"), -EINVAL);
	cr_expect_eq(unlink(path), 0);
	cr_expect_eq(unlink(link), 0);
	cr_expect_eq(rmdir(dir), 0);
}
