/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One client: bytes in and out, never blocking. Acknowledges packets, and sends
 * the last one again when the client asks. While acknowledgements are used, a packet
 * waits until the one before it is acknowledged. A client that asks for more and more,
 * and takes or acknowledges nothing, is taken for one that has gone.
 */
#ifndef TRUEHIT_RSP_CONNECTION_H
#define TRUEHIT_RSP_CONNECTION_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#include "gdbstub/rsp/parse.h"

struct connection;

/** Takes the (non-blocking) descriptors over; @out_fd -1: the same as @in_fd.
 * NULL: out of memory (the descriptors are closed then). */
struct connection *connection_create(int in_fd, int out_fd);
/** Closes; what was not written is lost. NULL is legal. */
void connection_destroy(struct connection *connection);

enum { CONNECTION_POLL_FDS = 2 };
/** Fills in at most CONNECTION_POLL_FDS rows, input's first; returns their number. A
 * socket is looked at twice only while output waits. */
unsigned int connection_poll(const struct connection *connection, struct pollfd *fds);
/** Takes what poll saw: reads and writes as much as goes without waiting. Has anything
 * come, or the end of input? */
bool connection_io(struct connection *connection);

enum connection_event {
	CONNECTION_NOTHING,
	CONNECTION_PACKET,
	CONNECTION_INTERRUPT, /* 0x03 */
	CONNECTION_GONE,      /* the client has gone, and all it sent was taken */
};
/** The next thing that the client sent. The packet is valid until the next call.
 * Damaged packets are answered here. */
enum connection_event connection_next(struct connection *connection,
				      struct cursor *packet);

/** Sends a packet with this payload; kept until the client takes it. */
void connection_send(struct connection *connection, const void *payload, size_t len);
/** Sends a notification with this payload ("Stop:..."): no reply to any packet. */
void connection_notify(struct connection *connection, const void *payload, size_t len);
/** QStartNoAckMode: neither sends nor heeds acknowledgements from now on. */
void connection_set_no_ack(struct connection *connection);
/** Are there bytes of requests that connection_next has not looked at? */
bool connection_has_input(const struct connection *connection);
/** The descriptor that requests are read from, to see that the client goes
 * (gdbstub/base/patience.h). */
int connection_input(const struct connection *connection);
/** Bytes of packets that were sent, but that the kernel has not taken yet. */
size_t connection_unsent(const struct connection *connection);
/** Has the client's side (its kernel, at least) all that was sent? Or is it gone? */
bool connection_delivered(const struct connection *connection);
/**
 * Waits for that, as long as it does not take the client more than @patience
 * milliseconds to read on. What it sends meanwhile is dropped.
 */
void connection_drain(struct connection *connection, int patience);

#endif
