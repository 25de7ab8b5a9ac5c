# SPDX-License-Identifier: Apache-2.0
"""Series and bounds on intervals that lack zero: no slot without a value leaves the interval."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Chebyshev

import ringmill as rm

RNG = np.random.default_rng(5)
LOG = Chebyshev.interpolate(np.log, 15, domain=[0.5, 2])


def tried(program, ranges, **values):
    compiled = program.compile(ranges=ranges)
    client = compiled.keygen()
    run = compiled.run(client.encrypt(**values))
    client.measure(run, **values)
    return client.decrypt(run), compiled


@pytest.mark.parametrize("shape", [(), (1,), (5,), (5, 3), (7, 1, 3)])
def test_padding_of_an_argument_lies_in_the_domain(shape):
    def logs(x, y):
        return rm.polynomial(x, LOG)

    kind = rm.real[shape] if shape else rm.real
    logs.__annotations__ = {"x": rm.Encrypted[kind], "y": rm.Plain[rm.real[1, 1]]}
    logs = rm.program(logs)
    x = RNG.uniform(0.5, 2, shape)
    assert np.allclose(logs(x, [[0.0]]), np.log(x), atol=1e-7)
    compiled = logs.compile(ranges={"x": (0.5, 2), "y": 1})
    assert compiled.ranges["x"] == (0.5, 2.0)
    assert "slots of zero" not in compiled.layouts["x"] or " 0 slots of zero" in compiled.layouts["x"]
    assert compiled.params.scale < 2**45  # powers of values outside of the domain take 2^54
    client = compiled.keygen()
    found = client.decrypt(compiled.run(client.encrypt(x=x), plain={"y": [[0]]}))
    assert found.shape == shape
    assert np.allclose(found, np.log(x), atol=1e-5)


def test_sums_of_an_argument_lie_in_the_domain():
    @rm.program
    def logs(x: rm.Encrypted[rm.real[5, 3]]):
        return rm.polynomial(x.sum(axis=1), LOG)

    x = RNG.uniform(1 / 6, 2 / 3, (5, 3))
    found, compiled = tried(logs, {"x": (1 / 6, 2 / 3)}, x=x)
    assert np.allclose(found, np.log(x.sum(axis=1)), atol=1e-5)
    assert compiled.params.scale < 2**45  # powers of values outside of the domain take 2^54


def test_bounds_that_lack_zero_hold_in_every_slot():
    @rm.program
    def logs(x: rm.Encrypted[rm.real[5, 3]]):
        y = rm.bounded((x - 1)[:, 1:].sum(axis=1), 0.5, 2)
        return rm.polynomial(y, LOG), rm.bounded(x[0], 1, 1.5) * y[0]

    x = RNG.uniform(1.25, 1.5, (5, 3))
    x[1:, 0] = 3
    y = (x - 1)[:, 1:].sum(axis=1)
    for found in (logs(x), tried(logs, {"x": (0, 4)}, x=x)[0]):
        assert np.allclose(found[0], np.log(y), atol=1e-5)
        assert np.allclose(found[1], x[0] * y[0], atol=1e-5)


def test_a_bound_is_of_the_values_that_are_taken():
    @rm.program
    def f(x: rm.Encrypted[rm.real[2, 3]]):
        return rm.bounded(x[0], -1, 1) ** 2, rm.polynomial(x[1, :2], [0.0, 1.0], basis="chebyshev", domain=(2, 4))

    x = np.array([[0.5, -0.5, 1.0], [3.0, 2.0, 9.0]])
    for found in (f(x), tried(f, {"x": (-9, 9)}, x=x)[0]):
        assert np.allclose(found[0], x[0] ** 2, atol=1e-5)
        assert np.allclose(found[1], x[1, :2] - 3, atol=1e-5)
