# SPDX-License-Identifier: Apache-2.0
"""Tests that wrong input is refused with the right exception and helpful words."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import ringmill as rm


@rm.program
def square(x: rm.Encrypted):
    return x * x


@pytest.fixture(scope="module")
def compiled(small):
    return square.compile(small)


@pytest.fixture(scope="module")
def client(compiled):
    return compiled.keygen()


@pytest.mark.parametrize(
    "value",
    [
        np.zeros(1025),
        np.zeros((2, 512)),
        np.full(1024, np.nan),
        np.full(1024, np.inf),
        np.full(1024, 1e300),
        np.array(["a"] * 1024),
    ],
    ids=["long", "shape", "nan", "infinity", "large", "text"],
)
def test_values_that_cannot_be_encoded(client, value):
    with pytest.raises(rm.DataError):
        client.encrypt(x=value)


def test_inputs_must_be_the_programs_own(client, compiled):
    with pytest.raises(rm.DataError, match="x"):
        client.encrypt()
    for value in (np.zeros(1024), 1):
        with pytest.raises(rm.DataError, match="no input `y`; known: x"):
            client.encrypt(x=np.zeros(1024), y=value)
    with pytest.raises(rm.DataError, match="x"):
        compiled.run({}, keys=client.evaluation_keys)


def test_a_program_too_deep_for_its_parameters(small):
    @rm.program
    def deep(x: rm.Encrypted):
        for _ in range(9):
            x = x * x  # deeper
        return x

    with pytest.raises(rm.CompileError, match="deep") as caught:
        deep.compile(small)
    lines, first = inspect.getsourcelines(deep)
    deeper = first + next(i for i, line in enumerate(lines) if "# deeper" in line)
    assert str(caught.value).startswith(f"{__file__}:{deeper}: ")
    assert caught.value.line == deeper


def test_insecure_parameters():
    with pytest.raises(rm.ParameterError, match="insecure"):
        rm.params(log_n=11, bits=[50, 40, 50])
    with pytest.raises(rm.ParameterError):
        rm.params("set1", table="guidelines_2024")
    assert rm.params("set1", table="standard_2018").slots == 8192


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "set9"},
        {},
        {"log_n": 14},
        {"bits": [60, 60]},
        {"log_n": 14, "bits": [60, 99]},
        {"log_n": 14, "bits": [60]},
        {"log_n": 99, "bits": [60, 60]},
        {"name": "set2", "table": "2017"},
        {"name": "set2", "security": 100},
    ],
)
def test_malformed_parameters(arguments):
    with pytest.raises(rm.ParameterError):
        rm.params(**arguments)


def test_missing_and_foreign_keys(compiled, client, small):
    inputs = client.encrypt(x=np.ones(1024))
    with pytest.raises(rm.KeysError, match="keys="):
        compiled.run(inputs.ciphertexts)

    @rm.program
    def rotated(x: rm.Encrypted):
        return x << 1

    needs_more = rotated.compile(small)
    with pytest.raises(rm.KeysError):
        needs_more.run(inputs.ciphertexts, keys=client.evaluation_keys)
    other = square.compile(
        rm.params(log_n=11, bits=[50, 40, 40, 50], allow_insecure_parameters_for_tests_only=True)
    ).keygen()
    with pytest.raises(rm.KeysError, match="parameters"):
        compiled.run(inputs.ciphertexts, keys=other.evaluation_keys)


@pytest.mark.parametrize("device", ["gpu", "sim:none", "cpu:0", "cpu:x", "sim:missing.toml", ""])
def test_unknown_devices(compiled, client, device):
    with pytest.raises(rm.DeviceError):
        compiled.run(client.encrypt(x=np.ones(1024)), device=device)


def test_nonsense_machine_file(compiled, client, tmp_path):
    machine = tmp_path / "mine.toml"
    machine.write_text("clock = 'fast'")
    with pytest.raises(rm.DeviceError):
        compiled.run(client.encrypt(x=np.ones(1024)), device=f"sim:{machine}")


def test_compile_needs_slots():
    with pytest.raises(rm.CompileError, match="slots="):
        square.compile()
    with pytest.raises(rm.CompileError):
        square.compile(rm.params("set2"), slots=1 << 15)


def test_secrets_stay_out_of_sight(client):
    assert repr(client) == "<ringmill client>"
    assert not hasattr(client, "secret_key")
