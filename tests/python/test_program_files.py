# SPDX-License-Identifier: Apache-2.0
"""Tests the command on hostile Python program files. Its status, its one JSON document and its files stay what they
are.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time

import pytest
from conftest import COMMAND

import ringmill as rm
from ringmill.source import traced

PROGRAM = "import ringmill as rm\n\n@rm.program\ndef twice(x: rm.Encrypted):\n    return x + x\n"


# The code before the program, and parts of the error.
HOSTILE = {
    "exit": ("import sys\nsys.exit(0)", ["file.py:2", "SystemExit: 0", "__main__"]),
    "exit with words": ("raise SystemExit('no')", ["file.py:1", "SystemExit: no"]),
    "interrupt": ("raise KeyboardInterrupt", ["file.py:1", "KeyboardInterrupt"]),
    "exception": ("def f():\n    return 1 / 0\nf()", ["file.py:2", "ZeroDivisionError"]),
    "generator exit": ("raise GeneratorExit", ["GeneratorExit"]),
    "no text": ("class E(Exception):\n    def __str__(self):\n        raise E\nraise E", ["file.py:4", "E"]),
    "syntax": ("def", ["file.py:1", "SyntaxError"]),
    "import": ("import no_such_module", ["file.py:1", "no_such_module"]),
    "end": ("import os\nos._exit(0)", ["status 0", "before its program was traced"]),
    "kill": ("import os\nos.kill(os.getpid(), 9)", ["signal 9"]),
    "recursion": ("def f():\n    f()\nf()", ["RecursionError"]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_that_does_not_define_its_program_is_refused(tmp_path, name):
    first, holds = HOSTILE[name]
    (tmp_path / "file.py").write_text(f"{first}\n{PROGRAM}")
    with pytest.raises(rm.RingmillError) as caught:
        traced(tmp_path / "file.py", 64, False)
    for part in holds:
        assert part in str(caught.value)


@pytest.mark.parametrize("name", ["exit", "exception", "kill"])
def test_and_the_command_ends_with_status_2(command, tmp_path, name):
    first, holds = HOSTILE[name]
    (tmp_path / "file.py").write_text(f"{first}\n{PROGRAM}")
    done = command("compile", "file.py", "--slots", "64", "--json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, ""), done
    *_printed, error = [json.loads(line) for line in done.stderr.splitlines()]
    assert error["status"] == 2
    for part in holds:
        assert part in error["error"]
    assert set(os.listdir(tmp_path)) <= {"file.py", "__pycache__"}


# Code before and after the program that must change nothing.
HARMLESS = """
import atexit, os, sys, threading, time
print("to standard output")
os.write(1, b"below Python \\xff")
print("to standard error", file=sys.stderr)
os.chdir("/")
sys.argv[:] = ["--help"]
if os.fork() == 0:
    print("a copy goes on")
os.close(1)
sys.stdout = None
atexit.register(lambda: os._exit(7))
threading.Thread(target=time.sleep, args=(600,)).start()
os.umask(0o777)
"""


def test_what_a_file_does_besides_changes_nothing(command, tmp_path):
    (tmp_path / "file.py").write_text(HARMLESS + PROGRAM)
    (tmp_path / "clean.py").write_text(PROGRAM)
    arguments = ["--slots", "64", "--random-inputs", "--json", "--output", "out.json", "--trace", "trace.json"]
    done = command("run", "file.py:twice", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["agrees"] is True
    (printed,) = [json.loads(line) for line in done.stderr.splitlines()]
    assert "to standard output" in printed["printed"]
    assert "below Python" in printed["printed"]
    assert json.loads((tmp_path / "trace.json").read_text())
    assert len(json.loads((tmp_path / "out.json").read_text())["out"]) == 64
    hostile = command("compile", "file.py", "--slots", "64", cwd=tmp_path)
    clean = command("compile", "clean.py", "--slots", "64", cwd=tmp_path)
    assert hostile.returncode == clean.returncode == 0
    assert hostile.stdout.count("\n") == clean.stdout.count("\n")
    assert "to standard output" not in hostile.stdout
    assert "to standard output" in hostile.stderr


def test_the_program_of_a_file_is_found_by_name(command, tmp_path):
    (tmp_path / "library.py").write_text(PROGRAM)
    (tmp_path / "own.py").write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\nimport ringmill as rm\n"
        "from library import twice\n\n@dataclass\nclass Model:\n    degree: int\n\n"
        "@rm.program\ndef thrice(x: rm.Encrypted):\n    return x + twice(x)\n"
    )
    (tmp_path / "two.py").write_text(PROGRAM + PROGRAM.replace("twice", "again"))
    (tmp_path / "none.py").write_text("import ringmill\n")
    for spec in ("own.py", "own.py:twice", "two.py:again"):
        assert "INPUT" in traced(tmp_path / spec, 64, False)
    for spec, holds in {
        "two.py": "two.py:NAME",
        "two.py:agian": "did you mean `again`?",
        "two.py:": "no program named",
        "none.py": "no @rm.program function",
        "missing.py": "missing.py: no such Python file",
        "own.py/:x.py": "no such Python file",
    }.items():
        with pytest.raises(rm.RingmillError, match=re.escape(holds)):
            traced(tmp_path / spec, None, False)
    # Only the program's own path is read as Python. Other arguments may end in .py.
    done = command("run", "own.py", "--slots", "64", "--random-inputs", "--output", "out.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out.py").read_text())


@pytest.mark.parametrize("slots", ["0", "1.5", "8388608"])
def test_slots_that_are_no_power_of_two(command, tmp_path, slots):
    (tmp_path / "file.py").write_text(PROGRAM)
    done = command("compile", "file.py", "--slots", slots, "--json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert json.loads(done.stderr)["status"] == 2


def test_closed_streams_are_not_taken_for_files(tmp_path):
    (tmp_path / "file.py").write_text(PROGRAM)
    line = f"{COMMAND} run file.py --slots 64 --random-inputs --trace trace.json --output out.json <&- >&- 2>&-"
    assert subprocess.run(line, shell=True, cwd=tmp_path, timeout=300).returncode == 0
    assert set(json.loads((tmp_path / "out.json").read_text())) == {"out"}
    assert json.loads((tmp_path / "trace.json").read_text())["traceEvents"]


def test_a_reader_who_leaves_changes_no_status(tmp_path):
    (tmp_path / "file.py").write_text(PROGRAM)
    for arguments in (
        "compile file.py --slots 4096 --emit mid",
        "devices",
        "machine show ring",
        "--help",
        "run file.py",
    ):
        line = f"set -o pipefail; {COMMAND} {arguments} | head -c 1"
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == (2 if arguments.startswith("run") else 0), done.stderr
        assert "panicked" not in done.stderr
        assert "Traceback" not in done.stderr


def test_ctrl_c_while_a_file_is_read_is_status_130(tmp_path):
    (tmp_path / "file.py").write_text("import time\nopen('begun', 'w').close()\ntime.sleep(600)\n" + PROGRAM)
    line = [COMMAND, "compile", "file.py", "--json"]
    running = subprocess.Popen(
        line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not (tmp_path / "begun").exists():
        assert running.poll() is None
        time.sleep(0.02)
    os.killpg(running.pid, signal.SIGINT)
    out, _err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
