# SPDX-License-Identifier: Apache-2.0
"""Correct calls of every public function and method about circuits. `test_arguments.py` replaces their arguments by bad
values, one at a time.
"""

from __future__ import annotations

import ringmill as rm


@rm.circuit
def wrapped(x: rm.Encrypted[rm.uint(4)], y: rm.Encrypted[rm.uint(2)[2]]):
    return {"sum": x + 1, "array": y}


# Placeholders in a call's arguments. The circuit in which the call is made replaces them by an encrypted integer and an
# encrypted bit.
INTEGER, BIT = object(), object()


def in_a_circuit(call):
    """Returns a function that makes the call inside a circuit. The call gets an encrypted integer, then the arguments
    that are given by name.
    """

    def called(**given):
        def f(x: rm.Encrypted[rm.uint(8)], y: rm.Encrypted[rm.uint(8)]):
            here = {id(INTEGER): x, id(BIT): x < y}

            def placed(value):
                return [placed(item) for item in value] if type(value) is list else here.get(id(value), value)

            return call(x, {name: placed(value) for name, value in given.items()})

        return rm.circuit(f).compile(rm.circuit_params(toy_for_tests_only=True), failure=-40)

    return called


def circuit_calls(folder):
    """Returns correct calls of every public function and method about circuits."""
    toy = rm.circuit_params(toy_for_tests_only=True)
    compiled = wrapped.compile(toy, failure=-40)
    client = compiled.keygen()
    inputs = client.encrypt(x=3, y=[1, 2])
    run = compiled.run(inputs, progress=False)
    keys, cipher = client.evaluation_keys, inputs.ciphertexts["x"]
    names = ("circuit_cipher", "circuit_keys", "circuit_secret", "circuit_params", "blif", "circuit", "circuit_new")
    paths = {name: folder / name for name in names}
    cipher.save(paths["circuit_cipher"])
    keys.save(paths["circuit_keys"])
    compiled.save(paths["circuit"])
    toy.save(paths["circuit_params"])
    client.save_secret_key(paths["circuit_secret"])
    paths["blif"].write_text(".inputs a\n.outputs y\n.names a y\n0 1\n")
    netlist = rm.netlist(paths["blif"])
    one = {"path": paths["circuit_new"]}
    return {
        "circuit": (rm.circuit, {"function": wrapped._function}),
        "Circuit": (rm.Circuit, {"function": wrapped._function}),
        "Circuit.compile": (wrapped.compile, {"params": toy, "failure": -40}),
        "Circuit.__call__": (wrapped, {"x": 3, "y": [1, 2]}),
        "circuit_params": (rm.circuit_params, {"name": "circuits", "toy_for_tests_only": True, "target": None}),
        "sint": (rm.sint, {"bits": 16}),
        "netlist": (rm.netlist, {"path": paths["blif"]}),
        "Netlist": (rm.Netlist, {"name": "n", "inner": netlist._inner}),
        "Netlist.compile": (netlist.compile, {"params": toy, "failure": -40}),
        "Netlist.__call__": (netlist, {"a": 1}),
        "CompiledCircuit": (
            rm.CompiledCircuit,
            {"name": "f", "inner": compiled._inner, "inputs": [], "outputs": [], "shape": compiled._shape},
        ),
        "CompiledCircuit.save": (compiled.save, one),
        "CompiledCircuit.to_bytes": (compiled.to_bytes, {}),
        "CompiledCircuit.from_bytes": (
            rm.CompiledCircuit.from_bytes,
            {"data": compiled.to_bytes(), "allow_insecure_parameters_for_tests_only": True},
        ),
        "load_circuit": (
            rm.load_circuit,
            {"path": paths["circuit"], "allow_insecure_parameters_for_tests_only": True},
        ),
        "CompiledCircuit.keygen": (compiled.keygen, {}),
        "CompiledCircuit.load_secret_key": (compiled.load_secret_key, {"path": paths["circuit_secret"]}),
        "CompiledCircuit.run": (
            compiled.run,
            {"inputs": inputs, "keys": keys, "device": "cpu", "threads": 1, "progress": False}
            | {"checkpoint": None, "every": 30.0, "resume": None},
        ),
        "CircuitClient": (
            rm.CircuitClient,
            {"keys": client._keys, "inputs": [], "outputs": [], "shape": compiled._shape},
        ),
        "CircuitClient.encrypt": (client.encrypt, {"x": 3, "y": [1, 2]}),
        "CircuitClient.decrypt": (client.decrypt, {"outputs": run}),
        "CircuitClient.save_secret_key": (client.save_secret_key, one),
        "CircuitInputs": (rm.CircuitInputs, {"ciphertexts": {"x": cipher}, "evaluation_keys": keys}),
        "CircuitInputs.to_bytes": (inputs.to_bytes, {}),
        "CircuitInputs.from_bytes": (
            rm.CircuitInputs.from_bytes,
            {"data": inputs.to_bytes(), "params": toy, "evaluation_keys": None},
        ),
        "CircuitRun.to_bytes": (run.to_bytes, {}),
        "CircuitRun.from_bytes": (rm.CircuitRun.from_bytes, {"data": run.to_bytes(), "params": toy}),
        "CircuitRun": (
            rm.CircuitRun,
            {"ciphertexts": run.ciphertexts, "seconds": 1.0, "bootstraps": 1, "threads": 1, "machine": None},
        ),
        "CircuitParams.save": (toy.save, one),
        "CircuitParams.load": (
            rm.CircuitParams.load,
            {"path": paths["circuit_params"], "allow_insecure_parameters_for_tests_only": True},
        ),
        "CircuitParams.to_bytes": (toy.to_bytes, {}),
        "CircuitParams.from_bytes": (
            rm.CircuitParams.from_bytes,
            {"data": toy.to_bytes(), "allow_insecure_parameters_for_tests_only": True},
        ),
        "CircuitEvaluationKeys.to_bytes": (keys.to_bytes, {}),
        "CircuitEvaluationKeys.from_bytes": (
            rm.CircuitEvaluationKeys.from_bytes,
            {"data": keys.to_bytes(), "params": toy},
        ),
        "EncryptedIntegers.to_bytes": (cipher.to_bytes, {}),
        "EncryptedIntegers.from_bytes": (rm.EncryptedIntegers.from_bytes, {"data": cipher.to_bytes(), "params": toy}),
        "CircuitEvaluationKeys.save": (keys.save, {"path": paths["circuit_keys"]}),
        "CircuitEvaluationKeys.load": (rm.CircuitEvaluationKeys.load, {"path": paths["circuit_keys"], "params": toy}),
        "EncryptedIntegers.save": (cipher.save, one),
        "EncryptedIntegers.load": (rm.EncryptedIntegers.load, {"path": paths["circuit_cipher"], "params": toy}),
        "Integer.quotient": (in_a_circuit(lambda x, given: x.quotient(**given)), {"other": 3}),
        "Integer.remainder": (in_a_circuit(lambda x, given: x.remainder(**given)), {"other": 3}),
        "Integer.rotate_left": (in_a_circuit(lambda x, given: x.rotate_left(**given)), {"by": 3}),
        "Integer.to": (in_a_circuit(lambda x, given: x.to(**given)), {"kind": rm.uint(3)}),
        "select": (
            in_a_circuit(lambda x, given: rm.select(**given)),
            {"bit": BIT, "when_true": INTEGER, "when_false": 2},
        ),
        "minimum": (in_a_circuit(lambda x, given: rm.minimum(**given)), {"a": INTEGER, "b": 2}),
        "maximum": (in_a_circuit(lambda x, given: rm.maximum(**given)), {"a": 1, "b": INTEGER}),
        "add_all": (in_a_circuit(lambda x, given: rm.add_all(**given)), {"values": [INTEGER, 1]}),
        "lookup": (
            in_a_circuit(lambda x, given: rm.lookup(**given)),
            {"index": INTEGER, "entries": [1, 2], "type": rm.uint(4)},
        ),
    }
