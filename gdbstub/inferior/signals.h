/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signal numbers of the remote protocol (gdb's own, the same on every system) and
 * of this host. Numbers: GDB manual, "Remote Protocol"; enum gdb_signal.
 */
#ifndef TRUEHIT_INFERIOR_SIGNALS_H
#define TRUEHIT_INFERIOR_SIGNALS_H

enum {
	GDB_SIGNAL_0 = 0,	  /* no signal */
	GDB_SIGNAL_UNKNOWN = 143, /* a signal that gdb has no number for */
};

/** gdb's number of a host signal; 0 for 0, GDB_SIGNAL_UNKNOWN if it has none. */
int signal_to_gdb(int host);
/** The host's number of one of gdb's signals; 0 for 0, -1 if it has none here. */
int signal_from_gdb(int gdb);
/** "SIGINT", "SIG34"; "SIG?" for a number that is no signal. Never NULL. */
const char *signal_name(int host);

#endif
