# SPDX-License-Identifier: Apache-2.0
"""Runs type checkers: the examples pass `mypy --strict`, and mypy and Ringmill both read the annotations."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest

import ringmill as rm

ROOT = Path(__file__).resolve().parents[2]


def mypy(*files: str | Path) -> subprocess.CompletedProcess[str]:
    cache = ROOT / "target" / "mypy"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", "--cache-dir", cache]
    return subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)


def test_the_examples_pass_mypy(tmp_path):
    done = mypy(*sorted(ROOT.glob("examples/*.py")))
    assert done.returncode == 0, done.stdout + done.stderr
    # The types are not empty: mypy reports uses that the package does not have.
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import ringmill as rm\n"
        "params: int = rm.params(log_n=13)\n"
        "rm.EvaluationKeys.load(3, rm.params(log_n=13))\n"
        "rm.no_such_name\n"
    )
    found = [line.split(" error: ")[0] for line in mypy(wrong).stdout.splitlines() if " error: " in line]
    assert [place.rsplit(":")[-2] for place in found] == ["2", "3", "4"]


def test_the_stub_of_the_extension_names_what_there_is():
    command = [sys.executable, "-m", "mypy.stubtest", "ringmill._ringmill"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("error: ringmill._ringmill.")]
    assert lines, done.stdout + done.stderr
    # Operators of Rust's classes, which stand in the stub only where the package uses them, and subclasses.
    special = re.compile(r"\.__\w+__ |cannot be subclassed|disjoint base")
    found = {line.removeprefix("error: ringmill._ringmill.") for line in lines if not special.search(line)}
    # A type that only the stub has, and a module with a stub of its own.
    assert found == {"Vector is not present at runtime", "seal is not present in stub"}


def test_an_annotation_for_both_readers():
    @rm.program
    def both(x: Annotated[rm.Encrypted, rm.Encrypted[rm.uint(4)[8]]], y: Annotated[rm.Plain, rm.Plain[rm.uint(4)]]):
        return x * y

    @rm.program
    def alone(x: rm.Encrypted[rm.uint(4)[8]], y: rm.Plain[rm.uint(4)]):
        return x * y

    assert dataclasses.replace(both.signature, line=alone.signature.line) == alone.signature

    @rm.program
    def bare(x: Annotated[rm.Encrypted, "in volts"]):
        return x + 1

    assert bare.parameters == {"x": True}
    assert list(bare(np.ones(4))) == [2, 2, 2, 2]

    @rm.circuit
    def larger(x: Annotated[list[rm.Integer], rm.Encrypted[rm.uint(4)[2]]]):
        return rm.maximum(*x)

    assert larger([3, 9]) == 9


@pytest.mark.parametrize(
    "written",
    [
        Annotated[rm.Encrypted, rm.Encrypted[rm.real[8]], rm.Encrypted[rm.real[4]]],
        Annotated[int, "nothing of ours"],
    ],
)
def test_an_annotation_that_says_two_things_or_none(written):
    def program(x):
        return x + 1

    program.__annotations__["x"] = written
    with pytest.raises(rm.CompileError, match="must be annotated"):
        _ = rm.program(program).parameters
