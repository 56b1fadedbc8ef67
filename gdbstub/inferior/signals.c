/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/signals.h"

#include <signal.h>
#include <stddef.h>

struct signal_row {
	int host;
	int gdb;
	const char *name;
};

/*
 * The kernel's signals in gdb's order. Real-time signals are 32..64 in the kernel
 * (the C library keeps the first ones for itself); gdb numbers 33..63 first and
 * added 32 and 64 later. Where two rows share a number, the first is the one told.
 */
static const struct signal_row signals[] = {
	{SIGHUP, 1, "SIGHUP"},
	{SIGINT, 2, "SIGINT"},
	{SIGQUIT, 3, "SIGQUIT"},
	{SIGILL, 4, "SIGILL"},
	{SIGTRAP, 5, "SIGTRAP"},
	{SIGABRT, 6, "SIGABRT"},
	{SIGFPE, 8, "SIGFPE"},
	{SIGKILL, 9, "SIGKILL"},
	{SIGBUS, 10, "SIGBUS"},
	{SIGSEGV, 11, "SIGSEGV"},
	{SIGSYS, 12, "SIGSYS"},
	{SIGPIPE, 13, "SIGPIPE"},
	{SIGALRM, 14, "SIGALRM"},
	{SIGTERM, 15, "SIGTERM"},
	{SIGURG, 16, "SIGURG"},
	{SIGSTOP, 17, "SIGSTOP"},
	{SIGTSTP, 18, "SIGTSTP"},
	{SIGCONT, 19, "SIGCONT"},
	{SIGCHLD, 20, "SIGCHLD"},
	{SIGTTIN, 21, "SIGTTIN"},
	{SIGTTOU, 22, "SIGTTOU"},
	{SIGIO, 23, "SIGIO"},
	{SIGXCPU, 24, "SIGXCPU"},
	{SIGXFSZ, 25, "SIGXFSZ"},
	{SIGVTALRM, 26, "SIGVTALRM"},
	{SIGPROF, 27, "SIGPROF"},
	{SIGWINCH, 28, "SIGWINCH"},
	{SIGUSR1, 30, "SIGUSR1"},
	{SIGUSR2, 31, "SIGUSR2"},
	{SIGPWR, 32, "SIGPWR"},
	{SIGPOLL, 33, "SIGPOLL"},
	{33, 45, "SIG33"},
	{34, 46, "SIG34"},
	{35, 47, "SIG35"},
	{36, 48, "SIG36"},
	{37, 49, "SIG37"},
	{38, 50, "SIG38"},
	{39, 51, "SIG39"},
	{40, 52, "SIG40"},
	{41, 53, "SIG41"},
	{42, 54, "SIG42"},
	{43, 55, "SIG43"},
	{44, 56, "SIG44"},
	{45, 57, "SIG45"},
	{46, 58, "SIG46"},
	{47, 59, "SIG47"},
	{48, 60, "SIG48"},
	{49, 61, "SIG49"},
	{50, 62, "SIG50"},
	{51, 63, "SIG51"},
	{52, 64, "SIG52"},
	{53, 65, "SIG53"},
	{54, 66, "SIG54"},
	{55, 67, "SIG55"},
	{56, 68, "SIG56"},
	{57, 69, "SIG57"},
	{58, 70, "SIG58"},
	{59, 71, "SIG59"},
	{60, 72, "SIG60"},
	{61, 73, "SIG61"},
	{62, 74, "SIG62"},
	{63, 75, "SIG63"},
	{32, 77, "SIG32"},
	{64, 78, "SIG64"},
	/* Linux has it, gdb does not. */
	{SIGSTKFLT, GDB_SIGNAL_UNKNOWN, "SIGSTKFLT"},
};

enum { NSIGNALS = sizeof(signals) / sizeof(signals[0]) };

static const struct signal_row *find_host(int host)
{
	for (size_t i = 0; i < NSIGNALS; i++)
		if (signals[i].host == host)
			return &signals[i];
	return NULL;
}

int signal_to_gdb(int host)
{
	const struct signal_row *row = find_host(host);

	if (host == 0)
		return GDB_SIGNAL_0;
	return row ? row->gdb : GDB_SIGNAL_UNKNOWN;
}

int signal_from_gdb(int gdb)
{
	if (gdb == GDB_SIGNAL_0)
		return 0;
	if (gdb == GDB_SIGNAL_UNKNOWN)
		return -1;
	for (size_t i = 0; i < NSIGNALS; i++)
		if (signals[i].gdb == gdb)
			return signals[i].host;
	return -1;
}

const char *signal_name(int host)
{
	const struct signal_row *row = find_host(host);

	return row ? row->name : "SIG?";
}
