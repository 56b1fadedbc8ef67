/* SPDX-License-Identifier: BSD-2-Clause */
#include "gdbstub/rsp/connection.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#include "gdbstub/base/buffer.h"
#include "gdbstub/base/log.h"
#include "gdbstub/rsp/frame.h"

enum {
	READ_SIZE = 65536,
	/* A client with so much unread gets no more of its requests served. */
	OUT_LIMIT = 4 * RSP_PACKET_SIZE,
	/* One that leaves so much unread or unacknowledged is given up. A single
	 * request can have a long reply: a table of all breakpoints by thread. */
	UNSENT_LIMIT = 32 * 1024 * 1024,
	TRACE_MAX = 1024,
	DELIVERY_CHECK =
		10, /* ms: no event tells that the kernel has got rid of bytes */
};

struct connection {
	int in_fd, out_fd;
	struct frame_decoder decoder;
	struct buffer in; /* read; bytes before in_pos are done with */
	size_t in_pos;
	struct buffer out;     /* to be written */
	struct buffer last;    /* the last packet as sent, for '-' */
	struct buffer waiting; /* packets to be sent once that is acknowledged */
	bool unacknowledged;   /* the last packet */
	bool no_ack;
	bool is_socket;
	bool eof;    /* the client sends no more */
	bool broken; /* nothing can be sent any more */
};

static bool is_socket(int fd)
{
	socklen_t len = sizeof(int);
	int type;

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0;
}

struct connection *connection_create(int in_fd, int out_fd)
{
	struct connection *connection = calloc(1, sizeof(*connection));

	if (!connection) {
		close(in_fd);
		if (out_fd >= 0)
			close(out_fd);
		return NULL;
	}
	connection->in_fd = in_fd;
	connection->out_fd = out_fd < 0 ? in_fd : out_fd;
	connection->is_socket = is_socket(in_fd) && is_socket(connection->out_fd);
	frame_decoder_init(&connection->decoder, RSP_PACKET_SIZE);
	return connection;
}

void connection_destroy(struct connection *connection)
{
	if (!connection)
		return;
	close(connection->in_fd);
	if (connection->out_fd != connection->in_fd)
		close(connection->out_fd);
	frame_decoder_deinit(&connection->decoder);
	buffer_deinit(&connection->in);
	buffer_deinit(&connection->out);
	buffer_deinit(&connection->last);
	buffer_deinit(&connection->waiting);
	free(connection);
}

/* "<- text" with unprintable bytes as \xNN. */
static void trace(const char *direction, const char *data, size_t len)
{
	struct buffer text _cleanup_buffer_ = {0};

	if (!log_enabled(LOG_RSP))
		return;
	for (size_t i = 0; i < len && i < TRACE_MAX; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c >= ' ' && c <= '~')
			buffer_append_char(&text, (char)c);
		else
			buffer_printf(&text, "\\x%02x", c);
	}
	log_debug(LOG_RSP, "%s %s%s", direction, buffer_string(&text),
		  len > TRACE_MAX ? "..." : "");
}

static bool congested(const struct connection *connection)
{
	return connection->out.len > OUT_LIMIT;
}

unsigned int connection_poll(const struct connection *connection, struct pollfd *fds)
{
	const bool waits = connection->out.len > 0;

	fds[0] = (struct pollfd){.fd = connection->in_fd,
				 .events = congested(connection) ? 0 : POLLIN};
	if (!waits && connection->out_fd == connection->in_fd)
		return 1;
	fds[1] = (struct pollfd){.fd = connection->out_fd,
				 .events = waits ? POLLOUT : 0};
	return 2;
}

static bool would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* For sockets, read(2) and write(2) go a longer way through the kernel. */
static ssize_t receive(const struct connection *connection, void *data, size_t len)
{
	return connection->is_socket ? recv(connection->in_fd, data, len, MSG_DONTWAIT)
				     : read(connection->in_fd, data, len);
}

static ssize_t transfer(const struct connection *connection, const void *data,
			size_t len)
{
	return connection->is_socket ? send(connection->out_fd, data, len,
					    MSG_DONTWAIT | MSG_NOSIGNAL)
				     : write(connection->out_fd, data, len);
}

static void write_out(struct connection *connection)
{
	struct buffer *out = &connection->out;

	while (out->len > 0 && !connection->broken) {
		ssize_t n = transfer(connection, out->data, out->len);

		if (n < 0 && would_block())
			return;
		if (n < 0)
			connection->broken = true;
		else
			buffer_consume(out, (size_t)n);
	}
}

/* Has something come? */
static bool read_in(struct connection *connection)
{
	char chunk[READ_SIZE];
	ssize_t n;

	if (connection->eof)
		return false;
	n = receive(connection, chunk, sizeof(chunk));
	if (n < 0 && would_block())
		return false;
	if (n <= 0) {
		connection->eof = true;
		return true;
	}
	buffer_consume(&connection->in, connection->in_pos);
	connection->in_pos = 0;
	buffer_append(&connection->in, chunk, (size_t)n);
	if (buffer_failed(&connection->in)) {
		log_warning("no memory for the client's packets");
		connection->broken = true;
	}
	return true;
}

bool connection_io(struct connection *connection)
{
	write_out(connection);
	return !congested(connection) && read_in(connection);
}

static void give_up(struct connection *connection, const char *reason)
{
	if (!connection->broken)
		log_warning("%s", reason);
	connection->broken = true;
}

static void check_unsent(struct connection *connection)
{
	if (buffer_failed(&connection->out) || buffer_failed(&connection->waiting))
		give_up(connection, "no memory for a reply to the client");
	else if (connection_unsent(connection) > UNSENT_LIMIT)
		give_up(connection, "the client reads or acknowledges nothing of what "
				    "it asks for: it is given up");
}

/* Mostly the client takes all at once. */
static size_t write_at_once(struct connection *connection, const char *data, size_t len)
{
	ssize_t n;

	if (connection->out.len > 0)
		return 0;
	n = transfer(connection, data, len);
	if (n < 0 && !would_block())
		connection->broken = true;
	return n > 0 ? (size_t)n : 0;
}

static void queue(struct connection *connection, const char *data, size_t len)
{
	size_t written;

	if (connection->broken)
		return;
	written = write_at_once(connection, data, len);
	if (written == len)
		return;
	buffer_append(&connection->out, data + written, len - written);
	check_unsent(connection);
	write_out(connection);
}

/* It is in connection->last. */
static void transmit_last(struct connection *connection)
{
	connection->unacknowledged = !connection->no_ack;
	queue(connection, connection->last.data, connection->last.len);
}

static void transmit(struct connection *connection, const char *frame, size_t len)
{
	buffer_reset(&connection->last);
	buffer_append(&connection->last, frame, len);
	if (buffer_failed(&connection->last))
		give_up(connection, "no memory for a reply to the client");
	else
		transmit_last(connection);
}

/* '#' ends a frame, two digits follow; within it, '#' is escaped. */
static size_t frame_length(const struct buffer *frames)
{
	const char *end = memchr(frames->data, '#', frames->len);

	return end ? (size_t)(end - frames->data) + 3 : frames->len;
}

static void on_acknowledged(struct connection *connection)
{
	struct buffer *waiting = &connection->waiting;

	connection->unacknowledged = false;
	while (waiting->len > 0 && !connection->unacknowledged && !connection->broken) {
		size_t len = frame_length(waiting);

		transmit(connection, waiting->data, len);
		buffer_consume(waiting, len);
	}
}

/* Only one packet may be on its way: '-' does not say which is meant. */
void connection_send(struct connection *connection, const void *payload, size_t len)
{
	struct buffer *frames =
		connection->unacknowledged ? &connection->waiting : &connection->last;

	if (connection->broken)
		return;
	trace("->", payload, len);
	if (!connection->unacknowledged)
		buffer_reset(frames);
	frame_encode(frames, FRAME_START_PACKET, payload, len);
	if (buffer_failed(frames)) {
		give_up(connection, "no memory for a reply to the client");
	} else if (connection->unacknowledged) {
		check_unsent(connection);
	} else {
		transmit_last(connection);
	}
}

void connection_notify(struct connection *connection, const void *payload, size_t len)
{
	struct buffer packet _cleanup_buffer_ = {0};

	trace("-> %", payload, len);
	frame_encode(&packet, FRAME_START_NOTIFICATION, payload, len);
	if (buffer_failed(&packet)) {
		give_up(connection, "no memory for a notification to the client");
		return;
	}
	queue(connection, packet.data, packet.len);
}

static void acknowledge(struct connection *connection, bool good)
{
	if (!connection->no_ack)
		queue(connection, good ? "+" : "-", 1);
}

/* Who asks for something has what it was sent. */
static void take_request(struct connection *connection)
{
	acknowledge(connection, true);
	on_acknowledged(connection);
}

/* The client waits for a reply to what we could not read. */
static void refuse(struct connection *connection, const char *reason)
{
	log_debug(LOG_RSP, "refused: %s", reason);
	take_request(connection);
	connection_send(connection, reason, strlen(reason));
}

/* If the last packet is still to be written, the client cannot have seen it. */
static void send_again(struct connection *connection)
{
	if (!connection->no_ack && connection->out.len == 0)
		queue(connection, connection->last.data, connection->last.len);
}

static void bad_checksum(struct connection *connection)
{
	/* Without acknowledgements the client will not send it again. */
	if (connection->no_ack)
		refuse(connection, "E.the packet's checksum is wrong");
	else
		acknowledge(connection, false);
}

static bool take_event(struct connection *connection, enum frame_event event)
{
	switch (event) {
	case FRAME_PACKET:
		take_request(connection);
		return true;
	case FRAME_INTERRUPT:
		return true;
	case FRAME_NAK:
		send_again(connection);
		return false;
	case FRAME_BAD_CHECKSUM:
		bad_checksum(connection);
		return false;
	case FRAME_TOO_LONG:
		refuse(connection, "E.the packet is longer than PacketSize");
		return false;
	case FRAME_MALFORMED:
		refuse(connection, "E.the packet has a misplaced escape or run length");
		return false;
	case FRAME_ACK:
		on_acknowledged(connection);
		return false;
	case FRAME_NONE:
		break;
	}
	return false;
}

enum connection_event connection_next(struct connection *connection,
				      struct cursor *packet)
{
	const struct buffer *in = &connection->in;

	while (connection->in_pos < in->len && !connection->broken &&
	       !congested(connection)) {
		const char *p = in->data + connection->in_pos;
		enum frame_event event =
			frame_decode(&connection->decoder, &p, in->data + in->len);
		const struct buffer *payload = &connection->decoder.packet;

		connection->in_pos = (size_t)(p - in->data);
		if (!take_event(connection, event))
			continue;
		if (event == FRAME_INTERRUPT) {
			log_debug(LOG_RSP, "<- interrupt");
			return CONNECTION_INTERRUPT;
		}
		trace("<-", buffer_string(payload), payload->len);
		packet->p = buffer_string(payload);
		packet->end = packet->p + payload->len;
		return CONNECTION_PACKET;
	}
	return connection->eof || connection->broken ? CONNECTION_GONE
						     : CONNECTION_NOTHING;
}

void connection_set_no_ack(struct connection *connection)
{
	connection->no_ack = true;
	on_acknowledged(connection);
}

bool connection_has_input(const struct connection *connection)
{
	return connection->in_pos < connection->in.len;
}

int connection_input(const struct connection *connection)
{
	return connection->in_fd;
}

size_t connection_unsent(const struct connection *connection)
{
	return connection->out.len + connection->waiting.len;
}

/* What the kernel still has to bring to the other end. */
static size_t undelivered(const struct connection *connection)
{
	int unsent = 0;

	if (connection->broken)
		return 0;
	if (ioctl(connection->out_fd, SIOCOUTQ, &unsent) < 0)
		unsent = 0; /* a pipe: it outlives us */
	return connection_unsent(connection) + (size_t)unsent;
}

bool connection_delivered(const struct connection *connection)
{
	return undelivered(connection) == 0;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Acknowledgements count; requests come too late. */
static void discard_requests(struct connection *connection)
{
	struct cursor packet;
	enum connection_event event;

	do
		event = connection_next(connection, &packet);
	while (event == CONNECTION_PACKET || event == CONNECTION_INTERRUPT);
	if (connection->eof) /* nothing will be acknowledged any more */
		connection_set_no_ack(connection);
}

/* Until something can be done. False: the client is gone. */
static bool wait_for_client(const struct connection *connection)
{
	struct pollfd fds[CONNECTION_POLL_FDS];
	const unsigned int count = connection_poll(connection, fds);
	const struct pollfd *output = &fds[count - 1];

	/* At its end, input would always be ready. */
	if (connection->eof && count > 1)
		fds[0].fd = -1;
	else if (connection->eof)
		fds[0].events = 0;
	poll(fds, count, DELIVERY_CHECK);
	return !(output->revents & (POLLERR | POLLHUP));
}

/* Reads, too: closing a socket that holds unread bytes resets it, and what is on its
 * way is gone. */
void connection_drain(struct connection *connection, int patience)
{
	int64_t end = now_ms() + patience;
	size_t left = SIZE_MAX;

	do {
		size_t before = left;

		connection_io(connection);
		discard_requests(connection);
		left = undelivered(connection);
		if (left < before)
			end = now_ms() + patience;
	} while (left > 0 && now_ms() < end && wait_for_client(connection));
}
