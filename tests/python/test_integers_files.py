# SPDX-License-Identifier: Apache-2.0
"""Tests programs of whole numbers in files and on the command line. They come back unchanged, or are refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from damage import refused_damaged

import ringmill as rm

SLOTS = 16

PROGRAM = """
import ringmill as rm

@rm.program
def total(x: rm.Encrypted[rm.uint(8)[16]], p: rm.Plain[rm.uint(8)[16]]):
    return {"total": rm.sum(x * x, 16) - p}

@rm.program
def loose(x: rm.Encrypted[rm.integer[16]]):
    return x * x
"""


@rm.program
def weighted(x: rm.Encrypted[rm.uint(8)[SLOTS]], w: rm.Plain[rm.uint(8)]):
    return {"sum": rm.sum(x * w, SLOTS), "square": x * x}


@pytest.fixture(scope="module")
def compiled():
    return weighted.compile(slots=SLOTS, ranges={"w": (3, 200)})


@pytest.fixture(scope="module")
def client(compiled):
    return compiled.keygen()


X = np.arange(SLOTS, dtype=np.uint8)


def test_everything_goes_through_files(compiled, client, tmp_path):
    inputs = client.encrypt(x=X)
    compiled.save(tmp_path / "program.rmac")
    client.evaluation_keys.save(tmp_path / "keys")
    inputs.ciphertexts["x"].save(tmp_path / "x")
    client.save_secret_key(tmp_path / "secret")

    server = rm.load(tmp_path / "program.rmac")
    assert (server.scheme, server.scheme_reason) == ("bfv", "the program names it")
    assert server.params == compiled.params
    assert (server.ranges, server.predicted_budget) == (compiled.ranges, compiled.predicted_budget)
    assert server.text("mid") == compiled.text("mid")
    keys = rm.EvaluationKeys.load(tmp_path / "keys", server.params)
    sent = rm.Ciphertext.load(tmp_path / "x", server.params)
    assert sent == inputs.ciphertexts["x"]
    assert (sent.scheme, sent.level, sent.key_id) == ("bfv", inputs.ciphertexts["x"].level, client.key_id)
    run = server.run({"x": sent}, plain={"w": np.full(SLOTS, 7)}, keys=keys)
    assert run.ciphertexts == compiled.run(inputs, plain={"w": 7}).ciphertexts

    again = server.load_secret_key(tmp_path / "secret")
    found = again.decrypt(run)
    assert found["sum"].tolist() == [7 * int(X.sum())] * SLOTS
    assert np.array_equal(found["square"], X.astype(int) ** 2)
    limbs = sent.limbs
    assert (limbs.dtype, limbs.shape) == (np.uint64, (2, sent.level + 1, 2 * compiled.params.slots))
    # A saved program keeps no types. Its inputs are vectors of whole numbers.
    for value, says in [
        (np.ones(SLOTS), "input x takes whole numbers, and has dtype float64"),
        (3, r"np.full\(16, 3\)"),
        ([1] * 15, "`x` has 15 values"),
        ([256] * SLOTS, "value 0 of `x` is 256, .* whole numbers from 0 to 255"),
        ([2**63] * SLOTS, "holds 9223372036854775808"),
        (rm.tile([1]), "np.tile"),
        (np.ones((4, 4), dtype=int), "one-dimensional"),
    ]:
        with pytest.raises(rm.DataError, match=says):
            again.encrypt(x=value)
    with pytest.raises(rm.DataError, match=r"value 0 of `w` is 2, .* from 3 to 200"):
        server.run({"x": sent}, plain={"w": np.full(SLOTS, 2)}, keys=keys)


def test_a_loaded_program_can_be_compiled_otherwise(compiled, tmp_path):
    path = tmp_path / "program.rmac"
    compiled.save(path)
    narrow = rm.load(path, ranges={"x": (0, 1), "w": (0, 1)})
    assert narrow.ranges == {"x": (0, 1), "w": (0, 1)}
    assert narrow.params.plain_modulus < compiled.params.plain_modulus
    assert rm.load(path, input_bound=4).ranges == {"x": (-4, 4), "w": (-4, 4)}
    assert rm.load(path, compiled.params, input_bound=4).params == compiled.params
    with pytest.raises(rm.DataError, match="nothing says where its values lie"):
        rm.load(path, compiled.params)
    with pytest.raises(rm.CompileError, match="scheme='ckks' is asked for, and the program is for the scheme bfv"):
        rm.load(path, scheme="ckks")
    t = rm.plain_modulus(log_n=12, bits=18)
    insecure = {"allow_insecure_parameters_for_tests_only": True}
    weak = rm.params(log_n=12, bits=[54, 54, 54], plain_modulus=t, **insecure)
    rm.load(path, weak, input_bound=4).save(path)
    with pytest.raises(rm.FileError, match="insecure"):
        rm.load(path)
    assert rm.load(path, **insecure).params == weak


def test_damaged_and_foreign_files_are_refused(compiled, client, small, tmp_path):
    inputs = client.encrypt(x=X)
    client.evaluation_keys.save(tmp_path / "keys")
    inputs.ciphertexts["x"].save(tmp_path / "x")
    client.save_secret_key(tmp_path / "secret")
    compiled.save(tmp_path / "program")
    loads = {
        "x": lambda: rm.Ciphertext.load(tmp_path / "x", compiled.params),
        "keys": lambda: rm.EvaluationKeys.load(tmp_path / "keys", compiled.params),
        "secret": lambda: compiled.load_secret_key(tmp_path / "secret"),
    }
    for name, load in loads.items():
        refused_damaged(tmp_path, name, load)
    text = (tmp_path / "program").read_text()
    line, rest = text.split("\n", 1)
    kept = json.loads(line.split(" ", 2)[2])
    assert kept["options"]["ranges"] == [["0", "255"], ["3", "200"]]
    for ranges in ([["9", "0"], None], [["0", "x"], None], [0.5, None], [["0", "1", "2"], None]):
        altered = kept | {"options": kept["options"] | {"ranges": ranges}}
        (tmp_path / "program").write_text(f";ringmill compiled {json.dumps(altered)}\n{rest}")
        with pytest.raises(rm.FileError, match="altered"):
            rm.load(tmp_path / "program")
    for cut in (line[:-5] + "\n" + rest, text[: len(text) // 2], text.replace("scheme bfv", "scheme ckks", 1)):
        (tmp_path / "program").write_text(cut)
        with pytest.raises(rm.RingmillError):
            rm.load(tmp_path / "program")
    # Files of one scheme are refused by another.
    with pytest.raises(rm.FileError, match="scheme number 1"):
        rm.Ciphertext.load(tmp_path / "x", small)
    with pytest.raises(rm.FileError, match="scheme number 1"):
        rm.EvaluationKeys.load(tmp_path / "keys", small)

    @rm.program
    def real(x: rm.Encrypted):
        return x * x

    stranger = real.compile(small, slots=SLOTS, input_bound=1).keygen()
    stranger.encrypt(x=np.ones(SLOTS)).ciphertexts["x"].save(tmp_path / "ckks")
    with pytest.raises(rm.FileError, match="scheme number"):
        rm.Ciphertext.load(tmp_path / "ckks", compiled.params)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("commands")
    (folder / "p.py").write_text(PROGRAM)
    np.save(folder / "x.npy", X)
    np.save(folder / "p.npy", np.full(SLOTS, 5, dtype=np.int16))
    np.save(folder / "float.npy", X.astype(float))
    np.save(folder / "large.npy", np.full(SLOTS, 2**63 + 1, dtype=np.uint64))
    np.save(folder / "wide.npy", np.full(SLOTS, 256))
    (folder / "x.csv").write_text("0,1,2,3\n4,5\n")
    (folder / "x.json").write_text(json.dumps(X.tolist()))
    (folder / "half.csv").write_text("0,1.5")
    (folder / "half.json").write_text("[0, 1.0]")
    return folder


TOTAL = int((X.astype(int) ** 2).sum())


@pytest.mark.parametrize("x", ["x.npy", "x.json"])
def test_the_command_runs_files_of_whole_numbers(folder, ringmill, x):
    files = ("--input", f"x={folder / x}", "--input", f"p={folder / 'p.npy'}")
    out = folder / "out.json"
    said = ringmill("run", f"{folder}/p.py:total", "--slots", SLOTS, *files, "--output", out)
    assert "every output agrees with the computation in the clear" in said
    assert "noise budget left, " in said
    assert "bfv: the program names it" in said
    assert json.loads(out.read_text()) == {"total": [TOTAL - 5] * SLOTS}


def test_the_command_takes_a_program_compiled_by_python(folder, ringmill):
    scope = {}
    exec(compile(PROGRAM, str(folder / "p.py"), "exec", dont_inherit=True), scope)
    scope["loose"].compile(slots=SLOTS, ranges={"x": (-9, 20)}).save(folder / "loose.rmac")
    report = json.loads(ringmill("run", folder / "loose.rmac", "--random-inputs", "--seed", 3, "--json"))
    assert report["agrees"]
    (row,) = report["reports"][0]["noise"]
    assert row["measured_bits"] + 2 >= row["predicted_bits"]
    described = json.loads(ringmill("compile", folder / "loose.rmac", "--json"))
    assert described["outputs"][0]["range"] == "0 to 400"
    assert described["params"]["plain_modulus"] > 800
    described = json.loads(ringmill("compile", folder / "loose.rmac", "--range", "x=-2:1", "--json"))
    assert described["outputs"][0]["range"] == "0 to 4"


def test_the_command_compiles_and_times(folder, ringmill):
    described = json.loads(ringmill("compile", f"{folder}/p.py:total", "--slots", SLOTS, "--scheme", "bfv", "--json"))
    assert described["scheme"] == {"name": "bfv", "why": "named by --scheme"}
    assert "scheme bfv" in described["text"]
    (output,) = described["outputs"]
    assert output["predicted_budget"] > 0
    assert output["range"] == f"-255 to {16 * 255**2}"
    small = (f"{folder}/p.py:loose", "--slots", SLOTS, "--range", "x=-3:3", "--target", "polymul")
    assert "cycles" in ringmill("sim", *small, "--machine", "polymul")
    said = ringmill("run", *small, "--random-inputs", "--device", "cpu", "--device", "sim:polymul")
    assert "all devices gave the same bits" in said


def test_a_run_that_is_kept(folder, ringmill, tmp_path):
    kept = ("--checkpoint", tmp_path / "kept")
    said = ringmill("run", f"{folder}/p.py:total", "--slots", SLOTS, "--random-inputs", *kept)
    assert "every output agrees" in said
    assert not (tmp_path / "kept").exists()


REFUSED = {
    "floats": (["total", "--input", "x=float.npy", "--random-inputs"], "expected an array of whole numbers"),
    "large": (["total", "--input", "x=large.npy", "--random-inputs"], "value 0 is 9223372036854775809"),
    "wide": (["total", "--input", "x=wide.npy", "--random-inputs"], "value 0 of `x` is 256"),
    "half": (["total", "--input", "x=half.csv", "--random-inputs"], "column 2: `1.5` is not a whole number"),
    "a float": (["total", "--input", "x=half.json", "--random-inputs"], "expected a list of whole numbers"),
    "short": (["total", "--input", "x=x.csv", "--random-inputs"], "--fill"),
    "no range": (
        ["loose", "--random-inputs"],
        "nothing says where the whole numbers of x lie; give --range x=LOW:HIGH",
    ),
    "a range of floats": (["loose", "--random-inputs", "--range", "x=0:1.5"], "expected two numbers"),
    "a bound": (["loose", "--random-inputs", "--input-bound", "1.5"], "is a whole number"),
    "precision": (["total", "--random-inputs", "--precision", "9"], "--precision is about approximate results"),
    "named parameters": (["total", "--random-inputs", "--params", "set2"], "no set of bfv parameters named `set2`"),
    "another scheme": (["total", "--random-inputs", "--scheme", "ckks"], "ckks does not take uint(8)[16]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_command_refuses(folder, command, name):
    (program, *options), says = REFUSED[name]
    done = command("run", f"p.py:{program}", "--slots", SLOTS, *options, "--json", cwd=folder)
    assert done.returncode == 2, done.stdout
    told = json.loads(done.stderr)
    assert told["status"] == 2
    assert says in told["error"]


def test_fill_and_sample(folder, ringmill):
    program = f"{folder}/p.py:loose"
    sample = ("--slots", SLOTS, "--sample", f"x={folder / 'x.npy'}")
    described = json.loads(ringmill("compile", program, *sample, "--json"))
    assert described["outputs"][0]["range"] == "0 to 1024"  # twice the sample's largest up to a power of two, squared
    said = ringmill("run", program, "--slots", SLOTS, "--input", f"x={folder / 'x.csv'}", "--fill", "zeros")
    assert "every output agrees" in said
