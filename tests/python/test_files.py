# SPDX-License-Identifier: Apache-2.0
"""Tests that files are written whole or not at all, and that a failed write leaves what was there."""

from __future__ import annotations

import os
import random
import resource
import signal
import stat
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import ringmill as rm

LONG = int(os.environ.get("RINGMILL_FUZZ_SECONDS", "0"))


@rm.program
def twisted(x: rm.Encrypted):
    return (x * x) << 1


@pytest.fixture(scope="module")
def compiled(small):
    return twisted.compile(small)


@pytest.fixture(scope="module")
def client(compiled):
    return compiled.keygen()


@pytest.fixture(scope="module")
def inputs(client):
    return client.encrypt(x=np.ones(1024))


@contextmanager
def nearly_full_disk(limit=100):
    """Limits the size of files to `limit` bytes. A write gets that far and fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


WRITES = {
    "ciphertext": lambda compiled, client, inputs, path: inputs.ciphertexts["x"].save(path),
    "secret key": lambda compiled, client, inputs, path: client.save_secret_key(path),
    "program": lambda compiled, client, inputs, path: compiled.save(path),
    "trace": lambda compiled, client, inputs, path: compiled.run(inputs, device="sim:ring", trace=path),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_that_fails_leaves_what_was_there(compiled, client, inputs, tmp_path, write):
    path = tmp_path / "file"
    with nearly_full_disk(), pytest.raises(rm.FileError, match="file"):
        write(compiled, client, inputs, path)
    assert os.listdir(tmp_path) == []
    path.write_text("before")
    with nearly_full_disk(), pytest.raises(rm.FileError, match="large"):
        write(compiled, client, inputs, path)
    assert os.listdir(tmp_path) == ["file"]
    assert path.read_text() == "before"
    write(compiled, client, inputs, path)
    assert path.stat().st_size > 100


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_places_where_nothing_can_be_written(compiled, client, inputs, tmp_path, write):
    for path in (tmp_path / "no" / "such" / "folder", tmp_path):
        with pytest.raises(rm.FileError, match=tmp_path.name):
            write(compiled, client, inputs, path)
    assert os.listdir(tmp_path) == []


def test_evaluation_keys_that_cannot_be_written_leave_those_that_were_there(compiled, client, small, tmp_path):
    client.evaluation_keys.save(tmp_path / "keys")
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert set(before) == {"keys"}
    with nearly_full_disk(), pytest.raises(rm.FileError):
        compiled.keygen().evaluation_keys.save(tmp_path / "keys")
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_keys_saved_over_others_leave_none_of_them(client, small, tmp_path):
    @rm.program
    def rotated(x: rm.Encrypted):
        return x << 1

    client.evaluation_keys.save(tmp_path / "keys")
    rotated.compile(small).keygen().evaluation_keys.save(tmp_path / "keys")
    assert "no relinearisation key" in repr(rm.EvaluationKeys.load(tmp_path / "keys", small))


def test_a_folder_of_keys_of_an_earlier_version_is_read(root, tmp_path):
    kept = root / "crates" / "schemes" / "tests" / "kept" / "2" / "ckks"
    insecure = {"allow_insecure_parameters_for_tests_only": True}
    params = rm.Params.from_bytes((kept / "parameters").read_bytes(), **insecure)
    (tmp_path / "galois.keys").write_bytes((kept / "galois_keys").read_bytes())
    assert "no relinearisation key, 2 Galois keys" in repr(rm.EvaluationKeys.load(tmp_path, params))
    (tmp_path / "relin.key").write_bytes((kept / "relin_key").read_bytes())
    keys = rm.EvaluationKeys.load(tmp_path, params)
    assert "a relinearisation key, 2 Galois keys" in repr(keys)
    keys.save(tmp_path / "keys")
    assert rm.EvaluationKeys.load(tmp_path / "keys", params).to_bytes() == keys.to_bytes()
    (tmp_path / "galois.keys").unlink()
    with pytest.raises(rm.FileError, match=r"galois\.keys"):
        rm.EvaluationKeys.load(tmp_path, params)


def test_the_command_leaves_no_half_file(ringmill, tmp_path):
    machine = ringmill("machine", "show", "ring")
    target = tmp_path / "mean.micro"
    target.write_text(machine)
    with nearly_full_disk():
        said = ringmill("compile", "examples/mean.rmac", "--emit", "micro", "-o", target, status=2)
    assert "mean.micro" in said
    assert os.listdir(tmp_path) == ["mean.micro"]
    assert target.read_text() == machine


def test_a_secret_key_is_its_owners_alone_from_the_first_byte(client, tmp_path):
    path = tmp_path / "secret"
    for umask in (0, 0o022, 0o077, 0o277, 0o777):
        before = os.umask(umask)
        try:
            client.save_secret_key(path)
        finally:
            os.umask(before)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o644)  # the next one replaces a file that others can read
    assert os.listdir(tmp_path) == ["secret"]


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_devices_pipes_and_links_are_written_through(compiled, client, inputs, tmp_path, write):
    for path in ("/dev/null", tmp_path / "null"):
        if path != "/dev/null":
            path.symlink_to("/dev/null")
        before = os.stat("/dev/null")
        write(compiled, client, inputs, path)
        after = os.stat("/dev/null")
        assert stat.S_ISCHR(after.st_mode)
        assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert (tmp_path / "null").is_symlink()

    pipe, came = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: came.append(pipe.read_bytes()))
    reader.start()
    write(compiled, client, inputs, pipe)
    reader.join(60)
    assert len(came[0]) > 100
    assert stat.S_ISFIFO(pipe.stat().st_mode)

    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to("file")
    for _ in range(2):  # dangling first
        write(compiled, client, inputs, link)
        assert link.is_symlink()
        assert file.stat().st_size > 100
    assert sorted(os.listdir(tmp_path)) == ["file", "link", "null", "pipe"]


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_paths_that_name_no_file_are_refused(compiled, client, inputs, tmp_path, write, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("", "missing/file", "folder/", "."):
        with pytest.raises(rm.FileError, match=r"empty|make it first|folder"):
            write(compiled, client, inputs, path)
    assert os.listdir(tmp_path) == []


def test_folders_of_keys_are_not_guessed(client, small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("", "missing/keys"):
        with pytest.raises(rm.FileError, match=r"empty|make it first"):
            client.evaluation_keys.save(path)
    assert os.listdir(tmp_path) == []
    for load in (rm.Ciphertext.load, rm.EvaluationKeys.load):
        with pytest.raises(rm.FileError, match=r"empty|No such file"):
            load("", small)
    client.evaluation_keys.save("keys")
    assert rm.EvaluationKeys.load("keys", small).key_id == client.key_id


def killed_while_saving(client, folder, delay):
    """Runs a forked process that saves the secret key over and over, and kills it after a while."""
    child = os.fork()
    if child == 0:
        os.umask(0)
        while True:
            client.save_secret_key(folder / "secret")
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


@pytest.mark.parametrize(
    "times", [4, pytest.param(10 * LONG, marks=pytest.mark.skipif(not LONG, reason="long: make full runs it"))]
)
def test_what_killed_runs_leave_is_removed_by_the_next(compiled, client, inputs, tmp_path, times):
    left = 0
    for _ in range(times):
        killed_while_saving(client, tmp_path, random.uniform(0.01, 0.1))
        parts = [name for name in os.listdir(tmp_path) if name.startswith(".ringmill-")]
        assert all(stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600 for name in parts)
        left += len(parts)
        if (tmp_path / "secret").exists():
            assert compiled.load_secret_key(tmp_path / "secret").key_id == client.key_id
        inputs.ciphertexts["x"].save(tmp_path / "x")
        assert not any(name.startswith(".ringmill-") for name in os.listdir(tmp_path))
    assert sorted(os.listdir(tmp_path)) in (["secret", "x"], ["x"])
    assert left or times < 20


def test_the_command_writes_through_devices_and_links(ringmill, tmp_path):
    before = os.stat("/dev/null").st_ino
    ringmill("run", "examples/mean.rmac", "--random-inputs", "--output", "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert os.stat("/dev/null").st_ino == before
    text = ringmill("compile", "examples/mean.rmac", "-o", "/dev/stdout")
    assert text.startswith("macro ")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    ringmill("compile", "examples/mean.rmac", "-o", tmp_path / "link")
    assert (tmp_path / "file").read_text() == text
    assert "make it first" in ringmill("compile", "examples/mean.rmac", "-o", tmp_path / "no" / "file", status=2)


@pytest.fixture(scope="module")
def sampled():
    @rm.program
    def spread(x: rm.Encrypted, p: rm.Plain):
        mean = rm.sum(x * p, 64) / 64
        return {"mean": mean, "spread": rm.sum((x - mean) ** 2, 64) / 64}

    data = np.random.default_rng(2)
    sample = {"x": data.normal(size=64), "p": data.normal(size=64) + 0.5j}
    return spread.compile(slots=64, precision=18, integer_bits=6, sample=sample)


def test_a_saved_program_keeps_parameters_and_options(sampled, ringmill, tmp_path):
    path = tmp_path / "spread.rmac"
    sampled.save(path)
    again = rm.load(path)
    assert again.params == sampled.params
    assert again.predicted_bits == sampled.predicted_bits
    assert again.text("mid") == sampled.text("mid")
    again.save(tmp_path / "again.rmac")
    assert (tmp_path / "again.rmac").read_bytes() == path.read_bytes()
    # Keys, inputs and runs of one program work with the other.
    client, x = sampled.keygen(), np.linspace(-1, 1, 64)
    client.save_secret_key(tmp_path / "secret")
    run = again.run(client.encrypt(x=x), plain={"p": np.ones(64)})
    outputs = again.load_secret_key(tmp_path / "secret").decrypt(run, complex=False)
    assert np.allclose(outputs["mean"], x.mean(), atol=1e-5)
    # The command reads the file as a program. Options given with it compile it again.
    assert '"spread"' in ringmill("compile", path, "--json")
    assert rm.load(path, precision=12).predicted_bits != sampled.predicted_bits


@pytest.mark.parametrize("returned", [lambda x, y: (x, y), lambda x, y: (x,), lambda x, y: x, lambda x, y: {"out": x}])
def test_a_saved_program_returns_what_its_function_did(returned, small, tmp_path):
    @rm.program
    def pair(x: rm.Encrypted):
        return returned(x + 1, x + 2)

    compiled = pair.compile(small)
    compiled.save(tmp_path / "pair")
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=np.zeros(1024)))
    client.save_secret_key(tmp_path / "secret")
    insecure = {"allow_insecure_parameters_for_tests_only": True}
    for again in (rm.load(tmp_path / "pair", **insecure), rm.load(tmp_path / "pair", small)):
        outputs = again.load_secret_key(tmp_path / "secret").decrypt(run)
        expected = returned(1.0, 2.0)
        if isinstance(expected, float):
            outputs, expected = [outputs], [expected]
        assert type(outputs) is type(expected)
        if isinstance(expected, dict):
            outputs, expected = [outputs["out"]], [expected["out"]]
        assert len(outputs) == len(expected)
        for values, number in zip(outputs, expected, strict=True):
            assert np.allclose(values, number, atol=1e-3)


def test_a_saved_program_that_was_altered_or_is_insecure_is_refused(compiled, tmp_path):
    path = tmp_path / "twisted.rmac"
    compiled.save(path)
    with pytest.raises(rm.FileError, match=r"insecure opt-out.*allow_insecure_parameters_for_tests_only"):
        rm.load(path)
    loaded = rm.load(path, allow_insecure_parameters_for_tests_only=True)
    assert loaded.params == compiled.params
    text = path.read_text()
    for damaged in (text.replace('"form":2', '"form":7'), text.replace('{"form"', '{"from"'), text[:200]):
        path.write_text(damaged)
        with pytest.raises(rm.FileError, match=r"twisted.rmac.*(form|line)"):
            rm.load(path, allow_insecure_parameters_for_tests_only=True)
    path.write_text(text.split("\n", 1)[1])
    assert rm.load(path, compiled.params).predicted_bits == compiled.predicted_bits


def test_the_reader_chooses_the_security_tables_of_a_saved_program(tmp_path):
    compiled = twisted.compile(rm.params("set1", table="standard_2018"))
    path = tmp_path / "twisted.rmac"
    compiled.save(path)
    allowed = {"allow_insecure_parameters_for_tests_only": True}
    named = r"standard_2018\.ternary, accepted are guidelines_2024.*tables=\[\"standard_2018\.ternary\"\]"
    for unnamed in ({}, {"tables": None}, {"tables": ["guidelines_2024"]}, allowed):
        with pytest.raises(rm.FileError, match=named):
            rm.load(path, **unnamed)
    for tables in (["standard_2018"], ("guidelines_2024", "standard_2018.ternary")):
        assert rm.load(path, tables=tables).params == compiled.params
    for tables, wrong in (
        (["standard_2017"], "standard_2017"),
        ([], "empty"),
        ("standard_2018", "list"),
        ([3], "must be a str"),
    ):
        with pytest.raises(rm.ParameterError, match=wrong):
            rm.load(path, tables=tables)
    # A list replaces the default tables. A reader who accepts only the standard refuses what passes the guidelines.
    twisted.compile(slots=1024, input_bound=1).save(path)
    rm.load(path)
    with pytest.raises(rm.FileError, match="accepted are standard_2018"):
        rm.load(path, tables=["standard_2018"])
