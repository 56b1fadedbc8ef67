/* SPDX-License-Identifier: BSD-2-Clause */
/* qMemTags QMemTags: tags of memory, one byte each, where the processor has some. */
#include <errno.h>

#include "gdbstub/base/cleanup.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/rsp/frame.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"

enum { READ_MAX = (RSP_PACKET_SIZE - 1) / 2, WRITTEN_AT_ONCE = 4096 };

/* Some granules of memory, each with a tag. */
struct granules {
	const struct memory_tags *tags;
	pid_t tid; /* of a thread whose memory it is */
	uint64_t addr;
	uint64_t count;
	struct patience patience; /* with all of them */
};

/* "ADDR,LENGTH:TYPE": all granules that have a part in this. */
static struct error *parse_granules(struct client *client, struct cursor *args,
				    struct granules *ret)
{
	struct thread *thread;
	struct error *error;
	uint64_t addr, len, end;
	int64_t type;

	if (!cursor_hex(args, &addr) || !cursor_char(args, ',') ||
	    !cursor_hex(args, &len) || !cursor_char(args, ':') ||
	    !cursor_signed_hex(args, &type))
		return error_create(0, "not an address, a length and a type of tags");
	error = threads_current(client, &thread);
	if (error)
		return error;
	ret->tags = arch_native()->memory_tags();
	if (type != ret->tags->type)
		return error_create(0, "no tags of type %jd in memory, only of type %d",
				    (intmax_t)type, ret->tags->type);
	if (__builtin_add_overflow(addr, len, &end))
		return error_create(0, "more than there are addresses");
	ret->tid = thread->tid;
	inferior_patience(thread->inferior, &ret->patience, PATIENCE_ENDLESS);
	ret->addr = addr - addr % ret->tags->granule;
	ret->count = len > 0 ? (end - 1 - ret->addr) / ret->tags->granule + 1 : 0;
	return NULL;
}

static struct error *not_done(const struct granules *granules, uint64_t done, ssize_t n)
{
	const uint64_t addr = granules->addr + done * granules->tags->granule;

	return error_create(n < 0 ? (int)-n : EIO,
			    "no tags at 0x%jx (is there memory with PROT_MTE?)",
			    (uintmax_t)addr);
}

struct error *packet_qMemTags(struct client *client, struct cursor *args,
			      struct buffer *reply)
{
	_cleanup_free_ uint8_t *tags = NULL;
	struct granules granules;
	struct error *error = parse_granules(client, args, &granules);

	if (error)
		return error;
	if (granules.count > READ_MAX)
		return error_create(0, "qMemTags: more than %d tags at once", READ_MAX);
	tags = malloc(granules.count + 1);
	if (!tags)
		return error_create(ENOMEM, "tags not read");
	for (uint64_t done = 0; done < granules.count;) {
		ssize_t n = granules.tags->read(
			granules.tid, granules.addr + done * granules.tags->granule,
			tags + done, granules.count - done);

		if (n <= 0)
			return not_done(&granules, done, n);
		done += (uint64_t)n;
	}
	buffer_append_char(reply, 'm');
	buffer_append_hex(reply, tags, granules.count);
	return NULL;
}

/* Over and over again, until all granules have one. */
static struct error *write_tags(struct granules *granules, const uint8_t *pattern,
				size_t len)
{
	uint8_t tags[WRITTEN_AT_ONCE];

	for (uint64_t done = 0; done < granules->count;) {
		size_t some = granules->count - done < sizeof(tags)
				      ? (size_t)(granules->count - done)
				      : sizeof(tags);
		ssize_t n;

		if (patience_ended(&granules->patience))
			return error_create(0, "given up after %ju tags: %s",
					    (uintmax_t)done,
					    granules->patience.verdict);
		for (size_t i = 0; i < some; i++)
			tags[i] = pattern[(done + i) % len];
		n = granules->tags->write(
			granules->tid, granules->addr + done * granules->tags->granule,
			tags, some);
		if (n <= 0)
			return not_done(granules, done, n);
		done += (uint64_t)n;
	}
	return NULL;
}

struct error *packet_QMemTags(struct client *client, struct cursor *args,
			      struct buffer *reply)
{
	_cleanup_free_ char *pattern = NULL;
	struct granules granules;
	struct error *error = parse_granules(client, args, &granules);
	size_t len = 0;

	if (error)
		return error;
	if (cursor_char(args, ':'))
		pattern = cursor_hex_string(*args, &len);
	if (!pattern || len == 0)
		return error_create(0, "QMemTags: no tags");
	error = write_tags(&granules, (const uint8_t *)pattern, len);
	if (!error)
		buffer_append_string(reply, "OK");
	return error;
}
