"""The compiled half of the package."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__version__: str
MAX_SLOTS: int

class RingmillError(Exception): ...

class CompileError(RingmillError):
    file: str
    line: int

class ParameterError(RingmillError): ...
class DataError(RingmillError): ...
class KeysError(RingmillError): ...
class FileError(RingmillError): ...
class DeviceError(RingmillError): ...

# Of integers where the scheme is exact.
Vector = NDArray[np.complex128] | NDArray[np.int64]

class MacroBuilder:
    def __init__(self, name: str, slots: int, scheme: str) -> None: ...
    def input(self, name: str, encrypted: bool, file: str, line: int) -> int: ...
    def vector(self, values: NDArray[np.complex128], file: str, line: int) -> int: ...
    def scalar(self, value: float, file: str, line: int) -> int: ...
    def add(self, a: int, b: int, file: str, line: int) -> int: ...
    def sub(self, a: int, b: int, file: str, line: int) -> int: ...
    def mul(self, a: int, b: int, file: str, line: int) -> int: ...
    def neg(self, a: int, file: str, line: int) -> int: ...
    def conj(self, a: int, file: str, line: int) -> int: ...
    def rotate(self, a: int, steps: int, file: str, line: int) -> int: ...
    def polynomial(self, a: int, coefficients: list[float], file: str, line: int) -> int: ...
    def output(self, name: str, value: int, file: str, line: int) -> None: ...
    def finish(self) -> MacroProgram: ...

class MacroProgram:
    name: str
    slots: int
    scheme: str
    inputs: list[tuple[str, bool]]
    outputs: list[str]
    returned: str | None
    @staticmethod
    def from_text(text: str) -> MacroProgram: ...
    @staticmethod
    def load(path: str) -> MacroProgram: ...
    def to_text(self) -> str: ...

class Params:
    scheme: str
    log_n: int
    slots: int
    ciphertext_primes: list[int]
    special_primes: list[int]
    levels: int
    scale: float | None
    plain_modulus: int | None
    security: str

class Ciphertext:
    scheme: str
    key_id: str | None
    level: int
    scale: float | None
    limbs: NDArray[np.uint64]
    def save(self, path: str) -> None: ...
    @staticmethod
    def load(path: str, params: Params) -> Ciphertext: ...

class EvaluationKeys:
    key_id: str | None
    def save(self, path: str) -> None: ...
    @staticmethod
    def load(path: str, params: Params) -> EvaluationKeys: ...

class Keys:
    key_id: str | None
    evaluation_keys: EvaluationKeys
    slots: int
    complex: bool
    def encrypt(self, inputs: dict[str, Vector]) -> dict[str, Ciphertext]: ...
    def decrypt(self, name: str, ciphertext: Ciphertext) -> Vector: ...
    def noise_budget(self, name: str, ciphertext: Ciphertext) -> int: ...
    def decrypt_to_share(
        self, outputs: dict[str, Ciphertext], statistical_bits: int, decryptions: int
    ) -> dict[str, Vector]: ...
    def shared_bits(self, statistical_bits: int, decryptions: int) -> list[tuple[str, float]]: ...
    def measure(
        self, inputs: dict[str, Vector], outputs: dict[str, Ciphertext]
    ) -> list[tuple[str, float, float | None]]: ...
    def save_secret_key(self, path: str) -> None: ...

class CompiledProgram:
    name: str
    slots: int
    scheme: str
    outputs: list[str]
    returned: str | None
    params: Params
    key_bytes: int
    predicted_bits: list[tuple[str, float]] | None
    predicted_budget: list[tuple[str, float]] | None
    ranges: list[tuple[str, list[float] | list[int]]]
    def text(self, level: str, machine: str) -> str: ...
    def save(self, path: str, returned: str) -> None: ...
    def keygen(self) -> Keys: ...
    def load_secret_key(self, path: str) -> Keys: ...
    def run(
        self,
        ciphertexts: dict[str, Ciphertext],
        plain: dict[str, Vector],
        keys: EvaluationKeys,
        device: str,
        trace: str | None,
        progress: bool,
        spill: bool,
        why: str,
        checkpoint: tuple[str, float] | None,
        resume: str | None,
        expanded_bytes: int | None,
    ) -> tuple[dict[str, Ciphertext], list[str]]: ...

def compile_program(
    program: MacroProgram,
    params: Params | None,
    precision: int,
    integer_bits: int,
    input_bound: float,
    ranges: list[list[float] | None] | list[list[int]],
    sample: list[Vector] | None,
    margin: float,
    table: str,
    security: int,
    target: str | None,
) -> CompiledProgram: ...
def load_compiled(path: str, insecure: bool) -> CompiledProgram | None: ...
def evaluate_program(program: MacroProgram, inputs: list[Vector]) -> dict[str, Vector]: ...
def plain_modulus(log_n: int, bits: int) -> int: ...
def make_params(
    scheme: str,
    name: str | None,
    log_n: int | None,
    bits: list[int] | None,
    table: str,
    security: int,
    scale: float | None,
    plain_modulus: int | None,
    insecure: bool,
) -> Params: ...
def devices() -> list[str]: ...
def cli_main(
    arguments: list[str],
    trace: Callable[[Path, int | None, str | None, bool], tuple[str, list[tuple[str, int, int]]]],
) -> int: ...
def memory_limit(text: str | None) -> int: ...
