/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "rsp/zpacket.h"

static struct cursor text(const char *string)
{
	return (struct cursor){string, string + strlen(string)};
}

Test(zpacket, head)
{
	struct zpacket packet;

	cr_assert_null(zpacket_parse(text("0,401136,1"), &packet));
	cr_expect_eq(packet.type, 0);
	cr_expect_eq(packet.addr, 0x401136);
	cr_expect_eq(packet.kind, 1);
	cr_expect_eq(cursor_left(&packet.options), 0);
	cr_assert_null(zpacket_parse(text("4,ffffffffffffffff,8;X1,27"), &packet));
	cr_expect_eq(packet.type, 4);
	cr_expect_eq(packet.addr, UINT64_MAX);
	cr_expect_eq(packet.kind, 8);
	cr_expect_eq(cursor_left(&packet.options), 6);
}

static void bad_head(const char *packet, const char *expected)
{
	struct zpacket parsed;
	struct error *error _cleanup_error_ = zpacket_parse(text(packet), &parsed);

	cr_assert(error, "%s", packet);
	cr_expect_str_eq(error_text(error), expected);
}

Test(zpacket, bad_heads)
{
	bad_head("", "breakpoint: no type");
	bad_head("x,1,1", "breakpoint: no type");
	bad_head("0", "breakpoint: no address after the type");
	bad_head("0,", "breakpoint: no address after the type");
	bad_head("0,11112222333344445,1", "breakpoint: no address after the type");
	bad_head("0,1", "breakpoint: no kind after the address");
	bad_head("0,1,80000000", "breakpoint: no kind after the address");
	bad_head("0,1,1X1,27", "breakpoint: no ';' after the kind");
}

/* The bytecodes in hex, separated by blanks; or the error's text. */
static void expect_conditions(const char *options, const char *expected)
{
	struct cursor cursor = text(options);
	struct buffer found _cleanup_buffer_ = {0};
	struct error *error _cleanup_error_ = NULL;
	struct zpacket_condition condition;

	while (!(error = zpacket_next_condition(&cursor, &condition)) &&
	       condition.bytecode) {
		buffer_append_hex(&found, condition.bytecode, condition.len);
		buffer_append_char(&found, ' ');
		free(condition.bytecode);
	}
	if (error)
		buffer_append_string(&found, error_text(error));
	cr_expect_str_eq(buffer_string(&found), expected);
}

Test(zpacket, conditions)
{
	expect_conditions("", "");
	expect_conditions(";", "");
	expect_conditions(";X3,220027", "220027 ");
	expect_conditions(";X3,220027X1,27", "220027 27 ");
	expect_conditions(";X3,220027;X1,27", "220027 27 ");
}

Test(zpacket, bad_conditions)
{
	expect_conditions(";X", "condition: no length after X");
	expect_conditions(";X3", "condition: no length after X");
	expect_conditions(";X0,", "condition: a length of 0 bytes is not in 1..65536");
	expect_conditions(";X10001,00",
			  "condition: a length of 65537 bytes is not in 1..65536");
	expect_conditions(";X3,2200", "condition: fewer than 3 bytes of bytecode");
	expect_conditions(";X1,2g", "condition: fewer than 1 bytes of bytecode");
	expect_conditions(";X1,2727", "27 breakpoint: expected a condition (X) at '2'");
	expect_conditions(";cmds:0,X1,27", "breakpoint commands are not supported");
	expect_conditions(";X1,27;cmds:0,X1,27",
			  "27 breakpoint commands are not supported");
	expect_conditions(";\x01", "breakpoint: expected a condition (X) at '?'");
}

/* Any bytes: an end or an error, and never a step beyond the packet. */
Test(zpacket, random_packets_never_hurt)
{
	unsigned int seed = 11;

	for (int round = 0; round < 50000; round++) {
		char packet[24];
		struct zpacket parsed;
		struct error *error;

		for (size_t i = 0; i < sizeof(packet); i++)
			packet[i] = "0123,;;XXacmds:"[rand_r(&seed) % 15];
		memcpy(packet, "0,1,1;", 6);
		error = zpacket_parse((struct cursor){packet, packet + sizeof(packet)},
				      &parsed);
		while (!error) {
			struct zpacket_condition condition;

			error = zpacket_next_condition(&parsed.options, &condition);
			cr_assert_leq(parsed.options.p, packet + sizeof(packet));
			free(condition.bytecode);
			if (!condition.bytecode)
				break;
		}
		error_destroy(error);
	}
}
