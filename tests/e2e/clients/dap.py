# SPDX-License-Identifier: BSD-2-Clause
"""A client of debug adapters, as an editor is: the Debug Adapter Protocol, by the streams of
an adapter."""
import json
import os
import re
import shutil
import subprocess

import harness

HEAD = re.compile(rb"Content-Length: (\d+)\r\n\r\n")
PREPARATIONS = ("set debuginfod enabled off", "set debug-file-directory", "set sysroot",
                "set width 0", "set height 0")


class Adapter:
    """A debug adapter, and what came from it: its output is a file."""

    def __init__(self, t, argv, env=None):
        self.t = t
        self.adapter = harness.Process(t, argv, stdin=subprocess.PIPE, env=env)
        self.sent = self.read = 0
        self.messages = []
        self.after = {}  # event: how many messages were there when one was taken last

    def receive(self):
        """Takes what has come meanwhile."""
        data = self.adapter.log.read_bytes()
        while head := HEAD.search(data, self.read):
            end = head.end() + int(head.group(1))
            if len(data) < end:
                break
            self.messages.append(json.loads(data[head.end():end]))
            self.read = end

    def wait(self, look, what):
        """What look() finds in the messages."""
        def receive_and_look():
            # The state is read first: what was written before the end is seen.
            ended = self.adapter.process.poll() is not None
            self.receive()
            found = look()
            if found is None and ended:
                raise harness.Failure(f"the adapter has ended before {what}")
            return None if found is None else (found,)  # which may be an empty body
        return harness.wait_for(receive_and_look, what)[0]

    def send(self, command, **arguments):
        """Returns the number by which response() knows it."""
        self.sent += 1
        body = json.dumps({"type": "request", "seq": self.sent, "command": command,
                           "arguments": arguments}).encode()
        self.adapter.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.adapter.process.stdin.flush()
        return self.sent

    def response(self, number):
        return self.wait(lambda: next(
            (m for m in self.messages if m["type"] == "response"
             and m["request_seq"] == number), None), f"response {number}")

    def ask(self, command, **arguments):
        """The body of the response to a request, which has to succeed."""
        response = self.response(self.send(command, **arguments))
        if not response["success"]:
            raise harness.Failure(f"{command}: {response.get('message')}: "
                                  f"{response.get('body')}")
        return response.get("body") or {}

    def event(self, name):
        """The body of the next event of that name after the one that was taken last."""
        def look():
            for index in range(self.after.get(name, 0), len(self.messages)):
                if self.messages[index].get("event") == name:
                    self.after[name] = index + 1
                    return self.messages[index].get("body") or {}
            return None
        return self.wait(look, f"the event {name}")

    def events(self, name):
        """All that have come so far."""
        self.receive()
        return [m.get("body") or {} for m in self.messages if m.get("event") == name]

    def output(self, category=None, since=0):
        """The text that the editor was to show."""
        self.receive()
        return "".join(m["body"]["output"] for m in self.messages[since:]
                       if m.get("event") == "output"
                       and category in (None, m["body"].get("category")))

    def close(self):
        """The end of the session; the adapter ends."""
        self.adapter.process.stdin.close()
        self.adapter.wait()


class Editor(Adapter):
    """What an editor does, in the order in which editors do it."""

    def begin(self, request, arguments, breakpoints=(), functions=()):
        """breakpoints: pairs of a source and a list, as set() takes them."""
        self.ask("initialize", adapterID="e2e", clientID="e2e", linesStartAt1=True,
                 columnsStartAt1=True, pathFormat="path")
        begun = self.send(request, **arguments)
        self.event_or_failure("initialized", begun)
        placed = [self.set(source, wanted) for source, wanted in breakpoints]
        if functions:
            placed.append(self.ask("setFunctionBreakpoints",
                                   breakpoints=list(functions))["breakpoints"])
        self.ask("configurationDone")
        response = self.response(begun)
        self.t.check(response["success"], f"{request}: {response}")
        return placed

    def event_or_failure(self, name, request):
        """The event, or the failure of the request that should lead to it."""
        def look():
            for message in self.messages:
                if message.get("request_seq") == request and not message["success"]:
                    raise harness.Failure(f"{message['command']}: {message}")
            return True if any(m.get("event") == name for m in self.messages) else None
        self.wait(look, f"the event {name}")
        self.event(name)

    def set(self, source, wanted):
        """The breakpoints of a file are these from now on: dictionaries, with a line each.
        Returns what became of them."""
        return self.ask("setBreakpoints", source={"name": source.name, "path": str(source)},
                        breakpoints=wanted)["breakpoints"]

    def go_on(self, thread=1):
        """To the next stop, whose event is returned."""
        self.ask("continue", threadId=thread)
        return self.event("stopped")

    def move(self, command, thread=1):
        """next, stepIn, stepOut."""
        self.ask(command, threadId=thread)
        return self.event("stopped")

    def pause(self, thread=1):
        self.ask("pause", threadId=thread)
        return self.event("stopped")

    def frames(self, thread=1):
        return self.ask("stackTrace", threadId=thread)["stackFrames"]

    def variables(self, frame):
        """Those that a frame shows: values by names."""
        found = {}
        for scope in self.ask("scopes", frameId=frame["id"])["scopes"]:
            if scope["name"] != "Registers":
                for variable in self.children(scope["variablesReference"]):
                    found[variable["name"]] = variable["value"]
        return found

    def children(self, reference):
        return self.ask("variables", variablesReference=reference)["variables"]

    def threads(self):
        return self.ask("threads")["threads"]

    def value(self, expression, thread=1):
        """In the innermost frame."""
        return self.ask("evaluate", expression=expression, context="watch",
                        frameId=self.frames(thread)[0]["id"])["result"]

    def breakpoint_row(self, symbol):
        """What `monitor breakpoints` says of a place."""
        return next(row for row in harness.breakpoint_rows(self.command("monitor breakpoints"))
                    if re.search(rf"\s{symbol}(\+|\s)", row["text"]))


class Gdb(Editor):
    """gdb's own."""

    def __init__(self, t, *first):
        reason = why_no_dap(t.config.gdb)
        if reason:
            t.skip(reason)
        argv = [t.config.gdb, "-nx", "-q", "-i=dap"]
        for command in [*PREPARATIONS, *first]:
            argv += ["-iex", command]
        super().__init__(t, argv)

    def command(self, line):
        """What a command of gdb's prints."""
        return self.ask("evaluate", expression=line, context="repl")["result"]


def why_no_dap(gdb):
    probe = subprocess.run([gdb, "-nx", "-batch", "-ex", "interpreter-exec dap 1"],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return "this gdb is no debug adapter" if "Could not find interpreter" in probe.stderr else None


class Cdt(Editor):
    """The one of Eclipse CDT, for servers: "gdbtarget"."""

    def __init__(self, t, environment=None):
        super().__init__(t, ["node", find_cdt(t)],
                         env=environment)

    @staticmethod
    def arguments(t, program, target, *first, **others):
        """For `launch` and `attach`."""
        return {"gdb": t.config.gdb, "gdbArguments": ["-nx"], "program": program,
                "preConnectCommands": [*PREPARATIONS, *first], "target": target, **others}

    def command(self, line):
        """What a command of gdb's prints."""
        self.receive()
        before = len(self.messages)
        self.ask("evaluate", expression=f">{line}", context="repl")
        return self.output(since=before)


def find_cdt(t):
    """The adapter's main file."""
    directory = os.environ.get("CDT_GDB_ADAPTER")
    if not directory:
        t.skip("CDT_GDB_ADAPTER names no directory that scripts/get-cdt-adapter has made")
    if not shutil.which("node"):
        t.skip("node is not installed")
    path = os.path.join(directory, "node_modules/cdt-gdb-adapter/dist/debugTargetAdapter.js")
    if not os.path.exists(path):
        t.skip(f"there is no {path}")
    return path
