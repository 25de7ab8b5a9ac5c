# SPDX-License-Identifier: Apache-2.0
"""Tests types of encrypted integers from circuit to circuit, and from encryption to decryption."""

import hashlib
import operator
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm

TOY = rm.circuit_params(toy_for_tests_only=True)
BITS = rm.circuit_params("circuit_bits", toy_for_tests_only=True)
U4, U8 = rm.uint(4), rm.uint(8)
LONG = int(os.environ.get("RINGMILL_FUZZ_SECONDS", "0"))


@rm.circuit
def product(x: rm.Encrypted[U8], y: rm.Encrypted[U8]):
    return x * y


@rm.circuit
def total(values: rm.Encrypted[U8[3]], factor: rm.Encrypted[U4]):
    return rm.add_all(values) * factor.to(U8)


def test_a_circuit_in_a_circuit_keeps_its_types() -> None:
    assert product(15, 15) == 225

    @rm.circuit
    def converted(x: rm.Encrypted[U4]):
        return product(x.to(U8), x.to(U8))

    @rm.circuit
    def known(x: rm.Encrypted[U8]):
        # Known numbers take the parameters' types. So does the result for two known numbers.
        return product(x, 3), product(20, y=x), total([x, 1, np.int64(2)], 5), total(np.array([x, x, 7]), 2)

    assert converted(15) == 225
    assert known(9) == (27, 180, 60, 50)


# Calls inside a circuit with x of uint(4) and y of uint(8), and the message of each refusal.
REFUSED: dict[str, tuple[Any, str]] = {
    "narrow": (
        lambda x, y: product(x, x),
        r"argument x of product is rm\.uint\(4\), expected rm\.uint\(8\); convert it, as product\(x\.to\(rm\.uint",
    ),
    "one narrow": (lambda x, y: product(y, x), "argument y of product is"),
    "signed": (lambda x, y: product(y, y.to(rm.sint(8))), r"is rm\.sint\(8\), expected rm\.uint\(8\)"),
    "bit": (lambda x, y: product(y, y < 3), r"is rm\.bit, expected rm\.uint\(8\)"),
    "constant": (lambda x, y: product(y, 256), "256 is no value of"),
    "float": (lambda x, y: product(y, 1.0), "argument y of product must be an integer, .*write 1"),
    "none": (lambda x, y: product(y, None), "argument y of product must be an integer"),
    "list for one": (lambda x, y: product(y, [y]), "argument y of product must be an integer"),
    "short list": (lambda x, y: total([y, y], x), r"must be a list of 3 integers of rm\.uint\(8\), and is 2 of them"),
    "long list": (lambda x, y: total([y] * 4, x), "and is 4 of them"),
    "no list": (lambda x, y: total(y, x), "must be a list of 3 integers"),
    "narrow element": (lambda x, y: total([y, x, y], x), r"argument values\[1\] of total is rm\.uint\(4\)"),
    "missing": (lambda x, y: product(y), "missing a required argument"),
    "another circuit": (lambda x, y: product(y, STRANGER[0]), "of another circuit"),
}
STRANGER: list[Any] = []


@rm.circuit
def leaking(x: rm.Encrypted[U8]):
    STRANGER.append(x)
    return x


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_at_the_call(name: str) -> None:
    leaking.compile(TOY, failure=-40)
    body, says = REFUSED[name]

    @rm.circuit
    def outer(x: rm.Encrypted[U4], y: rm.Encrypted[U8]):
        return body(x, y)

    with pytest.raises(rm.RingmillError, match=says) as refused:
        outer.compile(TOY, failure=-40)
    if isinstance(refused.value, rm.CompileError):
        assert refused.value.line == body.__code__.co_firstlineno


def test_what_an_inner_circuit_returns_is_checked() -> None:
    @rm.circuit
    def wrong(x: rm.Encrypted[U8]):
        return 5

    @rm.circuit
    def outer(x: rm.Encrypted[U8]):
        return x + wrong(x)

    with pytest.raises(rm.CompileError, match="output out of wrong must be encrypted integers"):
        outer.compile(TOY, failure=-40)


def converted(value: int, kind: Any) -> int:
    low, high = kind.ends
    return (value - low) % (high - low + 1) + low


def quotient(a: int, b: int) -> int:
    """The quotient rounded towards 0. Division by 0 gives -1, in which all bits are 1."""
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# Operations on encrypted integers of one type, and on known ones before they wrap around.
OPERATIONS: list[tuple[Any, Any]] = [
    *((of, of) for of in (operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor)),
    (rm.minimum, min),
    (rm.maximum, max),
    (lambda a, b: rm.select(a < b, b, a), max),
    (lambda a, b: rm.select(a == b, a, b), lambda a, b: b),
    (lambda a, b: a >> 1, lambda a, b: a >> 1),
    (lambda a, b: -a, lambda a, b: -a),
    (lambda a, b: ~b, lambda a, b: ~b),
    (lambda a, b: a.quotient(b), quotient),
    (lambda a, b: a.remainder(b), lambda a, b: a - b * quotient(a, b) if b else a),
]


@pytest.mark.parametrize(
    ("turns", "widest"),
    [(60, 10), pytest.param(60 * LONG, 64, marks=pytest.mark.skipif(not LONG, reason="long: make full runs it"))],
)
def test_random_circuits_in_circuits_of_all_types(turns: int, widest: int) -> None:
    rng = random.Random(7)
    for turn in range(turns):
        kinds = [rng.choice([rm.uint, rm.sint])(rng.randint(1, widest)) for _ in range(3)]
        chosen = [rng.choice(OPERATIONS) for _ in kinds]

        def inner_of(kind: Any, operation: Any) -> Any:
            @rm.circuit
            def inner(a: rm.Encrypted[kind], b: rm.Encrypted[kind[2]]):
                return operation(operation(a, b[0]), b[1])

            return inner

        inners = [inner_of(kind, operation) for kind, (operation, _) in zip(kinds, chosen, strict=True)]

        @rm.circuit
        def outer(x: rm.Encrypted[kinds[0]], y: rm.Encrypted[kinds[0]]):
            value = x
            for kind, inner in zip(kinds, inners, strict=True):  # noqa: B023
                value = inner(value.to(kind), [y.to(kind), kind.ends[1]])
            return value

        x, y = (rng.choice([*kinds[0].ends, 0, rng.randint(*kinds[0].ends)]) for _ in range(2))
        value = x
        for kind, (_, known) in zip(kinds, chosen, strict=True):
            value = converted(known(converted(value, kind), converted(y, kind)), kind)
            value = converted(known(value, kind.ends[1]), kind)
        assert outer(x, y) == value
        if turn % 10 == 0:
            compiled = outer.compile(TOY if turn % 20 else BITS, failure=-40)
            client = compiled.keygen()
            assert client.decrypt(compiled.run(client.encrypt(x=x, y=y), progress=False)) == value


def pair(params: Any, secret: Path, *circuits: Any) -> list[Any]:
    """Returns each circuit compiled, with a client. All clients have one secret key."""
    compiled = [circuit.compile(params, failure=-40) for circuit in circuits]
    compiled[0].keygen().save_secret_key(secret)
    return [(each, each.load_secret_key(secret)) for each in compiled]


@pytest.mark.parametrize("params", [TOY, BITS])
def test_an_encrypted_integer_keeps_its_type(params: Any, tmp_path: Path) -> None:
    kinds = [rm.uint(8), rm.uint(7), rm.sint(8), rm.uint(8)[2]]

    def circuit(kind: Any) -> Any:
        @rm.circuit
        def half(x: rm.Encrypted[kind]):
            return [item >> 1 for item in x] if kind.length else x >> 1

        return half

    made = pair(params, tmp_path / "secret", *map(circuit, kinds))
    (compiled, client), *others = made
    inputs = client.encrypt(x=200)
    run = compiled.run(inputs, progress=False)
    assert client.decrypt(run) == 100
    assert "of uint(8), " in repr(inputs.ciphertexts["x"])
    for what, cipher in (("x", inputs.ciphertexts["x"]), ("out", run.ciphertexts["out"])):
        path = tmp_path / what
        cipher.save(path)
        again = rm.EncryptedIntegers.load(path, params)
        for given in (cipher, again):
            for other, reader in others:
                says = r"uint\(8\),.* expected|expected 2 encrypted integers, got 1"
                keys = reader.evaluation_keys if what == "x" else None
                with pytest.raises(rm.DataError, match=says):
                    other.run({"x": given}, keys=keys, progress=False) if keys else reader.decrypt({"out": given})
    # Another type is no obstacle where the integer fits.
    assert client.decrypt({"out": run.ciphertexts["out"]}) == 100


def test_what_is_known_of_an_output_belongs_to_its_type(tmp_path: Path) -> None:
    @rm.circuit
    def low(x: rm.Encrypted[U8]):
        return x & 0x0F

    @rm.circuit
    def high(x: rm.Encrypted[U8]):
        return x & 0xF0

    @rm.circuit
    def five(x: rm.Encrypted[U8]):
        return x & 0x0F | 0x50

    (first, client), *others = pair(TOY, tmp_path / "secret", low, high, five)
    run = first.run(client.encrypt(x=0xAB), progress=False)
    assert client.decrypt(run) == 0x0B
    for _, other in others:
        with pytest.raises(rm.DataError, match="the bits 0xf are encrypted and the others 0x0, expected"):
            other.decrypt(run)


def untyped(typed: bytes) -> bytes:
    """Returns a file of one encrypted integer in the form from before integers had types: kind 11 of docs/files.md."""
    payload = typed[72 + 4 + 18 : -32]
    head = typed[:10] + (11).to_bytes(2, "little") + typed[12:64] + len(payload).to_bytes(8, "little")
    return head + payload + hashlib.sha256(head + payload).digest()


def test_files_from_before_integers_had_types(tmp_path: Path) -> None:
    # Outputs are saved with their masks, as inputs were before they had a seed. In circuits of bits an output that is
    # an input has the input's ciphertexts.
    @rm.circuit
    def same(x: rm.Encrypted[U8], y: rm.Encrypted[U8]):
        return {"x": x, "y": y, "narrow": x.to(U4)}

    (first, sender), (compiled, client) = pair(BITS, tmp_path / "secret", same, product)
    given = {}
    for name, cipher in first.run(sender.encrypt(x=9, y=25), progress=False).ciphertexts.items():
        cipher.save(tmp_path / name)
        (tmp_path / name).write_bytes(untyped((tmp_path / name).read_bytes()))
        given[name] = rm.EncryptedIntegers.load(tmp_path / name, BITS)
    narrow = given.pop("narrow")
    assert "uint" not in repr(given["x"])
    run = compiled.run(given, keys=client.evaluation_keys, progress=False)
    assert client.decrypt(run) == 9 * 25
    # Such an integer is saved without a type again, and only its number of ciphertexts is checked.
    again = tmp_path / "again"
    given["x"].save(again)
    assert again.read_bytes() == (tmp_path / "x").read_bytes()
    with pytest.raises(rm.DataError, match="expected 8 ciphertexts"):
        compiled.run({**given, "x": narrow}, keys=client.evaluation_keys, progress=False)
