"""Where the daemon listens."""

import os
from pathlib import Path

_SOCKET = Path("rookery") / "rookery.sock"


def socket_path(environ=None):
    """The socket of this user's daemon, by the same rules as the `rookery` command."""
    environ = os.environ if environ is None else environ
    home = environ.get("ROOKERY_HOME")
    if home:
        return Path(home).absolute() / "run" / _SOCKET
    runtime = environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isabs(runtime):
        return Path(runtime) / _SOCKET
    return Path("/tmp") / f"rookery-{os.getuid()}" / _SOCKET
