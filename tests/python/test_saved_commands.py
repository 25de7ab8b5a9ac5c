# SPDX-License-Identifier: Apache-2.0
"""The command takes what :meth:`Compiled.save` wrote: parameters, ranges, arrays of declared lengths, bootstrapping."""

from __future__ import annotations

import json

import pytest

import ringmill as rm


@rm.program
def real(x: rm.Encrypted, w: rm.Plain):
    return rm.sum(x * w, 8) * 0.5


@rm.program
def arrays(x: rm.Encrypted[rm.real[10]], p: rm.Plain[rm.real[3]]):
    return {"mean": rm.mean(x), "scaled": x * x}


@rm.program
def whole(x: rm.Encrypted[rm.integer[16]], w: rm.Plain[rm.integer[16]]):
    return rm.repeat(2, lambda y: y * x + w, x)


@rm.program
def byte(x: rm.Encrypted[rm.uint(8)], b: rm.Encrypted[rm.bit]):
    return x + b


@rm.program
def nibbles(x: rm.Encrypted[rm.uint(4)[10]]):
    return x * x, x + 1


@rm.program
def power(x: rm.Encrypted[rm.integer[4]]):
    return rm.repeat(3, lambda y: y * y * y, x)


def bootstrapped(target):
    setup = rm.bootstrapping("small", target=target)
    return power.compile(bootstrapping=setup, target=target)


# Each with the machine that times it.
SAVED = {
    "ckks": (lambda target: real.compile(slots=64, input_bound=1, target=target), "ring"),
    "ckks, arrays": (lambda target: arrays.compile(slots=16, input_bound=1, target=target), "ring"),
    **{
        f"{scheme}, {name}": (
            lambda target, scheme=scheme, program=program, options=options: program.compile(
                scheme=scheme, slots=16, target=target, **options
            ),
            "vector",
        )
        for scheme in ("bfv", "bgv")
        for name, program, options in (
            ("integers", whole, {"input_bound": 2}),
            ("bytes", byte, {}),
            ("arrays", nibbles, {}),
        )
    },
    "bgv, bootstrapped": (bootstrapped, "vector"),
}


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_program_is_compiled_run_and_timed(ringmill, tmp_path, name):
    make, machine = SAVED[name]
    path = tmp_path / "program.rmac"
    compiled = make(None)
    compiled.save(path)
    described = json.loads(ringmill("compile", path, "--json"))
    assert described["key_bytes"] == compiled.key_bytes
    assert described["scheme"]["name"] == compiled.scheme
    assert described["params"]["ciphertext_primes"] == compiled.params.ciphertext_primes
    # Without options it is what was saved.
    assert ringmill("compile", path) == path.read_text()
    ran = json.loads(ringmill("run", path, "--random-inputs", "--json"))
    assert ran["agrees"] is True
    made = make(machine)
    made.save(path)
    timed = json.loads(ringmill("sim", path, "--machine", machine, "--json"))
    assert timed["cycles"] > 0


def test_a_saved_program_that_bootstraps_takes_no_options(ringmill, tmp_path):
    path = tmp_path / "program.rmac"
    bootstrapped(None).save(path)
    said = ringmill("compile", path, "--security", "128", status=2)
    assert "it is compiled as it was saved" in said
