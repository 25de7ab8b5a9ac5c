# SPDX-License-Identifier: Apache-2.0
"""Tests that a key that does not belong is refused, and that Ringmill says where it cannot check."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ringmill as rm
from ringmill.seal import SealEvaluator


@rm.program
def twisted(x: rm.Encrypted, y: rm.Encrypted):
    return (x * y) << 1


@pytest.fixture(scope="module")
def compiled(small):
    return twisted.compile(small, input_bound=1)


@pytest.fixture(scope="module")
def alice(compiled):
    return compiled.keygen()


@pytest.fixture(scope="module")
def bob(compiled):
    return compiled.keygen()


ONES = {"x": np.ones(1024), "y": np.ones(1024)}


def refused(alice, bob):
    """Expects a refusal with both identities in short form, in either order, and the cure."""
    a, b = alice.key_id[:16], bob.key_id[:16]
    return pytest.raises(rm.KeysError, match=rf"(?s)({a}.*{b}|{b}.*{a}).*one client made")


def test_swapped_keys_are_refused_by_both_identities(compiled, alice, bob):
    inputs = alice.encrypt(**ONES)
    assert inputs.evaluation_keys.key_id == inputs.ciphertexts["x"].key_id == alice.key_id
    with refused(alice, bob):
        compiled.run(inputs.ciphertexts, keys=bob.evaluation_keys)
    with refused(alice, bob):
        compiled.run(inputs.ciphertexts | {"y": bob.encrypt(**ONES).ciphertexts["y"]}, keys=alice.evaluation_keys)
    run = compiled.run(inputs)
    with refused(alice, bob):
        bob.decrypt(run)
    with refused(alice, bob):
        bob.measure(run, **ONES)
    with refused(alice, bob):
        bob.decrypt(run, share=rm.Share(5))
    assert run.report.data["keys"] == {"identity": alice.key_id, "unchecked": []}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.allclose(alice.decrypt(run), 1, atol=1e-2)


def test_identities_go_through_files(compiled, alice, bob, small, tmp_path):
    inputs = alice.encrypt(**ONES)
    inputs.ciphertexts["x"].save(tmp_path / "x")
    assert rm.Ciphertext.load(tmp_path / "x", small).key_id == alice.key_id
    for client in (alice, bob):
        client.evaluation_keys.save(tmp_path / client.key_id)
        client.save_secret_key(tmp_path / f"{client.key_id}.secret")
        assert rm.EvaluationKeys.load(tmp_path / client.key_id, small).key_id == client.key_id
    # Later sessions of one owner belong together, and so do new evaluation keys.
    again = compiled.load_secret_key(tmp_path / f"{alice.key_id}.secret")
    assert again.key_id == alice.key_id
    again.decrypt(compiled.run(inputs.ciphertexts, keys=again.evaluation_keys))
    with refused(alice, bob):
        compiled.load_secret_key(tmp_path / f"{bob.key_id}.secret").decrypt(compiled.run(inputs))


def test_files_of_version_1_work_and_it_is_said_that_they_cannot_be_checked(root, tmp_path):
    old = root / "crates" / "schemes" / "tests" / "version_1"
    params = rm.params(log_n=4, bits=[40, 30, 40], allow_insecure_parameters_for_tests_only=True)

    @rm.program
    def negated(x: rm.Encrypted):
        return -x

    compiled = negated.compile(params, slots=2, input_bound=2)
    ciphertext = rm.Ciphertext.load(old / "ciphertext", params)
    assert ciphertext.key_id is None
    client = compiled.load_secret_key(old / "secret_key")
    assert client.key_id is None
    with pytest.warns(rm.KeysWarning, match="secret key.*output out"):
        assert np.allclose(client.decrypt({"out": ciphertext}), [1, -2], atol=1e-4)
    with pytest.warns(rm.KeysWarning, match="no key identity"):
        assert np.allclose(compiled.keygen().decrypt({"out": ciphertext}).shape, 2)
    inputs = client.encrypt(x=np.ones(2))
    run = compiled.run(inputs)
    assert run.report.data["keys"]["unchecked"] == ["ciphertext `x`"]
    assert "NOT CHECKED" in str(run.report)
    # This version writes the key again as it was, without an identity.
    client.save_secret_key(tmp_path / "secret")
    assert compiled.load_secret_key(tmp_path / "secret").key_id is None


def test_of_seals_files_it_is_said_that_keys_are_not_checked():
    from seal_reference import small_parameters

    evaluator = SealEvaluator(small_parameters(), security_table="standard_2018")
    assert "not checked" in evaluator.summary


@pytest.fixture(scope="module")
def precise():
    params = rm.params(log_n=10, bits=[60, 54, 60], scale=2.0**54, allow_insecure_parameters_for_tests_only=True)

    @rm.program
    def shifted(x: rm.Encrypted):
        return x * (x + 0.25)

    return shifted.compile(params, slots=512, input_bound=1)


def test_a_shared_decryption_has_noise_and_says_what_is_left(precise):
    client, x = precise.keygen(), np.linspace(-1, 1, 512)
    run = precise.run(client.encrypt(x=x))
    share = rm.Share(statistical_bits=12, decryptions=2)
    bits = client.shared_bits(share)["out"]
    assert 5 < bits < precise.predicted_bits["out"] - 12
    shared = [client.decrypt(run, share=share) for _ in range(2)]
    for values in shared:
        assert np.abs(values - x * (x + 0.25)).max() < 2.0**-bits
    assert not np.array_equal(*shared)
    # The noise is as large as promised: two decryptions differ by more than 2^-6 of the bound.
    assert np.std(shared[0] - shared[1]) > 2.0 ** (-bits - 6)
    with pytest.raises(rm.DataError, match="bits more of precision"):
        client.decrypt(run, share=rm.Share(statistical_bits=35))
    for wrong in (0, -1, 1 << 40, 1.5, "8", None, True):
        with pytest.raises(rm.ParameterError, match="must be a whole number from 1"):
            rm.Share(wrong)
    with pytest.raises(rm.ParameterError, match=r"rm\.Share"):
        client.decrypt(run, share=20)
    with pytest.raises(rm.ParameterError, match="35 bits"):
        client.decrypt(run, share=rm.Share(statistical_bits=20, decryptions=1 << 20))


def test_what_has_no_bound_is_not_shared(precise):
    client = precise.keygen()
    inputs = client.encrypt(x=np.ones(512))
    with pytest.raises(rm.DataError, match="predicted error is not its own"):
        client.decrypt({"out": inputs.ciphertexts["x"]}, share=rm.Share(8))
