# SPDX-License-Identifier: Apache-2.0
"""Tests of the digits that outputs have: six by default, relative to an output's largest value on the sample or to its
bound.
"""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import ringmill as rm


@rm.program
def mean(x: rm.Encrypted[rm.real[30]]):
    return rm.mean(x)


SALARIES = np.linspace(20_000, 100_000, 30)


def test_salaries_compile_at_the_default():
    compiled = mean.compile(slots=32, ranges={"x": (0, 100_000)})
    assert compiled.predicted_digits["out"] >= 6
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=SALARIES), progress=False)
    assert abs(client.decrypt(run)[0] - SALARIES.mean()) <= 1e-6 * 100_000
    row = run.report.data["precision"][0]["predicted_digits"]
    assert row["which"] == "bound"
    assert row["of"] >= 100_000
    assert row["digits"] == compiled.predicted_digits["out"]
    assert " digits of 1.07e5 (bound)" in str(run.report)


def test_digits_are_relative_to_the_sample_and_tell_no_slot():
    compiled = mean.compile(slots=32, sample={"x": SALARIES}, digits=4)
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=SALARIES), progress=False)
    row = run.report.data["precision"][0]["predicted_digits"]
    assert row["which"] == "largest on the sample"
    assert row["of"] == 2 ** np.floor(np.log2(SALARIES.mean()))
    assert row["digits"] >= 4
    assert abs(client.decrypt(run)[0] - SALARIES.mean()) <= 1e-4 * SALARIES.mean()


def test_fewer_digits_take_smaller_parameters():
    few, many = (mean.compile(slots=32, ranges={"x": (-1, 1)}, digits=digits).params for digits in (3, 9))
    assert math.prod(few.ciphertext_primes) < math.prod(many.ciphertext_primes)


def test_both_demands_are_refused_and_so_are_too_many_digits():
    with pytest.raises(rm.ParameterError, match="digits= and precision= both say how exact outputs are"):
        mean.compile(slots=32, ranges={"x": (-1, 1)}, digits=4, precision=10)
    with pytest.raises(rm.ParameterError, match=r"20 digits cannot be reached: .* ask for \d+ digits, or "):
        mean.compile(slots=32, ranges={"x": (-1, 1)}, digits=20)


def test_whole_numbers_have_all_digits():
    @rm.program
    def total(x: rm.Encrypted[rm.uint(8)[4]]):
        return rm.sum(x)

    with pytest.raises(rm.ParameterError, match="digits= is about approximate results"):
        total.compile(slots=4, digits=6)
    with pytest.raises(rm.DataError, match="all their digits are right"):
        _ = total.compile(slots=4).predicted_digits


def test_the_command_takes_digits(ringmill):
    few, many = (
        json.loads(ringmill("compile", "examples/mean.rmac", "--digits", digits, "--json"))["outputs"][0]
        for digits in (3, 8)
    )
    assert 3 <= few["predicted_digits"]["digits"] < 8 <= many["predicted_digits"]["digits"]
    said = ringmill("compile", "examples/mean.rmac", "--digits", 3, "--precision", 9, status=2)
    assert "cannot be used with" in said
