# SPDX-License-Identifier: Apache-2.0
"""Tests circuits, their keys and their ciphertexts as bytes: files, bytes in memory, pickles, copies."""

from __future__ import annotations

from pathlib import Path

import pytest

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
