# SPDX-License-Identifier: Apache-2.0
"""Makes the data and the clear results of the programs that our side and OpenFHE compute. Each program has a
task at full size, and one at a size for tests.

The harness makes a task with numpy and saves it in a file. Each side loads that file, so both sides encrypt the same
vectors, compute with the same constants, and are compared with the same result. A side needs numpy alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]

# The largest error of a result that counts as equal, as a share of the largest expected value: six digits.
TOLERANCE = 1e-6
# The least-squares fits of the sigmoid have degree 7 on [-10, 10] for inference, and degree 3 on [-8, 8] for training.
INFERENCE_BOUND, INFERENCE_DEGREE = 10.0, 7
TRAINING_BOUND, TRAINING_DEGREE = 8.0, 3
LEARNING_RATE = 0.25


@dataclass(frozen=True)
class Task:
    """A program's data: encrypted vectors of `slots` values, constants, and expected outputs. An output is compared in
    as many of its first values as are expected.
    """

    name: str
    slots: int
    encrypted: dict[str, Vector]
    constants: dict[str, Vector]
    expected: tuple[Vector, ...]

    def save(self, path: Path) -> None:
        arrays = {f"encrypted {name}": value for name, value in self.encrypted.items()}
        arrays |= {f"constant {name}": value for name, value in self.constants.items()}
        arrays |= {f"expected {place}": value for place, value in enumerate(self.expected)}
        np.savez(path, name=np.array(self.name), slots=np.array(self.slots), **arrays)

    @classmethod
    def load(cls, path: str | Path) -> Task:
        with np.load(path) as file:
            arrays = dict(file)

        def of(kind: str) -> dict[str, Vector]:
            return {key.partition(" ")[2]: value for key, value in arrays.items() if key.startswith(f"{kind} ")}

        expected = tuple(value for _, value in sorted(of("expected").items(), key=lambda item: int(item[0])))
        return cls(str(arrays["name"]), int(arrays["slots"]), of("encrypted"), of("constant"), expected)

    def error(self, outputs: list[Vector]) -> float:
        """Returns the largest error of the outputs, divided by the largest expected value."""
        if len(outputs) != len(self.expected):
            raise ValueError(f"{self.name} has {len(self.expected)} outputs, and {len(outputs)} came")
        pairs = list(zip(outputs, self.expected, strict=True))
        worst = max(float(np.abs(np.ravel(found)[: wanted.size] - wanted).max()) for found, wanted in pairs)
        return worst / max(float(np.abs(wanted).max()) for wanted in self.expected)


def random(seed: int, size: int) -> Vector:
    return np.random.default_rng(seed).uniform(-1, 1, size)


def padded(values: Vector, size: int) -> Vector:
    return np.pad(values, (0, size - values.size))


def turned(values: Vector, steps: int) -> Vector:
    """Returns the slots, rotated to the left."""
    return np.roll(values, -steps)


def windows(values: Vector, width: int, stride: int = 1) -> Vector:
    """Returns for each slot the sum of `width` slots from it on, `stride` apart, with cyclic indices."""
    total = np.zeros_like(values)
    for step in range(width):
        total += turned(values, step * stride)
    return total


def diagonals(matrix: Vector, slots: int, stride: int, baby: int) -> Vector:
    """Returns the generalised diagonals of a matrix whose sizes are powers of two, one line for each row, for a
    baby-step giant-step product (Halevi and Shoup, *Algorithms in HElib*, 2014). The matrix has at least as many
    columns as rows. If it has more, the sums of such a product are partial. A caller adds the parts that stand `rows`
    blocks apart.

    Entry j of the operand stands in the `stride` slots from j * stride on, and the operand repeats through the slots.
    Line d holds entry (b mod rows, b + d mod columns) in block b, turned to the right by the giant step of d.
    """
    rows, columns = matrix.shape
    block = np.arange(slots // stride)
    lines = []
    for d in range(rows):
        line = np.repeat(matrix[block % rows, (block + d) % columns], stride)
        lines.append(turned(line, -(d - d % baby) * stride))
    return np.array(lines)


def sigmoid_fit(bound: float, degree: int) -> Vector:
    """Returns the coefficients of the sigmoid's least-squares fit on [-bound, bound], the lowest degree first. By
    symmetry the constant is 1/2 and the other even coefficients are zero.
    """
    grid = np.linspace(-bound, bound, 2001)
    fit = np.polynomial.Polynomial.fit(grid, 1 / (1 + np.exp(-grid)), degree).convert().coef
    fit[0], fit[2::2] = 0.5, 0.0
    return fit


def dot(size: int) -> Task:
    x, y = (random(1, size) + 1) / 2, (random(2, size) + 1) / 2
    return Task("dot", size, {"x": x, "y": y}, {}, (np.array([x @ y]),))


def variance(size: int, slots: int) -> Task:
    x = random(3, size) + 0.5
    return Task("variance", slots, {"x": padded(x, slots)}, {"size": np.array(size)}, (np.array([x.var()]),))


def matrix_vector(size: int, baby: int) -> Task:
    x, matrix = random(4, size), random(5, size * size).reshape(size, size)
    constants = {"diagonals": diagonals(matrix, size, 1, baby), "baby": np.array(baby)}
    return Task("matrix_vector", size, {"x": x}, constants, (matrix @ x,))


def image(side: int) -> Vector:
    """Returns pixels from 0 to 1 in one vector, row after row. Filters read the vector cyclically, at the edges too."""
    return (random(6, side * side) + 1) / 2


def box_blur(side: int) -> Task:
    x = image(side)
    columns = windows(turned(x, -1), 3)
    blurred = windows(turned(columns, -side), 3, side) / 9
    return Task("box_blur", x.size, {"x": x}, {"side": np.array(side)}, (blurred,))


def roberts_cross(side: int) -> Task:
    x = image(side)
    falling, rising = x - turned(x, side + 1), turned(x, side) - turned(x, 1)
    return Task("roberts_cross", x.size, {"x": x}, {"side": np.array(side)}, (falling**2 + rising**2,))


def polynomial(degree: int, slots: int) -> Task:
    x, coefficients = random(7, slots), random(8, degree + 1)
    clear = np.polynomial.Polynomial(coefficients)(x)
    return Task("polynomial", slots, {"x": x}, {"coefficients": coefficients}, (clear,))


def records(count: int, features: int) -> tuple[Vector, Vector]:
    """Returns records of the Wisconsin breast cancer data set, and their labels. Each record is a column. Features are
    standardised by the mean and deviation of all records, and clipped to [-3, 3].

    The number of rows is the next power of two above `features`, and row `features` is 1, for the intercept.
    """
    from sklearn.datasets import load_breast_cancer

    data, labels = load_breast_cancer(return_X_y=True)
    data = data[:, :features]
    normal = np.clip((data - data.mean(axis=0)) / data.std(axis=0), -3, 3)
    rows = np.zeros((1 << features.bit_length(), count))
    rows[:features] = normal[:count].T
    rows[features] = 1
    return rows, labels[:count].astype(float)


def gradient(rows: Vector, weights: Vector, labels: Vector, sigmoid: Callable[[Vector], Vector]) -> Vector:
    """Returns the gradient: the mean over the records of residual times features."""
    return rows @ (labels - sigmoid(weights @ rows)) / labels.size


def inference(batch: int, features: int) -> Task:
    """Returns the task of a logistic regression's inference. The model is trained in the clear, and its weights are
    scaled so that the logits lie within the fit's interval.
    """
    rows, labels = records(batch, features)
    weights = np.zeros(len(rows))
    for _ in range(200):
        weights += gradient(rows, weights, labels, lambda z: 1 / (1 + np.exp(-z)))
    weights *= min(1, INFERENCE_BOUND / np.abs(weights @ rows).max())
    fit = sigmoid_fit(INFERENCE_BOUND, INFERENCE_DEGREE)
    constants = {"weights": np.repeat(weights, batch), "batch": np.array(batch), "sigmoid": fit}
    clear = np.polynomial.Polynomial(fit)(weights @ rows)
    return Task("inference", rows.size, {"x": rows.ravel()}, constants, (clear,))


def training(samples: int, features: int, iterations: int) -> Task:
    """Returns the task of a logistic regression's training by gradient descent. A weight stands in the slots of its
    feature, one for each sample. A label stands in the slots of its sample, one for each feature.
    """
    rows, labels = records(samples, features)
    fit = sigmoid_fit(TRAINING_BOUND, TRAINING_DEGREE)
    weights = first = random(9, len(rows)) / 16
    for _ in range(iterations):
        if np.abs(weights @ rows).max() > TRAINING_BOUND:
            raise ValueError(f"the logits leave the interval of the sigmoid's fit, {TRAINING_BOUND:g}")
        weights = weights + LEARNING_RATE * gradient(rows, weights, labels, np.polynomial.Polynomial(fit))
    mask = np.zeros((len(rows), samples))
    mask[:, 0] = LEARNING_RATE / samples
    inputs = {"x": rows.ravel(), "y": np.tile(labels, len(rows)), "w": np.repeat(first, samples)}
    constants = {"sigmoid": fit, "mask": mask.ravel(), "samples": np.array(samples), "iterations": np.array(iterations)}
    return Task("training", rows.size, inputs, constants, (np.repeat(weights, samples),))


def network(shape: tuple[int, int, int], batch: int, baby: tuple[int, int]) -> Task:
    """Returns the task of a network on scikit-learn's digits. Its activations are squares, and it is trained in
    the clear.
    """
    from sklearn.datasets import load_digits

    data, target = load_digits(return_X_y=True)
    data = data[:, : shape[0]] / 16
    hot = np.eye(shape[2])[target % shape[2]]
    generator = np.random.default_rng(10)
    first, second = (generator.normal(size=(b, a)) / np.sqrt(a) for a, b in pairwise(shape))
    bias = np.zeros(shape[1])
    for _ in range(300):  # descent on the squared error
        hidden = data @ first.T + bias
        error = (hidden**2 @ second.T - hot) / len(data)
        back = error @ second * 2 * hidden
        second -= 0.1 * error.T @ hidden**2
        first -= 0.1 * back.T @ data
        bias -= 0.1 * back.sum(axis=0)
    x = data[:batch].T
    clear = second @ (first @ x + bias[:, None]) ** 2
    outputs = 1 << (shape[2] - 1).bit_length()
    slots = shape[0] * batch
    wide = np.zeros((outputs, shape[1]))
    wide[: shape[2]] = second
    constants = {
        "first": diagonals(first, slots, batch, baby[0]),
        "bias": np.tile(np.repeat(bias, batch), shape[0] // shape[1]),
        "second": diagonals(wide, slots, batch, baby[1]),
        "baby": np.array(baby),
        "shape": np.array([shape[0], shape[1], outputs]),
        "batch": np.array(batch),
    }
    return Task("network", slots, {"x": x.ravel()}, constants, (clear.ravel(),))


def iteration(name: str, depth: int, slots: int) -> Task:
    x = y = random(11, slots)
    for _ in range(depth):
        y = y * y * 0.5 + x * 0.1
    return Task(name, slots, {"x": x}, {"depth": np.array(depth)}, (y,))


def k_means(points: int, features: int, centres: int) -> Task:
    """Returns the task of the squared distances of digits, shrunk to few pixels, from some of the digits. The values of
    one feature stand together for all points.
    """
    from sklearn.datasets import load_digits

    data = load_digits().data / 16
    data = data.reshape(len(data), features, 64 // features).mean(axis=2)
    x, middle = data[:points], data[points : points + centres]
    distances = ((x[:, None] - middle) ** 2).sum(axis=2)
    constants = {
        "centres": np.repeat(middle, points, axis=1),
        "features": np.array(features),
        "points": np.array(points),
    }
    return Task("k_means", x.size, {"x": x.T.ravel()}, constants, tuple(distances.T))


def moving_average(taps: int, samples: int) -> Task:
    x = random(12, samples)
    return Task("moving_average", samples, {"x": x}, {"taps": np.array(taps)}, (windows(x, taps) / taps,))


# The description of each program in the table. Below are the functions that make its task, at full size and at a size
# for tests.
PROGRAMS: dict[str, str] = {
    "dot": "dot product, 4,096 values",
    "variance": "variance, 1,000 values",
    "matrix_vector": "plain matrix times vector, 128 x 128",
    "box_blur": "box blur, 64 x 64",
    "roberts_cross": "Roberts cross, 64 x 64",
    "polynomial": "polynomial of degree 31",
    "inference": "logistic regression, 30 features, 256 records",
    "training": "its training, 2 iterations, 256 samples",
    "network": "digits network 64-32-10, 128 images",
    "iteration_10": "y = y*y*0.5 + x*0.1, 10 times",
    "iteration_20": "y = y*y*0.5 + x*0.1, 20 times",
    "k_means": "distances from 8 centres, 16 features, 256 points",
    "moving_average": "moving average, 16 taps, 1,024 samples",
}
WHOLE: dict[str, Callable[[], Task]] = {
    "dot": lambda: dot(4096),
    "variance": lambda: variance(1000, 1024),
    "matrix_vector": lambda: matrix_vector(128, 16),
    "box_blur": lambda: box_blur(64),
    "roberts_cross": lambda: roberts_cross(64),
    "polynomial": lambda: polynomial(31, 4096),
    "inference": lambda: inference(256, 30),
    "training": lambda: training(256, 30, 2),
    "network": lambda: network((64, 32, 10), 128, (8, 4)),
    "iteration_10": lambda: iteration("iteration_10", 10, 4096),
    "iteration_20": lambda: iteration("iteration_20", 20, 4096),
    "k_means": lambda: k_means(256, 16, 8),
    "moving_average": lambda: moving_average(16, 1024),
}
TINY: dict[str, Callable[[], Task]] = {
    "dot": lambda: dot(16),
    "variance": lambda: variance(5, 8),
    "matrix_vector": lambda: matrix_vector(8, 4),
    "box_blur": lambda: box_blur(4),
    "roberts_cross": lambda: roberts_cross(4),
    "polynomial": lambda: polynomial(5, 8),
    "inference": lambda: inference(8, 3),
    "training": lambda: training(8, 3, 1),
    "network": lambda: network((8, 4, 2), 4, (2, 2)),
    "iteration_10": lambda: iteration("iteration_10", 2, 8),
    "iteration_20": lambda: iteration("iteration_20", 3, 8),
    "k_means": lambda: k_means(8, 4, 2),
    "moving_average": lambda: moving_average(4, 16),
}
