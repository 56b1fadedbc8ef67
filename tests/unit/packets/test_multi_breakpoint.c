/* SPDX-License-Identifier: BSD-2-Clause */
/* jMultiBreakpoint: requests, results, and what is malformed. Without a process, each
 * request fails; tests/e2e/protocol/test_lldb_packets.py has others. */
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gdbstub/client/client.h"
#include "gdbstub/packets/packet.h"

static struct run run;
static struct client client = {.run = &run};

static void begin(void)
{
	TAILQ_INIT(&run.inferiors.list);
}

TestSuite(multi_breakpoint, .init = begin);

/* The packet's memory ends where its text does, for the sanitizers. */
static struct error *send(const char *text, size_t len, struct buffer *reply)
{
	_cleanup_free_ char *packet = malloc(len + 1);
	struct cursor args = {packet, packet + len};

	cr_assert_not_null(packet);
	memcpy(packet, text, len);
	return packet_jMultiBreakpoint(&client, &args, reply);
}

static void expect(const char *packet, const char *wanted)
{
	struct buffer reply _cleanup_buffer_ = {0};
	struct error *error _cleanup_error_ = send(packet, strlen(packet), &reply);

	cr_assert_null(error, "%s: %s", packet, error ? error_text(error) : "");
	cr_expect_str_eq(buffer_string(&reply), wanted, "%s: %s", packet,
			 buffer_string(&reply));
}

Test(multi_breakpoint, a_result_for_each_request)
{
	expect("{\"breakpoint_requests\":[]}", "{\"results\":[]}");
	expect(" { \"breakpoint_requests\" : [ \"Z0,10,1\" , \"z0,10,1\" ] } ",
	       "{\"results\":[\"E01\",\"E01\"]}");
	expect("{\"breakpoint_requests\":[\"Z9,10,1\",\"Z\",\"m0,1\",\"\",\"z9,10,1\"]"
	       "}",
	       "{\"results\":[\"E5f\",\"E01\",\"E16\",\"E16\",\"E5f\"]}");
	expect("{\"breakpoint_\\u0072equests\":[\"\\u005a9,1,1\"]}",
	       "{\"results\":[\"E5f\"]}");
}

/* No packet that another one begins with is a packet. */
Test(multi_breakpoint, cut_off)
{
	static const char packet[] =
		"{\"breakpoint_requests\":[\"Z0,1,1\",\"z0,1,1\"]}";

	for (size_t len = 0; len < sizeof(packet) - 1; len++) {
		struct buffer reply _cleanup_buffer_ = {0};
		struct error *error _cleanup_error_ = send(packet, len, &reply);

		cr_expect(error, "%.*s", (int)len, packet);
		cr_expect_eq(reply.len, 0);
		cr_expect_eq(error_errno(error), EINVAL);
	}
}

Test(multi_breakpoint, of_other_kinds)
{
	static const char *const packets[] = {
		"[\"Z0,1,1\"]",
		"{}",
		"{\"requests\":[\"Z0,1,1\"]}",
		"{\"breakpoint_requests\":\"Z0,1,1\"}",
		"{\"breakpoint_requests\":[1]}",
		"{\"breakpoint_requests\":[[\"Z0,1,1\"]]}",
		"{\"breakpoint_requests\":[\"Z0,1,1\" \"Z0,1,1\"]}",
		"{\"breakpoint_requests\":[\"Z0,1,1\",]}",
		"{\"breakpoint_requests\":[],}",
		"{\"breakpoint_requests\":[\"Z0,1,1\"],\"more\":1}",
		"{\"breakpoint_requests\":[\"Z0,1,1\"]}}",
		"{\"breakpoint_requests\":[\"Z0,\\u0000,1\"]}",
	};

	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++) {
		struct buffer reply _cleanup_buffer_ = {0};
		struct error *error _cleanup_error_ =
			send(packets[i], strlen(packets[i]), &reply);

		cr_expect(error, "%s", packets[i]);
		cr_expect_eq(reply.len, 0);
	}
}
