# SPDX-License-Identifier: Apache-2.0
"""Tests programs of whole numbers under BFV: exact at every width and sign. Values that are not whole numbers are
refused.
"""

from __future__ import annotations

import inspect
import os
import signal

import numpy as np
import pytest

import ringmill as rm
from ringmill import schemes

SLOTS = 16
EXACT = [scheme.name for scheme in schemes.SCHEMES if scheme.exact]
BYTE = rm.uint(8)[SLOTS]


@rm.procedure
def mixed(a, b, times):
    return a * b - a * times


@rm.program
def squared(x: rm.Encrypted[BYTE]):
    return x * x + 1


@rm.program
def every(x: rm.Encrypted[rm.integer[SLOTS]], y: rm.Encrypted[rm.integer[SLOTS]], p: rm.Plain[rm.integer[SLOTS]]):
    mask = np.arange(SLOTS) % 2
    return {
        "sum": rm.sum(x, 8) - y,
        "product": (x * y + p) * p - 7,
        "negated": -x + 5 - p,
        "turned": (x << 3) * mask + (y >> 1) * (1 - mask),
        "inner": rm.sum(x * y, SLOTS),
        "polynomial": rm.polynomial(x, [3, -1, 0, 2]),
        "power": x**3,
        "called": mixed(x, y, 3) + mixed(y, p, 2),
        "repeated": rm.repeat(3, lambda v: v * 2 - y, x),
        "inside": inner(x, p),
    }


@rm.program
def inner(x: rm.Encrypted[rm.integer[SLOTS]], p: rm.Plain[rm.integer[SLOTS]]):
    return x * p


def by_numpy(x, y, p):
    mask = np.arange(SLOTS) % 2
    repeated = x
    for _ in range(3):
        repeated = repeated * 2 - y
    return {
        "sum": sum(np.roll(x, -k) for k in range(8)) - y,
        "product": (x * y + p) * p - 7,
        "negated": -x + 5 - p,
        "turned": np.roll(x, -3) * mask + np.roll(y, 1) * (1 - mask),
        "inner": np.full(SLOTS, (x * y).sum()),
        "polynomial": 3 - x + 2 * x**3,
        "power": x**3,
        "called": x * y - 3 * x + y * p - 2 * y,
        "repeated": repeated,
        "inside": x * p,
    }


def line_of(function, fragment):
    lines, start = inspect.getsourcelines(function)
    return start + next(i for i, line in enumerate(lines) if fragment in line)


@pytest.fixture(scope="module")
def compiled():
    return squared.compile(slots=SLOTS)


@pytest.fixture(scope="module")
def client(compiled):
    return compiled.keygen()


def test_the_scheme_is_chosen_by_the_types():
    compiled = every.compile(slots=SLOTS, input_bound=5)
    assert compiled.scheme == EXACT[0] == "bfv"
    assert "integer" in compiled.scheme_reason


@pytest.mark.parametrize("scheme", EXACT)
def test_every_operation_is_exact(scheme):
    compiled = every.compile(slots=SLOTS, input_bound=50, scheme=scheme)
    assert (compiled.scheme, compiled.scheme_reason) == (scheme, "named by scheme=")
    assert compiled.ranges == dict.fromkeys("xyp", (-50, 50))
    assert "128-bit" in compiled.params.security
    client = compiled.keygen()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y, p = (rng.integers(-50, 51, SLOTS) for _ in range(3))
        run = compiled.run(client.encrypt(x=x, y=y), plain={"p": p})
        found, clear, expected = client.decrypt(run), every(x, y, p), by_numpy(x, y, p)
        assert found.keys() == clear.keys() == expected.keys()
        for name, wanted in expected.items():
            assert found[name].dtype == clear[name].dtype == np.int64
            assert np.array_equal(found[name], wanted), name
            assert np.array_equal(clear[name], wanted), name
        budgets = client.noise_budget(run)
        for name, predicted in compiled.predicted_budget.items():
            assert budgets[name] + 2 >= predicted >= 1
            assert client.noise_budget(run.ciphertexts[name]) == budgets[name]


def test_matrices_in_the_clear_and_encrypted():
    size = 4
    matrix = np.random.default_rng(1).integers(-9, 10, (size, size))
    rows = np.arange(size)

    def diagonal(k):
        return np.tile(matrix[rows, (rows + k) % size], SLOTS // size)

    @rm.program
    def plain(x: rm.Encrypted[rm.integer[SLOTS]]):
        return sum((x << k) * diagonal(k) for k in range(1, size)) + x * diagonal(0)

    @rm.program
    def encrypted(x: rm.Encrypted[rm.integer[SLOTS]], m: rm.Encrypted[rm.integer[SLOTS]]):
        return rm.sum(x * m, size)

    x = np.array([1, -2, 3, -4])
    compiled = plain.compile(slots=SLOTS, ranges={"x": (-4, 4)})
    client = compiled.keygen()
    found = client.decrypt(compiled.run(client.encrypt(x=np.tile(x, SLOTS // size))))
    assert np.array_equal(found[:size], matrix @ x)
    compiled = encrypted.compile(slots=SLOTS, ranges={"x": (-4, 4), "m": (-9, 9)})
    client = compiled.keygen()
    found = client.decrypt(compiled.run(client.encrypt(x=np.tile(x, size), m=matrix.ravel())))
    assert np.array_equal(found[::size], matrix @ x)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_numpys_widths(compiled, client, dtype):
    x = np.array([0, 1, 2, 127, *range(12)], dtype=dtype)
    expected = x.astype(np.int64) ** 2 + 1
    for given in (x, x.tolist(), x[::-1][::-1], np.asfortranarray(x), x.astype(object)):
        assert np.array_equal(client.decrypt(compiled.run(client.encrypt(x=given))), expected)
    if np.iinfo(dtype).max >= 255:
        assert client.decrypt(compiled.run(client.encrypt(x=np.full(SLOTS, 255, dtype=dtype))))[0] == 255**2 + 1


def test_exact_to_the_ends_of_the_range():
    t = rm.plain_modulus(log_n=12, bits=40)
    params = rm.params(log_n=12, bits=[54, 54, 54], plain_modulus=t, allow_insecure_parameters_for_tests_only=True)
    assert (params.scheme, params.plain_modulus, params.scale, params.slots) == ("bfv", t, None, 2048)
    low, high = -(t // 2), t // 2

    @rm.program
    def same(x: rm.Encrypted[rm.integer[4]]):
        return x * 1 + 0

    compiled = same.compile(params, slots=4, ranges={"x": (low, high)})
    assert compiled.params == params
    assert compiled.ranges == {"x": (low, high)}
    client = compiled.keygen()
    x = [low, low + 1, high - 1, high]
    assert client.decrypt(compiled.run(client.encrypt(x=x))).tolist() == x
    for beyond in (low - 1, high + 1):
        with pytest.raises(rm.DataError, match=rf"value 2 of `x` is {beyond}, .* whole numbers from {low} to {high}"):
            client.encrypt(x=[0, 1, beyond, beyond])
        with pytest.raises(rm.CompileError, match="plaintext modulus of 40 bits does not hold"):
            same.compile(params, slots=4, ranges={"x": (min(low, beyond), max(high, beyond))})


def test_the_largest_numbers_that_any_parameters_hold():
    @rm.program
    def difference(x: rm.Encrypted[rm.uint(58)], p: rm.Plain[rm.uint(58)]):
        return x - p

    most = 2**58 - 1
    compiled = difference.compile(slots=4)
    client = compiled.keygen()
    for x, p in [(most, 0), (0, most), (most, most - 1), (2**53 + 1, 0)]:
        run = compiled.run(client.encrypt(x=x), plain={"p": p})
        assert client.decrypt(run).tolist() == [x - p] * 4
        assert difference(x, p).tolist() == [x - p]
    with pytest.raises(rm.DataError, match="and holds 288230376151711744"):
        client.encrypt(x=2**58)

    @rm.program
    def wide(x: rm.Encrypted[rm.uint(64)]):
        return x + 1

    with pytest.raises(rm.CompileError, match="may lie anywhere in 1 to 18446744073709551616, which a"):
        wide.compile(slots=4)
    with pytest.raises(rm.DataError, match="no scheme holds larger ones"):
        wide(2**64 - 1)


BAD = {
    "floats": (np.ones(SLOTS), "dtype float64"),
    "whole floats": ([1.0] * SLOTS, "1.0 is none"),
    "half": ([0] * 15 + [0.5], r"0.5 is none \(value 15\)"),
    "float16": (np.ones(SLOTS, dtype=np.float16), "dtype float16"),
    "NaN": (np.full(SLOTS, np.nan), "dtype float64"),
    "NaN in a list": ([0] * 15 + [float("nan")], "nan is none"),
    "infinity": ([float("inf")] * SLOTS, "inf is none"),
    "complex": (np.ones(SLOTS, dtype=complex), "dtype complex128"),
    "bools": (np.ones(SLOTS, dtype=bool), "dtype bool"),
    "a bool": ([0] * 15 + [True], "True is none"),
    "text": (["1"] * SLOTS, "'1' is none"),
    "None": (None, "None is none"),
    "too large": ([0] * 9 + [256] + [0] * 6, r"from 0 to 255, and holds 256 \(value 9\)"),
    "negative": (np.array([0, -1] * 8), r"from 0 to 255, and holds -1 \(value 1\)"),
    "beyond 64 bits": ([2**64] * SLOTS, "holds 18446744073709551616"),
    "far beyond": ([-(10**500)] * SLOTS, "from 0 to 255"),
    "short": ([1] * 15, r"exactly 16 .* has shape \(15,\)"),
    "long": ([1] * 17, "exactly 16"),
    "one": (1, "exactly 16"),
    "matrix": (np.ones((4, 4), dtype=int), "exactly 16"),
    "ragged": ([[1], [1, 2]], "x"),
    "masked": (np.ma.masked_array([1] * SLOTS, mask=[True] * SLOTS), "masked"),
    "dates": (np.zeros(SLOTS, dtype="datetime64[s]"), "dtype datetime64"),
    "tiled": (rm.tile([1]), "rm.tile"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_whole_number_is_refused(client, name):
    value, says = BAD[name]
    for call in (lambda: client.encrypt(x=value), lambda: squared(value)):
        with pytest.raises(rm.DataError, match=says) as caught:
            call()
        assert "x" in str(caught.value)
    with pytest.raises(rm.DataError, match=says):
        squared.compile(slots=SLOTS, sample={"x": value})


WRONG = {
    "conjugate": (lambda n: rm.conj(n), "complex numbers"),
    "twice the real part": (lambda n: rm.two_real(n), "complex numbers"),
    "complex": (lambda n: n * 1j, "1j is none"),
    "complex array": (lambda n: n * np.full(SLOTS, 1j), "dtype complex128"),
    "half": (lambda n: n * 0.5, "0.5 is none"),
    "whole float": (lambda n: n * 2.0, "2.0 is none"),
    "quotient": (lambda n: n / 2, "no division"),
    "halves": (lambda n: rm.polynomial(n, [0.5, 1]), "0.5 is none"),
    "large": (lambda n: n + (2**53 + 1), "doubles round some of them"),
    "tiled": (lambda n: n * rm.tile([0, 1]), "np.tile"),
    "transparent": (lambda n: n - n, "transparent"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_makes_no_sense_for_whole_numbers_is_refused_at_its_line(name):
    function, says = WRONG[name]

    @rm.program
    def f(n: rm.Encrypted[rm.integer[SLOTS]]):
        return function(n)

    with pytest.raises(rm.CompileError, match=says) as caught:
        f.compile(slots=SLOTS, input_bound=10)
    lines, start = inspect.getsourcelines(inspect.getmodule(test_numpys_widths))
    assert f'"{name}"' in lines[caught.value.line - max(start, 1)]


def test_ranges_come_from_types_and_from_what_is_said():
    @rm.program
    def f(a: rm.Encrypted[rm.uint(4)[8]], b: rm.Encrypted[rm.uint(4)], p: rm.Plain[rm.uint(4)]):
        return a * b + p

    @rm.program
    def g(n: rm.Encrypted[rm.integer[8]], m: rm.Encrypted[rm.integer]):
        return n * m

    @rm.program
    def bits(x: rm.Encrypted[rm.bit[SLOTS]], y: rm.Encrypted[rm.bit[SLOTS]]):
        return x + y - x * y

    def ranges(program, **options):
        return program.compile(slots=SLOTS, **options).ranges

    assert ranges(f) == dict.fromkeys("abp", (0, 15))
    assert ranges(f, input_bound=3, ranges={"b": (2, 5), "p": 7}) == {"a": (0, 15), "b": (2, 5), "p": (0, 7)}
    assert ranges(f, ranges={"a": (3, 4)})["a"] == (0, 4)  # zeros fill the slots
    assert ranges(bits) == dict.fromkeys("xy", (0, 1))
    assert ranges(g, ranges={"n": (5, 9), "m": 3}) == {"n": (0, 9), "m": (-3, 3)}
    assert ranges(g, sample={"n": range(8), "m": -5}, margin=1.5) == {"n": (-16, 16), "m": (-8, 8)}
    assert ranges(g, sample={"n": range(8), "m": -5}, ranges={"m": (-6, 0)}) == {"n": (-16, 16), "m": (-6, 0)}
    assert ranges(g, sample={"n": [0] * 8, "m": 2**40}, margin=1) == {"n": (0, 0), "m": (-(2**40), 2**40)}
    assert ranges(g, input_bound=np.int16(4)) == dict.fromkeys("nm", (-4, 4))
    for options, says in [
        ({}, r"input n is of type integer\[8\], and nothing says where its values lie; give ranges="),
        ({"ranges": {"n": 5}}, "input m is of type integer, and nothing says"),
        ({"ranges": {"n": (0, 1.0)}}, "in whole numbers"),
        ({"ranges": {"n": (5, 1)}}, "lowest comes first"),
        ({"ranges": {"n": True}}, "in whole numbers"),
        ({"ranges": {"q": 1}}, "no input q; its inputs are n, m"),
        ({"input_bound": 1.5}, "input_bound is a whole number"),
        ({"sample": {"n": range(8)}}, "input m is missing"),
        ({"sample": {"n": range(8), "m": 7}, "ranges": {"m": (0, 3)}}, "value 0 of input m is 7, outside its range"),
        ({"sample": {"n": range(8), "m": 7}, "margin": 0.5}, "margin"),
        ({"sample": {"n": np.ones(8), "m": 7}}, "dtype float64"),
    ]:
        with pytest.raises(rm.DataError, match=says):
            ranges(g, **options)
    for given in ((0, 16), (-1, 3), 16):
        with pytest.raises(rm.DataError, match=r"type uint\(4\)\[8\], from 0 to 15"):
            ranges(f, ranges={"a": given})
    for name in ("precision", "integer_bits"):
        with pytest.raises(rm.ParameterError, match=f"{name}= is about approximate results"):
            ranges(f, **{name: 20})


def test_results_may_be_wider_than_their_types():
    @rm.program
    def f(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted[rm.uint(8)]):
        return {"less": x - y, "more": x * y}

    compiled = f.compile(slots=4)
    client = compiled.keygen()
    found = client.decrypt(compiled.run(client.encrypt(x=0, y=255)))
    assert found["less"].tolist() == [-255] * 4
    found = client.decrypt(compiled.run(client.encrypt(x=255, y=255)))
    assert found["more"].tolist() == [255 * 255] * 4


def test_bits_that_are_equal():
    @rm.program
    def found(x: rm.Encrypted[rm.bit[SLOTS]], y: rm.Encrypted[rm.bit[SLOTS]], p: rm.Plain[rm.bit[SLOTS]]):
        same = rm.equal(x, y)
        all_four = same * (same << 1)
        return {"same": same, "four": all_four * (all_four << 2), "plain": rm.equal(x, p), "zero": rm.equal(x, 0)}

    compiled = found.compile(slots=SLOTS)
    client = compiled.keygen()
    rng = np.random.default_rng(2)
    x, y, p = rng.integers(0, 2, (3, SLOTS))
    y[4:8] = x[4:8]
    got = client.decrypt(compiled.run(client.encrypt(x=x, y=y), plain={"p": p}))
    assert np.array_equal(got["same"], x == y)
    assert got["four"].tolist() == [int(all(np.roll(x == y, -i)[:4])) for i in range(SLOTS)]
    assert np.array_equal(got["plain"], x == p)
    assert np.array_equal(got["zero"], x == 0)

    @rm.program
    def approximate(x: rm.Encrypted):
        return rm.equal(x, 1)

    with pytest.raises(rm.CompileError, match=r"rm\.equal compares whole numbers, and x is of"):
        approximate.compile(slots=SLOTS)


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_numbers_that_are_equal(scheme):
    @rm.program
    def found(x: rm.Encrypted[rm.uint(4)[SLOTS]], y: rm.Encrypted[rm.uint(4)[SLOTS]], p: rm.Plain[rm.uint(4)[SLOTS]]):
        return {
            "same": rm.equal(x, y),
            "plain": rm.equal(x, p) * x,
            "three": rm.equal(x, 3),
            "none": rm.equal(x - y, 16),
        }

    compiled = found.compile(slots=SLOTS, scheme=scheme)
    client = compiled.keygen()
    rng = np.random.default_rng(3)
    x, y, p = rng.integers(0, 16, (3, SLOTS))
    y[::2], p[::3] = x[::2], x[::3]
    run = compiled.run(client.encrypt(x=x, y=y), plain={"p": p})
    got = client.decrypt(run)
    assert np.array_equal(got["same"], x == y)
    assert np.array_equal(got["plain"], (x == p) * x)
    assert np.array_equal(got["three"], x == 3)
    assert not got["none"].any()
    budgets = client.noise_budget(run)
    assert all(budgets[name] >= bits - 1 for name, bits in compiled.predicted_budget.items())
    assert np.array_equal(found(x=x, y=y, p=p)["same"], x == y)


def test_schemes_by_name_and_by_parameters(small):
    by_name = squared.compile(slots=SLOTS, scheme="bfv")
    assert by_name.scheme_reason == "named by scheme="
    t = rm.plain_modulus(log_n=12, bits=18)
    own = rm.params(log_n=12, bits=[35, 35, 35], scheme="bfv", plain_modulus=t)
    assert squared.compile(own).params == own
    with pytest.raises(
        rm.CompileError, match=r"parameters are for ckks, which does not take uint\(8\); use those of bfv"
    ):
        squared.compile(small)
    with pytest.raises(rm.ParameterError, match="for the scheme bfv and the parameters are for ckks"):
        squared.compile(small, scheme="bfv")

    @rm.program
    def real(x: rm.Encrypted):
        return x * x

    with pytest.raises(rm.CompileError, match="parameters are for bfv, which does not take vectors of slots"):
        real.compile(own, input_bound=1)
    for given, says in [
        ({}, "computes modulo a plain modulus"),
        ({"plain_modulus": 65536}, "does not batch"),
        ({"plain_modulus": 1}, "plain modulus 1 is out of range"),
        ({"plain_modulus": 2**60}, "out of range"),
        ({"plain_modulus": t, "scale": 2.0**40}, "has no scale"),
        ({"plain_modulus": 2**80}, "must be a whole number"),
    ]:
        with pytest.raises(rm.ParameterError, match=says):
            rm.params(log_n=12, bits=[35, 35, 35], scheme="bfv", **given)
    with pytest.raises(rm.ParameterError, match="ckks has no plain modulus"):
        rm.params(log_n=12, bits=[35, 35, 35], scheme="ckks", plain_modulus=t)
    with pytest.raises(rm.ParameterError, match="no set of bfv parameters"):
        rm.params("set2", scheme="bfv", plain_modulus=t)
    with pytest.raises(rm.ParameterError, match="there is no scheme 'bfw'; did you mean `bfv`"):
        rm.params(log_n=12, bits=[35, 35, 35], scheme="bfw")
    with pytest.raises(rm.ParameterError, match="insecure"):
        rm.params(log_n=12, bits=[60, 60, 60], plain_modulus=t)
    with pytest.raises(rm.RingmillError):
        rm.plain_modulus(log_n=12, bits=12)


def test_programs_that_no_parameters_hold():
    @rm.program
    def deep(x: rm.Encrypted[rm.bit[SLOTS]]):
        for _ in range(40):
            x = x * (x << 1)
        return x

    with pytest.raises(rm.ParameterError, match=r"noise of this program is .* bits too much"):
        deep.compile(slots=SLOTS)

    @rm.program
    def large(x: rm.Encrypted[rm.uint(16)[SLOTS]]):
        return x**4

    with pytest.raises(rm.CompileError, match="a plaintext modulus of 60 bits does not hold"):
        large.compile(slots=SLOTS)

    t = rm.plain_modulus(log_n=11, bits=20)
    small = rm.params(log_n=11, bits=[40, 40], plain_modulus=t, allow_insecure_parameters_for_tests_only=True)
    with pytest.raises(rm.ParameterError, match="bits too much"):
        squared.compile(small, slots=SLOTS)


def test_wrong_keys_and_ciphertexts(compiled, client, small):
    inputs = client.encrypt(x=np.arange(SLOTS))
    run = compiled.run(inputs)
    other = compiled.keygen()
    with pytest.raises(rm.KeysError):
        compiled.run(inputs.ciphertexts, keys=other.evaluation_keys)
    with pytest.raises(rm.KeysError):
        other.decrypt(run)
    with pytest.raises(rm.KeysError):
        other.noise_budget(run)

    @rm.program
    def real(x: rm.Encrypted):
        return x * x

    approximate = real.compile(small, slots=SLOTS, input_bound=1)
    stranger = approximate.keygen()
    theirs = stranger.encrypt(x=np.ones(SLOTS))
    cipher = theirs.ciphertexts["x"]
    assert (cipher.scheme, inputs.ciphertexts["x"].scheme, inputs.ciphertexts["x"].scale) == ("ckks", "bfv", None)
    assert cipher != inputs.ciphertexts["x"] == inputs.ciphertexts["x"]
    for call in (
        lambda: compiled.run(theirs.ciphertexts, keys=client.evaluation_keys),
        lambda: client.decrypt({"out": cipher}),
        lambda: client.noise_budget(cipher),
    ):
        with pytest.raises(rm.DataError, match="is of the scheme ckks, and the program is for bfv"):
            call()
    with pytest.raises(rm.DataError, match="is of the scheme bfv, and the program is for ckks"):
        approximate.run(inputs.ciphertexts, keys=stranger.evaluation_keys)
    with pytest.raises(rm.KeysError, match="parameters"):
        compiled.run(inputs.ciphertexts, keys=stranger.evaluation_keys)
    wider = squared.compile(slots=2 * SLOTS, ranges={"x": (0, 3)})
    with pytest.raises(rm.RingmillError):
        wider.keygen().decrypt(run)


def test_what_is_about_approximate_results_is_refused(compiled, client, small):
    run = compiled.run(client.encrypt(x=np.arange(SLOTS)))
    for call in (
        lambda: client.measure(run, x=np.arange(SLOTS)),
        lambda: client.decrypt(run, share=rm.Share(8)),
        lambda: client.shared_bits(rm.Share(8)),
        lambda: compiled.predicted_bits,
    ):
        with pytest.raises(rm.DataError, match="exact"):
            call()
    with pytest.raises(rm.DataError, match="complex=True"):
        client.decrypt(run, complex=True)

    @rm.program
    def real(x: rm.Encrypted):
        return x * x

    approximate = real.compile(small, slots=SLOTS, input_bound=1)
    stranger = approximate.keygen()
    with pytest.raises(rm.DataError, match="approximate"):
        approximate.predicted_budget  # noqa: B018
    with pytest.raises(rm.DataError, match="approximate"):
        stranger.noise_budget(stranger.encrypt(x=np.ones(SLOTS)).ciphertexts["x"])


def test_the_report_says_what_budget_is_left(compiled, client):
    report = compiled.run(client.encrypt(x=np.arange(SLOTS)), device=["cpu:1", "cpu:2"])[1].report
    predicted = compiled.predicted_budget["out"]
    assert f"exact; out has at least {predicted:.1f} bits of noise budget left" in str(report)
    assert f"bfv: {compiled.scheme_reason}\n" in str(report)
    assert str(compiled.params.plain_modulus) in report.detail
    assert report.data["scheme"] == {"name": "bfv", "why": compiled.scheme_reason}
    assert report.data["noise"] == [{"output": "out", "predicted_bits": predicted}]
    assert report.data["parameters"]["plain_modulus"] == compiled.params.plain_modulus
    assert "BFV" in repr(compiled)


def test_machines_give_the_same_bits():
    compiled = squared.compile(slots=SLOTS, target="polymul")
    client = compiled.keygen()
    x = np.arange(SLOTS)
    cpu, card = compiled.run(client.encrypt(x=x), device=["cpu", "sim:polymul"])
    assert cpu.ciphertexts == card.ciphertexts
    assert np.array_equal(client.decrypt(card), x * x + 1)
    with pytest.raises(rm.DeviceError, match="description"):
        compiled.run(client.encrypt(x=x), device="sim:ring")


def test_a_unit_for_extensions_takes_all_of_a_program_made_for_it():
    x = np.arange(SLOTS)
    for target, taken, declined in ((None, 3, 2), ("basext", 5, 0)):
        compiled = squared.compile(slots=SLOTS, target=target)
        client = compiled.keygen()
        cpu, unit = compiled.run(client.encrypt(x=x), device=["cpu", "sim:basext"])
        assert cpu.ciphertexts == unit.ciphertexts
        assert np.array_equal(client.decrypt(unit), x * x + 1)
        kinds = unit.report.data["machine"]["instructions_by_kind"]
        assert (kinds["BEXTR"], kinds.get("host BEXTR", 0)) == (taken, declined), target


def test_after_a_fork(compiled, client):
    x = np.arange(SLOTS)
    inputs = client.encrypt(x=x)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(60)
            again = client.encrypt(x=x)
            right = np.array_equal(client.decrypt(compiled.run(again)), x * x + 1)
            status = 0 if right and again.ciphertexts != inputs.ciphertexts else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.array_equal(client.decrypt(compiled.run(inputs)), x * x + 1)
