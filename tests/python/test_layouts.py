# SPDX-License-Identifier: Apache-2.0
"""What layouts say of slots is true: a value, a copy or zero. Slots of rubbish may hold anything."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import random_arrays

from ringmill.arrays import choose, tracing
from ringmill.arrays.graph import Node
from ringmill.arrays.layout import RUBBISH, ZERO, Layout, affine, affine_strides, repeated, table, usual

COUNT = 400 if "RINGMILL_FUZZ_SECONDS" in os.environ else 10
SLOTS = 64


def value_of(node: Node, known: dict[Node, np.ndarray], drawn: random_arrays.Drawn) -> np.ndarray:
    """Computes the values of a node by its definition."""
    taken = [np.append(known[operand], 0.0)[index] for operand, index in node.operands]
    factors = None
    if node.op in ("plus", "minus", "scale", "linear"):
        plain, factors = node.rest
        factors = factors if plain is None else np.append(drawn.values[plain].ravel(), 0.0)[factors]
    match node.op:
        case "input":
            return drawn.values[node.rest[0]].astype(float).ravel()
        case "add":
            return taken[0] + taken[1]
        case "sub":
            return taken[0] - taken[1]
        case "mul":
            return taken[0] * taken[1]
        case "plus":
            return taken[0] + factors
        case "minus":
            return taken[0] - factors
        case "scale":
            return taken[0] * factors
        case "linear":
            return (taken[0] * factors).sum(axis=-1).ravel()
        case "sum":
            return taken[0].sum(axis=-1).ravel()
        case "products":
            return (taken[0] * taken[1]).sum(axis=-1).ravel()
        case "join":
            return np.sum(taken, axis=0)
        case "neg":
            return -taken[0]
        case "number":
            return taken[0] * node.rest[0]
        case _:
            raise AssertionError(node.op)


def slots_of(code: Any, inputs: dict[str, Layout], drawn: random_arrays.Drawn, spoilt: dict[int, Any]) -> list[Any]:
    """Runs slot operations on vectors of numpy. After each one, the slots in `spoilt` are set to rubbish."""
    dice = np.random.default_rng(1)
    found: list[np.ndarray] = []
    for number, operation in enumerate(code.operations):
        x = [found[operand] for operand in operation.operands]

        def plain(name: str, index: bytes) -> np.ndarray:
            return np.append(drawn.values[name].ravel(), 0.0)[np.frombuffer(index, dtype=np.int64)]

        match operation.name:
            case "input":
                name, part = operation.rest
                holds = inputs[name].holds[part * SLOTS : (part + 1) * SLOTS]
                made = np.append(drawn.values[name].ravel(), 0.0)[np.maximum(holds, -1)]
            case "add":
                made = x[0] + x[1]
            case "sub":
                made = x[0] - x[1]
            case "mul":
                made = x[0] * x[1]
            case "neg":
                made = -x[0]
            case "number":
                made = x[0] * operation.rest[0]
            case "rotate":
                made = np.roll(x[0], -operation.rest[0])
            case "plus":
                made = x[0] + code.vectors[operation.rest[0]].real
            case "scale":
                made = x[0] * code.vectors[operation.rest[0]].real
            case "times":
                made = x[0] * plain(*operation.rest)
            case "plus_plain":
                made = x[0] + plain(*operation.rest)
            case "minus_plain":
                made = x[0] - plain(*operation.rest)
            case _:
                raise AssertionError(operation.name)
        if number in spoilt:
            made = np.where(spoilt[number], dice.uniform(-9, 9, SLOTS), made)
        found.append(made)
    return found


@pytest.mark.parametrize("rubbish", [False, True])
def test_slots_hold_what_their_layouts_say(monkeypatch, rubbish):
    chosen: list[choose.Choice] = []
    monkeypatch.setattr(tracing.choose, "choose", lambda *given: chosen.append(choose_layouts(*given)) or chosen[-1])
    for seed in range(COUNT):
        drawn = random_arrays.draw(seed, False)
        program = random_arrays.program_of(drawn)
        chosen.clear()
        program._trace_arrays(SLOTS, "ckks", work=300)
        lowerer = chosen[0].lowerer
        spoilt: dict[int, Any] = {}
        if rubbish:
            # A slot is spoilt if no layout of the operation's value says what it holds.
            for placed in lowerer.placed.values():
                for number, part in enumerate(placed.parts):
                    if part is not None:
                        bad = placed.layout.holds[number * SLOTS : (number + 1) * SLOTS] == RUBBISH
                        spoilt[part] = spoilt.get(part, True) & bad
        slots = slots_of(lowerer.code, chosen[0].inputs, drawn, spoilt)
        known: dict[Node, np.ndarray] = {}
        for node, placed in lowerer.placed.items():
            known[node] = np.asarray(value_of(node, known, drawn), dtype=float)
            held = np.concatenate([np.zeros(SLOTS) if part is None else slots[part] for part in placed.parts])
            holds = placed.layout.holds
            assert np.allclose(held[holds == ZERO], 0, atol=1e-7), (seed, node.op)
            values = holds >= 0
            assert np.allclose(held[values], known[node][holds[values]], atol=1e-7), (seed, node.op)
            assert np.unique(holds[values]).size == node.size, (seed, node.op)


choose_layouts = choose.choose


def test_layouts_are_affine_tables():
    places = affine((3, 4), (8, 2), 1)
    assert places.tolist() == [[1, 3, 5, 7], [9, 11, 13, 15], [17, 19, 21, 23]]
    assert affine_strides(places) == (8, 2)
    assert affine_strides(np.array([0, 1, 3])) is None
    layout = table(32, places)
    assert layout.ciphertexts == 1
    assert layout.first(np.arange(12)).tolist() == places.ravel().tolist()
    assert repeated(layout) is None
    twice = repeated(table(8, np.arange(3)))
    assert twice is not None
    assert twice.holds.tolist() == [0, 1, 2, -1] * 2
    assert twice.copies() == 2
    assert twice.once().holds.tolist() == [0, 1, 2, *[RUBBISH] * 5]
    assert [found.ciphertexts for found in usual((5, 9), 16)] == [5, 3, 5, 3]
