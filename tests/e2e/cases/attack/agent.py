"""What a hostile program of an agent tries on the control sockets. Arguments: the home, the request that
waits, the person's terminal, the thread that waits, our executable, a file for the results, a way to leave the
process tree first, and perhaps a file to wait for in between. Standard library only."""

import base64
import json
import os
import signal
import socket
import sys
import time

home, request, terminal, thread, rookery, results, way = sys.argv[1:8]
sign = sys.argv[8] if len(sys.argv) > 8 else None
DAEMON = ["fork", "setsid", "fork"]
REFUSALS = ("a program that an agent runs", "not the agent's own")


def leave():
    """Leaves the process tree in the given way, and goes on once that is done."""
    for step in {"stay": [], "fork": ["fork"], "setsid": ["fork", "setsid"]}.get(way, DAEMON):
        if step == "setsid":
            os.setsid()
            continue
        parent = os.getpid()
        if os.fork():
            os._exit(0)
        while os.getppid() == parent:
            time.sleep(0.005)
    if way == "bare":
        arguments = [sys.executable, __file__, *sys.argv[1:7], "stay", *sys.argv[8:]]
        os.execve(sys.executable, arguments, {})


def talk(name, message):
    """Sends one line, and gives the reply to it."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(30)
        link.connect(os.path.join(home, "run", name, name + ".sock"))
        link.sendall(json.dumps(message).encode() + b"\n")
        if name == "idx0":
            link.shutdown(socket.SHUT_WR)
        with link.makefile() as lines:
            for line in lines:
                reply = json.loads(line)
                if name == "idx0" or reply.get("id") == message["id"]:
                    return reply
    return {"error": "no reply"}


def rpc(name, method, /, **params):
    return talk(name, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def roost(op, /, **params):
    return talk("roost", {"id": "1", "op": op, "params": params})


def idx0(command, /, **payload):
    return talk("idx0", {"command": command, "payload": payload})


T = int(terminal)
SESSION = ""
TYPED = "echo pwned\n"
DATA = base64.b64encode(TYPED.encode()).decode()
ATTACKS = {
    # Deciding.
    "native answer": lambda: rpc("rookery", "rookery/requests/answer", id=request, approved=True),
    "native defer": lambda: rpc("rookery", "rookery/requests/defer", id=request),
    "native resolve": lambda: rpc("rookery", "rookery/queue/resolve", id=request),
    "roder approve": lambda: rpc("roder", "session/resolve_approval", approvalId="appr_" + request, approved=True),
    "roder approve, other name": lambda: rpc(
        "rookery", "thread/resolve_approval", approvalId="appr_" + request, approved=True
    ),
    "roder answer": lambda: rpc("roder", "session/resolve_user_input", requestId=request, answers={}),
    "roder plan": lambda: rpc("roder", "session/exit_plan", approved=True),
    "idx0 approve": lambda: idx0("respondApproval", approvalID=request, status="approved"),
    "idx0 queue": lambda: idx0("markQueueResolved", queueID=request),
    # Modes, settings, providers, the daemon's life.
    "roder mode": lambda: rpc("roder", "session/set_mode", mode="bypass"),
    "native mode": lambda: rpc("rookery", "session/set_mode", mode="bypass"),
    "default mode": lambda: rpc("roder", "settings/set_default_mode", mode="bypass"),
    "shell": lambda: rpc("roder", "settings/set_shell", shell="/tmp/evil"),
    "provider": lambda: rpc("roder", "providers/select", provider="mock"),
    "key": lambda: rpc("roder", "providers/configure", provider="openai", apiKey="x"),
    "sign in": lambda: rpc("roder", "auth/codex/login", timeoutSeconds=1),
    "sign out": lambda: rpc("roder", "auth/supergrok/logout"),
    "who is signed in": lambda: rpc("rookery", "auth/codex/status"),
    "native sign in": lambda: rpc("rookery", "rookery/auth/login", account="codex", timeoutSeconds=1),
    "native sign out": lambda: rpc("rookery", "rookery/auth/logout", account="codex"),
    "native accounts": lambda: rpc("rookery", "rookery/auth/status"),
    "model": lambda: rpc("roder", "model/select", provider="mock", model="mock"),
    "plugin": lambda: rpc("rookery", "plugin.load", path="/tmp"),
    "shutdown": lambda: rpc("rookery", "rookery/shutdown"),
    "drain": lambda: rpc("roder", "runtime/drain"),
    # Speaking to other agents, running things below the daemon, reading what is not shown.
    "turn": lambda: rpc("roder", "turn/start", threadId=thread, prompt="pwned"),
    "steer": lambda: rpc("roder", "turn/steer", threadId=thread, prompt="pwned"),
    "interrupt": lambda: rpc("roder", "turn/interrupt", threadId=thread),
    "delete": lambda: rpc("roder", "thread/delete", threadId=thread),
    "exec": lambda: rpc("roder", "command/exec", command=["true"]),
    "tool": lambda: rpc("roder", "tools/call", name="shell", arguments={"command": "true"}),
    "read": lambda: rpc("roder", "fs/readFile", path="/etc/hostname"),
    "clipboard": lambda: roost("clipboard.dump"),
    # The person's terminal.
    "native write": lambda: rpc("rookery", "rookery/terminals/write", terminal=T, text=TYPED),
    "native press": lambda: rpc("rookery", "rookery/terminals/press", terminal=T, keys=["p"]),
    "native paste": lambda: rpc("rookery", "rookery/terminals/paste", terminal=T, text=TYPED),
    "native signal": lambda: rpc("rookery", "rookery/terminals/signal", terminal=T, signal="KILL"),
    "native kill": lambda: rpc("rookery", "rookery/terminals/kill", terminal=T),
    "native close": lambda: rpc("rookery", "rookery/terminals/close", terminal=T),
    "native activate": lambda: rpc("rookery", "rookery/terminals/activate", terminal=T),
    "ptywright input": lambda: rpc(
        "ptywright", "session.input", session=f"s{T}", action={"type": "text", "value": TYPED}
    ),
    "ptywright kill": lambda: rpc("ptywright", "session.kill", session=f"s{T}"),
    "ptywright close": lambda: rpc("ptywright", "session.close", session=f"s{T}"),
    "roost write": lambda: roost("tab.write", tab_id=terminal, data=DATA),
    "roost close": lambda: roost("tab.close", tab_id=terminal),
    "roost focus": lambda: roost("tab.focus", tab_id=terminal),
    "roost palette": lambda: roost("palette.activate", index=0),
    "native session": lambda: rpc("rookery", "rookery/sessions/close", session=SESSION),
    "idx0 close": lambda: idx0("closeSession", session=SESSION),
    # Work trees, which belong to the person whatever agent works in them.
    "checkpoint of a tree": lambda: rpc("rookery", "rookery/checkpoints/create", tree=home),
    "review of a tree": lambda: rpc("rookery", "rookery/reviews/request", tree=home),
    "handoff of a tree": lambda: rpc("rookery", "rookery/handoffs/create", tree=home),
    "delivery": lambda: rpc("rookery", "rookery/reviews/deliver", id=request, to=SESSION),
    "idx0 report": lambda: idx0("notify", sessionID=SESSION, title="pwned"),
}


def opened():
    """Terminals of its own that run what it may not do. Opening is allowed, what they run is not."""
    approve = [rookery, "approve", request]
    native = rpc("rookery", "rookery/terminals/open", argv=approve, cwd=home)
    yield native["result"]["id"]
    pty = rpc("ptywright", "session.create", program=rookery, args=approve[1:], cwd=home)
    yield int(pty["result"]["session"].lstrip("s"))
    # A program in such a terminal opens another one.
    nested = [rookery, "open", "--", *approve]
    yield rpc("rookery", "rookery/terminals/open", argv=nested, cwd=home)["result"]["id"]
    roost("tab.open", project_id="0", cwd=home, title="x", argv=approve)


def wait_exit(number):
    for _ in range(2000):
        reply = rpc("rookery", "rookery/terminals/get", terminal=number)
        if "result" not in reply or reply["result"]["state"] != "running":
            return
        time.sleep(0.01)


signal.signal(signal.SIGHUP, signal.SIG_IGN)
leave()
while sign and not os.path.exists(sign):
    time.sleep(0.02)
SESSION = rpc("rookery", "rookery/terminals/get", terminal=T)["result"]["uuid"]
found = {}
for title, attack in ATTACKS.items():
    try:
        reply = attack()
    except OSError as error:
        reply = {"error": str(error)}
    text = json.dumps(reply)
    found[title] = {"refused": any(word in text for word in REFUSALS), "reply": text}
numbers = list(opened())
for number in numbers:
    wait_exit(number)
with open(results + ".part", "w") as file:
    json.dump({"attacks": found, "opened": numbers, "parent": os.getppid()}, file)
os.rename(results + ".part", results)
