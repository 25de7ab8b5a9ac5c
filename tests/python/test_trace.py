# SPDX-License-Identifier: Apache-2.0
"""Tests tracing alone: the instructions that a function becomes, and errors that point at the user's line."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import ringmill as rm


def text(program, slots=16):
    return program.trace(slots)[0].to_text()


def line_of(function, marker):
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if marker in line)


def count(program, mnemonic, slots=16):
    return sum(f" {mnemonic} " in line or f" {mnemonic}\n" in line + "\n" for line in text(program, slots).splitlines())


def test_operators_become_instructions():
    @rm.program
    def f(x: rm.Encrypted, y: rm.Encrypted, p: rm.Plain):
        a = 2 * x + y * x - p * x
        return -a + x**2 + (1 - y) / 4 + rm.conj(x)

    assert count(f, "MULC") == 2
    assert count(f, "MUL") == 2
    assert count(f, "SQUARE") == 1
    assert count(f, "NEG") == 2
    assert count(f, "ADDC") == 1
    assert count(f, "ADD") == 4
    assert count(f, "SUB") == 1
    assert count(f, "CONJ") == 1


@pytest.mark.parametrize(("exponent", "products"), [(2, 1), (3, 2), (7, 4), (8, 3), (15, 6)])
def test_powers_share_their_factors(exponent, products):
    @rm.program
    def f(x: rm.Encrypted):
        return x**exponent

    assert count(f, "MUL") + count(f, "SQUARE") == products
    assert f(x=[1.1])[0] == pytest.approx(1.1**exponent)


def test_sum_takes_log2_rotations():
    @rm.program
    def f(x: rm.Encrypted):
        return rm.sum(x, 8, stride=2)

    assert count(f, "ROTATE") == 3
    x = np.arange(16.0)
    assert np.array_equal(f(x=x), sum(np.roll(x, -2 * i) for i in range(8)))


@pytest.mark.parametrize(
    "coefficients", [[1, 2], [0, 0, 3], [0.5, 0.2, 0, -0.1, 0, 0.01, 0, -0.001], list(range(1, 20))]
)
def test_polynomials_agree_with_numpy(coefficients):
    @rm.program
    def f(x: rm.Encrypted):
        return rm.polynomial(x, coefficients)

    x = np.linspace(-1, 1, 16)
    assert np.allclose(f(x=x), np.polynomial.Polynomial(coefficients)(x), atol=1e-12)


def test_rotation_goes_left():
    @rm.program
    def f(x: rm.Encrypted):
        return x << 1, x >> 1, rm.rotate(x, 3), x << 8

    left, right, three, none = f(x=np.arange(8.0))
    assert left[0] == 1
    assert right[0] == 7
    assert three[0] == 3
    assert none[0] == 0


def test_constants_repeat_through_the_slots_when_asked():
    @rm.program
    def f(x: rm.Encrypted):
        repeated = rm.tile([1.0, 2.0])
        return {"right": np.add(x, repeated), "left": repeated * x, "one": x - rm.tile(1), "complex": x * 1j}

    result = f(x=np.zeros(4) + 1)
    assert np.array_equal(result["right"], [2, 3, 2, 3])
    assert np.array_equal(result["left"], [1, 2, 1, 2])
    assert np.array_equal(result["one"], [0, 0, 0, 0])
    assert np.array_equal(result["complex"], [1j] * 4)


def test_instructions_carry_the_users_line():
    @rm.program
    def f(x: rm.Encrypted):
        y = x * x
        return y + 1  # the sum

    assert f'test_trace.py":{line_of(f, "the sum")}' in text(f)


def faulty_branch(x: rm.Encrypted):
    return x if x else -x  # here


def faulty_compare(x: rm.Encrypted):
    return x > 0  # here


def faulty_length(x: rm.Encrypted):
    return x + np.zeros(3)  # here


def faulty_short(x: rm.Encrypted):
    return x + np.zeros(8)  # here


def faulty_single(x: rm.Encrypted):
    return [1.0] * x  # here


def faulty_tile(x: rm.Encrypted):
    return x + rm.tile([1, 2, 3])  # here


def faulty_value(x: rm.Encrypted):
    return x + np.array([np.nan])  # here


def faulty_infinite(x: rm.Encrypted):
    return x * float("inf")  # here


def faulty_division(x: rm.Encrypted):
    return 1 / x  # here


def faulty_index(x: rm.Encrypted):
    return x[0]  # here


def faulty_loop(x: rm.Encrypted):
    return [v for v in x]  # here


def faulty_exponent(x: rm.Encrypted):
    return x**-1  # here


def faulty_sum(x: rm.Encrypted):
    return rm.sum(x, len(x) + 1)  # here


def faulty_plain(x: rm.Encrypted, p: rm.Plain):
    return x + p * p  # here


def faulty_constant_polynomial(x: rm.Encrypted):
    return rm.polynomial(x, [1.0])  # here


@pytest.mark.parametrize(("width", "stride"), [(w, s) for w in range(1, 33) for s in (1, 2, 3, 5) if w * s <= 32])
def test_sums_of_any_width(width, stride):
    @rm.program
    def program(x: rm.Encrypted):
        return rm.sum(x, width, stride)

    x = np.random.default_rng(width).integers(-9, 10, 32).astype(float)
    expected = np.sum([np.roll(x, -stride * j) for j in range(width)], axis=0)
    assert np.array_equal(program(x=x), expected)
    assert count(program, "ROTATE", 32) == width.bit_length() + width.bit_count() - 2


@pytest.mark.parametrize("function", [f for name, f in list(globals().items()) if name.startswith("faulty_")])
def test_errors_point_at_the_line(function):
    with pytest.raises(rm.CompileError) as caught:
        rm.program(function).trace(16)
    assert str(caught.value).startswith(f"{__file__}:{line_of(function, '# here')}: ")
    assert caught.value.line == line_of(function, "# here")


# For what a newcomer writes, the name that the refusal must propose.
INSTEAD = {
    "np.sin": (lambda x, p: np.sin(x), "rm.polynomial"),
    "np.exp of plain": (lambda x, p: np.exp(p), "rm.polynomial"),
    "np.sum": (lambda x, p: np.sum(x), "rm.sum(x)"),
    "np.add.reduce": (lambda x, p: np.add.reduce(x), "rm.sum(x)"),
    "np.mean": (lambda x, p: np.mean(x), "rm.mean(x)"),
    "np.var": (lambda x, p: np.var(x), "rm.mean((x - rm.mean(x)) ** 2)"),
    "np.dot": (lambda x, p: np.dot(x, p), "rm.sum(x * w)"),
    "np.dot of an array": (lambda x, p: np.dot(np.ones(16), x), "rm.sum(x * w)"),
    "@": (lambda x, p: np.ones((16, 16)) @ x, "rm.sum(x * w)"),
    "np.roll": (lambda x, p: np.roll(x, 1), "rm.rotate"),
    "np.where": (lambda x, p: np.where(x, 1, 0), "rm.polynomial"),
    "np.maximum": (lambda x, p: np.maximum(x, 0), "rm.polynomial"),
    "np.asarray": (lambda x, p: np.asarray(x), "cannot become a numpy array"),
    "np.array of vectors": (lambda x, p: np.array([x, x]), "cannot become a numpy array"),
    "np.zeros_like": (lambda x, p: np.zeros_like(x), "len(x)"),
    "into an array": (lambda x, p: np.add(x, 1, out=np.zeros(16)), "no array can take in"),
    "method": (lambda x, p: x.mean(), "rm.mean(x)"),
    "attribute": (lambda x, p: x.T, "rm.rotate"),
    "math": (lambda x, p: math.sin(x), "rm.polynomial"),
    "abs": (lambda x, p: abs(x), "rm.polynomial"),
    "float": (lambda x, p: float(p), "rm.polynomial"),
    "//": (lambda x, p: x // 2, "@rm.circuit has //"),
    "power of a number": (lambda x, p: 2**x, "rm.polynomial"),
    "power of a power": (lambda x, p: x ** (10**5000), "from 1 to"),
    "key": (lambda x, p: {x: 1}, "cannot be hashed"),
    "set": (lambda x, p: x.__setitem__(0, 1), "0/1 masks"),
    "format": (lambda x, p: f"{x:.3f}", "cannot be formatted"),
    "text": (lambda x, p: x + "1", "must hold numbers"),
    "None": (lambda x, p: None * x, "must hold numbers"),
    "masked": (lambda x, p: x * np.ma.masked_array(np.ones(16), mask=[1] * 16), ".filled(0)"),
    "huge": (lambda x, p: x * 10**400, "too large for a float"),
    "rotation by text": (lambda x, p: x >> "1", "whole number"),
}


@pytest.mark.parametrize("name", INSTEAD)
def test_what_cannot_be_done_says_what_can(name):
    function, says = INSTEAD[name]

    @rm.program
    def f(x: rm.Encrypted, p: rm.Plain):
        return function(x, p)

    with pytest.raises(rm.CompileError) as caught:
        f.trace(16)
    assert str(caught.value).startswith(f"{__file__}:")
    assert caught.value.line in range(1, line_of(test_what_cannot_be_done_says_what_can, "def "))
    assert says in str(caught.value)


def test_numpys_own_arithmetic_is_the_vectors():
    @rm.program
    def f(x: rm.Encrypted):
        a = np.arange(16.0)
        x = np.add(a, x) - np.float64(1) + np.int8(3) * x
        return np.negative(np.multiply(x, a)) + np.square(x) / np.array(2.0) + (a - x) * np.True_

    x, a = np.linspace(-1, 1, 16), np.arange(16.0)
    y = a + x - 1 + 3 * x
    assert np.allclose(f(x=x), -y * a + y * y / 2 + (a - y))


def test_attributes_are_asked_for_politely():
    @rm.program
    def f(x: rm.Encrypted):
        assert not hasattr(x, "shape")
        assert getattr(x, "mean", None) is None
        assert repr(x) == f"{x}" == "<encrypted vector of 16 slots>"
        return x

    f.trace(16)


def test_bad_signatures_are_refused():
    for function in (lambda x: x, lambda *x: x):
        with pytest.raises(rm.CompileError, match=r"annotated|fixed list"):
            rm.program(function).trace(16)

    def plain_only(p: rm.Plain):
        return p

    with pytest.raises(rm.CompileError, match="no encrypted parameter"):
        rm.program(plain_only).trace(16)

    def nothing(x: rm.Encrypted):
        pass

    with pytest.raises(rm.CompileError, match="returns nothing"):
        rm.program(nothing).trace(16)

    def not_encrypted(x: rm.Encrypted):
        return 3.0

    with pytest.raises(rm.CompileError, match="must be an encrypted vector"):
        rm.program(not_encrypted).trace(16)

    for slots in (0, 3, -4, 1.5):
        with pytest.raises(rm.CompileError, match="power of two"):
            rm.program(faulty_sum).trace(slots)


def test_text_reads_back():
    @rm.program
    def f(x: rm.Encrypted, p: rm.Plain):
        return rm.rotate(x * p + np.arange(16), 3) * 0.1

    written = text(f)
    assert rm.MacroProgram.from_text(written).to_text() == written
    with pytest.raises(rm.RingmillError):
        rm.MacroProgram.from_text(written[: len(written) // 2])
