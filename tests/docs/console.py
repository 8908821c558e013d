"""Runs the console examples of a page, in order and in one shell, and compares what they print.

    console.py PAGE [HEADING...]

With headings only the examples below those are run. Words in which a digit occurs (ids, times, process
numbers) and words that could be ids only have to be such words, and space only has to be space: the rest is
compared exactly. An id that was printed is meant where a later command has the one that the page shows. A block whose fence is ```console skip is not run.
"""

import os
import re
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

VARIABLE = re.compile(r"[\w.:+/-]*\d[\w.:+/-]*|\b[0-9A-Z]{6,26}\b|\b[0-9a-f]{6,}\b")
SHORTENED = re.compile(r"\S*…")
SECONDS = 60


def blocks(page, headings):
    """The console blocks of a page below the headings, as lists of (command, output lines)."""
    found, fence, lines, below = [], None, [], not headings
    for number, line in enumerate(page.splitlines(), 1):
        if fence is None and line.startswith("#") and headings:
            below = line.lstrip("#").strip() in headings
        if fence is None and line.startswith("```"):
            fence, lines = line[3:].strip(), []
        elif fence is not None and line.startswith("```"):
            if fence == "console" and below:
                found.append((number - len(lines), steps(lines)))
            fence = None
        elif fence is not None:
            lines.append(line)
    return found


def steps(lines):
    all_steps = []
    for line in lines:
        if line.startswith("$ "):
            all_steps.append((line[2:], []))
        elif all_steps:
            all_steps[-1][1].append(line)
    return all_steps


def normalized(lines):
    """What has to be the same."""
    kept = []
    for line in lines:
        line = SHORTENED.sub("…", line.rstrip())
        kept.append(re.sub(r"\s+", " ", VARIABLE.sub("#", line)).strip())
    while kept and not kept[-1]:
        kept.pop()
    return kept


def renamed(expected, printed):
    """Ids that the page shows, with those that were really given in their place."""
    pairs = zip(" ".join(expected).split(), " ".join(printed).split())
    words = ((VARIABLE.fullmatch(one), VARIABLE.fullmatch(other)) for one, other in pairs)
    return {one[0]: other[0] for one, other in words if one and other and len(one[0]) == 6}


class Shell:
    """One shell, so that variables and directories stay."""

    def __init__(self, cwd, env):
        self.process = subprocess.Popen(
            ["bash", "--norc"],
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def run(self, command):
        end = uuid.uuid4().hex
        script = f"{{ {command}\n}} </dev/null 2>&1\nprintf '\\n{end}\\n'\n"
        self.process.stdin.write(script.encode())
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            line = line.decode(errors="replace").rstrip("\n")
            if line == end:
                if lines and not lines[-1]:
                    lines.pop()
                return lines
            lines.append(line)
        raise SystemExit(f"the shell ended at: {command}")

    def end(self):
        self.process.stdin.close()
        self.process.wait(SECONDS)


def main():
    page, headings = Path(sys.argv[1]), sys.argv[2:]
    failed, names = 0, {}
    with tempfile.TemporaryDirectory(prefix="rk") as scratch:
        app = Path(scratch) / "srv" / "app"
        app.mkdir(parents=True)
        env = {
            "PATH": os.environ["PATH"],
            "HOME": scratch,
            "SHELL": "/bin/bash",
            "ROOKERY_HOME": str(Path(scratch) / "home"),
            "LANG": "C.UTF-8",
        }
        shell = Shell(app, env)
        for line, all_steps in blocks(page.read_text(), headings):
            for command, expected in all_steps:
                real = re.sub(r"\b\w{6}\b", lambda word: names.get(word[0], word[0]), command)
                real = real.replace("/tmp/tour", env["ROOKERY_HOME"])
                real = real.replace("/tmp/docs", env["ROOKERY_HOME"])
                printed = [
                    text.replace(str(app), "/srv/app").replace(env["ROOKERY_HOME"], "/tmp/docs")
                    for text in shell.run(real)
                ]
                if normalized(printed) == normalized(expected):
                    names.update(renamed(expected, printed))
                else:
                    failed += 1
                    print(f"{page}, block at line {line}: $ {command}")
                    print("  expected:", *expected, sep="\n    ")
                    print("  printed:", *printed, sep="\n    ")
        shell.run("rookery down --all")
        shell.end()
    sys.exit(f"{failed} examples of {page} print something else" if failed else 0)


if __name__ == "__main__":
    main()
