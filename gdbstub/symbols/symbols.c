/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/symbols/symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/symbols/mapped_files.h"
#include "gdbstub/symbols/symbols_reader.h"

enum {
	SYMBOLS_LIMIT = 10 * 1000, /* ms for all that is asked */
	FILES_AT_ONCE = 8,	   /* that the reader keeps */
};

struct symbols {
	struct inferior *inferior;
	struct mapped_files files;
	struct symbols_reader reader;
	struct patience patience;
	uint64_t given[FILES_AT_ONCE]; /* starts of the files that the reader has */
	unsigned int ngiven;
	struct reader_request request;
	struct reader_reply reply;
	struct buffer unread; /* what was warned of, a line each */
};

struct symbols *symbols_create(struct inferior *inferior)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	_cleanup_error_ struct error *error = NULL;

	if (!symbols)
		return NULL;
	symbols->inferior = inferior;
	inferior_patience(inferior, &symbols->patience, SYMBOLS_LIMIT);
	error = mapped_files_read(&symbols->files, inferior);
	if (!error)
		return symbols;
	if (error_errno(error) == EFBIG)
		inferior_warn(inferior, error_text(error));
	symbols_destroy(symbols);
	return NULL;
}

void symbols_destroy(struct symbols *symbols)
{
	if (!symbols)
		return;
	symbols_reader_stop(&symbols->reader);
	mapped_files_deinit(&symbols->files);
	buffer_deinit(&symbols->unread);
	free(symbols);
}

/* ---- what could not be read ---- */

static void warn(struct symbols *symbols, const struct mapped_file *file,
		 const char *reason)
{
	_cleanup_buffer_ struct buffer text = {0};

	buffer_printf(&text, "not all symbols of %s are known: %s", file->name, reason);
	if (!strstr(buffer_string(&symbols->unread), buffer_string(&text)))
		buffer_printf(&symbols->unread, "%s\n", buffer_string(&text));
	inferior_warn(symbols->inferior, buffer_string(&text));
}

void symbols_print_unread(const struct symbols *symbols, struct buffer *out)
{
	if (symbols)
		buffer_append_string(out, buffer_string(&symbols->unread));
}

/* ---- asking the reader ---- */

static bool is_given(const struct symbols *symbols, uint64_t start)
{
	for (unsigned int i = 0; i < symbols->ngiven; i++)
		if (symbols->given[i] == start)
			return true;
	return false;
}

/* Opens the file, where the reader does not have it yet; else -1. False: it cannot be
 * read. */
static bool give(struct symbols *symbols, const struct mapped_file *file, int *fd)
{
	*fd = -1;
	symbols->request.forget = false;
	if (is_given(symbols, file->start))
		return true;
	*fd = mapped_file_open(file, symbols->inferior);
	if (*fd == -EFBIG)
		warn(symbols, file, "it is large and consists of holes");
	if (*fd < 0)
		return false;
	/* One by one in a search of all files: they need the memory in turn. */
	if (symbols->ngiven == FILES_AT_ONCE ||
	    symbols->request.question == READER_FIND) {
		symbols->request.forget = true;
		symbols->ngiven = 0;
	}
	symbols->given[symbols->ngiven++] = file->start;
	return true;
}

static const char *exchange(struct symbols *symbols, struct mapped_file *file)
{
	_cleanup_close_ int fd = -1;

	if (symbols->reader.pid == 0) {
		symbols->ngiven = 0;
		if (symbols_reader_start(&symbols->reader) < 0)
			return "no process can be started to read it";
	}
	/* What is gone or no file has no symbols, which is nothing to warn of. */
	if (!give(symbols, file, &fd)) {
		file->failed = true;
		memset(&symbols->reply, 0, sizeof(symbols->reply));
		return "";
	}
	return symbols_reader_ask(&symbols->reader, &symbols->request, fd,
				  &symbols->reply, &symbols->patience);
}

/* Has symbols->request answered; the caller has set the question, and what it needs.
 * False: nobody can tell. */
static bool ask(struct symbols *symbols, struct mapped_file *file)
{
	const char *reason;

	if (file->failed)
		return false;
	symbols->request.start = file->start;
	symbols->request.end = file->end;
	reason = symbols->patience.verdict ? symbols->patience.verdict
					   : exchange(symbols, file);
	if (!reason && symbols->reply.lacks_packed)
		warn(symbols, file,
		     "its .gnu_debugdata cannot be unpacked in 40 MiB of memory");
	if (!reason)
		return true;
	if (*reason != '\0') {
		warn(symbols, file, reason);
		file->failed = true;
	}
	return false;
}

/* The same, of the file at an address. */
static bool ask_at(struct symbols *symbols, enum reader_question question,
		   uint64_t addr, struct mapped_file **file)
{
	*file = symbols ? mapped_files_at(&symbols->files, addr) : NULL;
	if (!*file)
		return false;
	symbols->request.question = question;
	symbols->request.addr = addr;
	return ask(symbols, *file);
}

/* ---- the questions ---- */

static void append_offset(struct buffer *out, uint64_t offset)
{
	if (offset > 0)
		buffer_printf(out, "+0x%llx", (unsigned long long)offset);
}

/* Nothing that the reader says is believed to end. */
static bool ask_name(struct symbols *symbols, uint64_t addr, struct mapped_file **file)
{
	struct reader_reply *reply;

	if (!ask_at(symbols, READER_NAME, addr, file))
		return false;
	reply = &symbols->reply;
	if (reply->number == 0)
		return false;
	reply->name[READER_NAME_MAX - 1] = reply->shown[READER_NAME_MAX - 1] = '\0';
	return true;
}

const char *symbols_name(struct symbols *symbols, uint64_t addr, uint64_t *offset)
{
	struct mapped_file *file;

	if (!ask_name(symbols, addr, &file))
		return NULL;
	*offset = symbols->reply.offset;
	return symbols->reply.name;
}

void symbols_print(struct symbols *symbols, uint64_t addr, struct buffer *out)
{
	struct mapped_file *file;
	const char *slash;

	if (ask_name(symbols, addr, &file)) {
		buffer_append_string(out, symbols->reply.shown[0] != '\0'
						  ? symbols->reply.shown
						  : symbols->reply.name);
		append_offset(out, symbols->reply.offset);
	} else if (file) {
		slash = strrchr(file->name, '/');
		buffer_append_string(out, slash ? slash + 1 : file->name);
		buffer_printf(out, "+0x%llx", (unsigned long long)(addr - file->start));
	}
}

uint64_t symbols_start(struct symbols *symbols, uint64_t addr)
{
	struct mapped_file *file;

	if (!ask_at(symbols, READER_NAME, addr, &file) || symbols->reply.number == 0)
		return 0;
	return addr - symbols->reply.offset;
}

int symbols_frame_register(struct symbols *symbols, uint64_t addr)
{
	struct mapped_file *file;

	return ask_at(symbols, READER_FRAME_REGISTER, addr, &file)
		       ? symbols->reply.number
		       : -1;
}

bool symbols_code_around(struct symbols *symbols, uint64_t addr, uint64_t *start,
			 uint64_t *end)
{
	struct mapped_file *file;

	if (!ask_at(symbols, READER_CODE, addr, &file) || symbols->reply.number <= 0)
		return false;
	*start = addr - symbols->reply.offset;
	*end = addr + (uint32_t)symbols->reply.number;
	return *start <= addr && addr < *end;
}

enum symbols_sequences symbols_sequences(struct symbols *symbols, uint64_t addr)
{
	struct mapped_file *file;

	if (!ask_at(symbols, READER_SEQUENCES, addr, &file))
		return SEQUENCES_NONE;
	switch (symbols->reply.number) {
	case SEQUENCES_COVER:
		return SEQUENCES_COVER;
	case SEQUENCES_ELSEWHERE:
		return SEQUENCES_ELSEWHERE;
	default:
		return SEQUENCES_NONE;
	}
}

bool symbols_is_hook(struct symbols *symbols, uint64_t addr)
{
	struct mapped_file *file;

	return ask_at(symbols, READER_HOOK, addr, &file) && symbols->reply.number != 0;
}

bool symbols_small_stacks(struct symbols *symbols, uint64_t addr)
{
	struct mapped_file *file;

	return !ask_at(symbols, READER_SMALL_STACKS, addr, &file) ||
	       symbols->reply.number != 0;
}

bool symbols_covers(struct symbols *symbols, const char *name, uint64_t addr,
		    uint64_t *offset)
{
	const size_t len = strlen(name) + 1;
	struct mapped_file *file;
	bool covered;

	if (!symbols || len > READER_TEXT_MAX)
		return false;
	memcpy(symbols->request.text, name, len);
	symbols->request.text_len = (uint32_t)len;
	covered = ask_at(symbols, READER_COVERS, addr, &file) &&
		  symbols->reply.number != 0;
	symbols->request.text_len = 0;
	*offset = covered ? symbols->reply.offset : 0;
	return covered;
}

/* Those that are still wanted go into the question, *rows tells which. */
static size_t put_wishes(struct symbols *symbols, const struct symbol_wish *wishes,
			 size_t count, size_t *rows)
{
	struct reader_request *request = &symbols->request;
	size_t put = 0;

	request->text_len = 0;
	for (size_t i = 0; i < count && put < READER_FOUND_MAX; i++) {
		size_t len = strlen(wishes[i].name) + 1;

		if (wishes[i].found || len > READER_TEXT_MAX - request->text_len)
			continue;
		memcpy(request->text + request->text_len, wishes[i].name, len);
		request->text_len += (uint32_t)len;
		rows[put++] = i;
	}
	return put;
}

/* Nothing that the reader says is believed to fit. */
static void take_found(const struct symbols *symbols, struct symbol_wish *wishes,
		       size_t put, const size_t *rows)
{
	const struct reader_reply *reply = &symbols->reply;

	for (int i = 0; i < reply->number && i < READER_FOUND_MAX; i++) {
		if (reply->found[i].index >= put)
			continue;
		wishes[rows[reply->found[i].index]].addr = reply->found[i].addr;
		wishes[rows[reply->found[i].index]].found = true;
	}
}

void symbols_find(struct symbols *symbols, struct symbol_wish *wishes, size_t count)
{
	_cleanup_free_ size_t *rows = calloc(count + 1, sizeof(*rows));

	if (!symbols || !rows)
		return;
	for (size_t i = 0; i < symbols->files.count && !symbols->patience.verdict;
	     i++) {
		size_t put = put_wishes(symbols, wishes, count, rows);

		symbols->request.question = READER_FIND;
		if (put > 0 && ask(symbols, &symbols->files.rows[i]))
			take_found(symbols, wishes, put, rows);
	}
	symbols->request.text_len = 0;
}
