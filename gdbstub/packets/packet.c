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

static const struct packet packets[] = {
	/* name, handler, separators, feature, flags */
	{"!", packet_extended_mode, "", NULL, 0},
	{"?", packet_stop_reason, "", "fork-events+;vfork-events+;exec-events+", 0},
	{"C", packet_C, NULL, NULL, 0},
	{"D", packet_D, NULL, NULL, PACKET_WHILE_RUNNING},
	{"G", packet_G, NULL, NULL, PACKET_NATIVE},
	{"H", packet_H, NULL, "multiprocess+", 0},
	{"M", packet_M, NULL, NULL, 0},
	{"P", packet_P, NULL, NULL, PACKET_NATIVE},
	{"QCatchSyscalls", packet_QCatchSyscalls, ":", "QCatchSyscalls+",
	 PACKET_NATIVE},
	{"QDisableRandomization", packet_QDisableRandomization, ":",
	 "QDisableRandomization+", 0},
	{"QEnvironmentHexEncoded", packet_QEnvironmentHexEncoded, ":",
	 "QEnvironmentHexEncoded+", PACKET_WHILE_RUNNING},
	{"QEnvironmentReset", packet_QEnvironmentReset, "", "QEnvironmentReset+",
	 PACKET_WHILE_RUNNING},
	{"QEnvironmentUnset", packet_QEnvironmentUnset, ":", "QEnvironmentUnset+",
	 PACKET_WHILE_RUNNING},
	{"QListThreadsInStopReply", packet_wants_every_write, "", NULL,
	 PACKET_WHILE_RUNNING},
	{"QMemTags", packet_QMemTags, ":", "memory-tagging+", DISABLE_MEMORY_TAGS},
	{"QNonStop", packet_QNonStop, ":", "QNonStop+", 0},
	{"QPassSignals", packet_QPassSignals, ":", "QPassSignals+", 0},
	{"QProgramSignals", packet_QProgramSignals, ":", "QProgramSignals+", 0},
	{"QSetWorkingDir", packet_QSetWorkingDir, ":", "QSetWorkingDir+",
	 PACKET_WHILE_RUNNING},
	{"QStartNoAckMode", packet_QStartNoAckMode, "", "QStartNoAckMode+",
	 PACKET_WHILE_RUNNING | DISABLE_NO_ACK},
	{"QStartupWithShell", packet_QStartupWithShell, ":", "QStartupWithShell+",
	 PACKET_WHILE_RUNNING},
	{"QTDV", packet_QTDV, ":", NULL, PACKET_WHILE_RUNNING},
	{"QThreadEvents", packet_QThreadEvents, ":", "QThreadEvents+",
	 PACKET_WHILE_RUNNING},
	{"QThreadOptions", packet_QThreadOptions, ";", "QThreadOptions=3",
	 PACKET_WHILE_RUNNING},
	{"QThreadSuffixSupported", packet_wants_every_write, "", NULL,
	 PACKET_WHILE_RUNNING},
	{"QTruehit.WatchCondition", packet_QTruehit_WatchCondition, ":",
	 "QTruehit.WatchCondition+", 0},
	{"R", packet_R, NULL, NULL, 0},
	{"S", packet_S, NULL, NULL, 0},
	{"T", packet_T, NULL, NULL, PACKET_WHILE_RUNNING},
	{"X", packet_X, NULL, NULL, 0},
	{"Z", packet_Z, NULL,
	 "swbreak+;hwbreak+;ConditionalBreakpoints+;BreakpointCommands+",
	 PACKET_NATIVE},
	{"c", packet_c, NULL, NULL, 0},
	{"g", packet_g, "", NULL, 0},
	{"k", packet_k, NULL, NULL, PACKET_WHILE_RUNNING},
	{"m", packet_m, NULL, NULL, PACKET_ERROR_NUMBER},
	{"p", packet_p, NULL, NULL, 0},
	{"qAttached", packet_qAttached, NULL, NULL, 0},
	{"qC", packet_qC, "", NULL, DISABLE_QC},
	{"qCRC", packet_qCRC, ":", NULL, PACKET_ERROR_NUMBER},
	{"qExecAndArgs", packet_qExecAndArgs, "", NULL, PACKET_WHILE_RUNNING},
	{"qGetTLSAddr", packet_qGetTLSAddr, ":", NULL, PACKET_NATIVE},
	{"qMemTags", packet_qMemTags, ":", NULL, DISABLE_MEMORY_TAGS},
	{"qRcmd", packet_qRcmd, ",", NULL, PACKET_ERROR_NUMBER},
	{"qSearch:memory", packet_qSearch_memory, ":", NULL, PACKET_ERROR_NUMBER},
	{"qSupported", packet_qSupported, NULL, NULL, PACKET_WHILE_RUNNING},
	{"qSymbol", packet_qSymbol, ":", NULL, 0},
	{"qTV", packet_qTV, ":", NULL, PACKET_WHILE_RUNNING},
	{"qThreadExtraInfo", packet_qThreadExtraInfo, ",", NULL, 0},
	{"qXfer", packet_qXfer, ":", NULL, 0},
	{"qfThreadInfo", packet_qfThreadInfo, "", NULL, DISABLE_QFTHREADINFO},
	{"qsThreadInfo", packet_qsThreadInfo, "", NULL, 0},
	{"s", packet_s, NULL, NULL, 0},
	{"vAttach", packet_vAttach, ";", NULL, 0},
	{"vCont", packet_vCont, ";", "vContSupported+;no-resumed+", DISABLE_VCONT},
	{"vCont?", packet_vCont_query, "", NULL, DISABLE_VCONT},
	{"vCtrlC", packet_vCtrlC, "", NULL, PACKET_WHILE_RUNNING},
	{"vFile", packet_vFile, ":", NULL, PACKET_WHILE_RUNNING},
	{"vKill", packet_vKill, ";", NULL, PACKET_WHILE_RUNNING},
	{"vRun", packet_vRun, ";", "single-inf-arg+", 0},
	{"vStopped", packet_vStopped, "", NULL, PACKET_WHILE_RUNNING},
	{"x", packet_x, NULL, "binary-upload+", PACKET_ERROR_NUMBER},
	{"z", packet_z, NULL, NULL, 0},
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

/* The row with the longest name that fits; NULL: an unknown packet. */
static const struct packet *find(unsigned int disabled, struct cursor packet,
				 struct cursor *args)
{
	const struct packet *best = NULL;

	for (int i = 0; i < NPACKETS; i++) {
		struct cursor ahead = packet;

		/* Most are none of these: spares looking at the rest. */
		if (packet.p == packet.end || packets[i].name[0] != *packet.p)
			continue;
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

	if (client->session.resumed && !(row->flags & PACKET_WHILE_RUNNING))
		return error_create(0, "the program is running");
	if (inferior && row->flags & PACKET_NATIVE)
		error = compat_refuse(inferior);
	if (error)
		return error;
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

void packet_dispatch(struct client *client, const char *packet, size_t len,
		     struct buffer *reply)
{
	struct cursor args = {0};
	const struct packet *row = find(client->session.disabled,
					(struct cursor){packet, packet + len}, &args);
	struct error *error _cleanup_error_ = NULL;

	if (!row)
		return;
	error = handle(row, client, &args, reply);
	if (!error)
		return;
	log_debug(LOG_RSP, "%s: %s", row->name, error_text(error));
	buffer_reset(reply);
	if (row->flags & PACKET_ERROR_NUMBER && !client->session.error_message)
		buffer_append_string(reply, "E01");
	else
		append_error_text(reply, error_text(error));
}

void packet_renew_session(struct session *session)
{
	vfile_destroy(session->vfile);
	xfer_destroy(session->xfer);
	*session = (struct session){0};
}
