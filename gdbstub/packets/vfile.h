/* SPDX-License-Identifier: BSD-2-Clause */
/* vFile: files of this machine, which the client reads and writes. */
#ifndef TRUEHIT_PACKETS_VFILE_H
#define TRUEHIT_PACKETS_VFILE_H

struct vfile;

/** Closes all files that the client left open, and frees the state. */
void vfile_destroy(struct vfile *vfile);

#endif
