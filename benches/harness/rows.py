# SPDX-License-Identifier: Apache-2.0
"""The rows of the table: what is compared, at which sizes, on how many threads."""

from __future__ import annotations

from dataclasses import dataclass

from harness.tasks import PROGRAMS

CKKS_SETS = ("set1", "set2")
# Operations on ciphertexts, then the client's.
CKKS_ROWS = (
    "add",
    "multiply",
    "multiply_relinearise",
    "rescale",
    "multiply_relinearise_rescale",
    "rotate",
    "encode",
    "encrypt",
    "encrypt_symmetric",
    "decrypt",
    "decode",
)
# BFV and BGV with 7 ciphertext primes and one special at N = 2^14, a plaintext modulus of 20 bits.
CLIENT_ROWS = ("encode", "encrypt", "decrypt", "decode")
INTEGER_ROWS = {
    "bfv": ("add", "multiply_relinearise", "rotate", *CLIENT_ROWS),
    "bgv": ("add", "multiply_relinearise_mod_switch", "rotate", *CLIENT_ROWS),
}
# Bootstraps: the set's own power of two, then a prime ciphertext modulus; m bits of the secret a step.
TFHE_NANDS = ("nand", "nand_m2", "nand_m3", "nand_prime", "nand_prime_m2", "nand_prime_m3")
TFHE_ROWS = {
    "tfhe_library_2020_below_128_bits": TFHE_NANDS,
    "boolean_p64": ("nand", "nand_prime", "nand_prime_m2"),
    "gates": ("nand",),
    "message_2_carry_2": ("lookup", "lookup_prime"),
}
# Operations at the top level of the BASALISC paper's set; thin bootstraps of the sets, and of those that fheanor has.
BGV_OPERATIONS = ("key_switch", "multiply_relinearise", "permute", "multiply_plain", "mod_switch")
BGV_SETS = ("basalisc", "many-slots", "medium", "small")
# Whose bootstrap HElib is set beside.
BGV_OF_THE_PAPER = "basalisc"
BGV_COMPARED = tuple(f"insecure-comparison-{log_n}" for log_n in (13, 14, 15))
# Bootstraps of CKKS by these sets, with real numbers in all slots.
CKKS_BOOTSTRAPS = ("deep", "precise")
# The set that bootstraps of peers are set beside.
CKKS_COMPARED = "deep"
# On integers of 16 bits under the set `circuits`; with two threads also `and`, whose bootstraps are independent.
CIRCUIT_ROWS = ("add", "multiply", "maximum", "divide")
NTT_LOG_N = tuple(range(10, 17))
NTT_BITS = (30, 50, 60)
# log2 N, limbs (as many targets), bits.
BASEXT_CASES = ((16, 17, 60), (14, 7, 60))


@dataclass(frozen=True)
class Row:
    """One row of ours. `name` is what the sides call it within its group."""

    group: str
    case: str
    name: str
    threads: int = 1

    @property
    def id(self) -> str:
        """What `--only` matches: `ntt.30.14.forward`, `ckks.set1.rotate`, `basext.16.17.60.extend.threads2`."""
        threads = "" if self.threads == 1 else f".threads{self.threads}"
        return f"{self.group}.{self.case}.{self.name}{threads}"


def all_rows() -> list[Row]:
    ntt = [
        Row("ntt", f"{bits}.{log_n}", name)
        for bits in NTT_BITS
        for log_n in NTT_LOG_N
        for name in ("forward", "inverse")
    ]
    ckks = [Row("ckks", name, row) for name in CKKS_SETS for row in CKKS_ROWS]
    ckks += [Row("ckks", name, "multiply_relinearise", threads=2) for name in CKKS_SETS]
    ckks += [Row("ckks.bootstrap", name, "real", threads) for name in CKKS_BOOTSTRAPS for threads in (1, 2)]
    cases = [".".join(map(str, case)) for case in BASEXT_CASES]
    basext = [
        Row("basext", case, name, threads)
        for case in cases
        for name, threads in (("extend", 1), ("extend", 2), ("extend_fast", 1))
    ]
    integers = [Row("integers", scheme, name) for scheme, names in INTEGER_ROWS.items() for name in names]
    tfhe = [Row("tfhe", name, row) for name, rows in TFHE_ROWS.items() for row in rows]
    bgv = [Row("bgv", "basalisc", name, threads) for threads in (1, 2) for name in BGV_OPERATIONS]
    bgv += [Row("bgv", name, "bootstrap") for name in BGV_SETS + BGV_COMPARED]
    bgv += [Row("bgv", "basalisc", "bootstrap", threads=2)]
    circuits = [Row("circuits", "uint16", name) for name in CIRCUIT_ROWS]
    circuits += [Row("circuits", "uint16", name, threads=2) for name in ("and", "multiply")]
    programs = [Row("programs", name, "run") for name in PROGRAMS]
    return ntt + ckks + integers + bgv + basext + tfhe + circuits + programs


def choose(only: str | None) -> list[Row]:
    """The rows whose id begins with one of the words of `only` (separated by commas), or holds it after a dot."""
    rows = all_rows()
    if not only:
        return rows
    words = [word.strip() for word in only.split(",") if word.strip()]
    for word in words:
        if not any(matches(row, word) for row in rows):
            raise SystemExit(f"no row matches {word!r}; rows are named like {rows[0].id}, {rows[-1].id}")
    return [row for row in rows if any(matches(row, word) for word in words)]


def matches(row: Row, word: str) -> bool:
    return f".{row.id}.".find(f".{word.strip('.')}.") >= 0
