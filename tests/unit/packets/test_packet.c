/* SPDX-License-Identifier: BSD-2-Clause */
#include <criterion/criterion.h>

#include "gdbstub/packets/packet.h"

/* A row out of its order would not be found. */
Test(packet, the_table_is_in_order)
{
	cr_expect(packets_are_in_order());
}
