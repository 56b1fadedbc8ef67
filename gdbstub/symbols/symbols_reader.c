/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/symbols_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gdbstub/base/demangle.h"
#include "gdbstub/symbols/elf_symbols.h"
#include "gdbstub/symbols/symbols_confine.h"

enum {
	OPEN_MAX = 8,	    /* files that a reader keeps */
	LOOK_INTERVAL = 20, /* ms */
	QUICK_LOOKS = 100,  /* for the end of a process, twenty in a millisecond, */
	END_LOOKS = 1100,   /* ... then one in each, and so many altogether */
};

/* ---- messages, with a descriptor or without ---- */

union control {
	struct cmsghdr header; /* for its alignment */
	char data[CMSG_SPACE(sizeof(int))];
};

static bool send_message(int socket, const void *data, size_t len, int fd)
{
	struct iovec iov = {.iov_base = (void *)data, .iov_len = len};
	union control control = {.data = {0}};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.data);
	}
	do
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)len;
}

/* *fd: what came along, or -1. Returns the bytes, 0 or less at the end. */
static ssize_t receive_message(int socket, void *data, size_t size, int *fd)
{
	struct iovec iov = {.iov_base = data, .iov_len = size};
	union control control = {.data = {0}};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control.data)};
	const struct cmsghdr *header;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (header && header->cmsg_level == SOL_SOCKET &&
	    header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return n;
}

/* ---- the process ---- */

struct open_file {
	uint64_t start;
	struct elf_symbols *symbols; /* NULL: it cannot be read */
};

struct open_files {
	struct open_file rows[OPEN_MAX];
	unsigned int count;
};

static void forget_files(struct open_files *files)
{
	while (files->count > 0)
		elf_symbols_destroy(files->rows[--files->count].symbols);
}

static void add_file(struct open_files *files, const struct reader_request *request,
		     int fd)
{
	if (files->count == OPEN_MAX)
		forget_files(files);
	files->rows[files->count++] = (struct open_file){
		.start = request->start,
		.symbols = elf_symbols_create(fd, request->start, request->end),
	};
}

static struct elf_symbols *find_symbols(const struct open_files *files, uint64_t start)
{
	for (unsigned int i = 0; i < files->count; i++)
		if (files->rows[i].start == start)
			return files->rows[i].symbols;
	return NULL;
}

struct search {
	const struct reader_request *request;
	struct reader_reply *reply;
	const char *names[READER_FOUND_MAX];
	bool found[READER_FOUND_MAX];
	size_t count;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The first symbol of a name counts. */
static bool note_symbol(void *arg, const char *name, uint64_t addr)
{
	struct search *search = arg;
	const char **row = bsearch(&name, search->names, search->count,
				   sizeof(search->names[0]), compare_names);
	size_t index = row ? (size_t)(row - search->names) : 0;

	if (!row || search->found[index])
		return true;
	search->found[index] = true;
	search->reply->found[search->reply->number].addr = addr;
	search->reply->found[search->reply->number].index = (uint32_t)index;
	search->reply->number++;
	return (size_t)search->reply->number < search->count;
}

static void find_symbols_of(struct elf_symbols *symbols,
			    const struct reader_request *request,
			    struct reader_reply *reply)
{
	struct search search = {.request = request, .reply = reply};
	const char *end = request->text + request->text_len;

	for (const char *p = request->text; p < end && search.count < READER_FOUND_MAX;
	     p += strlen(p) + 1)
		search.names[search.count++] = p;
	if (search.count > 0)
		elf_symbols_each(symbols, note_symbol, &search);
}

static void name_symbol(struct elf_symbols *symbols, uint64_t addr,
			struct reader_reply *reply)
{
	const char *name = elf_symbols_name(symbols, addr, &reply->offset);
	_cleanup_buffer_ struct buffer shown = {0};

	reply->number = name != NULL;
	if (!name)
		return;
	strncpy(reply->name, name, sizeof(reply->name) - 1);
	demangle(name, &shown);
	strncpy(reply->shown, buffer_string(&shown), sizeof(reply->shown) - 1);
}

static void answer(struct elf_symbols *symbols, const struct reader_request *request,
		   struct reader_reply *reply)
{
	switch (request->question) {
	case READER_NAME:
		name_symbol(symbols, request->addr, reply);
		break;
	case READER_FRAME_REGISTER:
		reply->number = elf_symbols_frame_register(symbols, request->addr);
		break;
	case READER_CODE:
		reply->number =
			elf_symbols_code_around(symbols, request->addr, &reply->offset);
		break;
	case READER_SEQUENCES:
		reply->number = elf_symbols_sequences(symbols, request->addr);
		return;
	case READER_SMALL_STACKS:
		reply->number = elf_symbols_small_stacks(symbols);
		break;
	case READER_HOOK:
		reply->number = elf_symbols_is_hook(symbols, request->addr);
		break;
	case READER_COVERS:
		reply->number = elf_symbols_covers(symbols, request->text,
						   request->addr, &reply->offset);
		break;
	case READER_FIND:
		find_symbols_of(symbols, request, reply);
		break;
	}
	if (request->question != READER_FRAME_REGISTER)
		reply->lacks_packed = elf_symbols_lacks_packed(symbols);
}

/* Both messages are large; nothing else of the process needs them. */
static void __attribute__((noreturn)) serve(int socket)
{
	static struct reader_request request;
	static struct reader_reply reply;
	struct open_files files = {.count = 0};
	int fd;

	while (receive_message(socket, &request, sizeof(request), &fd) > 0) {
		struct elf_symbols *symbols;

		if (request.forget)
			forget_files(&files);
		if (fd >= 0)
			add_file(&files, &request, fd);
		symbols = find_symbols(&files, request.start);
		memset(&reply, 0, sizeof(reply));
		if (symbols)
			answer(symbols, &request, &reply);
		else if (request.question == READER_FRAME_REGISTER)
			reply.number = -1;
		if (!send_message(socket, &reply, sizeof(reply), -1))
			break;
	}
	_exit(0);
}

static void __attribute__((noreturn)) reader_main(int socket, pid_t server)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "truehit-symbols");
	if (getppid() != server)
		_exit(0);
	if (socket != STDIN_FILENO && dup2(socket, STDIN_FILENO) < 0)
		_exit(1);
	close_range(STDIN_FILENO + 1, ~0U, 0); /* afterwards it may not */
	symbols_confine();
	serve(STDIN_FILENO);
}

/* ---- the server ---- */

int symbols_reader_start(struct symbols_reader *reader)
{
	pid_t server = getpid(), pid;
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		reader_main(sockets[1], server);
	close(sockets[1]);
	if (pid < 0) {
		int err = errno;

		close(sockets[0]);
		return -err;
	}
	fcntl(sockets[0], F_SETFL, O_NONBLOCK);
	*reader = (struct symbols_reader){.pid = pid, .socket = sockets[0]};
	return 0;
}

/* Until the process has ended, but not for ever: one that waits for a server of files
 * in the network may not hear of its end. Returns its status, or -1. */
static int wait_for_end(pid_t pid)
{
	struct timespec pause = {.tv_nsec = 50 * 1000};
	int status;

	for (int i = 0; i < END_LOOKS; i++) {
		pid_t ret = waitpid(pid, &status, WNOHANG);

		if (ret == pid)
			return status;
		if (ret < 0 && errno != EINTR)
			break;
		nanosleep(&pause, NULL);
		if (i == QUICK_LOOKS)
			pause.tv_nsec = 1000 * 1000;
	}
	return -1;
}

void symbols_reader_stop(struct symbols_reader *reader)
{
	if (reader->pid == 0)
		return;
	kill(reader->pid, SIGKILL);
	wait_for_end(reader->pid);
	close(reader->socket);
	reader->pid = 0;
}

/* It has ended by itself: why? */
static const char *reap(struct symbols_reader *reader)
{
	int status = wait_for_end(reader->pid);

	close(reader->socket);
	reader->pid = 0;
	if (status >= 0 && WIFSIGNALED(status) &&
	    (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
		return "it takes too long";
	return "it is damaged: the process that reads it has ended by a fault";
}

/* Why there is no answer; NULL: there is one to be received. */
static const char *wait_for_answer(struct symbols_reader *reader,
				   struct patience *patience)
{
	struct pollfd pollfd = {.fd = reader->socket, .events = POLLIN};

	for (;;) {
		const char *verdict = patience_ended(patience);

		if (verdict) {
			symbols_reader_stop(reader);
			return verdict;
		}
		if (poll(&pollfd, 1, LOOK_INTERVAL) <= 0)
			continue;
		return pollfd.revents & POLLIN ? NULL : reap(reader);
	}
}

const char *symbols_reader_ask(struct symbols_reader *reader,
			       const struct reader_request *request, int fd,
			       struct reader_reply *reply, struct patience *patience)
{
	const size_t len = offsetof(struct reader_request, text) + request->text_len;
	const char *reason;
	int came;
	ssize_t n;

	if (!send_message(reader->socket, request, len, fd))
		return reap(reader);
	reason = wait_for_answer(reader, patience);
	if (reason)
		return reason;
	n = receive_message(reader->socket, reply, sizeof(*reply), &came);
	cleanup_close(&came);
	if (n == (ssize_t)sizeof(*reply))
		return NULL;
	if (n == 0)
		return reap(reader);
	symbols_reader_stop(reader);
	return "the process that reads it has given a wrong answer";
}
