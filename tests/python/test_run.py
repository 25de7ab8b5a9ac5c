# SPDX-License-Identifier: Apache-2.0
"""Tests the whole way from compile, keygen and encrypt to run and decrypt: results, devices, files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from damage import refused_damaged

import ringmill as rm


@rm.program
def circuit(x: rm.Encrypted, y: rm.Encrypted, p: rm.Plain):
    product = (x * y + p) * (x - 0.5)
    return {"product": rm.rotate(product, 5), "sum": rm.sum(x, 8) - y * p}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    return {name: rng.uniform(-1, 1, 1024) for name in ("x", "y", "p")}


@pytest.fixture(scope="module")
def compiled(small):
    return circuit.compile(small)


@pytest.fixture(scope="module")
def client(compiled):
    return compiled.keygen()


@pytest.fixture(scope="module")
def inputs(client, data):
    return client.encrypt(x=data["x"], y=data["y"])


def test_results_agree_with_the_clear_on_every_device(compiled, client, inputs, data):
    runs = compiled.run(inputs, plain={"p": data["p"]}, device=["cpu", "cpu:1", "sim:ring", "sim:ring-stored"])
    clear = circuit(**data)
    for run in runs:
        assert run.ciphertexts == runs[0].ciphertexts
        found = client.decrypt(run)
        for name in ("product", "sum"):
            assert np.abs(found[name] - clear[name]).max() < 1e-6


def test_limbs_are_numpy_and_below_their_primes(compiled, inputs, data):
    run = compiled.run(inputs, plain={"p": data["p"]})
    limbs = run.ciphertexts["sum"].limbs
    assert limbs.dtype == np.uint64
    assert limbs.shape[0] == 2
    assert limbs.shape[2] == 2048
    for index, prime in enumerate(compiled.params.ciphertext_primes[: limbs.shape[1]]):
        assert limbs[:, index].max() < prime


def test_reports_say_what_a_run_took(compiled, inputs, data, tmp_path):
    trace = tmp_path / "trace.json"
    run = compiled.run(inputs, plain={"p": data["p"]}, device="sim:ring", trace=trace)
    assert "NOT SECURE" in str(run.report)
    assert "cycles" in str(run.report)
    assert run.report.data
    import json

    events = json.loads(trace.read_text())["traceEvents"]
    assert any(event["ph"] == "X" for event in events)


def test_complex_slots(small):
    @rm.program
    def rotate_phase(z: rm.Encrypted):
        return z * 1j + rm.conj(z)

    compiled = rotate_phase.compile(small, slots=64)
    client = compiled.keygen()
    z = np.exp(1j * np.arange(64))
    found = client.decrypt(compiled.run(client.encrypt(z=z)))
    assert np.abs(found - (z * 1j + np.conj(z))).max() < 1e-6


def test_twice_the_real_part_takes_no_level():
    @rm.program
    def parts(z: rm.Encrypted, x: rm.Encrypted[rm.real[64]]):
        real = rm.two_real(z)
        return real + z, rm.two_real(z * x) + (real << 3), rm.two_real(x)

    compiled = parts.compile(slots=64, precision=25)
    client = compiled.keygen()
    rng = np.random.default_rng(5)
    z = rng.uniform(-0.7, 0.7, 64) + 1j * rng.uniform(-0.7, 0.7, 64)
    x = rng.uniform(-1, 1, 64)
    inputs = client.encrypt(z=z, x=x)
    run = compiled.run(inputs)
    expected = [2 * z.real + z, 2 * (z * x).real + 2 * np.roll(z.real, -3), 2 * x]
    for found, right in zip(client.decrypt(run), expected, strict=True):
        assert np.abs(found - right).max() < 2.0**-25
    ring = compiled.run(inputs, device="sim:ring")
    assert all(np.array_equal(a, b) for a, b in zip(client.decrypt(ring), client.decrypt(run), strict=True))
    assert compiled.counts()[0]["TWOREAL"] == 3


def test_automatic_parameters_are_secure_and_precise():
    @rm.program
    def cube(x: rm.Encrypted):
        return x**3

    compiled = cube.compile(slots=512, precision=25)
    assert "128-bit" in compiled.params.security
    client = compiled.keygen()
    x = np.linspace(-1, 1, 512)
    assert np.abs(client.decrypt(compiled.run(client.encrypt(x=x))) - x**3).max() < 2.0**-25


def test_programs_keys_and_ciphertexts_go_through_files(compiled, client, inputs, data, small, tmp_path):
    compiled.save(tmp_path / "circuit.rmac")
    client.evaluation_keys.save(tmp_path / "keys")
    for name, ciphertext in inputs.ciphertexts.items():
        ciphertext.save(tmp_path / name)

    server = rm.load(tmp_path / "circuit.rmac", small)
    keys = rm.EvaluationKeys.load(tmp_path / "keys", small)
    sent = {name: rm.Ciphertext.load(tmp_path / name, small) for name in ("x", "y")}
    assert sent == inputs.ciphertexts
    run = server.run(sent, plain={"p": data["p"]}, keys=keys)
    assert run.ciphertexts == compiled.run(inputs, plain={"p": data["p"]}).ciphertexts

    client.save_secret_key(tmp_path / "secret")
    again = compiled.load_secret_key(tmp_path / "secret")
    assert np.array_equal(again.decrypt(run)["sum"], client.decrypt(run)["sum"])


def test_precision_is_measured_and_as_predicted(compiled, client, inputs, data):
    run = compiled.run(inputs, plain={"p": data["p"]})
    for precision in client.measure(run, **data).values():
        assert precision.measured_bits >= precision.predicted_bits > 10


def test_measured_precision_is_in_the_report(compiled, client, inputs, data, tmp_path):
    run = compiled.run(inputs, plain={"p": data["p"]})

    def shown():
        return {row["output"]: row["measured_bits"] for row in run.report.data["precision"]}

    assert set(shown().values()) == {None}
    assert " measured" not in str(run.report).split("precision")[1]
    measured = {name: one.measured_bits for name, one in client.measure(run, **data).items()}
    assert shown() == measured
    # The summary shows the output with the fewest predicted bits.
    least = min(compiled.predicted_bits, key=compiled.predicted_bits.get)
    for text in (str(run.report), run.report.detail):
        assert f"{measured[least]:.1f} measured" in text
    copied = pickle.loads(pickle.dumps(run.report))
    assert copied.data == run.report.data
    run.report.save_html(tmp_path / "run.html")
    assert f"{measured[least]:.1f}" in (tmp_path / "run.html").read_text()
    # A report that is not of a run stays as it is.
    again = rm.Run(run.ciphertexts, rm.Report("text", "detail", "{}"))
    assert client.measure(again, **data).keys() == measured.keys()
    assert str(again.report) == "text"


def test_damaged_files_are_refused(client, inputs, small, tmp_path):
    client.evaluation_keys.save(tmp_path / "keys")
    inputs.ciphertexts["x"].save(tmp_path / "x")
    refused_damaged(tmp_path, "keys", lambda: rm.EvaluationKeys.load(tmp_path / "keys", small))
    refused_damaged(tmp_path, "x", lambda: rm.Ciphertext.load(tmp_path / "x", small))
    for load in (rm.EvaluationKeys.load, rm.Ciphertext.load):
        with pytest.raises(rm.FileError, match="missing"):
            load(tmp_path / "missing", small)


def test_files_of_other_parameters_are_refused(client, tmp_path):
    other = rm.params(log_n=11, bits=[50, 40, 40, 50], allow_insecure_parameters_for_tests_only=True)
    client.evaluation_keys.save(tmp_path / "keys")
    with pytest.raises(rm.RingmillError, match="parameters"):
        rm.EvaluationKeys.load(tmp_path / "keys", other)
