# SPDX-License-Identifier: Apache-2.0
"""Programs that tests share: what people write first, with realistic data, and the expected result by numpy alone.

Every call makes a new program, so that tests share no state. All vectors of a :class:`Case` are in slots: inputs are as
long as the program's vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import ringmill as rm


@dataclass(frozen=True)
class Case:
    """A program, one set of inputs, other inputs of the same kind, and the expected first `valid` slots."""

    program: rm.Program
    slots: int
    inputs: dict[str, np.ndarray]
    sample: dict[str, np.ndarray]
    expected: np.ndarray
    plain: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def valid(self) -> int:
        return len(self.expected)

    def error(self, found: np.ndarray) -> float:
        """Returns the largest error in the first `valid` slots."""
        return float(np.abs(found[: self.valid] - self.expected).max())


def salaries(count: int = 1000) -> Case:
    """The average of `count` salaries of about 50,000, padded with zeros to a power of two."""
    slots = 1 << (count - 1).bit_length()

    @rm.program
    def salaries(x: rm.Encrypted):
        return rm.sum(x, slots) / count

    def drawn(seed: int) -> np.ndarray:
        return np.pad(np.random.default_rng(seed).normal(50_000, 12_000, count).round(2), (0, slots - count))

    data = drawn(1)
    return Case(salaries, slots, {"x": data}, {"x": drawn(2)}, np.full(slots, data.sum() / count))


def statistics(count: int = 1024) -> Case:
    """The variance of `count` numbers."""

    @rm.program
    def statistics(x: rm.Encrypted):
        mean = rm.sum(x, count) / count
        return rm.sum((x - mean) ** 2, count) / count

    def drawn(seed: int) -> np.ndarray:
        return np.random.default_rng(seed).normal(0, 1, count)

    data = drawn(3)
    return Case(statistics, count, {"x": data}, {"x": drawn(4)}, np.full(count, data.var()))


def diagonals(matrix: np.ndarray, x: rm.Encrypted) -> rm.Encrypted:
    """The product of a square matrix in the clear with an encrypted vector. The vector holds copies of x, one after
    another, for the rotations to find.

    The method is the diagonals of Halevi and Shoup: slot i sums matrix[i, i + k] x[i + k] over k. Each k takes one
    rotation and one product.
    """
    rows = np.arange(len(matrix))
    total = None
    for k in range(len(matrix)):
        diagonal = matrix[rows, (rows + k) % len(matrix)]
        if diagonal.any():
            term = (x << k) * diagonal
            total = term if total is None else total + term
    return total


def diagonal_product(size: int = 64, slots: int | None = None) -> Case:
    """A `size` x `size` matrix in the clear times an encrypted vector, by diagonals: size - 1 rotations."""
    slots = slots or size
    matrix = np.random.default_rng(5).uniform(-1, 1, (size, size))

    @rm.program
    def diagonal_product(x: rm.Encrypted):
        return diagonals(matrix, x)

    def drawn(seed: int) -> np.ndarray:
        return np.random.default_rng(seed).uniform(-1, 1, size)

    data = drawn(6)
    repeat = slots // size
    return Case(
        diagonal_product,
        slots,
        {"x": np.tile(data, repeat)},
        {"x": np.tile(drawn(7), repeat)},
        np.tile(matrix @ data, repeat),
    )


def digit_images(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Images of 8 x 8 pixels from 0 to 1, one a row, and the digit on each. A digit is drawn in seven segments, shifted
    and with noise.
    """
    lit = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcfgd"]
    strokes = {
        "a": (slice(0, 1), slice(1, 5)),
        "b": (slice(1, 3), slice(4, 5)),
        "c": (slice(4, 6), slice(4, 5)),
        "d": (slice(6, 7), slice(1, 5)),
        "e": (slice(4, 6), slice(1, 2)),
        "f": (slice(1, 3), slice(1, 2)),
        "g": (slice(3, 4), slice(1, 5)),
    }
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    images = np.zeros((count, 8, 8))
    for image, label in zip(images, labels, strict=True):
        for stroke in lit[label]:
            image[strokes[stroke]] = rng.uniform(0.6, 1.0)
        image[:] = np.roll(image, rng.integers(0, 3), axis=1)
    return np.clip(images + rng.normal(0, 0.05, images.shape), 0, 1).reshape(count, 64), labels


@dataclass(frozen=True)
class Network:
    """A network of layers 64-64-10 with a square between them."""

    hidden: np.ndarray
    hidden_bias: np.ndarray
    out: np.ndarray
    out_bias: np.ndarray

    def __call__(self, images: np.ndarray) -> np.ndarray:
        return (images @ self.hidden.T + self.hidden_bias) ** 2 @ self.out.T + self.out_bias


def digits_network() -> Network:
    """Trains a network: random features, squared, and a ridge regression on them. It takes a moment and is the same for
    every run.
    """
    rng = np.random.default_rng(8)
    images, labels = digit_images(1500, 9)
    hidden = rng.normal(0, 0.25, (64, 64))
    bias = rng.normal(0, 0.25, 64)
    features = np.column_stack([(images @ hidden.T + bias) ** 2, np.ones(len(images))])
    wanted = np.eye(10)[labels]
    fitted = np.linalg.solve(features.T @ features + 0.5 * np.eye(65), features.T @ wanted)
    return Network(hidden, bias, fitted[:64].T, fitted[64])


def digits(slots: int = 64) -> Case:
    """One image through the digits network. Slots 0 to 9 hold the score of each digit."""
    network = digits_network()
    out = np.zeros((64, 64))
    out[:10] = network.out
    out_bias = np.pad(network.out_bias, (0, 54))

    @rm.program
    def digits(x: rm.Encrypted):
        hidden = (diagonals(network.hidden, x) + network.hidden_bias) ** 2
        return diagonals(out, hidden) + out_bias

    images, _ = digit_images(2, 10)
    repeat = slots // 64
    return Case(
        digits, slots, {"x": np.tile(images[0], repeat)}, {"x": np.tile(images[1], repeat)}, network(images[:1])[0]
    )


def polynomial(degree: int, seed: int = 0, slots: int = 64) -> Case:
    """A random polynomial with coefficients and values in [-1, 1]."""
    coefficients = np.random.default_rng([degree, seed]).uniform(-1, 1, degree + 1)

    @rm.program
    def polynomial(x: rm.Encrypted):
        return rm.polynomial(x, coefficients)

    def drawn(which: int) -> np.ndarray:
        return np.random.default_rng([degree, seed, which]).uniform(-1, 1, slots)

    data = drawn(1)
    return Case(polynomial, slots, {"x": data}, {"x": drawn(2)}, np.polynomial.polynomial.polyval(data, coefficients))
