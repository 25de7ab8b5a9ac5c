# SPDX-License-Identifier: Apache-2.0
"""Runs the operations of `make bench` with OpenFHE, through its own wheel (a CPython 3.10 module).

Its parameters are made from sizes, not from primes. CKKS and BGV beside SEAL have the same ring degree, number and
sizes of ciphertext primes, one prime a digit of the key switching, and rescaling by hand (its fastest technique for
single operations). BFV has as many bits and the fastest variant. Bootstraps, gates and BGV at the top level of a
bootstrapping set have options of their own. Each operation's result is decrypted and compared with the plaintext. The
rows `encode`, `decrypt` and `rescale` are checked within another operation. Operations return new objects: that is
its interface.
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import openfhe as fhe
from serve import Group, close, fastest, operands, serve


def make(request: dict[str, Any]) -> Group:
    if "slots" in request:
        return bootstrap(request["slots"])
    if "set" in request:
        return levelled(request) if "scheme" in request else gates(request)
    return integers(request) if "scheme" in request else approximate(request)


# The options of the bootstrap that OpenFHE recommends: slots to coefficients first, an encapsulated sparse secret,
# three matrices each way. Scales of 54 bits are the largest that its table of security allows beside nine levels. They
# give its best precision.
SLOTS_FIRST, MATRICES, SCALE_BITS, DIGITS_OF_BOOTSTRAP, FREE_LEVELS = True, [3, 3], 54, 7, 9
# The levels that OpenFHE's removal of multiples of the modulus takes, with such a secret.
REMOVAL_LEVELS = 10


def bootstrap(slots: int) -> Group:
    """Makes a bootstrap of real numbers up to 1 in all slots. It leaves nine levels, since more levels would need
    scales of fewer bits.
    """
    parms = fhe.CCParamsCKKSRNS()
    parms.SetSecretKeyDist(fhe.SecretKeyDist.SPARSE_ENCAPSULATED)
    parms.SetSecurityLevel(fhe.SecurityLevel.HEStd_128_classic)
    parms.SetRingDim(2 * slots)
    parms.SetScalingModSize(SCALE_BITS)
    parms.SetFirstModSize(60)
    parms.SetScalingTechnique(fhe.ScalingTechnique.FLEXIBLEAUTO)
    parms.SetKeySwitchTechnique(fhe.KeySwitchTechnique.HYBRID)
    parms.SetNumLargeDigits(DIGITS_OF_BOOTSTRAP)
    depth = FREE_LEVELS + sum(MATRICES) + REMOVAL_LEVELS
    parms.SetMultiplicativeDepth(depth)
    context = fhe.GenCryptoContext(parms)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE", "ADVANCEDSHE", "FHE"):
        context.Enable(getattr(fhe.PKESchemeFeature, feature))
    keys = context.KeyGen()
    context.EvalBootstrapSetup(MATRICES, [0, 0], slots, 0, True, SLOTS_FIRST)
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalBootstrapKeyGen(keys.secretKey, slots)
    values = [(i % 201) / 100 - 1 for i in range(slots)]
    # The message is encrypted at the lowest level from which the map to coefficients can start.
    plain = context.MakeCKKSPackedPlaintext(values, 1, depth - 1 - MATRICES[1], None, slots)
    low = context.Encrypt(keys.publicKey, plain)
    fresh = context.EvalBootstrap(low)
    opened = context.Decrypt(fresh, keys.secretKey)
    opened.SetLength(slots)
    worst = max(abs(a - b) for a, b in zip(opened.GetRealPackedValue(), values, strict=True))
    group = Group()
    left = depth - fresh.GetLevel() - (fresh.GetNoiseScaleDeg() - 1)
    group.facts = {
        "levels": left - MATRICES[1],
        "least_bits": math.floor(-math.log2(worst) * 10) / 10,
        "digits": DIGITS_OF_BOOTSTRAP,
    }
    group.equal["real"] = worst < BOOTSTRAP_TOLERANCE
    group.runs["real"] = lambda: context.EvalBootstrap(low)
    return group


# The largest error of a bootstrapped number that counts as right. The precision itself is a fact of the row.
BOOTSTRAP_TOLERANCE = 1e-3


def gates(request: dict[str, Any]) -> Group:
    """Makes OpenFHE's NAND gate by GINX bootstrapping with its own set of 128 bits. It stands beside our rows with a
    set of at least 128 bits for booleans. The group is empty for other sets.
    """
    group = Group()
    sizes = request["set"]
    if sizes["message_bits"] or sizes["security_bits"] < 128:
        return group
    context = fhe.BinFHEContext()
    context.GenerateBinFHEContext(fhe.BINFHE_PARAMSET.STD128, fhe.BINFHE_METHOD.GINX)
    secret = context.KeyGen()
    context.BTKeyGen(secret)

    def nand(x: Any, y: Any) -> Any:
        return context.EvalBinGate(fhe.BINGATE.NAND, x, y)

    bits = [context.Encrypt(secret, bit) for bit in (0, 1)]
    right = all(
        context.Decrypt(secret, nand(bits[a], context.Encrypt(secret, b))) == 1 - (a & b)
        for a, b in product((0, 1), repeat=2)
    )
    x, y = (context.Encrypt(secret, 1) for _ in range(2))  # its gates refuse one ciphertext twice
    for row in request["rows"]:
        group.runs[row] = lambda: nand(x, y)
        group.equal[row] = right
    return group


def keyed(parms: Any) -> tuple[Any, Any]:
    """Returns a context, and its keys, with keys for products and for a rotation by one."""
    context = fhe.GenCryptoContext(parms)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE"):
        context.Enable(getattr(fhe.PKESchemeFeature, feature))
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalRotateKeyGen(keys.secretKey, [1])
    return context, keys


# OpenFHE's methods for products in BFV, and the numbers of key-switching digits that are worth a trial.
PRODUCTS, DIGITS = ("BEHZ", "HPS", "HPSPOVERQ", "HPSPOVERQLEVELED"), (2, 3, 7)


def of_depth(request: dict[str, Any], depth: int, variant: tuple[str, int]) -> Any:
    """Returns OpenFHE's BFV parameters for a depth, with a method for products and a number of digits."""
    parms = fhe.CCParamsBFVRNS()
    parms.SetSecurityLevel(fhe.SecurityLevel.HEStd_NotSet)  # by sizes, as asked
    parms.SetRingDim(1 << request["log_n"])
    parms.SetPlaintextModulus(request["plain"])
    parms.SetMultiplicativeDepth(depth)
    parms.SetScalingModSize(request["bits"][0])
    parms.SetMultiplicationTechnique(getattr(fhe.MultiplicationTechnique, variant[0]))
    parms.SetKeySwitchTechnique(fhe.KeySwitchTechnique.HYBRID)
    parms.SetNumLargeDigits(variant[1])
    return parms


def depth_with(request: dict[str, Any], bits: int) -> int:
    """Returns the depth for which OpenFHE takes ciphertext primes of this many bits in all."""
    for depth in range(1, 40):
        modulus = fhe.GenCryptoContext(of_depth(request, depth, (PRODUCTS[0], 2))).GetModulus()
        if round(math.log2(modulus)) >= bits:
            break
    if round(math.log2(modulus)) != bits:
        raise SystemExit(f"OpenFHE has no depth with {bits} bits of primes")
    return depth


def integers(request: dict[str, Any]) -> Group:
    """Makes the operations of BFV, in OpenFHE's fastest variant, or of BGV, on slots."""
    n, sizes = 1 << request["log_n"], request["bits"][:-1]
    values = [[i * factor % 65537 - 32768 for i in range(n)] for factor in (3, 5)]
    group = Group()
    if request["scheme"] == "bfv":
        depth, least = depth_with(request, sum(sizes)), math.inf
        for variant in product(PRODUCTS, DIGITS):
            trial, its_keys = keyed(of_depth(request, depth, variant))
            a = trial.Encrypt(its_keys.publicKey, trial.MakePackedPlaintext(values[0]))
            seconds = fastest(lambda: trial.EvalMult(a, a), 4)  # noqa: B023 - called at once
            if seconds < least:
                least, context, keys = seconds, trial, its_keys
                group.facts["variant"] = f"{variant[0]}, {variant[1]} digits"
    else:
        parms = fhe.CCParamsBGVRNS()
        parms.SetSecurityLevel(fhe.SecurityLevel.HEStd_NotSet)
        parms.SetRingDim(n)
        parms.SetPlaintextModulus(request["plain"])
        parms.SetMultiplicativeDepth(len(sizes) - 1)
        parms.SetFirstModSize(sizes[0])
        parms.SetScalingModSize(sizes[1])
        parms.SetScalingTechnique(fhe.ScalingTechnique.FIXEDMANUAL)
        parms.SetKeySwitchTechnique(fhe.KeySwitchTechnique.HYBRID)
        parms.SetNumLargeDigits(len(sizes))
        context, keys = keyed(parms)
    plain, other = map(context.MakePackedPlaintext, values)
    a, b = (context.Encrypt(keys.publicKey, p) for p in (plain, other))
    group.runs = {
        "add": lambda: context.EvalAdd(a, b),
        "multiply_relinearise": lambda: context.EvalMult(a, b),
        "multiply_relinearise_mod_switch": lambda: context.ModReduce(context.EvalMult(a, b)),
        "rotate": lambda: context.EvalRotate(a, 1),
        "encode": lambda: context.MakePackedPlaintext(values[0]),
        "encrypt": lambda: context.Encrypt(keys.publicKey, plain),
        "decrypt": lambda: context.Decrypt(a, keys.secretKey),
    }
    t, row = request["plain"], n // 2
    turned = [x for half in (values[0][:row], values[0][row:]) for x in half[1:] + half[:1]]
    times = [(x * y + t // 2) % t - t // 2 for x, y in zip(*values, strict=True)]
    total = [(x + y + t // 2) % t - t // 2 for x, y in zip(*values, strict=True)]
    expected = {"add": total, "multiply_relinearise": times, "rotate": turned, "encrypt": values[0]}
    if request["scheme"] == "bfv":
        del group.runs["multiply_relinearise_mod_switch"]
    else:
        expected["multiply_relinearise_mod_switch"] = times
    for name, result in expected.items():
        opened = context.Decrypt(group.runs[name](), keys.secretKey)
        opened.SetLength(n)
        group.equal[name] = opened.GetPackedValue() == result
    group.equal |= {"encode": group.equal["encrypt"], "decrypt": group.equal["encrypt"]}
    return group


# The bits of primes that OpenFHE may choose itself: as long as its arithmetic on words of 64 bits allows.
LONG = 57


def levelled(request: dict[str, Any]) -> Group:
    """Makes operations of BGV at the top level of a modulus with at least as many bits and as many digits as ours. The
    primes have the size with which OpenFHE is fastest. The plaintext modulus is one that OpenFHE can pack, which primes
    of 31 bits would not leave room for.
    """
    sizes, n = request["set"], 1 << request["set"]["log_n"]
    t = next(k * 2 * n + 1 for k in range(1, 1 << 20) if prime(k * 2 * n + 1))
    parms = fhe.CCParamsBGVRNS()
    parms.SetSecurityLevel(fhe.SecurityLevel.HEStd_NotSet)
    parms.SetRingDim(n)
    parms.SetPlaintextModulus(t)
    parms.SetMultiplicativeDepth(math.ceil(sizes["bits"] / LONG) - 1)
    parms.SetFirstModSize(LONG)
    parms.SetScalingModSize(LONG)
    parms.SetScalingTechnique(fhe.ScalingTechnique.FIXEDMANUAL)
    parms.SetKeySwitchTechnique(fhe.KeySwitchTechnique.HYBRID)
    parms.SetNumLargeDigits(sizes["digits"])
    context, keys = keyed(parms)
    x, y = ([i * factor % 65537 - 32768 for i in range(n)] for factor in (3, 5))
    plain, other = map(context.MakePackedPlaintext, (x, y))
    a, b = (context.Encrypt(keys.publicKey, p) for p in (plain, other))
    three = context.EvalMultNoRelin(a, b)
    group = Group()
    group.runs = {
        "key_switch": lambda: context.Relinearize(three),
        "multiply_relinearise": lambda: context.EvalMult(a, b),
        "permute": lambda: context.EvalRotate(a, 1),
        "multiply_plain": lambda: context.EvalMult(a, other),
        "mod_switch": lambda: context.ModReduce(a),
    }
    times = [(u * v + t // 2) % t - t // 2 for u, v in zip(x, y, strict=True)]
    turned = [u for half in (x[: n // 2], x[n // 2 :]) for u in half[1:] + half[:1]]
    expected = {name: times for name in ("key_switch", "multiply_relinearise", "multiply_plain")}
    expected |= {"permute": turned, "mod_switch": x}
    for name, result in expected.items():
        opened = context.Decrypt(group.runs[name](), keys.secretKey)
        opened.SetLength(n)
        group.equal[name] = opened.GetPackedValue() == result
    return group


def prime(x: int) -> bool:
    return x > 1 and all(x % d for d in range(2, math.isqrt(x) + 1))


def approximate(request: dict[str, Any]) -> Group:
    """Makes the operations of CKKS."""
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
    context, keys = keyed(parms)
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
    # OpenFHE's rescale divides out the scale that a multiplication added, so it is timed on a product.
    multiplied = context.EvalMult(a, b)
    group.runs["rescale"] = lambda: context.Rescale(multiplied)
    group.equal["rescale"] = group.equal["multiply_relinearise_rescale"]
    return group


if __name__ == "__main__":
    serve(make)
