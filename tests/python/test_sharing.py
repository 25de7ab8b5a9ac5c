# SPDX-License-Identifier: Apache-2.0
"""Tests shared decryptions. Their noise holds for all inputs that may be encrypted, and a key counts how many were
shared.
"""

from __future__ import annotations

import copy
import os
import pickle
import re
import signal
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import ringmill as rm

PARAMS = {"log_n": 10, "bits": [60, 54, 60], "scale": 2.0**54, "allow_insecure_parameters_for_tests_only": True}
X = np.linspace(-1, 1, 512)
SHARE = rm.Share(statistical_bits=8, decryptions=6)


@rm.program
def shifted(x: rm.Encrypted):
    return x * (x + 0.25)


@rm.program
def doubled(x: rm.Encrypted):
    return x + x, x - 1


@pytest.fixture(scope="module")
def compiled():
    return shifted.compile(rm.params(**PARAMS), slots=512, input_bound=1)


@pytest.fixture(scope="module")
def both():
    return doubled.compile(rm.params(**PARAMS), slots=512, input_bound=1)


def share(compiled, client, how=SHARE):
    return client.decrypt(compiled.run(client.encrypt(x=X)), share=how)


def in_child(work):
    """Runs `work` in a forked child. Returns its result, or its exception as text."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            with os.fdopen(write, "wb") as out:
                try:
                    result = work()
                except Exception as error:
                    result = f"{type(error).__name__}: {error}"
                pickle.dump(result, out)
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        result = answer.read()
    os.waitpid(child, 0)
    return pickle.loads(result)


@rm.program
def power(x: rm.Encrypted):
    return x**32


def test_noise_is_enough_at_the_end_of_what_a_sample_declares():
    params = rm.params(log_n=10, bits=[60, *[50] * 7, 60], scale=2.0**50, allow_insecure_parameters_for_tests_only=True)
    compiled = power.compile(params, slots=512, sample={"x": np.ones(512)})
    client, x = compiled.keygen(), np.full(512, 2.0)
    run = compiled.run(client.encrypt(x=x))
    measured = client.measure(run, x=x)["out"].measured_bits
    assert measured >= compiled.predicted_bits["out"]
    how = rm.Share(statistical_bits=8)
    assert client.shared_bits(how)["out"] < compiled.predicted_bits["out"] - 8 - 7
    # A slot sums N coefficients of noise, each at least 2^8 times the error.
    noise = np.std(client.decrypt(run, complex=False, share=how) - client.decrypt(run, complex=False))
    assert np.sqrt(2) * noise * 1.2 > 2.0**8 * np.sqrt(1024) * 2.0**-measured


def test_each_output_counts_for_the_key_and_not_for_the_program(compiled, both, tmp_path):
    client = both.keygen()
    assert client.shared_decryptions == 0
    share(both, client)
    # A copy of the client, and a client of another program, have the same key.
    share(both, copy.copy(client))
    assert client.shared_decryptions == 4
    client.save_secret_key(tmp_path / "key")
    other = compiled.load_secret_key(tmp_path / "key")
    share(compiled, other)
    assert client.shared_decryptions == other.shared_decryptions == 5
    with pytest.raises(rm.KeysError, match=r"5 decryptions were shared .* and 2 more are above the limit of 6"):
        share(both, client)
    share(compiled, other)
    with pytest.raises(rm.KeysError, match=r"limit of 6 .*make new keys"):
        share(compiled, compiled.load_secret_key(tmp_path / "key"))
    with pytest.raises(rm.KeysError, match="break that promise; ask for at least 8"):
        share(compiled, other, rm.Share(7, 100))
    with pytest.raises(rm.KeysError, match="leave no room"):
        share(compiled, other, rm.Share(8, 100))
    with pytest.raises(TypeError):
        pickle.dumps(client)


def test_six_calls_of_sixteen_outputs_are_not_one_decryption():
    @rm.program
    def many(x: rm.Encrypted):
        return {f"y{i}": x * (i + 1) for i in range(16)}

    compiled = many.compile(rm.params(**PARAMS), slots=512, input_bound=1)
    client = compiled.keygen()
    with pytest.raises(rm.KeysError, match="16 more are above the limit of 1"):
        share(compiled, client, rm.Share(8))
    share(compiled, client, rm.Share(8, 16))
    with pytest.raises(rm.KeysError, match="16 decryptions were shared"):
        share(compiled, client, rm.Share(8, 16))


def test_a_forked_child_counts_in_the_file_or_not_at_all(compiled, tmp_path):
    client = compiled.keygen()
    run = compiled.run(client.encrypt(x=X))
    said = in_child(lambda: client.decrypt(run, share=SHARE))
    assert said.startswith("KeysError: this process was forked")
    # The child saves no count, since its parent counts on.
    in_child(lambda: client.save_secret_key(tmp_path / "childs"))
    assert compiled.load_secret_key(tmp_path / "childs").shared_decryptions is None
    share(compiled, client)
    client.save_secret_key(tmp_path / "key")
    assert isinstance(in_child(lambda: client.decrypt(run, share=SHARE)), np.ndarray)
    assert client.shared_decryptions == 2
    assert in_child(lambda: client.shared_decryptions) == 2


def test_keys_that_do_not_know_their_count(compiled, tmp_path):
    client = compiled.keygen()
    for name in ("key", "second"):
        client.save_secret_key(tmp_path / name)
    old = compiled.load_secret_key(tmp_path / "second")
    assert old.shared_decryptions is None
    with pytest.raises(rm.KeysError, match=r"not known.*decrypted_so_far="):
        share(compiled, old)
    share(compiled, old, rm.Share(8, 6, decrypted_so_far=3))
    assert compiled.load_secret_key(tmp_path / "second").shared_decryptions == 4
    for wrong in (-1, 1.5, "3", True, 1 << 64):
        with pytest.raises(rm.ParameterError, match="must be a whole number from 0"):
            rm.Share(8, 6, decrypted_so_far=wrong)


@pytest.fixture
def folder():
    """A folder that every user can read, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


def test_a_file_that_cannot_be_written_is_refused(compiled, folder):
    client = compiled.keygen()
    path = folder / "key"
    client.save_secret_key(path)
    run = compiled.run(client.encrypt(x=X))
    path.chmod(0o444)
    folder.chmod(0o555)

    def tried(loaded, how):
        try:
            loaded.decrypt(run, share=how)
        except rm.KeysError as error:
            return str(error)
        return "shared"

    def reader():
        if os.getuid() == 0:  # root may write whatever the mode says
            os.setuid(65534)
        loaded = compiled.load_secret_key(path)
        named = rm.Share(8, 6, decrypted_so_far=5)
        return [tried(loaded, how) for how in (SHARE, named, named)], loaded.shared_decryptions

    (unnamed, named, again), count = in_child(reader)
    assert re.search(f"{path}, which cannot be read or written: .*Permission denied.*decrypted_so_far=", unnamed)
    assert named == "shared"
    assert count == 6
    assert "6 decryptions were shared" in again


def test_killed_processes_only_count_too_many(compiled, tmp_path):
    client = compiled.keygen()
    path = tmp_path / "key"
    client.save_secret_key(path)
    run = compiled.run(client.encrypt(x=X))
    how = rm.Share(8, 1 << 20)
    read, write = os.pipe()
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            try:
                while True:
                    client.decrypt(run, share=how)
                    os.write(write, b".")
            finally:
                os._exit(1)
        children.append(child)
    os.close(write)
    seen = b""
    while len(seen) < 20:
        seen += os.read(read, 1)
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    while more := os.read(read, 1 << 16):
        seen += more
    count = compiled.load_secret_key(path).shared_decryptions
    assert len(seen) <= count <= len(seen) + 2
    began = time.monotonic()
    client.decrypt(run, share=how)
    assert time.monotonic() - began < 5, "a lock outlived its process"
    assert client.shared_decryptions == count + 1


def test_what_is_never_shared_is_said(root):
    assert "never shared" in rm.Client.measure.__doc__
    section = (root / "docs" / "security.md").read_text()
    assert "`Client.measure` tells the largest error" in section
