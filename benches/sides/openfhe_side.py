"""OpenFHE's side of `make bench`, through its own wheel (a CPython 3.10 module).

Its parameters are made from sizes, not from primes: the same ring degree, number and sizes of ciphertext primes, one
prime a digit of the key switching, rescaling by hand (its fastest technique for single operations). Every result is
decrypted and compared with the plaintext. Its operations return new objects: that is its interface.
"""

from __future__ import annotations

from typing import Any

import openfhe as fhe
from serve import Group, close, operands, serve


def make(request: dict[str, Any]) -> Group:
    sizes = [q.bit_length() for q in request["moduli"]]
    parms = fhe.CCParamsCKKSRNS()
    parms.SetSecurityLevel(fhe.SecurityLevel.HEStd_NotSet)  # by sizes, as asked
    parms.SetRingDim(1 << request["log_n"])
    parms.SetMultiplicativeDepth(len(sizes) - 2)
    parms.SetFirstModSize(sizes[0])
    parms.SetScalingModSize(sizes[1])
    parms.SetScalingTechnique(fhe.ScalingTechnique.FIXEDMANUAL)
    parms.SetKeySwitchTechnique(fhe.KeySwitchTechnique.HYBRID)
    parms.SetNumLargeDigits(len(sizes) - 1)
    parms.SetBatchSize(1 << (request["log_n"] - 1))
    context = fhe.GenCryptoContext(parms)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE"):
        context.Enable(getattr(fhe.PKESchemeFeature, feature))
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalRotateKeyGen(keys.secretKey, [1])

    slots = 1 << (request["log_n"] - 1)
    va, vb = operands(slots)
    plain = context.MakeCKKSPackedPlaintext(va)
    a = context.Encrypt(keys.publicKey, plain)
    b = context.Encrypt(keys.publicKey, context.MakeCKKSPackedPlaintext(vb))
    total = [x + y for x, y in zip(va, vb, strict=True)]
    product = [x * y for x, y in zip(va, vb, strict=True)]

    group = Group()
    group.runs = {
        "add": lambda: context.EvalAdd(a, b),
        "multiply": lambda: context.EvalMultNoRelin(a, b),
        "multiply_relinearise": lambda: context.EvalMult(a, b),
        "multiply_relinearise_rescale": lambda: context.Rescale(context.EvalMult(a, b)),
        "rotate": lambda: context.EvalRotate(a, 1),
        "encrypt": lambda: context.Encrypt(keys.publicKey, plain),
        "encode": lambda: context.MakeCKKSPackedPlaintext(va),
    }
    expected = {
        "add": total,
        "multiply": product,
        "multiply_relinearise": product,
        "multiply_relinearise_rescale": product,
        "rotate": va[1:] + va[:1],
        "encrypt": va,
    }
    for name, values in expected.items():
        opened = context.Decrypt(group.runs[name](), keys.secretKey)
        opened.SetLength(slots)
        group.equal[name] = close(opened.GetRealPackedValue(), values)
    group.equal["encode"] = group.equal["encrypt"]
    # Its rescale drops what a multiplication added: it is timed on a product.
    multiplied = context.EvalMult(a, b)
    group.runs["rescale"] = lambda: context.Rescale(multiplied)
    group.equal["rescale"] = group.equal["multiply_relinearise_rescale"]
    return group


if __name__ == "__main__":
    serve(make)
