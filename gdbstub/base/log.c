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

/* As gdbserver calls what it tells. */
static const struct {
	const char *name;
	unsigned int mask;
} aliases[] = {
	{"remote", 1U << LOG_RSP},
	{"threads", 1U << LOG_INFERIOR | 1U << LOG_STOPS},
	{"event-loop", 1U << LOG_SERVER},
	{"all", (1U << LOG_NCATEGORIES) - 1},
};

static bool is_named(const char *known, const char *name, size_t len)
{
	return strlen(known) == len && memcmp(known, name, len) == 0;
}

/* 0: there is none of this name. */
static unsigned int mask_of(const char *name, size_t len)
{
	for (int i = 0; i < LOG_NCATEGORIES; i++)
		if (is_named(category_names[i], name, len))
			return 1U << i;
	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (is_named(aliases[i].name, name, len))
			return aliases[i].mask;
	return 0;
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

/* One after the other; those with a sign before them have it their way. */
static struct error *apply(const char *categories, bool enable)
{
	unsigned int result = enabled_mask;

	for (const char *name = categories; *name != '\0';) {
		const bool is_signed = *name == '-' || *name == '+';
		const bool on = is_signed ? *name == '+' : enable;
		unsigned int mask;
		size_t len;

		name += is_signed;
		len = strcspn(name, ",");
		mask = mask_of(name, len);
		if (mask == 0)
			return unknown_category(name, len);
		result = on ? result | mask : result & ~mask;
		name += len;
		name += *name == ',';
	}
	enabled_mask = result;
	return NULL;
}

struct error *log_enable(const char *categories)
{
	return apply(categories, true);
}

struct error *log_disable(const char *categories)
{
	return apply(categories, false);
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
		else if (len > 0)
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
