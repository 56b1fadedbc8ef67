/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gdbstub/base/shutdown.h"

static const char *const category_names[LOG_NCATEGORIES] = {
	[LOG_RSP] = "rsp", [LOG_INFERIOR] = "inferior", [LOG_STOPS] = "stops",
	[LOG_BPF] = "bpf", [LOG_SERVER] = "server",
};

/* stderr's twin: part of the process, like stderr itself. */
static unsigned int enabled_mask;
static bool timestamps;
static FILE *debug_file; /* NULL: stderr */

static int category_find(const char *name, size_t len)
{
	for (int i = 0; i < LOG_NCATEGORIES; i++)
		if (strlen(category_names[i]) == len &&
		    memcmp(category_names[i], name, len) == 0)
			return i;
	return -1;
}

static struct error *unknown_category(const char *name, size_t len)
{
	char known[128] = "all";

	for (int i = 0; i < LOG_NCATEGORIES; i++) {
		strcat(known, ", ");
		strcat(known, category_names[i]);
	}
	return error_create(0, "unknown debug category '%.*s' (known: %s)", (int)len,
			    name, known);
}

static struct error *parse_categories(const char *categories, unsigned int *ret)
{
	unsigned int mask = 0;

	for (const char *name = categories; *name != '\0';) {
		size_t len = strcspn(name, ",");
		int category = category_find(name, len);

		if (len == 3 && memcmp(name, "all", 3) == 0)
			mask |= (1U << LOG_NCATEGORIES) - 1;
		else if (category >= 0)
			mask |= 1U << category;
		else
			return unknown_category(name, len);
		name += len;
		name += *name == ',';
	}
	*ret = mask;
	return NULL;
}

struct error *log_enable(const char *categories)
{
	unsigned int mask = 0;
	struct error *error = parse_categories(categories, &mask);

	enabled_mask |= mask;
	return error;
}

struct error *log_disable(const char *categories)
{
	unsigned int mask = 0;
	struct error *error = parse_categories(categories, &mask);

	enabled_mask &= ~mask;
	return error;
}

struct error *log_format(const char *parts)
{
	bool on = false;

	for (const char *name = parts; *name != '\0';) {
		size_t len = strcspn(name, ",");

		if ((len == 3 && memcmp(name, "all", 3) == 0) ||
		    (len == 9 && memcmp(name, "timestamp", 9) == 0))
			on = true;
		else if (len == 4 && memcmp(name, "none", 4) == 0)
			on = false;
		else
			return error_create(0,
					    "unknown part of debugging output '%.*s' "
					    "(known: all, none, timestamp)",
					    (int)len, name);
		name += len;
		name += *name == ',';
	}
	timestamps = on;
	return NULL;
}

struct error *log_open_file(const char *path)
{
	FILE *file = *path != '\0' ? fopen(path, "we") : NULL;

	if (*path != '\0' && !file)
		return error_create(errno, "Cannot open %s for writing", path);
	if (file)
		setvbuf(file, NULL, _IOLBF, BUFSIZ);
	if (debug_file)
		fclose(debug_file);
	debug_file = file;
	return NULL;
}

bool log_enabled(enum log_category category)
{
	return enabled_mask & 1U << category;
}

/* To stderr by one write per line, so that lines of the inferior do not get mixed in;
 * it may be a pipe that nobody reads. */
static void write_line(FILE *file, const char *prefix, const char *format, va_list args)
{
	_cleanup_free_ char *text = NULL, *line = NULL;

	if (vasprintf(&text, format, args) < 0) {
		text = NULL;
		return;
	}
	if (asprintf(&line, "%s%s\n", prefix, text) < 0)
		line = NULL;
	else if (file == stderr)
		shutdown_write(STDERR_FILENO, line, strlen(line));
	else
		fputs(line, file);
}

void log_debug(enum log_category category, const char *format, ...)
{
	struct timespec now = {0};
	char prefix[64];
	va_list args;
	int saved = errno;

	if (!log_enabled(category))
		return;
	if (timestamps && clock_gettime(CLOCK_REALTIME, &now) == 0)
		snprintf(prefix, sizeof(prefix),
			 "%lld.%06ld truehit: %s: ", (long long)now.tv_sec,
			 now.tv_nsec / 1000, category_names[category]);
	else
		snprintf(prefix, sizeof(prefix),
			 "truehit: %s: ", category_names[category]);
	va_start(args, format);
	write_line(debug_file ? debug_file : stderr, prefix, format, args);
	va_end(args);
	errno = saved;
}

void log_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(stderr, "", format, args);
	va_end(args);
}

void log_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	write_line(stderr, "truehit: ", format, args);
	va_end(args);
}
