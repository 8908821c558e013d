"""The client against a real daemon, in a home of its own."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rookery import Client, Closed, Error, NotFound, Timeout, socket_path  # noqa: E402

ROOKERY = os.environ.get("ROOKERY") or shutil.which("rookery")


class Paths(unittest.TestCase):
    def test_the_socket_is_where_the_command_looks(self):
        self.assertEqual(str(socket_path({"ROOKERY_HOME": "/x"})), "/x/run/rookery/rookery.sock")
        with_runtime = socket_path({"XDG_RUNTIME_DIR": "/run/user/7"})
        self.assertEqual(str(with_runtime), "/run/user/7/rookery/rookery.sock")

    def test_no_daemon_is_told_with_what_to_do(self):
        with self.assertRaisesRegex(Closed, "rookery up"):
            Client(path="/nowhere/rookery.sock")


class Overtaking(unittest.TestCase):
    """Replies in another order, and a server that goes away, without a daemon."""

    def test_each_reply_goes_to_its_call(self):
        with tempfile.TemporaryDirectory() as home:
            path = os.path.join(home, "s")
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(path)
            listener.listen()

            def serve():
                peer, _ = listener.accept()
                lines = peer.makefile("rb")
                lines.readline(), lines.readline()
                peer.sendall(b'{"jsonrpc":"2.0","id":2,"result":"two"}\n')
                peer.sendall(b'{"jsonrpc":"2.0","id":1,"result":"one"}\n')
                lines.readline()
                peer.shutdown(socket.SHUT_RDWR)
                peer.close()

            server = threading.Thread(target=serve)
            server.start()
            with Client(path) as client:
                first, second = client.send("a"), client.send("b")
                self.assertEqual((first.result(10), second.result(10)), ("one", "two"))
                with self.assertRaises(Closed):
                    client.call("c", timeout=10)
                with self.assertRaises(Closed):
                    client.call("d", timeout=10)
            server.join()
            listener.close()


@unittest.skipUnless(ROOKERY, "set ROOKERY to the executable, or put it on PATH")
class Daemon(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="rk")
        self.env = {"ROOKERY_HOME": self.home, "PATH": os.environ["PATH"], "SHELL": "/bin/sh"}
        subprocess.run([ROOKERY, "up"], env=self.env, check=True, stdout=subprocess.DEVNULL)
        self.client = Client(socket_path(self.env))

    def tearDown(self):
        self.client.close()
        subprocess.run([ROOKERY, "down", "--all"], env=self.env, check=True)
        shutil.rmtree(self.home)

    def test_a_program_is_run_watched_and_closed(self):
        terminal = self.client.open(["sh", "-c", "read l; echo got $l; exit 3"], cwd="/")
        terminal.run("hello")
        terminal.wait(text="got hello")
        self.assertEqual(terminal.wait(exit=True)["exit"], {"code": 3})
        self.assertIn("got hello", terminal.text())
        self.assertEqual(terminal.refresh().info["state"], "exited")
        with self.assertRaises(Closed):
            terminal.send("too late")
        terminal.close()
        with self.assertRaises(NotFound):
            self.client.terminal(terminal.id)
        self.assertEqual(self.client.terminals(), [])

    def test_replies_overtake_each_other(self):
        terminal = self.client.open(["cat"])
        waiting = self.client.send(
            "rookery/terminals/wait", terminal=terminal.id, text="now", timeoutMs=30_000
        )
        self.assertEqual(self.client.status()["terminals"]["running"], 1)
        self.assertFalse(waiting.is_done())
        terminal.run("now")
        self.assertEqual(waiting.result(30)["matched"], "text")

    def test_errors_say_what_is_wrong(self):
        with self.assertRaises(Error) as caught:
            self.client.open(["cat"], rows=0)
        self.assertEqual(caught.exception.field, "rows")
        terminal = self.client.open(["cat"])
        with self.assertRaises(Timeout):
            terminal.wait(text="never", timeout=0.05)
        with self.assertRaisesRegex(Error, "unclosed group"):
            terminal.wait(regex="(")

    def test_events_come_as_they_happen_and_from_before(self):
        events = self.client.events()
        terminal = self.client.open(["cat"])
        opened = events.next(30)
        while opened["type"] != "terminal.opened":
            opened = events.next(30)
        again = self.client.events(since=opened["seq"] - 1)
        self.assertEqual(again.next(30)["seq"], opened["seq"])
        again.close()
        terminal.close()
        while events.next(30)["type"] != "terminal.closed":
            pass


if __name__ == "__main__":
    unittest.main()
