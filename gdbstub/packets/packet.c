/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/packets/packet.h"

#include <errno.h>
#include <string.h>

#include "gdbstub/base/log.h"
#include "gdbstub/inferior/compat.h"
#include "gdbstub/rsp/disable.h"
#include "gdbstub/packets/vfile.h"
#include "gdbstub/packets/xfer.h"
#include "gdbstub/client/chosen.h"
#include "gdbstub/client/client.h"
#include "gdbstub/client/threads.h"
#include "gdbstub/lldb/lldb_packets.h"
#include "gdbstub/lldb/saved_registers.h"
#include "gdbstub/run/lifetimes.h"

/* In the order of the names' first letters (packets_are_in_order). */
static const struct packet packets[] = {
	/* name, handler, separators, feature, flags */
	{"!", packet_extended_mode, "", NULL, 0},
	{"?", packet_stop_reason, "", "fork-events+;vfork-events+;exec-events+", 0},
	{"A", packet_A, NULL, NULL, 0},
	{"C", packet_C, NULL, NULL, 0},
	{"D", packet_D, NULL, NULL, PACKET_WHILE_RUNNING},
	{"G", packet_G, NULL, NULL, PACKET_NATIVE | PACKET_OF_THREAD | PACKET_AT_REST},
	{"H", packet_H, NULL, "multiprocess+", PACKET_AT_REST},
	{"I", packet_I, NULL, NULL, PACKET_WHILE_RUNNING},
	{"M", packet_M, NULL, NULL, PACKET_AT_REST},
	{"MultiMemRead", packet_MultiMemRead, ":", "MultiMemRead+", PACKET_AT_REST},
	{"P", packet_P, NULL, NULL, PACKET_NATIVE | PACKET_OF_THREAD | PACKET_AT_REST},
	{"QCatchSyscalls", packet_QCatchSyscalls, ":", "QCatchSyscalls+",
	 PACKET_NATIVE},
	{"QDisableRandomization", packet_QDisableRandomization, ":",
	 "QDisableRandomization+", 0},
	{"QEnableErrorStrings", packet_QEnableErrorStrings, "", "QEnableErrorStrings+",
	 PACKET_WHILE_RUNNING},
	{"QEnvironment", packet_QEnvironment, ":", NULL, PACKET_WHILE_RUNNING},
	{"QEnvironmentHexEncoded", packet_QEnvironmentHexEncoded, ":",
	 "QEnvironmentHexEncoded+", PACKET_WHILE_RUNNING},
	{"QEnvironmentReset", packet_QEnvironmentReset, "", "QEnvironmentReset+",
	 PACKET_WHILE_RUNNING},
	{"QEnvironmentUnset", packet_QEnvironmentUnset, ":", "QEnvironmentUnset+",
	 PACKET_WHILE_RUNNING},
	{"QListThreadsInStopReply", packet_QListThreadsInStopReply, "",
	 "QListThreadsInStopReply+", PACKET_WHILE_RUNNING},
	{"QMemTags", packet_QMemTags, ":", "memory-tagging+", DISABLE_MEMORY_TAGS},
	{"QNonStop", packet_QNonStop, ":", "QNonStop+", 0},
	{"QPassSignals", packet_QPassSignals, ":", "QPassSignals+", 0},
	{"QProgramSignals", packet_QProgramSignals, ":", "QProgramSignals+", 0},
	{"QRestoreRegisterState", packet_QRestoreRegisterState, ":", NULL,
	 PACKET_NATIVE | PACKET_OF_THREAD},
	{"QSaveRegisterState", packet_QSaveRegisterState, "", NULL,
	 PACKET_NATIVE | PACKET_OF_THREAD},
	{"QSetDisableASLR", packet_QSetDisableASLR, ":", NULL, 0},
	{"QSetSTDERR", packet_QSetSTDERR, ":", NULL, PACKET_WHILE_RUNNING},
	{"QSetSTDIN", packet_QSetSTDIN, ":", NULL, PACKET_WHILE_RUNNING},
	{"QSetSTDOUT", packet_QSetSTDOUT, ":", NULL, PACKET_WHILE_RUNNING},
	{"QSetWorkingDir", packet_QSetWorkingDir, ":", "QSetWorkingDir+",
	 PACKET_WHILE_RUNNING},
	{"QStartNoAckMode", packet_QStartNoAckMode, "", "QStartNoAckMode+",
	 PACKET_WHILE_RUNNING | DISABLE_NO_ACK},
	{"QStartupWithShell", packet_QStartupWithShell, ":", "QStartupWithShell+",
	 PACKET_WHILE_RUNNING},
	{"QTDV", packet_QTDV, ":", NULL, PACKET_WHILE_RUNNING | PACKET_ENGINES},
	{"QThreadEvents", packet_QThreadEvents, ":", "QThreadEvents+",
	 PACKET_WHILE_RUNNING},
	{"QThreadOptions", packet_QThreadOptions, ";", "QThreadOptions=3",
	 PACKET_WHILE_RUNNING},
	{"QThreadSuffixSupported", packet_QThreadSuffixSupported, "",
	 "QThreadSuffixSupported+", PACKET_WHILE_RUNNING},
	{"QTruehit.IgnoreCounts", packet_QTruehit_IgnoreCounts, ":",
	 "QTruehit.IgnoreCounts+", PACKET_ENGINES},
	{"QTruehit.WatchCondition", packet_QTruehit_WatchCondition, ":",
	 "QTruehit.WatchCondition+", PACKET_ENGINES},
	{"R", packet_R, NULL, NULL, 0},
	{"S", packet_S, NULL, NULL, 0},
	{"T", packet_T, NULL, NULL, PACKET_WHILE_RUNNING},
	{"X", packet_X, NULL, NULL, PACKET_AT_REST},
	{"Z", packet_Z, NULL,
	 "swbreak+;hwbreak+;ConditionalBreakpoints+;BreakpointCommands+",
	 PACKET_NATIVE | PACKET_ENGINES | PACKET_AT_REST},
	{"_M", packet__M, NULL, NULL, PACKET_NATIVE},
	{"_m", packet__m, NULL, NULL, PACKET_NATIVE},
	{"c", packet_c, NULL, NULL, 0},
	{"g", packet_g, "", NULL, PACKET_OF_THREAD | PACKET_AT_REST},
	{"jModulesInfo", packet_jModulesInfo, ":", NULL, 0},
	{"jMultiBreakpoint", packet_jMultiBreakpoint, ":", "jMultiBreakpoint+",
	 PACKET_NATIVE | PACKET_ENGINES},
	{"jThreadsInfo", packet_jThreadsInfo, "", NULL, 0},
	{"k", packet_k, NULL, NULL, PACKET_WHILE_RUNNING},
	{"m", packet_m, NULL, NULL, PACKET_ERROR_NUMBER | PACKET_AT_REST},
	{"p", packet_p, NULL, NULL, PACKET_OF_THREAD | PACKET_AT_REST},
	{"qAttached", packet_qAttached, NULL, NULL, 0},
	{"qC", packet_qC, "", NULL, DISABLE_QC},
	{"qCRC", packet_qCRC, ":", NULL, PACKET_ERROR_NUMBER},
	{"qEcho", packet_qEcho, ":", "qEcho+", PACKET_WHILE_RUNNING},
	{"qExecAndArgs", packet_qExecAndArgs, "", NULL, PACKET_WHILE_RUNNING},
	{"qFileLoadAddress", packet_qFileLoadAddress, ":", NULL, 0},
	{"qGDBServerVersion", packet_qGDBServerVersion, "", NULL, PACKET_WHILE_RUNNING},
	{"qGetPid", packet_qGetPid, "", NULL, 0},
	{"qGetTLSAddr", packet_qGetTLSAddr, ":", NULL, PACKET_NATIVE},
	{"qGetWorkingDir", packet_qGetWorkingDir, "", NULL, PACKET_WHILE_RUNNING},
	{"qHostInfo", packet_qHostInfo, "", NULL, PACKET_WHILE_RUNNING},
	{"qLaunchSuccess", packet_qLaunchSuccess, "", NULL, PACKET_WHILE_RUNNING},
	{"qMemTags", packet_qMemTags, ":", NULL, DISABLE_MEMORY_TAGS},
	{"qMemoryRegionInfo", packet_qMemoryRegionInfo, NULL, NULL, 0},
	{"qModuleInfo", packet_qModuleInfo, ":", NULL, 0},
	{"qProcessInfo", packet_qProcessInfo, "", NULL, 0},
	{"qRcmd", packet_qRcmd, ",", NULL, PACKET_ERROR_NUMBER | PACKET_ENGINES},
	{"qSearch:memory", packet_qSearch_memory, ":", NULL,
	 PACKET_ERROR_NUMBER | PACKET_AT_REST},
	{"qShlibInfoAddr", packet_qShlibInfoAddr, "", NULL, 0},
	{"qSupported", packet_qSupported, NULL, NULL, PACKET_WHILE_RUNNING},
	{"qSymbol", packet_qSymbol, ":", NULL, 0},
	{"qTV", packet_qTV, ":", NULL, PACKET_WHILE_RUNNING | PACKET_ENGINES},
	{"qThreadExtraInfo", packet_qThreadExtraInfo, ",", NULL, 0},
	{"qThreadStopInfo", packet_qThreadStopInfo, NULL, NULL, 0},
	{"qVAttachOrWaitSupported", packet_qVAttachOrWaitSupported, "", NULL,
	 PACKET_WHILE_RUNNING},
	{"qWatchpointSupportInfo", packet_qWatchpointSupportInfo, ":", NULL,
	 PACKET_WHILE_RUNNING | PACKET_ENGINES},
	{"qXfer", packet_qXfer, ":", NULL, PACKET_AT_REST},
	{"qfThreadInfo", packet_qfThreadInfo, "", NULL, DISABLE_QFTHREADINFO},
	{"qsThreadInfo", packet_qsThreadInfo, "", NULL, 0},
	{"s", packet_s, NULL, NULL, 0},
	{"vAttach", packet_vAttach, ";", NULL, 0},
	{"vAttachName", packet_vAttachName, ";", NULL, 0},
	{"vAttachOrWait", packet_vAttachOrWait, ";", NULL, 0},
	{"vAttachWait", packet_vAttachWait, ";", NULL, 0},
	{"vCont", packet_vCont, ";", "vContSupported+;no-resumed+", DISABLE_VCONT},
	{"vCont?", packet_vCont_query, "", NULL, DISABLE_VCONT},
	{"vCtrlC", packet_vCtrlC, "", NULL, PACKET_WHILE_RUNNING},
	{"vFile", packet_vFile, ":", NULL, PACKET_WHILE_RUNNING | PACKET_AT_REST},
	{"vKill", packet_vKill, ";", NULL, PACKET_WHILE_RUNNING},
	{"vRun", packet_vRun, ";", "single-inf-arg+", 0},
	{"vStopped", packet_vStopped, "", NULL, PACKET_WHILE_RUNNING},
	{"x", packet_x, NULL, "binary-upload+", PACKET_ERROR_NUMBER | PACKET_AT_REST},
	{"z", packet_z, NULL, NULL, PACKET_AT_REST},
};

enum { NPACKETS = sizeof(packets) / sizeof(packets[0]) };

void packet_append_features(unsigned int disabled, struct buffer *out)
{
	for (int i = 0; i < NPACKETS; i++)
		if (packets[i].feature && !(packets[i].flags & disabled))
			buffer_printf(out, ";%s", packets[i].feature);
}

/* Moves @cursor past the row's name and separator if the packet is the row's. */
static bool matches(const struct packet *row, struct cursor *cursor)
{
	struct cursor ahead = *cursor;

	if (!cursor_text(&ahead, row->name))
		return false;
	if (row->separators && *row->separators) {
		if (cursor_left(&ahead) == 0 || *ahead.p == '\0' ||
		    !strchr(row->separators, *ahead.p))
			return false;
		ahead.p++;
	} else if (row->separators && cursor_left(&ahead) > 0) {
		return false;
	}
	*cursor = ahead;
	return true;
}

bool packets_are_in_order(void)
{
	for (int i = 1; i < NPACKETS; i++)
		if (packets[i - 1].name[0] > packets[i].name[0])
			return false;
	return true;
}

/* The first row whose name does not begin with a lower letter: the whole table is 70
 * lines of the processor's cache, which the client's own work has taken. */
static int first_row(char letter)
{
	int low = 0, high = NPACKETS;

	while (low < high) {
		const int middle = (low + high) / 2;

		if (packets[middle].name[0] < letter)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The row with the longest name that fits; NULL: an unknown packet. */
static const struct packet *find(unsigned int disabled, struct cursor packet,
				 struct cursor *args)
{
	const struct packet *best = NULL;

	if (packet.p == packet.end)
		return NULL;
	for (int i = first_row(*packet.p);
	     i < NPACKETS && packets[i].name[0] == *packet.p; i++) {
		struct cursor ahead = packet;

		if (best && strlen(best->name) >= strlen(packets[i].name))
			continue;
		if (packets[i].flags & disabled || !matches(&packets[i], &ahead))
			continue;
		best = &packets[i];
		*args = ahead;
	}
	return best;
}

static struct error *handle(const struct packet *row, struct client *client,
			    struct cursor *args, struct buffer *reply)
{
	const struct inferior *inferior = client_inferior(client);
	struct error *error = NULL;

	client->session.at_rest &= (row->flags & PACKET_AT_REST) != 0;
	if (client->session.resumed && !(row->flags & PACKET_WHILE_RUNNING))
		return error_create(0, "the program is running");
	if (inferior && row->flags & PACKET_NATIVE)
		error = compat_refuse(inferior);
	if (error)
		return error;
	if (row->flags & PACKET_ENGINES)
		run_try_engines(client->run);
	error = row->handler(client, args, reply);
	if (!error && buffer_failed(reply))
		return error_create(ENOMEM, "no reply");
	return error;
}

/*
 * "E.text" without what would have to be escaped: clients undo that in binary data,
 * not in a text.
 */
static void append_error_text(struct buffer *reply, const char *text)
{
	buffer_append_string(reply, "E.");
	for (; *text != '\0'; text++)
		if (!strchr("#$*}", *text))
			buffer_append_char(reply, *text);
}

unsigned int packet_error_number(const struct error *error)
{
	const int err = error_errno(error);

	return err > 0 && err <= UINT8_MAX ? (unsigned int)err : 1;
}

static void append_lldb_error(struct buffer *reply, const struct error *error,
			      bool with_text)
{
	buffer_printf(reply, "E%02x", packet_error_number(error));
	if (!with_text)
		return;
	buffer_append_char(reply, ';');
	buffer_append_hex(reply, error_text(error), strlen(error_text(error)));
}

static void append_error(const struct session *session, const struct packet *row,
			 const struct error *error, struct buffer *reply)
{
	if (session->lldb)
		append_lldb_error(reply, error, session->error_strings);
	else if (row->flags & PACKET_ERROR_NUMBER && !session->error_message)
		buffer_append_string(reply, "E01");
	else
		append_error_text(reply, error_text(error));
}

/* Moves the end of the packet before ";thread:ID;", the end of which may be missing.
 * False: there is none. */
static bool take_thread(struct cursor *packet, struct thread_id *id)
{
	static const char key[] = ";thread:";
	struct cursor rest = *packet;
	const char *at;

	if (cursor_left(packet) > 0 && packet->end[-1] == ';')
		rest.end--;
	at = memrchr(rest.p, ';', cursor_left(&rest));
	if (!at)
		return false;
	rest.p = at;
	if (!cursor_text(&rest, key) || !cursor_thread_id(&rest, id) ||
	    cursor_left(&rest) > 0)
		return false;
	packet->end = at;
	return true;
}

/* Of a packet that names its thread at its end. NULL: it does not, or is no such. */
static const struct packet *find_of_thread(const struct session *session,
					   struct cursor packet, struct cursor *args,
					   struct thread_id *id)
{
	const struct packet *row = NULL;

	if (session->thread_suffix && take_thread(&packet, id))
		row = find(session->disabled, packet, args);
	return row && row->flags & PACKET_OF_THREAD ? row : NULL;
}

static struct error *handle_of_thread(const struct packet *row, struct client *client,
				      const struct thread_id *id, struct cursor *args,
				      struct buffer *reply)
{
	const struct thread_id chosen = client->session.general;
	struct error *error;

	if (!threads_find(client, id))
		return error_create(ESRCH, "thread %d", id->tid);
	client->session.general = *id;
	error = handle(row, client, args, reply);
	client->session.general = chosen;
	return error;
}

void packet_dispatch(struct client *client, const char *packet, size_t len,
		     struct buffer *reply)
{
	const struct session *session = &client->session;
	const struct cursor whole = {packet, packet + len};
	struct error *error _cleanup_error_ = NULL;
	struct cursor args = {0};
	struct thread_id id;
	const struct packet *row = find_of_thread(session, whole, &args, &id);

	if (row) {
		error = handle_of_thread(row, client, &id, &args, reply);
	} else {
		row = find(session->disabled, whole, &args);
		if (!row)
			return;
		error = handle(row, client, &args, reply);
	}
	if (!error)
		return;
	log_debug(LOG_RSP, "%s: %s", row->name, error_text(error));
	buffer_reset(reply);
	append_error(session, row, error, reply);
}

void packet_renew_session(struct session *session)
{
	vfile_destroy(session->vfile);
	xfer_destroy(session->xfer);
	saved_registers_destroy(session->saved_registers);
	for (int i = 0; i < 3; i++)
		free(session->stdio[i]);
	free(session->launch_failure);
	*session = (struct session){0};
}
