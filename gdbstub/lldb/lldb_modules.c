/* SPDX-License-Identifier: BSD-2-Clause */
/* qShlibInfoAddr qFileLoadAddress qModuleInfo jModulesInfo: the files of programs and
 * libraries. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/inferior/maps.h"
#include "gdbstub/rsp/json.h"
#include "gdbstub/symbols/mapped_files.h"
#include "gdbstub/symbols/mapping.h"
#include "gdbstub/symbols/solib.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/lldb/build_id.h"
#include "gdbstub/lldb/lldb_packets.h"

enum { MODULES_MAX = 4096 }; /* in one packet */

static struct error *current(struct client *client, struct inferior **ret)
{
	*ret = client_inferior(client);
	return *ret ? NULL : error_create(ESRCH, "no process is being debugged");
}

struct error *packet_qShlibInfoAddr(struct client *client, struct cursor *args,
				    struct buffer *reply)
{
	struct inferior *inferior;
	struct error *error = current(client, &inferior);
	uint64_t addr;

	(void)args;
	if (!error)
		error = compat_refuse(inferior);
	if (!error)
		error = solib_debug_slot(inferior, &addr);
	if (!error)
		buffer_printf(reply, "%" PRIx64, addr);
	return error;
}

/* ---- qFileLoadAddress:PATH ---- */

/* A path of hex digits. */
static struct error *parse_path(struct cursor hex, const char *packet, char **ret)
{
	size_t len;

	*ret = cursor_hex_string(hex, &len);
	if (*ret && len > 0 && strlen(*ret) == len)
		return NULL;
	return error_create(EINVAL, "%s: not a path in hex digits", packet);
}

static int open_path(struct inferior *inferior, const char *path)
{
	const struct mapped_file file = {.name = path};

	return path[0] == '/' ? mapped_file_open(&file, inferior) : -EINVAL;
}

/* By its name, or as the same file. */
static bool is_of_file(const struct mapping *mapping, const char *path,
		       const struct stat *st)
{
	if ((size_t)mapping->name_len == strlen(path) &&
	    memcmp(mapping->name, path, strlen(path)) == 0)
		return true;
	return st->st_ino != 0 && mapping->file.inode == st->st_ino &&
	       mapping->file.major == major(st->st_dev) &&
	       mapping->file.minor == minor(st->st_dev);
}

static bool find_file(const char *maps, const char *path, const struct stat *st,
		      uint64_t *addr)
{
	struct mapping mapping;

	for (const char *line = maps; line && *line != '\0';) {
		if (mapping_parse(line, &mapping) && is_of_file(&mapping, path, st)) {
			*addr = mapping.start;
			return true;
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return false;
}

struct error *packet_qFileLoadAddress(struct client *client, struct cursor *args,
				      struct buffer *reply)
{
	struct buffer own _cleanup_buffer_ = {0};
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int fd = -1;
	struct stat st = {0};
	struct inferior *inferior;
	struct error *error = current(client, &inferior);
	const char *maps;
	uint64_t addr;
	int err;

	if (!error)
		error = parse_path(*args, "qFileLoadAddress", &path);
	if (error)
		return error;
	err = maps_read(inferior, &own, &maps);
	if (err < 0)
		return error_create(-err, "the map of process %d's memory",
				    inferior->pid);
	fd = open_path(inferior, path);
	if (fd >= 0)
		fstat(fd, &st);
	if (!find_file(maps, path, &st, &addr))
		return error_create(0, "%s is not loaded", path);
	buffer_printf(reply, "%" PRIx64, addr);
	return NULL;
}

/* ---- qModuleInfo:PATH;TRIPLE ---- */

struct module {
	uint64_t size;
	uint8_t id[BUILD_ID_MAX];
	int id_len;
};

static struct error *read_module(struct inferior *inferior, const char *path,
				 struct module *ret)
{
	_cleanup_close_ int fd = open_path(inferior, path);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_create(fd < 0 ? -fd : errno, "%s", path);
	ret->size = (uint64_t)st.st_size;
	ret->id_len = build_id_read(fd, ret->id);
	if (ret->id_len < 0)
		return error_create(0, "%s is no ELF file of 64 bits", path);
	return NULL;
}

static void append_hex_key(struct buffer *out, const char *key, const char *value)
{
	buffer_printf(out, "%s:", key);
	buffer_append_hex(out, value, strlen(value));
	buffer_append_char(out, ';');
}

/* In capital letters, as people read a build ID in lldb. */
static void print_id(const struct module *module, char text[2 * BUILD_ID_MAX + 1])
{
	text[0] = '\0';
	for (int i = 0; i < module->id_len; i++)
		sprintf(text + (size_t)2 * (size_t)i, "%02X", module->id[i]);
}

struct error *packet_qModuleInfo(struct client *client, struct cursor *args,
				 struct buffer *reply)
{
	_cleanup_free_ char *path = NULL;
	char id[2 * BUILD_ID_MAX + 1];
	struct module module;
	struct inferior *inferior;
	struct error *error = current(client, &inferior);

	if (!error)
		error = parse_path(cursor_until(args, ';'), "qModuleInfo", &path);
	if (!error)
		error = read_module(inferior, path, &module);
	if (error)
		return error;
	print_id(&module, id);
	append_hex_key(reply, "uuid", id);
	append_hex_key(reply, "triple", inferior->arch->triple);
	append_hex_key(reply, "file_path", path);
	buffer_printf(reply, "file_offset:0;file_size:%" PRIx64 ";", module.size);
	return NULL;
}

/* ---- jModulesInfo:[{"file":PATH,"triple":TRIPLE},...] ---- */

/* An object of strings. @path: of its member "file", which the caller frees; NULL: it
 * has none. */
static bool parse_request(struct cursor *args, char **path)
{
	*path = NULL;
	if (!json_char(args, '{'))
		return false;
	do {
		_cleanup_free_ char *key = json_string(args), *value = NULL;

		if (!key || !json_char(args, ':'))
			return false;
		value = json_string(args);
		if (!value)
			return false;
		if (strcmp(key, "file") == 0) {
			free(*path);
			*path = take_ptr(value);
		}
	} while (json_char(args, ','));
	return json_char(args, '}');
}

/* A file that cannot be read is left out. */
static void append_module(struct inferior *inferior, const char *path,
			  struct buffer *reply)
{
	char id[2 * BUILD_ID_MAX + 1];
	struct module module;
	struct error *error _cleanup_error_ = read_module(inferior, path, &module);

	if (error)
		return;
	print_id(&module, id);
	buffer_printf(reply, "%s{\"uuid\":\"%s\",\"triple\":\"%s\",\"file_path\":",
		      reply->len > 1 ? "," : "", id, inferior->arch->triple);
	buffer_append_json(reply, path);
	buffer_printf(reply, ",\"file_offset\":0,\"file_size\":%" PRIu64 "}",
		      module.size);
}

static struct error *append_modules(struct inferior *inferior, struct cursor *args,
				    struct buffer *reply)
{
	for (unsigned int i = 1;; i++) {
		_cleanup_free_ char *path = NULL;

		if (!parse_request(args, &path) || !path)
			return error_create(
				EINVAL, "jModulesInfo: module %u has no \"file\"", i);
		if (i > MODULES_MAX)
			return error_create(E2BIG, "jModulesInfo: over %d modules",
					    MODULES_MAX);
		append_module(inferior, path, reply);
		if (!json_char(args, ','))
			return NULL;
	}
}

struct error *packet_jModulesInfo(struct client *client, struct cursor *args,
				  struct buffer *reply)
{
	struct inferior *inferior;
	struct error *error = current(client, &inferior);

	if (error)
		return error;
	if (!json_char(args, '['))
		return error_create(EINVAL, "jModulesInfo: not an array");
	buffer_append_char(reply, '[');
	if (!json_char(args, ']')) {
		error = append_modules(inferior, args, reply);
		if (error)
			return error;
		if (!json_char(args, ']'))
			return error_create(EINVAL, "jModulesInfo: the array has no ]");
	}
	if (!json_ends(args))
		return error_create(EINVAL, "jModulesInfo: more than an array");
	buffer_append_char(reply, ']');
	return NULL;
}
