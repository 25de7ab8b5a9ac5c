# SPDX-License-Identifier: Apache-2.0
"""Tests programs of unlimited depth from Python, which bootstrap."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import toys

import ringmill as rm

HALF = 17**3 // 2
LONG = int(os.environ.get("RINGMILL_FUZZ_SECONDS", "0"))  # `make full`


@pytest.fixture(scope="module")
def toy():
    return toys.bootstrapping()


@rm.program
def power(x: rm.Encrypted[rm.integer[4]]):
    return rm.repeat(9, lambda y: y * y * y, x)


def cubed(x: np.ndarray) -> np.ndarray:
    for _ in range(9):
        x = (x * x % 17**3) * x % 17**3
    return (x + HALF) % 17**3 - HALF


def test_a_loop_is_as_deep_as_it_likes(toy, tmp_path):
    compiled = power.compile(bootstrapping=toy)
    macro, mid = compiled.counts()
    assert macro["BOOTSTRAP"] >= 2
    assert sum(mid.values()) > 10_000
    client = compiled.keygen()
    x = np.array([2, -3, 2000, 17])
    inputs = client.encrypt(x=x)
    path = tmp_path / "run.checkpoint"
    whole = compiled.run(inputs, checkpoint=path, every=0.001)
    assert np.array_equal(client.decrypt(whole), cubed(x))
    assert path.exists()
    # The last checkpoint was written shortly before the end.
    assert np.array_equal(client.decrypt(compiled.run(inputs, resume=path)), cubed(x))
    again = client.encrypt(x=x)
    with pytest.raises(rm.DeviceError, match="other keys or inputs"):
        compiled.run(again, resume=path)
    # The saved file says how the program bootstraps, so another process can go on.
    file = tmp_path / "power.rmac"
    compiled.save(file)
    with pytest.raises(rm.FileError, match="insecure"):
        rm.load(file)
    loaded = rm.load(file, allow_insecure_parameters_for_tests_only=True)
    assert loaded.counts() == compiled.counts()
    assert np.array_equal(client.decrypt(loaded.run(inputs, resume=path)), cubed(x))
    altered = tmp_path / "altered.rmac"
    for right, wrong, why in (
        ('"weight":8', '"weight":0', "weight 0"),
        ('"weight":8', '"weight":200', "chance"),
        ('"stages":1', '"stages":99', "compile it again"),
    ):
        altered.write_text(file.read_text().replace(right, wrong, 1))
        with pytest.raises(rm.FileError, match=why):
            rm.load(altered, allow_insecure_parameters_for_tests_only=True)
    with pytest.raises(rm.CompileError, match="bits"):
        power.compile(toy.params, slots=4, input_bound=HALF, scheme="bgv")


def bootstraps(compiled: rm.Compiled) -> int:
    return compiled.counts()[0].get("BOOTSTRAP", 0)


def test_a_straight_line_is_as_deep_as_it_likes(toy):
    """A straight program bootstraps at most as often as the same body in a repeat of one turn."""

    def body(x):
        for step in range(60):
            x = x * x + step
        return x

    @rm.program
    def straight(x: rm.Encrypted[rm.integer[4]]):
        return body(x)

    @rm.program
    def repeated(x: rm.Encrypted[rm.integer[4]]):
        return rm.repeat(1, body, x)

    compiled = straight.compile(bootstrapping=toy)
    assert 1 <= bootstraps(compiled) <= bootstraps(repeated.compile(bootstrapping=toy))
    client = compiled.keygen()
    x = np.array([2, -3, 2000, 17])
    found = client.decrypt(compiled.run(client.encrypt(x=x)))
    right = x
    for step in range(60):
        right = (right * right + step) % 17**3
    assert np.array_equal(found, (right + HALF) % 17**3 - HALF)


@pytest.mark.parametrize("name", ["small", "medium"])
def test_named_sets_bootstrap_programs_of_any_depth(name):
    setup = rm.bootstrapping(name)

    @rm.program
    def squared(x: rm.Encrypted[rm.integer[4]]):
        for _ in range(25):
            x = x * x
        return x

    @rm.program
    def summed(x: rm.Encrypted[rm.integer[4]]):
        return rm.repeat(2, lambda y: y + x, x)

    assert bootstraps(squared.compile(bootstrapping=setup)) >= 2
    summed.compile(bootstrapping=setup)


def test_a_set_says_the_slots_of_a_vector(toy):
    assert toy.slots == 4
    assert "vectors of 4 slots, integers modulo 17^3" in repr(toy)


def test_the_command_reads_how_a_saved_program_bootstraps(ringmill, tmp_path):
    @rm.program
    def power(x: rm.Encrypted[rm.integer[16]]):
        return rm.repeat(2, lambda y: y * y * x, x)

    setup = rm.bootstrapping("small", target="vector")
    compiled = power.compile(bootstrapping=setup, target="vector")
    file = tmp_path / "power.rmac"
    compiled.save(file)
    assert ringmill("compile", file) == file.read_text()
    # Both turns of the loop are one procedure, which is called once.
    assert ringmill("compile", file, "--emit", "macro").count("BOOTSTRAP") == bootstraps(compiled) > 0
    time = json.loads(ringmill("sim", file, "--machine", "vector", "--json"))
    assert time["cycles"] > 1_000_000
    said = ringmill("run", file, "--random-inputs", "--range", "x=-9:9", status=2)
    assert "--range says how to compile" in said
    assert "leave --range out" in said
    if not LONG:
        return
    # This run makes keys of half a gigabyte.
    x = np.array([2, -3, 11, -15] * 4)
    np.save(tmp_path / "x.npy", x)
    found = tmp_path / "found.json"
    ringmill("run", file, "--input", f"x={tmp_path}/x.npy", "--output", found)
    half = setup.modulus // 2
    right = [(pow(int(value), 7, setup.modulus) + half) % setup.modulus - half for value in x]
    assert json.loads(found.read_text())["out"] == right


def test_digits_tables_and_fixed_point(toy):
    @rm.program
    def parts(x: rm.Encrypted[rm.integer[4]]):
        fixed = toy.fixed(x, scale=17, bound=144)
        low, high = fixed.digits()
        doubled = fixed.rounded_table(lambda z: 2 * abs(z), scale=1)
        return {"low": low, "high": high, "doubled": doubled.vector}

    x = np.array([0, 144, -144, 26])
    compiled = parts.compile(bootstrapping=toy)
    client = compiled.keygen()
    found = client.decrypt(compiled.run(client.encrypt(x=x)))
    low = (x + 8) % 17 - 8
    assert np.array_equal(found["low"], low)
    assert np.array_equal(found["high"], (x - low) // 17)
    assert np.array_equal(found["doubled"], 2 * np.abs((x - low) // 17))


def test_signs_comparisons_and_scaling(toy):
    @rm.program
    def compared(x: rm.Encrypted[rm.integer[4]], y: rm.Encrypted[rm.integer[4]]):
        a, b = toy.fixed(x, scale=17, bound=700), toy.fixed(y, scale=17, bound=700)
        return {"less": a.less(b), "sign": a.sign(), "coarse": a.rescaled().vector}

    x = np.array([0, 700, -700, 8])
    y = np.array([0, -700, -699, 9])
    compiled = compared.compile(bootstrapping=toy)
    client = compiled.keygen()
    found = client.decrypt(compiled.run(client.encrypt(x=x, y=y)))
    assert np.array_equal(found["less"], x < y)
    assert np.array_equal(found["sign"], np.sign(x))
    assert np.array_equal(found["coarse"], (x + 8) // 17)

    @rm.program
    def too_coarse(x: rm.Encrypted[rm.integer[4]]):
        return toy.fixed(x, scale=17, bound=8).rescaled().vector

    with pytest.raises(rm.CompileError, match="are 0 over"):
        too_coarse.compile(bootstrapping=toy)

    @rm.program
    def too_long(x: rm.Encrypted[rm.integer[4]]):
        return toy.sign(x, digits=4)

    with pytest.raises(rm.CompileError, match="no 4 digits"):
        too_long.compile(bootstrapping=toy)


def test_what_does_not_fit_is_refused(toy):
    @rm.program
    def large(x: rm.Encrypted[rm.integer[4]]):
        fixed = toy.fixed(x, scale=1, bound=HALF)
        return (fixed + fixed).vector

    with pytest.raises(rm.CompileError, match="whole numbers up to 2456"):
        large.compile(bootstrapping=toy)

    @rm.program
    def mixed(x: rm.Encrypted[rm.integer[4]]):
        return (toy.fixed(x, 2, 3) + toy.fixed(x, 3, 3)).vector

    with pytest.raises(rm.CompileError, match="scales 2 and 3"):
        mixed.compile(bootstrapping=toy)

    @rm.program
    def same(x: rm.Encrypted[rm.integer[4]], y: rm.Encrypted[rm.integer[4]]):
        return rm.equal(x, y)

    with pytest.raises(rm.CompileError, match="test for zero"):
        same.compile(bootstrapping=toy)

    @rm.program
    def long(x: rm.Encrypted[rm.integer[8]]):
        return x * x

    with pytest.raises(rm.CompileError, match="slots"):
        long.compile(bootstrapping=toy, slots=8)
    for wrong, said in [
        ({"prime": 15}, "odd prime"),
        ({"prime": 2}, "from 3"),
        ({"exponents": (14, 15)}, "2\\^60"),
        ({"exponents": (3, 3)}, "do not bootstrap"),
        ({"exponents": (1,)}, "a pair"),
        ({"primes": (5, 2)}, "."),
        ({"primes": (34, 11)}, "special primes is 11, expected 9.*or 33 ciphertext primes beside 11 special ones"),
        ({"weight": 0}, "weight"),
        ({"weight": 500}, "chance"),
    ]:
        given = {"log_n": 9, "prime": 17, "exponents": (3, 4), "primes": (39, 13), "weight": 8} | wrong
        with pytest.raises(rm.ParameterError, match=said):
            rm.bootstrapping(**given, allow_insecure_parameters_for_tests_only=True)
    with pytest.raises(rm.ParameterError, match="basalisc"):
        rm.bootstrapping("basilisk")
    with pytest.raises(rm.ParameterError, match="all of"):
        rm.bootstrapping(log_n=9)
    with pytest.raises(rm.ParameterError):
        rm.bootstrapping(log_n=9, prime=17, exponents=(3, 4), primes=(39, 13), weight=8)
