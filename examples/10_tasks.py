# SPDX-License-Identifier: Apache-2.0
"""Fourteen tasks on encrypted arrays. Each is a function of at most fifteen lines. Numpy checks its result.

``--toy`` uses small arrays. Names of tasks select them: ``python examples/10_tasks.py salaries tally``.
"""

import sys
import time
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from numpy.polynomial import Chebyshev

import ringmill as rm

DICE = np.random.default_rng(1)


def run(program: rm.Program, encrypted: dict[str, Any], plain: dict[str, Any] | None = None, **options: Any) -> Any:
    """Compiles a program, encrypts its inputs, runs it and decrypts its results."""
    compiled = program.compile(**options)
    client = compiled.keygen()
    return client.decrypt(compiled.run(client.encrypt(**encrypted), plain=plain))


def salaries(toy: bool) -> tuple[Any, Any]:
    n = 30 if toy else 1000

    @rm.program
    def statistics(pay: Annotated[Any, rm.Encrypted[rm.real[n]]]) -> dict[str, Any]:
        return {"mean": pay.mean(), "variance": np.var(pay)}

    pay = DICE.uniform(2, 9, n)
    found = run(statistics, {"pay": pay}, ranges={"pay": (0, 10)})
    return [found["mean"], found["variance"]], [pay.mean(), pay.var()]


def linear_model(toy: bool) -> tuple[Any, Any]:
    n, k = (9, 5) if toy else (100, 30)

    @rm.program
    def model(
        x: Annotated[Any, rm.Encrypted[rm.real[n, k]]],
        w: Annotated[Any, rm.Plain[rm.real[k, 3]]],
        b: Annotated[Any, rm.Plain[rm.real[3]]],
    ) -> Any:
        return x @ w + b

    x, w, b = DICE.uniform(-1, 1, (n, k)), DICE.uniform(-1, 1, (k, 3)), DICE.uniform(-1, 1, 3)
    return run(model, {"x": x}, {"w": w, "b": b}, input_bound=1), x @ w + b


def matrix_products(toy: bool) -> tuple[Any, Any]:
    n = 4 if toy else 16

    @rm.program
    def fourth(x: Annotated[Any, rm.Encrypted[rm.real[n, n]]]) -> Any:
        square = x @ x
        return square @ square

    x = DICE.uniform(-1, 1, (n, n)) / n
    return run(fourth, {"x": x}, ranges={"x": 1 / n}), np.linalg.matrix_power(x, 4)


def k_means(toy: bool) -> tuple[Any, Any]:
    n = 7 if toy else 100

    @rm.program
    def distances(
        points: Annotated[Any, rm.Encrypted[rm.real[n, 4]]], centres: Annotated[Any, rm.Encrypted[rm.real[5, 4]]]
    ) -> Any:
        return ((points[:, None] - centres) ** 2).sum(axis=-1)

    points, centres = DICE.uniform(-1, 1, (n, 4)), DICE.uniform(-1, 1, (5, 4))
    found = run(distances, {"points": points, "centres": centres}, input_bound=1)
    return found, ((points[:, None] - centres) ** 2).sum(axis=-1)


def digits_network(toy: bool) -> tuple[Any, Any]:
    n, k = (9, 4) if toy else (64, 32)

    @rm.program
    def network(
        pixels: Annotated[Any, rm.Encrypted[rm.real[n]]],
        layers: Annotated[Any, [rm.Plain[rm.real[n, k]], rm.Plain[rm.real[k, 10]]]],
    ) -> Any:
        return (pixels @ layers[0]) ** 2 @ layers[1]

    images, layers = DICE.uniform(0, 1, (20, n)), [DICE.normal(0, 0.1, (n, k)), DICE.normal(0, 0.1, (k, 10))]
    ranges = {"pixels": (0, 1), "layers": 1}
    found = run(network, {"pixels": images}, {"layers": layers}, ranges=ranges, batch=20 if toy else True)
    return found, (images @ layers[0]) ** 2 @ layers[1]


def signal_filter(toy: bool) -> tuple[Any, Any]:
    n, k = (50, 4) if toy else (1000, 16)

    @rm.program
    def smooth(x: Annotated[Any, rm.Encrypted[rm.real[n]]], taps: Annotated[Any, rm.Plain[rm.real[k]]]) -> Any:
        return np.convolve(x, taps, mode="same")

    x, taps = DICE.uniform(-1, 1, n), np.hanning(k + 2)[1:-1]
    return run(smooth, {"x": x}, {"taps": taps}, input_bound=1), np.convolve(x, taps, mode="same")


def image_filters(toy: bool) -> tuple[Any, Any]:
    n = 6 if toy else 28
    kernels = np.array([[[0, 1, 0], [1, -4, 1], [0, 1, 0]], [[1, 2, 1], [2, 4, 2], [1, 2, 1]]])

    @rm.program
    def filtered(image: Annotated[Any, rm.Encrypted[rm.uint(8)[n, n]]]) -> list[Any]:
        return [rm.conv2d(image, kernel, padding=1) for kernel in kernels]

    image = DICE.integers(0, 256, (n, n))
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1), (3, 3))
    return run(filtered, {"image": image}), np.einsum("xyhw,fhw->fxy", windows, kernels)


def tally(toy: bool) -> tuple[Any, Any]:
    n = 11 if toy else 500

    @rm.program
    def counted(ballots: Annotated[Any, rm.Encrypted[rm.bit[n, 4]]]) -> Any:
        return ballots.sum(axis=0)

    ballots = np.eye(4, dtype=int)[DICE.integers(0, 4, n)]
    return run(counted, {"ballots": ballots}), ballots.sum(axis=0)


def lookup(toy: bool) -> tuple[Any, Any]:
    n = 10 if toy else 300

    @rm.program
    def entry(
        chosen: Annotated[Any, rm.Encrypted[rm.bit[n]]], table: Annotated[Any, rm.Plain[rm.uint(8)[n, 5]]]
    ) -> Any:
        return chosen @ table

    table = DICE.integers(0, 256, (n, 5))
    return run(entry, {"chosen": np.eye(n, dtype=int)[7]}, {"table": table}), table[7]


def intersection(toy: bool) -> tuple[Any, Any]:
    n = 4 if toy else 20

    @rm.program
    def common(
        mine: Annotated[Any, rm.Encrypted[rm.uint(15)[n]]], theirs: Annotated[Any, rm.Encrypted[rm.uint(15)[n]]]
    ) -> Any:
        return rm.equal(mine[:, None], theirs).sum(axis=1)

    keys = DICE.choice(2**15, 2 * n, replace=False)
    mine, theirs = keys[:n], keys[n // 2 : n // 2 + n]
    return run(common, {"mine": mine, "theirs": theirs}), np.isin(mine, theirs)


def covariance(toy: bool) -> tuple[Any, Any]:
    n = 8 if toy else 100

    @rm.program
    def spread(x: Annotated[Any, rm.Encrypted[rm.real[n, 4]]]) -> Any:
        centred = x - x.mean(axis=0)
        return centred.T @ centred / (n - 1)

    x = DICE.uniform(0, 1, (n, 4))
    return run(spread, {"x": x}, ranges={"x": (0, 1)}), np.cov(x.T)


def portfolio(toy: bool) -> tuple[Any, Any]:
    n = 5 if toy else 50

    @rm.program
    def risk(shares: Annotated[Any, rm.Encrypted[rm.real[n]]], spread: Annotated[Any, rm.Plain[rm.real[n, n]]]) -> Any:
        return np.einsum("i,ij,j", shares, spread, shares)

    shares, spread = DICE.dirichlet(np.ones(n)), np.cov(DICE.uniform(-1, 1, (n, 2 * n)))
    return run(risk, {"shares": shares}, {"spread": spread}, input_bound=1), shares @ spread @ shares


def logistic_scores(toy: bool) -> tuple[Any, Any]:
    n, k = (5, 4) if toy else (100, 10)
    sigmoid = Chebyshev.interpolate(lambda t: 1 / (1 + np.exp(-t)), 15, domain=[-k, k])

    @rm.program
    def scores(x: Annotated[Any, rm.Encrypted[rm.real[n, k]]], w: Annotated[Any, rm.Plain[rm.real[k]]]) -> Any:
        return rm.polynomial(x @ w, sigmoid)

    x, w = DICE.uniform(-1, 1, (n, k)), DICE.uniform(-1, 1, k)
    return run(scores, {"x": x}, {"w": w}, input_bound=1), sigmoid(x @ w)


def details(toy: bool) -> tuple[Any, Any]:
    n = 4 if toy else 32

    @rm.program
    def sharp(image: Annotated[Any, rm.Encrypted[rm.real[n, n]]]) -> Any:
        return image - rm.upsample(rm.avg_pool2d(image, 2), 2)

    image = DICE.uniform(0, 1, (n, n))
    coarse = image.reshape(n // 2, 2, n // 2, 2).mean(axis=(1, 3))
    return run(sharp, {"image": image}, ranges={"image": (0, 1)}), image - coarse.repeat(2, 0).repeat(2, 1)


TASKS: tuple[Callable[[bool], tuple[Any, Any]], ...] = (
    *(salaries, linear_model, matrix_products, k_means, digits_network, signal_filter, image_filters),
    *(tally, lookup, intersection, covariance, portfolio, logistic_scores, details),
)


def main(arguments: list[str]) -> int:
    wrong = 0
    for task in TASKS:
        if {*arguments} - {"--toy"} and task.__name__ not in arguments:
            continue
        begin = time.perf_counter()
        found, expected = map(np.asarray, task("--toy" in arguments))
        right = found.shape == expected.shape and np.allclose(found, expected, atol=1e-4)
        wrong += not right
        seconds = time.perf_counter() - begin
        print(f"{task.__name__:16} shape {found.shape!s:12} {'right' if right else 'WRONG'}, {seconds:.1f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
