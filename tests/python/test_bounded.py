# SPDX-License-Identifier: Apache-2.0
"""`rm.bounded`: the word of a program on a value narrows it, is checked on data, and makes precision conditional."""

from __future__ import annotations

import numpy as np
import pytest

import ringmill as rm

SLOTS = 16


@rm.program
def power(x: rm.Encrypted[rm.real[16]], y: rm.Encrypted[rm.real[16]]):
    angle = rm.bounded(rm.sum(x * y), -1, 1)  # here
    return {"power": angle**16, "sum": x + y}


RANGES = {"x": (-1, 1), "y": (-1, 1)}
SMALL = {"x": np.full(SLOTS, 0.25), "y": np.full(SLOTS, 0.2)}
LARGE = {"x": np.full(SLOTS, 0.9), "y": np.full(SLOTS, 0.8)}


@pytest.fixture(scope="module")
def compiled():
    return power.compile(slots=SLOTS, ranges=RANGES)


def test_a_word_makes_room_and_precision_conditional(compiled, tmp_path):
    client = compiled.keygen()
    run = compiled.run(client.encrypt(**SMALL))
    measured = client.measure(run, **SMALL)
    assert measured["power"].conditional
    assert not measured["sum"].conditional
    assert measured["power"].measured_bits >= measured["power"].predicted_bits >= 20
    np.testing.assert_allclose(client.decrypt(run)["power"], np.full(SLOTS, 0.8**16), atol=1e-5)
    (said,) = compiled.assumptions
    assert said.startswith("values from -1.0 to 1.0 at test_bounded.py:")
    assert said in str(run.report)
    assert "rm.bounded" in str(run.report)
    assert "if what is assumed holds" in run.report.detail
    assert run.report.data["assumptions"][0]["lowest"] == -1.0
    compiled.save(tmp_path / "program")
    loaded = rm.load(tmp_path / "program")
    assert loaded.assumptions == compiled.assumptions
    assert loaded.predicted_bits == compiled.predicted_bits


def test_data_that_break_a_word_are_named_where_they_are_known(compiled):
    client = compiled.keygen()
    run = compiled.run(client.encrypt(**LARGE))
    with pytest.raises(
        rm.DataError, match=r"test_bounded.py:\d+: rm.bounded says .* from -1.0 to 1.0, and slot 0 is 11.5"
    ):
        client.measure(run, **LARGE)
    with pytest.raises(rm.CompileError, match=r"rm.bounded says .* from -1.0 to 1.0, and slot 0 is 11.5") as refused:
        power.compile(slots=SLOTS, ranges=RANGES, sample=LARGE)
    assert refused.value.line == power_line()
    assert power.compile(slots=SLOTS, ranges=RANGES, sample=SMALL).assumptions == compiled.assumptions


def power_line():
    with open(__file__) as file:
        return next(number for number, text in enumerate(file, 1) if text.endswith("# here\n"))


def test_what_rests_on_a_word_is_shared_only_by_one_who_answers_for_it():
    @rm.program
    def half(x: rm.Encrypted[rm.real[16]]):
        return rm.bounded(x * x, 0, 0.5) * 0.5

    compiled = half.compile(slots=SLOTS, ranges={"x": (-1, 1)}, precision=30)
    client = compiled.keygen()
    x = np.full(SLOTS, 0.5)
    run = compiled.run(client.encrypt(x=x))
    with pytest.raises(rm.DataError, match=r"cannot be shared: .* rm.bounded .* assume_bounded=True"):
        client.decrypt(run, share=rm.Share(8))
    assert client.shared_decryptions == 0
    shared = client.decrypt(run, share=rm.Share(8), assume_bounded=True)
    np.testing.assert_allclose(shared, x * x / 2, atol=1e-3)


@pytest.mark.parametrize(
    ("bound", "says"),
    [
        (lambda x: rm.bounded(x, 1, 0), "the lowest value first"),
        (lambda x: rm.bounded(x, 0, np.nan), "the lowest value first"),
        (lambda x: rm.bounded(x, 0, np.inf), "both ends are finite"),
        (lambda x: rm.bounded(x, "a", 1), "lo must be a real number"),
    ],
)
def test_ends_that_are_none_are_refused_at_the_line(bound, says):
    @rm.program
    def refused(x: rm.Encrypted):
        return bound(x)

    with pytest.raises(rm.CompileError, match=says) as error:
        refused.compile(slots=SLOTS)
    assert error.value.line


def test_whole_numbers_have_no_such_word():
    @rm.program
    def whole(x: rm.Encrypted[rm.integer]):
        return rm.bounded(x, 0, 1)

    with pytest.raises(rm.CompileError, match="approximate numbers"):
        whole.compile(slots=SLOTS, ranges={"x": (0, 1)})


def test_padding_is_zero_or_refused():
    @rm.program
    def padded(x: rm.Encrypted[rm.real[3]]):
        return rm.bounded(x, 1, 2) * 0.5

    @rm.program
    def filled(x: rm.Encrypted[rm.real[3]]):
        return rm.bounded(x + 1, 1, 2) * 0.5

    assert (
        padded.compile(slots=SLOTS, ranges={"x": (0, 2)}, sample={"x": [1, 2, 1]})
        .assumptions[0]
        .startswith("values from 0.0 to 2.0")
    )
    with pytest.raises(rm.CompileError, match="padding that is not zero"):
        filled.compile(slots=SLOTS, ranges={"x": (0, 1)})
