# SPDX-License-Identifier: Apache-2.0
"""Tests circuits, their keys and their ciphertexts as bytes: files, bytes in memory, pickles, copies."""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import multiprocessing
import pickle
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import damaged, refused_damaged

import ringmill as rm

TOY = rm.circuit_params(toy_for_tests_only=True)
BITS = rm.circuit_params("circuit_bits", toy_for_tests_only=True)


@rm.circuit
def larger(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted[rm.uint(8)]):
    return rm.select(x < y, y, x)


@pytest.mark.parametrize("name", ["circuits", "circuit_bits"])
def test_a_fresh_integer_of_eight_bits_takes_less_than_200_bytes(name: str, tmp_path: Path) -> None:
    compiled = larger.compile(rm.circuit_params(name, toy_for_tests_only=True), failure=-40)
    client = compiled.keygen()
    sent = client.encrypt(x=3, y=200)
    for argument, cipher in sent.ciphertexts.items():
        cipher.save(tmp_path / argument)
        # The container, the number of integers, one type, the seed, and a word for each digit or bit. Words of toy
        # parameters have 4 bytes. Under the set "circuits" 4 words of 8 bytes make 190 bytes too.
        assert (tmp_path / argument).stat().st_size == 104 + 4 + 18 + 32 + 4 * len(cipher) <= 190
    read = {name: rm.EncryptedIntegers.load(tmp_path / name, compiled.params) for name in sent.ciphertexts}
    assert client.decrypt(compiled.run(read, keys=client.evaluation_keys, progress=False)) == 200
    # What is read remembers its seed, and a second encryption of the same integer has another one.
    read["x"].save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "x").read_bytes()
    client.encrypt(x=3, y=200).ciphertexts["x"].save(tmp_path / "other")
    seed = slice(72 + 4 + 18, 72 + 4 + 18 + 32)
    assert (tmp_path / "other").read_bytes()[seed] != (tmp_path / "x").read_bytes()[seed]


def as_kind(kind: int, file: bytes, payload: bytes) -> bytes:
    """Returns a file of another kind, for the same parameters and key, with this payload."""
    head = file[:10] + kind.to_bytes(2, "little") + file[12:64] + len(payload).to_bytes(8, "little")
    return head + payload + hashlib.sha256(head + payload).digest()


def test_evaluation_keys_are_one_file_and_folders_of_earlier_versions_are_read(tmp_path: Path) -> None:
    compiled = larger.compile(TOY, failure=-40)
    client = compiled.keygen()
    client.evaluation_keys.save(tmp_path / "keys")
    whole = (tmp_path / "keys").read_bytes()
    # The payload of the key-switching key is the last: a seed, and a word for each bit of the large key and each level.
    TOY.save(tmp_path / "params")
    sizes = struct.unpack_from("<7I", (tmp_path / "params").read_bytes(), 72 + 1)
    at = len(whole) - 32 - (32 + 4 * (sizes[1] << sizes[2]) * sizes[6])
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "bootstrap.key").write_bytes(as_kind(9, whole, whole[72:at]))
    (tmp_path / "folder" / "switch.key").write_bytes(as_kind(10, whole, whole[at:-32]))
    for saved in ("keys", "folder"):
        keys = rm.CircuitEvaluationKeys.load(tmp_path / saved, TOY)
        assert keys.key_id == client.key_id
        assert client.decrypt(compiled.run(client.encrypt(x=7, y=5).ciphertexts, keys=keys, progress=False)) == 7
    refused_damaged(tmp_path, "keys", lambda: rm.CircuitEvaluationKeys.load(tmp_path / "keys", TOY))
    with pytest.raises(rm.FileError, match="other parameters"):
        rm.CircuitEvaluationKeys.load(tmp_path / "keys", BITS)
    (tmp_path / "folder" / "switch.key").unlink()
    with pytest.raises(rm.FileError, match=r"switch\.key"):
        rm.CircuitEvaluationKeys.load(tmp_path / "folder", TOY)


@rm.circuit
def several(x: rm.Encrypted[rm.sint(5)], flags: rm.Encrypted[rm.bit[3]], v: rm.Encrypted[rm.uint(4)[2]]):
    amount = v[0].to(rm.uint(3))
    return {
        "array": [v[0] + v[1], v[0] * 3, rm.select(flags[0], v[0], v[1])],
        "signed": rm.minimum(x, -2) - (x >> 1),
        "bit": (x < 3) ^ flags[1] | ~flags[2],
        "shifted": [x << amount, x.quotient(3)],
        "table": rm.lookup(v[1], [7, 0, 5], rm.uint(3)),
        "sum": rm.add_all([v[0], v[1], 9, v[0]]),
        "known": x * 0 + 11,
    }


SEVERAL = {"x": -7, "flags": [1, 0, 1], "v": [13, 2]}

BLIF = """
.inputs clock a[0] a[1] b[0] b[1]
.outputs s[0] s[1] wide
.names a[0] b[0] s[0]
10 1
01 1
.names a[1] b[1] a[0] b[0] wide
1111 0
.names a[1] b[1] wide s[1]
1-0 1
01- 1
.end
"""


def netlist(folder: Path) -> rm.Netlist:
    (folder / "gates.blif").write_text(BLIF)
    return rm.netlist(folder / "gates.blif")


def equal(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(equal(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(map(equal, found, wanted))
    return type(found) is type(wanted) and np.array_equal(found, wanted)


@pytest.mark.parametrize("params", [TOY, BITS], ids=["digits", "bits"])
def test_a_saved_circuit_is_the_same_circuit(params: rm.CircuitParams, tmp_path: Path) -> None:
    @rm.circuit
    def one_in_a_tuple(x: rm.Encrypted[rm.uint(3)]):
        return (x + 1,)

    cases: list[tuple[Any, dict[str, Any]]] = [
        (several, SEVERAL),
        (larger, {"x": 3, "y": 200}),
        (one_in_a_tuple, {"x": 6}),
        (netlist(tmp_path), {"a": 3, "b": 2}),
    ]
    for source, given in cases:
        compiled = source.compile(params, failure=-40)
        path = tmp_path / "circuit"
        compiled.save(path)
        assert path.read_bytes() == compiled.to_bytes()
        # The file is text that names no folder of this computer, and no source line.
        assert json.loads(path.read_text())["form"] == 1
        assert str(tmp_path).encode() not in path.read_bytes()
        assert b"test_circuit_bytes" not in path.read_bytes()
        with pytest.raises(rm.FileError, match="insecure"):
            rm.load_circuit(path)
        loaded = rm.load_circuit(path, allow_insecure_parameters_for_tests_only=True)
        assert loaded.params == compiled.params == params
        assert loaded.estimates == compiled.estimates
        assert repr(loaded) == repr(compiled)
        assert loaded.to_bytes() == compiled.to_bytes()
        client = compiled.keygen()
        inputs = client.encrypt(**given)
        runs = [of.run(inputs, progress=False) for of in (compiled, loaded)]
        first, second = ({name: cipher.to_bytes() for name, cipher in run.ciphertexts.items()} for run in runs)
        assert first == second
        client.save_secret_key(tmp_path / "secret")
        other = loaded.load_secret_key(tmp_path / "secret")
        assert equal(other.decrypt(runs[1]), client.decrypt(runs[0]))
        assert equal(client.decrypt(loaded.run(other.encrypt(**given), progress=False)), client.decrypt(runs[0]))


def test_a_circuit_of_a_secure_set_is_loaded_without_leave(tmp_path: Path) -> None:
    compiled = larger.compile()
    compiled.save(tmp_path / "circuit")
    loaded = rm.load_circuit(tmp_path / "circuit")
    assert loaded.params == compiled.params
    assert (loaded.bootstraps, loaded.depth, loaded.failure) == (compiled.bootstraps, compiled.depth, compiled.failure)
    # A circuit is loaded for its own parameters, and no other set is tried. A file of parameters has no name of a set.
    taken = min(compiled.estimates, key=lambda estimate: estimate.work)
    assert loaded.estimates == [dataclasses.replace(taken, set=None)]


def test_saved_circuits_that_were_altered_are_refused_or_the_same(tmp_path: Path) -> None:
    """A change that leaves a valid circuit, such as another name or another constant, is a circuit again."""
    rng = random.Random(20)
    for source in (several, netlist(tmp_path)):
        whole = source.compile(TOY, failure=-40).to_bytes()
        read = 0
        for _ in range(50):
            altered = bytearray(whole)
            at = rng.randrange(len(whole))
            altered[at] = rng.choice([rng.randrange(256), whole[rng.randrange(len(whole))]])
            try:
                found = rm.CompiledCircuit.from_bytes(altered, allow_insecure_parameters_for_tests_only=True)
            except rm.FileError:
                continue
            read += 1
            again = rm.CompiledCircuit.from_bytes(found.to_bytes(), allow_insecure_parameters_for_tests_only=True)
            assert again.to_bytes() == found.to_bytes()
            assert again.bootstraps == found.bootstraps
        assert read < 50


def altered(change: Callable[[dict[str, Any]], Any]) -> bytes:
    text = json.loads(several.compile(TOY, failure=-40).to_bytes())
    change(text)
    return json.dumps(text).encode()


HOSTILE: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "an unknown field": (lambda text: text.update(path="/home/me"), "unknown field `path`"),
    "a missing field": (lambda text: text.pop("failure"), "missing field `failure`"),
    "another form": (lambda text: text.update(form=2), "form 2, expected 1"),
    "another rate": (lambda text: text.update(failure="-10"), r"expected 2\^-40 or less"),
    "an impossible rate": (lambda text: text.update(failure="-4000"), r"2\^-4000"),
    "a number for text": (lambda text: text.update(name=5), "invalid type"),
    "a value of the future": (lambda text: text["program"]["operations"][-1].__setitem__(1, 10**6), "operand"),
    "too many operations": (
        lambda text: text["program"].update(operations=[["not", 0]] * (2**20 + 1)),
        "at most 1048576",
    ),
    "a long argument": (
        lambda text: text["program"]["arguments"][1].update(length=2**32 - 1),
        "refused: operation|the inputs",
    ),
    "a type of 65 bits": (lambda text: text["program"]["arguments"][0].update(type="uint(65)"), "no type"),
    "a real": (lambda text: text["program"]["arguments"][0].update(type="real"), "no type"),
    "several results as one": (lambda text: text["program"].update(returned="one"), "returned as one"),
    "both sources": (lambda text: text.update(netlist={"inputs": [], "outputs": [], "signals": []}), "either"),
    "other parameters": (lambda text: text.update(params=text["params"][:-2]), "truncated or altered"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_circuits_are_refused_with_their_fault(name: str, tmp_path: Path) -> None:
    change, message = HOSTILE[name]
    data = altered(change)
    with pytest.raises(rm.FileError, match=message):
        rm.CompiledCircuit.from_bytes(data, allow_insecure_parameters_for_tests_only=True)
    (tmp_path / "circuit").write_bytes(data)
    with pytest.raises(rm.FileError, match=f"circuit: .*({message})"):
        rm.load_circuit(tmp_path / "circuit", allow_insecure_parameters_for_tests_only=True)


def test_other_files_are_no_circuits(tmp_path: Path) -> None:
    TOY.save(tmp_path / "params")
    for data in (b"", b"{}", b"[]", b"\xff", (tmp_path / "params").read_bytes(), b";ringmill compiled {}\n"):
        with pytest.raises(rm.FileError, match="no saved circuit"):
            rm.CompiledCircuit.from_bytes(data)


@pytest.fixture(scope="module")
def world() -> dict[str, Any]:
    compiled = larger.compile(TOY, failure=-40)
    client = compiled.keygen()
    inputs = client.encrypt(x=3, y=200)
    run = compiled.run(inputs, progress=False)
    keys = client.evaluation_keys
    return {"compiled": compiled, "client": client, "inputs": inputs, "run": run, "keys": keys}


def test_bytes_are_those_of_the_file(world: dict[str, Any], tmp_path: Path) -> None:
    cipher, out = world["inputs"].ciphertexts["x"], world["run"].ciphertexts["out"]
    for item, read in [
        (cipher, lambda data: rm.EncryptedIntegers.from_bytes(data, TOY)),
        (out, lambda data: rm.EncryptedIntegers.from_bytes(data, params=TOY)),
        (world["keys"], lambda data: rm.CircuitEvaluationKeys.from_bytes(data, TOY)),
        (TOY, lambda data: rm.CircuitParams.from_bytes(data, allow_insecure_parameters_for_tests_only=True)),
        (
            world["compiled"],
            lambda data: rm.CompiledCircuit.from_bytes(data, allow_insecure_parameters_for_tests_only=True),
        ),
        (world["inputs"], lambda data: rm.CircuitInputs.from_bytes(data, TOY)),
        (world["run"], lambda data: rm.CircuitRun.from_bytes(data, TOY)),
    ]:
        data = item.to_bytes()
        assert type(data) is bytes
        if hasattr(item, "save"):
            item.save(tmp_path / "file")
            assert (tmp_path / "file").read_bytes() == data
        for form in (data, bytearray(data), memoryview(data), np.frombuffer(data, dtype=np.uint8)):
            again = read(form)
            assert type(again) is type(item)
            assert again.to_bytes() == data
        # Text without its last byte, which ends the line, is the same circuit.
        for bad in () if item is world["compiled"] else damaged(data):
            with pytest.raises(rm.FileError):
                read(bad)
        for bad in (None, "text", 5, [1]):
            with pytest.raises(rm.FileError, match="data must be the bytes of a file"):
                read(bad)
    with pytest.raises(rm.FileError, match="insecure"):
        rm.CircuitParams.from_bytes(TOY.to_bytes())
    for read in (rm.EncryptedIntegers.from_bytes, rm.CircuitInputs.from_bytes):
        with pytest.raises(rm.FileError, match="other parameters"):
            read((cipher if read is rm.EncryptedIntegers.from_bytes else world["inputs"]).to_bytes(), BITS)


def test_a_client_and_a_server_exchange_bytes_alone(world: dict[str, Any]) -> None:
    circuit, client = world["compiled"].to_bytes(), world["client"]
    keys, inputs = client.evaluation_keys.to_bytes(), client.encrypt(x=77, y=5)
    # Fresh inputs stay small, and the keys are not in their bytes.
    assert len(inputs.to_bytes()) < 300 < len(keys)
    server = rm.CompiledCircuit.from_bytes(circuit, allow_insecure_parameters_for_tests_only=True)
    received = rm.CircuitInputs.from_bytes(inputs.to_bytes(), server.params)
    assert received.evaluation_keys is None
    with pytest.raises(rm.KeysError, match="missing"):
        server.run(received, progress=False)
    run = server.run(received, keys=rm.CircuitEvaluationKeys.from_bytes(keys, server.params), progress=False)
    answer = rm.CircuitRun.from_bytes(run.to_bytes(), world["compiled"].params)
    assert (answer.seconds, answer.bootstraps, answer.threads) == (run.seconds, run.bootstraps, run.threads)
    assert answer.machine is None
    assert client.decrypt(answer) == 77
    with pytest.raises(rm.FileError, match=r"those of a run.*rm\.CircuitRun"):
        rm.CircuitInputs.from_bytes(run.to_bytes(), TOY)
    with pytest.raises(rm.FileError, match=r"those of inputs.*rm\.CircuitInputs"):
        rm.CircuitRun.from_bytes(inputs.to_bytes(), TOY)


def test_names_that_bytes_do_not_hold_are_refused(world: dict[str, Any]) -> None:
    cipher = world["inputs"].ciphertexts["x"]
    with pytest.raises(rm.DataError, match="no encrypted integers"):
        rm.CircuitInputs({}).to_bytes()
    with pytest.raises(rm.DataError, match="65535 bytes"):
        rm.CircuitInputs({"x" * 65536: cipher}).to_bytes()
    strange = rm.CircuitInputs({"": cipher, "\u00e9": cipher})
    assert list(rm.CircuitInputs.from_bytes(strange.to_bytes(), TOY).ciphertexts) == ["", "\u00e9"]
    with pytest.raises(rm.DataError, match="less than 2"):
        rm.CircuitRun({"x": cipher}, 1.0, 2**64, 1).to_bytes()
    others = larger.compile(TOY, failure=-40).keygen().encrypt(x=1, y=1).ciphertexts["y"]
    with pytest.raises(rm.KeysError):
        rm.CircuitInputs({"x": cipher, "y": others}).to_bytes()
    bits = larger.compile(BITS, failure=-40).keygen().encrypt(x=1, y=1).ciphertexts["y"]
    with pytest.raises(rm.KeysError):
        rm.CircuitInputs({"x": cipher, "y": bits}).to_bytes()


COPIES = [copy.copy, copy.deepcopy, lambda item: pickle.loads(pickle.dumps(item)), lambda item: by_protocol_2(item)]


def by_protocol_2(item: Any) -> Any:
    return pickle.loads(pickle.dumps(item, protocol=2))


@pytest.mark.parametrize("copied", COPIES, ids=["copy", "deepcopy", "pickle", "pickle of protocol 2"])
def test_copies_and_pickles_are_the_same_objects(copied: Callable[[Any], Any], world: dict[str, Any]) -> None:
    cipher = world["inputs"].ciphertexts["x"]
    for item in (TOY, BITS, cipher, world["keys"], world["compiled"], world["inputs"], world["run"]):
        again = copied(item)
        assert type(again) is type(item)
        assert again.to_bytes() == item.to_bytes()
    assert copied(TOY) == TOY
    compiled, client = copied(world["compiled"]), world["client"]
    assert compiled.params == TOY
    # A pickle of inputs has their keys, and a pickle of a run has everything that the run has.
    run = compiled.run(copied(world["inputs"]), progress=False)
    assert client.decrypt(copied(run)) == 200
    assert copied(run).seconds == run.seconds
    timed = rm.CircuitRun(run.ciphertexts, 1.0, 2, 1, machine_time())
    assert copied(timed).machine == timed.machine
    assert copied(rm.CircuitInputs({})) == rm.CircuitInputs({})


def machine_time() -> Any:
    from ringmill.circuit_run import MachineTime

    return MachineTime("torus", "model", 1000.0, 2, 3, 1, 6)


def test_what_holds_a_secret_key_is_not_pickled(world: dict[str, Any]) -> None:
    client = world["client"]
    for item in (client, client._keys, [client], {"client": client}):
        with pytest.raises(rm.ArgumentError, match=r"cannot be pickled.*save_secret_key"):
            pickle.dumps(item)
    assert copy.deepcopy(client) is client


def served(compiled: rm.CompiledCircuit, inputs: rm.CircuitInputs) -> rm.CircuitRun:
    """Runs a circuit in another process."""
    return compiled.run(inputs, progress=False)


def test_a_process_that_was_spawned_runs_a_circuit(world: dict[str, Any]) -> None:
    for method in ("spawn", "fork"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            run = pool.apply(served, (world["compiled"], world["inputs"]))
        assert world["client"].decrypt(run) == 200
        assert run.ciphertexts["out"].to_bytes() == world["run"].ciphertexts["out"].to_bytes()


def test_an_integer_from_before_integers_had_types_has_bytes_and_a_pickle_too(world: dict[str, Any]) -> None:
    out = world["run"].ciphertexts["out"].to_bytes()
    untyped = rm.EncryptedIntegers.from_bytes(as_kind(11, out, out[72 + 4 + 18 : -32]), TOY)
    named = rm.CircuitInputs.from_bytes(rm.CircuitInputs({"x": untyped}).to_bytes(), TOY)
    for again in (pickle.loads(pickle.dumps(untyped)), named.ciphertexts["x"]):
        assert "uint" not in repr(again)
        assert again.to_bytes() == untyped.to_bytes()
