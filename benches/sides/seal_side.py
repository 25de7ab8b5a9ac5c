# SPDX-License-Identifier: Apache-2.0
"""Microsoft SEAL's side of `make bench`, through `tenseal.sealapi`, which is SEAL's own interface.

SEAL makes the keys and the operands and saves them with the result of every operation: our side must give the same
bits before anything is timed. Python's call costs under a microsecond; what it takes to convert lists of numbers for
`encode` and `decode` is measured apart and taken off.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tenseal.sealapi as seal
from serve import Group, close, fastest, operands, serve


def parameters(request: dict[str, Any]) -> seal.SEALContext:
    parms = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
    parms.set_poly_modulus_degree(1 << request["log_n"])
    parms.set_coeff_modulus([seal.Modulus(q) for q in request["moduli"]])
    context = seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.TC128)
    if not context.parameters_set():
        raise SystemExit("SEAL refuses the parameters")
    return context


def make(request: dict[str, Any]) -> Group:
    return integers(request) if "scheme" in request else approximate(request)


# `tenseal.sealapi` names no BGV.
SCHEMES = {"bfv": seal.SCHEME_TYPE.BFV, "bgv": seal.SCHEME_TYPE(3)}


def integers(request: dict[str, Any]) -> Group:
    """BFV or BGV, on slots."""
    folder, n = Path(request["folder"]), 1 << request["log_n"]
    parms = seal.EncryptionParameters(SCHEMES[request["scheme"]])
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(n, request["bits"]))
    parms.set_plain_modulus(request["plain"])
    context = seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.TC128)
    if not context.parameters_set():
        raise SystemExit("SEAL refuses the parameters")
    keygen = seal.KeyGenerator(context)
    public, relin, galois = seal.PublicKey(), seal.RelinKeys(), seal.GaloisKeys()
    keygen.create_public_key(public)
    keygen.create_relin_keys(relin)
    keygen.create_galois_keys([3], galois)  # the element of a rotation by one
    encoder, evaluator = seal.BatchEncoder(context), seal.Evaluator(context)
    encryptor, decryptor = seal.Encryptor(context, public), seal.Decryptor(context, keygen.secret_key())

    def encrypted(factor: int) -> seal.Ciphertext:
        plain, cipher = seal.Plaintext(), seal.Ciphertext()
        encoder.encode([i * factor % 65537 for i in range(n)], plain)
        encryptor.encrypt(plain, cipher)
        return cipher

    a, b, out = encrypted(3), encrypted(5), seal.Ciphertext()

    def multiply_relinearise() -> None:
        evaluator.multiply(a, b, out)
        evaluator.relinearize_inplace(out, relin)

    def multiply_relinearise_mod_switch() -> None:
        multiply_relinearise()
        evaluator.mod_switch_to_next_inplace(out)

    group = Group()
    product = multiply_relinearise if request["scheme"] == "bfv" else multiply_relinearise_mod_switch
    group.runs = {
        "add": lambda: evaluator.add(a, b, out),
        product.__name__: product,
        "rotate": lambda: evaluator.rotate_rows(a, 1, galois, out),
    }
    for name, run in group.runs.items():
        run()
        out.save(str(folder / f"{name}.seal"))

    # The client's values are those of the first operand, and the ones that our side encodes.
    values = [i * 3 % 65537 for i in range(n)]
    plain, other, opened, fresh = seal.Plaintext(), seal.Plaintext(), seal.Plaintext(), seal.Ciphertext()
    encoder.encode(values, plain)
    keys = {"secret": keygen.secret_key(), "public": public, "relin": relin, "galois": galois}
    for name, item in {"parms": parms, **keys, "a": a, "b": b, "plain": plain}.items():
        item.save(str(folder / f"{name}.seal"))
    group.runs |= {
        "encode": lambda: encoder.encode(values, other),
        "encrypt": lambda: encryptor.encrypt(plain, fresh),
        "decrypt": lambda: decryptor.decrypt(a, opened),
        "decode": lambda: encoder.decode_int64(plain),
    }
    group.equal["decode"] = list(encoder.decode_int64(plain)) == values

    # One value too many is refused after the list has been converted and before anything is computed.
    too_many = [*values, 0]

    def refused() -> None:
        with contextlib.suppress(Exception):
            encoder.encode(too_many, other)

    conversions(group, refused, np.array(values))
    return group


def conversions(group: Group, refused: Callable[[], None], values: np.ndarray) -> None:
    """What the binding takes to convert lists: `encode`'s by a call that fails after it, `decode`'s by numpy's like."""
    group.overhead = {"encode": fastest(refused), "decode": fastest(values.tolist)}
    group.facts["list_conversion_us"] = {name: round(t * 1e6, 1) for name, t in group.overhead.items()}


def approximate(request: dict[str, Any]) -> Group:
    """CKKS."""
    context, folder = parameters(request), Path(request["folder"])
    scale = 2.0 ** request["log2_scale"]
    keygen = seal.KeyGenerator(context)
    secret, public, relin, galois = keygen.secret_key(), seal.PublicKey(), seal.RelinKeys(), seal.GaloisKeys()
    keygen.create_public_key(public)
    keygen.create_relin_keys(relin)
    keygen.create_galois_keys([request["galois"]], galois)  # by Galois element
    encoder, evaluator = seal.CKKSEncoder(context), seal.Evaluator(context)
    encryptor, decryptor = seal.Encryptor(context, public, secret), seal.Decryptor(context, secret)
    slots = encoder.slot_count()

    def encrypted(values: list[float]) -> seal.Ciphertext:
        plain, cipher = seal.Plaintext(), seal.Ciphertext()
        encoder.encode(values, scale, plain)
        encryptor.encrypt(plain, cipher)
        return cipher

    a, b = (encrypted(values) for values in operands(slots))
    out = seal.Ciphertext()
    group = Group()

    def multiply_relinearise() -> None:
        evaluator.multiply(a, b, out)
        evaluator.relinearize_inplace(out, relin)

    def multiply_relinearise_rescale() -> None:
        multiply_relinearise()
        evaluator.rescale_to_next_inplace(out)

    group.runs = {
        "add": lambda: evaluator.add(a, b, out),
        "multiply": lambda: evaluator.multiply(a, b, out),
        "multiply_relinearise": multiply_relinearise,
        "rescale": lambda: evaluator.rescale_to_next(a, out),
        "multiply_relinearise_rescale": multiply_relinearise_rescale,
        "rotate": lambda: evaluator.rotate_vector(a, 1, galois, out),
    }
    for name, run in group.runs.items():
        run()
        out.save(str(folder / f"{name}.seal"))

    # The client's values are the ones our side encodes.
    values = [i % 1009 / 1009 - 0.5 for i in range(slots)]
    plain, decrypted = seal.Plaintext(), seal.Plaintext()
    encoder.encode(values, scale, plain)
    decryptor.decrypt(a, decrypted)
    saved = {"secret": secret, "public": public, "relin": relin, "galois": galois, "a": a, "b": b}
    for name, item in {**saved, "plain": plain, "decrypted": decrypted}.items():
        item.save(str(folder / f"{name}.seal"))

    fresh, opened, other = seal.Ciphertext(), seal.Plaintext(), seal.Plaintext()
    group.runs |= {
        "encode": lambda: encoder.encode(values, scale, other),
        "encrypt": lambda: encryptor.encrypt(plain, fresh),
        "encrypt_symmetric": lambda: encryptor.encrypt_symmetric(plain, fresh),
        "decrypt": lambda: decryptor.decrypt(a, opened),
        "decode": lambda: encoder.decode_double(plain),
    }
    group.equal["decode"] = close(encoder.decode_double(plain), values)

    # A scale below zero is refused after the list has been converted and before anything is computed.
    def refused() -> None:
        with contextlib.suppress(Exception):
            encoder.encode(values, -1.0, other)

    conversions(group, refused, np.array(values))
    return group


if __name__ == "__main__":
    serve(make)
