# SPDX-License-Identifier: BSD-2-Clause
"""What a client and a server say to each other, to be repeated by replay.c."""
import re
import selectors
import socket
import threading

PACKET = re.compile(rb"\$[^#]*#..", re.S)
CHUNK = 1 << 16


class Recorder:
    """Stands between one client and a server, at .address, while the block lasts, and
    writes a file for replay.c."""

    def __init__(self, server_port, path):
        self.file = open(path, "wb")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f":{self.listener.getsockname()[1]}"
        self.server = socket.create_connection(("127.0.0.1", server_port))
        self.packet, self.answer = b"", bytearray()  # and what was sent after it
        self.unread = b""
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *exception):
        self.thread.join()
        self.keep()
        self.file.close()
        self.server.close()
        self.listener.close()

    def run(self):
        client, _ = self.listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector = selectors.DefaultSelector()
        selector.register(client, selectors.EVENT_READ, (self.server, self.on_client))
        selector.register(self.server, selectors.EVENT_READ, (client, self.on_server))
        try:
            while True:
                for key, _ in selector.select():
                    data = key.fileobj.recv(CHUNK)
                    if not data:
                        return
                    other, note = key.data
                    note(data)
                    other.sendall(data)
        except OSError:
            pass  # one of them has gone
        finally:
            client.close()

    def keep(self):
        if self.packet:
            self.file.write(b"%d %d\n%b%b" % (len(self.packet), len(self.answer),
                                              self.packet, self.answer))

    def on_client(self, data):
        self.unread += data
        while match := PACKET.search(self.unread):
            self.keep()
            self.unread = self.unread[match.end():]
            self.packet, self.answer = match.group(0), bytearray()

    def on_server(self, data):
        self.answer += data
