/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/rsp/zpacket.h"
#include "tests/unit/rng.h"

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
	cr_expect_eq(cursor_left(&packet.options.text), 0);
	cr_assert_null(zpacket_parse(text("4,ffffffffffffffff,8;X1,27"), &packet));
	cr_expect_eq(packet.type, 4);
	cr_expect_eq(packet.addr, UINT64_MAX);
	cr_expect_eq(packet.kind, 8);
	cr_expect_eq(cursor_left(&packet.options.text), 6);
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

/* The bytecodes in hex, each with a blank, commands with their persistence in front;
 * or the error's text. */
static void expect_exprs(const char *options, const char *expected)
{
	struct zpacket_options left = {.text = text(options)};
	struct buffer found _cleanup_buffer_ = {0};
	struct error *error _cleanup_error_ = NULL;
	struct zpacket_expr expr;

	while (!(error = zpacket_next_expr(&left, &expr)) && expr.bytecode) {
		if (expr.is_command)
			buffer_printf(&found, "%d:", left.persistent);
		buffer_append_hex(&found, expr.bytecode, expr.len);
		buffer_append_char(&found, ' ');
		free(expr.bytecode);
	}
	if (error)
		buffer_append_string(&found, error_text(error));
	cr_expect_str_eq(buffer_string(&found), expected);
}

Test(zpacket, conditions)
{
	expect_exprs("", "");
	expect_exprs(";", "");
	expect_exprs(";X3,220027", "220027 ");
	expect_exprs(";X3,220027X1,27", "220027 27 ");
	expect_exprs(";X3,220027;X1,27", "220027 27 ");
}

Test(zpacket, bad_conditions)
{
	expect_exprs(";X", "condition: no length after X");
	expect_exprs(";X3", "condition: no length after X");
	expect_exprs(";X0,", "condition: a length of 0 bytes is not in 1..65536");
	expect_exprs(";X10001,00",
		     "condition: a length of 65537 bytes is not in 1..65536");
	expect_exprs(";X3,2200", "condition: fewer than 3 bytes of bytecode");
	expect_exprs(";X1,2g", "condition: fewer than 1 bytes of bytecode");
	expect_exprs(";X1,2727", "27 breakpoint: expected a condition (X) at '2'");
	expect_exprs(";\x01", "breakpoint: expected a condition (X) at '?'");
}

Test(zpacket, commands)
{
	expect_exprs(";cmds:0,X1,27", "0:27 ");
	expect_exprs(";cmds:1,X1,27X2,2227", "1:27 1:2227 ");
	expect_exprs(";X3,220027X1,27;cmds:1,X1,27", "220027 27 1:27 ");
	expect_exprs(";cmds:1,X1,27;X3,220027", "1:27 220027 ");
	expect_exprs(";cmds:1,", "");
}

Test(zpacket, bad_commands)
{
	expect_exprs(";cmds:", "commands: neither 0 nor 1 after cmds:");
	expect_exprs(";cmds:2,X1,27", "commands: neither 0 nor 1 after cmds:");
	expect_exprs(";cmds:1X1,27", "commands: no ',' after cmds:1");
	expect_exprs(";cmds:0,X3,22", "command: fewer than 3 bytes of bytecode");
	expect_exprs(";cmds:0,X", "command: no length after X");
	expect_exprs(";cmds:0,X1,27Y",
		     "0:27 breakpoint: expected a command (X) at 'Y'");
	expect_exprs(";cmd:0,X1,27", "breakpoint: expected a condition (X) at 'c'");
}

/* Any bytes: an end or an error, and never a step beyond the packet. */
Test(zpacket, random_packets_never_hurt)
{
	struct rng rng = {11};

	for (int round = 0; round < 50000; round++) {
		char packet[24];
		struct zpacket parsed;
		struct error *error;

		for (size_t i = 0; i < sizeof(packet); i++)
			packet[i] = "0123,;;XXacmds:"[rng_below(&rng, 15)];
		memcpy(packet, "0,1,1;", 6);
		error = zpacket_parse((struct cursor){packet, packet + sizeof(packet)},
				      &parsed);
		while (!error) {
			struct zpacket_expr expr;

			error = zpacket_next_expr(&parsed.options, &expr);
			cr_assert_leq(parsed.options.text.p, packet + sizeof(packet));
			free(expr.bytecode);
			if (!expr.bytecode)
				break;
		}
		error_destroy(error);
	}
}
