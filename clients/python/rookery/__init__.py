"""A client of the Rookery daemon: terminals, agents and approvals from Python.

    from rookery import Client

    with Client() as client:
        terminal = client.open(["make", "test"])
        print(terminal.wait(exit=True, timeout=600)["exit"], terminal.text(history=1000))

Uses the standard library only. Calls may be made from several threads: replies may overtake
each other, and each goes to the call that it answers.
"""

from .client import Call, Client, Events
from .errors import Closed, Error, NotFound, Timeout
from .paths import socket_path
from .terminal import Terminal

__all__ = [
    "Call",
    "Client",
    "Closed",
    "Error",
    "Events",
    "NotFound",
    "Terminal",
    "Timeout",
    "socket_path",
]
