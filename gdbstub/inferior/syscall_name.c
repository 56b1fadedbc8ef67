/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/inferior/syscall_name.h"

#include <asm/unistd.h>
#include <stddef.h>

#include "gdbstub/inferior/syscalls.h"

/* The cases are made of the kernel's header, by Makefile.am; linters do without. */
const char *syscall_name(int number)
{
	switch (number) {
#if __has_include("syscall_names.h")
#include "syscall_names.h"
#endif
	default:
		return NULL;
	}
}
