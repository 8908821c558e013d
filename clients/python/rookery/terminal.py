"""One terminal of the daemon."""

import base64


class Terminal:
    """A terminal. What is known about it is as of the last `refresh`."""

    def __init__(self, client, described):
        self._client = client
        self.info = described

    @property
    def id(self):
        """Its number."""
        return self.info["id"]

    def __repr__(self):
        return f"<Terminal {self.id} {self.info.get('state')} {self.info.get('title')!r}>"

    def _call(self, method, timeout=None, **params):
        given = {name: value for name, value in params.items() if value is not None}
        return self._client.call(
            f"rookery/terminals/{method}", timeout=timeout, terminal=self.id, **given
        )

    def refresh(self):
        """Asks again what it is at."""
        self.info = self._call("get")
        return self

    def send(self, text):
        """Types a text, or bytes."""
        if isinstance(text, bytes):
            self._call("write", data=base64.b64encode(text).decode())
        else:
            self._call("write", text=text)

    def paste(self, text):
        """Pastes a text, as a terminal does."""
        self._call("paste", text=text)

    def press(self, *keys):
        """Presses keys, such as `enter`, `ctrl+c` or `PageUp`."""
        self._call("press", keys=list(keys))

    def run(self, line):
        """Types a line and presses enter."""
        self.send(line)
        self.press("enter")

    def resize(self, rows, cols):
        """Gives it another size."""
        self._call("resize", rows=rows, cols=cols)

    def wait(
        self,
        text=None,
        regex=None,
        transcript=None,
        exit=None,
        stable=None,
        needs_input=None,
        timeout=30.0,
    ):
        """Waits for one of these; `stable` and `timeout` are seconds. Raises `Timeout` or `Closed`."""
        return self._call(
            "wait",
            text=text,
            regex=regex,
            transcriptText=transcript,
            exit=exit,
            stableMs=None if stable is None else int(stable * 1000),
            needsInput=needs_input,
            timeoutMs=int(timeout * 1000),
        )

    def text(self, history=0, redact=True):
        """The screen, with some rows of history before it."""
        return self._call("dump", history=history, redact=redact)["text"]

    def signal(self, signal, group=True):
        """Sends a signal by name or number."""
        self._call("signal", signal=signal, group=group)

    def kill(self, all_processes=False):
        """Ends its program; the terminal stays."""
        return self._call("kill", allProcesses=all_processes)

    def close(self, all_processes=False):
        """Ends its program and forgets it."""
        return self._call("close", allProcesses=all_processes)
