# SPDX-License-Identifier: Apache-2.0
"""Programs on approximate numbers of any depth: they bootstrap, and results lie within the predicted error."""

import os
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import COMMAND

import ringmill as rm

TURNS = 12
LONG = int(os.environ.get("RINGMILL_FUZZ_SECONDS", "0"))  # `make full`


@pytest.fixture(scope="module")
def toy() -> rm.Bootstrapping:
    return rm.bootstrapping("toy_insecure_for_tests_only")


@rm.program
def iteration(x: rm.Encrypted, a: rm.Encrypted) -> rm.Encrypted:
    y = x
    for _ in range(TURNS):
        y = y * y * 0.5 - a * 0.25
    return y


def in_the_clear(x: np.ndarray, a: np.ndarray) -> np.ndarray:
    y = x
    for _ in range(TURNS):
        y = y * y * 0.5 - a * 0.25
    return y


def count(compiled: rm.Compiled) -> int:
    return compiled.counts()[0].get("BOOTSTRAP", 0)


@pytest.mark.parametrize("real", [True, False])
def test_a_deep_program_is_within_its_error(toy: rm.Bootstrapping, real: bool) -> None:
    rng = np.random.default_rng(3)
    ranges = {"x": (-1, 1), "a": (0, 1)} if real else {"x": 1, "a": 1}
    compiled = iteration.compile(slots=64, ranges=ranges, bootstrapping=toy)
    assert count(compiled) > 1
    x, a = rng.uniform(-1, 1, 64), rng.uniform(0, 1, 64)
    if not real:
        x = x * np.exp(1j * rng.uniform(0, 6, 64))
    client = compiled.keygen()
    result = client.decrypt(compiled.run(client.encrypt(x=x, a=a)))
    error = np.abs(result - in_the_clear(x, a)).max()
    assert error <= 2.0 ** -compiled.predicted_bits["out"]
    assert compiled.predicted_bits["out"] > 18


def test_values_of_any_size_are_bootstrapped(toy: rm.Bootstrapping) -> None:
    @rm.program
    def scaled(x: rm.Encrypted) -> rm.Encrypted:
        y = x
        for _ in range(6):
            y = y * y * 0.001 + x * 0.5
        return y

    x = np.random.default_rng(4).uniform(-500, 500, 16)
    compiled = scaled.compile(slots=16, ranges={"x": (-500, 500)}, bootstrapping=toy)
    assert count(compiled) > 0
    y = x
    for _ in range(6):
        y = y * y * 0.001 + x * 0.5
    client = compiled.keygen()
    result = client.decrypt(compiled.run(client.encrypt(x=x)))
    assert np.abs(result - y).max() <= 2.0 ** -compiled.predicted_bits["out"]


def test_arrays_bootstrap(toy: rm.Bootstrapping) -> None:
    @rm.program
    def power(x: rm.Encrypted[rm.real[5, 7]]) -> rm.Encrypted[rm.real[7]]:
        y = x
        for _ in range(9):
            y = y * y * 0.5 + x * 0.25
        return y.sum(axis=0)

    x = np.random.default_rng(5).uniform(-1, 1, (5, 7))
    compiled = power.compile(ranges={"x": (-1, 1)}, bootstrapping=toy)
    assert count(compiled) > 0
    y = x
    for _ in range(9):
        y = y * y * 0.5 + x * 0.25
    client = compiled.keygen()
    result = client.decrypt(compiled.run(client.encrypt(x=x)))
    assert result.shape == (7,)
    assert np.abs(result - y.sum(axis=0)).max() <= 2.0 ** -compiled.predicted_bits["out"]


def test_a_repeat_bootstraps(toy: rm.Bootstrapping) -> None:
    @rm.program
    def repeated(x: rm.Encrypted) -> rm.Encrypted:
        return rm.repeat(10, lambda y: y * y * 0.5 - 0.25, x)

    x = np.random.default_rng(6).uniform(-1, 1, 8)
    compiled = repeated.compile(slots=8, ranges={"x": (-1, 1)}, bootstrapping=toy)
    assert count(compiled) > 0
    y = x
    for _ in range(10):
        y = y * y * 0.5 - 0.25
    client = compiled.keygen()
    result = client.decrypt(compiled.run(client.encrypt(x=x)))
    assert np.abs(result - y).max() <= 2.0 ** -compiled.predicted_bits["out"]


def test_programs_keys_and_ciphertexts_go_through_files(toy: rm.Bootstrapping, tmp_path: Path) -> None:
    compiled = iteration.compile(slots=16, ranges={"x": (-1, 1), "a": (0, 1)}, bootstrapping=toy)
    compiled.save(tmp_path / "deep.rmac")
    again = rm.load(tmp_path / "deep.rmac", allow_insecure_parameters_for_tests_only=True)
    assert again.counts() == compiled.counts()
    assert again.predicted_bits == compiled.predicted_bits
    x, a = np.linspace(-1, 1, 16), np.linspace(0, 1, 16)
    client = again.keygen()
    result = client.decrypt(again.run(client.encrypt(x=x, a=a)))
    assert np.abs(result - in_the_clear(x, a)).max() <= 2.0 ** -again.predicted_bits["out"]


def test_a_program_bootstraps_by_itself_where_nothing_else_is_deep_enough() -> None:
    @rm.program
    def deep(x: rm.Encrypted) -> rm.Encrypted:
        y = x
        for _ in range(100):
            y = y * y * 0.5 - x * 0.25
        return y

    ranges = {"x": (-1, 1)}
    compiled = deep.compile(slots=1024, ranges=ranges)
    assert count(compiled) > 10
    assert "2^16" in str(compiled.params)
    assert compiled.predicted_digits["out"] >= 6
    # Bootstraps that run twice have errors below 2^-40, and leave fewer levels.
    precise = deep.compile(slots=1024, ranges=ranges, digits=11)
    assert precise.predicted_digits["out"] >= 11
    assert count(precise) > count(compiled)
    with pytest.raises(rm.ParameterError, match="levels run out here"):
        deep.compile(slots=1024, ranges=ranges, bootstrapping=False)
    with pytest.raises(rm.RingmillError, match=r"keys.* 1 GiB|keys.* 1\.0 GiB"):
        deep.compile(slots=1024, ranges=ranges, keys="1GiB")


def test_sets_of_another_scheme_are_refused(toy: rm.Bootstrapping) -> None:
    whole = rm.bootstrapping(
        log_n=9,
        prime=17,
        exponents=(3, 4),
        primes=(39, 13),
        weight=8,
        allow_insecure_parameters_for_tests_only=True,
    )
    with pytest.raises(rm.RingmillError):
        iteration.compile(slots=4, scheme="ckks", bootstrapping=whole, input_bound=1)
    with pytest.raises(rm.RingmillError):
        iteration.compile(slots=4, scheme="bgv", bootstrapping=toy, input_bound=1)
    with pytest.raises(rm.ParameterError, match="whole numbers"):
        toy.budget  # noqa: B018
    with pytest.raises(rm.ParameterError, match="leave target= out"):
        rm.bootstrapping("deep", target="ring")
    assert 0 < toy.error < 1e-6
    assert whole.error == 0


def test_a_value_without_right_digits_is_not_bootstrapped(toy: rm.Bootstrapping) -> None:
    @rm.program
    def steep(x: rm.Encrypted) -> rm.Encrypted:
        y = x
        for _ in range(12):
            y = rm.bounded(y * 3 - y * y * 2.5, -1, 1)
        return y

    with pytest.raises(rm.CompileError, match=r"test_ckks_bootstrap\.py:\d+: .*an error above 2 %"):
        steep.compile(slots=8, ranges={"x": (0, 1)}, bootstrapping=toy)


def test_a_machine_is_refused(toy: rm.Bootstrapping) -> None:
    with pytest.raises(rm.RingmillError, match="target machine is not for programs that bootstrap"):
        iteration.compile(slots=8, ranges={"x": (-1, 1), "a": (0, 1)}, bootstrapping=toy, target="ring")


def test_the_command_reads_a_saved_program(tmp_path: Path) -> None:
    compiled = iteration.compile(
        slots=16, ranges={"x": (-1, 1), "a": (0, 1)}, bootstrapping=rm.bootstrapping("fine"), digits=5
    )
    compiled.save(tmp_path / "deep.rmac")
    command = [COMMAND, "compile", str(tmp_path / "deep.rmac"), "--emit", "macro"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count(" = BOOTSTRAP ") == count(compiled) > 0


def random_program(rng: np.random.Generator, slots: int) -> tuple[rm.Program, list[tuple]]:
    """A program whose values stay in the unit disc, as a list of steps that :func:`steps_in_the_clear` takes too."""
    steps = []
    for place in range(2, int(rng.integers(20, 60))):
        a, b = (int(rng.integers(max(0, place - 4), place)) for _ in range(2))
        kind = rng.choice(["mul", "square", "mean", "turn", "conj", "plain", "scaled", "first"])
        steps.append((str(kind), a, b, int(rng.integers(1, slots)), rng.uniform(-1, 1, slots), rng.uniform(-1, 1)))

    @rm.program
    def made(x: rm.Encrypted, y: rm.Encrypted) -> rm.Encrypted:
        return steps_of(steps, x, y, lambda v, by: v << by, rm.conj)

    return made, steps


def steps_of(steps: list[tuple], x, y, turn, conj):
    values = [x, y]
    for kind, a, b, by, plain, constant in steps:
        u, v = values[a], values[b]
        match kind:
            case "mul":
                values.append(u * v)
            case "square":
                values.append(u * u)
            case "mean":
                values.append((u + v) * 0.5)
            case "turn":
                values.append(turn(u, by))
            case "conj":
                values.append(conj(u))
            case "plain":
                values.append(u * plain)
            case "scaled":
                values.append(u * constant)
            case "first":
                values.append((u - values[0]) * 0.5)
    # The inputs are added so that no output is the same whatever is encrypted.
    return values[-1] + values[-2] * 0.5 + values[0] * 0.26 + values[1] * 0.13


@pytest.mark.parametrize("name", ["toy_insecure_for_tests_only", "precise_toy_insecure_for_tests_only"])
def test_random_programs_are_within_their_errors(name: str) -> None:
    toy = rm.bootstrapping(name)
    seed = int(os.environ.get("RINGMILL_SEED", "1"))
    end, programs, bootstraps, slack = time.monotonic() + LONG, 0, 0, []
    while programs < 4 or time.monotonic() < end:
        rng = np.random.default_rng([seed, programs])
        slots = int(2 ** rng.integers(1, 11))
        made, steps = random_program(rng, slots)
        real = bool(rng.integers(2))
        ranges = {"x": (-1, 1), "y": (-1, 1)} if real else {"x": 1, "y": 1}
        compiled = made.compile(slots=slots, ranges=ranges, bootstrapping=toy)
        kinds = [rng.uniform(-1, 1, slots), np.ones(slots), -np.eye(slots)[0], np.zeros(slots)]
        x, y = kinds[rng.integers(4)], rng.uniform(-1, 1, slots)
        if not real:
            x = x * np.exp(1j * rng.uniform(0, 7, slots))
        client = compiled.keygen()
        result = client.decrypt(compiled.run(client.encrypt(x=x, y=y)))
        expected = steps_of(steps, x, y, lambda v, by: np.roll(v, -by), np.conj)
        error = float(np.abs(result - expected).max())
        predicted = 2.0 ** -compiled.predicted_bits["out"]
        assert error <= predicted, f"seed {seed}, program {programs}: {error} above {predicted}"
        slack.append(np.log2(predicted / max(error, 2.0**-60)))
        programs, bootstraps = programs + 1, bootstraps + count(compiled)
    assert bootstraps > 0
    print(f"{programs} programs, {bootstraps} bootstraps, median slack {np.median(slack):.1f} bits")
