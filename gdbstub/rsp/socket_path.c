/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/rsp/socket_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "gdbstub/base/log.h"

static int set_address(struct sockaddr_un *addr, const char *name)
{
	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(name) >= sizeof(addr->sun_path))
		return -ENAMETOOLONG;
	memcpy(addr->sun_path, name, strlen(name) + 1);
	return 0;
}

/* ---- what is there ---- */

/*
 * Does a server have this socket? Asked with the wrong type of socket, so that it
 * sees no client come and go: EPROTOTYPE then, and ECONNREFUSED if nobody has it.
 */
static bool somebody_listens(const char *name)
{
	int fd _cleanup_close_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr;

	return fd < 0 || set_address(&addr, name) < 0 ||
	       connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) == 0 ||
	       errno != ECONNREFUSED;
}

static bool is_stale(const char *name, const struct socket_path *ours)
{
	struct stat st;

	(void)ours;
	return lstat(name, &st) == 0 && S_ISSOCK(st.st_mode) && !somebody_listens(name);
}

static bool is_ours(const char *name, const struct socket_path *ours)
{
	struct stat st;

	return lstat(name, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       st.st_dev == ours->device && st.st_ino == ours->inode;
}

/* ---- removing it ---- */

static int move(const char *from, const char *to)
{
	return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) < 0 ? -errno
									     : 0;
}

/* To a name that nobody has. File systems that cannot do that have EINVAL. */
static int move_aside(const char *name, char *aside, size_t size)
{
	int err = -EEXIST;

	for (unsigned int i = 0; err == -EEXIST && i < 100; i++) {
		if (snprintf(aside, size, "%s.%d.%u", name, getpid(), i) >= (int)size)
			return -ENAMETOOLONG;
		err = move(name, aside);
	}
	return err;
}

/* Removes what is there if it is the right thing. 0 or a negative errno. */
static int remove_if(const char *name,
		     bool (*is_right)(const char *name, const struct socket_path *ours),
		     const struct socket_path *ours)
{
	char aside[sizeof(ours->addr.sun_path)];
	int err;

	if (!is_right(name, ours))
		return -EBUSY;
	err = move_aside(name, aside, sizeof(aside));
	if (err == -EINVAL || err == -ENAMETOOLONG) /* then without a second look */
		return unlink(name) < 0 ? -errno : 0;
	if (err < 0)
		return err;
	if (is_right(aside, ours))
		return unlink(aside) < 0 ? -errno : 0;
	err = move(aside, name);
	if (err < 0)
		log_warning("%s, which was at %s, cannot be put back: %s", aside, name,
			    strerror(-err));
	return -EBUSY;
}

static struct error *bind_error(const char *name, int err)
{
	return error_create(0, "%s: Can't bind address: %s.", name, strerror(err));
}

static struct error *make_room(const char *name)
{
	struct stat st;
	int err;

	if (lstat(name, &st) < 0)
		return NULL;
	if (!S_ISSOCK(st.st_mode))
		return error_create(0, "%s exists and is not a socket", name);
	err = remove_if(name, is_stale, NULL);
	if (err == -EBUSY)
		return bind_error(name, EADDRINUSE);
	if (err < 0 && err != -ENOENT)
		return error_create(-err, "cannot replace %s", name);
	return NULL;
}

/* ---- the socket ---- */

/* Who may connect may do everything that we may do. */
static int bind_private(int fd, const struct sockaddr_un *addr)
{
	mode_t mask = umask(0177);
	int ret = bind(fd, (const struct sockaddr *)addr, sizeof(*addr));

	umask(mask);
	return ret;
}

struct error *socket_path_bind(struct socket_path *path, int fd, const char *name)
{
	struct error *error;
	struct stat st;

	*path = (struct socket_path){.bound = false};
	if (set_address(&path->addr, name) < 0)
		return bind_error(name, ENAMETOOLONG);
	error = make_room(name);
	if (error)
		return error;
	if (bind_private(fd, &path->addr) < 0)
		return bind_error(name, errno);
	if (lstat(name, &st) < 0)
		return error_create(errno, "%s is gone already", name);
	path->device = st.st_dev;
	path->inode = st.st_ino;
	path->bound = true;
	return NULL;
}

void socket_path_remove(struct socket_path *path)
{
	int err;

	if (!path->bound)
		return;
	path->bound = false;
	err = remove_if(path->addr.sun_path, is_ours, path);
	if (err < 0)
		log_debug(LOG_SERVER, "%s is left: %s", path->addr.sun_path,
			  err == -EBUSY ? "it is not our socket" : strerror(-err));
}
