/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Unix socket's place in the file system. Others can put something else there at any
 * time, and only what is ours, or nobody's any more, may be removed. No system call
 * removes a file only if it is a certain one. So it is moved aside, within its
 * directory, looked at there, and put back if it is another: nothing of another's is
 * lost, but for a moment it is not at its place. It is not moved if that shows before.
 */
#ifndef TRUEHIT_RSP_SOCKET_PATH_H
#define TRUEHIT_RSP_SOCKET_PATH_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

#include "gdbstub/base/error.h"

/** The socket that we have bound; zeros: none. */
struct socket_path {
	struct sockaddr_un addr;
	bool bound;
	dev_t device;
	ino_t inode;
};

/**
 * Binds a socket there; only our own user may connect. A socket to which nobody listens
 * any more is replaced, anything else that is there is an error.
 */
struct error *socket_path_bind(struct socket_path *path, int fd, const char *name);
/**
 * Removes our socket, and nothing else. To be called while the bound socket, or one
 * that it has accepted, is open: until then no other file gets its inode number.
 */
void socket_path_remove(struct socket_path *path);

#endif
