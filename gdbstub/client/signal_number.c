/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/client/signal_number.h"

#include "gdbstub/inferior/signals.h"
#include "gdbstub/control/run_state.h"

int signal_number(const struct session *session, int host)
{
	return session->thread_suffix ? host : signal_to_gdb(host);
}

int signal_numbered(const struct session *session, uint64_t number)
{
	if (session->thread_suffix)
		return number < SIGNALS_MAX ? (int)number : -1;
	return number <= INT16_MAX ? signal_from_gdb((int)number) : -1;
}
