"""What the daemon refuses, and what ends a connection."""

TIMEOUT = -32001
CLOSED = -32002
NOT_FOUND = -32010


class Error(Exception):
    """The daemon refused a call: its code, and the member of the params at fault if one is."""

    def __init__(self, message, code=None, field=None):
        super().__init__(message)
        self.code = code
        self.field = field


class Timeout(Error):
    """The time allowed ran out."""


class Closed(Error):
    """The program in the terminal has ended, or the connection is gone."""


class NotFound(Error):
    """There is no such terminal, project or request."""


_KINDS = {TIMEOUT: Timeout, CLOSED: Closed, NOT_FOUND: NotFound}


def from_reply(error):
    """The exception for the error member of a reply."""
    code = error.get("code")
    field = (error.get("data") or {}).get("field")
    return _KINDS.get(code, Error)(error.get("message", "unknown error"), code, field)
