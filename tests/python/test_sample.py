# SPDX-License-Identifier: Apache-2.0
"""Tests samples. A sample declares ranges, and predictions hold for all values in them. Other predictions are for
inputs like the sample.
"""

from __future__ import annotations

import json
import os
import time

import numpy as np
import programs
import pytest

import ringmill as rm

LONG = int(os.environ.get("RINGMILL_FUZZ_SECONDS", "0"))  # `make full`


@rm.program
def weighted(x: rm.Encrypted, w: rm.Plain):
    return rm.sum(x * w, 1024) ** 2


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    return {"x": rng.normal(size=1024) / 8, "w": rng.normal(size=1024) / 8}


def test_a_sample_predicts_what_its_ranges_predict(data):
    # The parameters have room for the square of a sum of 1024 products.
    roomy = rm.params(log_n=11, bits=[60, 36, 36, 60], scale=2.0**36, allow_insecure_parameters_for_tests_only=True)
    by_sample = weighted.compile(roomy, sample=dict(reversed(data.items())))  # in any order
    for name, (low, high) in by_sample.ranges.items():
        assert [-low, high] == [
            2.0 ** np.ceil(np.log2(2 * largest)) for largest in (-data[name].min(), data[name].max())
        ]
    by_range = weighted.compile(roomy, ranges=by_sample.ranges)
    assert by_sample.predicted_bits == by_range.predicted_bits
    assert by_sample.predicted_bits_like_sample["out"] >= by_sample.predicted_bits["out"]
    assert by_range.predicted_bits_like_sample is None
    assert by_sample.ranges == by_range.ranges

    client = by_sample.keygen()
    for scale in (1, 2):
        x, w = scale * data["x"], scale * data["w"]
        run = by_sample.run(client.encrypt(x=x), plain={"w": w})
        precision = client.measure(run, x=x, w=w)["out"]
        assert precision.measured_bits >= precision.predicted_bits == by_sample.predicted_bits["out"]


@pytest.mark.parametrize(("exponent", "wanted"), [(16, 12), (32, 12)])
def test_a_prediction_holds_for_all_that_is_encrypted(exponent, wanted):
    """A sample of ones once predicted 12.9 bits. At 2, which the range takes, only 5.3 and -9.8 bits were left."""

    @rm.program
    def power(x: rm.Encrypted):
        return x**exponent

    compiled = power.compile(slots=64, sample={"x": np.ones(64)}, precision=wanted)
    assert compiled.ranges == {"x": (0.0, 2.0)}
    # The wanted precision is for inputs like the sample. For others less is promised, and said.
    like = compiled.predicted_bits_like_sample["out"]
    assert like >= wanted > compiled.predicted_bits["out"]
    client = compiled.keygen()
    for value in (0, 1, 2):
        x = np.full(64, value)
        precision = client.measure(compiled.run(client.encrypt(x=x)), x=x)["out"]
        assert precision.measured_bits >= precision.predicted_bits == compiled.predicted_bits["out"]
        assert value > 1 or precision.measured_bits >= like
    for bad in (2.001, -0.001, 1j):
        with pytest.raises(rm.DataError, match=r"from 0\.0 to 2\.0"):
            client.encrypt(x=np.full(64, bad))


def f3(x):
    """One step of a polynomial approximation of the sign of x."""
    return (35 * x - 35 * x**3 + 21 * x**5 - 5 * x**7) * (1 / 16)


@rm.program
def sign(x: rm.Encrypted):
    return f3(f3(f3(x)))


@rm.program
def iterated(x: rm.Encrypted):
    y = x
    for _ in range(14):
        y = y * y - x
    return y


@pytest.mark.parametrize(("program", "lowest", "highest"), [(sign, -1.0, 1.0), (iterated, 0.0, 0.7)])
def test_a_real_sample_is_of_real_numbers(program, lowest, highest):
    """A real sample declares real ranges. In a disc of this radius both programs would grow beyond all bounds."""
    x = np.linspace(lowest, highest, 64)
    compiled = program.compile(slots=64, sample={"x": x}, margin=1)
    assert compiled.ranges == {"x": (lowest, 1.0)}
    client = compiled.keygen()
    precision = client.measure(compiled.run(client.encrypt(x=x)), x=x)["out"]
    assert precision.measured_bits >= compiled.predicted_bits_like_sample["out"] >= 20


def test_an_input_in_no_use_takes_its_range():
    @rm.program
    def squared(x: rm.Encrypted, y: rm.Encrypted):
        return y**2

    for precision in (20, 28, 40):
        compiled = squared.compile(slots=64, sample={"x": np.ones(64), "y": np.full(64, 0.5)}, precision=precision)
        client = compiled.keygen()
        for value in (0.0, 2.0):
            data = {"x": np.full(64, value), "y": np.full(64, value / 2)}
            row = client.measure(compiled.run(client.encrypt(**data)), **data)["out"]
            assert row.measured_bits >= row.predicted_bits
        assert compiled.predicted_bits_like_sample["out"] >= precision


def drawn(rng):
    """Returns a random program of two encrypted vectors and a plain one, and a sample for it."""
    steps = rng.integers(0, 8, size=(rng.integers(3, 9), 3)), rng.uniform(-2, 2, size=9)

    @rm.program
    def program(x: rm.Encrypted, y: rm.Encrypted, w: rm.Plain):
        made, depths = [x, y], [0, 0]
        for (kind, a, b), number in zip(steps[0].tolist(), steps[1].tolist(), strict=False):
            i, j = a % len(made), b % len(made)
            p, q = made[i], made[j]
            depth = max(depths[i], depths[j])
            if kind < 3 and depth < 3:
                made.append([p * q, p * w + q, (p + number) * q][kind])
                depths.append(depth + 1)
            else:
                made.append([p - q, q << 3, p + number, rm.conj(p) + w, p + 2 * q][kind % 5])
                depths.append(depth)
        return {"a": made[-1], "b": made[-2]}

    kind, size = rng.integers(0, 3), 2.0 ** rng.uniform(-4, 1)
    values = rng.uniform(-1 if kind else 0, 1, size=(3, 16)) + 1j * (kind == 2) * rng.uniform(-1, 1, size=(3, 16))
    return program, dict(zip("xyw", size * values, strict=True))


def corner(rng, ends):
    """Returns a vector whose slots are at the ends of a range."""
    if isinstance(ends, tuple):
        return rng.choice(ends, size=16)
    return ends * np.exp(2j * np.pi * rng.choice([rng.uniform(size=16), rng.integers(0, 4, size=16) / 4]))


def hold_at_the_corners(params, seed):
    """Runs a random program at the ends of its sample's ranges. Returns whether the parameters held the program."""
    rng = np.random.default_rng(seed)
    program, sample = drawn(rng)
    try:
        compiled = program.compile(params, slots=16, sample=sample)
    except rm.CompileError:
        return False
    client = compiled.keygen()
    corners = [{name: corner(rng, ends) for name, ends in compiled.ranges.items()} for _ in range(2)]
    for data in [*corners, {name: 2 * values for name, values in sample.items()}]:
        run = compiled.run(client.encrypt(x=data["x"], y=data["y"]), plain={"w": data["w"]})
        for name, row in client.measure(run, **data).items():
            assert row.measured_bits >= row.predicted_bits, f"seed {seed}, output {name}"
    return True


def test_sampled_programs_at_the_corners_of_what_is_encrypted():
    params = rm.params(
        log_n=10, bits=[60, 40, 40, 40, 60], scale=2.0**40, allow_insecure_parameters_for_tests_only=True
    )
    ran, end = [], time.monotonic() + LONG
    while len(ran) < 12 or time.monotonic() < end:
        ran.append(hold_at_the_corners(params, len(ran)))
    assert 2 * sum(ran) > len(ran)


@rm.program
def square(x: rm.Encrypted):
    return x * x


@pytest.fixture(scope="module")
def tight():
    """Parameters that hold outputs below 2^4."""
    return rm.params(log_n=11, bits=[45, 40, 45], scale=2.0**40, allow_insecure_parameters_for_tests_only=True)


def test_what_may_overflow_is_refused_with_its_line(tight):
    # The range is twice the value, up to a power of two, and the result is its square: 2^2 fits.
    for value, overflows in ((0.9, False), (-1.0, False), (1.1, True), (10.0, True)):
        sample = {"x": np.full(1024, value)}
        if overflows:
            with pytest.raises(rm.CompileError, match=r"test_sample.py:\d+: values here may be as large as") as caught:
                square.compile(tight, sample=sample)
            assert caught.value.line == square._line[1] + 2
            continue
        compiled = square.compile(tight, sample=sample)
        client = compiled.keygen()
        run = compiled.run(client.encrypt(x=2 * sample["x"]))
        precision = client.measure(run, x=2 * sample["x"])["out"]
        assert precision.measured_bits >= precision.predicted_bits > 15


def test_ranges_decide_what_is_encrypted(tight):
    compiled = square.compile(tight, ranges={"x": (-1, 3)})
    assert compiled.ranges == {"x": (-1.0, 3.0)}
    client = compiled.keygen()
    client.encrypt(x=np.linspace(-1, 3, 1024))
    for bad, says in ((1e12, "1000000000000.0"), (-1.01, "-1.01"), (0.5j, "0.5i")):
        data = np.zeros(1024, dtype=complex)
        data[7] = bad
        with pytest.raises(rm.DataError, match=rf"value 7 of `x` is .*{says}.* from -1.0 to 3.0"):
            client.encrypt(x=data)
    radius = square.compile(tight, ranges={"x": 2})
    assert radius.ranges == {"x": 2.0}
    radius.keygen().encrypt(x=np.full(1024, 2j))
    # Plain inputs have ranges too.
    scaled = weighted.compile(slots=1024, ranges={"x": 0.1, "w": (0, 0.1)}, precision=5)
    client = scaled.keygen()
    with pytest.raises(rm.DataError, match=r"value 0 of `w` is .*0.2.* from 0.0 to 0.1"):
        scaled.run(client.encrypt(x=np.zeros(1024)), plain={"w": np.full(1024, 0.2)})


def test_whatever_a_range_holds_is_encrypted():
    @rm.program
    def beside(x: rm.Encrypted[rm.real], unused: rm.Encrypted[rm.real]):
        return rm.polynomial(x, [1, 0, 0, 1e-3])

    client = beside.compile(slots=8, ranges={"x": 2, "unused": 2}).keygen()
    client.encrypt(x=2.0, unused=2.0)


def test_parameters_grow_with_constants_that_are_added():
    @rm.program
    def between(x: rm.Encrypted[rm.real], y: rm.Encrypted[rm.real]):
        return x - 1 - y + 2

    compiled = between.compile(slots=8, ranges={"x": 0.25, "y": 0.25})
    client = compiled.keygen()
    assert np.allclose(client.decrypt(compiled.run(client.encrypt(x=0.25, y=-0.25))), 1.5)


def test_parameters_grow_with_the_ranges():
    """An average of 1,000 salaries of 50,000 is right. It once came back as 22.81."""
    case = programs.salaries()
    for options in ({"ranges": {"x": (0, 200_000)}}, {"sample": case.sample}):
        compiled = case.program.compile(slots=case.slots, precision=10, **options)
        client = compiled.keygen()
        run = compiled.run(client.encrypt(**case.inputs))
        found = client.decrypt(run)
        precision = client.measure(run, **case.inputs)["out"]
        wanted = (compiled.predicted_bits_like_sample or compiled.predicted_bits)["out"]
        assert precision.measured_bits >= precision.predicted_bits
        assert wanted >= 10
        assert case.error(found) < 1e-3
    with pytest.raises(rm.CompileError, match=r"as large as 1\.0240e40"):
        case.program.compile(slots=case.slots, ranges={"x": 1e40})


def test_the_default_bound_is_said():
    with pytest.warns(rm.DefaultBoundWarning, match="input x is taken to be at most 1 .* ranges=") as caught:
        compiled = square.compile(slots=16)
    assert {w.filename for w in caught} == {__file__}
    assert compiled.ranges == {"x": 1.0}
    with pytest.raises(rm.DataError, match=r"at most 1\.0 in absolute value"):
        compiled.keygen().encrypt(x=np.full(16, 1e12))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"ranges": {"y": 1}}, "no input y; its inputs are x"),
        ({"ranges": {"x": "wide"}}, "takes .lowest, highest."),
        ({"ranges": {"x": (1, 2, 3)}}, "takes .lowest, highest."),
        ({"ranges": {"x": (0, float("inf"))}}, "takes .lowest, highest."),
        ({"ranges": {"x": (2, 1)}}, "the lowest comes first"),
        ({"ranges": {"x": -1}}, "the lowest comes first"),
        ({"ranges": [1]}, "ranges"),
        ({"sample": {"x": np.ones(16)}, "margin": 0.5}, "margin"),
        ({"margin": 2}, "margin= is about a sample"),
        ({"sample": {"x": np.zeros(16)}}, "zero in every slot"),
        ({"sample": {"x": np.ones(16)}, "ranges": {"x": 0.5}}, "value 0 of its sample"),
    ],
)
def test_ranges_that_make_no_sense(options, says):
    with pytest.raises(rm.DataError, match=says):
        square.compile(slots=16, **options)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"w": None}, "sample: input w is missing"),
        ({"y": np.zeros(1024)}, "no input y; its inputs are x, w"),
        ({"w": np.ones(1000)}, r"1000 values .* 1024 slots"),
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

    assert bits("--sample", f"x={files['small']}") >= bits()
    assert bits() > bits("--input-bound", 4)
    # Inputs from files are the sample, unless the caller asks for something else.
    report = json.loads(ringmill("run", mean, "--params", "set2", "--input", f"x={files['small']}", "--json"))
    assert report["agrees"] is True
    assert report["reports"][0]["precision"][0]["predicted_bits"] == bits("--sample", f"x={files['small']}")
    said = ringmill("compile", mean, "--sample", f"y={files['small']}", status=2)
    assert "lacks input `x`" in said
    assert "--input-bound" in ringmill("compile", mean, "--sample", "x=a.npy", "--input-bound", 2, status=2)
    assert "positive" in ringmill("compile", mean, "--input-bound", "nan", status=2)
    missing = ringmill("sim", mean, "--sample", f"x={tmp_path}/missing.npy", status=2)
    assert "missing.npy" in missing


def test_a_classifier_is_compiled_by_a_sample():
    """A sample compiles a classifier. By ranges alone its logits could be many times as large, where its polynomial is
    steep.
    """
    features, records = 32, 16
    rng = np.random.default_rng(3)
    w, x = 0.3 * rng.normal(size=(features, 1)), rng.normal(size=(features, records))
    coefficients = np.array([0.5, 0.2, 0, -4e-3, 0, 4e-5, 0, -1.5e-7])

    @rm.program
    def classify(x: rm.Encrypted, w: rm.Plain):
        return rm.polynomial(rm.sum(x * w, features, stride=records), coefficients)

    data = {"x": x.ravel(), "w": np.repeat(w, records, axis=1).ravel()}
    with pytest.raises(rm.ParameterError, match="a precision of 20 bits cannot be reached"):
        classify.compile(slots=512, ranges={"x": 8, "w": 2}, precision=20)
    compiled = classify.compile(slots=512, sample=data, precision=20)
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=data["x"]), plain={"w": data["w"]})
    precision = client.measure(run, **data)["out"]
    assert precision.measured_bits >= compiled.predicted_bits_like_sample["out"] >= 20
    assert precision.predicted_bits == compiled.predicted_bits["out"]
    assert "for inputs like the sample" in str(run.report)
