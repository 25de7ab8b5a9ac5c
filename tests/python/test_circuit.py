# SPDX-License-Identifier: Apache-2.0
"""Tests circuits on encrypted integers: traced, compiled and run under small parameters, against Python."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ringmill as rm

TOY = rm.circuit_params(toy_for_tests_only=True)
BITS = rm.circuit_params("circuit_bits", toy_for_tests_only=True)


def ran(circuit: rm.Circuit, **inputs: Any) -> Any:
    compiled = circuit.compile(TOY, failure=-40)
    client = compiled.keygen()
    return client.decrypt(compiled.run(client.encrypt(**inputs), progress=False))


@rm.circuit
def everything(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted[rm.uint(8)]):
    return {
        "arithmetic": [x + y, x - y, x * y, x // y, x % y, -x, 3 + x, 200 - x, 5 * x, x // 3, 100 % x],
        "bits": [x & y, x | y, x ^ y, ~x, x << 3, x >> 1, x << (y & 7), x >> y, x.rotate_left(3), x.rotate_left(y)],
        "order": [x < y, x <= y, x > y, x >= y, x == y, x != y, x < 100, x >= 100],
        "choice": [rm.select(x < y, x, y), rm.minimum(x, y), rm.maximum(x, 77), rm.select(x == 3, 1, y)],
        "table": rm.lookup(x, [i * i % 1000 for i in range(200)], rm.uint(10)),
        "wide": x.to(rm.uint(12)) * y.to(rm.uint(12)),
        "sum": rm.add_all([x, y, x, 7]),
    }


def expected(x: int, y: int) -> dict[str, Any]:
    m = 255

    def rotated(by: int) -> int:
        by %= 8
        return (x << by | x >> (8 - by)) & m

    return {
        "arithmetic": [
            *((x + y) & m, (x - y) & m, x * y & m, x // y if y else m, x % y if y else x, -x & m),
            *((3 + x) & m, (200 - x) & m, 5 * x & m, x // 3, 100 % x if x else 100),
        ],
        "bits": [
            *(x & y, x | y, x ^ y, ~x & m, x << 3 & m, x >> 1, x << (y & 7) & m, x >> y),
            *(rotated(3), rotated(y)),
        ],
        "order": [x < y, x <= y, x > y, x >= y, x == y, x != y, x < 100, x >= 100],
        "choice": [min(x, y), min(x, y), max(x, 77), 1 if x == 3 else y],
        "table": x * x % 1000 if x < 200 else 0,
        "wide": x * y & 4095,
        "sum": (2 * x + y + 7) & m,
    }


def same(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return all(np.array_equal(np.asarray(found[name]), np.asarray(wanted[name])) for name in wanted)


def test_in_the_clear() -> None:
    rng = random.Random(1)
    for _ in range(200):
        x, y = (rng.choice([0, 1, 3, 99, 127, 128, 255, rng.randrange(256)]) for _ in range(2))
        assert same(everything(x, y), expected(x, y)), (x, y)


def test_under_encryption() -> None:
    compiled = everything.compile(TOY, failure=-40)
    client = compiled.keygen()
    rng = random.Random()
    for x, y in [(0, 0), (255, 3), (3, 200), (rng.randrange(256), rng.randrange(256))]:
        run = compiled.run(client.encrypt(x=x, y=y), progress=False)
        assert same(client.decrypt(run), expected(x, y)), (x, y)
        assert run.bootstraps == compiled.bootstraps


def test_signed_integers() -> None:
    @rm.circuit
    def signed(x: rm.Encrypted[rm.sint(7)], y: rm.Encrypted[rm.sint(7)]):
        return [x + y, x.quotient(y), x.remainder(y), x >> 2, rm.minimum(x, y), rm.select(x < 0, -x, x)]

    def wrapped(value: int) -> int:
        return (value + 64) % 128 - 64

    for x, y in [(-64, -1), (-64, 63), (-7, 2), (7, -2), (0, 0), (-1, 0), (5, 5)]:
        quotient = int(x / y) if y else -1
        remainder = x - y * quotient if y else x
        wanted = [x + y, quotient, remainder, x >> 2, min(x, y), abs(x)]
        assert list(signed(x, y)) == [wrapped(value) for value in wanted], (x, y)
    assert list(ran(signed, x=-7, y=2)) == [-5, -3, -1, -2, -7, 7]


def test_arrays_bits_and_circuits_in_circuits() -> None:
    @rm.circuit
    def count(flags: rm.Encrypted[rm.bit[20]]):
        return rm.add_all([flag.to(rm.uint(5)) for flag in flags])

    @rm.circuit
    def outer(flags: rm.Encrypted[rm.bit[20]], mask: rm.Encrypted[rm.bit]):
        return count([flag & mask for flag in flags]), mask

    flags = [i % 3 == 0 for i in range(20)]
    assert count(flags) == 7
    assert outer(flags, 1) == (7, 1)
    assert ran(outer, flags=np.array(flags), mask=True) == (7, 1)


def test_known_results_take_no_bootstrap() -> None:
    @rm.circuit
    def known(x: rm.Encrypted[rm.uint(16)]):
        return x, x * 0 + 5, x ^ 0, (x & 0xFF00) & 0x00FF

    compiled = known.compile(TOY, failure=-40)
    assert compiled.bootstraps == 0
    client = compiled.keygen()
    assert client.decrypt(compiled.run(client.encrypt(x=0xABCD))) == (0xABCD, 5, 0xABCD, 0)


# Operations that take no bootstrap, with numpy's version. Both give the same for all values of five bits.
NOTHING: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "x // 1": (lambda x: x // 1, lambda x: x // 1),
    "x // 4": (lambda x: x // 4, lambda x: x // 4),
    "x % 16": (lambda x: x % 16, lambda x: x % 16),
    "x % 1": (lambda x: x % 1, lambda x: x % 1),
    "x ^ x": (lambda x: x ^ x, lambda x: x ^ x),
    "x - x": (lambda x: x - x, lambda x: x - x),
    "x ** 1": (lambda x: x**1, lambda x: x),
    "x ** 0": (lambda x: x**0, lambda x: x**0),
    "x * 4": (lambda x: x * 4, lambda x: x * 4 % 64),
    "maximum(x, 63)": (lambda x: rm.maximum(x, 63), lambda x: np.maximum(x, 63)),
    "minimum(x, 63)": (lambda x: rm.minimum(x, 63), lambda x: np.minimum(x, 63)),
    "x <= 63": (lambda x: x <= 63, lambda x: x <= 63),
    "x < 0": (lambda x: x < 0, lambda x: x < 0),
    "~~x": (lambda x: ~~x, lambda x: x),
    "-(-x)": (lambda x: -(-x), lambda x: x),  # noqa: B002
    "(x + 5) - 5": (lambda x: (x + 5) - 5, lambda x: x),
    "select(x < 9, x, x)": (lambda x: rm.select(x < 9, x, x), lambda x: x),
    "select(x == x, x, 3)": (lambda x: rm.select(x == x, x, 3), lambda x: x),
    "x // 64 in eight bits": (lambda x: x.to(rm.uint(8)) // 64, lambda x: x // 64),
}


@pytest.mark.parametrize("name", NOTHING)
def test_what_changes_nothing_takes_no_bootstrap(name: str) -> None:
    body, by_numpy = NOTHING[name]

    @rm.circuit
    def f(x: rm.Encrypted[rm.uint(6)]):
        return body(x)

    for params in (TOY, BITS):
        compiled = f.compile(params, failure=-40)
        assert compiled.bootstraps == 0
    wanted = by_numpy(np.arange(64))
    assert [f(x) for x in range(64)] == wanted.tolist()
    client = compiled.keygen()
    for x in (0, 37, 63):
        assert client.decrypt(compiled.run(client.encrypt(x=x), progress=False)) == wanted[x]


def test_files(tmp_path: Path) -> None:
    @rm.circuit
    def product(x: rm.Encrypted[rm.uint(6)], y: rm.Encrypted[rm.uint(6)]):
        return x * y

    compiled = product.compile(TOY, failure=-40)
    client = compiled.keygen()
    sent = client.encrypt(x=9, y=6)
    client.save_secret_key(tmp_path / "secret")
    client.evaluation_keys.save(tmp_path / "keys")
    TOY.save(tmp_path / "params")
    for name, cipher in sent.ciphertexts.items():
        cipher.save(tmp_path / name)

    with pytest.raises(rm.FileError, match="insecure"):
        rm.CircuitParams.load(tmp_path / "params")
    params = rm.CircuitParams.load(tmp_path / "params", allow_insecure_parameters_for_tests_only=True)
    assert params == TOY
    again = product.compile(params, failure=-40)
    received = {name: rm.EncryptedIntegers.load(tmp_path / name, params) for name in ("x", "y")}
    keys = rm.CircuitEvaluationKeys.load(tmp_path / "keys", params)
    run = again.run(received, keys=keys, progress=False)
    assert again.load_secret_key(tmp_path / "secret").decrypt(run) == 54

    (tmp_path / "x").write_bytes((tmp_path / "x").read_bytes()[:-1])
    with pytest.raises(rm.FileError):
        rm.EncryptedIntegers.load(tmp_path / "x", params)


def test_the_same_ciphertexts_on_any_number_of_threads(tmp_path: Path) -> None:
    compiled = everything.compile(TOY, failure=-40)
    client = compiled.keygen()
    inputs = client.encrypt(x=123, y=45)
    written = []
    for threads in (1, 3):
        run = compiled.run(inputs, threads=threads, progress=False)
        run.ciphertexts["arithmetic"].save(tmp_path / "out")
        written.append((tmp_path / "out").read_bytes())
    assert written[0] == written[1]
    workers = [threading.Thread(target=compiled.run, args=(inputs,), kwargs={"progress": False}) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


ADDER = """
.model adder
.inputs a[0] a[1] b[0] b[1]
.outputs s[0] s[1] s[2]
.names a[0] b[0] s[0]
10 1
01 1
.names a[0] b[0] c
11 1
.names a[1] b[1] c s[1]
100 1
010 1
001 1
111 1
.names a[1] b[1] c s[2]
11- 1
1-1 1
-11 1
.end
"""


def test_netlists(tmp_path: Path) -> None:
    (tmp_path / "adder.blif").write_text(ADDER)
    adder = rm.netlist(tmp_path / "adder.blif")
    assert [adder(a=a, b=b)["s"] for a in range(4) for b in range(4)] == [a + b for a in range(4) for b in range(4)]
    compiled = adder.compile(TOY, failure=-40)
    assert compiled.bootstraps == 2  # the sum and the carry of two bits share a rotation
    client = compiled.keygen()
    assert client.decrypt(compiled.run(client.encrypt(a=3, b=2))) == {"s": 5}
    with pytest.raises(rm.DataError, match="0 to 3"):
        client.encrypt(a=4, b=0)
    for text, message in [(".latch a b\n", "state"), ("{}", "modules"), ("\xff", "not known|row of no")]:
        (tmp_path / "wrong").write_text(text)
        with pytest.raises(rm.FileError, match=message):
            rm.netlist(tmp_path / "wrong")
    clocked = ADDER.replace(".inputs", ".inputs clock reset")
    (tmp_path / "clocked.blif").write_text(clocked)
    clocked = rm.netlist(tmp_path / "clocked.blif")
    assert clocked(a=3, b=2) == clocked(a=3, b=2, clock=1) == {"s": 5}
    compiled = clocked.compile(TOY, failure=-40)
    client = compiled.keygen()
    for inputs in ({"a": 3, "b": 2}, {"reset": 0, "a": 3, "b": 2}):
        sent = client.encrypt(**inputs)
        assert sorted(sent.ciphertexts) == ["a", "b"]
        assert client.decrypt(compiled.run(sent)) == {"s": 5}
    with pytest.raises(rm.DataError, match="input b is missing; the circuit has a, b"):
        client.encrypt(a=1)
    (tmp_path / "wrong").write_bytes(b".model m\n\xff\xff")
    with pytest.raises(rm.FileError, match="line 2"):
        rm.netlist(tmp_path / "wrong")


@pytest.mark.parametrize("bits", [65, 100, 128])
def test_wide_ports_are_arrays_of_words(bits: int, tmp_path: Path) -> None:
    names = {of: " ".join(f"{of}[{i}]" for i in range(bits)) for of in "ay"}
    gates = "".join(f".names a[{i}] n y[{bits - 1 - i}]\n10 1\n01 1\n" for i in range(bits))
    (tmp_path / "wide.blif").write_text(f".inputs {names['a']} n\n.outputs {names['y']}\n{gates}")
    wide = rm.netlist(tmp_path / "wide.blif")

    def words(value: int) -> list[int]:
        return [value & (1 << 64) - 1, value >> 64]

    rng = random.Random(bits)
    compiled = wide.compile(BITS, failure=-40)
    client = compiled.keygen()
    for n in (0, 1):
        a = rng.getrandbits(bits)
        wanted = words(int(f"{a:0{bits}b}"[::-1], 2) ^ n * ((1 << bits) - 1))
        assert wide(a=words(a), n=n)["y"].tolist() == wanted
        run = compiled.run(client.encrypt(a=np.array(words(a), dtype=np.uint64), n=n), progress=False)
        assert client.decrypt(run)["y"].tolist() == wanted
    if bits < 128:
        with pytest.raises(rm.DataError, match=rf"a\[1\] must be .* from 0 to {(1 << bits - 64) - 1}"):
            wide(a=[0, 1 << bits - 64], n=0)
    for wrong in (5, [1], [1, 2, 3]):
        with pytest.raises(rm.DataError, match="a must be 2 values"):
            wide(a=wrong, n=0)


# Two modules, of which flattening leaves a scope. Nothing reads the clock and the reset.
ALU = """
module plus(input [7:0] a, input [7:0] b, output [7:0] y);
  assign y = a + b;
endmodule
module alu(input clock, input reset, input [7:0] a, input [7:0] b, input [1:0] op, output reg [7:0] y, output less);
  wire [7:0] sum;
  plus adder(.a(a), .b(b), .y(sum));
  assign less = a < b;
  always @* case (op)
    2'd0: y = sum;
    2'd1: y = a - b;
    2'd2: y = a * b;
    default: y = (a & b) ^ {b[3:0], a[7:4]};
  endcase
endmodule
"""
SYNTHESIS = """
from pyosys import libyosys
design = libyosys.Design()
for command in [
    "read_verilog alu.v", "synth -flatten -top alu", "abc -g simple", "opt_clean -purge",
    "write_blif -icells gates.blif", "write_json gates.json",
    "abc -lut 4", "opt_clean -purge", "write_blif tables.blif", "write_json tables.json",
]:
    libyosys.run_pass(command, design)
"""


def test_netlists_of_yosys(tmp_path: Path) -> None:
    pytest.importorskip("pyosys", reason="Yosys as a Python module (make hdl-tools)")
    (tmp_path / "alu.v").write_text(ALU)
    subprocess.run([sys.executable, "-c", SYNTHESIS], cwd=tmp_path, check=True, capture_output=True)

    def expected(a: int, b: int, op: int) -> dict[str, int]:
        y = [a + b, a - b, a * b, (a & b) ^ ((b & 15) << 4 | a >> 4)][op]
        return {"y": y & 255, "less": int(a < b)}

    rng = random.Random(5)
    for name in ("gates.blif", "gates.json", "tables.blif", "tables.json"):
        alu = rm.netlist(tmp_path / name)
        for _ in range(50):
            given = {"a": rng.randrange(256), "b": rng.randrange(256), "op": rng.randrange(4)}
            assert alu(**given) == expected(**given), (name, given)
        compiled = alu.compile(TOY, failure=-40)
        client = compiled.keygen()
        for op in range(4):
            given = {"a": rng.randrange(256), "b": rng.randrange(256), "op": op}
            found = client.decrypt(compiled.run(client.encrypt(**given), progress=False))
            assert found == expected(**given), (name, given)


@rm.circuit
def gray(x: rm.Encrypted[rm.uint(16)], flag: rm.Encrypted[rm.bit]):
    return {"gray": x ^ (x >> 1), "parity": flag ^ ((x >> 5).to(rm.bit))}


@rm.circuit
def product(x: rm.Encrypted[rm.uint(16)], y: rm.Encrypted[rm.uint(16)]):
    return x * y


def test_bits_or_digits_by_cost(tmp_path: Path) -> None:
    (tmp_path / "adder.blif").write_text(ADDER)
    for source, taken in [(gray, "circuit_bits"), (product, "circuits"), (rm.netlist(tmp_path / "adder.blif"), None)]:
        compiled = source.compile()
        digits, bits = (source.compile(name) for name in ("circuits", "circuit_bits"))
        assert compiled.estimates == digits.estimates + bits.estimates
        assert [e.set for e in compiled.estimates] == ["circuits", "circuit_bits"]
        least = min(digits, bits, key=lambda c: c.estimates[0].work)
        assert taken in (None, least.estimates[0].set)
        assert compiled.params == least.params
        assert (compiled.bootstraps, compiled.depth) == (least.bootstraps, least.depth)
        assert compiled.failure == least.failure < -60
        first, *rows = str(compiled).splitlines()
        assert "before anything runs" in first
        assert [row.endswith("taken: least work") for row in rows] == [
            e == least.estimates[0] for e in compiled.estimates
        ]
    assert gray.compile("boolean_p64").bootstraps == gray.compile("circuit_bits").bootstraps


def test_gates_under_encryption(tmp_path: Path) -> None:
    compiled = everything.compile(BITS, failure=-40)
    client = compiled.keygen()
    rng = random.Random()
    x, y = rng.randrange(256), rng.randrange(1, 256)
    run = compiled.run(client.encrypt(x=x, y=y), progress=False)
    assert same(client.decrypt(run), expected(x, y)), (x, y)
    run.ciphertexts["sum"].save(tmp_path / "sum")
    loaded = rm.EncryptedIntegers.load(tmp_path / "sum", compiled.params)
    assert len(loaded) == 8
    assert same(client.decrypt({**run.ciphertexts, "sum": loaded}), expected(x, y))
    digits = everything.compile(TOY, failure=-40)
    with pytest.raises(rm.KeysError):
        digits.run(digits.keygen().encrypt(x=x, y=y), keys=client.evaluation_keys, progress=False)
    (tmp_path / "adder.blif").write_text(ADDER)
    adder = rm.netlist(tmp_path / "adder.blif").compile(BITS, failure=-40)
    client = adder.keygen()
    assert client.decrypt(adder.run(client.encrypt(a=3, b=2))) == {"s": 5}


def test_a_run_that_was_saved_goes_on(tmp_path: Path) -> None:
    compiled = everything.compile(TOY, failure=-40)
    client = compiled.keygen()
    inputs = client.encrypt(x=77, y=201)
    saved = tmp_path / "checkpoint"
    compiled.run(inputs, progress=False, checkpoint=saved, every=0)
    assert saved.stat().st_mode & 0o777 == 0o600
    run = compiled.run(inputs, progress=False, resume=saved)
    assert same(client.decrypt(run), expected(77, 201))
    with pytest.raises(rm.FileError, match="inputs"):
        compiled.run(client.encrypt(x=77, y=201), progress=False, resume=saved)
    saved.write_bytes(b"RINGCIR1")
    with pytest.raises(rm.FileError, match="damaged"):
        compiled.run(inputs, progress=False, resume=saved)
    with pytest.raises(rm.FileError):
        compiled.run(inputs, progress=False, resume=tmp_path / "none")


# A script whose run is interrupted. It resumes the run when a line comes in.
STOPPED = """
import sys, time
import ringmill as rm

@rm.circuit
def quotient(x: rm.Encrypted[rm.uint(64)], y: rm.Encrypted[rm.uint(64)]):
    return x // y - x // (y + 1)

compiled = quotient.compile(rm.circuit_params(toy_for_tests_only=True), failure=-40)
client = compiled.keygen()
inputs = client.encrypt(x=2**63 + 12345, y=678)
print("ready", flush=True)
try:
    compiled.run(inputs, threads=1, progress=False, checkpoint=sys.argv[1], every=1e9)
    print("not interrupted", flush=True)
except KeyboardInterrupt:
    print("raised", flush=True)
if sys.stdin.readline():
    print(client.decrypt(compiled.run(inputs, progress=False, resume=sys.argv[2])))
"""


@pytest.mark.parametrize("signals", [1, 2])
def test_ctrl_c_waits_until_a_run_is_saved(signals: int, tmp_path: Path) -> None:
    # A write to a pipe blocks until somebody reads. It acts as a disk that is as slow as the test needs.
    pipe, kept = tmp_path / "pipe", tmp_path / "kept"
    os.mkfifo(pipe)
    command = [sys.executable, "-c", STOPPED, pipe, kept]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.2)
        child.send_signal(signal.SIGINT)
        assert not select.select([child.stdout], [], [], 0.7)[0]
        if signals == 2:
            child.send_signal(signal.SIGINT)
            assert select.select([child.stdout], [], [], 3)[0]
            assert child.communicate()[0] == "raised\n"
        else:
            saved = pipe.read_bytes()
            assert child.stdout.readline() == "raised\n"
            assert saved.startswith(b"RINGCIR1")
            kept.write_bytes(saved)
            x = 2**63 + 12345
            assert child.communicate("go on\n")[0] == f"{x // 678 - x // 679}\n"
        assert child.returncode == 0


@pytest.mark.parametrize("work", ["compile", "keygen", "run"])
def test_ctrl_c_stops_what_circuits_do(work: str) -> None:
    script = """
import sys, time
import ringmill as rm

@rm.circuit
def quotient(x: rm.Encrypted[rm.uint(64)], y: rm.Encrypted[rm.uint(64)]):
    return x // y

compiled = quotient.compile(rm.circuit_params(toy_for_tests_only=True), failure=-40)
client = compiled.keygen()
inputs = client.encrypt(x=1, y=2)
def run():
    compiled.run(inputs, progress=False)
full = quotient.compile("circuits")
work = {"compile": lambda: quotient.compile("circuits"), "keygen": full.keygen, "run": run}[sys.argv[1]]
print("ready", flush=True)
try:
    while True:
        work()
except KeyboardInterrupt:
    print(time.time())
"""
    with subprocess.Popen([sys.executable, "-c", script, work], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(random.uniform(0.01, 0.5))
        sent = time.time()
        child.send_signal(signal.SIGINT)
        assert float(child.communicate(timeout=60)[0]) - sent < 3
        assert child.returncode == 0


def circuit_of(body: Callable[..., Any]) -> rm.Circuit:
    def f(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted[rm.uint(4)]):
        return body(x, y)

    return rm.circuit(f)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (lambda x, y: x + y, r"rm.uint\(8\) and rm.uint\(4\) do not mix"),
        (lambda x, y: x + 256, "constant"),
        (lambda x, y: x + 1.5, "whole numbers"),
        (lambda x, y: 1 if x else 2, "steer"),
        (lambda x, y: [1, 2][x], "no index"),
        (lambda x, y: rm.select(x, 1, x), "encrypted bit"),
        (lambda x, y: rm.lookup(x, range(257), rm.uint(9)), "1 to 256"),
        (lambda x, y: rm.lookup(y, [16], rm.uint(4)), "value of uint"),
        (lambda x, y: x << -1, "shift by"),
        (lambda x, y: 1 << x, "constant cannot be shifted"),
        (lambda x, y: x.to(rm.real), "rm.uint"),
        (lambda x, y: x.to(rm.sint(8)) // 3, "quotient"),
        (lambda x, y: x.to(rm.uint(6)).rotate_left(y), "power of two"),
        (lambda x, y: [x, y], "one type"),
        (lambda x, y: 5, "encrypted integers"),
        (lambda x, y: None, "returns nothing"),
        (lambda x, y: list(x), "no elements"),
    ],
)
def test_programs_that_are_refused(body: Callable[..., Any], message: str) -> None:
    with pytest.raises(rm.CompileError, match=message) as refused:
        circuit_of(body).compile(TOY, failure=-40)
    assert "test_circuit.py" in str(refused.value)


def test_values_keys_and_parameters_that_are_refused() -> None:
    with pytest.raises(rm.ParameterError, match="circuits"):
        rm.circuit_params("boolean")
    with pytest.raises(rm.ParameterError, match="did you mean `circuits`"):
        everything.compile("circuit")
    with pytest.raises(rm.ParameterError, match=r"2\^-4000"):
        everything.compile(TOY, failure=-4000)
    for often in (-39.5, 0, float("nan"), float("inf")):
        with pytest.raises(rm.ParameterError, match=r"2\^-40 or less"):
            everything.compile(TOY, failure=often)
    compiled = everything.compile(TOY, failure=-40)
    client, other = compiled.keygen(), compiled.keygen()
    for wrong in (256, -1, 1.0, "1", None, True, [1]):
        with pytest.raises(rm.DataError, match="x must be"):
            client.encrypt(x=wrong, y=1)
        with pytest.raises(rm.DataError):
            everything(wrong, 1)
    with pytest.raises(rm.DataError, match="missing"):
        client.encrypt(x=1)
    with pytest.raises(KeyError, match="no input"):
        client.encrypt(x=1, y=1, z=1)
    inputs = client.encrypt(x=1, y=2)
    with pytest.raises(rm.KeysError):
        compiled.run(inputs, keys=other.evaluation_keys, progress=False)
    with pytest.raises(rm.KeysError, match="missing"):
        compiled.run(inputs.ciphertexts)
    run = compiled.run(inputs, progress=False)
    with pytest.raises(rm.KeysError):
        other.decrypt(run)
    swapped = dict(run.ciphertexts, table=run.ciphertexts["bits"])
    with pytest.raises(rm.DataError):
        client.decrypt(swapped)


def test_annotations_that_are_refused() -> None:
    def real(x: rm.Encrypted[rm.real]):
        return x

    def plain(x: rm.Plain[rm.uint(8)]):
        return x

    def none(x):
        return x

    def empty():
        return 1

    for wrong in (real, plain, none, empty):
        with pytest.raises(rm.CompileError):
            rm.circuit(wrong).compile(TOY, failure=-40)
    with pytest.raises(rm.ArgumentError):
        rm.circuit(3)


# Bootstraps of operations on 16 bits, of docs/tfhe.md.
SIXTEEN_BITS = {
    "a * b": 361,
    "a // b, a % b": 573,
}


def test_bootstraps_of_sixteen_bits_are_the_pages():
    @rm.circuit
    def product(a: rm.Encrypted[rm.uint(16)], b: rm.Encrypted[rm.uint(16)]):
        return a * b

    @rm.circuit
    def quotient(a: rm.Encrypted[rm.uint(16)], b: rm.Encrypted[rm.uint(16)]):
        return a // b, a % b

    counts = [circuit.compile(params="circuit_bits").bootstraps for circuit in (product, quotient)]
    assert counts == list(SIXTEEN_BITS.values())
