# SPDX-License-Identifier: Apache-2.0
"""Tests that every fault is a typed exception. Its message says what was expected, what came and what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest

import ringmill as rm

SLOTS = 1024


@rm.program
def square(x: rm.Encrypted):
    return x * x


@rm.program
def turned(x: rm.Encrypted):
    return x << 1


@rm.program
def deep(x: rm.Encrypted):
    for _ in range(9):
        x = x * x
    return x


class World:
    """Programs, keys and files of two parameter sets."""

    def __init__(self, small, folder):
        self.small = small
        self.other = rm.params(log_n=11, bits=[50, 40, 40, 50], allow_insecure_parameters_for_tests_only=True)
        self.compiled, self.foreign = square.compile(small), square.compile(self.other)
        self.client, self.stranger = self.compiled.keygen(), self.foreign.keygen()
        self.inputs = self.client.encrypt(x=np.ones(SLOTS))
        self.keys = self.client.evaluation_keys
        self.folder = folder
        self.inputs.ciphertexts["x"].save(folder / "x")
        self.whole = (folder / "x").read_bytes()
        self.keys.save(folder / "keys")
        self.client.save_secret_key(folder / "secret")

    def encrypt_last(self, value):
        """Encrypts zeros, with `value` in the last slot."""
        return self.client.encrypt(x=np.r_[np.zeros(SLOTS - 1), value])

    def load(self, content, params=None):
        (self.folder / "x").write_bytes(content)
        return rm.Ciphertext.load(self.folder / "x", params or self.small)


@pytest.fixture(scope="module")
def world(small, tmp_path_factory):
    return World(small, tmp_path_factory.mktemp("world"))


# For each fault the exception, a call that provokes it, and parts of its message: what was expected, what came, what to
# do.
FAULTS = {
    "too deep": (rm.CompileError, lambda w: deep.compile(w.small), ["parameters have 3", "needs 9", "use parameters"]),
    "too many slots": (rm.CompileError, lambda w: square.compile(w.small, slots=2048), ["has 1024", "2048", "use"]),
    "odd slots": (rm.CompileError, lambda w: square.compile(w.small, slots=3), ["power of two", "is 3"]),
    "long input": (rm.DataError, lambda w: w.client.encrypt(x=np.zeros(1025)), ["of 1024", "has 1025", "cut"]),
    "short input": (rm.DataError, lambda w: w.client.encrypt(x=np.zeros(1000)), ["of 1024", "has 1000", "pad"]),
    "no input": (rm.DataError, lambda w: w.client.encrypt(), ["no value", "`x`", "pass one"]),
    "NaN": (rm.DataError, lambda w: w.encrypt_last(np.nan), ["finite numbers", "slot 1023 is NaN"]),
    "infinity": (rm.DataError, lambda w: w.encrypt_last(-np.inf), ["finite numbers", "slot 1023 is -inf"]),
    "too large": (rm.DataError, lambda w: w.encrypt_last(1e30), ["1e30", "at most 1.0", "wider range"]),
    "no keys": (rm.KeysError, lambda w: w.compiled.run(w.inputs.ciphertexts), ["evaluation keys", "missing", "keys="]),
    "missing key": (
        rm.KeysError,
        lambda w: turned.compile(w.small).run({"x": turned_input(w)}, keys=w.keys),
        ["needs the Galois key", "not given", "make the keys"],
    ),
    "keys of other parameters": (
        rm.KeysError,
        lambda w: w.compiled.run(w.inputs.ciphertexts, keys=w.stranger.evaluation_keys),
        ["expected", "other parameters", "use objects made with one parameter set"],
    ),
    "inputs of other parameters": (
        rm.DataError,
        lambda w: w.compiled.run(w.stranger.encrypt(x=np.ones(SLOTS)).ciphertexts, keys=w.keys),
        ["`x`", "expected", "other parameters"],
    ),
    "output of other parameters": (
        rm.DataError,
        lambda w: w.stranger.decrypt({"out": w.inputs.ciphertexts["x"]}),
        ["expected", "other parameters"],
    ),
    "empty file": (rm.FileError, lambda w: w.load(b""), ["RINGMILL", "not a Ringmill file", "check the path"]),
    "truncated file": (rm.FileError, lambda w: w.load(w.whole[:-9]), ["expected", "got", "truncated"]),
    "longer file": (rm.FileError, lambda w: w.load(w.whole + b"0"), ["expected", "got", "altered"]),
    "altered file": (
        rm.FileError,
        lambda w: w.load(w.whole[:-99] + bytes([w.whole[-99] ^ 1]) + w.whole[-98:]),
        ["checksum", "does not match", "fetch it again"],
    ),
    "file of other parameters": (
        rm.FileError,
        lambda w: w.load(w.whole, w.other),
        ["expected", "other parameters", "use the parameters it was made with"],
    ),
    "keys' file of other parameters": (
        rm.FileError,
        lambda w: rm.EvaluationKeys.load(w.folder / "keys", w.other),
        ["expected", "other parameters", "use the parameters it was made with"],
    ),
    "secret of other parameters": (
        rm.FileError,
        lambda w: w.foreign.load_secret_key(w.folder / "secret"),
        ["secret", "expected", "other parameters"],
    ),
    "file of another kind": (
        rm.FileError,
        lambda w: rm.Ciphertext.load(w.folder / "keys", w.small),
        ["expected ciphertext", "holds evaluation keys"],
    ),
    "no file": (rm.FileError, lambda w: rm.Ciphertext.load(w.folder / "none", w.small), ["none", "No such file"]),
    "unknown device": (
        rm.DeviceError,
        lambda w: w.compiled.run(w.inputs, device="abacus"),
        ["there is no device 'abacus'", "cpu:N (N threads)", "rm.devices()"],
    ),
    "no threads": (rm.DeviceError, lambda w: w.compiled.run(w.inputs, device="cpu:0"), ["from 1 to", "`cpu:0`"]),
}


def turned_input(world):
    return turned.compile(world.small).keygen().encrypt(x=np.ones(SLOTS)).ciphertexts["x"]


@pytest.mark.parametrize("name", FAULTS)
def test_faults(world, name):
    kind, provoke, holds = FAULTS[name]
    with pytest.raises(rm.RingmillError) as caught:
        provoke(world)
    assert type(caught.value) is kind
    for part in holds:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("change", "holds"),
    [
        (lambda text: "clock = 'fast'", ["unknown field `clock`", "expected one of `name`"]),
        (lambda text: "", ["missing field"]),
        (lambda text: "[[[", ["line 1"]),
        (lambda text: "\x00" * 100, ["line 1"]),
        (lambda text: text + "\n[abacus]\nbeads = 9\n", ["unknown field `abacus`"]),
        (lambda text: re.sub(r"(?m)^rpaus *=.*", "rpaus = 0", text), ["rpaus", "0"]),
        (lambda text: re.sub(r"(?m)^rpaus *=.*", "rpaus = 1000000000000", text), ["rpaus", "1000000000000"]),
        (lambda text: re.sub(r"(?m)^rpaus *=.*", "rpaus = -1", text), ["rpaus", "-1"]),
        (lambda text: re.sub(r"(?m)^log_n *=.*", "log_n = 99", text), ["log_n", "99"]),
        (lambda text: re.sub(r"(?m)^clock_mhz *=.*", "clock_mhz = nan", text), ["clock_mhz", "NaN"]),
        (lambda text: re.sub(r"(?m)^clock_mhz *=.*", "clock_mhz = -5", text), ["clock_mhz", "-5"]),
    ],
    ids=["other", "empty", "syntax", "binary", "table", "zero", "huge", "negative", "log_n", "nan", "clock"],
)
def test_nonsense_machine_files(world, ringmill, tmp_path, change, holds):
    machine = tmp_path / "mine.toml"
    machine.write_text(change(ringmill("machine", "show", "ring")))
    with pytest.raises(rm.DeviceError) as caught:
        world.compiled.run(world.inputs, device=f"sim:{machine}")
    for part in holds:
        assert part in str(caught.value)
