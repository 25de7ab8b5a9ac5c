"""Files are written whole or not at all, whatever they would have replaced."""

from __future__ import annotations

import os
import resource
from contextlib import contextmanager

import numpy as np
import pytest

import ringmill as rm


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
    """Files cannot grow beyond `limit` bytes: a write gets that far and fails."""
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
    client.evaluation_keys.save(tmp_path)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}
    assert set(before) == {"relin.key", "galois.keys"}
    with nearly_full_disk(), pytest.raises(rm.FileError):
        compiled.keygen().evaluation_keys.save(tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_keys_saved_over_others_leave_none_of_them(client, small, tmp_path):
    @rm.program
    def rotated(x: rm.Encrypted):
        return x << 1

    client.evaluation_keys.save(tmp_path)
    rotated.compile(small).keygen().evaluation_keys.save(tmp_path)
    assert "no relinearisation key" in repr(rm.EvaluationKeys.load(tmp_path, small))


def test_the_command_leaves_no_half_file(ringmill, tmp_path):
    machine = ringmill("machine", "show", "ring")
    target = tmp_path / "mean.micro"
    target.write_text(machine)
    with nearly_full_disk():
        said = ringmill("compile", "examples/mean.rmac", "--emit", "micro", "-o", target, status=2)
    assert "mean.micro" in said
    assert os.listdir(tmp_path) == ["mean.micro"]
    assert target.read_text() == machine
