# SPDX-License-Identifier: Apache-2.0
"""Key-switching digits and special primes: given, and chosen by time or by the size of keys."""

import math

import numpy as np
import pytest

import ringmill as rm


@rm.program
def power(x: rm.Encrypted):
    for _ in range(6):
        x = x * x
    return x + rm.rotate(x, 1)


@rm.program
def whole(x: rm.Encrypted[rm.integer[64]]):
    y = x * x * x
    return y + rm.rotate(y, 1)


def test_special_primes_and_digits_are_said():
    bits = [60, 40, 40, 40, 40]
    for special, dnum in ((5, 1), (3, 2), (2, 3), (2, 4), (1, 5)):
        params = rm.params(log_n=15, bits=[*bits, *[60] * special], special=special, dnum=dnum)
        assert (params.dnum, len(params.special_primes), params.levels) == (dnum, special, 4)
    assert rm.params(log_n=15, bits=[*bits, 60, 60], special=2).dnum == 3
    assert rm.params(log_n=15, bits=[*bits, 60]).dnum == 5
    for special, dnum, says in (
        (1, 2, "product of the special primes is 60 bits, expected at least 140 bits"),
        (2, 6, "dnum is 6, expected 1 to 5"),
        (7, None, "special=7 leaves no ciphertext prime of 7"),
    ):
        bits_of_all = [*bits, *[60] * min(special, 2)]
        with pytest.raises(rm.ParameterError, match=says):
            rm.params(log_n=15, bits=bits_of_all, special=special, dnum=dnum)
    with pytest.raises(rm.ParameterError, match="has its own"):
        rm.params("set2", dnum=3)


@pytest.mark.parametrize(("program", "slots", "most"), [(power, 16, 1), (whole, 64, 3)])
def test_programs_compute_the_same_with_any_digits(program, slots, most):
    options = {"slots": slots, "ranges": {"x": (-most, most)}}
    fast = program.compile(**options)
    small = program.compile(prefer="keys", **options)
    limited = program.compile(keys=small.key_bytes, **options)
    assert small.key_bytes <= fast.key_bytes
    assert limited.key_bytes <= small.key_bytes
    x = np.linspace(-1, 1, 16) if program is power else np.arange(64) % 7 - 3
    for compiled in (fast, small, limited):
        client = compiled.keygen()
        run = compiled.run(client.encrypt(x=x))
        found = client.decrypt(run)
        powers = x**64 if program is power else x**3
        assert np.allclose(found, powers + np.roll(powers, -1), atol=1e-4 if program is power else 0)
        assert compiled.params.dnum <= len(compiled.params.ciphertext_primes)
        largest = math.prod(compiled.params.special_primes)
        assert largest.bit_length() >= max(compiled.params.ciphertext_primes).bit_length()
    with pytest.raises(rm.CompileError, match=r"evaluation keys of this program take at least .* allows 1\.0 KiB"):
        program.compile(keys="1KiB", **options)


def test_wishes_that_are_none_are_refused():
    with pytest.raises(rm.ParameterError, match=r"no preference 'sped'; did you mean `speed`\?"):
        power.compile(slots=16, prefer="sped")
    with pytest.raises(rm.RingmillError, match="keys"):
        power.compile(slots=16, keys="many")
    with pytest.raises(rm.RingmillError, match="keys"):
        power.compile(slots=16, keys=-1)
    given = rm.params(log_n=14, bits=[60, 40, 60])
    for option in ({"prefer": "keys"}, {"keys": 1 << 30}):
        with pytest.raises(rm.ParameterError, match="params= is given; leave one"):
            power.compile(given, slots=16, **option)
