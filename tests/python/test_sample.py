"""Typical inputs make predictions sharp; a sample that does not fit is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ringmill as rm


@rm.program
def weighted(x: rm.Encrypted, w: rm.Plain):
    return rm.sum(x * w, 1024) ** 2


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    return {"x": rng.normal(size=1024) / 8, "w": rng.normal(size=1024) / 8}


def test_a_sample_predicts_more_sharply_than_a_bound_and_holds(small, data):
    bound = max(np.abs(v).max() for v in data.values())
    by_bound = weighted.compile(small, input_bound=bound)
    by_sample = weighted.compile(small, sample=dict(reversed(data.items())))  # in any order
    assert by_sample.predicted_bits["out"] > by_bound.predicted_bits["out"] + 4

    client = by_sample.keygen()
    run = by_sample.run(client.encrypt(x=data["x"]), plain={"w": data["w"]})
    precision = client.measure(run, **data)["out"]
    assert precision.measured_bits >= precision.predicted_bits == by_sample.predicted_bits["out"]


def test_the_warning_of_overflow_is_true():
    @rm.program
    def square(x: rm.Encrypted):
        return x * x

    # Outputs below 2^4 fit.
    tight = rm.params(log_n=11, bits=[45, 40, 45], scale=2.0**40, allow_insecure_parameters_for_tests_only=True)
    for value, overflows in ((1.0, False), (10.0, True)):
        sample = {"x": np.full(1024, value)}
        compiled = square.compile(tight, sample=sample)
        client = compiled.keygen()
        run = compiled.run(client.encrypt(**sample))
        assert run.report.data["precision"][0]["may_overflow"] is overflows
        assert ("outgrow" in str(run.report)) is overflows
        assert (client.measure(run, **sample)["out"].measured_bits < 0) is overflows


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"w": None}, "sample: input w is missing"),
        ({"y": np.zeros(1024)}, "no input y; its inputs are x, w"),
        ({"w": np.zeros(1000)}, r"1000 values .* 1024 slots"),
        ({"w": np.zeros((2, 512))}, r"shape \(2, 512\)"),
        ({"w": np.r_[np.zeros(1000), np.full(24, np.nan)]}, r"value 1000 of input w is \(nan"),
        ({"w": np.full(1024, -np.inf)}, r"value 0 of input w is \(-inf"),
    ],
    ids=["missing", "unknown", "short", "shape", "nan", "infinity"],
)
def test_samples_that_do_not_fit(small, data, change, says):
    sample = {name: value for name, value in {**data, **change}.items() if value is not None}
    with pytest.raises(rm.DataError, match=says):
        weighted.compile(small, sample=sample)


def test_bounds_that_make_no_sense(small, data):
    for bound in (0, -1, np.nan, np.inf):
        with pytest.raises(rm.DataError, match="positive number"):
            weighted.compile(small, input_bound=bound)
    with pytest.raises(rm.DataError, match="one of them"):
        weighted.compile(small, input_bound=1, sample=data)


def test_the_command_takes_samples(ringmill, tmp_path):
    mean = "examples/mean.rmac"
    files = {}
    for name, value in (("small", 1e-3), ("large", 1e3)):
        files[name] = tmp_path / f"{name}.npy"
        np.save(files[name], np.linspace(-value, value, 1024))

    def bits(*arguments):
        return json.loads(ringmill("compile", mean, "--params", "set2", *arguments, "--json"))["outputs"][0][
            "predicted_bits"
        ]

    assert bits("--sample", f"x={files['small']}") > bits() > bits("--input-bound", 1e9)
    # Inputs from files are the sample, unless something else is asked for.
    report = json.loads(ringmill("run", mean, "--params", "set2", "--input", f"x={files['small']}", "--json"))
    assert report["agrees"] is True
    assert report["reports"][0]["precision"][0]["predicted_bits"] == bits("--sample", f"x={files['small']}")
    said = ringmill("compile", mean, "--sample", f"y={files['small']}", status=2)
    assert "lacks input `x`" in said
    assert "--input-bound" in ringmill("compile", mean, "--sample", "x=a.npy", "--input-bound", 2, status=2)
    assert "positive" in ringmill("compile", mean, "--input-bound", "nan", status=2)
    missing = ringmill("sim", mean, "--sample", f"x={tmp_path}/missing.npy", status=2)
    assert "missing.npy" in missing
