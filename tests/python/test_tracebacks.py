# SPDX-License-Identifier: Apache-2.0
"""Tests tracebacks of refusals. They show the caller's lines, and the package's own on request."""

from __future__ import annotations

import traceback

import numpy as np
import pytest

import ringmill as rm


@rm.program
def picks(x: rm.Encrypted):
    return outer(x)


def outer(x):
    return x[0]  # at fault


@rm.procedure
def picking(x):
    return x[0]


@rm.program
def calls(x: rm.Encrypted):
    return picking(x)


@rm.program
def repeats(x: rm.Encrypted):
    return rm.repeat(3, lambda y: y[0], x)


@rm.program
def shapes(x: rm.Encrypted[rm.integer[4]]):
    return rm.Matrix(x, (2, 3)).vector


@rm.program
def sums(x: rm.Encrypted):
    return rm.sum(x, 5000)


def frames(call):
    """Returns the functions of a refusal's traceback, from the call inwards, and whether each is in this file."""
    with pytest.raises(rm.RingmillError) as caught:
        call()
    entries = traceback.extract_tb(caught.value.__traceback__)
    here = [(entry.name, entry.filename == __file__) for entry in entries]
    place = next(i for i, (name, _) in enumerate(here) if name == "<lambda>")
    return here[place:]


CALLS = {
    "a program": (lambda: picks.compile(slots=8), ["picks", "outer"]),
    "a program in the clear": (lambda: picks(x=np.zeros(8)), ["picks", "outer"]),
    "a procedure": (lambda: calls.compile(slots=8), ["calls", "picking"]),
    "a repeat": (lambda: repeats.compile(slots=8), ["repeats", "<lambda>"]),
    "a matrix": (lambda: shapes.compile(slots=4), ["shapes"]),
    "an operation": (lambda: sums.compile(slots=8), ["sums"]),
    "an argument": (lambda: rm.params(log_n="high"), []),
    "the call": (lambda: picks.compile(slot=8), []),
    "the compiled half": (lambda: rm.params(log_n=11, bits=[50, 40, 50]), []),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_callers_frames_alone(name, monkeypatch):
    monkeypatch.delenv("RINGMILL_TRACEBACK", raising=False)
    call, inner = CALLS[name]
    assert frames(call) == [(function, True) for function in ["<lambda>", *inner]]


def test_every_frame_where_it_is_asked_for(monkeypatch):
    monkeypatch.setenv("RINGMILL_TRACEBACK", "full")
    names = frames(CALLS["a program"][0])
    assert ("__getitem__", False) in names
    assert len(names) > 5


def test_a_fault_of_the_programs_own_keeps_its_frames():
    @rm.program
    def wrong(x: rm.Encrypted):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine") as caught:
        wrong.compile(slots=8)
    assert "_traced" in [entry.name for entry in traceback.extract_tb(caught.value.__traceback__)]


def test_refusals_of_generated_methods_point_at_the_programs_line():
    with pytest.raises(rm.CompileError) as caught:
        shapes.compile(slots=4)
    assert (caught.value.file, caught.value.line) == (__file__, shapes._function.__code__.co_firstlineno + 2)
