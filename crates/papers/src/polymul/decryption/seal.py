# SPDX-License-Identifier: Apache-2.0
"""SEAL's side of the decryption study: a key and a ciphertext in SEAL's own files, and what SEAL takes to decrypt it.

Arguments: a folder, the number of runs, the plain modulus, and for each set its degree and the bits of its one prime.
Prints a JSON object a set; times are microseconds, means of the runs.
"""

import json
import random
import sys
import time
from importlib.metadata import version
from pathlib import Path

import tenseal.sealapi as seal


def mean_us(runs: int, work) -> float:
    for _ in range(runs // 10 + 1):
        work()
    begin = time.perf_counter_ns()
    for _ in range(runs):
        work()
    return (time.perf_counter_ns() - begin) / runs / 1e3


def study(folder: Path, runs: int, t: int, n: int, bits: int) -> dict:
    parms = seal.EncryptionParameters(seal.SCHEME_TYPE.BFV)
    parms.set_poly_modulus_degree(n)
    parms.set_coeff_modulus(seal.CoeffModulus.Create(n, [bits]))
    parms.set_plain_modulus(t)
    context = seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.TC128)
    if not context.parameters_set():
        raise SystemExit(f"SEAL refuses n = {n} with a prime of {bits} bits")
    secret = seal.KeyGenerator(context).secret_key()
    message = [random.randrange(t) for _ in range(n)]
    terms = [f"{c:X}x^{i}" for i, c in enumerate(message) if c]
    plain = seal.Plaintext(" + ".join(terms[::-1]).replace("x^0", "") or "0")
    cipher, found = seal.Ciphertext(context), seal.Plaintext()
    seal.Encryptor(context, secret).encrypt_symmetric(plain, cipher)
    decryptor, evaluator = seal.Decryptor(context, secret), seal.Evaluator(context)
    decrypt_us = mean_us(runs, lambda: decryptor.decrypt(cipher, found))
    if found.to_string() != plain.to_string():
        raise SystemExit(f"SEAL decrypts another message at n = {n}")
    secret.save(str(folder / f"{n}-{bits}.secret"))
    cipher.save(str(folder / f"{n}-{bits}.cipher"))

    def there_and_back():
        evaluator.transform_to_ntt_inplace(cipher)
        evaluator.transform_from_ntt_inplace(cipher)

    # Both of the ciphertext's polynomials.
    transforms_us = mean_us(runs, there_and_back) / 2
    return {"message": message, "decrypt_us": decrypt_us, "transforms_us": transforms_us}


def main() -> None:
    folder, (runs, t, *sets) = Path(sys.argv[1]), map(int, sys.argv[2:])
    for n, bits in zip(sets[::2], sets[1::2], strict=True):
        found = study(folder, runs, t, n, bits)
        print(json.dumps({"version": f"SEAL of tenseal {version('tenseal')}", **found}))


main()
