# SPDX-License-Identifier: Apache-2.0
"""What layouts say of slots is true: a value, a copy or zero. Slots of rubbish may hold anything."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import random_arrays

import ringmill as rm
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
        case "layout":
            return taken[0]
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


@pytest.mark.parametrize("strides", [(1, 4), (16, -2), (8, 1), (100, 3)])
@pytest.mark.parametrize("copies", [False, True])
def test_a_pinned_layout_is_taken(strides, copies):
    x = np.arange(12.0).reshape(3, 4)
    offset = 6 if strides[1] < 0 else 0

    @rm.program
    def pinned(x: rm.Encrypted[rm.real[3, 4]]):
        x = rm.layout(x, strides, offset, copies)
        return x + 1, rm.layout(x.T * 2, (4, 1)), x[0] * x[1, ::-1], x.sum(axis=1)

    compiled = pinned.compile(rm.params(log_n=10, bits=[60, 50, 50, 60], **random_arrays.INSECURE), input_bound=12)
    assert f"value at slot {offset} + index . {strides}" in compiled.layouts["x"]
    assert ("copies" in compiled.layouts["x"]) == copies
    assert "value at slot 0 + index . (4, 1)" in compiled.layouts["out1"]
    client = compiled.keygen()
    for found in (pinned(x), client.decrypt(compiled.run(client.encrypt(x=x)))):
        for one, other in zip(found, (x + 1, x.T * 2, x[0] * x[1, ::-1], x.sum(axis=1)), strict=True):
            assert np.allclose(one, other, atol=1e-3)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x, p: rm.layout(x, (1,)), r"2 axes; give one for each"),
        (lambda x, p: rm.layout(x, (1, 2)), r"puts 2 values of shape \(3, 4\) in slot 2"),
        (lambda x, p: rm.layout(x, (4, -1)), "in slot -3; slots are from 0"),
        (lambda x, p: rm.layout(x, (1 << 21, 1)), "in slot 4194307"),
        (lambda x, p: x * rm.layout(p, (4, 1)), "encodes plain ones"),
        (lambda x, p: rm.layout(np.ones(3), 1), "takes x, an encrypted array"),
        (lambda x, p: x + rm.layout(x[:0], (1, 1)), "has no value"),
        (lambda x, p: rm.layout(x, (4, 1), 0, 2), "copies must be True or False"),
        (lambda x, p: rm.layout(x, (4096, 1), copies=True), "repeats the values within a ciphertext"),
        (lambda x, p: rm.upsample(x[0], (1, 2)), "x has one axis"),
        (lambda x, p: rm.upsample(x[0, 0], 2), "one dimension or more"),
        (lambda x, p: rm.upsample(x, 1 << 20), "too many values"),
        (lambda x, p: rm.upsample(x, 0), "scale must be a whole number"),
    ],
)
def test_layouts_that_cannot_be_are_refused(function, said):
    @rm.program
    def f(x: rm.Encrypted[rm.real[3, 4]], p: rm.Plain[rm.real[3, 4]]):
        return function(x, p)

    with pytest.raises(rm.CompileError, match=said):
        f.compile(input_bound=1)


def test_an_image_grows_by_its_nearest_values():
    @rm.program
    def larger(x: rm.Encrypted[rm.real[2, 3, 4]], p: rm.Plain[rm.real[1, 2]]):
        return (
            rm.upsample(x, 2),
            rm.upsample(x[0], (1, 3)),
            rm.upsample(x[0, 0], 3) * 2,
            x[0, :2, :2] * rm.upsample(p, 1),
        )

    x, p = np.arange(24.0).reshape(2, 3, 4), np.array([[2.0, 3.0]])
    wanted = (x.repeat(2, 1).repeat(2, 2), x[0].repeat(3, 1), x[0, 0].repeat(3) * 2, x[0, :2, :2] * p)
    for one, other in zip(larger(x, p), wanted, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("options", [{"slots": 64}, {}])
def test_any_number_of_inputs_shares_a_ciphertext(tmp_path, options):
    @rm.program
    def scored(x: rm.Encrypted[rm.real[5]], w: rm.Plain[rm.real[5, 2]], y: rm.Encrypted[rm.real]):
        return {"score": (x @ w + 1) ** 2 * y, "mean": x.mean()}

    dice = np.random.default_rng(3)
    compiled = scored.compile(batch=True, ranges={"x": (1, 2), "y": (1, 2)}, input_bound=1, **options)
    most = compiled.batch
    assert most == compiled.params.slots // 8 if not options else most == 8
    compiled.save(tmp_path / "scored.rmac")
    loaded = rm.load(tmp_path / "scored.rmac")
    assert loaded.batch == most
    w = dice.uniform(-1, 1, (5, 2))
    client = loaded.keygen()
    for count in (1, 3, most, 2 * most + 3):
        x, y = dice.uniform(1, 2, (count, 5)), dice.uniform(1, 2, count)
        inputs = client.encrypt(x=x, y=y)
        assert len(inputs.ciphertexts) == 2
        run = loaded.run(inputs, plain={"w": w})
        found = client.decrypt(run)
        assert np.allclose(found["score"], (x @ w + 1) ** 2 * y[:, None], atol=1e-3)
        assert np.allclose(found["mean"], x.mean(axis=1), atol=1e-3)
        assert client.measure(run, x=x, y=y, w=w)["score"].measured_bits > 10
        assert client.decrypt(run.ciphertexts)["mean"].shape == (most,)
        assert [part.batch for part in (run, *run.more)] == ([count] if count <= most else [most, most, 3])
    for given, said in (
        ({"x": np.ones((2, 5)), "y": np.ones(3)}, "x has 2, y has 3"),
        ({"x": np.ones(5), "y": np.ones(3)}, r"an array of shape \(n, 5\)"),
        ({"x": np.ones((0, 5)), "y": np.ones(0)}, r"one of shape \(0, 5\)"),
        ({"x": [[1], [1, 2]], "y": 1}, "an array of another kind"),
        ({"x": np.ones((1, 5)), "y": 1}, r"an array of shape \(n,\)"),
    ):
        with pytest.raises(rm.DataError, match=said):
            client.encrypt(**given)
    with pytest.raises(rm.DataError, match=f"the run is of {2 * most + 3} inputs, and 2 are given"):
        client.measure(run, x=np.ones((2, 5)), y=np.ones(2), w=w)
    with pytest.raises(rm.DeviceError, match="a checkpoint and a trace are of one run, and these inputs take 3"):
        loaded.run(inputs, plain={"w": w}, checkpoint=tmp_path / "point")
    both = loaded.run(inputs, plain={"w": w}, device=["cpu", "cpu:1"])
    assert all(np.allclose(client.decrypt(one)["mean"], x.mean(axis=1), atol=1e-3) for one in both)
    with pytest.raises(rm.DataError, match=f"x has {most + 1} inputs, and at most {most} share"):
        scored.compile(batch=True, sample={"x": np.ones((most + 1, 5)), "y": np.ones(most + 1), "w": w}, **options)
    with pytest.raises(rm.DataError, match="inputs are of 3 runs, and one is compared"):
        rm.compare(loaded, ["ring"], inputs=inputs, plain={"w": w})
    text = (tmp_path / "scored.rmac").read_text()
    (tmp_path / "other.rmac").write_text(text.replace(f'"batch": {most}', '"batch": 3'))
    with pytest.raises(rm.FileError, match="altered"):
        rm.load(tmp_path / "other.rmac")
