/* SPDX-License-Identifier: BSD-2-Clause */
#include "inferior/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "inferior/inferior.h"

int proc_read(const char *path, struct buffer *out)
{
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
		buffer_append(out, chunk, (size_t)n);
	}
	if (n < 0)
		return -errno;
	return buffer_failed(out) ? -ENOMEM : 0;
}

bool proc_stat_field(pid_t tid, unsigned int field, char *value, size_t size)
{
	struct buffer text _cleanup_buffer_ = {0};
	char path[32];
	const char *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	if (proc_read(path, &text) < 0)
		return false;
	/* "TID (NAME) STATE ...": the name may hold anything. */
	p = strrchr(buffer_string(&text), ')');
	for (unsigned int i = 2; p && i < field; i++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	if (!p)
		return false;
	snprintf(value, size, "%.*s", (int)strcspn(p, " \n"), p);
	return true;
}

/* Appends the rest of a line "Name:\tREST" of /proc/TID/status; false: there is none.
 */
static bool status_line(pid_t tid, const char *name, struct buffer *rest)
{
	struct buffer text _cleanup_buffer_ = {0};
	char path[32], key[32];
	const char *p;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	snprintf(key, sizeof(key), "\n%s:\t", name);
	if (proc_read(path, &text) < 0)
		return false;
	p = strstr(buffer_string(&text), key);
	if (p)
		buffer_append(rest, p + strlen(key), strcspn(p + strlen(key), "\n"));
	return p != NULL;
}

long proc_status_number(pid_t tid, const char *name)
{
	struct buffer rest _cleanup_buffer_ = {0};

	return status_line(tid, name, &rest) ? strtol(buffer_string(&rest), NULL, 10)
					     : -1;
}

bool proc_status_word(pid_t tid, const char *name, const char *word)
{
	struct buffer rest _cleanup_buffer_ = {0};

	return status_line(tid, name, &rest) && strstr(buffer_string(&rest), word);
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

int thread_core(const struct thread *thread)
{
	char value[16];

	if (!proc_stat_field(thread->tid, PROC_STAT_PROCESSOR, value, sizeof(value)))
		return -1;
	return (int)strtol(value, NULL, 10);
}

char *inferior_exe(const struct inferior *inferior)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", inferior->pid);
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

int inferior_proc_file(const struct inferior *inferior, const char *name,
		       struct buffer *out)
{
	const struct thread *thread;
	size_t before = out->len;
	char path[64];
	int err = -ESRCH;

	/* Those of a leader that has ended before its threads are empty, or not to be
	 * opened (Linux 6.12). */
	TAILQ_FOREACH (thread, &inferior->threads, link) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", inferior->pid,
			 thread->tid, name);
		err = proc_read(path, out);
		if (out->len > before)
			break;
	}
	return err;
}
