# SPDX-License-Identifier: Apache-2.0
"""Lists the rows of the table: what is compared, at which sizes, on how many threads."""

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
# TFHE bootstraps by name: `prime` stands for a prime ciphertext modulus (else it is the set's power of two), m2 and m3
# for two and three bits of the secret in a step.
TFHE_NANDS = ("nand", "nand_m2", "nand_m3", "nand_prime", "nand_prime_m2", "nand_prime_m3")
TFHE_ROWS = {
    "tfhe_library_2020_below_128_bits": TFHE_NANDS,
    "boolean_p64": ("nand", "nand_prime", "nand_prime_m2"),
    "gates": ("nand",),
    "message_2_carry_2": ("lookup", "lookup_prime"),
}
# Operations of BGV at the top level of the BASALISC paper's set. Below are the sets whose thin bootstraps are measured,
# and the sets that fheanor can have too.
BGV_OPERATIONS = ("key_switch", "multiply_relinearise", "permute", "multiply_plain", "mod_switch")
BGV_SETS = ("basalisc", "many-slots", "medium", "small")
# The set whose bootstrap stands beside HElib's.
BGV_OF_THE_PAPER = "basalisc"
BGV_COMPARED = tuple(f"insecure-comparison-{log_n}" for log_n in (13, 14, 15))
# The sets whose CKKS bootstraps are measured, with real numbers in all slots.
CKKS_BOOTSTRAPS = ("deep", "precise")
# The set whose bootstrap stands beside those of peers.
CKKS_COMPARED = "deep"
# Operations on integers of 16 bits under the set `circuits`, on one thread. Two threads measure `multiply`, and `and`,
# whose bootstraps are independent.
CIRCUIT_ROWS = ("add", "multiply", "maximum", "divide")
NTT_LOG_N = tuple(range(10, 17))
NTT_BITS = (30, 50, 60)
# log2 N, limbs (as many targets), bits.
BASEXT_CASES = ((16, 17, 60), (14, 7, 60))


@dataclass(frozen=True)
class Row:
    """A row of the table. `name` is its name on the sides, within its group."""

    group: str
    case: str
    name: str
    threads: int = 1

    @property
    def id(self) -> str:
        """Names the task for `--only`: `ntt.30.14.forward`, `ckks.set1.rotate`, `basext.16.17.60.extend.threads2`."""
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
    """Returns the rows whose id has one of the words of `only` (separated by commas) as a whole part or several whole
    parts between dots. Ends the program if a word names no row.
    """
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
