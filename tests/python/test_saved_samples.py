# SPDX-License-Identifier: Apache-2.0
"""Tests that a saved program holds no data. No file has values of a sample, unless the caller asks for the sample by
name.
"""

from __future__ import annotations

import json
import math
import re
import stat
import struct
from pathlib import Path

import numpy as np
import pytest

import ringmill as rm

SLOTS = 16
INSECURE = {"allow_insecure_parameters_for_tests_only": True}
# Files of a version that kept samples, here of 16 slots. The largest value is 1.34.
OLD = Path(__file__).resolve().parents[2] / "crates/compiler/tests/compiler/form_1"
NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


@rm.program
def weighted(x: rm.Encrypted, w: rm.Plain):
    return {"sum": rm.sum(x * w, SLOTS), "largest": x + 0.0}


@rm.program
def whole(x: rm.Encrypted[rm.integer[SLOTS]]):
    return x + 1


def odd(rng, count=SLOTS):
    """Returns odd numbers of 53 bits."""
    return 2 * rng.integers(2**51, 2**52, size=count) + 1


def reals(rng):
    """Returns real numbers of any sign and of many sizes, whose mantissas use all bits."""
    return np.ldexp(odd(rng) * rng.choice([-1.0, 1.0], size=SLOTS), rng.integers(-60, -50, size=SLOTS))


def significand(number):
    """Returns the odd whole number in a number that is odd times a power of two. It is 0 for zero and for what is not
    finite.
    """
    if not math.isfinite(number):
        return 0
    whole = int(number) if isinstance(number, (int, np.integer)) else int(math.ldexp(math.frexp(number)[0], 53))
    whole = abs(whole)
    return whole // (whole & -whole) if whole else 0


def found(content, sample):
    """Returns the slots of the sample that a file contains, compared by their significands. They may be numbers in a
    text, in hexadecimal, or the bytes of doubles and whole numbers, scaled by any power of two.
    """
    slots = {significand(value) for value in np.ravel(sample).tolist()}
    numbers = {token for token in NUMBER.findall(content) if len(token) > 8}
    told = set()
    for token in numbers:
        told |= {significand(number) for number in (int(token) if token.isdigit() else 0, float(token))}
    text = content.lower()
    for slot in slots:
        low = struct.pack("<Q", slot)[:6]
        digits = (b"%013x" % (slot % 2**52), low.hex().encode())
        if low in content or low[::-1] in content or any(shape in text for shape in digits):
            told.add(slot)
    return slots & told


def test_what_is_looked_for_is_found():
    sample = reals(np.random.default_rng(1))
    for content in (
        sample.tobytes(),
        (4 * sample).astype(">f8").tobytes(),
        json.dumps(sample.tolist()).encode(),
        " ".join(x.hex() for x in sample.tolist()).encode(),
        " ".join(str(significand(x)) for x in sample.tolist()).encode(),
        sample.tobytes().hex().upper().encode(),
    ):
        assert len(found(content, sample)) == SLOTS
        assert not found(content, reals(np.random.default_rng(2)))


@pytest.mark.parametrize("margin", [1, 2])
def test_no_slot_of_a_sample_is_in_any_file(small, margin, ringmill, tmp_path):
    rng = np.random.default_rng(margin)
    sample = {"x": reals(rng), "w": reals(rng)}
    compiled = weighted.compile(small, slots=SLOTS, sample=sample, margin=margin)
    files = tmp_path / "files"
    files.mkdir()
    compiled.save(files / "program.rmac")
    for level in ("macro", "mid", "micro"):
        (files / level).write_text(compiled.text(level))
    client = compiled.keygen()
    client.save_secret_key(files / "secret")
    inputs = client.encrypt(x=np.zeros(SLOTS))
    inputs.evaluation_keys.save(files / "keys")
    inputs.ciphertexts["x"].save(files / "x")
    again = rm.load(files / "program.rmac", **INSECURE)
    options = {"device": "sim:ring", "checkpoint": files / "checkpoint", "every": 0.0, "trace": files / "trace"}
    run = again.run(inputs, plain={"w": np.full(SLOTS, 2.0**-8)}, **options)
    (files / "report").write_text(json.dumps(run.report.data))

    # The command keeps no sample either. Without ranges the inputs of a run are its sample.
    traced = tmp_path / "traced.rmac"
    traced.write_text(weighted.trace(SLOTS)[0].to_text())
    samples, given = ["--margin", margin], []
    for name, values in sample.items():
        np.save(tmp_path / f"{name}.npy", values)
        samples += ["--sample", f"{name}={tmp_path / name}.npy"]
        given += ["--input", f"{name}={tmp_path / name}.npy"]
    ringmill("compile", traced, *samples, "--emit", "saved", "-o", files / "saved.rmac")
    ringmill("compile", traced, *samples, "--json", "-o", files / "compiled.json")
    if margin == 2:
        (files / "run.json").write_text(ringmill("run", traced, *given, "--trace", files / "run.trace", "--json"))

    for path in files.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not found(content, list(sample.values())), path.name
            assert str(Path(__file__).parent).encode() not in content, path.name
    assert b'at "test_saved_samples.py":' in (files / "program.rmac").read_bytes()
    # The program and its file have ranges that are powers of two, and nothing finer.
    for name, (low, high) in again.ranges.items():
        for end, largest in ((-low, -sample[name].min()), (high, sample[name].max())):
            assert end == 2.0 ** math.ceil(math.log2(margin * largest))
    assert again.ranges == compiled.ranges == rm.load(files / "saved.rmac").ranges
    assert again.predicted_bits == compiled.predicted_bits
    assert again.text("mid") == compiled.text("mid")


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
@pytest.mark.parametrize("margin", [1, 2])
def test_no_slot_of_a_sample_of_whole_numbers_is_in_any_file(scheme, margin, ringmill, tmp_path):
    sample = odd(np.random.default_rng(margin))
    compiled = whole.compile(slots=SLOTS, scheme=scheme, sample={"x": sample}, margin=margin)
    compiled.save(tmp_path / "program.rmac")
    traced = tmp_path / "traced.rmac"
    traced.write_text(whole.trace(SLOTS, scheme=scheme)[0].to_text())
    np.save(tmp_path / "x.npy", sample)
    options = ("--sample", f"x={tmp_path}/x.npy", "--margin", margin, "--emit", "saved")
    ringmill("compile", traced, *options, "-o", tmp_path / "saved.rmac")
    for name in ("program.rmac", "saved.rmac"):
        assert not found((tmp_path / name).read_bytes(), sample), name
        assert rm.load(tmp_path / name).ranges == compiled.ranges == {"x": (-(2**52) * 2 * margin, 2**52 * 2 * margin)}
    with pytest.raises(rm.DataError, match="there is no sample to keep"):
        compiled.save(tmp_path / "no", with_sample=True)
    # The command passes the sample on, and keeps it on request.
    ringmill("compile", traced, *options, "--with-sample", "-o", tmp_path / "with")
    assert found((tmp_path / "with").read_bytes(), sample) == set(sample.tolist())


def test_a_sample_is_kept_by_name_for_its_owner_alone(small, ringmill, tmp_path):
    sample = {"x": reals(np.random.default_rng(3)), "w": np.ones(SLOTS)}
    compiled = weighted.compile(small, slots=SLOTS, sample=sample)
    path = tmp_path / "program.rmac"
    path.touch(0o644)
    compiled.save(path, with_sample=True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(found(path.read_bytes(), sample["x"])) == SLOTS
    again = rm.load(path, **INSECURE)
    assert (again.ranges, again.predicted_bits) == (compiled.ranges, compiled.predicted_bits)
    # A loaded program keeps its sample in a file only on request.
    again.save(tmp_path / "without.rmac")
    compiled.save(tmp_path / "first.rmac")
    assert (tmp_path / "without.rmac").read_bytes() == (tmp_path / "first.rmac").read_bytes()
    again.save(tmp_path / "with.rmac", with_sample=True)
    assert (tmp_path / "with.rmac").read_bytes() == path.read_bytes()
    for none in (rm.load(tmp_path / "without.rmac", **INSECURE), weighted.compile(small, slots=SLOTS, input_bound=1)):
        with pytest.raises(rm.DataError, match="there is no sample to keep"):
            none.save(tmp_path / "no", with_sample=True)
    # The command also keeps a sample only on request, and for the owner alone.
    mean = "examples/mean.rmac"
    np.save(tmp_path / "x.npy", np.linspace(-1, 1, 1024))
    options = ("--sample", f"x={tmp_path}/x.npy", "--emit", "saved", "--with-sample")
    kept = tmp_path / "kept.rmac"
    ringmill("compile", mean, *options, "-o", kept)
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert b'"sample":[[' in kept.read_bytes()
    assert b'"sample":null' in ringmill("compile", kept).encode()
    for refused, says in (
        ((mean, *options), "--output"),
        ((mean, "--emit", "saved", "--with-sample", "-o", tmp_path / "no"), "there is no sample to keep"),
        ((mean, "--with-sample", "-o", tmp_path / "no"), "about --emit saved"),
    ):
        assert says in ringmill("compile", *refused, status=2)
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("margin", [1, 2])
def test_an_old_file_is_read_and_its_sample_dropped(margin, ringmill, tmp_path):
    path = OLD / f"margin_{margin}.rmac"
    line = path.read_text().split("\n")[0]
    sample = np.array(json.loads(line.split(" ", 2)[2])["options"]["sample"][0], dtype=float)
    assert len(found(path.read_bytes(), sample)) == SLOTS
    # The old program still works.
    old = rm.load(path)
    assert old.ranges == {"x": margin * np.abs(sample).max()}
    client = old.keygen()
    run = old.run(client.encrypt(x=sample))
    assert np.allclose(client.decrypt(run), sample.var(), atol=2 ** -old.predicted_bits["out"])
    with pytest.raises(rm.DataError, match="there is no sample to keep"):
        old.save(tmp_path / "no", with_sample=True)
    # A new save of it has no data.
    old.save(tmp_path / "saved.rmac")
    ringmill("compile", path, "-o", tmp_path / "compiled.rmac")
    content = (tmp_path / "saved.rmac").read_bytes()
    assert content == (tmp_path / "compiled.rmac").read_bytes()
    assert not found(content, sample)
    assert b"/home/ada" in path.read_bytes()
    assert b"/home/ada" not in content
    new = rm.load(tmp_path / "saved.rmac")
    assert new.ranges == {"x": margin}
    assert (new.params, new.text("mid")) == (old.params, old.text("mid"))
    assert 0 <= new.predicted_bits["out"] - old.predicted_bits["out"] < 1  # the range is narrower
    run = new.run(client.encrypt(x=sample))
    assert np.allclose(client.decrypt(run), sample.var(), atol=2 ** -old.predicted_bits["out"])
