# SPDX-License-Identifier: Apache-2.0
"""Tests that no copy of a secret key stays in a process that made, used, saved, loaded and dropped the key."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import COMMAND, ROOT
from memory import COPY, copies, search

# The bytes of a file before its content, and after it.
HEADER, CHECKSUM = 72, 32

FIRST = """
import gc, sys
import numpy as np
import ringmill as rm
path = sys.argv[1]
"""
LAST = """
del client, again
gc.collect()
print("dropped", flush=True)
sys.stdin.readline()
"""

WHOLE = """
@rm.program
def squares(x: rm.Encrypted[rm.uint(8)[16]]):
    return rm.sum(x * x, 16)

compiled = squares.compile(slots=16)
client = compiled.keygen()
run = compiled.run(client.encrypt(x=np.arange(16, dtype=np.uint8)))
client.decrypt(run)
client.save_secret_key(path)
again = compiled.load_secret_key(path)
again.decrypt(run)
"""

REAL = """
@rm.program
def twisted(x: rm.Encrypted):
    return (x * x) << 1

params = rm.params(log_n=11, bits=[50, 40, 40, 50], allow_insecure_parameters_for_tests_only=True)
compiled = twisted.compile(params, input_bound=1)
client = compiled.keygen()
run = compiled.run(client.encrypt(x=np.ones(1024)))
client.decrypt(run)
client.decrypt(run, share=rm.Share(statistical_bits=1, decryptions=1))
client.save_secret_key(path)
again = compiled.load_secret_key(path)
again.decrypt(run)
"""

CIRCUIT = """
@rm.circuit
def product(x: rm.Encrypted[rm.uint(4)], y: rm.Encrypted[rm.uint(4)]):
    return x * y

compiled = product.compile(rm.circuit_params(toy_for_tests_only=True), failure=-40)
client = compiled.keygen()
run = compiled.run(client.encrypt(x=3, y=5))
client.decrypt(run)
client.save_secret_key(path)
again = compiled.load_secret_key(path)
again.decrypt(run)
"""


def test_copies_are_found_wherever_they_lie():
    secret = np.random.default_rng(1).bytes(1000)
    for at, start, length in [(0, 0, 1000), (13, 500, COPY), (77, 967, COPY), (31, 7, COPY)]:
        data = bytearray(np.random.default_rng(2).bytes(4096))
        data[at : at + length] = secret[start : start + length]
        assert copies(bytes(data), secret)
    assert not copies(np.random.default_rng(2).bytes(4096), secret)
    assert not copies(bytes(100) + secret[7 : 7 + COPY - 1] + bytes(100), secret)


def left(script: str, path: Path) -> list[str]:
    """Runs the script and returns the copies that it leaves of the secret key saved at `path`."""
    arguments = [sys.executable, "-c", FIRST + script + LAST, str(path)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as child:
        for line in child.stdout:
            if line == "dropped\n":
                break
        secret = path.read_bytes()[HEADER:-CHECKSUM]
        found = search(child.pid, secret)
        child.stdin.write("\n")
        child.stdin.close()
    assert child.returncode == 0
    return found


@pytest.mark.parametrize("script", [REAL, WHOLE, CIRCUIT], ids=["ckks", "bfv", "tfhe"])
def test_nothing_is_left(script, tmp_path):
    assert left(script, tmp_path / "secret") == []


def test_what_lives_is_found(tmp_path):
    kept = CIRCUIT + "kept = again\n"
    assert left(kept, tmp_path / "secret") != []


def turning(turns: int) -> str:
    """Returns a program of so many rotations, as macro text."""
    lines = ['macro "turning" slots 4096', '  input 0 = encrypted "x"', '  output 0 = "y"']
    lines.append("%0 = INPUT input 0 : cipher 2")
    lines += [f"%{turn + 1} = ROTATE %{turn} steps {1 + turn % 5} : cipher 2" for turn in range(turns)]
    return "\n".join([*lines, f"OUTPUT %{turns} output 0", "end", ""])


def test_the_command_leaves_nothing_of_its_folders_secret(tmp_path):
    (tmp_path / "turning.rmac").write_text(turning(300))
    kept = tmp_path / "kept"
    run = ["run", "turning.rmac", "--random-inputs", "--precision", "6", "--checkpoint", "kept"]
    with subprocess.Popen(
        [COMMAND, *run, "--checkpoint-every", "0"], stdout=subprocess.DEVNULL, cwd=tmp_path
    ) as command:
        while not (kept / "run.checkpoint").exists() and command.poll() is None:
            time.sleep(0.01)
        command.send_signal(signal.SIGKILL)
    secret = tmp_path / "secret"
    secret.write_bytes((kept / "secret.key").read_bytes())
    script = f"""
import os
from ringmill.cli import main
os.chdir({str(tmp_path)!r})
assert main({run!r}) == 0
client = again = None
"""
    assert left(script, secret) == []
    assert not kept.exists()
