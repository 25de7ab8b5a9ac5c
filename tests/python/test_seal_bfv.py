# SPDX-License-Identifier: Apache-2.0
"""Microsoft SEAL's BFV as the reference: every operation gives its ciphertext bit for bit, under its keys.

As in test_seal.py, every comparison is of whole files: Ringmill's result is loaded by SEAL and saved again, and those
bytes must equal the bytes SEAL saves of its own evaluator's result.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from seal_exact import (
    BFV,
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
from ringmill.seal import SealBfvClient, SealBfvEvaluator

CASES = [
    Case(1024, (40, 30), 65537, 0),
    Case(1024, (30, 31, 35, 36), 12289, 1),
    Case(2048, (50, 45, 60), 2**32, 0),  # SEAL's m-tilde; no slots
    Case(2048, (60, 59, 58, 60, 50, 60, 55, 60), 2, 3),
    Case(2048, (60, 60, 60, 60), (1 << 60) - (1 << 13) * 7 + 3, 0),  # a count of B's of either sign
    Case(4096, (36, 36, 37), 1032193, 1),
    Case(4096, (60, 60, 60), 3 * 2**20, 1),
    *LARGE,
]
SMALL = CASES[1]
ALL_CASES = pytest.mark.parametrize("case", CASES, ids=str)
BATCHING = pytest.mark.parametrize("case", [CASES[1], CASES[5]], ids=str)


@cache
def seal(case: Case) -> Seal:
    return Seal(case, BFV)


@cache
def evaluator(case: Case) -> SealBfvEvaluator:
    side = seal(case)
    ours = SealBfvEvaluator(side.parms, **OPTIONS)
    ours.load_relin_keys(save(side.relin))
    ours.load_galois_keys(save(side.galois))
    return ours


def client(case: Case, **options: Any) -> SealBfvClient:
    return SealBfvClient.load(seal(case).parms, save(seal(case).secret), **OPTIONS, **options)


@ALL_CASES
def test_coefficient_wise_operations_are_seals(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    for drop in drops(side):
        a, b = (side.encrypt(residues(case), drop) for _ in range(2))
        a3 = side.call("multiply", a, b)
        b3 = side.call("square", b)
        for x, y in ((a, b), (a3, b3)):
            same(side, ours.add(save(x), save(y)), side.call("add", x, y))
            same(side, ours.sub(save(x), save(y)), side.call("sub", x, y))
            same(side, ours.negate(save(x)), side.call("negate", x))


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
def test_products_and_relinearisation_are_seals(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    for drop in drops(side):
        a, b = (side.encrypt(residues(case), drop) for _ in range(2))
        product = side.call("multiply", a, b)
        same(side, ours.multiply(save(a), save(b)), product)
        same(side, ours.square(save(a)), side.call("square", a))
        same(side, ours.relinearize(save(product)), side.call("relinearize", product, side.relin))


@ALL_CASES
def test_products_of_any_residues_are_seals(case: Case) -> None:
    """Of polynomials of no encryption: 0, Q - 1, about Q / 2 and about multiples of Q / q_i and of Q / m-tilde."""
    side, ours = seal(case), evaluator(case)
    bare = SealBfvEvaluator(side.parms, compression="none", **OPTIONS)
    for drop in drops(side):
        good = bare.negate(save(side.encrypt(residues(case), drop)))
        primes = [int(q.value()) for q in side.context.first_context_data().parms().coeff_modulus()]
        primes = primes[: len(primes) - drop]
        q = int(np.prod([1], dtype=object) * np.prod(np.array(primes, dtype=object)))
        around = [
            0,
            q // 2,
            q // 4,
            q >> 33,
            q - (q >> 33),
            q // 2 + (q >> 33),
            *(k * (q // p) for p in primes for k in (1, 2)),
        ]
        integers = [(x + k) % q for x in around for k in (-2, -1, 0, 1, 2)]
        integers += [int.from_bytes(RNG.bytes(8 * len(primes) + 8), "little") % q for _ in range(40)]
        chosen = [[integers[i] for i in RNG.integers(0, len(integers), case.degree)] for _ in range(4)]

        def written(polys: list[list[int]], good: bytes = good, primes: list[int] = primes) -> bytes:
            words = [x % p for poly in polys for p in primes for x in poly]
            data = np.array(words, dtype="<u8").tobytes()
            assert len(good) == 105 + len(data)
            return good[:105] + data

        a, b = written(chosen[:2]), written(chosen[2:])
        x, y = (side.load(sealapi.Ciphertext, data) for data in (a, b))
        same(side, ours.multiply(a, b), side.call("multiply", x, y))
        same(side, ours.square(a), side.call("square", x))
        if drop < side.levels:
            same(side, ours.mod_switch(a), side.call("mod_switch_to_next", x))


@ALL_CASES
def test_rotations_are_seals(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    batching = case.plain % (2 * case.degree) == 1
    for drop in drops(side):
        a = side.encrypt(residues(case), drop)
        for steps in STEPS:
            element = galois_element(case.degree, steps)
            theirs = side.call("apply_galois", a, element, side.galois)
            same(side, ours.rotate_rows(save(a), steps), theirs)
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


@BATCHING
def test_random_circuits_end_in_seals_bits(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    a, b = (side.encrypt(residues(case)) for _ in range(2))
    theirs, mine = [a, b], [save(a), save(b)]
    for _ in range(12):
        i, j, kind = (int(x) for x in RNG.integers(0, [len(mine), len(mine), 5]))
        x, y = theirs[i], theirs[j]
        plain = side.plain(residues(case))
        if kind == 0:
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
    ours = SealBfvClient.generate(side.parms, compression=compression, **OPTIONS)
    secret = side.load(sealapi.SecretKey, ours.secret_key_in_the_clear())
    public = side.load(sealapi.PublicKey, ours.public_key())
    relin = side.load(sealapi.RelinKeys, ours.relin_keys())
    galois = side.load(sealapi.GaloisKeys, ours.galois_keys([1], columns=True))
    assert galois.has_key(3)
    assert galois.has_key(2 * case.degree - 1)
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
        expected = [int(v) ** 2 % case.plain for v in x]
        np.testing.assert_array_equal(ours.decrypt(save(product), unsigned=True), np.array(expected, np.uint64))
        rows = x.reshape(2, -1)
        np.testing.assert_array_equal(ours.decrypt(save(turned), unsigned=True), np.roll(rows, -1, 1).ravel())
        np.testing.assert_array_equal(ours.decrypt(save(swapped), unsigned=True), rows[::-1].ravel())
    # SEAL encrypts under Ringmill's public key; Ringmill decrypts.
    theirs = sealapi.Ciphertext(side.context)
    sealapi.Encryptor(side.context, public).encrypt(plain, theirs)
    np.testing.assert_array_equal(ours.decrypt(save(theirs), unsigned=True), x)


@BATCHING
def test_slots_are_those_of_seals_encoder(case: Case) -> None:
    side, ours = seal(case), client(case)
    encoder = sealapi.BatchEncoder(side.context)
    half = case.plain // 2
    for values in (
        RNG.integers(-half, half + 1, case.degree),
        np.array([-half, half, 0, -1, 1]),
        [],
    ):
        plain = sealapi.Plaintext()
        padded = np.zeros(case.degree, np.int64)
        padded[: len(values)] = values
        encoder.encode([int(v) % case.plain for v in padded], plain)
        assert save(side.load(sealapi.Plaintext, ours.encode(values))) == save(plain)
        np.testing.assert_array_equal(ours.decode(save(plain)), padded)
        np.testing.assert_array_equal(ours.decode(save(plain)), encoder.decode_int64(plain))
        np.testing.assert_array_equal(ours.decode(save(plain), unsigned=True), encoder.decode_uint64(plain))


@pytest.mark.parametrize("case", CASES[:3], ids=str)
def test_seeded_files_are_expanded_as_seal_expands_them(case: Case) -> None:
    side = seal(case)
    seeded = save(side.encryptor.encrypt_symmetric(side.plain(residues(case))))
    whole = save(side.load(sealapi.Ciphertext, seeded))
    assert len(seeded) < 0.6 * len(whole)
    ours = SealBfvEvaluator(side.parms, **OPTIONS)
    same(side, ours.negate(seeded), side.call("negate", side.load(sealapi.Ciphertext, seeded)))
    relin, galois = save(side.generator.create_relin_keys()), save(side.generator.create_galois_keys([3]))
    ours.load_relin_keys(relin)
    ours.load_galois_keys(galois)
    a = side.encrypt(residues(case))
    product = side.call("square", a)
    theirs = side.call("relinearize", product, side.load(sealapi.RelinKeys, relin))
    same(side, ours.relinearize(save(product)), theirs)
    theirs = side.call("apply_galois", a, 3, side.load(sealapi.GaloisKeys, galois))
    same(side, ours.rotate_rows(save(a), 1), theirs)


def test_what_is_read_is_written_back_unchanged() -> None:
    side = seal(SMALL)
    ours = client(SMALL)
    restored = side.load(sealapi.SecretKey, ours.secret_key_in_the_clear())
    assert save(restored) == save(side.secret)
    parms = sealapi.EncryptionParameters(sealapi.SCHEME_TYPE.BFV)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "parms"
        path.write_bytes(ours.parameters())
        parms.load(str(path))
    assert save(parms) == side.parms


def test_damaged_files_are_refused() -> None:
    side = seal(SMALL)
    ours, holder = evaluator(SMALL), client(SMALL)
    readers = [
        (ours.negate, save(side.encrypt(residues(SMALL)))),
        (holder.decode, save(side.plain(residues(SMALL)))),
        (lambda data: SealBfvClient.load(side.parms, data, **OPTIONS), save(side.secret)),
        (lambda data: SealBfvEvaluator(data, **OPTIONS), side.parms),
    ]
    for reader, good in readers:
        reader(good)
        cuts = [good[:end] for end in (0, 1, 15, 16, 17, 40, len(good) // 2, len(good) - 1)]
        for bad in [*cuts, good + b"\0", b"\0" + good[1:], good[:5] + b"\x07" + good[6:]]:
            with pytest.raises(ringmill.RingmillError, match="SEAL"):
                reader(bad)


def test_altered_fields_are_refused_and_never_crash() -> None:
    side = seal(SMALL)
    ours = SealBfvEvaluator(side.parms, compression="none", **OPTIONS)
    holder = client(SMALL, compression="none")
    cipher, plain = ours.negate(save(side.encrypt(residues(SMALL)))), holder.encode([1, 2, 3])
    with pytest.raises(ringmill.RingmillError, match="not below its modulus"):
        ours.negate(cipher[:105] + b"\xff" * 8 + cipher[113:])
    with pytest.raises(ringmill.RingmillError, match="not below its modulus"):
        holder.decode(plain[:88] + b"\xff" * 8 + plain[96:])
    for good, reader, size in ((cipher, ours.negate, 105), (plain, holder.decode, 88)):
        reserved = {size - 24 + at for at in (4, 6, 7)}  # minor version and reserved bytes of the nested header
        for at in sorted(set(range(16, size)) - reserved):
            for flip in (0x02, 0x80):
                bad = bytearray(good)
                bad[at] ^= flip
                with pytest.raises(ringmill.RingmillError, match="SEAL"):
                    reader(bytes(bad))


def test_other_schemes_other_parameters_and_missing_keys_are_refused() -> None:
    side, other = seal(SMALL), seal(CASES[0])
    ours = SealBfvEvaluator(side.parms, **OPTIONS)
    a = save(side.encrypt(residues(SMALL)))
    with pytest.raises(ringmill.RingmillError, match="parms_id"):
        ours.negate(save(other.encrypt(residues(CASES[0]))))
    with pytest.raises(ringmill.RingmillError, match="parms_id"):
        ours.load_relin_keys(save(other.relin))
    with pytest.raises(ringmill.KeysError, match="key"):
        ours.relinearize(ours.square(a))
    with pytest.raises(ringmill.KeysError, match="rotation by 1"):
        ours.rotate_rows(a, 1)
    with pytest.raises(ringmill.DataError, match="transparent"):
        ours.sub(a, a)
    with pytest.raises(ringmill.ParameterError, match="insecure"):
        SealBfvEvaluator(side.parms)
    with pytest.raises(ringmill.RingmillError, match="CKKS"):
        ringmill.seal.SealEvaluator(side.parms)
    parms = sealapi.EncryptionParameters(sealapi.SCHEME_TYPE.CKKS)
    parms.set_poly_modulus_degree(1024)
    parms.set_coeff_modulus(sealapi.CoeffModulus.Create(1024, [30, 30]))
    with pytest.raises(ringmill.RingmillError, match="BFV"):
        SealBfvEvaluator(save(parms), **OPTIONS)


def test_integers_that_do_not_fit_are_refused() -> None:
    ours = client(SMALL)
    half = SMALL.plain // 2
    for values, unsigned in (
        ([half + 1], False),
        ([-half - 1], False),
        ([-1], True),
        ([SMALL.plain], True),
        ([2**64], True),
        ([2**100], False),
        ([10**40], False),
        ([1.0], False),
        ([True], False),
        (np.array([1.5]), False),
        (np.zeros((2, 2), int), False),
        (7, False),
        ([0] * (SMALL.degree + 1), False),
    ):
        with pytest.raises(ringmill.DataError):
            ours.encode(values, unsigned=unsigned)
    for dtype in (np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64):
        values = np.array([1, 2, 3], dtype)
        assert ours.decode(ours.encode(values))[:4].tolist() == [1, 2, 3, 0]
