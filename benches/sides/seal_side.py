# SPDX-License-Identifier: Apache-2.0
"""Runs the operations of `make bench` with Microsoft SEAL, through `tenseal.sealapi`, which is SEAL's own interface.

SEAL makes the keys and the operands, and saves them with the result of every operation on ciphertexts. Our side must
give the same bits before such an operation is timed. A call from Python costs under a microsecond. The
time to convert lists of numbers for `encode` and `decode` is measured apart and subtracted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tenseal.sealapi as seal
from serve import Group, close, fastest, operands, serve


class Library:
    """SEAL with parameters of 128-bit security, its keys, and the folder where our side finds what SEAL saves."""

    def __init__(self, parms: seal.EncryptionParameters, galois_element: int, folder: Path) -> None:
        self.folder = folder
        self.context = context = seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.TC128)
        if not context.parameters_set():
            raise SystemExit("SEAL refuses the parameters")
        keygen = seal.KeyGenerator(context)
        self.secret, self.public = keygen.secret_key(), seal.PublicKey()
        self.relin, self.galois = seal.RelinKeys(), seal.GaloisKeys()
        keygen.create_public_key(self.public)
        keygen.create_relin_keys(self.relin)
        keygen.create_galois_keys([galois_element], self.galois)
        self.evaluator = seal.Evaluator(context)
        self.encryptor = seal.Encryptor(context, self.public, self.secret)
        self.decryptor = seal.Decryptor(context, self.secret)

    def encrypted(self, plain: seal.Plaintext) -> seal.Ciphertext:
        cipher = seal.Ciphertext()
        self.encryptor.encrypt(plain, cipher)
        return cipher

    def save(self, **items: Any) -> None:
        """Writes the keys and these objects, each to the file of its name."""
        keys = {"secret": self.secret, "public": self.public, "relin": self.relin, "galois": self.galois}
        for name, item in {**keys, **items}.items():
            item.save(str(self.folder / f"{name}.seal"))

    def save_results(self, group: Group, out: seal.Ciphertext) -> None:
        """Runs each row of the group and writes the result that it leaves in `out`."""
        for name, run in group.runs.items():
            run()
            out.save(str(self.folder / f"{name}.seal"))


def make(request: dict[str, Any]) -> Group:
    return integers(request) if "scheme" in request else approximate(request)


# `tenseal.sealapi` has no name for BGV, whose number is 3.
SCHEMES = {"bfv": seal.SCHEME_TYPE.BFV, "bgv": seal.SCHEME_TYPE(3)}


def integers(request: dict[str, Any]) -> Group:
    """Makes the operations of BFV or BGV, on slots."""
    n = 1 << request["log_n"]
    parms = seal.EncryptionParameters(SCHEMES[request["scheme"]])
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(n, request["bits"]))
    parms.set_plain_modulus(request["plain"])
    library = Library(parms, 3, Path(request["folder"]))  # the element of a rotation by one
    encoder, evaluator = seal.BatchEncoder(library.context), library.evaluator
    encryptor, decryptor = library.encryptor, library.decryptor

    def encoded(values: list[int]) -> seal.Plaintext:
        plain = seal.Plaintext()
        encoder.encode(values, plain)
        return plain

    # The client's values are those of the first operand. Our side encodes the same values.
    values = [i * 3 % 65537 for i in range(n)]
    plain = encoded(values)
    a, b = library.encrypted(plain), library.encrypted(encoded([i * 5 % 65537 for i in range(n)]))
    out = seal.Ciphertext()

    def multiply_relinearise() -> None:
        evaluator.multiply(a, b, out)
        evaluator.relinearize_inplace(out, library.relin)

    def multiply_relinearise_mod_switch() -> None:
        multiply_relinearise()
        evaluator.mod_switch_to_next_inplace(out)

    group = Group()
    product = multiply_relinearise if request["scheme"] == "bfv" else multiply_relinearise_mod_switch
    group.runs = {
        "add": lambda: evaluator.add(a, b, out),
        product.__name__: product,
        "rotate": lambda: evaluator.rotate_rows(a, 1, library.galois, out),
    }
    library.save_results(group, out)
    library.save(parms=parms, a=a, b=b, plain=plain)

    other, opened, fresh = seal.Plaintext(), seal.Plaintext(), seal.Ciphertext()
    group.runs |= {
        "encode": lambda: encoder.encode(values, other),
        "encrypt": lambda: encryptor.encrypt(plain, fresh),
        "decrypt": lambda: decryptor.decrypt(a, opened),
        "decode": lambda: encoder.decode_int64(plain),
    }
    group.equal["decode"] = list(encoder.decode_int64(plain)) == values
    # One value too many is refused after the list has been converted and before anything is computed.
    too_many = [*values, 0]
    conversions(group, lambda: encoder.encode(too_many, other), values)
    return group


def conversions(group: Group, refused: Callable[[], None], values: list[Any]) -> None:
    """Measures the time in which the binding converts lists, and stores it as overhead. For `encode` it is that of a
    call that fails after the conversion, for `decode` that of numpy's conversion to a list.
    """

    def failing() -> None:
        with contextlib.suppress(Exception):
            refused()

    group.overhead = {"encode": fastest(failing), "decode": fastest(np.array(values).tolist)}
    group.facts["list_conversion_us"] = {name: round(t * 1e6, 1) for name, t in group.overhead.items()}


def approximate(request: dict[str, Any]) -> Group:
    """Makes the operations of CKKS."""
    parms = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
    parms.set_poly_modulus_degree(1 << request["log_n"])
    parms.set_coeff_modulus([seal.Modulus(q) for q in request["moduli"]])
    library = Library(parms, request["galois"], Path(request["folder"]))
    encoder, evaluator = seal.CKKSEncoder(library.context), library.evaluator
    encryptor, decryptor = library.encryptor, library.decryptor
    scale, slots = 2.0 ** request["log2_scale"], encoder.slot_count()

    def encoded(values: list[float]) -> seal.Plaintext:
        plain = seal.Plaintext()
        encoder.encode(values, scale, plain)
        return plain

    a, b = (library.encrypted(encoded(values)) for values in operands(slots))
    out = seal.Ciphertext()
    group = Group()

    def multiply_relinearise() -> None:
        evaluator.multiply(a, b, out)
        evaluator.relinearize_inplace(out, library.relin)

    def multiply_relinearise_rescale() -> None:
        multiply_relinearise()
        evaluator.rescale_to_next_inplace(out)

    group.runs = {
        "add": lambda: evaluator.add(a, b, out),
        "multiply": lambda: evaluator.multiply(a, b, out),
        "multiply_relinearise": multiply_relinearise,
        "rescale": lambda: evaluator.rescale_to_next(a, out),
        "multiply_relinearise_rescale": multiply_relinearise_rescale,
        "rotate": lambda: evaluator.rotate_vector(a, 1, library.galois, out),
    }
    library.save_results(group, out)
    # The client's values are those that our side encodes.
    values = [i % 1009 / 1009 - 0.5 for i in range(slots)]
    plain, decrypted = encoded(values), seal.Plaintext()
    decryptor.decrypt(a, decrypted)
    library.save(a=a, b=b, plain=plain, decrypted=decrypted)

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
    conversions(group, lambda: encoder.encode(values, -1.0, other), values)
    return group


if __name__ == "__main__":
    serve(make)
