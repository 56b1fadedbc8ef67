/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of system calls. */
#ifndef TRUEHIT_INFERIOR_SYSCALL_NAME_H
#define TRUEHIT_INFERIOR_SYSCALL_NAME_H

/** The name of a system call, or NULL if it is not known. */
const char *syscall_name(int number);

#endif
