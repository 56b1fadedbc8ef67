/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vFile: the client reads and writes files of this machine, over a table of
 * operations. To add an operation is to add a row.
 *
 * Source of the facts: "Debugging with GDB", appendix "Remote Protocol", Host I/O
 * Packets (replies), and File-I/O Remote Protocol Extension (numbers and struct
 * stat). Numbers in packets are hexadecimal.
 */
#include "gdbstub/packets/vfile.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "gdbstub/inferior/proc.h"
#include "gdbstub/rsp/binary.h"
#include "gdbstub/rsp/frame.h"
#include "gdbstub/packets/packet.h"
#include "gdbstub/client/client.h"

enum {
	VFILE_MAX = 64,	       /* files that a client may have open */
	REPLY_HEADER_MAX = 32, /* "Fcount;" */
};

struct vfile {
	struct inferiors *inferiors;
	int root; /* where paths begin, if another mount name space; else -1 */
	int fds[VFILE_MAX]; /* index: the client's descriptor; -1: free */
	bool has_lstat;	    /* the client asks for a link itself by "lstat" */
};

static struct vfile *vfile_create(struct inferiors *inferiors)
{
	struct vfile *vfile = malloc(sizeof(*vfile));

	if (!vfile)
		return NULL;
	vfile->inferiors = inferiors;
	vfile->root = -1;
	vfile->has_lstat = false;
	for (int i = 0; i < VFILE_MAX; i++)
		vfile->fds[i] = -1;
	return vfile;
}

void vfile_destroy(struct vfile *vfile)
{
	if (!vfile)
		return;
	cleanup_close(&vfile->root);
	for (int i = 0; i < VFILE_MAX; i++)
		cleanup_close(&vfile->fds[i]);
	free(vfile);
}

/* ---- Numbers of the protocol ---- */

/* The protocol's numbers are those of its manual, not the host's. */
static const struct {
	int host, fileio;
} errnos[] = {
	{EPERM, 1},	    {ENOENT, 2},  {EINTR, 4},	{EIO, 5},     {EBADF, 9},
	{EACCES, 13},	    {EFAULT, 14}, {EBUSY, 16},	{EEXIST, 17}, {ENODEV, 19},
	{ENOTDIR, 20},	    {EISDIR, 21}, {EINVAL, 22}, {ENFILE, 23}, {EMFILE, 24},
	{EFBIG, 27},	    {ENOSPC, 28}, {ESPIPE, 29}, {EROFS, 30},  {ENOSYS, 88},
	{ENAMETOOLONG, 91},
};

static unsigned int fileio_errno(int err)
{
	for (size_t i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		if (errnos[i].host == err)
			return (unsigned int)errnos[i].fileio;
	return 9999; /* FILEIO_EUNKNOWN */
}

/* To flags of open(2); negative: unknown ones among them. */
static int host_open_flags(uint64_t fileio)
{
	static const struct {
		unsigned int fileio;
		int host;
	} bits[] = {
		{0x8, O_APPEND},
		{0x200, O_CREAT},
		{0x400, O_TRUNC},
		{0x800, O_EXCL},
	};
	static const int access[] = {O_RDONLY, O_WRONLY, O_RDWR, -1};
	int flags = access[fileio & 3];

	fileio &= ~3ULL;
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		if (flags >= 0 && fileio & bits[i].fileio)
			flags |= bits[i].host;
		fileio &= ~(uint64_t)bits[i].fileio;
	}
	return fileio == 0 ? flags : -1;
}

/* File types that the protocol knows have the numbers that Linux has. It knows no
 * symbolic links, of which clients get the permissions alone. */
static uint32_t fileio_mode(mode_t mode)
{
	bool known = S_ISREG(mode) || S_ISDIR(mode) || S_ISCHR(mode);

	return (mode & 0777) | (known ? mode & S_IFMT : 0);
}

static void append_be32(struct buffer *out, uint64_t value)
{
	uint32_t be = htobe32((uint32_t)value);

	buffer_append(out, &be, sizeof(be));
}

static void append_be64(struct buffer *out, uint64_t value)
{
	uint64_t be = htobe64(value);

	buffer_append(out, &be, sizeof(be));
}

static void append_stat(struct buffer *out, const struct stat *st)
{
	append_be32(out, st->st_dev);
	append_be32(out, st->st_ino);
	append_be32(out, fileio_mode(st->st_mode));
	append_be32(out, st->st_nlink);
	append_be32(out, st->st_uid);
	append_be32(out, st->st_gid);
	append_be32(out, st->st_rdev);
	append_be64(out, (uint64_t)st->st_size);
	append_be64(out, (uint64_t)st->st_blksize);
	append_be64(out, (uint64_t)st->st_blocks);
	append_be32(out, (uint64_t)st->st_atime);
	append_be32(out, (uint64_t)st->st_mtime);
	append_be32(out, (uint64_t)st->st_ctime);
}

/* ---- Replies ---- */

/* @result: 0 or more, or a negative errno. */
static bool reply_result(struct buffer *reply, int64_t result)
{
	if (result < 0)
		buffer_printf(reply, "F-1,%x", fileio_errno((int)-result));
	else
		buffer_printf(reply, "F%llx", (unsigned long long)result);
	return true;
}

/* @len: bytes at @data, cut to what fits into a packet; or a negative errno. */
static bool reply_data(struct buffer *reply, const void *data, ssize_t len)
{
	size_t fit;

	if (len < 0)
		return reply_result(reply, len);
	fit = binary_fit(data, (size_t)len, RSP_PACKET_SIZE - REPLY_HEADER_MAX);
	buffer_printf(reply, "F%zx;", fit);
	buffer_append(reply, data, fit);
	return true;
}

static bool reply_stat(struct buffer *reply, int fd)
{
	_cleanup_buffer_ struct buffer data = {0};
	struct stat st;

	if (fd < 0)
		return reply_result(reply, fd);
	if (fstat(fd, &st) < 0)
		return reply_result(reply, -errno);
	append_stat(&data, &st);
	return reply_data(reply, data.data, (ssize_t)data.len);
}

/* ---- Arguments ---- */

/* A path in hex digits, up to a comma or the end; the caller frees it. */
static char *take_path(struct cursor *args)
{
	size_t len;
	char *path = cursor_hex_string(cursor_until(args, ','), &len);

	if (path && strlen(path) != len) {
		free(path);
		return NULL;
	}
	return path;
}

static bool take_number(struct cursor *args, uint64_t max, uint64_t *value)
{
	return cursor_hex(args, value) && *value <= max;
}

static bool at_end(const struct cursor *args)
{
	return cursor_left(args) == 0;
}

/* Takes a descriptor of the client. *fd: ours, or -EBADF. */
static bool take_descriptor(const struct vfile *vfile, struct cursor *args, int *fd)
{
	uint64_t index;

	if (!cursor_hex(args, &index))
		return false;
	*fd = index < VFILE_MAX && vfile->fds[index] >= 0 ? vfile->fds[index] : -EBADF;
	return true;
}

/* ---- Paths ---- */

/*
 * A new descriptor, or a negative errno. In another name space symbolic links,
 * absolute ones too, must lead to its own files: openat2(2) sees to that. Before
 * Linux 5.6 absolute ones lead to ours.
 */
static int open_path(const struct vfile *vfile, const char *path, int flags,
		     mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_IN_ROOT,
	};
	int fd;

	if (vfile->root < 0) {
		fd = open(path, flags | O_CLOEXEC, mode);
	} else {
		fd = (int)syscall(SYS_openat2, vfile->root, path, &how, sizeof(how));
		if (fd < 0 && errno == ENOSYS)
			fd = openat(vfile->root, path + strspn(path, "/"),
				    flags | O_CLOEXEC, mode);
	}
	return fd < 0 ? -errno : fd;
}

/* The folder of @path, or a negative errno. *base: the name in it. */
static int open_folder(const struct vfile *vfile, const char *path, const char **base)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX] = ".";

	*base = slash ? slash + 1 : path;
	if ((size_t)(*base - path) >= sizeof(folder))
		return -ENAMETOOLONG;
	if (slash)
		snprintf(folder, sizeof(folder), "%.*s", (int)(*base - path), path);
	return open_path(vfile, folder, O_PATH | O_DIRECTORY, 0);
}

/* The root of the mount name space of @pid: -1 if it is ours too; else a new
 * descriptor, or a negative errno in *err. */
static int open_root(pid_t pid, int *err)
{
	char path[64];
	struct stat ours, theirs;
	int fd;

	*err = 0;
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (stat("/proc/self/ns/mnt", &ours) < 0 || stat(path, &theirs) < 0) {
		*err = -errno;
		return -1;
	}
	if (ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		*err = -errno;
	return fd;
}

static pid_t task_of(const struct vfile *vfile, pid_t pid)
{
	const struct inferior *inferior = inferior_find(vfile->inferiors, pid);

	return inferior ? inferior_living_task(inferior) : pid;
}

/* ---- The operations ---- */

static bool vfile_setfs(struct vfile *vfile, struct cursor *args, struct buffer *reply)
{
	uint64_t pid;
	int root = -1, err = 0;

	if (!take_number(args, INT_MAX, &pid) || !at_end(args))
		return false;
	if (pid != 0)
		root = open_root(task_of(vfile, (pid_t)pid), &err);
	if (err < 0)
		return reply_result(reply, err);
	cleanup_close(&vfile->root);
	vfile->root = root;
	return reply_result(reply, 0);
}

static int vfile_free_slot(const struct vfile *vfile)
{
	for (int i = 0; i < VFILE_MAX; i++)
		if (vfile->fds[i] < 0)
			return i;
	return -EMFILE;
}

/* Never blocks the server, whatever the path leads to: O_NONBLOCK. */
static bool vfile_open(struct vfile *vfile, struct cursor *args, struct buffer *reply)
{
	_cleanup_free_ char *path = take_path(args);
	uint64_t fileio_flags, mode;
	int slot = vfile_free_slot(vfile), flags;

	if (!path || !cursor_char(args, ',') ||
	    !take_number(args, UINT_MAX, &fileio_flags) || !cursor_char(args, ',') ||
	    !take_number(args, UINT_MAX, &mode) || !at_end(args))
		return false;
	flags = host_open_flags(fileio_flags);
	if (flags < 0 || mode & ~(uint64_t)(S_IFREG | 0777))
		return reply_result(reply, -EINVAL);
	if (slot < 0)
		return reply_result(reply, slot);
	vfile->fds[slot] = open_path(vfile, path, flags | O_NONBLOCK | O_NOCTTY,
				     (mode_t)mode & 0777);
	return reply_result(reply, vfile->fds[slot] < 0 ? vfile->fds[slot] : slot);
}

static bool vfile_close(struct vfile *vfile, struct cursor *args, struct buffer *reply)
{
	struct cursor number = *args;
	uint64_t index;
	int fd;

	if (!take_descriptor(vfile, args, &fd) || !at_end(args))
		return false;
	if (fd < 0)
		return reply_result(reply, fd);
	cursor_hex(&number, &index);
	vfile->fds[index] = -1;
	return reply_result(reply, close(fd) < 0 ? -errno : 0);
}

static bool vfile_pread(struct vfile *vfile, struct cursor *args, struct buffer *reply)
{
	_cleanup_free_ char *data = NULL;
	uint64_t count, offset;
	ssize_t n;
	int fd;

	if (!take_descriptor(vfile, args, &fd) || !cursor_char(args, ',') ||
	    !cursor_hex(args, &count) || !cursor_char(args, ',') ||
	    !take_number(args, INT64_MAX, &offset) || !at_end(args))
		return false;
	if (fd < 0)
		return reply_result(reply, fd);
	if (count > RSP_PACKET_SIZE)
		count = RSP_PACKET_SIZE;
	data = malloc((size_t)count + 1);
	if (!data)
		return reply_result(reply, -ENOMEM);
	n = pread(fd, data, (size_t)count, (off_t)offset);
	return reply_data(reply, data, n < 0 ? -errno : n);
}

static bool vfile_pwrite(struct vfile *vfile, struct cursor *args, struct buffer *reply)
{
	uint64_t offset;
	ssize_t n;
	int fd;

	if (!take_descriptor(vfile, args, &fd) || !cursor_char(args, ',') ||
	    !take_number(args, INT64_MAX, &offset) || !cursor_char(args, ','))
		return false;
	if (fd < 0)
		return reply_result(reply, fd);
	n = pwrite(fd, args->p, cursor_left(args), (off_t)offset);
	return reply_result(reply, n < 0 ? -errno : n);
}

static bool vfile_fstat(struct vfile *vfile, struct cursor *args, struct buffer *reply)
{
	int fd;

	if (!take_descriptor(vfile, args, &fd) || !at_end(args))
		return false;
	return reply_stat(reply, fd);
}

/*
 * gdb 16 looks for links by "stat", as its gdbserver took it, and goes on to the
 * next if one leads nowhere. Its successors have "lstat" for that.
 */
static bool stat_path(struct vfile *vfile, struct cursor *args, int flags,
		      struct buffer *reply)
{
	_cleanup_free_ char *path = take_path(args);
	_cleanup_close_ int fd = -1;

	if (!path || !at_end(args))
		return false;
	fd = open_path(vfile, path, O_PATH | flags, 0);
	if (fd == -ENOENT && !vfile->has_lstat)
		fd = open_path(vfile, path, O_PATH | O_NOFOLLOW, 0);
	return reply_stat(reply, fd);
}

static bool vfile_stat(struct vfile *vfile, struct cursor *args, struct buffer *reply)
{
	return stat_path(vfile, args, 0, reply);
}

static bool vfile_lstat(struct vfile *vfile, struct cursor *args, struct buffer *reply)
{
	return stat_path(vfile, args, O_NOFOLLOW, reply);
}

static bool vfile_unlink(struct vfile *vfile, struct cursor *args, struct buffer *reply)
{
	_cleanup_free_ char *path = take_path(args);
	_cleanup_close_ int folder = -1;
	const char *base;

	if (!path || !at_end(args))
		return false;
	folder = open_folder(vfile, path, &base);
	if (folder < 0)
		return reply_result(reply, folder);
	return reply_result(reply, unlinkat(folder, base, 0) < 0 ? -errno : 0);
}

static bool vfile_readlink(struct vfile *vfile, struct cursor *args,
			   struct buffer *reply)
{
	_cleanup_free_ char *path = take_path(args);
	_cleanup_close_ int folder = -1;
	char target[PATH_MAX];
	const char *base;
	ssize_t n;

	if (!path || !at_end(args))
		return false;
	folder = open_folder(vfile, path, &base);
	if (folder < 0)
		return reply_result(reply, folder);
	n = readlinkat(folder, base, target, sizeof(target));
	return reply_data(reply, target, n < 0 ? -errno : n);
}

/* ---- The packet ---- */

static const struct vfile_operation {
	const char *name;
	const char *usage;
	/** Appends the reply; false: the arguments are malformed. */
	bool (*handler)(struct vfile *vfile, struct cursor *args, struct buffer *reply);
} operations[] = {
	{"setfs", "PID", vfile_setfs},
	{"open", "PATH,FLAGS,MODE", vfile_open},
	{"close", "FD", vfile_close},
	{"pread", "FD,COUNT,OFFSET", vfile_pread},
	{"pwrite", "FD,OFFSET,DATA", vfile_pwrite},
	{"fstat", "FD", vfile_fstat},
	{"stat", "PATH", vfile_stat},
	{"lstat", "PATH", vfile_lstat},
	{"unlink", "PATH", vfile_unlink},
	{"readlink", "PATH", vfile_readlink},
};

static const struct vfile_operation *operation_find(struct cursor name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		struct cursor rest = name;

		if (cursor_text(&rest, operations[i].name) && at_end(&rest))
			return &operations[i];
	}
	return NULL;
}

struct error *packet_vFile(struct client *client, struct cursor *args,
			   struct buffer *reply)
{
	struct session *session = &client->session;
	const struct vfile_operation *operation =
		operation_find(cursor_until(args, ':'));

	if (!operation)
		return NULL;
	if (!session->vfile)
		session->vfile = vfile_create(&client->run->inferiors);
	if (!session->vfile)
		return error_create(ENOMEM, "vFile:%s", operation->name);
	session->vfile->has_lstat = session->several_watches; /* both: since gdb 17 */
	if (!cursor_char(args, ':') || !operation->handler(session->vfile, args, reply))
		return error_create(0,
				    "vFile:%s: expected %s, paths and numbers in hex",
				    operation->name, operation->usage);
	return NULL;
}
