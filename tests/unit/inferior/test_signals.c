/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/signals.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>

Test(signals, known_numbers)
{
	/* GDB manual, "Remote Protocol Signals", and what gdb sends. */
	static const struct {
		int host, gdb;
	} known[] = {
		{SIGHUP, 1},   {SIGINT, 2},	{SIGQUIT, 3},	{SIGILL, 4},
		{SIGTRAP, 5},  {SIGABRT, 6},	{SIGFPE, 8},	{SIGKILL, 9},
		{SIGBUS, 10},  {SIGSEGV, 11},	{SIGSYS, 12},	{SIGPIPE, 13},
		{SIGALRM, 14}, {SIGTERM, 15},	{SIGURG, 16},	{SIGSTOP, 17},
		{SIGTSTP, 18}, {SIGCONT, 19},	{SIGCHLD, 20},	{SIGTTIN, 21},
		{SIGTTOU, 22}, {SIGIO, 23},	{SIGXCPU, 24},	{SIGXFSZ, 25},
		{SIGPROF, 27}, {SIGVTALRM, 26}, {SIGWINCH, 28}, {SIGUSR1, 30},
		{SIGUSR2, 31}, {SIGPWR, 32},	{33, 45},	{34, 46},
		{63, 75},      {32, 77},	{64, 78},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		cr_expect_eq(signal_to_gdb(known[i].host), known[i].gdb, "host %d",
			     known[i].host);
		cr_expect_eq(signal_from_gdb(known[i].gdb), known[i].host, "gdb %d",
			     known[i].gdb);
	}
}

Test(signals, every_host_signal_survives_the_round_trip)
{
	for (int host = 1; host <= 64; host++) {
		int gdb = signal_to_gdb(host);

		if (host == SIGSTKFLT)
			cr_expect_eq(gdb, GDB_SIGNAL_UNKNOWN);
		else
			cr_expect_eq(signal_from_gdb(gdb), host, "host %d", host);
	}
}

Test(signals, unknown_numbers)
{
	cr_expect_eq(signal_to_gdb(0), 0);
	cr_expect_eq(signal_from_gdb(0), 0);
	cr_expect_eq(signal_to_gdb(65), GDB_SIGNAL_UNKNOWN);
	cr_expect_eq(signal_to_gdb(-1), GDB_SIGNAL_UNKNOWN);
	cr_expect_eq(signal_from_gdb(GDB_SIGNAL_UNKNOWN), -1);
	cr_expect_eq(signal_from_gdb(7), -1, "SIGEMT is not of Linux");
	cr_expect_eq(signal_from_gdb(33), SIGPOLL);
	cr_expect_eq(signal_from_gdb(1000), -1);
}

Test(signals, names)
{
	char name[16];

	cr_expect_str_eq(signal_name(SIGINT), "SIGINT");
	cr_expect_str_eq(signal_name(SIGIO), "SIGIO");
	cr_expect_str_eq(signal_name(SIGSTKFLT), "SIGSTKFLT");
	cr_expect_str_eq(signal_name(0), "SIG?");
	for (int host = 32; host <= 64; host++) {
		snprintf(name, sizeof(name), "SIG%d", host);
		cr_expect_str_eq(signal_name(host), name);
	}
}
