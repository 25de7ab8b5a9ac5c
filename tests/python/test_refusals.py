# SPDX-License-Identifier: Apache-2.0
"""Tests that values beyond what CKKS holds are refused with the line, the value, the limit and a cure, and that the
cure works.
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import ringmill as rm

SLOTS = 64


def line(program, offset):
    """Returns the place of a program's line as messages write it. The decorator is line 0."""
    return rf"test_refusals\.py:{program._line[1] + offset}: "


def refused(program, error=rm.CompileError, **options):
    """Returns the message with which compiling a program is refused."""
    with pytest.raises(error) as caught:
        program.compile(slots=SLOTS, **options)
    said = str(caught.value)
    assert not re.search(r"\b(inf|nan|-?1000001|-inf)\b", said), said
    return said


@rm.program
def logistic(x: rm.Encrypted):
    y = x
    for _ in range(10):
        y = y * y - 0.3
    return y


def test_values_that_grow_where_inputs_may_be_complex():
    said = refused(logistic, input_bound=1)
    assert re.search(
        line(logistic, 4) + r"values here may be as large as .* no parameters hold absolute values of 2\^", said
    )
    assert "two ends, as in (-1, 1), for values that are never complex" in said
    real = np.linspace(-1, 1, SLOTS)
    for cure in ({"ranges": {"x": (-1, 1)}}, {"sample": {"x": real}, "margin": 1}):
        assert logistic.compile(slots=SLOTS, **cure).predicted_bits["out"] >= 20
    wide = refused(logistic, sample={"x": real})
    assert "a smaller margin over the sample" in wide
    assert "complex" not in wide
    # An input whose type is real is never complex.
    typed = rm.program(lambda x: logistic(x))
    typed._function.__annotations__["x"] = rm.Encrypted[rm.real[SLOTS]]
    assert typed.compile(slots=SLOTS, input_bound=1).ranges == {"x": (-1.0, 1.0)}


def squarings(count):
    @rm.program
    def power(x: rm.Encrypted):
        for _ in range(count):
            x = x * x
        return x

    return power


def test_many_products_in_a_row_are_refused_by_what_ends_first():
    """The refusal says which limit is met first. For 60 squarings it once said "1000001 integer bits"."""
    said = refused(squarings(30), rm.ParameterError, input_bound=1, bootstrapping=False)
    assert re.search(r"test_refusals\.py:\d+: 6 digits cannot be reached: .*ask for [1-5] digits?, or ", said)
    said = refused(squarings(60), rm.ParameterError, input_bound=1, bootstrapping=False)
    assert "the program needs 60 levels" in said
    said = refused(squarings(8), input_bound=2)
    assert re.search(r"test_refusals\.py:\d+: values here may be as large as 1\.1579e77 \(2\^256\.0\)", said)
    for count in (30, 40, 60):
        assert "values here may be larger than any double" in refused(squarings(count), input_bound=2)


@rm.program
def training(x: rm.Encrypted, y: rm.Encrypted):
    w = x * 0.1
    for _ in range(20):
        s = rm.sum(x * w, SLOTS) / SLOTS
        p = 0.5 + 0.25 * s - 0.02 * s * s * s
        w = w + (y - p) * x * 0.01
    return w


def test_a_program_of_too_many_levels():
    said = refused(training, rm.ParameterError, ranges={"x": (-1, 1), "y": (0, 1)}, bootstrapping=False)
    assert re.match(r".*test_refusals\.py:\d+: levels run out here: the program needs \d+ levels, ", said)
    assert "multiply at most" in said
    needed, most = (int(number) for number in re.search(r"needs (\d+) levels.* at most (\d+) ", said).groups())
    assert needed > most > 20


@rm.program
def eighth(x: rm.Encrypted):
    return x**8


ROOT = np.polynomial.chebyshev.cheb2poly(np.polynomial.chebyshev.chebinterpolate(lambda z: np.sqrt((z + 1) / 2), 50))


@rm.program
def root(x: rm.Encrypted):
    return rm.polynomial(x, ROOT)


@rm.program
def short_root(x: rm.Encrypted):
    return rm.polynomial(x, np.polynomial.chebyshev.cheb2poly(np.polynomial.chebyshev.poly2cheb(ROOT)[:16]))


@rm.program
def billion(x: rm.Encrypted):
    return x * 1e9


@pytest.mark.parametrize(
    ("program", "options"),
    [
        (eighth, {"input_bound": 16, "precision": 20}),
        (root, {"ranges": {"x": (-1, 1)}, "precision": 10}),
        (billion, {"input_bound": 1, "precision": 20}),
    ],
    ids=["eighth", "root", "billion"],
)
def test_errors_that_grow_are_shown_where_they_do(program, options):
    said = refused(program, rm.ParameterError, **options)
    wanted = options["precision"]
    shape = (
        line(program, 2) + rf"a precision of {wanted} bits cannot be reached: "
        r"an error of up to 2\^(-\d+\.\d) grows to 2\^(-?\d+\.\d) here"
        r", and the largest scale that fits, 2\^\d+, gives output 'out' (\d+|no bit)"
    )
    before, after, reached = re.search(shape.replace("'out'", '"out"'), said).groups()
    assert float(after) > float(before) + 5
    assert "integer" not in said
    # The cures that the message names work.
    if reached != "no bit":
        assert f"ask for a precision of {reached} bits, or " in said
        assert program.compile(slots=SLOTS, **options | {"precision": int(reached)}).predicted_bits["out"] >= int(
            reached
        )
    if program is eighth:
        assert "declare narrower ranges" in said
        assert program.compile(slots=SLOTS, input_bound=2, precision=wanted).predicted_bits["out"] >= wanted
    else:
        assert "use smaller coefficients" in said
        assert "ranges" not in said
    if program is root:
        assert short_root.compile(slots=SLOTS, **options).predicted_bits["out"] >= wanted


@pytest.mark.parametrize("exponent", [100, 200])
def test_values_are_as_large_as_is_said(exponent):
    @rm.program
    def large(x: rm.Encrypted):
        return x * 2.0**exponent

    said = refused(large, (rm.CompileError, rm.ParameterError), input_bound=1, precision=20)
    assert re.search(line(large, 2), said)
    held = re.search(
        r"as large as \S+ \(2\^(\d+)\.0\), and no parameters hold absolute values of 2\^(\d+) or more", said
    )
    if held is None:  # the parameters hold the values, but not the precision
        assert exponent == 100
        assert "grows to 2^" in said
    else:
        assert int(held[1]) == exponent > int(held[2])


def test_unsigned_results_are_said_to_be_unsigned():
    @rm.program
    def power(x: rm.Encrypted[rm.uint(8)[16]]):
        return x**8

    for scheme in ("bfv", "bgv"):
        with pytest.raises(
            rm.CompileError, match=rf'output "out" may lie anywhere in 0 to {255**8}, which .* of 60 bits'
        ) as caught:
            power.compile(slots=16, scheme=scheme)
        assert "larger plaintext modulus" not in str(caught.value)
