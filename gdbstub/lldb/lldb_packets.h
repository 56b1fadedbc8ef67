/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that lldb sends and gdb does not; rows of the table in
 * gdbstub/packets/packet.c.
 *
 * Source of the facts: lldb's docs/resources/lldbgdbremote.md; what it does not say, by
 * looking at what lldb 14 and lldb-server 14 send each other.
 */
#ifndef TRUEHIT_LLDB_LLDB_PACKETS_H
#define TRUEHIT_LLDB_LLDB_PACKETS_H

#include "gdbstub/client/handler.h"

/* lldb_settings.c: what it would like to have */
packet_handler packet_QThreadSuffixSupported, packet_QListThreadsInStopReply,
	packet_QEnableErrorStrings, packet_qEcho, packet_qGDBServerVersion;
/* lldb_host.c: the machine and the process */
packet_handler packet_qHostInfo, packet_qProcessInfo, packet_qGetPid,
	packet_qGetWorkingDir, packet_qWatchpointSupportInfo;
/* lldb_threads.c: why threads have stopped */
packet_handler packet_jThreadsInfo, packet_qThreadStopInfo;
/* lldb_memory.c: what is where, reading at several places, and memory of lldb's own */
packet_handler packet_qMemoryRegionInfo, packet_MultiMemRead, packet__M, packet__m;
/* saved_registers.c */
packet_handler packet_QSaveRegisterState, packet_QRestoreRegisterState;
/* lldb_modules.c: the files of programs and libraries */
packet_handler packet_qShlibInfoAddr, packet_qFileLoadAddress, packet_qModuleInfo,
	packet_jModulesInfo;
/* lldb_launch.c: starting programs */
packet_handler packet_A, packet_qLaunchSuccess, packet_QSetSTDIN, packet_QSetSTDOUT,
	packet_QSetSTDERR, packet_QSetDisableASLR, packet_QEnvironment, packet_I;
/* lldb_attach.c: attaching by name */
packet_handler packet_vAttachName, packet_vAttachWait, packet_vAttachOrWait,
	packet_qVAttachOrWaitSupported;

#endif
