# SPDX-License-Identifier: Apache-2.0
"""Tests circuits, their keys and their ciphertexts as bytes: files, bytes in memory, pickles, copies."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest
from damage import refused_damaged

import ringmill as rm

TOY = rm.circuit_params(toy_for_tests_only=True)
BITS = rm.circuit_params("circuit_bits", toy_for_tests_only=True)


@rm.circuit
def larger(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted[rm.uint(8)]):
    return rm.select(x < y, y, x)


@pytest.mark.parametrize("name", ["circuits", "circuit_bits"])
def test_a_fresh_integer_of_eight_bits_takes_less_than_200_bytes(name: str, tmp_path: Path) -> None:
    compiled = larger.compile(rm.circuit_params(name, toy_for_tests_only=True), failure=-40)
    client = compiled.keygen()
    sent = client.encrypt(x=3, y=200)
    for argument, cipher in sent.ciphertexts.items():
        cipher.save(tmp_path / argument)
        # The container, the number of integers, one type, the seed, and a word for each digit or bit. Words of toy
        # parameters have 4 bytes. Under the set "circuits" 4 words of 8 bytes make 190 bytes too.
        assert (tmp_path / argument).stat().st_size == 104 + 4 + 18 + 32 + 4 * len(cipher) <= 190
    read = {name: rm.EncryptedIntegers.load(tmp_path / name, compiled.params) for name in sent.ciphertexts}
    assert client.decrypt(compiled.run(read, keys=client.evaluation_keys, progress=False)) == 200
    # What is read remembers its seed, and a second encryption of the same integer has another one.
    read["x"].save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "x").read_bytes()
    client.encrypt(x=3, y=200).ciphertexts["x"].save(tmp_path / "other")
    seed = slice(72 + 4 + 18, 72 + 4 + 18 + 32)
    assert (tmp_path / "other").read_bytes()[seed] != (tmp_path / "x").read_bytes()[seed]


def as_kind(kind: int, file: bytes, payload: bytes) -> bytes:
    """Returns a file of another kind, for the same parameters and key, with this payload."""
    head = file[:10] + kind.to_bytes(2, "little") + file[12:64] + len(payload).to_bytes(8, "little")
    return head + payload + hashlib.sha256(head + payload).digest()


def test_evaluation_keys_are_one_file_and_folders_of_earlier_versions_are_read(tmp_path: Path) -> None:
    compiled = larger.compile(TOY, failure=-40)
    client = compiled.keygen()
    client.evaluation_keys.save(tmp_path / "keys")
    whole = (tmp_path / "keys").read_bytes()
    # The payload of the key-switching key is the last: a seed, and a word for each bit of the large key and each level.
    TOY.save(tmp_path / "params")
    sizes = struct.unpack_from("<7I", (tmp_path / "params").read_bytes(), 72 + 1)
    at = len(whole) - 32 - (32 + 4 * (sizes[1] << sizes[2]) * sizes[6])
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "bootstrap.key").write_bytes(as_kind(9, whole, whole[72:at]))
    (tmp_path / "folder" / "switch.key").write_bytes(as_kind(10, whole, whole[at:-32]))
    for saved in ("keys", "folder"):
        keys = rm.CircuitEvaluationKeys.load(tmp_path / saved, TOY)
        assert keys.key_id == client.key_id
        assert client.decrypt(compiled.run(client.encrypt(x=7, y=5).ciphertexts, keys=keys, progress=False)) == 7
    refused_damaged(tmp_path, "keys", lambda: rm.CircuitEvaluationKeys.load(tmp_path / "keys", TOY))
    with pytest.raises(rm.FileError, match="other parameters"):
        rm.CircuitEvaluationKeys.load(tmp_path / "keys", BITS)
    (tmp_path / "folder" / "switch.key").unlink()
    with pytest.raises(rm.FileError, match=r"switch\.key"):
        rm.CircuitEvaluationKeys.load(tmp_path / "folder", TOY)
