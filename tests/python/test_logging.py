# SPDX-License-Identifier: Apache-2.0
"""Tests what long work tells the logger `ringmill`: parameters, keys, steps, plans, checkpoints, and nothing secret."""

from __future__ import annotations

import logging
import re
import subprocess
import sys

import numpy as np
import pytest

import ringmill as rm
from ringmill import log

SLOTS = 16
SECRET = 0.123456789


@rm.program
def product(x: rm.Encrypted, p: rm.Plain):
    return x * p


@pytest.fixture
def said(caplog, monkeypatch):
    caplog.set_level(logging.DEBUG, logger="ringmill")
    monkeypatch.setattr(log, "_SAID", set())
    return caplog


def of(said, level):
    return [record.getMessage() for record in said.records if record.levelno == level]


def test_work_says_what_it_does_and_nothing_secret(said, small, tmp_path):
    compiled = product.compile(small, slots=SLOTS, input_bound=1)
    client = compiled.keygen()
    inputs = client.encrypt(x=np.full(SLOTS, SECRET))
    checkpoint = tmp_path / "run.checkpoint"
    run = compiled.run(inputs, plain={"p": np.full(SLOTS, SECRET)}, device="cpu:1", checkpoint=checkpoint, every=60)
    found = client.decrypt(run)
    info, debug = of(said, logging.INFO), of(said, logging.DEBUG)
    for pattern in [
        r"product: parameters given, .*2\^11.*, evaluation keys of [0-9.]+ MiB",
        r"made keys of product in [0-9.]+ s",
        rf"product on cpu:1: saved in {re.escape(str(checkpoint))} every 60 s at most",
        r"ran product on cpu:1 in [0-9.]+ s",
    ]:
        assert [line for line in info if re.fullmatch(pattern, line)], (pattern, info)
    for pattern in [
        r"traced product in [0-9.]+ s",
        r"compiled product in [0-9.]+ s",
        r"encrypted x in [0-9.]+ s",
        r"decrypted out in [0-9.]+ s",
        r"plan: .* on words of 64 bits, primes of \d+ bits, 2\^11 residues: .+",
    ]:
        assert [line for line in debug if re.fullmatch(pattern, line)], (pattern, debug)
    everything = "\n".join(info + debug)
    for value in (SECRET, found[0], SECRET**2):
        assert f"{value:.6f}"[2:] not in everything


def test_chosen_parameters_are_said_and_plans_once(said):
    compiled = product.compile(slots=SLOTS, input_bound=1, precision=10)
    assert any("parameters chosen, " in line for line in of(said, logging.INFO))
    inputs = compiled.keygen().encrypt(x=np.ones(SLOTS))
    for _ in range(2):
        compiled.run(inputs, plain={"p": np.ones(SLOTS)}, device="cpu:1")
    plans = [line for line in of(said, logging.DEBUG) if line.startswith("plan: ")]
    assert plans
    assert len(plans) == len(set(plans))


def test_work_that_fails_is_not_said_to_be_done(said, small):
    compiled = product.compile(small, slots=SLOTS, input_bound=1)
    said.clear()
    with pytest.raises(rm.DataError):
        compiled.keygen().encrypt(x=np.full(SLOTS, 5.0))
    assert not [line for line in of(said, logging.DEBUG) if "encrypted" in line]


def test_nothing_is_shown_unasked():
    script = """
import ringmill as rm
@rm.program
def f(x: rm.Encrypted):
    return x + 1
f.compile(slots=16, input_bound=1).keygen()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
