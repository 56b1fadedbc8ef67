/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/inferior/inferior.h"

enum { STAT_MAX = 2048 }; /* 52 numbers and a name: fits */

int proc_read_some(const char *path, size_t max, struct buffer *out)
{
	const size_t before = out->len;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char chunk[4096];
	ssize_t n;

	if (fd < 0)
		return -errno;
	for (;;) {
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if ((size_t)n > max - (out->len - before)) {
			buffer_append(out, chunk, max - (out->len - before));
			return buffer_failed(out) ? -ENOMEM : -EFBIG;
		}
		buffer_append(out, chunk, (size_t)n);
		if (buffer_failed(out))
			return -ENOMEM;
	}
	return n < 0 ? -errno : 0;
}

int proc_read(const char *path, struct buffer *out)
{
	return proc_read_some(path, PROC_READ_MAX, out);
}

int proc_open_regular(int found, struct stat *st)
{
	char path[32];
	int fd;

	*st = (struct stat){0};
	if (fstat(found, st) != 0)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int proc_open_memory(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd >= 0 || errno != EROFS ? fd : open(path, O_RDONLY | O_CLOEXEC);
}

/* "TID (NAME) STATE ..." in one read, as it is a line, and short. For /proc/TID/stat,
 * whose times are the process's, the kernel would go through all of its threads
 * (fs/proc/array.c: do_task_stat). */
static bool read_open_stat(int fd, char *text, size_t size)
{
	const ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static int open_stat(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_stat(pid_t pid, pid_t tid, char *text, size_t size)
{
	_cleanup_close_ int fd = open_stat(pid, tid);

	return read_open_stat(fd, text, size);
}

/* Field 3 and up, and what follows; NULL: there is none. The name may hold anything. */
static const char *find_field(const char *text, unsigned int field)
{
	const char *p = strrchr(text, ')');

	for (unsigned int i = 2; p && i < field; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	return p;
}

bool proc_stat_field(pid_t tid, unsigned int field, char *value, size_t size)
{
	char text[STAT_MAX];
	const char *p = read_stat(tid, tid, text, sizeof(text))
				? find_field(text, field)
				: NULL;

	if (!p)
		return false;
	snprintf(value, size, "%.*s", (int)strcspn(p, " \n"), p);
	return true;
}

static void read_status(pid_t tid, struct buffer *text)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	proc_read(path, text);
}

/* Where the rest of a line "Name:\tREST" of /proc/TID/status begins, or NULL. */
static const char *find_status(const struct buffer *text, const char *name)
{
	char key[32];
	const char *p;

	snprintf(key, sizeof(key), "\n%s:\t", name);
	p = strstr(buffer_string(text), key);
	return p ? p + strlen(key) : NULL;
}

void proc_status_numbers(pid_t tid, const char *const *names, long *numbers,
			 unsigned int count)
{
	struct buffer text _cleanup_buffer_ = {0};

	read_status(tid, &text);
	for (unsigned int i = 0; i < count; i++) {
		const char *rest = find_status(&text, names[i]);

		numbers[i] = rest ? strtol(rest, NULL, 10) : -1;
	}
}

long proc_status_number(pid_t tid, const char *name)
{
	long number;

	proc_status_numbers(tid, &name, &number, 1);
	return number;
}

uint64_t proc_status_bits(pid_t tid, const char *name)
{
	struct buffer text _cleanup_buffer_ = {0};
	const char *rest;

	read_status(tid, &text);
	rest = find_status(&text, name);
	return rest ? strtoull(rest, NULL, 16) : 0;
}

bool proc_status_word(pid_t tid, const char *name, const char *word)
{
	struct buffer text _cleanup_buffer_ = {0};
	const char *rest, *found;

	read_status(tid, &text);
	rest = find_status(&text, name);
	found = rest ? strstr(rest, word) : NULL;
	return found && found < rest + strcspn(rest, "\n");
}

long proc_number(const char *path)
{
	struct buffer text _cleanup_buffer_ = {0};
	char *end;
	long number;

	if (proc_read(path, &text) < 0)
		return -1;
	number = strtol(buffer_string(&text), &end, 10);
	return end == buffer_string(&text) ? -1 : number;
}

void thread_name(const struct thread *thread, char *name, size_t size)
{
	struct buffer text _cleanup_buffer_ = {0};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", thread->group,
		 thread->tid);
	proc_read(path, &text);
	snprintf(name, size, "%s", buffer_string(&text));
	name[strcspn(name, "\n")] = '\0';
}

void proc_close_stat(struct inferiors *inferiors)
{
	if (inferiors->stat.tid != 0)
		close(inferiors->stat.fd);
	inferiors->stat.tid = 0;
}

/* It is most often the same thread that stops: to open the file takes as long as to
 * read it. What is open is a task's, not a number's: of one that has gone nothing is
 * read. */
static bool read_stat_again(const struct thread *thread, char *text, size_t size)
{
	struct inferiors *inferiors = thread->inferior->owner;
	struct open_stat *stat = &inferiors->stat;

	if (stat->tid == thread->tid && read_open_stat(stat->fd, text, size))
		return true;
	proc_close_stat(inferiors);
	stat->fd = open_stat(thread->group, thread->tid);
	if (stat->fd < 0)
		return false;
	stat->tid = thread->tid;
	return read_open_stat(stat->fd, text, size);
}

static int core_in(const char *text)
{
	const char *core = find_field(text, PROC_STAT_PROCESSOR);

	return core ? (int)strtol(core, NULL, 10) : -1;
}

int thread_core(const struct thread *thread)
{
	char text[STAT_MAX];

	return read_stat_again(thread, text, sizeof(text)) ? core_in(text) : -1;
}

int thread_core_and_name(const struct thread *thread, char *name, size_t size)
{
	char text[STAT_MAX];
	const char *begin, *end;

	name[0] = '\0';
	if (!read_stat(thread->group, thread->tid, text, sizeof(text)))
		return -1;
	begin = strchr(text, '(');
	end = strrchr(text, ')');
	if (begin && end)
		snprintf(name, size, "%.*s", (int)(end - begin - 1), begin + 1);
	name[strcspn(name, "\n")] = '\0';
	return core_in(text);
}

/* NULL: it cannot be read, or there is no memory. */
static char *read_link(const char *path)
{
	for (size_t size = 256;; size *= 2) {
		_cleanup_free_ char *target = malloc(size);
		ssize_t n = target ? readlink(path, target, size) : -1;

		if (n < 0)
			return NULL;
		if ((size_t)n < size) {
			target[n] = '\0';
			return take_ptr(target);
		}
	}
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

bool proc_is_zombie(pid_t tid)
{
	char state[2];

	return proc_stat_field(tid, PROC_STAT_STATE, state, sizeof(state)) &&
	       (*state == 'Z' || *state == 'X');
}

bool thread_is_zombie(const struct thread *thread)
{
	return thread_leads(thread) && proc_is_zombie(thread->tid);
}

pid_t inferior_living_task(const struct inferior *inferior)
{
	const struct thread *thread;

	FOREACH_THREAD (thread, inferior) {
		if (!thread_is_zombie(thread))
			return thread->tid;
	}
	return inferior->pid;
}

/* Can the program be read by its name? Of a file that was deleted or replaced, the
 * kernel's name has more to it (proc(5)), and may be the name of another file. */
static bool is_readable(const struct inferior *inferior, const char *name,
			const char *link)
{
	static const char suffix[] = " (deleted)";
	size_t len = strlen(name), tail = sizeof(suffix) - 1;
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "/proc/%d/root%s", inferior_living_task(inferior), name) <
	    0) {
		path = NULL;
		return false;
	}
	if (access(path, R_OK) < 0)
		return false;
	return len < tail || strcmp(name + len - tail, suffix) != 0 ||
	       is_same_file(path, link);
}

char *inferior_exe(const struct inferior *inferior)
{
	_cleanup_free_ char *name = NULL;
	char link[32];

	snprintf(link, sizeof(link), "/proc/%d/exe", inferior_living_task(inferior));
	name = read_link(link);
	if (name && !is_readable(inferior, name, link) && access(link, R_OK) == 0)
		return strdup(link);
	return take_ptr(name);
}

static int read_of_task(pid_t tid, const char *name, struct buffer *out)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	return proc_read(path, out);
}

int inferior_proc_file(const struct inferior *inferior, const char *name,
		       struct buffer *out)
{
	const struct thread *thread;
	size_t before = out->len;
	int err = -ESRCH;

	/* One that ends has nothing any more, before it is a zombie. The pid itself may
	 * be another process's, when tasks of others than the leader's are left. */
	FOREACH_THREAD (thread, inferior) {
		err = read_of_task(thread->tid, name, out);
		if (out->len > before)
			break;
	}
	return TAILQ_EMPTY(&inferior->threads) ? read_of_task(inferior->pid, name, out)
					       : err;
}

/* Of an auxiliary vector as /proc has it. */
static uint64_t find_in_auxv(const struct buffer *auxv, uint64_t type)
{
	ElfW(auxv_t) entry;

	for (size_t at = 0; at + sizeof(entry) <= auxv->len; at += sizeof(entry)) {
		memcpy(&entry, auxv->data + at, sizeof(entry));
		if (entry.a_type == type)
			return entry.a_un.a_val;
	}
	return 0;
}

uint64_t task_auxv(pid_t tid, uint64_t type)
{
	_cleanup_buffer_ struct buffer auxv = {0};

	return read_of_task(tid, "auxv", &auxv) < 0 ? 0 : find_in_auxv(&auxv, type);
}

uint64_t inferior_auxv(const struct inferior *inferior, uint64_t type)
{
	_cleanup_buffer_ struct buffer auxv = {0};

	return inferior_proc_file(inferior, "auxv", &auxv) < 0
		       ? 0
		       : find_in_auxv(&auxv, type);
}

static bool is_link_to(int directory, const char *name, const char *target)
{
	char found[64];
	const ssize_t n = readlinkat(directory, name, found, sizeof(found));

	return n == (ssize_t)strlen(target) && memcmp(found, target, (size_t)n) == 0;
}

bool inferior_has_descriptor(const struct inferior *inferior, const char *kind)
{
	const struct dirent *entry;
	bool found = false;
	char path[64];
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", inferior_living_task(inferior));
	directory = opendir(path);
	if (!directory)
		return false;
	while (!found && (entry = readdir(directory)))
		found = is_link_to(dirfd(directory), entry->d_name, kind);
	closedir(directory);
	return found;
}
