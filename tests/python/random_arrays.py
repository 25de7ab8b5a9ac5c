# SPDX-License-Identifier: Apache-2.0
"""Random programs of arrays, each the same function for numpy and for Ringmill.

``python random_arrays.py FIRST COUNT`` runs programs by their seeds and prints those that are refused or wrong.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import ringmill as rm
from ringmill._ringmill import evaluate_program
from ringmill.values import as_vectors

INSECURE = {"allow_insecure_parameters_for_tests_only": True}
REAL = {"log_n": 7, "bits": [60, *[50] * 12, 60], **INSECURE}
BOUND = 40.0  # values of a program stay below it, by numpy


class Unfit(Exception):
    """The program is not tried: its values would be too large or too many."""


@dataclass
class Drawn:
    """A program: its arguments by name with type and whether they are encrypted, and its steps as functions."""

    kinds: dict[str, tuple[Any, bool]]
    values: dict[str, np.ndarray]
    steps: list[tuple[str, Callable[..., Any]]]

    def __call__(self, arguments: dict[str, Any]) -> Any:
        found = [arguments[name] for name, (_, encrypted) in self.kinds.items() if encrypted]
        plain = [arguments[name] for name, (_, encrypted) in self.kinds.items() if not encrypted]
        for _, step in self.steps:
            found.append(step(found, plain))
        return found[-1]


def _shape(rng: np.random.Generator, most: int = 200) -> tuple[int, ...]:
    lengths = [1, 2, 3, 4, 5, 7, 8, 11, 13, 16]
    while True:
        shape = tuple(int(n) for n in rng.choice(lengths, rng.choice([0, 1, 1, 1, 2, 2, 2, 3, 4])))
        if np.prod(shape, dtype=int) <= most:
            return shape


def _values(rng: np.random.Generator, shape: tuple[int, ...], whole: bool) -> np.ndarray:
    if whole:
        return rng.integers(0, 4, shape)
    return rng.uniform(-1, 1, shape)


def _meeting(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Returns a shape that broadcasts with another."""
    cut = shape[int(rng.integers(0, len(shape) + 1)) :] if rng.random() < 0.3 else shape
    return tuple(1 if rng.random() < 0.25 else n for n in cut)


def draw(seed: int, whole: bool) -> Drawn:
    """Draws a program by its seed. Its shapes are known by numpy alone."""
    rng = np.random.default_rng(seed)
    scalar = rm.uint(2) if whole else rm.real
    shape = _shape(rng)
    if not shape and rng.random() < 0.7:
        shape = _shape(rng)
    kinds = {"x": (scalar[shape] if shape else scalar, True)}
    values = {"x": _values(rng, shape, whole)}
    if rng.random() < 0.5:
        other = _meeting(rng, shape) if rng.random() < 0.7 else _shape(rng)
        kinds["y"] = (scalar[other] if other else scalar, True)
        values["y"] = _values(rng, other, whole)
    if rng.random() < 0.4:
        beside = _meeting(rng, shape)
        kinds["p"] = (scalar[beside] if beside else scalar, False)
        values["p"] = _values(rng, beside, whole)
    drawn = Drawn(kinds, values, [])
    found = [value for name, value in values.items() if kinds[name][1]]
    plain = [value for name, value in values.items() if not kinds[name][1]]
    depth = [0] * len(found)
    for _ in range(int(rng.integers(1, 5))):
        for _ in range(50):
            at = int(rng.integers(0, len(found)))
            place = at if rng.random() < 0.4 else len(found) - 1
            made = _step(rng, found, plain, place, whole)
            if made is None:
                continue
            name, step = made
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    value = np.asarray(step(found, plain))
            except (ValueError, IndexError, TypeError, np.exceptions.AxisError):
                continue
            if value.size == 0 or value.size > 400 or np.abs(value.astype(float)).max() > (1e6 if whole else BOUND):
                continue
            drawn.steps.append((name, step))
            found.append(value)
            depth.append(0)
            break
    return drawn


def _pinned(x: Any, order: tuple[int, ...], offset: int) -> Any:
    """Pins the layout of a traced array: axes in this order, with gaps. numpy's arrays stay as they are."""
    if isinstance(x, np.ndarray | np.generic):
        return x
    strides, stride = [0] * x.ndim, 1 + offset
    for axis in order:
        strides[axis] = stride
        stride *= x.shape[axis]
    return rm.layout(x, tuple(strides), offset)


def _step(rng: np.random.Generator, found: list[Any], plain: list[Any], a: int, whole: bool) -> Any:
    """Draws one step on value `a`: its name, and the function."""
    value = np.asarray(found[a])
    n = value.ndim
    axis = None if n == 0 or rng.random() < 0.3 else int(rng.integers(-n, n))
    one = 0 if n == 0 else int(rng.integers(0, n))
    b = int(rng.integers(0, len(found)))
    keep = bool(rng.random() < 0.5)
    kernel = _values(rng, (int(rng.integers(1, 4)),), whole)
    beside = _values(rng, _meeting(rng, value.shape), whole)
    number = int(rng.integers(-3, 4)) if whole else float(np.round(rng.uniform(-2, 2), 2))
    last = value.shape[-1] if n else 1
    matrix = _values(rng, (last, int(rng.integers(1, 6))), whole)
    left = _values(rng, (int(rng.integers(1, 5)), value.shape[0] if n == 1 else value.shape[-2] if n else 1), whole)
    step = int(rng.choice([-3, -2, -1, 1, 2, 3]))
    start, stop = sorted(int(i) for i in rng.integers(-1, last + 1, 2))
    window = (Ellipsis, slice(*((stop, start) if step < 0 else (start, stop)), step))
    order = tuple(int(i) for i in rng.permutation(n))
    shift = int(rng.integers(-4, 5))
    width = tuple((int(rng.integers(0, 3)), int(rng.integers(0, 3))) for _ in range(n))
    mask = rng.random(value.shape) < 0.5
    fancy = rng.integers(-last, last, int(rng.integers(1, 6)))
    divisors = [k for k in range(1, value.size + 1) if value.size % k == 0]
    rows = int(rng.choice(divisors)) if divisors else 1
    mode = str(rng.choice(["full", "same", "valid"]))
    edge = str(rng.choice(["edge", "wrap", "constant"]))
    repeats = int(rng.integers(1, 4))
    steps: dict[str, Callable[[Any, Any], Any]] = {
        "add": lambda f, p: f[a] + f[b],
        "layout": lambda f, p: _pinned(f[a], order, repeats - 1),
        "subtract": lambda f, p: f[a] - f[b],
        "multiply": lambda f, p: f[a] * f[b],
        "square": lambda f, p: np.square(f[a]),
        "cube": lambda f, p: f[a] ** 3,
        "add constants": lambda f, p: f[a] + beside,
        "from constants": lambda f, p: beside - f[a],
        "times constants": lambda f, p: beside * f[a],
        "times number": lambda f, p: f[a] * number,
        "plus number": lambda f, p: number - f[a],
        "sum": lambda f, p: np.sum(f[a], axis=axis, keepdims=keep),
        "sum of axes": lambda f, p: f[a].sum(axis=tuple(range(n))[::2]),
        "mean": lambda f, p: np.mean(f[a], axis=axis, keepdims=keep),
        "var": lambda f, p: f[a].var(axis=axis),
        "prod": lambda f, p: np.prod(f[a][..., :3], axis=-1),
        "cumsum": lambda f, p: np.cumsum(f[a], axis=axis),
        "diff": lambda f, p: np.diff(f[a]),
        "transpose": lambda f, p: np.transpose(f[a], order),
        "T": lambda f, p: f[a].T,
        "ravel": lambda f, p: np.ravel(f[a]),
        "reshape": lambda f, p: f[a].reshape(rows, -1),
        "slice": lambda f, p: f[a][window],
        "index": lambda f, p: f[a][shift],
        "fancy": lambda f, p: f[a][..., fancy],
        "newaxis": lambda f, p: f[a][..., None],
        "roll": lambda f, p: np.roll(f[a], shift, axis),
        "flip": lambda f, p: np.flip(f[a], axis),
        "pad": lambda f, p: np.pad(f[a], width, mode=edge),
        "tile": lambda f, p: np.tile(f[a], repeats),
        "repeat": lambda f, p: np.repeat(f[a], repeats, axis=axis),
        "concatenate": lambda f, p: np.concatenate((f[a], f[b]), axis=one),
        "with constants": lambda f, p: np.concatenate((f[a], beside), axis=one),
        "stack": lambda f, p: np.stack((f[a], f[b]), axis=one),
        "split": lambda f, p: np.array_split(f[a], 2, axis=one)[0],
        "where": lambda f, p: np.where(mask, f[a], f[b]),
        "where constants": lambda f, p: np.where(mask, f[a], 1),
        "diagonal": lambda f, p: np.diagonal(f[a]),
        "trace": lambda f, p: np.trace(f[a]),
        "triu": lambda f, p: np.triu(f[a]),
        "matmul": lambda f, p: f[a] @ matrix,
        "rmatmul": lambda f, p: left @ f[a],
        "gram": lambda f, p: f[a] @ f[a].T,
        "matmul of both": lambda f, p: f[a] @ f[b],
        "dot": lambda f, p: np.dot(f[a], f[b]),
        "inner": lambda f, p: np.inner(f[a], f[b]),
        "outer": lambda f, p: np.outer(f[a], kernel),
        "outer of both": lambda f, p: np.multiply.outer(f[a], f[b]),
        "vdot": lambda f, p: np.vdot(f[a], f[b]),
        "einsum": lambda f, p: np.einsum("...i,i->...", f[a], np.arange(last)),
        "einsum of both": lambda f, p: np.einsum("ij,ij->i", f[a], f[b]),
        "convolve": lambda f, p: np.convolve(f[a], kernel, mode),
        "correlate": lambda f, p: np.correlate(kernel, f[a], mode),
        "convolve both": lambda f, p: np.convolve(f[a], f[b], mode),
    }
    if plain:
        steps |= {
            "plus plain": lambda f, p: f[a] + p[0],
            "minus plain": lambda f, p: p[0] - f[a],
            "times plain": lambda f, p: f[a] * p[0],
            "matmul plain": lambda f, p: f[a] @ p[0],
            "plain matmul": lambda f, p: p[0].T @ f[a],
            "slice of plain": lambda f, p: f[a] * p[0][..., ::-1],
        }
    if whole:
        for name in ("mean", "var"):
            del steps[name]
    name = str(rng.choice(list(steps)))
    return name, steps[name]


def program_of(drawn: Drawn) -> rm.Program:
    """Returns the drawn program for Ringmill."""
    annotated = {
        name: (rm.Encrypted if encrypted else rm.Plain)[kind] for name, (kind, encrypted) in drawn.kinds.items()
    }
    made: dict[str, Any] = {}
    parameters = ", ".join(drawn.kinds)
    exec(
        f"def drawn_program({parameters}): return call({{{', '.join(f'{n!r}: {n}' for n in drawn.kinds)}}})",
        {"call": drawn},
        made,
    )
    made["drawn_program"].__annotations__ = annotated
    return rm.program(made["drawn_program"])


@dataclass
class Outcome:
    """What became of a program: refused with a message, or the largest error, and a fault in words."""

    refused: str | None = None
    error: float = 0.0
    fault: str | None = None


def tried(drawn: Drawn, whole: bool, scheme: str | None = None, encrypted: bool = True, **options: Any) -> Outcome:
    """Runs a drawn program and compares it with numpy."""
    expected = np.asarray(drawn(dict(drawn.values)))
    encrypt = {name: value for name, value in drawn.values.items() if drawn.kinds[name][1]}
    plain = {name: value for name, value in drawn.values.items() if not drawn.kinds[name][1]}
    try:
        program = program_of(drawn)
        if not encrypted:
            found = program._arrays_in_the_clear(drawn.values)  # also of one dimension
        else:
            if not whole:
                options = {"params": rm.params(**REAL), "input_bound": 1, **options}
            compiled = program.compile(scheme=scheme, **options)
            client = compiled.keygen()
            run = compiled.run(client.encrypt(**encrypt), plain=plain, progress=False)
            found = client.decrypt(run)
    except rm.RingmillError as error:
        return Outcome(refused=f"{type(error).__name__}: {error}")
    if np.shape(found) != expected.shape:
        return Outcome(fault=f"shape {np.shape(found)}, and numpy has {expected.shape}")
    if whole:
        wrong = not np.array_equal(np.asarray(found, dtype=object).ravel(), expected.astype(object).ravel())
        kind = np.asarray(found).dtype
        return Outcome(fault="a whole number is wrong" if wrong else None if kind == np.int64 else f"dtype {kind}")
    error = float(np.abs(np.asarray(found) - expected).max())
    most = 1e-3 if encrypted else 1e-9
    return Outcome(error=error, fault=f"error {error}" if not error < most else None)


def tried_in_a_batch(drawn: Drawn, whole: bool, seed: int) -> Outcome:
    """Runs a drawn program in the clear on several inputs that share vectors of slots, and compares each with numpy."""
    batch, slots = [(3, None), (True, 64), (5, None)][seed % 3]
    dice = np.random.default_rng(seed)
    try:
        how = {"batch": batch, "work": 100}
        traced, interface, _ = program_of(drawn)._trace_arrays(slots, "bfv" if whole else "ckks", **how)
        count = min(3, interface.batch or 3) if batch is True else int(batch)
        many = {
            name: _values(dice, (count, *np.shape(value)), whole) if drawn.kinds[name][1] else value
            for name, value in drawn.values.items()
        }
        vectors = as_vectors(interface.pack(many), interface.slots, interface.signature.of)
        outputs = evaluate_program(traced, [vectors[name] for name, _ in traced.inputs])
    except rm.RingmillError as error:
        return Outcome(refused=f"{type(error).__name__}: {error}")
    shape = interface.shape
    found = np.asarray(shape.joined([shape.leaves([outputs[name].real for name in shape.names], count)]), dtype=float)
    each = [{name: many[name][n] if drawn.kinds[name][1] else many[name] for name in many} for n in range(count)]
    expected = np.stack([np.asarray(drawn(one)) for one in each]).astype(float)
    if found.shape != expected.shape:
        return Outcome(fault=f"shape {found.shape}, and numpy has {expected.shape}")
    return Outcome(fault=None if np.allclose(found, expected, rtol=1e-7, atol=1e-7) else "a value is wrong")


def main(first: int, count: int, whole: bool, encrypted: bool) -> None:
    """Runs programs by their seeds and prints what is not right."""
    refused: Counter[str] = Counter()
    for seed in range(first, first + count):
        drawn = draw(seed, whole)
        try:
            outcome = tried(drawn, whole, encrypted=encrypted)
        except Exception as error:
            outcome = Outcome(fault=f"{type(error).__name__}: {error}")
        names = [name for name, _ in drawn.steps]
        if outcome.fault:
            print(f"seed {seed} {names} {outcome.fault}", flush=True)
        elif outcome.refused:
            refused[outcome.refused[:160]] += 1
            print(f"seed {seed} {names} refused: {outcome.refused[:300]}", flush=True)
    print(f"{sum(refused.values())} of {count} refused")


if __name__ == "__main__":
    assert Fraction
    main(int(sys.argv[1]), int(sys.argv[2]), "whole" in sys.argv, "clear" not in sys.argv)
