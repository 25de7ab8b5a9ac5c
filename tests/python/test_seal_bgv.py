# SPDX-License-Identifier: Apache-2.0
"""Microsoft SEAL's BGV as the reference: every operation gives its ciphertext bit for bit, under its keys.

As in test_seal.py, every comparison is of whole files, correction factors included: Ringmill's result is loaded by SEAL
and saved again, and those bytes must equal the bytes SEAL saves of its own evaluator's result.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from seal_exact import (
    BFV,
    BGV,
    LARGE,
    OPTIONS,
    REFUSED,
    RNG,
    STEPS,
    Case,
    Seal,
    drops,
    galois_element,
    products_of_any_sizes,
    residues,
    same,
    save,
    sealapi,
)

import ringmill
from ringmill.seal import SealBfvEvaluator, SealBgvClient, SealBgvEvaluator

CASES = [
    Case(1024, (40, 30), 65537, 0),
    Case(1024, (30, 31, 35, 36), 12289, 1),
    Case(2048, (50, 45, 60), 2**32, 0),  # no slots
    Case(2048, (60, 59, 58, 60, 50, 60, 55, 60), 2, 3),
    Case(2048, (60, 60, 60, 60), (1 << 60) - (1 << 13) * 7 + 3, 0),  # above some of the primes
    Case(4096, (36, 36, 37), 1032193, 1),
    Case(4096, (60, 60, 60, 60), 3**20, 1),
    *LARGE,
]
SMALL = CASES[1]
ALL_CASES = pytest.mark.parametrize("case", CASES, ids=str)
BATCHING = pytest.mark.parametrize("case", [CASES[1], CASES[5]], ids=str)


@cache
def seal(case: Case) -> Seal:
    return Seal(case, BGV)


@cache
def evaluator(case: Case) -> SealBgvEvaluator:
    side = seal(case)
    ours = SealBgvEvaluator(side.parms, **OPTIONS)
    ours.load_relin_keys(save(side.relin))
    ours.load_galois_keys(save(side.galois))
    return ours


def client(case: Case, **options: Any) -> SealBgvClient:
    return SealBgvClient.load(seal(case).parms, save(seal(case).secret), **OPTIONS, **options)


@ALL_CASES
def test_coefficient_wise_operations_are_seals(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    for drop in drops(side):
        a, b = (side.encrypt(residues(case), drop) for _ in range(2))
        a3 = side.call("multiply", a, b)
        b3 = side.call("square", b)
        # Of equal factors, and below the top of unequal ones: 1 / q against its square.
        for x, y in ((a, b), (a3, b3), (a, b3), (a3, b)):
            same(side, ours.add(save(x), save(y)), side.call("add", x, y))
            same(side, ours.sub(save(x), save(y)), side.call("sub", x, y))
            same(side, ours.negate(save(x)), side.call("negate", x))


@pytest.mark.parametrize("case", [CASES[1], CASES[3], CASES[6]], ids=str)
def test_sums_of_any_factors_are_seals(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    low = side.encrypt(residues(case), 1)
    values = [low]
    for _ in range(5):
        square = side.call("relinearize", side.call("square", values[-1]), side.relin)
        values.append(side.call("relinearize", side.call("multiply", square, low), side.relin))
    for x in values:
        for y in values:
            if x is not y:
                same(side, ours.add(save(x), save(y)), side.call("add", x, y))
                same(side, ours.sub(save(x), save(y)), side.call("sub", x, y))


@ALL_CASES
def test_operations_with_plaintexts_are_seals(case: Case) -> None:
    side, ours, t, n = seal(case), evaluator(case), case.plain, case.degree
    edges = np.array([0, 1, t - 1, t // 2, (t + 1) // 2, max(t // 2, 1) - 1], dtype=np.uint64)
    one = np.zeros(n, np.uint64)
    one[5] = t - 1
    for coefficients in (residues(case), np.resize(edges, n), one):
        plain = side.plain(coefficients)
        for drop in drops(side):
            a = side.encrypt(residues(case), drop)
            a3 = side.call("square", a)
            for x in (a, a3):
                for mine, name in (
                    (ours.add_plain, "add_plain"),
                    (ours.sub_plain, "sub_plain"),
                    (ours.multiply_plain, "multiply_plain"),
                ):
                    same(side, mine(save(x), save(plain)), side.call(name, x, plain))


@ALL_CASES
def test_products_relinearisation_and_rotations_are_seals(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    batching = case.plain % (2 * case.degree) == 1
    for drop in drops(side):
        a, b = (side.encrypt(residues(case), drop) for _ in range(2))
        product = side.call("multiply", a, b)
        same(side, ours.multiply(save(a), save(b)), product)
        same(side, ours.square(save(a)), side.call("square", a))
        same(side, ours.relinearize(save(product)), side.call("relinearize", product, side.relin))
        for steps in STEPS:
            element = galois_element(case.degree, steps)
            same(side, ours.rotate_rows(save(a), steps), side.call("apply_galois", a, element, side.galois))
            if batching:
                same(side, ours.rotate_rows(save(a), steps), side.call("rotate_rows", a, steps, side.galois))
        theirs = side.call("apply_galois", a, 2 * case.degree - 1, side.galois)
        same(side, ours.rotate_columns(save(a)), theirs)
        if batching:
            same(side, ours.rotate_columns(save(a)), side.call("rotate_columns", a, side.galois))


def test_products_of_any_sizes_are_seals_or_refused() -> None:
    products_of_any_sizes(seal(SMALL), evaluator(SMALL), SMALL)


@ALL_CASES
def test_mod_switch_is_seals(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    for drop in drops(side):
        a = side.encrypt(residues(case), drop)
        if drop == side.levels:
            with pytest.raises(REFUSED):
                side.call("mod_switch_to_next", a)
            if side.levels == len(case.bits) - 2:
                with pytest.raises(ringmill.RingmillError, match="level"):
                    ours.mod_switch(save(a))
            continue
        for x in (a, side.call("square", a)):
            same(side, ours.mod_switch(save(x)), side.call("mod_switch_to_next", x))


@ALL_CASES
def test_operations_on_any_residues_are_seals(case: Case) -> None:
    """On polynomials of no encryption: 0, q - 1, and what is near t and its multiples, modulo each prime."""
    side = seal(case)
    bare = SealBgvEvaluator(side.parms, compression="none", **OPTIONS)
    bare.load_relin_keys(save(side.relin))
    for drop in drops(side):
        good = bare.negate(save(side.encrypt(residues(case), drop)))
        primes = [int(q.value()) for q in side.context.first_context_data().parms().coeff_modulus()]
        primes = primes[: len(primes) - drop]
        # Equal residues in evaluation form are a constant polynomial.
        edges = [0, 1, case.plain - 1, case.plain, 2 * case.plain + 1]
        words = []
        for i in range(2):
            for p in primes:
                limb = RNG.integers(0, p, case.degree, dtype=np.uint64)
                if drop % 2 == i:
                    limb[:] = p - 1 if i else edges[drop % 5] % p
                words.append(limb)
        data = np.concatenate(words).astype("<u8").tobytes()
        assert len(good) == 113 + len(data)
        a = good[:113] + data
        x = side.load(sealapi.Ciphertext, a)
        if drop < side.levels:
            same(side, bare.mod_switch(a), side.call("mod_switch_to_next", x))
        product = side.call("square", x)
        same(side, bare.relinearize(save(product)), side.call("relinearize", product, side.relin))


@BATCHING
def test_random_circuits_end_in_seals_bits(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    a, b = (side.encrypt(residues(case), 1) for _ in range(2))
    theirs, mine = [a, b], [save(a), save(b)]
    for _ in range(14):
        i, j, kind = (int(x) for x in RNG.integers(0, [len(mine), len(mine), 5]))
        x, y = theirs[i], theirs[j]
        plain = side.plain(residues(case))
        if kind == 0:
            if i == j:
                continue
            theirs.append(side.call("add", x, y))
            mine.append(ours.add(mine[i], mine[j]))
        elif kind == 1:
            product = side.call("multiply", x, y)
            theirs.append(side.call("relinearize", product, side.relin))
            mine.append(ours.relinearize(ours.multiply(mine[i], mine[j])))
        elif kind == 2:
            theirs.append(side.call("rotate_rows", x, 3, side.galois))
            mine.append(ours.rotate_rows(mine[i], 3))
        elif kind == 3:
            theirs.append(side.call("multiply_plain", x, plain))
            mine.append(ours.multiply_plain(mine[i], save(plain)))
        else:
            theirs.append(side.call("sub_plain", x, plain))
            mine.append(ours.sub_plain(mine[i], save(plain)))
        same(side, mine[-1], theirs[-1])


@ALL_CASES
def test_decryptions_and_budgets_are_seals(case: Case) -> None:
    side, ours = seal(case), client(case)
    cipher = side.encrypt(residues(case))
    for _ in range(case.products + 1):
        budget = side.decryptor.invariant_noise_budget(cipher)
        assert ours.noise_budget(save(cipher)) == budget > 0
        # SEAL leaves out what is zero at the end.
        theirs = ours.decode(side.decrypt(cipher), unsigned=True)
        np.testing.assert_array_equal(ours.decode(ours.decrypt_plain(save(cipher)), unsigned=True), theirs)
        if side.levels:
            low = side.call("mod_switch_to_next", cipher)
            theirs = ours.decode(side.decrypt(low), unsigned=True)
            np.testing.assert_array_equal(ours.decrypt(save(low), unsigned=True), theirs)
        cipher = side.call("relinearize", side.call("square", cipher), side.relin)
    while side.decryptor.invariant_noise_budget(cipher):
        cipher = side.call("relinearize", side.call("square", cipher), side.relin)
    assert ours.noise_budget(save(cipher)) == 0
    with pytest.raises(ringmill.DataError, match="no noise budget"):
        ours.decrypt(save(cipher))


@pytest.mark.parametrize("case", [CASES[1], CASES[2], CASES[5]], ids=str)
@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_seal_computes_with_ringmills_keys_and_ciphertexts(case: Case, compression: str) -> None:
    side = seal(case)
    ours = SealBgvClient.generate(side.parms, compression=compression, **OPTIONS)
    secret = side.load(sealapi.SecretKey, ours.secret_key_in_the_clear())
    public = side.load(sealapi.PublicKey, ours.public_key())
    relin = side.load(sealapi.RelinKeys, ours.relin_keys())
    galois = side.load(sealapi.GaloisKeys, ours.galois_keys([1], columns=True))
    decryptor = sealapi.Decryptor(side.context, secret)
    x = residues(case)
    cipher = side.load(sealapi.Ciphertext, ours.encrypt(x, unsigned=True))
    plain = sealapi.Plaintext()
    decryptor.decrypt(cipher, plain)
    np.testing.assert_array_equal(ours.decode(save(plain), unsigned=True), x)
    assert save(side.load(sealapi.Plaintext, ours.encode(x, unsigned=True))) == save(plain)
    turned = side.call("apply_galois", cipher, 3, galois)
    swapped = side.call("apply_galois", cipher, 2 * case.degree - 1, galois)
    if case.products:
        product = side.call("relinearize", side.call("square", cipher), relin)
        product = side.call("mod_switch_to_next", product)
        expected = [int(v) ** 2 % case.plain for v in x]
        np.testing.assert_array_equal(ours.decrypt(save(product), unsigned=True), np.array(expected, np.uint64))
        rows = x.reshape(2, -1)
        np.testing.assert_array_equal(ours.decrypt(save(turned), unsigned=True), np.roll(rows, -1, 1).ravel())
        np.testing.assert_array_equal(ours.decrypt(save(swapped), unsigned=True), rows[::-1].ravel())
    # SEAL encrypts under Ringmill's public key; Ringmill decrypts. A seed is expanded as SEAL expands it.
    theirs = sealapi.Ciphertext(side.context)
    sealapi.Encryptor(side.context, public).encrypt(plain, theirs)
    np.testing.assert_array_equal(ours.decrypt(save(theirs), unsigned=True), x)
    seeded = save(sealapi.Encryptor(side.context, public, secret).encrypt_symmetric(plain))
    np.testing.assert_array_equal(ours.decrypt(seeded, unsigned=True), x)


def test_what_is_read_is_written_back_unchanged() -> None:
    side = seal(SMALL)
    ours = client(SMALL)
    assert save(side.load(sealapi.SecretKey, ours.secret_key_in_the_clear())) == save(side.secret)
    parms = sealapi.EncryptionParameters(BGV)
    side.read(parms, ours.parameters())
    assert save(parms) == side.parms


def test_altered_fields_are_refused_and_never_crash() -> None:
    side = seal(SMALL)
    ours = SealBgvEvaluator(side.parms, compression="none", **OPTIONS)
    good = ours.negate(save(side.encrypt(residues(SMALL), 1)))
    size = 113
    reserved = {size - 24 + at for at in (4, 6, 7)}  # minor version and reserved bytes of the nested header
    factor = range(81, 83)  # another factor below t is as good
    for at in sorted(set(range(16, size)) - reserved - set(factor)):
        for flip in (0x02, 0x80):
            bad = bytearray(good)
            bad[at] ^= flip
            with pytest.raises(ringmill.RingmillError):
                ours.negate(bytes(bad))
    for bad_factor in (0, SMALL.plain, 2**64 - 1):
        bad_bytes = good[:81] + bad_factor.to_bytes(8, "little") + good[89:]
        with pytest.raises(ringmill.FileError, match="correction factor"):
            ours.negate(bad_bytes)
    for end in (0, 1, 15, 16, 40, len(good) // 2, len(good) - 1):
        with pytest.raises(ringmill.RingmillError, match="SEAL"):
            ours.negate(good[:end])


def test_other_schemes_other_parameters_and_missing_keys_are_refused() -> None:
    side, other = seal(SMALL), seal(CASES[0])
    ours = SealBgvEvaluator(side.parms, **OPTIONS)
    a = save(side.encrypt(residues(SMALL)))
    with pytest.raises(ringmill.RingmillError, match="parms_id"):
        ours.negate(save(other.encrypt(residues(CASES[0]))))
    with pytest.raises(ringmill.KeysError, match="key"):
        ours.relinearize(ours.square(a))
    with pytest.raises(ringmill.KeysError, match="rotation by 1"):
        ours.rotate_rows(a, 1)
    with pytest.raises(ringmill.DataError, match="transparent"):
        ours.sub(a, a)
    with pytest.raises(ringmill.ParameterError, match="insecure"):
        SealBgvEvaluator(side.parms)
    with pytest.raises(ringmill.RingmillError, match="BFV"):
        SealBfvEvaluator(side.parms, **OPTIONS)
    with pytest.raises(ringmill.RingmillError, match="BGV"):
        SealBgvEvaluator(Seal(SMALL, BFV).parms, **OPTIONS)
    theirs = Seal(SMALL, BFV)
    with pytest.raises(ringmill.RingmillError, match="SEAL"):
        ours.negate(save(theirs.encrypt(residues(SMALL))))
