# SPDX-License-Identifier: Apache-2.0
"""Compares Ringmill's BFV and BGV with Microsoft SEAL. Every operation gives SEAL's ciphertext bit for bit, under
SEAL's keys.

As in test_seal.py, every comparison is of whole files, BGV's correction factors included. SEAL loads Ringmill's result
and saves it again. Those bytes must equal the bytes that SEAL saves of its own evaluator's result. test_seal_bfv.py and
test_seal_bgv.py compare what only one of the schemes has.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from seal_exact import BATCHING, CASES, OF_BGV, OPTIONS, RNG, SCHEMES, SMALL, Case, Scheme, client, evaluator, seal
from seal_reference import REFUSED, STEPS, galois_element, read, save, sealapi

import ringmill


def at(*cases: Case) -> pytest.MarkDecorator:
    """Runs a test for each scheme: in these cases, or in all of the scheme's."""
    every = [(scheme, case) for scheme in SCHEMES for case in cases or scheme.cases]
    return pytest.mark.parametrize(("scheme", "case"), every, ids=str)


OF_EACH = pytest.mark.parametrize("scheme", SCHEMES, ids=str)


@at()
def test_coefficient_wise_operations_are_seals(scheme: Scheme, case: Case) -> None:
    side, ours = seal(scheme, case), evaluator(scheme, case)
    for drop in side.drops():
        a, b = side.random(drop), side.random(drop)
        a3 = side.call("multiply", a, b)
        b3 = side.call("square", b)
        # In BGV the factors of x and y are equal, or unequal below the top: 1 / q against its square.
        for x, y in ((a, b), (a3, b3), (a, b3), (a3, b)):
            side.same(ours.add(save(x), save(y)), side.call("add", x, y))
            side.same(ours.sub(save(x), save(y)), side.call("sub", x, y))
            side.same(ours.negate(save(x)), side.call("negate", x))


@at()
def test_operations_with_plaintexts_are_seals(scheme: Scheme, case: Case) -> None:
    side, ours, t, n = seal(scheme, case), evaluator(scheme, case), case.plain, case.degree
    edges = np.array([0, 1, t - 1, t // 2, (t + 1) // 2, max(t // 2, 1) - 1], dtype=np.uint64)
    one = np.zeros(n, np.uint64)
    one[5] = t - 1
    for coefficients in (case.residues(), np.resize(edges, n), one):
        plain = side.plain(coefficients)
        for drop in side.drops():
            a = side.random(drop)
            for x in (a, side.call("square", a)):
                for name in ("add_plain", "sub_plain", "multiply_plain"):
                    side.same(getattr(ours, name)(save(x), save(plain)), side.call(name, x, plain))


@at()
def test_products_and_relinearisation_are_seals(scheme: Scheme, case: Case) -> None:
    side, ours = seal(scheme, case), evaluator(scheme, case)
    for drop in side.drops():
        a, b = side.random(drop), side.random(drop)
        product = side.call("multiply", a, b)
        side.same(ours.multiply(save(a), save(b)), product)
        side.same(ours.square(save(a)), side.call("square", a))
        side.same(ours.relinearize(save(product)), side.call("relinearize", product, side.relin))


@at()
def test_rotations_are_seals(scheme: Scheme, case: Case) -> None:
    side, ours = seal(scheme, case), evaluator(scheme, case)
    for drop in side.drops():
        a = side.random(drop)
        for steps in STEPS:
            element = galois_element(case.degree, steps)
            side.same(ours.rotate_rows(save(a), steps), side.call("apply_galois", a, element, side.galois))
            if case.batching:
                side.same(ours.rotate_rows(save(a), steps), side.call("rotate_rows", a, steps, side.galois))
        side.same(ours.rotate_columns(save(a)), side.call("apply_galois", a, 2 * case.degree - 1, side.galois))
        if case.batching:
            side.same(ours.rotate_columns(save(a)), side.call("rotate_columns", a, side.galois))


@OF_EACH
def test_products_of_any_sizes_are_seals_or_refused(scheme: Scheme) -> None:
    """Pairs of two or three polynomials are random. The product is SEAL's bit for bit, or refused if it has more than
    three.
    """
    side, ours = seal(scheme, SMALL), evaluator(scheme, SMALL)
    fresh = [side.random() for _ in range(3)]
    of_size = {2: fresh, 3: [side.call("multiply", a, b) for a, b in pairwise(fresh)]}
    for _ in range(12):
        sizes = tuple(int(size) for size in RNG.integers(2, 4, 2))
        a, b = (of_size[size][RNG.integers(len(of_size[size]))] for size in sizes)
        theirs = side.call("multiply", a, b)
        if theirs.size() <= 3:
            side.same(ours.multiply(save(a), save(b)), theirs)
            continue
        told = (
            rf"of {sizes[0]} and {sizes[1]} polynomials has {theirs.size()}, and a ciphertext has at most 3 here; relin"
        )
        with pytest.raises(ringmill.RingmillError, match=told):
            ours.multiply(save(a), save(b))
        # The cure: SEAL's product of relinearised factors.
        low_a, low_b = (side.call("relinearize", x, side.relin) if x.size() > 2 else x for x in (a, b))
        mine = [ours.relinearize(save(x)) if x.size() > 2 else save(x) for x in (a, b)]
        side.same(ours.multiply(*mine), side.call("multiply", low_a, low_b))


@at()
def test_mod_switch_is_seals(scheme: Scheme, case: Case) -> None:
    side, ours = seal(scheme, case), evaluator(scheme, case)
    for drop in side.drops():
        a = side.random(drop)
        if drop == side.levels:
            with pytest.raises(REFUSED):
                side.call("mod_switch_to_next", a)
            if side.levels == len(case.bits) - 2:
                with pytest.raises(ringmill.RingmillError, match="level"):
                    ours.mod_switch(save(a))
            continue
        for x in (a, side.call("square", a)):
            side.same(ours.mod_switch(save(x)), side.call("mod_switch_to_next", x))


@at(*BATCHING)
def test_random_circuits_end_in_seals_bits(scheme: Scheme, case: Case) -> None:
    side, ours = seal(scheme, case), evaluator(scheme, case)
    theirs = [side.random(1 if scheme is OF_BGV else 0) for _ in range(2)]
    mine = [save(x) for x in theirs]
    for _ in range(14):
        i, j, kind = (int(x) for x in RNG.integers(0, [len(mine), len(mine), 5]))
        x, y = theirs[i], theirs[j]
        plain = side.plain(case.residues())
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
        side.same(mine[-1], theirs[-1])


@at()
def test_decryptions_and_budgets_are_seals(scheme: Scheme, case: Case) -> None:
    side, ours = seal(scheme, case), client(scheme, case)
    cipher = side.random()
    for _ in range(case.products + 1):
        budget = side.decryptor.invariant_noise_budget(cipher)
        assert ours.noise_budget(save(cipher)) == budget > 0
        # SEAL leaves out zeros at the end.
        theirs = ours.decode(save(side.decrypted(cipher)), unsigned=True)
        np.testing.assert_array_equal(ours.decode(ours.decrypt_plain(save(cipher)), unsigned=True), theirs)
        if side.levels:
            low = side.call("mod_switch_to_next", cipher)
            theirs = ours.decode(save(side.decrypted(low)), unsigned=True)
            np.testing.assert_array_equal(ours.decrypt(save(low), unsigned=True), theirs)
        cipher = side.call("relinearize", side.call("square", cipher), side.relin)
    while side.decryptor.invariant_noise_budget(cipher):
        cipher = side.call("relinearize", side.call("square", cipher), side.relin)
    assert ours.noise_budget(save(cipher)) == 0
    with pytest.raises(ringmill.DataError, match="no noise budget"):
        ours.decrypt(save(cipher))


@at(CASES[1], CASES[2], CASES[5])
@pytest.mark.parametrize("compression", ["zstd", "none"])
def test_seal_computes_with_ringmills_keys_and_ciphertexts(scheme: Scheme, case: Case, compression: str) -> None:
    side = seal(scheme, case)
    ours = scheme.clients.generate(side.parms, compression=compression, **OPTIONS)
    secret = side.load(sealapi.SecretKey, ours.secret_key_in_the_clear())
    public = side.load(sealapi.PublicKey, ours.public_key())
    relin = side.load(sealapi.RelinKeys, ours.relin_keys())
    galois = side.load(sealapi.GaloisKeys, ours.galois_keys([1], columns=True))
    assert galois.has_key(3)
    assert galois.has_key(2 * case.degree - 1)
    x = case.residues()
    cipher = side.load(sealapi.Ciphertext, ours.encrypt(x, unsigned=True))
    plain = sealapi.Plaintext()
    sealapi.Decryptor(side.context, secret).decrypt(cipher, plain)
    assert save(side.load(sealapi.Plaintext, ours.encode(x, unsigned=True))) == save(plain)
    np.testing.assert_array_equal(ours.decode(save(plain), unsigned=True), x)

    def decrypts_to(cipher: Any, expected: np.ndarray) -> None:
        np.testing.assert_array_equal(ours.decrypt(save(cipher), unsigned=True), expected)

    if case.products:
        product = side.call("relinearize", side.call("square", cipher), relin)
        squares = np.array([int(v) ** 2 % case.plain for v in x], np.uint64)
        decrypts_to(product, squares)
        decrypts_to(side.call("mod_switch_to_next", product), squares)
        rows = x.reshape(2, -1)
        decrypts_to(side.call("apply_galois", cipher, 3, galois), np.roll(rows, -1, 1).ravel())
        decrypts_to(side.call("apply_galois", cipher, 2 * case.degree - 1, galois), rows[::-1].ravel())
    # SEAL encrypts under Ringmill's public key, and seeded under its secret key. Ringmill decrypts both.
    theirs = sealapi.Ciphertext(side.context)
    encryptor = sealapi.Encryptor(side.context, public, secret)
    encryptor.encrypt(plain, theirs)
    decrypts_to(theirs, x)
    decrypts_to(encryptor.encrypt_symmetric(plain), x)


@at(*BATCHING)
def test_slots_are_those_of_seals_encoder(scheme: Scheme, case: Case) -> None:
    side, ours = seal(scheme, case), client(scheme, case)
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


@at(*CASES[:3])
def test_seeded_files_are_expanded_as_seal_expands_them(scheme: Scheme, case: Case) -> None:
    side = seal(scheme, case)
    seeded = save(side.encryptor.encrypt_symmetric(side.plain(case.residues())))
    whole = save(side.load(sealapi.Ciphertext, seeded))
    assert len(seeded) < 0.6 * len(whole)
    ours = scheme.evaluators(side.parms, **OPTIONS)
    side.same(ours.negate(seeded), side.call("negate", side.load(sealapi.Ciphertext, seeded)))
    relin, galois = save(side.generator.create_relin_keys()), save(side.generator.create_galois_keys([3]))
    ours.load_relin_keys(relin)
    ours.load_galois_keys(galois)
    a = side.random()
    product = side.call("square", a)
    theirs = side.call("relinearize", product, side.load(sealapi.RelinKeys, relin))
    side.same(ours.relinearize(save(product)), theirs)
    theirs = side.call("apply_galois", a, 3, side.load(sealapi.GaloisKeys, galois))
    side.same(ours.rotate_rows(save(a), 1), theirs)


@OF_EACH
def test_what_is_read_is_written_back_unchanged(scheme: Scheme) -> None:
    side, ours = seal(scheme, SMALL), client(scheme, SMALL)
    assert save(side.load(sealapi.SecretKey, ours.secret_key_in_the_clear())) == save(side.secret)
    assert save(read(sealapi.EncryptionParameters(scheme.theirs), ours.parameters())) == side.parms


@OF_EACH
def test_damaged_files_are_refused(scheme: Scheme) -> None:
    side, ours, holder = seal(scheme, SMALL), evaluator(scheme, SMALL), client(scheme, SMALL)
    readers = [
        (ours.negate, save(side.random())),
        (holder.decode, save(side.plain(SMALL.residues()))),
        (lambda data: scheme.clients.load(side.parms, data, **OPTIONS), save(side.secret)),
        (lambda data: scheme.evaluators(data, **OPTIONS), side.parms),
    ]
    for reader, good in readers:
        reader(good)
        cuts = [good[:end] for end in (0, 1, 15, 16, 17, 40, len(good) // 2, len(good) - 1)]
        for bad in [*cuts, good + b"\0", b"\0" + good[1:], good[:5] + b"\x07" + good[6:]]:
            with pytest.raises(ringmill.RingmillError, match="SEAL"):
                reader(bad)


@OF_EACH
def test_other_parameters_and_missing_keys_are_refused(scheme: Scheme) -> None:
    side, other = seal(scheme, SMALL), seal(scheme, CASES[0])
    ours = scheme.evaluators(side.parms, **OPTIONS)
    a = save(side.random())
    with pytest.raises(ringmill.RingmillError, match="parms_id"):
        ours.negate(save(other.random()))
    with pytest.raises(ringmill.RingmillError, match="parms_id"):
        ours.load_relin_keys(save(other.relin))
    with pytest.raises(ringmill.KeysError, match="key"):
        ours.relinearize(ours.square(a))
    with pytest.raises(ringmill.KeysError, match="rotation by 1"):
        ours.rotate_rows(a, 1)
    with pytest.raises(ringmill.DataError, match="transparent"):
        ours.sub(a, a)
    with pytest.raises(ringmill.ParameterError, match="insecure"):
        scheme.evaluators(side.parms)


@OF_EACH
def test_files_of_other_schemes_are_refused(scheme: Scheme) -> None:
    of_theirs = {"CKKS": ringmill.seal.SealEvaluator, **{s.name.upper(): s.evaluators for s in SCHEMES}}
    ours = of_theirs.pop(scheme.name.upper())
    for name, evaluators in of_theirs.items():
        with pytest.raises(ringmill.RingmillError, match=name):
            evaluators(seal(scheme, SMALL).parms, **OPTIONS)
    for other in SCHEMES:
        if other is not scheme:
            with pytest.raises(ringmill.RingmillError, match=scheme.name.upper()):
                ours(seal(other, SMALL).parms, **OPTIONS)
            with pytest.raises(ringmill.RingmillError, match="SEAL"):
                evaluator(scheme, SMALL).negate(save(seal(other, SMALL).random()))


@OF_EACH
def test_integers_that_do_not_fit_are_refused(scheme: Scheme) -> None:
    ours = client(scheme, SMALL)
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
