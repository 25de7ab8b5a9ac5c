# SPDX-License-Identifier: Apache-2.0
"""Compares Ringmill's CKKS with Microsoft SEAL. Ringmill reads SEAL's files, computes on them, and gives SEAL's result
bit for bit.

Every comparison is of whole files, so data, level and scale all agree. SEAL loads Ringmill's result and saves it again.
Those bytes must equal the bytes that SEAL saves of its own evaluator's result (SEAL's writer is deterministic).
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from seal_reference import BFV, CKKS, REFUSED, STEPS, Reference, galois_element, parameters, read, save, sealapi

import ringmill
from ringmill.seal import SealClient, SealEvaluator

RNG = np.random.default_rng(7)


@dataclass(frozen=True)
class Case:
    """A parameter set."""

    degree: int
    bits: tuple[int, ...]
    log_scale: int
    """Of a scale whose cube fits the lowest level; bits are compared there."""
    log_fine_scale: int
    """Of a scale at which errors are small; values are compared there."""
    log_switching_error: int
    """Bound on the error of SEAL's key switching, whose digits are not centred: most of it is in slots 0 and 1."""

    @property
    def fresh_error(self) -> float:
        return 2.0 ** (16 - self.log_fine_scale)

    @property
    def switching_error(self) -> float:
        return 2.0 ** (self.log_switching_error - self.log_fine_scale)

    def __str__(self) -> str:
        return f"{self.degree}-{len(self.bits)}"


CASES = [
    Case(4096, (36, 36, 37), 11, 34, 21),
    Case(8192, (50, 30, 30, 30, 50), 16, 40, 23),
    Case(16384, (60, *(54,) * 7), 19, 54, 31),  # Set-1 of the Medha paper
]
SMALL = CASES[0]


class Seal(Reference):
    """SEAL with a parameter set of CKKS."""

    def __init__(self, case: Case) -> None:
        super().__init__(parameters(CKKS, case.degree, case.bits), sealapi.SEC_LEVEL_TYPE.TC128)
        self.case = case
        self.fine_scale = 2.0**case.log_fine_scale
        self.encoder = sealapi.CKKSEncoder(self.context)

    def drops(self, level: int | None) -> int:
        """Returns how many primes are dropped down to a level."""
        return 0 if level is None else self.levels - level

    def plain(self, values: np.ndarray, level: int | None = None, scale: float | None = None) -> Any:
        plain = sealapi.Plaintext()
        parms_id = self.context.first_parms_id()
        for _ in range(self.drops(level)):
            parms_id = self.context.get_context_data(parms_id).next_context_data().parms_id()
        self.encoder.encode(values.tolist(), parms_id, scale or 2.0**self.case.log_scale, plain)
        return plain

    def encrypt(self, values: np.ndarray, level: int | None = None, scale: float | None = None) -> Any:
        """Returns a ciphertext that reached `level` by dropping primes."""
        return self.encrypted(self.plain(values, scale=scale), self.drops(level))

    def rotation_keys(self, steps: list[int]) -> Any:
        return self.galois_keys([galois_element(self.degree, step) for step in steps])

    def decrypt(self, cipher: Any, count: int) -> np.ndarray:
        return np.array(self.encoder.decode_complex(self.decrypted(cipher)))[:count]


@cache
def seal(case: Case) -> Seal:
    return Seal(case)


@cache
def evaluator(case: Case) -> SealEvaluator:
    side = seal(case)
    ours = SealEvaluator(side.parms, security_table="standard_2018")
    ours.load_relin_keys(save(side.relin))
    ours.load_galois_keys(save(side.galois))
    return ours


def values(case: Case) -> np.ndarray:
    return RNG.uniform(-1, 1, case.degree // 2)


def levels(case: Case) -> list[tuple[Case, int]]:
    top = len(case.bits) - 2
    return [(case, level) for level in sorted({top, top - 1, top // 2, 0}, reverse=True)]


AT_LEVELS = pytest.mark.parametrize(
    ("case", "level"), [at for case in CASES for at in levels(case)], ids=lambda at: str(at)
)
ALL_CASES = pytest.mark.parametrize("case", CASES, ids=str)


@AT_LEVELS
def test_coefficient_wise_operations_are_seals(case: Case, level: int) -> None:
    side, ours = seal(case), evaluator(case)
    a, b = (side.encrypt(values(case), level) for _ in range(2))
    plain = side.plain(values(case), level)
    a3 = side.call("multiply", a, b)
    b3 = side.call("square", b)
    for x, y in ((a, b), (a3, b3)):
        side.same(ours.add(save(x), save(y)), side.call("add", x, y))
        side.same(ours.sub(save(x), save(y)), side.call("sub", x, y))
        side.same(ours.negate(save(x)), side.call("negate", x))
    for x in (a, a3):
        side.same(ours.multiply_plain(save(x), save(plain)), side.call("multiply_plain", x, plain))
    side.same(ours.add_plain(save(a), save(plain)), side.call("add_plain", a, plain))
    side.same(ours.sub_plain(save(a), save(plain)), side.call("sub_plain", a, plain))


@AT_LEVELS
def test_products_and_relinearisation_are_seals(case: Case, level: int) -> None:
    side, ours = seal(case), evaluator(case)
    a, b = (side.encrypt(values(case), level) for _ in range(2))
    product = side.call("multiply", a, b)
    side.same(ours.multiply(save(a), save(b)), product)
    side.same(ours.square(save(a)), side.call("square", a))
    side.same(ours.relinearize(save(product)), side.call("relinearize", product, side.relin))


@AT_LEVELS
def test_rotations_and_conjugation_are_seals(case: Case, level: int) -> None:
    side, ours = seal(case), evaluator(case)
    a = side.encrypt(values(case), level)
    for steps in STEPS:
        side.same(ours.rotate(save(a), steps), side.call("rotate_vector", a, steps, side.galois))
    side.same(ours.conjugate(save(a)), side.call("complex_conjugate", a, side.galois))


@AT_LEVELS
def test_rescale_and_mod_switch_are_seals(case: Case, level: int) -> None:
    side, ours = seal(case), evaluator(case)
    a = side.encrypt(values(case), level)
    product = side.call("multiply", a, a)
    if level == 0:
        for operation in (ours.rescale, ours.mod_switch):
            with pytest.raises(ringmill.RingmillError, match="level"):
                operation(save(a))
        return
    for x in (a, product):
        side.same(ours.rescale(save(x)), side.call("rescale_to_next", x))
        side.same(ours.mod_switch(save(x)), side.call("mod_switch_to_next", x))


@ALL_CASES
def test_a_chain_of_operations_ends_in_seals_bits(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    a, b = (side.encrypt(values(case)) for _ in range(2))
    theirs = side.call("rescale_to_next", side.call("relinearize", side.call("multiply", a, b), side.relin))
    theirs = side.call("add", side.call("rotate_vector", theirs, 3, side.galois), theirs)
    mine = ours.rescale(ours.relinearize(ours.multiply(save(a), save(b))))
    mine = ours.add(ours.rotate(mine, 3), mine)
    side.same(mine, theirs)


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_seeded_files_are_expanded_as_seal_expands_them(case: Case) -> None:
    side = seal(case)
    seeded = save(side.encryptor.encrypt_symmetric(side.plain(values(case))))
    whole = save(side.load(sealapi.Ciphertext, seeded))
    assert len(seeded) < 0.6 * len(whole)
    ours = SealEvaluator(side.parms, security_table="standard_2018")
    side.same(ours.negate(seeded), side.call("negate", side.load(sealapi.Ciphertext, seeded)))
    # New keys, saved seeded. Both sides expand them and must agree.
    relin, galois = save(side.generator.create_relin_keys()), save(side.generator.create_galois_keys([3]))
    ours.load_relin_keys(relin)
    ours.load_galois_keys(galois)
    a = side.encrypt(values(case))
    product = side.call("multiply", a, a)
    side.same(
        ours.relinearize(save(product)),
        side.call("relinearize", product, side.load(sealapi.RelinKeys, relin)),
    )
    side.same(
        ours.rotate(save(a), 1),
        side.call("rotate_vector", a, 1, side.load(sealapi.GaloisKeys, galois)),
    )


@pytest.mark.parametrize(
    ("case", "compression"),
    [(case, "zstd") for case in CASES] + [(case, "none") for case in CASES[:2]],
    ids=str,
)
def test_seal_computes_with_ringmills_keys_and_ciphertexts(case: Case, compression: str) -> None:
    side = seal(case)
    client = SealClient.generate(side.parms, security_table="standard_2018", compression=compression)
    secret = side.load(sealapi.SecretKey, client.secret_key_in_the_clear())
    public = side.load(sealapi.PublicKey, client.public_key())
    relin = side.load(sealapi.RelinKeys, client.relin_keys())
    galois = side.load(sealapi.GaloisKeys, client.galois_keys([1], conjugation=True))
    assert galois.has_key(3)
    assert galois.has_key(2 * case.degree - 1)
    decryptor = sealapi.Decryptor(side.context, secret)

    def decrypted(cipher: Any) -> np.ndarray:
        plain = sealapi.Plaintext()
        decryptor.decrypt(cipher, plain)
        return np.array(side.encoder.decode_complex(plain))

    x = values(case)
    cipher = side.load(sealapi.Ciphertext, client.encrypt(x, side.fine_scale))
    np.testing.assert_allclose(decrypted(cipher), x, rtol=0, atol=case.fresh_error)
    square = side.call("relinearize", side.call("square", cipher), relin)
    np.testing.assert_allclose(decrypted(square), x * x, rtol=0, atol=case.switching_error)
    rotated = side.call("rotate_vector", cipher, 1, galois)
    np.testing.assert_allclose(decrypted(rotated), np.roll(x, -1), rtol=0, atol=case.switching_error)
    conjugated = side.call("complex_conjugate", cipher, galois)
    np.testing.assert_allclose(decrypted(conjugated), x, rtol=0, atol=case.switching_error)
    plain = side.load(sealapi.Plaintext, client.encode(x, side.fine_scale))
    np.testing.assert_allclose(np.array(side.encoder.decode_complex(plain)), x, rtol=0, atol=case.fresh_error)
    # SEAL encrypts under Ringmill's public key, and Ringmill decrypts.
    theirs = sealapi.Ciphertext(side.context)
    sealapi.Encryptor(side.context, public).encrypt(side.plain(x, scale=side.fine_scale), theirs)
    np.testing.assert_allclose(client.decrypt(save(theirs)), x, rtol=0, atol=case.fresh_error)


@ALL_CASES
def test_ringmill_decrypts_and_encodes_under_seals_keys(case: Case) -> None:
    side = seal(case)
    client = SealClient.load(side.parms, save(side.secret), security_table="standard_2018")
    x = values(case)
    np.testing.assert_allclose(
        client.decrypt(save(side.encrypt(x, scale=side.fine_scale))), x, rtol=0, atol=case.fresh_error
    )
    np.testing.assert_allclose(
        client.decode(save(side.plain(x, scale=side.fine_scale))), x, rtol=0, atol=case.fresh_error
    )
    cipher = side.load(sealapi.Ciphertext, client.encrypt(x, side.fine_scale))
    np.testing.assert_allclose(side.decrypt(cipher, x.size), x, rtol=0, atol=case.fresh_error)


def test_what_is_read_is_written_back_unchanged() -> None:
    side = seal(SMALL)
    client = SealClient.load(side.parms, save(side.secret), security_table="standard_2018")
    restored = side.load(sealapi.SecretKey, client.secret_key_in_the_clear())
    assert save(restored) == save(side.secret)
    assert save(read(sealapi.EncryptionParameters(CKKS), client.parameters())) == side.parms


def bad_files(good: bytes) -> list[bytes]:
    """Returns damaged files: cut short, a byte too long, and with each field of the header altered."""
    size = len(good)
    cuts = [good[:end] for end in (0, 1, 15, 16, 17, 40, size // 2, size - 1)]
    grown = [good + b"\0"]
    wrong_magic = [b"\0" + good[1:]]
    wrong_mode = [good[:5] + b"\x07" + good[6:]]
    wrong_version = [good[:3] + b"\x02" + good[4:]]
    wrong_size = [good[:8] + b"\xff" * 8 + good[16:]]
    wrong_frame = [good[:16] + bytes([good[16] ^ 1]) + good[17:]]
    return cuts + grown + wrong_magic + wrong_mode + wrong_version + wrong_size + wrong_frame


def test_damaged_files_are_refused() -> None:
    side = seal(SMALL)
    ours = SealEvaluator(side.parms, security_table="standard_2018")
    client = SealClient.load(side.parms, save(side.secret), security_table="standard_2018")
    readers = [
        (ours.negate, save(side.encrypt(values(SMALL)))),
        (client.decode, save(side.plain(values(SMALL)))),
        (ours.load_relin_keys, save(side.relin)),
        (ours.load_galois_keys, save(side.galois)),
        (lambda data: SealClient.load(side.parms, data, security_table="standard_2018"), save(side.secret)),
        (lambda data: SealEvaluator(data, security_table="standard_2018"), side.parms),
    ]
    for reader, good in readers:
        reader(good)
        for bad in bad_files(good):
            with pytest.raises(ringmill.RingmillError, match="SEAL"):
                reader(bad)


def test_altered_residues_are_refused_and_never_crash() -> None:
    side = seal(SMALL)
    ours = SealEvaluator(side.parms, security_table="standard_2018", compression="none")
    good = ours.negate(save(side.encrypt(values(SMALL))))  # not compressed: its bytes are the object's
    ours.negate(good)
    too_large = good[:105] + b"\xff" * 8 + good[113:]
    with pytest.raises(ringmill.RingmillError, match="not below its modulus"):
        ours.negate(too_large)
    free = {*range(73, 81), 85, 87, 88}  # the scale; the minor version and reserved bytes of the nested header
    for at in sorted(set(range(16, 105)) - free):
        for flip in (0x02, 0x80):
            bad = bytearray(good)
            bad[at] ^= flip
            with pytest.raises(ringmill.RingmillError, match="SEAL"):
                ours.negate(bytes(bad))


def test_objects_of_other_parameters_and_missing_keys_are_refused() -> None:
    side, other = seal(SMALL), seal(CASES[1])
    ours = SealEvaluator(side.parms, security_table="standard_2018")
    a = save(side.encrypt(values(SMALL)))
    with pytest.raises(ringmill.RingmillError, match="parms_id"):
        ours.negate(save(other.encrypt(values(CASES[1]))))
    with pytest.raises(ringmill.RingmillError, match="parms_id"):
        ours.load_relin_keys(save(other.relin))
    with pytest.raises(ringmill.RingmillError, match="key"):
        ours.relinearize(ours.square(a))
    with pytest.raises(ringmill.RingmillError, match="key"):
        ours.rotate(a, 1)
    with pytest.raises(ringmill.RingmillError, match="insecure"):
        SealEvaluator(seal(CASES[2]).parms)  # 438 bits at N = 2^14: within SEAL's table, above the 2024 guidelines'


def test_parameters_without_security_need_the_opt_out() -> None:
    parms = save(parameters(CKKS, 64, [40, 40]))
    with pytest.raises(ringmill.RingmillError, match="insecure"):
        SealEvaluator(parms)
    SealEvaluator(parms, allow_insecure_parameters_for_tests_only=True)
    parms = sealapi.EncryptionParameters(BFV)
    parms.set_poly_modulus_degree(4096)
    parms.set_coeff_modulus(sealapi.CoeffModulus.BFVDefault(4096, sealapi.SEC_LEVEL_TYPE.TC128))
    parms.set_plain_modulus(65537)
    with pytest.raises(ringmill.RingmillError, match="CKKS"):
        SealEvaluator(save(parms))


def test_the_example_of_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(__file__).parents[2] / "docs" / "seal.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    exec(compile(code, "docs/seal.md", "exec"), {})
    assert capsys.readouterr().out.strip() == code.rsplit("# ", 1)[1].strip()


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_rotations_without_a_key_of_their_own_go_as_seals(case: Case) -> None:
    side = seal(case)
    slots = case.degree // 2
    a = side.encrypt(values(case))
    ours = SealEvaluator(side.parms, security_table="standard_2018")
    # SEAL's default keys are for all powers of two, both ways.
    powers = [sign << bit for bit in range(slots.bit_length() - 1) for sign in (1, -1)]
    keys = side.rotation_keys(powers)
    ours.load_galois_keys(save(keys))
    side.same(ours.rotate(save(a), 0), a)
    side.same(ours.rotate(save(a), 0), side.call("rotate_vector", a, 0, keys))
    steps = [3, -3, 7, 11, -100, 683, slots - 1, 1 - slots, slots // 2 - 1, slots // 2 + 3]
    for step in [*steps, *(int(s) for s in RNG.integers(1 - slots, slots, 5))]:
        side.same(ours.rotate(save(a), step), side.call("rotate_vector", a, step, keys))
    # A key for the step itself is taken where there is one. It gives other bits.
    keys = side.rotation_keys([7, 8, -1])
    ours.load_galois_keys(save(keys))
    side.same(ours.rotate(save(a), 7), side.call("rotate_vector", a, 7, keys))
    # Both refuse where a power of two is missing, and outside the slots.
    for step in (3, 2, 9, slots, -slots):
        with pytest.raises(REFUSED):
            side.call("rotate_vector", a, step, keys)
        with pytest.raises(ringmill.RingmillError, match="rotation by"):
            ours.rotate(save(a), step)


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_scales_out_of_bounds_are_refused_where_seal_refuses(case: Case) -> None:
    """Log scales lie on both sides of each level's bound. Ringmill refuses where SEAL does."""
    side, ours = seal(case), evaluator(case)
    refused = 0
    for level in range(side.levels + 1):
        bits = sum(case.bits[: level + 1])
        for log in (bits // 2 - 1, (bits - 1) / 2, bits / 2, bits / 2 + 0.25, (bits + 1) / 2):
            a = side.encrypt(values(case) / 2**30, level, 2.0**20)
            a.scale = 2.0**log
            plain = side.plain(values(case) / 2**30, level, 2.0**10)
            operations = [
                (ours.square, "square", (a,)),
                (ours.multiply, "multiply", (a, a)),
                (ours.mod_switch, "mod_switch_to_next", (a,)),
                (ours.rescale, "rescale_to_next", (a,)),
                (ours.negate, "negate", (a,)),
                (ours.multiply_plain, "multiply_plain", (a, plain)),
            ]
            for mine, name, operands in operations:
                try:
                    theirs = side.call(name, *operands)
                except REFUSED:
                    refused += 1
                    with pytest.raises(ringmill.RingmillError):
                        mine(*map(save, operands))
                    continue
                side.same(mine(*map(save, operands)), theirs)
    assert refused > 4


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_products_above_the_modulus_are_refused_as_out_of_bounds(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    bits = sum(case.bits[:-1])
    a = side.encrypt(values(case), scale=2.0 ** (bits // 2 + 1 - 20))
    plain = side.plain(values(case), scale=2.0 ** (bits // 2 + 19))
    wide = side.encrypt(values(case), scale=2.0 ** (bits // 2 + 1))
    for name, mine, operands in (
        ("multiply", ours.multiply, (wide, wide)),
        ("square", ours.square, (wide,)),
        ("multiply_plain", ours.multiply_plain, (wide, plain)),
    ):
        with pytest.raises(ValueError, match="scale out of bounds"):
            side.call(name, *operands)
        with pytest.raises(ringmill.DataError, match="scale"):
            mine(*map(save, operands))
    assert ours.multiply(save(a), save(a))


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_transparent_results_are_refused_where_seal_refuses(case: Case) -> None:
    side, ours = seal(case), evaluator(case)
    a = side.encrypt(values(case))
    negated = side.call("negate", a)
    zero = side.plain(np.zeros(case.degree // 2))
    for name, mine, operands in (
        ("sub", ours.sub, (a, a)),
        ("add", ours.add, (a, negated)),
        ("multiply_plain", ours.multiply_plain, (a, zero)),
    ):
        with pytest.raises((ValueError, RuntimeError), match="transparent"):
            side.call(name, *operands)
        with pytest.raises(ringmill.DataError, match="transparent"):
            mine(*map(save, operands))


def test_short_files_that_unpack_to_many_times_their_length_are_refused() -> None:
    side = seal(CASES[2])
    ours = SealEvaluator(side.parms, security_table="standard_2018")
    galois = side.rotation_keys([1])
    # Keys of zeros take 14 MiB each. Their header, parms_id and counts are right.
    members = zero_galois_keys(side, count=3)
    packed = zlib.compress(members, 9)
    header = b"\x5e\xa1\x10\x03\x06\x01\0\0" + (16 + len(packed)).to_bytes(8, "little")
    assert len(packed) * 500 < len(members)
    with pytest.raises(ringmill.FileError, match="exhaust memory"):
        ours.load_galois_keys(header + packed)
    before = ringmill.limits()
    ringmill.limits(memory="1MiB")
    try:
        tight = SealEvaluator(side.parms, security_table="standard_2018")
        with pytest.raises(MemoryError, match=r"1\.0 MiB"):
            tight.load_galois_keys(save(galois))
    finally:
        ringmill.limits(memory=before.memory)
    ours.load_galois_keys(save(galois))


def zero_galois_keys(side: Seal, count: int) -> bytes:
    """Returns the members of Galois keys whose residues are all zero, as SEAL writes them."""
    degree, primes = side.case.degree, len(side.case.bits)
    key_id = np.array(side.context.key_context_data().parms_id(), dtype="<u8").tobytes()
    words = 2 * primes * degree
    array = header_of(8 + 8 * words) + words.to_bytes(8, "little") + bytes(8 * words)
    fields = [2, degree, primes]
    cipher = key_id + b"\1" + b"".join(f.to_bytes(8, "little") for f in fields) + np.float64(1).tobytes() + array
    key = (primes - 1).to_bytes(8, "little") + (header_of(len(cipher)) + cipher) * (primes - 1)
    return key_id + degree.to_bytes(8, "little") + key * count + bytes(8 * (degree - count))


def header_of(members: int) -> bytes:
    return b"\x5e\xa1\x10\x03\x06\0\0\0" + (16 + members).to_bytes(8, "little")
