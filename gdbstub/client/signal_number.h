/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers of signals as the client knows them. Those of the protocol are gdb's own.
 * lldb takes a server that knows thread suffixes for lldb-server, which tells the
 * host's (GDBRemoteCommunicationClient::UsesNativeSignals).
 */
#ifndef TRUEHIT_CLIENT_SIGNAL_NUMBER_H
#define TRUEHIT_CLIENT_SIGNAL_NUMBER_H

#include <stdint.h>

#include "gdbstub/client/session.h"

/** Of a host's signal; 0: of none. */
int signal_number(const struct session *session, int host);
/** The host's of a client's; 0: none; -1: there is no such signal here. */
int signal_numbered(const struct session *session, uint64_t number);

#endif
