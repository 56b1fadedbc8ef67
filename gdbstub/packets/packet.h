/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of packets and how a packet finds its handler. To add a packet is
 * to add a row (packet.c) and a handler.
 */
#ifndef TRUEHIT_PACKETS_PACKET_H
#define TRUEHIT_PACKETS_PACKET_H

#include "gdbstub/client/handler.h"

struct session;

enum packet_flags {
	/* May come while threads run. Others are refused then: what they read or
	 * change is not at rest. */
	PACKET_WHILE_RUNNING = 1,
	/* gdb before 16 takes the reply for data unless an error is "E" and two
	 * digits; newer ones say that they read texts (error-message+). */
	PACKET_ERROR_NUMBER = 2,
	/* Goes by the rules of 64-bit programs: refused for others (compat.h). */
	PACKET_NATIVE = 4,
	/* May end with ";thread:ID;" for a client that wants that (lldb): it is about
	 * this thread then, whichever is chosen. */
	PACKET_OF_THREAD = 8,
	/* Needs engines, which have to have been tried (run_try_engines). */
	PACKET_ENGINES = 16,
	/* While the program is stopped, it changes no more than memory, registers and
	 * breakpoints, if anything: nobody but the client has work after it. */
	PACKET_AT_REST = 32,
};

struct packet {
	const char *name; /* the packet begins with this */
	packet_handler *handler;
	const char *separators; /* one of these must follow the name and is
				 * skipped; "": nothing may follow; NULL:
				 * anything may follow at once */
	const char *feature;	/* what qSupported advertises ("QPassSignals+"),
				 * (";" between several), or NULL */
	unsigned int flags; /* enum packet_flags; also the bit of gdbstub/rsp/disable.h
			     * that takes the packet away */
};

/** Handles a packet and fills in the reply ("E.text" for an error). */
void packet_dispatch(struct client *client, const char *packet, size_t len,
		     struct buffer *reply);

/** For tests: is the table in the order by which it is searched? */
bool packets_are_in_order(void);

/** By what lldb knows an error: its errno, or 1 if it has none or a greater one. */
unsigned int packet_error_number(const struct error *error);

/** Appends what qSupported advertises: the table's features, each ";feature", but
 * for the packets that are disabled. */
void packet_append_features(unsigned int disabled, struct buffer *out);

/** Frees what handlers have kept in the session, and makes it a new one. */
void packet_renew_session(struct session *session);

/* Handlers, by file. */

/* query_packets.c */
packet_handler packet_qSupported, packet_qAttached, packet_qC, packet_qfThreadInfo,
	packet_qsThreadInfo, packet_qThreadExtraInfo, packet_QStartNoAckMode,
	packet_QNonStop, packet_H, packet_T;
/* event_packets.c: what the client wants to hear of */
packet_handler packet_QPassSignals, packet_QProgramSignals, packet_QCatchSyscalls,
	packet_QThreadEvents, packet_QThreadOptions;
/* tls_packets.c */
packet_handler packet_qGetTLSAddr, packet_qSymbol;
/* register_packets.c */
packet_handler packet_g, packet_G, packet_p, packet_P;
/* memory_packets.c */
packet_handler packet_m, packet_M, packet_x, packet_X, packet_qCRC,
	packet_qSearch_memory;
/* memory_tag_packets.c */
packet_handler packet_qMemTags, packet_QMemTags;
/* resume_packets.c */
packet_handler packet_stop_reason, packet_vCont, packet_vCont_query, packet_c, packet_C,
	packet_s, packet_S, packet_vCtrlC, packet_vStopped;
/* breakpoint_packets.c */
packet_handler packet_Z, packet_z, packet_QTruehit_WatchCondition,
	packet_QTruehit_IgnoreCounts;
/* multi_breakpoint.c: several Z and z in one */
packet_handler packet_jMultiBreakpoint;
/* start_packets.c */
packet_handler packet_vRun, packet_qExecAndArgs, packet_QStartupWithShell,
	packet_QDisableRandomization, packet_QEnvironmentHexEncoded,
	packet_QEnvironmentUnset, packet_QEnvironmentReset, packet_QSetWorkingDir;
/* process_packets.c */
packet_handler packet_D, packet_k, packet_vKill, packet_vAttach, packet_extended_mode,
	packet_R;
/* variable_packets.c */
packet_handler packet_QTDV, packet_qTV;
/* xfer.c: qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH over a table of objects */
packet_handler packet_qXfer;
/* vfile.c: vFile:OPERATION:... over a table of operations */
packet_handler packet_vFile;
/* monitor_packet.c: qRcmd,HEX over a table of commands */
packet_handler packet_qRcmd;

#endif
