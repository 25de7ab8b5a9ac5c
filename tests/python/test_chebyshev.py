# SPDX-License-Identifier: Apache-2.0
"""Tests of Chebyshev series of an encrypted value."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Polynomial

import ringmill as rm

SLOTS = 64
POINTS = np.linspace(-5, 5, SLOTS)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def operations(program):
    """Returns the operations of a traced program, without their lines."""
    lines = program.trace(SLOTS)[0].to_text().splitlines()
    return [re.sub(r' at ".*', "", line) for line in lines[1:]]


def run(program, x=POINTS, **options):
    """Compiles for the domain of the points, runs under encryption, and returns what is decrypted and its levels."""
    compiled = program.compile(slots=SLOTS, ranges={"x": (float(x.min()), float(x.max()))}, **options)
    client = compiled.keygen()
    result = client.decrypt(compiled.run(client.encrypt(x=x), progress=False))
    assert abs(result - program(x=x)).max() <= 2 ** -compiled.predicted_bits["out"]
    return result, compiled


def test_a_series_of_degree_31_is_a_sigmoid_at_five_levels():
    series = Chebyshev.interpolate(sigmoid, 31, domain=[-5, 5])

    @rm.program
    def smooth(x: rm.Encrypted):
        return rm.polynomial(x, series.coef, basis="chebyshev", domain=(-5, 5))

    result, compiled = run(smooth)
    assert abs(result - sigmoid(POINTS)).max() < 1e-5
    assert compiled.explain().levels.needed == 5

    @rm.program
    def same(x: rm.Encrypted):
        return rm.polynomial(x, series)

    assert operations(same) == operations(smooth)


@pytest.mark.parametrize("degree", [1, 2, 3, 7, 12, 63])
def test_random_series_on_other_domains(degree):
    rng = np.random.default_rng(degree)
    series = Chebyshev(rng.normal(size=degree + 1) / (1 + np.arange(degree + 1)), domain=[-2, 6])
    points = np.linspace(-2, 6, SLOTS)

    @rm.program
    def evaluated(x: rm.Encrypted):
        return rm.polynomial(x, series)

    result, _ = run(evaluated, points)
    assert abs(result - series(points)).max() < 1e-4


def test_numpys_polynomials_are_taken():
    @rm.program
    def cubic(x: rm.Encrypted):
        return rm.polynomial(x, Polynomial([1, 0, 0, 2], domain=[-2, 2], window=[-1, 1]))

    result, _ = run(cubic)
    assert abs(result - (1 + 2 * (POINTS / 2) ** 3)).max() < 1e-3


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"coefficients": [1, 2], "basis": "legendre"}, "the basis of a polynomial is 'power' or 'chebyshev'"),
        ({"coefficients": [1, 2], "domain": (-1, 1)}, "say basis='chebyshev'"),
        ({"coefficients": [1, 2], "basis": "chebyshev", "domain": (1, 1)}, "from 1.0 to 1.0 is none"),
        ({"coefficients": [1, 2], "basis": "chebyshev", "domain": (-1, 0, 1)}, "a lowest and a highest value"),
        ({"coefficients": Chebyshev([1, 2]), "domain": (-1, 1)}, "brings its basis and its domain"),
        ({"coefficients": Chebyshev([1, 2], window=[0, 1])}, r"has the window \(-1, 1\)"),
        ({"coefficients": Chebyshev([1])}, "is a constant"),
        ({"coefficients": [1, 2j], "basis": "chebyshev"}, "real coefficients"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, said):
    @rm.program
    def wrong(x: rm.Encrypted):
        return rm.polynomial(x, **arguments)

    with pytest.raises(rm.CompileError, match=said):
        wrong.trace(SLOTS)


def test_whole_numbers_have_no_series():
    @rm.program
    def whole(x: rm.Encrypted[rm.uint(8)[4]]):
        return rm.polynomial(x, [1, 2], basis="chebyshev")

    with pytest.raises(rm.CompileError, match="a Chebyshev series is of real numbers"):
        whole.trace(4)
