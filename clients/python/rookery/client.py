"""One connection to the daemon: calls, their replies in any order, and events."""

import itertools
import json
import queue
import socket
import threading

from .errors import Closed, Timeout, from_reply
from .paths import socket_path
from .terminal import Terminal

#: Events that are kept for a subscriber that does not take them; the daemon's log has the rest.
MAX_EVENTS = 10_000


class Call:
    """A call whose reply is awaited. Replies may overtake each other."""

    def __init__(self, method):
        self.method = method
        self._done = threading.Event()
        self._reply = None
        self._failure = None

    def _settle(self, reply=None, failure=None):
        self._reply, self._failure = reply, failure
        self._done.set()

    def is_done(self):
        """Whether the reply is there."""
        return self._done.is_set()

    def result(self, timeout=None):
        """Waits for the reply and gives its result; raises what the daemon refused."""
        if not self._done.wait(timeout):
            raise Timeout(f"no reply to {self.method} within {timeout} s")
        if self._failure is not None:
            raise self._failure
        if "error" in self._reply:
            raise from_reply(self._reply["error"])
        return self._reply.get("result")


class Events:
    """Events of the daemon's log, as they come. Iterate over it, or take one with `next`."""

    def __init__(self, client, subscription):
        self._client = client
        self._subscription = subscription
        self._queue = queue.Queue(MAX_EVENTS)
        self.dropped = 0

    def _push(self, event):
        try:
            self._queue.put_nowait(event)
        except queue.Full:
            if event is None:
                self._queue.get_nowait()
                self._queue.put_nowait(None)
            else:
                self.dropped += 1

    def next(self, timeout=None):
        """The next event; raises `Timeout`, or `Closed` once the connection has ended."""
        try:
            event = self._queue.get(timeout=timeout)
        except queue.Empty:
            raise Timeout(f"no event within {timeout} s") from None
        if event is None:
            self._queue.put(None)
            raise Closed("the connection to the daemon has ended")
        return event

    def __iter__(self):
        while True:
            try:
                yield self.next()
            except Closed:
                return

    def close(self):
        """Ends the subscription."""
        self._client._forget(self._subscription)
        self._client.call("rookery/events/unsubscribe", subscription=self._subscription)


class Client:
    """A connection to the daemon. Use it in a `with` block, or `close` it."""

    def __init__(self, path=None, connect_timeout=5.0):
        self.path = str(path or socket_path())
        self._ids = itertools.count(1)
        self._calls = {}
        self._events = {}
        self._early = {}
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._is_closed = False
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(connect_timeout)
            self._socket.connect(self.path)
            self._socket.settimeout(None)
        except OSError as error:
            self._socket.close()
            hint = "start the daemon with `rookery up`"
            raise Closed(f"cannot reach the daemon at {self.path}: {error}; {hint}") from error
        self._reader = threading.Thread(target=self._read, name="rookery-reader", daemon=True)
        self._reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_exception):
        self.close()

    def close(self):
        """Ends the connection. Calls that wait raise `Closed`."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._reader.join()
        self._socket.close()

    def send(self, method, **params):
        """Sends a call and does not wait: take its reply with `Call.result`."""
        call = Call(method)
        number = next(self._ids)
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        line = json.dumps(request, ensure_ascii=False).encode() + b"\n"
        with self._lock:
            if self._is_closed:
                raise Closed("the connection to the daemon has ended")
            self._calls[number] = call
        try:
            with self._sending:
                self._socket.sendall(line)
        except OSError as error:
            with self._lock:
                self._calls.pop(number, None)
            raise Closed(f"lost the daemon: {error}") from error
        return call

    def call(self, method, timeout=None, **params):
        """Calls a method and waits for its result."""
        return self.send(method, **params).result(timeout)

    def status(self):
        """How the daemon is."""
        return self.call("rookery/status")

    def terminals(self):
        """All terminals."""
        listed = self.call("rookery/terminals/list")["terminals"]
        return [Terminal(self, described) for described in listed]

    def terminal(self, name):
        """The terminal with this number, `s` and number, or UUID."""
        return Terminal(self, self.call("rookery/terminals/get", terminal=name))

    def open(self, argv=None, cwd=None, env=None, rows=None, cols=None, title=None, project=None):
        """Opens a terminal that runs a program, or the user's shell."""
        given = {
            "argv": list(argv or []),
            "cwd": None if cwd is None else str(cwd),
            "env": env,
            "rows": rows,
            "cols": cols,
            "title": title,
            "project": project,
        }
        params = {name: value for name, value in given.items() if value is not None}
        return Terminal(self, self.call("rookery/terminals/open", **params))

    def requests(self):
        """What waits for an answer of a person."""
        return self.call("rookery/requests/list")["requests"]

    def events(self, since=None):
        """Events from now on, or all after one that was seen."""
        params = {} if since is None else {"since": since}
        number = self.call("rookery/events/subscribe", **params)["subscription"]
        events = Events(self, number)
        with self._lock:
            early = self._early.pop(number, [])
            self._events[number] = events
            for event in early:
                events._push(event)
            if self._is_closed:
                events._push(None)
        return events

    def _forget(self, subscription):
        with self._lock:
            self._events.pop(subscription, None)

    def _read(self):
        try:
            with self._socket.makefile("rb") as lines:
                for line in lines:
                    self._take(json.loads(line))
        except (OSError, ValueError):
            pass
        with self._lock:
            self._is_closed = True
            waiting, self._calls = list(self._calls.values()), {}
            events = list(self._events.values())
        for call in waiting:
            call._settle(failure=Closed("the connection to the daemon has ended"))
        for one in events:
            one._push(None)

    def _take(self, message):
        if "id" in message and "method" not in message:
            with self._lock:
                call = self._calls.pop(message["id"], None)
            if call is not None:
                call._settle(message)
        elif message.get("method") == "rookery/event":
            params = message.get("params", {})
            with self._lock:
                number = params.get("subscription")
                events = self._events.get(number)
                if events is None:
                    # The reply that names the subscription may still be on its way to its caller.
                    early = self._early.setdefault(number, [])
                    if len(early) < MAX_EVENTS:
                        early.append(params.get("event"))
                    return
            events._push(params.get("event"))
