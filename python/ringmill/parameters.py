# SPDX-License-Identifier: Apache-2.0
"""Scheme parameters and devices, as a program's user names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ringmill import _ringmill
from ringmill._ringmill import Params
from ringmill.check import (
    arguments,
    closest,
    content,
    flag,
    guarded,
    instance,
    integer,
    items,
    number,
    optional,
    shown,
    text,
)
from ringmill.errors import DeviceError, FileError, ParameterError
from ringmill.schemes import SCHEMES

TABLES = optional(items(text(ParameterError), "a list of security tables", ParameterError))
guarded(
    "rm.params makes parameters",
    FileError,
    data=content,
    tables=TABLES,
    allow_insecure_parameters_for_tests_only=flag(ParameterError),
)(Params)


def params_made(name: str, value: Any) -> Params:
    """Checks a `params` argument."""
    cure = f"; write {name}=rm.params({shown(value)})" if isinstance(value, str) else ""
    return instance(Params, "parameters, as rm.params makes them", lambda said: ParameterError(f"{said}{cure}"))(
        name, value
    )


def device_name(name: str, value: Any) -> str:
    """Checks a `device` argument: text that names a known kind of device and a known machine."""
    device = text(DeviceError)(name, value)
    kind, colon, machine = device.partition(":")
    if kind == "cpu":
        return device
    if kind not in ("sim", "rtl") or not colon:
        raise DeviceError(
            f"{name}: there is no device {shown(device)}; there are cpu, cpu:N (N threads), sim:MACHINE (as sim:ring, "
            "simulated) and rtl:MACHINE (its RTL), and rm.devices() lists them"
        )
    machines = [known.partition(":")[2] for known in _ringmill.devices() if known.startswith("sim:")]
    if machine not in machines and not machine.endswith(".toml"):
        raise DeviceError(
            f"{name}: there is no machine {shown(machine)}; {closest(machine, machines)}; {kind}:FILE.toml is one of "
            "your own"
        )
    return device


@arguments(
    "rm.params",
    name=optional(text(ParameterError)),
    log_n=optional(integer(0, 255, ParameterError)),
    bits=optional(items(integer(0, 2**32 - 1, ParameterError), "a list of prime sizes", ParameterError)),
    special=integer(1, 255, ParameterError),
    dnum=optional(integer(1, 255, ParameterError)),
    table=optional(text(ParameterError)),
    security=integer(0, 2**32 - 1, ParameterError),
    scale=optional(number(ParameterError)),
    scheme=optional(text(ParameterError)),
    plain_modulus=optional(integer(0, 2**64 - 1, ParameterError)),
    allow_insecure_parameters_for_tests_only=flag(ParameterError),
)
def params(
    name: str | None = None,
    *,
    log_n: int | None = None,
    bits: Sequence[int] | None = None,
    special: int = 1,
    dnum: int | None = None,
    table: str | None = None,
    security: int = 128,
    scale: float | None = None,
    scheme: str | None = None,
    plain_modulus: int | None = None,
    allow_insecure_parameters_for_tests_only: bool = False,
) -> Params:
    """Returns a named parameter set, or one of your own sizes.

    ``"set1"`` (N = 2^14, 438 bits) and ``"set2"`` (N = 2^15, 546 bits) are those of the ring paper. Your own sizes are
    `log_n`, and `bits`, the sizes of the primes: first the ciphertext primes, last the special ones, as many as
    `special` says. They are checked at `security` bits under `table`: ``"guidelines_2024"`` (the default),
    ``"standard_2018"`` (which ``"set1"`` needs) or ``"estimator_2026"`` (our own estimates, small rings too).

    Key switching cuts ciphertexts into `dnum` digits, from 1 to the number of ciphertext primes. Without `dnum`, a
    digit has as many primes as there are special ones. Fewer digits make smaller keys. The special primes must have at
    least the bits of a digit, or be as many as its primes.

    `scheme` names the scheme. The default is CKKS, or with `plain_modulus` the first scheme of integers. Programs of
    whole numbers compute modulo the plain modulus, a prime below 2^60 that is 1 mod 2N. :func:`plain_modulus` finds
    one.

    Raises :class:`ParameterError` for parameters that are malformed or not secure.

    >>> import ringmill as rm
    >>> rm.params(log_n=14, bits=[60, 54, 54, 54, 54, 54, 54]).levels
    5
    >>> rm.params("set1", table="standard_2018").slots
    8192
    >>> rm.params(log_n=15, bits=[60, 40, 40, 40, 40, 60, 60], special=2, dnum=3).dnum
    3
    """
    if (name is None) == (log_n is None) or (log_n is None) != (bits is None):
        raise ParameterError('give either the name of a set, as in rm.params("set2"), or both log_n= and bits=')
    if name is not None and (special != 1 or dnum is not None):
        raise ParameterError(
            f"special= and dnum= are of parameters of your own, and {shown(name)} has its own; leave them out"
        )
    if bits is not None and special > 1 and special >= len(bits):
        raise ParameterError(
            f"special={special} leaves no ciphertext prime of {len(bits)}; give more bits=, or fewer special ones"
        )
    table = table or "guidelines_2024"
    insecure = allow_insecure_parameters_for_tests_only
    if scheme is None:
        scheme = next(s.name for s in SCHEMES if s.exact == (plain_modulus is not None))
    elif scheme not in (known := [s.name for s in SCHEMES]):
        raise ParameterError(f"there is no scheme {shown(scheme)}; {closest(scheme, known)}")
    own = (log_n, bits, special, dnum)
    return _ringmill.make_params(scheme, name, *own, table, security, scale, plain_modulus, insecure)


@arguments("rm.plain_modulus", log_n=integer(3, 17, ParameterError), bits=integer(2, 60, ParameterError))
def plain_modulus(log_n: int, bits: int) -> int:
    """Returns the largest prime of `bits` bits that programs of whole numbers can have as modulus at ring degree
    2^`log_n`.

    Integers from -t/2 to t/2 stand for the residues modulo t, so t limits the size of results.

    Raises :class:`ParameterError` if there is none. The prime is 1 mod 2N, and so has more than `log_n` + 1 bits.

    >>> import ringmill as rm
    >>> t = rm.plain_modulus(log_n=13, bits=20)
    >>> rm.params(log_n=13, bits=[50, 50, 60], plain_modulus=t).scheme
    'bfv'
    """
    return _ringmill.plain_modulus(log_n, bits)


@arguments("rm.devices")
def devices() -> list[str]:
    """Returns the devices that a program can run on, by the names that ``Compiled.run`` takes.

    >>> import ringmill as rm
    >>> "cpu" in rm.devices() and "sim:ring" in rm.devices()
    True
    """
    return _ringmill.devices()
