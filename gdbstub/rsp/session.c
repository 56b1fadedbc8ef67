/* SPDX-License-Identifier: BSD-2-Clause */
#include "rsp/session.h"

#include "rsp/vfile.h"
#include "rsp/xfer.h"

void session_init(struct session *session)
{
	*session = (struct session){0};
}

void session_deinit(struct session *session)
{
	vfile_destroy(session->vfile);
	xfer_destroy(session->xfer);
	session_init(session);
}
