# SPDX-License-Identifier: Apache-2.0
"""Tests encrypted matrices against numpy's."""

import numpy as np
import pytest
import toys

import ringmill as rm


def drawn(shape: tuple[int, ...], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 10, shape)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_square_matrices_in_the_clear(size):
    slots, shape = size * size, (size, size)
    plain = drawn(shape, 3)
    plain.flat[0] = 1

    @rm.program
    def all_of_it(x: rm.Encrypted[rm.integer[slots]], y: rm.Encrypted[rm.integer[slots]]):
        a, b = rm.Matrix(x, shape), rm.Matrix(y, shape)
        results = {
            "product": a @ b,
            "right": a @ plain,
            "left": plain @ a,
            "transposed": a.T,
            "entries": 3 * a * b - (plain - b) + (-a) + plain,
        }
        return {name: result.vector for name, result in results.items()}

    a, b = drawn(shape, 1), drawn(shape, 2)
    found = all_of_it(x=a.ravel(), y=b.ravel())
    expected = {
        "product": a @ b,
        "right": a @ plain,
        "left": plain @ a,
        "transposed": a.T,
        "entries": 3 * a * b - (plain - b) - a + plain,
    }
    for name, matrix in expected.items():
        assert np.array_equal(found[name], matrix.ravel()), name


def test_matrices_of_other_shapes_in_the_clear():
    left, right = drawn((2, 2), 1), drawn((8, 8), 2)

    @rm.program
    def moved(x: rm.Encrypted[rm.integer[16]]):
        a = rm.Matrix(x, (2, 8))
        assert a.T.shape == (8, 2)
        return a.T.vector, (left @ a @ right).vector, a.T.T.vector

    a = drawn((2, 8), 3)
    transposed, product, same = moved(x=a.ravel())
    assert np.array_equal(transposed, a.T.ravel())
    assert np.array_equal(product, (left @ a @ right).ravel())
    assert np.array_equal(same, a.ravel())


def test_encrypted_matrices_modulo_a_power_are_as_deep_as_they_like():
    """A power of a matrix takes more products in sequence than the parameters have levels."""
    toy = toys.bootstrapping()

    @rm.program
    def power(x: rm.Encrypted[rm.integer[4]]):
        def squared(y: rm.Encrypted) -> rm.Encrypted:
            a = rm.Matrix(y, (2, 2))
            return (a @ a).vector

        return rm.repeat(6, squared, x)

    compiled = power.compile(bootstrapping=toy)
    assert compiled.counts()[0]["BOOTSTRAP"] >= 1
    client = compiled.keygen()
    a = np.array([[1, 2], [-3, 5]])
    found = client.decrypt(compiled.run(client.encrypt(x=a.ravel()), device="cpu:1"))
    expected, half = a, 17**3 // 2
    for _ in range(6):
        expected = expected @ expected % 17**3
    assert np.array_equal(found, (expected.ravel() + half) % 17**3 - half)


def refused(body, match: str) -> None:
    @rm.program
    def wrong(x: rm.Encrypted[rm.integer[4]], y: rm.Encrypted[rm.integer[4]]):
        return body(x, y).vector

    with pytest.raises(rm.CompileError, match=match):
        wrong(x=[1, 2, 3, 4], y=[1, 2, 3, 4])


@pytest.mark.parametrize(
    ("body", "match"),
    [
        (lambda x, _: rm.Matrix(x, (2, 3)), "6 entries, and the vector 4 slots"),
        (lambda x, _: rm.Matrix(x, (4,)), "is a pair"),
        (lambda x, _: rm.Matrix(x, (2, "b")), "must be a whole number"),
        (lambda _, __: rm.Matrix([1, 2, 3, 4], (2, 2)), "an encrypted vector of a program"),
        (lambda x, y: rm.Matrix(x, (1, 4)) + rm.Matrix(y, (2, 2)), "do not meet"),
        (lambda x, y: rm.Matrix(x, (1, 4)) @ rm.Matrix(y, (4, 1)), "square"),
        (lambda x, _: rm.Matrix(x, (2, 2)) * np.ones((2, 3), int), "shape"),
        (lambda x, _: rm.Matrix(x, (2, 2)) @ np.ones((3, 2), int), "shape"),
        (lambda x, _: np.ones((2, 3), int) @ rm.Matrix(x, (2, 2)), "shape"),
        (lambda x, _: rm.Matrix(x, (2, 2)) @ np.zeros((2, 2), int), "zeros"),
        (lambda x, _: rm.Matrix(x, (2, 2)) + 0.5, "whole numbers"),
    ],
)
def test_what_does_not_fit_is_refused(body, match):
    refused(body, match)


def test_matrices_are_of_whole_numbers():
    @rm.program
    def wrong(x: rm.Encrypted[rm.real[4]]):
        return rm.Matrix(x, (2, 2)).vector

    with pytest.raises(rm.CompileError, match="whole numbers"):
        wrong(x=[1.0, 2.0, 3.0, 4.0])
