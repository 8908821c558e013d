"""Runs the console examples of a page, in order and in one shell, and compares what they print.

    console.py PAGE [HEADING...]

With headings only the examples below those are run. Ids, times and process numbers only have to be such words, and
space only has to be space: the rest is compared exactly. An id that was printed is meant wherever the page shows its
own one, and has to be printed again wherever the page shows that again.

A command with a here-document goes on in the lines that begin with `> `. One that ends with `&` goes on while others
run: its lines are expected below the command after which they come.

What a reader need not see stands in comments of the page, each on lines of its own:

    <!-- run: COMMAND -->               runs a command, which has to work; what jobs have printed is forgotten
    <!-- until: COMMAND -->             runs a command until it works
    <!-- unless: COMMAND = REASON -->   leaves out the next block, and says why, if a command works

A block whose fence is ```console skip REASON is not run either, and the reason is printed.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

VARIABLE = re.compile(r"[\w.:+/-]*\d[\w.:+/-]*|\b[0-9A-Z]{6,26}\b|\b[0-9a-f]{6,}\b")
SHORTENED = re.compile(r"\S*…")
DURATION = re.compile(r"\b[\d.]+ m?s\b")
# Small numbers that say which or how many have to be the same, besides those that differ from run to run.
NUMBER = re.compile(r"[:+-]?\d{1,2}")
VARYING = re.compile(r"\b(process|event|step|(?:elapsedMs|lastEvent|pid|seq|sequence)\":) ?\d+")
ID = re.compile(r"[0-9A-Za-z]{6}|[0-9a-f]{8}|[0-9A-Z]{26}|(?:[a-z]+-)?[0-9a-f-]{36}")
# Less than a test waits for all of it, so that what is missing is said.
SECONDS = 20
PAUSE = 0.02
COMMENT = re.compile(r"<!-- (run|until|unless): (.*?) -->", re.DOTALL)


def parts(page, headings):
    """What there is to do below the headings, in order: (line, kind, text or lines)."""
    found, below, fence, lines = [], not headings, None, []
    rows = page.splitlines()
    number = 0
    while number < len(rows):
        line = rows[number]
        number += 1
        if fence is not None:
            if line.startswith("```"):
                found.append((number - len(lines), fence, lines))
                fence = None
            else:
                lines.append(line)
        elif line.startswith("```"):
            fence, lines = line[3:].strip(), []
            if not below:
                fence = "elsewhere"
        elif line.startswith("#") and headings:
            below = line.lstrip("#").strip() in headings
        elif line.startswith("<!-- ") and below:
            text = line
            while "-->" not in text and number < len(rows):
                text += "\n" + rows[number]
                number += 1
            if comment := COMMENT.match(text):
                found.append((number, comment[1], comment[2]))
    return found


def steps(lines):
    """The commands of a block, each with the lines that it prints."""
    all_steps = []
    for line in lines:
        if line.startswith("$ "):
            all_steps.append([line[2:], []])
        elif all_steps and line.startswith("> ") and "<<" in all_steps[-1][0]:
            all_steps[-1][0] += "\n" + line[2:]
        elif all_steps:
            all_steps[-1][1].append(line)
    return all_steps


def normalized(lines):
    """What has to be the same."""
    kept = []
    for line in lines:
        line = DURATION.sub("#", SHORTENED.sub("…", line.rstrip()))
        line = VARIABLE.sub(word, VARYING.sub(r"\1 #", line))
        kept.append(re.sub(r"\s+", " ", line).strip())
    while kept and not kept[-1]:
        kept.pop()
    while kept and not kept[0]:
        kept.pop(0)
    return kept


def word(found):
    """What stands for a word with a number in it."""
    return found[0] if NUMBER.fullmatch(found[0]) else "#"


def ids(expected, printed):
    """Ids that the page shows, each with the one that was really given. Both have the same words."""
    texts = [DURATION.sub("", SHORTENED.sub("", "\n".join(lines))) for lines in (expected, printed)]
    pairs = zip(*(VARIABLE.findall(text) for text in texts))
    pairs = [(one, other) for one, other in pairs if ID.fullmatch(one) and ID.fullmatch(other)]
    # The end of a long id is meant as well.
    return pairs + [(one[-6:], other[-6:]) for one, other in pairs if len(one) > 8]


class Shell:
    """One shell, so that variables, directories and jobs stay."""

    def __init__(self, cwd, env, scratch):
        self.env = env
        self.scratch = scratch
        self.jobs = []
        self.process = subprocess.Popen(
            ["bash", "--norc"],
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def run(self, command):
        """What a command prints, and how it ended. What a job prints goes to a file."""
        end, to = uuid.uuid4().hex, ""
        if re.search(r"[^&]&$", command):
            self.jobs.append([self.scratch / f"job{len(self.jobs)}", 0])
            to = f">{self.jobs[-1][0]}"
        script = f"eval {shlex.quote(command)} </dev/null {to} 2>&1\nprintf '\\n{end} %s\\n' $?\n"
        self.process.stdin.write(script.encode())
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            line = line.decode(errors="replace").rstrip("\n")
            if line.startswith(end):
                if lines and not lines[-1]:
                    lines.pop()
                return lines, int(line.split()[1])
            lines.append(line)
        raise SystemExit(f"the shell ended at: {command}")

    def news(self):
        """The lines that jobs have printed and nothing has expected yet, job by job."""
        return [line for file, seen in self.jobs for line in whole_lines(file)[seen:]]

    def forget(self):
        for job in self.jobs:
            job[1] = len(whole_lines(job[0]))

    def end(self):
        subprocess.run(["rookery", "down", "--all"], env=self.env, timeout=SECONDS, capture_output=True)
        # Jobs that the page left are of the same group; the shell is there until it was waited for.
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(SECONDS)


def whole_lines(file):
    text = file.read_text(errors="replace") if file.exists() else ""
    return text[: text.rfind("\n") + 1].splitlines()


class Page:
    """A page that is being run."""

    def __init__(self, path, scratch):
        self.path = path
        self.names = {}
        self.failed = 0
        self.is_left_out = False
        app = scratch / "srv" / "app"
        app.mkdir(parents=True)
        home = scratch / "home"
        # Where things are, and what the page says instead. The longer ones come first.
        self.places = [(str(app), "/srv/app"), (str(home), "/tmp/docs"), (str(scratch), "/home/me")]
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(scratch),
            "SHELL": "/bin/bash",
            "ROOKERY_HOME": str(home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            # Nothing listens there, whatever runs on this machine.
            "OLLAMA_HOST": "127.0.0.1:1",
        }
        # The server that stands for the one of the page.
        if issuer := os.environ.get("DOCS_ISSUER"):
            env["DOCS_ISSUER"] = issuer
            self.places.append((issuer, "https://auth.example.org"))
        for who in ("AUTHOR", "COMMITTER"):
            env[f"GIT_{who}_NAME"], env[f"GIT_{who}_EMAIL"] = "Me", "me@example.org"
        self.shell = Shell(app, env, scratch)

    def real(self, command):
        """A command of the page with the ids and places of this run."""
        command = re.sub(r"[\w-]{6,48}", lambda word: self.names.get(word[0], word[0]), command)
        return command.replace("/tmp/tour", self.places[1][0]).replace("/tmp/docs", self.places[1][0])

    def shown(self, lines):
        for place, name in self.places:
            lines = [line.replace(place, name) for line in lines]
        return lines

    def do(self, line, kind, content):
        if kind == "run":
            printed, code = self.shell.run(self.real(content))
            self.shell.forget()
            if code:
                self.fail(line, content, ["(nothing, and exit code 0)"], [*printed, f"(exit code {code})"])
        elif kind == "until":
            until = time.monotonic() + SECONDS
            while self.shell.run(self.real(content))[1]:
                if time.monotonic() > until:
                    return self.fail(line, content, ["(that it comes true)"], ["(nothing)"])
                time.sleep(PAUSE)
        elif kind == "unless":
            command, reason = content.rsplit(" = ", 1)
            if self.shell.run(self.real(command))[1] == 0:
                print(f"{self.path}: the next block after line {line} is left out: {reason}")
                self.is_left_out = True
        elif kind == "console":
            if not self.is_left_out:
                for command, expected in steps(content):
                    self.example(line, command, expected)
            self.is_left_out = False
        elif kind.startswith("console"):
            reason = kind.removeprefix("console").strip().removeprefix("skip").strip()
            print(f"{self.path}: the block at line {line} is not run: {reason}")
            if not reason:
                self.failed += 1

    def example(self, line, command, expected):
        own, _ = self.shell.run(self.real(command))
        printed = self.shown(own)
        until = time.monotonic() + SECONDS
        # More than the command itself has printed is said by jobs, which take their time.
        while len(normalized(printed)) < len(normalized(expected)) and self.shell.jobs:
            printed = self.shown(own + self.shell.news())
            if normalized(printed) == normalized(expected) or time.monotonic() > until:
                self.shell.forget()
                break
            printed = self.shown(own)
            time.sleep(PAUSE)
        if normalized(printed) != normalized(expected):
            return self.fail(line, command, expected, printed)
        for one, other in ids(expected, printed):
            if self.names.setdefault(one, other) != other:
                self.fail(line, command, [f"{one}, which was {self.names[one]} before"], [other])

    def fail(self, line, command, expected, printed):
        self.failed += 1
        print(f"{self.path}, block at line {line}: $ {command}")
        print("  expected:", *expected, sep="\n    ")
        print("  printed:", *printed, sep="\n    ", flush=True)


def main():
    path, headings = Path(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory(prefix="rk") as scratch:
        page = Page(path, Path(scratch))
        try:
            for line, kind, content in parts(path.read_text(), headings):
                page.do(line, kind, content)
        finally:
            page.shell.end()
    sys.exit(f"{page.failed} examples of {path} print something else" if page.failed else 0)


if __name__ == "__main__":
    main()
