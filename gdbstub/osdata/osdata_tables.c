/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/osdata/osdata_tables.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gdbstub/osdata/osdata_item.h"
#include "gdbstub/inferior/proc.h"

enum format {
	PLAIN,
	HEX, /* without its 0x */
	USER,
	GROUP,
	COMMAND, /* of this process id; none for 0 */
	TIME,	 /* seconds since 1970; none for 0 */
	ADDRESS, /* "0100007F:1F90" as in /proc/net */
	PORT,
	STATE,
};

struct column {
	const char *name;
	unsigned int field; /* of the line, from 0 */
	enum format format;
};

static void format_time(const char *text, char *out, size_t size)
{
	time_t seconds = (time_t)strtoll(text, NULL, 10);
	struct tm tm;

	*out = '\0';
	if (seconds != 0 && localtime_r(&seconds, &tm))
		strftime(out, size, "%a %b %e %H:%M:%S %Y", &tm);
}

/* An address is words in the machine's byte order, eight digits each. */
static void format_address(const char *text, char *out, size_t size)
{
	size_t words = strcspn(text, ":") / 8;
	uint32_t address[4] = {0};
	char word[9];

	for (size_t i = 0; i < words && i < 4; i++) {
		snprintf(word, sizeof(word), "%s", text + 8 * i);
		address[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	inet_ntop(words == 1 ? AF_INET : AF_INET6, address, out, (socklen_t)size);
}

/* include/net/tcp_states.h; for UDP the kernel uses the same numbers. */
static const char *socket_state(const char *text)
{
	static const char *const names[] = {
		[1] = "ESTABLISHED", [2] = "SYN_SENT",	 [3] = "SYN_RECV",
		[4] = "FIN_WAIT1",   [5] = "FIN_WAIT2",	 [6] = "TIME_WAIT",
		[7] = "CLOSE",	     [8] = "CLOSE_WAIT", [9] = "LAST_ACK",
		[10] = "LISTEN",     [11] = "CLOSING",
	};
	unsigned long state = strtoul(text, NULL, 16);
	size_t count = sizeof(names) / sizeof(names[0]);

	return state < count && names[state] ? names[state] : "(unknown)";
}

static void append_field(struct buffer *out, const struct column *column,
			 const char *text)
{
	char value[128] = "";
	long number = strtol(text, NULL, 10);
	const char *port = strchr(text, ':');

	switch (column->format) {
	case HEX:
		text += strncmp(text, "0x", 2) == 0 ? 2 : 0;
		/* fall through */
	case PLAIN:
		snprintf(value, sizeof(value), "%s", text);
		break;
	case USER:
		osdata_user((uid_t)number, value);
		break;
	case GROUP:
		osdata_group((gid_t)number, value);
		break;
	case COMMAND:
		if (number != 0)
			osdata_command_name((int)number, value);
		break;
	case TIME:
		format_time(text, value, sizeof(value));
		break;
	case ADDRESS:
		format_address(text, value, sizeof(value));
		break;
	case PORT:
		snprintf(value, sizeof(value), "%lu",
			 port ? strtoul(port + 1, NULL, 16) : 0);
		break;
	case STATE:
		snprintf(value, sizeof(value), "%s", socket_state(text));
		break;
	}
	osdata_column(out, column->name, value);
}

enum { FIELDS_MAX = 32 };

static unsigned int split(char *line, char **fields)
{
	unsigned int count = 0;
	char *state = NULL, *field = strtok_r(line, " \t", &state);

	for (; field && count < FIELDS_MAX; field = strtok_r(NULL, " \t", &state))
		fields[count++] = field;
	return count;
}

/* @more: what every item of the file ends with. */
static void append_table(struct osdata_table *table, const char *path, bool has_header,
			 const struct column *columns, const char *more)
{
	_cleanup_buffer_ struct buffer text = {0};
	struct buffer *out = table->out;
	char *line, *rest, *fields[FIELDS_MAX];

	if (proc_read(path, &text) < 0 || text.len == 0)
		return;
	rest = text.data;
	if (has_header)
		strsep(&rest, "\n");
	while ((line = strsep(&rest, "\n")) && osdata_goes_on(table)) {
		unsigned int count = split(line, fields);

		if (count == 0)
			continue;
		osdata_begin_item(out);
		for (const struct column *column = columns; column->name; column++)
			append_field(out, column,
				     column->field < count ? fields[column->field]
							   : "");
		buffer_append_string(out, more);
		osdata_end_item(out);
	}
}

void osdata_modules(struct osdata_table *table)
{
	static const struct column columns[] = {
		{"name", 0, PLAIN},	{"size", 1, PLAIN},
		{"num uses", 2, PLAIN}, {"dependencies", 3, PLAIN},
		{"status", 4, PLAIN},	{"address", 5, HEX},
		{NULL, 0, PLAIN},
	};

	append_table(table, "/proc/modules", false, columns, "");
}

void osdata_queues(struct osdata_table *table)
{
	static const struct column columns[] = {
		{"key", 0, PLAIN},
		{"msqid", 1, PLAIN},
		{"permissions", 2, PLAIN},
		{"num used bytes", 3, PLAIN},
		{"num messages", 4, PLAIN},
		{"last msgsnd() command", 5, COMMAND},
		{"last msgrcv() command", 6, COMMAND},
		{"user", 7, USER},
		{"group", 8, GROUP},
		{"creator user", 9, USER},
		{"creator group", 10, GROUP},
		{"last msgsnd() time", 11, TIME},
		{"last msgrcv() time", 12, TIME},
		{"last msgctl() time", 13, TIME},
		{NULL, 0, PLAIN},
	};

	append_table(table, "/proc/sysvipc/msg", true, columns, "");
}

void osdata_semaphores(struct osdata_table *table)
{
	static const struct column columns[] = {
		{"key", 0, PLAIN},
		{"semid", 1, PLAIN},
		{"permissions", 2, PLAIN},
		{"num semaphores", 3, PLAIN},
		{"user", 4, USER},
		{"group", 5, GROUP},
		{"creator user", 6, USER},
		{"creator group", 7, GROUP},
		{"last semop() time", 8, TIME},
		{"last semctl() time", 9, TIME},
		{NULL, 0, PLAIN},
	};

	append_table(table, "/proc/sysvipc/sem", true, columns, "");
}

void osdata_shared_memory(struct osdata_table *table)
{
	static const struct column columns[] = {
		{"key", 0, PLAIN},
		{"shmid", 1, PLAIN},
		{"permissions", 2, PLAIN},
		{"size", 3, PLAIN},
		{"creator command", 4, COMMAND},
		{"last op. command", 5, COMMAND},
		{"num attached", 6, PLAIN},
		{"user", 7, USER},
		{"group", 8, GROUP},
		{"creator user", 9, USER},
		{"creator group", 10, GROUP},
		{"last shmat() time", 11, TIME},
		{"last shmdt() time", 12, TIME},
		{"last shmctl() time", 13, TIME},
		{NULL, 0, PLAIN},
	};

	append_table(table, "/proc/sysvipc/shm", true, columns, "");
}

void osdata_sockets(struct osdata_table *table)
{
	static const struct column columns[] = {
		{"local address", 1, ADDRESS},
		{"local port", 1, PORT},
		{"remote address", 2, ADDRESS},
		{"remote port", 2, PORT},
		{"state", 3, STATE},
		{"user", 7, USER},
		{NULL, 0, PLAIN},
	};
	static const struct {
		const char *path, *family, *protocol;
	} files[] = {
		{"/proc/net/tcp", "INET", "STREAM"},
		{"/proc/net/udp", "INET", "DGRAM"},
		{"/proc/net/tcp6", "INET6", "STREAM"},
		{"/proc/net/udp6", "INET6", "DGRAM"},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		_cleanup_buffer_ struct buffer more = {0};

		osdata_column(&more, "family", files[i].family);
		osdata_column(&more, "protocol", files[i].protocol);
		append_table(table, files[i].path, true, columns, buffer_string(&more));
	}
}

/* Removes white space at the end, returns the text after that at the start. */
static char *trim(char *text)
{
	size_t len = strlen(text);

	while (len > 0 && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* Lines "NAME : VALUE"; an empty one ends a processor. */
void osdata_cpus(struct osdata_table *table)
{
	struct buffer *out = table->out;
	_cleanup_buffer_ struct buffer text = {0};
	bool open = false;
	char *line, *rest;

	if (proc_read("/proc/cpuinfo", &text) < 0 || text.len == 0)
		return;
	rest = text.data;
	while ((line = strsep(&rest, "\n"))) {
		char *name = strsep(&line, ":");

		if (!line) {
			if (open)
				osdata_end_item(out);
			open = false;
			continue;
		}
		if (!open)
			osdata_begin_item(out);
		open = true;
		osdata_column(out, trim(name), trim(line));
	}
	if (open)
		osdata_end_item(out);
}
