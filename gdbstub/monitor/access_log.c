/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/monitor/access_log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/library/truehit.h"
#include "gdbstub/base/cleanup.h"
#include "gdbstub/inferior/registers.h"
#include "gdbstub/monitor/access_table.h"
#include "gdbstub/symbols/symbols.h"
#include "gdbstub/text/access.h"
#include "gdbstub/text/text.h"

enum {
	PARTS_MAX = 4,
	PART_BYTES = 8,
	MANY = 4096,	       /* records of one turn */
	FIND_PATIENCE = 10000, /* ms, in which instructions are looked for */
};

struct part {
	struct access_log *log;
	struct truehit_filter *filter;
	uint64_t addr;
	unsigned int len;
};

struct access_log {
	struct access_log_options options; /* without the condition */
	struct inferiors *inferiors;
	pid_t pid;
	unsigned int executed; /* as of its inferior, when it began */
	struct truehit *truehit;
	struct part parts[PARTS_MAX];
	unsigned int nparts;
	struct access_table table;
	uint64_t undecided; /* records of which the condition is not known */
};

/* ---- begin and end ---- */

/* The longest that is aligned. */
static unsigned int part_len(uint64_t addr, uint64_t left)
{
	unsigned int len = PART_BYTES;

	while (addr % len != 0 || len > left)
		len /= 2;
	return len;
}

static struct error *split(struct access_log *log)
{
	const uint64_t end = log->options.addr + log->options.len;
	unsigned int len;

	if (log->options.len == 0 || end < log->options.addr)
		return error_create(0, "There are no %ju bytes at 0x%" PRIx64 ".",
				    (uintmax_t)log->options.len, log->options.addr);
	for (uint64_t at = log->options.addr; at < end; at += len) {
		len = part_len(at, end - at);
		if (log->nparts == PARTS_MAX)
			return error_create(
				0,
				"%ju bytes at 0x%" PRIx64
				" are too many: %d aligned parts of up to %d bytes can "
				"be logged at once. Name a member or an element.",
				(uintmax_t)log->options.len, log->options.addr,
				PARTS_MAX, PART_BYTES);
		log->parts[log->nparts++] =
			(struct part){.log = log, .addr = at, .len = len};
	}
	return NULL;
}

static struct error *failed(const struct access_log *log, int err)
{
	const char *why = truehit_why(log->truehit);

	if (err == -ENOSPC)
		return error_create(0,
				    "Of the breakpoint registers, of which %u are "
				    "needed, too few are free. Watchpoints and "
				    "hardware breakpoints have them: disable some. "
				    "(monitor engines shows how many there are.)",
				    log->nparts);
	if (err == -EOPNOTSUPP)
		return error_create(0, "This processor cannot watch that.");
	return error_create(0, "Accesses cannot be logged: %s.",
			    *why ? why : strerror(-err));
}

static int open_part(const struct access_log *log, struct part *part)
{
	const struct truehit_options options = {
		.size = sizeof(options),
		.deed = TRUEHIT_RECORD,
		.flags = TRUEHIT_VALUES,
		.condition = log->options.condition,
		.condition_len = log->options.condition_len,
		.data = part,
	};
	int err = truehit_open(log->truehit, log->pid, &options, &part->filter);

	if (err == 0)
		err = truehit_aim(part->filter,
				  log->options.reads ? TRUEHIT_ACCESS : TRUEHIT_WRITE,
				  part->addr, part->len);
	return err;
}

static struct error *open_parts(struct access_log *log)
{
	int err = truehit_create(&log->truehit);

	for (unsigned int i = 0; i < log->nparts && err == 0; i++)
		err = open_part(log, &log->parts[i]);
	if (err < 0)
		return failed(log, err);
	for (unsigned int i = 0; i < log->nparts; i++)
		truehit_arm(log->parts[i].filter, TRUEHIT_FOREVER);
	log->options.condition = NULL;
	return NULL;
}

struct error *access_log_begin(struct inferior *inferior,
			       const struct access_log_options *options,
			       struct access_log **ret)
{
	struct access_log *log = calloc(1, sizeof(*log));
	struct error *error;

	if (!log)
		return error_create(ENOMEM, "a log of accesses");
	log->options = *options;
	log->inferiors = inferior->owner;
	log->pid = inferior->pid;
	log->executed = inferior->control->executed;
	/* Steps from hits are others then. */
	inferior->has_perf_events = true;
	error = split(log);
	if (!error)
		error = open_parts(log);
	if (error)
		access_log_end(log);
	else
		*ret = log;
	return error;
}

void access_log_end(struct access_log *log)
{
	if (!log)
		return;
	truehit_destroy(log->truehit);
	access_table_deinit(&log->table);
	free(log);
}

/* ---- while it runs ---- */

int access_log_fd(const struct access_log *log)
{
	return log ? truehit_fd(log->truehit) : -1;
}

static void take(void *data, const struct truehit_hit *hit)
{
	struct access_log *log = data;
	const struct part *part = hit->data;
	const struct access_change change = {
		.has_before = hit->has_before,
		.has_value = hit->has_value,
		.before = hit->before,
		.value = hit->value,
	};

	if (hit->maybe)
		log->undecided++;
	else
		access_table_count(&log->table, hit->pc, hit->tid,
				   (unsigned int)(part - log->parts), &change);
}

enum access_log_turn access_log_poll(struct access_log *log)
{
	const int taken = log ? truehit_poll(log->truehit, 0, take, log) : 0;

	if (taken <= 0)
		return ACCESSES_NONE;
	return taken < MANY ? ACCESSES_SOME : ACCESSES_MANY;
}

/* Its inferior, with the same program; NULL: it has that no more. */
static struct inferior *inferior_of(const struct access_log *log)
{
	struct inferior *inferior = inferior_find(log->inferiors, log->pid);

	return inferior && inferior->control->executed == log->executed ? inferior
									: NULL;
}

bool access_log_is_over(const struct access_log *log)
{
	return log && !inferior_of(log);
}

/* ---- what is shown ---- */

/* Looks for instructions, one after the other. */
struct finder {
	struct inferior *inferior; /* NULL: it is not there any more */
	struct symbols *symbols;
	struct patience patience;
	struct regs *regs; /* none is known */
};

static void finder_init(struct finder *finder, const struct access_log *log)
{
	*finder = (struct finder){.inferior = inferior_of(log)};
	if (!finder->inferior)
		return;
	finder->symbols = symbols_create(finder->inferior);
	finder->regs = malloc(sizeof(*finder->regs));
	if (finder->regs)
		regs_init(finder->regs, finder->inferior->arch);
	inferior_patience(finder->inferior, &finder->patience, FIND_PATIENCE);
}

static void finder_deinit(struct finder *finder)
{
	symbols_destroy(finder->symbols);
	free(finder->regs);
}

/* What a program has at these addresses may be made to take long. */
static ssize_t read_code(void *data, uint64_t addr, void *code, size_t len)
{
	struct finder *finder = data;

	if (patience_ended(&finder->patience))
		return -ETIME;
	return breakpoints_read_memory(finder->inferior, addr, code, len);
}

static void find_access(struct finder *finder, const struct access_log *log,
			const struct access_row *row, struct access *ret)
{
	const struct part *part = &log->parts[row->part];
	const struct access_stop stop = {
		.regs = finder->regs,
		.pc = row->pc,
		.start = symbols_start(finder->symbols, row->pc - 1),
		.addr = part->addr,
		.len = part->len,
		.by_write = true,
		.by_read = log->options.reads,
		.read = read_code,
		.data = finder,
	};

	*ret = (struct access){0};
	if (finder->regs)
		access_find(finder->inferior, &stop, ret);
}

static void show_place(struct finder *finder, uint64_t addr, struct buffer *out)
{
	_cleanup_buffer_ struct buffer symbol = {0};

	symbols_print(finder->symbols, addr, &symbol);
	buffer_printf(out, "0x%" PRIx64, addr);
	if (symbol.len > 0)
		buffer_printf(out, " <%s>", buffer_string(&symbol));
}

static void show_insn(struct finder *finder, const struct access_log *log,
		      const struct access_row *row, struct buffer *out)
{
	struct access access;

	find_access(finder, log, row, &access);
	buffer_append_string(out, access.trust == ACCESS_UNKNOWN ? "after " : "by ");
	show_place(finder, access.trust == ACCESS_UNKNOWN ? row->pc : access.pc, out);
	if (access.trust != ACCESS_UNKNOWN)
		buffer_printf(out, ": %s", access.text);
	buffer_append_char(out, '\n');
}

static void show_value(const char *before, bool is_known, uint64_t value,
		       struct buffer *out)
{
	if (is_known)
		buffer_printf(out, "%s0x%" PRIx64, before, value);
	else
		buffer_printf(out, "%s?", before);
}

static void show_changes(const struct access_row *row, struct buffer *out)
{
	for (unsigned int i = 0; i < row->nchanges; i++) {
		const struct access_change *change = &row->changes[i];

		buffer_printf(out, "%14ju", (uintmax_t)change->count);
		show_value("  ", change->has_before, change->before, out);
		show_value(" -> ", change->has_value, change->value, out);
		buffer_append_char(out, '\n');
	}
	if (row->others > 0)
		buffer_printf(out, "%14ju  others\n", (uintmax_t)row->others);
}

static void show_rows(struct access_log *log, struct buffer *out)
{
	struct finder finder;

	access_table_sort(&log->table);
	finder_init(&finder, log);
	for (size_t i = 0; i < log->table.count; i++) {
		const struct access_row *row = log->table.rows[i];

		buffer_printf(out, "%10ju  thread %d.%d at 0x%" PRIx64 " ",
			      (uintmax_t)row->count, log->pid, row->tid,
			      log->parts[row->part].addr);
		show_insn(&finder, log, row, out);
		show_changes(row, out);
	}
	finder_deinit(&finder);
}

static void show_number(uint64_t number, const char *of_what, struct buffer *out)
{
	if (number > 0)
		buffer_printf(out, "  %ju of them %s\n", (uintmax_t)number, of_what);
}

static const char *what_has_become(const struct access_log *log)
{
	if (inferior_of(log))
		return "";
	return inferior_find(log->inferiors, log->pid)
		       ? ", which has executed another program"
		       : ", which has ended";
}

void access_log_show(struct access_log *log, struct buffer *out)
{
	struct truehit_counts counts = {.size = sizeof(counts)};
	uint64_t told = 0, lost = 0;

	access_log_poll(log);
	for (unsigned int i = 0; i < log->nparts; i++) {
		truehit_read(log->parts[i].filter, &counts);
		told += counts.told;
		lost += counts.lost;
	}
	buffer_printf(out, "%ju %s of %ju byte%s at 0x%" PRIx64 " in process %d%s\n",
		      (uintmax_t)told, log->options.reads ? "accesses" : "writes",
		      (uintmax_t)log->options.len, log->options.len == 1 ? "" : "s",
		      log->options.addr, log->pid, what_has_become(log));
	show_number(lost, "were lost: they came faster than they could be counted",
		    out);
	show_number(log->table.beyond, "are not in the table, which is full", out);
	show_number(log->undecided, "may not meet the condition", out);
	show_rows(log, out);
}
