/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of this machine, with the test itself as what is to be found. */
#include "gdbstub/base/patience.h"
#include "gdbstub/osdata/osdata.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <unistd.h>

#define COLUMN(name, value) "<column name=\"" name "\">" value "</column>"

static const char *table(const char *type, struct buffer *out)
{
	buffer_reset(out);
	cr_assert(osdata_xml(type, PATIENCE_NOBODY, out), "%s", type);
	cr_assert_not(buffer_failed(out));
	return buffer_string(out);
}

#define assert_row(type, ...)                                                          \
	do {                                                                           \
		char row_[512];                                                        \
		snprintf(row_, sizeof(row_), __VA_ARGS__);                             \
		cr_assert_not_null(strstr(table(type, &out), row_), "%s: no %s", type, \
				   row_);                                              \
	} while (0)

Test(osdata, every_table_is_listed_and_is_a_document)
{
	static const char *const types[] = {
		"cpus",	      "files", "modules",    "msg",	"processes",
		"procgroups", "shm",   "semaphores", "sockets", "threads"};
	_cleanup_buffer_ struct buffer out = {0}, list = {0};
	size_t count = sizeof(types) / sizeof(types[0]), rows = 0;

	cr_assert_str_eq(table("", &list), table("types", &out));
	for (const char *p = list.data; (p = strstr(p, "<item>")); p++)
		rows++;
	cr_assert_eq(rows, count);
	for (size_t i = 0; i < count; i++) {
		char cell[64];

		snprintf(cell, sizeof(cell), COLUMN("Type", "%s"), types[i]);
		cr_assert_not_null(strstr(list.data, cell), "%s", cell);
		table(types[i], &out);
		cr_assert_eq(strncmp(out.data, "<osdata type=\"", 14), 0);
		cr_assert_str_eq(out.data + out.len - strlen("</osdata>\n"),
				 "</osdata>\n");
	}
}

Test(osdata, an_unknown_table_is_refused)
{
	_cleanup_buffer_ struct buffer out = {0};

	cr_assert_not(osdata_xml("process", PATIENCE_NOBODY, &out));
	cr_assert_not(osdata_xml("processes ", PATIENCE_NOBODY, &out));
	cr_assert_eq(out.len, 0);
}

/* The name of a process may hold anything, even what ends it in its stat. */
Test(osdata, this_process)
{
	_cleanup_buffer_ struct buffer out = {0};
	int fd = open("/dev/null", O_RDONLY);

	prctl(PR_SET_NAME, "a) <b");
	assert_row("processes", "<item>" COLUMN("pid", "%d") "<column name=\"user\">",
		   (int)getpid());
	assert_row("threads",
		   COLUMN("pid", "%d") COLUMN("command", "a) &lt;b")
			   COLUMN("tid", "%d") "<column name=\"core\">",
		   (int)getpid(), (int)gettid());
	assert_row("files",
		   COLUMN("pid", "%d") COLUMN("command", "a) &lt;b")
			   COLUMN("file descriptor", "%d") COLUMN("name", "/dev/null"),
		   (int)getpid(), fd);
	assert_row("procgroups",
		   "<item>" COLUMN("pgid", "%d") "<column name=\"leader command\">",
		   (int)getpgrp());
	assert_row("procgroups", COLUMN("pid", "%d") "<column name=\"command line\">",
		   (int)getpid());
	close(fd);
}

Test(osdata, sockets_have_addresses_and_ports)
{
	_cleanup_buffer_ struct buffer out = {0};
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) < 0 ||
	    listen(fd, 1) < 0)
		cr_skip_test("no socket on the loopback interface");
	getsockname(fd, (struct sockaddr *)&address, &len);
	assert_row("sockets",
		   COLUMN("local address", "127.0.0.1") COLUMN("local port", "%d")
			   COLUMN("remote address", "0.0.0.0")
				   COLUMN("remote port", "0") COLUMN("state", "LISTEN"),
		   ntohs(address.sin_port));
	cr_assert_not_null(strstr(out.data, COLUMN("family", "INET")
						    COLUMN("protocol", "STREAM")));
	close(fd);
}

Test(osdata, ipc_objects)
{
	_cleanup_buffer_ struct buffer out = {0};
	int shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0640),
	    sem = semget(IPC_PRIVATE, 3, IPC_CREAT | 0640),
	    msg = msgget(IPC_PRIVATE, IPC_CREAT | 0640);

	if (shm < 0 || sem < 0 || msg < 0)
		cr_skip_test("no System V IPC");
	prctl(PR_SET_NAME, "owner");
	assert_row("semaphores",
		   COLUMN("key", "0") COLUMN("semid", "%d") COLUMN("permissions", "640")
			   COLUMN("num semaphores", "3"),
		   sem);
	assert_row("msg", COLUMN("msqid", "%d") COLUMN("permissions", "640"), msg);
	assert_row("shm",
		   COLUMN("shmid", "%d") COLUMN("permissions", "640")
			   COLUMN("size", "4096") COLUMN("creator command", "owner")
				   COLUMN("last op. command", ""),
		   shm);
	shmctl(shm, IPC_RMID, NULL);
	semctl(sem, 0, IPC_RMID);
	msgctl(msg, IPC_RMID, NULL);
}
