"""Holds a session with every family of methods by the published Python client, `roder-sdk`.

Usage: check.py stdio COMMAND [ARGS...] | check.py ws URL TOKEN, in a directory that is a repository.
Prints the methods that were answered, and the notifications that came, as JSON.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys

from roder_sdk.client import RoderRpcClient
from roder_sdk.errors import RoderRpcError
from roder_sdk.transports import LocalProcessTransport, WebSocketTransport

WORK = os.getcwd()


def script(steps: list) -> str:
    return "MOCK_SCRIPT:" + json.dumps(steps)


class Session:
    def __init__(self, client: RoderRpcClient) -> None:
        self.client = client
        self.answered: set[str] = set()
        self.told: list[dict] = []
        self.news = asyncio.Event()

    async def listen(self) -> None:
        async for notification in self.client.notifications():
            self.told.append(notification)
            self.news.set()

    async def call(self, method: str, **params):
        # The helpers by name are what the client offers for methods that it knows.
        helper = self.client.methods.get(method)
        result = await (helper(params or None) if helper else self.client.call(method, params or None))
        assert isinstance(result, dict), (method, result)
        self.answered.add(method)
        return result

    async def refused(self, code: int, method: str, **params) -> None:
        try:
            await self.call(method, **params)
        except RoderRpcError as error:
            assert error.code == code, (method, error.code, str(error))
            self.answered.add(method)
            return
        raise AssertionError(f"{method} was not refused")

    async def until(self, method: str, fits, **params):
        """Asks until the answer fits: this client reads only while it asks."""
        for _ in range(600):
            result = await self.call(method, **params)
            if fits(result):
                return result
            await asyncio.sleep(0.05)
        raise AssertionError(f"{method} never fitted: {result}")

    async def turn(self, thread: str, steps: list) -> str:
        turn = (await self.call("turn/start", threadId=thread, prompt=script(steps)))["turnId"]

        def is_over(read: dict) -> bool:
            return any(it["id"] == turn and it["status"] == "completed" for it in read["thread"]["turns"])

        await self.until("thread/read", is_over, threadId=thread, includeTurns=True)
        return turn


async def discovery(it: Session) -> None:
    await it.call("initialize")
    assert any(one["id"] == "task-process" for one in (await it.call("extensions/list"))["extensions"])
    assert {one["agent_type"] for one in (await it.call("agents/list"))["agents"]} >= {"explore", "general"}
    await it.call("session/set_mode", mode="bypass")


async def work_beside(it: Session, thread: str) -> None:
    await it.call("runners/list")
    await it.call("runners/select", destination_id="unix-local", config={"root": WORK})
    await it.call("runners/session", ensure=True)
    for method in ["runners/snapshot", "runners/ports", "runners/delete"]:
        await it.call(method)
    await it.call("tasks/subscribe")
    assert "process.started" in (await it.call("processes/subscribe"))["eventKinds"]
    task = await it.call("tasks/submit", executorId="process", input={"command": "echo", "args": ["hi"]})
    task = task["task"]["task_id"]
    got = await it.until("tasks/get", lambda got: got["task"]["state"] == "completed", taskId=task)
    assert got["logs"][0]["chunk"] == "hi\n", got
    assert (await it.call("tasks/cancel", taskId=task)) == {"cancelled": False}
    await it.call("tasks/list")
    assert (await it.call("processes/get", processId=task))["process"]["processId"] == task
    assert "process" not in await it.call("processes/get", processId="none")
    assert (await it.call("processes/stop", processId=task))["result"]["stopped"] is False
    await it.call("processes/list", includeCompleted=True)
    await it.call("processes/stopAll")
    delegated = {"description": "look", "prompt": script([{"text": "seen"}])}
    turn = await it.turn(thread, [{"tool": "task", "args": delegated}, {"text": "so"}])
    traces = (await it.call("turn/subagentTraces/list", threadId=thread, turnId=turn))["traces"]
    read = await it.call("turn/subagentTrace/read", threadId=thread, traceId=traces[0]["traceId"])
    assert read["events"], read
    team = (await it.call("team/start", leadThreadId=thread, members=[{"name": "reviewer"}]))["team"]
    of = {"teamId": team["id"], "memberId": team["members"][1]["id"]}
    await it.call("team/member/start", teamId=team["id"], name="tester")
    await it.call("team/member/message", text=script([{"text": "fine"}]), **of)
    done = "completed"
    await it.until("team/read", lambda read: read["team"]["members"][1]["status"] == done, teamId=team["id"])
    await it.call("team/member/interrupt", **of)
    await it.call("team/member/focus", **of)
    await it.call("team/list", limit=10)
    await it.refused(-32601, "team/pane/focus", **of)
    await it.refused(-32601, "team/pane/cleanup", **of)
    await it.call("team/cleanup", teamId=team["id"])


async def workflows(it: Session) -> None:
    answer = json.dumps(script([{"text": "found"}]))
    source = f"export const meta = {{ name: 'sdk', description: 'd' }}\nreturn await agent({answer})\n"

    async def run(decision: str) -> str:
        planned = await it.call("workflows/plan", prompt="p", script=source, workspace=WORK)
        of = planned["run"]["runId"]
        await it.call("workflows/approve", runId=of, decision=decision)
        return of

    one = await run("runOnce")
    ended = await it.until("workflows/get", lambda got: got["run"]["status"] == "completed", runId=one)
    assert ended["run"]["report"] == "found", ended
    again = await it.call("workflows/restartAgent", runId=one, agentId="agent-1")
    assert again["agent"]["status"] == "queued", again
    await it.until("workflows/get", lambda got: got["run"]["status"] == "completed", runId=one)
    await it.call("workflows/list", limit=10, includeTerminal=True)
    saved = (await it.call("workflows/save", runId=one, name="sdk", scope="workspace", overwrite=True))["script"]
    await it.call("workflows/scripts/list", workspace=WORK, includeBuiltin=True)
    await it.call("workflows/scripts/read", scriptId=saved["scriptId"], workspace=WORK, includeBody=True)
    await it.call("workflows/scripts/delete", scriptId=saved["scriptId"], workspace=WORK, deleteFile=True)
    hangs = json.dumps(script([{"hang": True}]))
    source = f"export const meta = {{ name: 'sdk-waits', description: 'd' }}\nreturn await agent({hangs})\n"
    two = await run("runOnce")
    await it.until("workflows/get", lambda got: got["run"]["status"] == "running", runId=two)
    await it.call("workflows/pause", runId=two)
    await it.call("workflows/resume", runId=two)
    assert (await it.call("workflows/stop", runId=two))["run"]["status"] == "stopped"


async def changes(it: Session, thread: str) -> None:
    write = {"path": "made.txt", "content": "one\ntwo\n"}
    turn = await it.turn(thread, [{"tool": "write_file", "args": write}, {"text": "done"}])
    hunk = (await it.call("hunk/list", threadId=thread, turnId=turn))["hunks"][0]["id"]
    await it.call("hunk/read", threadId=thread, hunkId=hunk)
    listed = await it.call("git/changes/list", workspace=WORK)
    assert "made.txt" in [file["path"] for file in listed["files"]], listed
    await it.call("git/changes/read", workspace=WORK, path="made.txt")
    made = (await it.call("workspace/create", roots=[{"path": WORK}]))["workspace"]["id"]
    await it.call("vcs/status", workspaceId=made)
    listed = await it.call("vcs/changes/list", workspaceId=made)
    assert "made.txt" in json.dumps(listed), listed
    await it.call("vcs/changes/read", workspaceId=made, path="made.txt")
    assert (await it.call("hunk/rollback", threadId=thread, hunkId=hunk, confirmed=True))["rolledBack"]
    await it.call("workspace/changes/list", threadId=thread)
    assert (await it.call("plan/review/read", threadId=thread, reviewId="none"))["review"] is None
    for method in ["comment", "rewrite", "approve", "reject"]:
        more = {"anchor": "wholePlan", "body": "b", "replacementMarkdown": "m"}
        await it.refused(-32602, f"plan/review/{method}", threadId=thread, reviewId="none", **more)


async def knowledge(it: Session, thread: str, turn: str) -> None:
    memory = (await it.call("memory/save", scope="project", text="tests run with nextest"))["memoryId"]
    found = await it.call("memory/query", scope="project", text="nextest", limit=5, includeGlobal=True)
    assert found["results"][0]["record"]["id"] == memory, found
    await it.call("memory/list")
    await it.call("memory/read", memoryId=memory)
    await it.call("memory/update", memoryId=memory, text="tests run with cargo nextest")
    await it.call("memory/recall/preview", threadId=thread, turnId=turn, text="how do tests run?")
    await it.call("memory/provider/list")
    await it.call("memory/provider/set", providerId="local", model="bm25")
    await it.call("memory/delete", memoryId=memory)
    pixel = (await it.call("media/image/generate", prompt="x", provider="fake"))["response"]["outputs"][0]
    of = pixel["artifact"]["id"]
    read = await it.call("media/read", artifactId=of)
    assert base64.b64decode(read["bytesBase64"]).startswith(b"\x89PNG"), read
    await it.call("media/image/providers/list")
    await it.call("media/list")
    await it.call("media/thumbnail", artifactId=of)
    await it.call("media/attachToTurn", artifactId=of)
    await it.call("media/delete", artifactId=of)


async def brought_in(it: Session) -> None:
    items = (await it.call("workflow/scan", workspace=WORK))["scan"]["items"]
    server = next(one for one in items if one["approvalRequired"])
    of = {"workspace": WORK, "itemId": server["id"]}
    await it.call("workflow/preview", **of)
    await it.refused(-32040, "workflow/enable", **of)
    await it.call("workflow/enable", approveSideEffects=True, **of)
    await it.call("workflow/refresh", workspace=WORK)
    await it.call("workflow/ignore", **of)
    await it.call("workflow/remove", **of)
    await it.call("skills/list", cwd=WORK)
    of = {"selector": {"name": {"name": "fold"}}, "workspace": WORK}
    assert (await it.call("skills/read", **of))["skill"]["body"] == "body"
    await it.call("skills/setEnabled", enabled=True, **of)
    await it.call("marketplaces/list")
    await it.call("marketplaces/install_default", selection="none")
    await it.call("marketplaces/add", id="sdk", displayName="S", source={"kind": "localPath", "path": WORK + "/market"})
    of = {"marketplaceId": "sdk", "pluginId": "tools"}
    await it.call("marketplaces/refresh", marketplaceId="sdk")
    assert (await it.call("marketplaces/search", query="tools"))["plugins"], "no plugin is found"
    await it.call("marketplaces/plugin", **of)
    await it.call("plugins/preview_install", **of)
    await it.call("plugins/install", **of)
    await it.call("plugins/install_all_variants", **of)
    await it.call("plugins/list_installed")
    await it.call("plugins/disable", variantKey="sdk:tools")
    await it.call("plugins/uninstall", variantKey="sdk:tools")
    await it.call("marketplaces/remove", marketplaceId="sdk")
    for account in ["codex", "supergrok"]:
        status = await it.call(f"auth/{account}/status")
        assert status["signed_in"] is False and status["account_id"] is None, status
        await it.refused(-32000, f"auth/{account}/login")
        await it.call(f"auth/{account}/logout")


async def main() -> None:
    if sys.argv[1] == "stdio":
        transport = await LocalProcessTransport.create(command=sys.argv[2], args=sys.argv[3:], cwd=WORK)
    else:
        transport = await WebSocketTransport.connect(
            sys.argv[2], token=sys.argv[3], subprotocols=["roder.remote.v1"]
        )
    it = Session(RoderRpcClient(transport))
    listening = asyncio.create_task(it.listen())
    await discovery(it)
    thread = (await it.call("thread/start", cwd=WORK, modelProvider="mock", model="mock"))["thread"]["id"]
    turn = await it.turn(thread, [{"text": "hello"}])
    await work_beside(it, thread)
    await workflows(it)
    await changes(it, thread)
    await knowledge(it, thread, turn)
    await brought_in(it)
    await asyncio.sleep(0)
    listening.cancel()
    await transport.close()
    print(json.dumps({
        "answered": sorted(it.answered),
        "known": sorted(it.client.methods),
        "told": sorted({one["method"] for one in it.told}),
    }))


asyncio.run(main())
