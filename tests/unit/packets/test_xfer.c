/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/prctl.h>

#include "gdbstub/rsp/frame.h"
#include "gdbstub/tracing/attach.h"
#include "gdbstub/tracing/inferiors.h"
#include "gdbstub/tracing/launch.h"
#include "gdbstub/inferior/proc.h"
#include "gdbstub/tracing/resume.h"
#include "gdbstub/inferior/thread.h"
#include "gdbstub/tracing/wait.h"
#include "gdbstub/rsp/binary.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/packets/xfer.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"

static struct run run;
static struct client client = {.run = &run};
static struct inferior *inferior;

static void begin_empty(void)
{
	client = (struct client){.run = &run};
	inferiors_init(&client.run->inferiors);
	control_init(client.run);
	cr_assert_null(arch_native()->init());
}

/* An inferior that is not traced: ourselves. Enough for what /proc tells. */
static void begin(void)
{
	begin_empty();
	inferior = inferior_create(&client.run->inferiors, getpid(), true);
	cr_assert_not_null(inferior);
}

static void end(void)
{
	xfer_destroy(client.session.xfer);
	inferiors_deinit(&client.run->inferiors);
}

/* The reply to "qXfer:" and these bytes; an error as "E.text". */
static void ask_bytes(const void *text, size_t len, struct buffer *reply)
{
	struct cursor args = {text, (const char *)text + len};
	struct error *error;

	buffer_reset(reply);
	error = packet_qXfer(&client, &args, reply);
	if (error) {
		buffer_reset(reply);
		buffer_printf(reply, "E.%s", error_text(error));
	}
	error_destroy(error);
}

static const char *ask(const char *text, struct buffer *reply)
{
	ask_bytes(text, strlen(text), reply);
	return buffer_string(reply);
}

/* Reads a whole object in pieces of @size. */
static void read_pieces(const char *what, unsigned int size, struct buffer *out)
{
	_cleanup_buffer_ struct buffer reply = {0};
	char text[128];

	for (int i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "%s:%zx,%x", what, out->len, size);
		ask(text, &reply);
		cr_assert(reply.len <= size + 1);
		cr_assert(reply.data[0] == 'm' || reply.data[0] == 'l', "%s",
			  reply.data);
		buffer_append(out, reply.data + 1, reply.len - 1);
		if (reply.data[0] == 'l')
			return;
		cr_assert_eq(reply.len, size + 1);
	}
	cr_assert_fail("no end");
}

#define assert_error(text)                                                             \
	cr_assert(strncmp(ask(text, &reply), "E.", 2) == 0, "%s", reply.data)

TestSuite(xfer, .init = begin, .fini = end);
TestSuite(xfer_empty, .init = begin_empty, .fini = end);

Test(xfer, an_object_comes_in_pieces_of_any_size)
{
	static const unsigned int sizes[] = {1, 7, 16, 0x1000};

	for (size_t i = 0; i < 4; i++) {
		_cleanup_buffer_ struct buffer pieces = {0}, whole = {0};

		cr_assert_eq(inferior_proc_file(inferior, "auxv", &whole), 0);
		read_pieces("auxv:read:", sizes[i], &pieces);
		cr_assert_eq(pieces.len, whole.len);
		cr_assert_arr_eq(pieces.data, whole.data, whole.len);
	}
}

Test(xfer, offset_at_the_end_is_the_last_piece_and_after_it_an_error)
{
	_cleanup_buffer_ struct buffer reply = {0}, whole = {0};
	char text[64];

	cr_assert_eq(inferior_proc_file(inferior, "auxv", &whole), 0);
	snprintf(text, sizeof(text), "auxv:read::%zx,10", whole.len);
	cr_assert_str_eq(ask(text, &reply), "l");
	snprintf(text, sizeof(text), "auxv:read::%zx,10", whole.len + 1);
	assert_error(text);
	assert_error("auxv:read::ffffffffffffffff,ffffffffffffffff");
}

Test(xfer, an_object_does_not_change_between_its_pieces)
{
	_cleanup_buffer_ struct buffer reply = {0}, pieces = {0};

	prctl(PR_SET_NAME, "before");
	ask("threads:read::0,10", &reply);
	buffer_append(&pieces, reply.data + 1, reply.len - 1);
	prctl(PR_SET_NAME, "after");
	ask("threads:read::10,1000", &reply);
	buffer_append(&pieces, reply.data + 1, reply.len - 1);
	cr_assert_not_null(strstr(pieces.data, "name=\"before\""), "%s", pieces.data);
	cr_assert_not_null(strstr(ask("threads:read::0,1000", &reply), "\"after\""));
}

Test(xfer, another_object_in_between_does_not_mix_in)
{
	_cleanup_buffer_ struct buffer reply = {0}, whole = {0};

	cr_assert_eq(inferior_proc_file(inferior, "auxv", &whole), 0);
	ask("auxv:read::0,8", &reply);
	ask("threads:read::0,8", &reply);
	ask("auxv:read::8,8", &reply);
	cr_assert_eq(reply.len, 9);
	cr_assert_arr_eq(reply.data + 1, whole.data + 8, 8);
}

Test(xfer, thread_names_cannot_break_the_document)
{
	_cleanup_buffer_ struct buffer reply = {0};

	prctl(PR_SET_NAME, "<a&\"b'\x01\xff\xc3\xa4>");
	ask("threads:read::0,1000", &reply);
	cr_assert_not_null(strstr(reply.data, "name=\"&lt;a&amp;&quot;b&apos;??"
					      "\xc3\xa4&gt;\""),
			   "%s", reply.data);
}

Test(xfer, xml_takes_utf8_only)
{
	_cleanup_buffer_ struct buffer out = {0};

	/* Overlong, surrogate, beyond Unicode, cut off, not a character. */
	buffer_append_xml(&out, "a\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82");
	cr_assert_str_eq(out.data, "a??|\?\?\?|\?\?\?\?|\?\?");
	buffer_reset(&out);
	buffer_append_xml(&out, "\xef\xbf\xbf\xf0\x9f\x98\x80\xe2\x82\xac\t\n");
	cr_assert_str_eq(out.data, "???\xf0\x9f\x98\x80\xe2\x82\xac&#9;&#10;");
}

Test(xfer, thread_ids_are_as_the_client_writes_them)
{
	_cleanup_buffer_ struct buffer reply = {0};
	char id[64];

	snprintf(id, sizeof(id), "<thread id=\"%x\"", (unsigned int)getpid());
	cr_assert_not_null(strstr(ask("threads:read::0,1000", &reply), id));
	client.session.multiprocess = true;
	snprintf(id, sizeof(id), "<thread id=\"p%x.%x\"", (unsigned int)getpid(),
		 (unsigned int)getpid());
	cr_assert_not_null(strstr(ask("threads:read::0,1000", &reply), id));
	cr_assert_not_null(strstr(reply.data, " core=\""));
}

Test(xfer, a_reply_never_exceeds_the_packet_size)
{
	_cleanup_buffer_ struct buffer reply = {0};

	for (int i = 0; i < 9000; i++)
		cr_assert_not_null(thread_create(inferior, 0x7000000 + i));
	ask("threads:read::0,fffffff", &reply);
	cr_assert_eq(reply.data[0], 'm');
	cr_assert_eq(reply.len, RSP_PACKET_SIZE);
}

Test(xfer, bytes_that_are_escaped_take_two)
{
	cr_assert_eq(binary_fit("abcd", 4, 10), 4);
	cr_assert_eq(binary_fit("abcd", 4, 3), 3);
	cr_assert_eq(binary_fit("a#$d", 4, 4), 2);
	cr_assert_eq(binary_fit("*}", 2, 4), 2);
	cr_assert_eq(binary_fit("*}", 2, 1), 0);
	cr_assert_eq(binary_fit("\0\0", 2, 2), 2);
	cr_assert_eq(binary_fit("", 0, 0), 0);
}

Test(xfer, exec_file_is_found_by_pid)
{
	_cleanup_buffer_ struct buffer reply = {0};
	char text[64], path[4096] = "l";

	cr_assert_gt(readlink("/proc/self/exe", path + 1, sizeof(path) - 2), 0);
	snprintf(text, sizeof(text), "exec-file:read:%x:0,1000",
		 (unsigned int)getpid());
	cr_assert_str_eq(ask(text, &reply), path);
	cr_assert_str_eq(ask("exec-file:read::0,1000", &reply), path);
	assert_error("exec-file:read:1:0,1000");
	assert_error("exec-file:read:xyz:0,1000");
	assert_error("exec-file:read:fffffffff:0,1000");
}

Test(xfer, library_annex_is_parsed)
{
	_cleanup_buffer_ struct buffer reply = {0};

	ask("libraries-svr4:read::0,10000", &reply);
	cr_assert_not_null(strstr(reply.data, " main-lm=\"0x"), "%s", reply.data);
	/* A start that leads nowhere, and a name of the future. */
	cr_assert_str_eq(
		ask("libraries-svr4:read:start=10;prev=0;lmid=1;x=z;:0,1000", &reply),
		"l<library-list-svr4 version=\"1.0\"></library-list-svr4>");
	assert_error("libraries-svr4:read:start=xyz;prev=0;:0,1000");
	assert_error("libraries-svr4:read:start=1z;prev=0;:0,1000");
	assert_error("libraries-svr4:read:start:0,1000");
	assert_error("libraries-svr4:read:;:0,1000");
}

Test(xfer, malformed_packets_are_errors_and_unknown_ones_are_empty)
{
	_cleanup_buffer_ struct buffer reply = {0};

	cr_assert_str_eq(ask("nonsense:read::0,10", &reply), "");
	cr_assert_str_eq(ask("aux:read::0,10", &reply), "");
	cr_assert_str_eq(ask("auxv:write::0:xy", &reply), "");
	cr_assert_str_eq(ask("auxv", &reply), "");
	cr_assert_str_eq(ask("", &reply), "");
	assert_error("auxv:read:");
	assert_error("auxv:read::");
	assert_error("auxv:read::0");
	assert_error("auxv:read::0,");
	assert_error("auxv:read::0,10,");
	assert_error("auxv:read::0,11111111111111111");
	assert_error("auxv:read:annex:0,10");
	assert_error("threads:read:annex:0,10");
	assert_error("features:read::0,10");
	assert_error("features:read:target.xmlx:0,10");
	assert_error("siginfo:write:annex:0:");
	assert_error("siginfo:write::0");
}

Test(xfer, target_description_is_the_architectures)
{
	_cleanup_buffer_ struct buffer pieces = {0}, whole = {0};

	arch_native()->target_xml(&whole);
	read_pieces("features:read:target.xml", 100, &pieces);
	cr_assert_str_eq(buffer_string(&pieces), buffer_string(&whole));
}

Test(xfer_empty, without_a_process)
{
	_cleanup_buffer_ struct buffer reply = {0};

	assert_error("auxv:read::0,1000");
	assert_error("exec-file:read::0,1000");
	assert_error("libraries-svr4:read::0,1000");
	assert_error("siginfo:read::0,1000");
	assert_error("siginfo:write::0:x");
	assert_error("features:read:target.xml:0,10");
	cr_assert_eq(ask("osdata:read::0,10", &reply)[0], 'm');
	cr_assert_eq(ask("osdata:read:processes:0,10", &reply)[0], 'm');
	cr_assert_str_eq(ask("osdata:read:no such table:0,10", &reply), "l");
	cr_assert_str_eq(ask("threads:read::0,1000", &reply),
			 "l<threads>\n</threads>\n");
}

Test(xfer_empty, features_come_from_the_table)
{
	_cleanup_buffer_ struct buffer out = {0};

	xfer_append_features(&out);
	cr_assert_str_eq(out.data,
			 "qXfer:features:read+;qXfer:auxv:read+;qXfer:exec-file:read+;"
			 "qXfer:libraries-svr4:read+;augmented-libraries-svr4-read+;"
			 "qXfer:osdata:read+;qXfer:threads:read+;qXfer:siginfo:read+;"
			 "qXfer:siginfo:write+");
}

/* siginfo needs a thread that stopped for a signal. */
Test(xfer_empty, siginfo_is_read_and_written)
{
	_cleanup_buffer_ struct buffer reply = {0};
	static char *const argv[] = {(char *)"true", NULL};
	const struct launch_options options = {.program = "/bin/true", .argv = argv};
	char write[64] = "siginfo:write::4:";
	struct event event;
	siginfo_t info;

	error_destroy(inferior_launch(&client.run->inferiors, &options, &inferior));
	cr_assert_not_null(inferior);
	cr_assert_eq(thread_step(TAILQ_FIRST(&inferior->threads), 0), 0);
	inferiors_wait(&client.run->inferiors, true, &event);
	cr_assert_eq(event.kind, EVENT_SIGNAL);

	ask("siginfo:read::0,1000", &reply);
	cr_assert_eq(reply.len, 1 + sizeof(info));
	memcpy(&info, reply.data + 1, sizeof(info));
	cr_assert_eq(info.si_signo, SIGTRAP);

	/* si_errno, with bytes that no text holds. */
	memcpy(write + strlen(write), "\0\x01\xff:", 4);
	ask_bytes(write, strlen("siginfo:write::4:") + 4, &reply);
	cr_assert_str_eq(buffer_string(&reply), "4");
	ask("siginfo:read::4,4", &reply);
	cr_assert_eq(reply.len, 5);
	cr_assert_arr_eq(reply.data, "m\0\x01\xff:", 5);

	assert_error("siginfo:write::7f:ab");
	assert_error("siginfo:write::ffffffffffffffff:ab");
	inferior_kill(inferior);
}
