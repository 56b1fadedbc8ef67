/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/packets/xfer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>

#include "arch/tdesc.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/osdata/osdata.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/tracing/siginfo.h"
#include "gdbstub/symbols/solib.h"
#include "gdbstub/symbols/threaddb.h"
#include "gdbstub/rsp/binary.h"
#include "gdbstub/rsp/frame.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"

struct xfer_object {
	const char *name;
	/** Appends the whole object. */
	struct error *(*read)(struct client *client, struct cursor annex,
			      struct buffer *out);
	/** Changes a part, and appends how many bytes, in hex. NULL: read-only. */
	struct error *(*write)(struct client *client, uint64_t offset,
			       struct cursor data, struct buffer *reply);
	const char *features;
};

/*
 * The object that is being read in pieces, as it was when its first piece was
 * asked for: a list must not change between pieces.
 */
struct xfer {
	const struct xfer_object *object;
	struct buffer annex;
	pid_t tid; /* the thread that was chosen then; 0: none */
	struct buffer contents;
};

void xfer_destroy(struct xfer *xfer)
{
	if (!xfer)
		return;
	buffer_deinit(&xfer->annex);
	buffer_deinit(&xfer->contents);
	free(xfer);
}

/* The inferior of the thread that Hg chose. */
static struct error *current_inferior(struct client *client, struct inferior **ret)
{
	struct thread *thread;
	struct error *error = threads_current(client, &thread);

	*ret = error ? NULL : thread->inferior;
	return error;
}

static struct error *expect_no_annex(struct cursor annex)
{
	if (cursor_left(&annex) == 0)
		return NULL;
	return error_create(0, "unexpected annex '%.*s'", (int)cursor_left(&annex),
			    annex.p);
}

/* ---- The objects ---- */

static struct error *features_read(struct client *client, struct cursor annex,
				   struct buffer *out)
{
	const struct inferior *inferior = client_inferior(client);
	struct cursor rest = annex;

	if (!cursor_text(&rest, "target.xml") || cursor_left(&rest) > 0)
		return error_create(0, "no target description '%.*s'",
				    (int)cursor_left(&annex), annex.p);
	/* A description binds the user, who may want to set up another one before
	 * there is a process. */
	if (!inferior)
		return error_create(0, "no process is being debugged");
	if (client->session.lldb)
		tdesc_append_lldb(out, inferior->arch);
	else
		inferior->arch->target_xml(out);
	client->session.reads_target_xml = true;
	return NULL;
}

static struct error *auxv_read(struct client *client, struct cursor annex,
			       struct buffer *out)
{
	struct inferior *inferior;
	struct error *error = expect_no_annex(annex);
	int r;

	if (!error)
		error = current_inferior(client, &inferior);
	if (error)
		return error;
	r = inferior_proc_file(inferior, "auxv", out);
	if (r < 0)
		return error_create(-r,
				    "cannot read the auxiliary vector of process %d",
				    (int)inferior->pid);
	return NULL;
}

/* The annex names a process by its pid; none: the current one. */
static struct error *exec_file_read(struct client *client, struct cursor annex,
				    struct buffer *out)
{
	_cleanup_free_ char *path = NULL;
	struct inferior *inferior;
	struct error *error;
	uint64_t pid;

	if (cursor_left(&annex) == 0)
		error = current_inferior(client, &inferior);
	else if (!cursor_hex(&annex, &pid) || cursor_left(&annex) > 0)
		error = error_create(0, "exec-file: the annex is no process id");
	else
		error = threads_inferior(client, pid, &inferior);
	if (error)
		return error;
	path = inferior_exe(inferior);
	if (!path)
		return error_create(0, "cannot find the program of process %d",
				    (int)inferior->pid);
	buffer_append_string(out, path);
	return NULL;
}

/* "NAME=HEX;" pieces. Names of newer clients are skipped, as gdbserver does. */
static bool parse_solib_range(struct cursor annex, struct solib_range *range)
{
	const struct {
		const char *name;
		uint64_t *value;
	} keys[] = {
		{"start=", &range->start},
		{"prev=", &range->prev},
		{"lmid=", &range->lmid},
	};

	while (cursor_left(&annex) > 0) {
		struct cursor part = cursor_until(&annex, ';');

		if (!memchr(part.p, '=', cursor_left(&part)))
			return false;
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
			if (cursor_text(&part, keys[i].name) &&
			    (!cursor_hex(&part, keys[i].value) ||
			     cursor_left(&part) > 0))
				return false;
		cursor_char(&annex, ';');
	}
	return true;
}

static struct error *libraries_read(struct client *client, struct cursor annex,
				    struct buffer *out)
{
	struct inferior *inferior;
	struct solib_range range = {0};
	struct error *error;

	if (!parse_solib_range(annex, &range))
		return error_create(0,
				    "libraries-svr4: the annex '%.*s' is not of the "
				    "form start=HEX;prev=HEX;lmid=HEX",
				    (int)cursor_left(&annex), annex.p);
	error = current_inferior(client, &inferior);
	if (!error)
		error = compat_refuse(inferior);
	if (error)
		return error;
	return solib_list_xml(inferior, &range, out);
}

/* A task that is no thread of the process has its number only, as with gdb itself. */
static void append_name(const struct thread *thread, const char *name,
			struct buffer *out)
{
	if (thread->group != thread->inferior->pid || name[0] == '\0')
		return;
	buffer_append_string(out, " name=\"");
	buffer_append_xml(out, name);
	buffer_append_char(out, '"');
}

static void append_thread(const struct client *client, struct thread *thread,
			  struct buffer *out)
{
	char name[64];
	int core = thread_core_and_name(thread, name, sizeof(name));
	uint64_t handle;

	buffer_append_string(out, "<thread id=\"");
	threads_append_id(out, client->session.multiprocess, thread->inferior->pid,
			  thread->tid);
	buffer_append_char(out, '"');
	if (core >= 0)
		buffer_printf(out, " core=\"%d\"", core);
	append_name(thread, name, out);
	if (threaddb_handle(thread, &handle)) {
		buffer_append_string(out, " handle=\"");
		buffer_append_hex(out, &handle, sizeof(handle));
		buffer_append_char(out, '"');
	}
	buffer_append_string(out, thread->late ? ">asleep in the kernel</thread>\n"
					       : "/>\n");
}

static struct error *threads_read(struct client *client, struct cursor annex,
				  struct buffer *out)
{
	struct error *error = expect_no_annex(annex);
	struct inferior *inferior;
	struct thread *thread;

	if (error)
		return error;
	buffer_append_string(out, "<threads>\n");
	TAILQ_FOREACH (inferior, &client->run->inferiors.list, link)
		FOREACH_THREAD (thread, inferior)
			if (thread_is_shown(thread))
				append_thread(client, thread, out);
	buffer_append_string(out, "</threads>\n");
	return NULL;
}

static struct error *siginfo_get(struct client *client, struct thread **thread,
				 siginfo_t *info)
{
	struct error *error = threads_stopped(client, thread);
	int r;

	if (!error)
		error = compat_refuse((*thread)->inferior);
	if (error)
		return error;
	r = thread_get_siginfo(*thread, info);
	if (r < 0)
		return error_create(-r, "cannot read the signal of thread %d",
				    (int)(*thread)->tid);
	return NULL;
}

static struct error *siginfo_read(struct client *client, struct cursor annex,
				  struct buffer *out)
{
	struct thread *thread;
	siginfo_t info;
	struct error *error = expect_no_annex(annex);

	if (!error)
		error = siginfo_get(client, &thread, &info);
	if (error)
		return error;
	/* A stop that we have asked for is none of a signal (ptrace(2),
	 * PTRACE_EVENT_STOP). Clients know it as a SIGSTOP of gdbserver's. */
	if (info.si_code >> 8 == PTRACE_EVENT_STOP)
		info = (siginfo_t){.si_signo = info.si_signo == SIGTRAP ? SIGSTOP
									: info.si_signo,
				   .si_code = SI_TKILL};
	buffer_append(out, &info, sizeof(info));
	return NULL;
}

static struct error *siginfo_write(struct client *client, uint64_t offset,
				   struct cursor data, struct buffer *reply)
{
	struct thread *thread;
	siginfo_t info;
	struct error *error = siginfo_get(client, &thread, &info);
	int r;

	if (error)
		return error;
	if (offset > sizeof(info) || cursor_left(&data) > sizeof(info) - offset)
		return error_create(0, "siginfo has %zu bytes only", sizeof(info));
	memcpy((char *)&info + offset, data.p, cursor_left(&data));
	r = thread_set_siginfo(thread, &info);
	if (r < 0)
		return error_create(-r, "cannot change the signal of thread %d",
				    (int)thread->tid);
	buffer_printf(reply, "%zx", cursor_left(&data));
	return NULL;
}

/* The annex names a table. One that is not known is empty, and gdb says so. */
static struct error *osdata_read(struct client *client, struct cursor annex,
				 struct buffer *out)
{
	char type[32];

	snprintf(type, sizeof(type), "%.*s", (int)cursor_left(&annex), annex.p);
	osdata_xml(type, client->run->inferiors.client, out);
	return NULL;
}

static const struct xfer_object objects[] = {
	{"features", features_read, NULL, "qXfer:features:read+"},
	{"auxv", auxv_read, NULL, "qXfer:auxv:read+"},
	{"exec-file", exec_file_read, NULL, "qXfer:exec-file:read+"},
	{"libraries-svr4", libraries_read, NULL,
	 "qXfer:libraries-svr4:read+;augmented-libraries-svr4-read+"},
	{"osdata", osdata_read, NULL, "qXfer:osdata:read+"},
	{"threads", threads_read, NULL, "qXfer:threads:read+"},
	{"siginfo", siginfo_read, siginfo_write,
	 "qXfer:siginfo:read+;qXfer:siginfo:write+"},
};
enum { NOBJECTS = sizeof(objects) / sizeof(objects[0]) };

void xfer_append_features(struct buffer *out)
{
	for (int i = 0; i < NOBJECTS; i++)
		buffer_printf(out, "%s%s", i > 0 ? ";" : "", objects[i].features);
}

/* ---- The packet ---- */

static bool cursor_is(struct cursor cursor, const char *text)
{
	return cursor_text(&cursor, text) && cursor_left(&cursor) == 0;
}

static const struct xfer_object *object_find(struct cursor name)
{
	for (int i = 0; i < NOBJECTS; i++)
		if (cursor_is(name, objects[i].name))
			return &objects[i];
	return NULL;
}

/* Is @xfer what the client goes on reading? */
static bool xfer_matches(const struct xfer *xfer, const struct xfer_object *object,
			 struct cursor annex, pid_t tid)
{
	return xfer && xfer->object == object && xfer->tid == tid &&
	       cursor_left(&annex) == xfer->annex.len &&
	       cursor_is(annex, buffer_string(&xfer->annex));
}

/* Makes the object anew and keeps it in the session. */
static struct error *xfer_begin(struct client *client, const struct xfer_object *object,
				struct cursor annex, pid_t tid)
{
	struct session *session = &client->session;
	struct error *error;

	xfer_destroy(session->xfer);
	session->xfer = calloc(1, sizeof(*session->xfer));
	if (!session->xfer)
		return error_create(ENOMEM, "qXfer:%s", object->name);
	session->xfer->tid = tid;
	buffer_append(&session->xfer->annex, annex.p, cursor_left(&annex));
	error = object->read(client, annex, &session->xfer->contents);
	if (!error && (buffer_failed(&session->xfer->annex) ||
		       buffer_failed(&session->xfer->contents)))
		error = error_create(ENOMEM, "qXfer:%s", object->name);
	/* Only what is whole can be matched by the next packet. */
	if (!error)
		session->xfer->object = object;
	return error;
}

/* The reply: 'm' if more follows, 'l' with the last piece. */
static struct error *append_piece(const struct buffer *contents, uint64_t offset,
				  uint64_t length, struct buffer *reply)
{
	const char *start;
	size_t left, piece;

	if (offset > contents->len)
		return error_create(0, "offset %llu is beyond the object's end (%zu)",
				    (unsigned long long)offset, contents->len);
	start = buffer_string(contents) + offset;
	left = contents->len - (size_t)offset;
	piece = binary_fit(start, length < left ? (size_t)length : left,
			   RSP_PACKET_SIZE - 1);
	buffer_append_char(reply, piece < left ? 'm' : 'l');
	buffer_append(reply, start, piece);
	return NULL;
}

static struct error *xfer_read(struct client *client, const struct xfer_object *object,
			       struct cursor *args, struct buffer *reply)
{
	struct cursor annex = cursor_until(args, ':');
	const struct thread *thread = client_thread(client);
	pid_t tid = thread ? thread->tid : 0;
	uint64_t offset, length;

	if (!cursor_char(args, ':') || !cursor_hex(args, &offset) ||
	    !cursor_char(args, ',') || !cursor_hex(args, &length) ||
	    cursor_left(args) > 0)
		return error_create(0, "qXfer:%s:read: expected ANNEX:OFFSET,LENGTH",
				    object->name);
	if (offset == 0 || !xfer_matches(client->session.xfer, object, annex, tid)) {
		struct error *error = xfer_begin(client, object, annex, tid);

		if (error)
			return error;
	}
	return append_piece(&client->session.xfer->contents, offset, length, reply);
}

static struct error *xfer_write(struct client *client, const struct xfer_object *object,
				struct cursor *args, struct buffer *reply)
{
	struct cursor annex = cursor_until(args, ':');
	struct error *error = expect_no_annex(annex);
	uint64_t offset;

	if (error)
		return error;
	if (!cursor_char(args, ':') || !cursor_hex(args, &offset) ||
	    !cursor_char(args, ':'))
		return error_create(0, "qXfer:%s:write: expected ANNEX:OFFSET:DATA",
				    object->name);
	/* What was read before is no longer true. */
	xfer_destroy(take_ptr(client->session.xfer));
	return object->write(client, offset, *args, reply);
}

struct error *packet_qXfer(struct client *client, struct cursor *args,
			   struct buffer *reply)
{
	const struct xfer_object *object = object_find(cursor_until(args, ':'));

	if (!object)
		return NULL;
	if (cursor_text(args, ":read:"))
		return xfer_read(client, object, args, reply);
	if (object->write && cursor_text(args, ":write:"))
		return xfer_write(client, object, args, reply);
	return NULL;
}
