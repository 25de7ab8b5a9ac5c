# SPDX-License-Identifier: Apache-2.0
"""Objects as bytes: what `to_bytes` gives is read back the same by every way, and anything else is refused."""

import concurrent.futures
import copy
import hashlib
import io
import multiprocessing
import pickle
import random
from types import SimpleNamespace

import numpy as np
import pytest

import ringmill as rm

SLOTS = 1024
HEADER, CHECKSUM = 72, 32


@rm.program
def product(x: rm.Encrypted, y: rm.Encrypted, p: rm.Plain):
    return {"product": rm.rotate(x * y, 3) + p, "same": x}


@rm.program
def counted(x: rm.Encrypted[rm.uint(8)[16]], y: rm.Encrypted[rm.uint(8)[16]]):
    return x * y + x


@rm.program
def rows(x: rm.Encrypted[rm.real[3, 4]], w: rm.Plain[rm.real[4]]):
    return x @ w


@rm.program
def shared(a: rm.Encrypted[rm.real[3, 4]], b: rm.Encrypted[rm.real[3, 4]]):
    return a * b + 1


X, Y, P = np.linspace(-1, 1, SLOTS), np.linspace(1, 0, SLOTS), np.full(SLOTS, 0.25)


@pytest.fixture(scope="module")
def world(small):
    compiled = product.compile(small, slots=SLOTS, input_bound=1)
    client = compiled.keygen()
    inputs = client.encrypt(x=X, y=Y)
    run = compiled.run(inputs, plain={"p": P}, progress=False)
    keys, public = client.evaluation_keys, client.public_key()
    return SimpleNamespace(
        compiled=compiled, client=client, inputs=inputs, run=run, keys=keys, public=public, params=small
    )


def same(one, other):
    """Whether two objects have the same bytes."""
    return type(one) is type(other) and one.to_bytes() == other.to_bytes()


def objects(world):
    return {
        "ciphertext": (world.run.ciphertexts["product"], rm.Ciphertext),
        "fresh ciphertext": (world.inputs.ciphertexts["x"], rm.Ciphertext),
        "evaluation keys": (world.keys, rm.EvaluationKeys),
        "public key": (world.public, rm.PublicKey),
        "inputs": (world.inputs, rm.Inputs),
        "run": (world.run, rm.Run),
    }


def test_bytes_files_and_pickles_are_read_back_the_same(world, tmp_path):
    for name, (item, kind) in objects(world).items():
        data = item.to_bytes()
        for form in (data, bytearray(data), memoryview(data)):
            assert same(kind.from_bytes(form, world.params), item), name
        path, stream = tmp_path / name, io.BytesIO()
        item.save(path)
        assert path.read_bytes() == data
        assert same(kind.load(path, world.params), item)
        item.save(stream)
        assert stream.getvalue() == data
        stream.seek(0)
        assert same(kind.load(stream, world.params), item)
        with path.open("rb") as file:
            assert same(kind.load(file, world.params), item)
        with path.open("wb", buffering=0) as file:
            item.save(file)
        assert path.read_bytes() == data
        assert same(pickle.loads(pickle.dumps(item)), item)
        assert same(copy.deepcopy(item), item)
        assert same(copy.copy(item), item)
    read = rm.Inputs.from_bytes(world.inputs.to_bytes(), world.params, world.keys)
    assert read.evaluation_keys is world.keys
    assert read.ciphertexts == world.inputs.ciphertexts
    run = rm.Run.from_bytes(world.run.to_bytes(), world.params)
    assert str(run.report) == str(world.run.report)
    assert run.report.data == world.run.report.data
    wanted, found = world.client.decrypt(world.run), world.client.decrypt(run)
    assert all(np.array_equal(found[name], wanted[name]) for name in ("product", "same"))


def test_parameters_and_programs_are_read_back_the_same(world):
    data = world.params.to_bytes()
    allowed = {"allow_insecure_parameters_for_tests_only": True}
    assert rm.Params.from_bytes(data, **allowed) == world.params == pickle.loads(pickle.dumps(world.params))
    with pytest.raises(rm.FileError, match="insecure"):
        rm.Params.from_bytes(data)
    secure = rm.params(log_n=13, bits=[50, 40, 50])
    assert rm.Params.from_bytes(secure.to_bytes()) == secure
    with pytest.raises(rm.FileError, match="table"):
        rm.Params.from_bytes(secure.to_bytes(), tables=["standard_2018"])
    text = world.compiled.to_bytes()
    for read in (rm.Compiled.from_bytes(text, **allowed), rm.load(io.BytesIO(text), **allowed)):
        assert read.to_bytes() == text
        assert (read.params, read.ranges) == (world.params, world.compiled.ranges)
    again = pickle.loads(pickle.dumps(world.compiled))
    assert again.text("mid") == world.compiled.text("mid")
    with pytest.raises(rm.FileError, match="the program's bytes"):
        rm.Compiled.from_bytes(text)
    stream = io.BytesIO()
    world.compiled.save(stream)
    assert stream.getvalue() == text
    with pytest.raises(rm.FileError, match="its owner alone"):
        world.compiled.save(stream, with_sample=True)
    with pytest.raises(rm.FileError, match="'wb'"):
        world.keys.save(io.StringIO())
    with pytest.raises(rm.FileError, match="'rb'"):
        rm.EvaluationKeys.load(io.StringIO("x"), world.params)


def test_what_holds_a_secret_is_not_pickled(world):
    with pytest.raises(rm.ArgumentError, match=r"client\.save_secret_key"):
        pickle.dumps(world.client)


def test_a_client_sends_half_of_what_others_send(world):
    """The uniform half of what the holder of the secret key encrypts is a seed."""
    own = world.inputs.to_bytes()
    others = world.compiled.encrypt(world.public, x=X, y=Y).to_bytes()
    assert len(own) < 0.51 * len(others)
    # Residues take as many bits as their primes have.
    bits = sum(q.bit_length() for q in world.params.ciphertext_primes)
    degree = 2**world.params.log_n
    assert len(others) < 2 * 2 * degree * bits / 8 + 300
    single = world.inputs.ciphertexts["x"].to_bytes()
    one = rm.Inputs({"x": world.inputs.ciphertexts["x"]}).to_bytes()
    assert len(one) - len(single) < 64
    assert len(own) - len(one) - (len(single) - HEADER - CHECKSUM) < 64


@rm.program
def squared(x: rm.Encrypted):
    return x * x


# The sizes on docs/files.md.
SIZES = {
    "input, as its client sends it": 82068,
    "input under a public key": 163960,
    "public key": 138377,
    "relinearisation or Galois key, seeded": 276617,
}


def test_sizes_are_those_of_the_page():
    params = rm.params(log_n=13, bits=[47, 33, 55], dnum=2)
    compiled = squared.compile(params, slots=4096, input_bound=1)
    client, x = compiled.keygen(), np.zeros(4096)
    public = client.public_key()
    keys = len(client.evaluation_keys.to_bytes()) - 1 - 4 - 4
    assert {
        "input, as its client sends it": len(client.encrypt(x=x).ciphertexts["x"].to_bytes()),
        "input under a public key": len(compiled.encrypt(public, x=x).ciphertexts["x"].to_bytes()),
        "public key": len(public.to_bytes()),
        "relinearisation or Galois key, seeded": keys,
    } == SIZES


def server(compiled, data, keys):
    """Runs the program in a process that has nothing but these three."""
    inputs = rm.Inputs.from_bytes(data, compiled.params, keys)
    return compiled.run(inputs, plain={"p": P}, progress=False).to_bytes()


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_program_runs_in_another_process(world, start):
    context = multiprocessing.get_context(start)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        data = pool.submit(server, world.compiled, world.inputs.to_bytes(), world.keys).result(120)
    run = rm.Run.from_bytes(data, world.params)
    assert run.ciphertexts == world.run.ciphertexts


def test_many_parties_encrypt_for_one_holder(world):
    keys, worst = world.keys, {}
    for party in range(20):
        public = rm.PublicKey.from_bytes(world.client.public_key().to_bytes(), world.params)
        x = np.random.default_rng(party).uniform(-1, 1, SLOTS)
        inputs = world.compiled.encrypt(public, x=x, y=Y)
        assert inputs.evaluation_keys is None
        assert inputs.ciphertexts["x"].key_id == world.client.key_id == public.key_id
        run = world.compiled.run(inputs, plain={"p": P}, keys=keys, progress=False)
        found = world.client.measure(run, x=x, y=Y, p=P)
        for name, bits in found.items():
            worst[name] = min(worst.get(name, bits.measured_bits), bits.measured_bits)
            assert bits.measured_bits >= bits.predicted_bits
    # The bound is of public encryptions, and not far from what they take.
    assert worst["same"] < world.compiled.predicted_bits["same"] + 6


def test_each_party_encrypts_its_own_inputs(world):
    x, y = world.compiled.encrypt(world.public, x=X), world.compiled.encrypt(world.public, y=Y)
    sent = [rm.Inputs.from_bytes(part.to_bytes(), world.params) for part in (x, y)]
    inputs = rm.Inputs.together(sent, world.keys)
    found = world.client.decrypt(world.compiled.run(inputs, plain={"p": P}, progress=False))
    assert np.allclose(found["product"], np.roll(X * Y, -3) + P, atol=1e-4)
    with pytest.raises(rm.DataError, match="no ciphertext was given for encrypted input `y`"):
        world.compiled.run(x, plain={"p": P}, keys=world.keys)
    for parts, says in (([x, x], "have the input `x`"), ([], "none"), ([x, 1], "encrypted inputs")):
        with pytest.raises(rm.DataError, match=says):
            rm.Inputs.together(parts)
    compiled = shared.compile(input_bound=1, batch=True)
    client = compiled.keygen()
    public = client.public_key()
    a, b = np.random.default_rng(1).uniform(-1, 1, (2, 2, 3, 4))
    parts = [compiled.encrypt(public, a=a), compiled.encrypt(public, b=b)]
    run = compiled.run(rm.Inputs.together(parts, client.evaluation_keys), progress=False)
    assert np.allclose(client.decrypt(run), a * b + 1, atol=1e-4)
    with pytest.raises(rm.DataError, match=r"of (1 and 2|2 and 1) inputs"):
        rm.Inputs.together([parts[0], compiled.encrypt(public, b=b[:1])])


def test_public_keys_encrypt_whole_numbers_and_arrays():
    for scheme in ("bfv", "bgv"):
        compiled = counted.compile(scheme=scheme)
        client = compiled.keygen()
        public = client.public_key()
        x, y = np.arange(16), np.arange(16)[::-1]
        run = compiled.run(compiled.encrypt(public, x=x, y=y), keys=client.evaluation_keys, progress=False)
        assert np.array_equal(client.decrypt(run), x * y + x)
        own = rm.Inputs.from_bytes(client.encrypt(x=x, y=y).to_bytes(), compiled.params, client.evaluation_keys)
        assert np.array_equal(client.decrypt(compiled.run(own, progress=False)), x * y + x)
    compiled = rows.compile(input_bound=1, batch=True)
    client = compiled.keygen()
    x, w = np.random.default_rng(1).uniform(-1, 1, (compiled.batch + 2, 3, 4)), np.array([1.0, -1, 0.5, 0.25])
    inputs = compiled.encrypt(client.public_key(), x=x)
    assert len(inputs.more) == 1
    sent = rm.Inputs.from_bytes(inputs.to_bytes(), compiled.params, client.evaluation_keys)
    run = rm.Run.from_bytes(compiled.run(sent, plain={"w": w}, progress=False).to_bytes(), compiled.params)
    assert np.allclose(client.decrypt(run), x @ w, atol=1e-4)


def test_bad_public_keys_and_inputs_are_refused(world):
    other = rm.params(log_n=11, bits=[50, 40, 50], allow_insecure_parameters_for_tests_only=True)
    foreign = product.compile(other, slots=SLOTS, input_bound=1).keygen().public_key()
    for key in (foreign, world.keys, None, b"x"):
        with pytest.raises(rm.KeysError):
            world.compiled.encrypt(key, x=X, y=Y)
    with pytest.raises(rm.DataError, match=r"compiled.encrypt\(public_key, x=..., y=...\)"):
        world.compiled.encrypt(world.public)
    with pytest.raises(rm.DataError, match="`z`"):
        world.compiled.encrypt(world.public, x=X, z=X)
    with pytest.raises(rm.DataError):
        world.compiled.encrypt(world.public, x=5 * X, y=Y)
    with pytest.raises(rm.DataError, match="no ciphertext"):
        rm.Inputs({}).to_bytes()
    with pytest.raises(rm.FileError, match="no report"):
        rm.Run.from_bytes(world.inputs.to_bytes(), world.params)
    with pytest.raises(rm.FileError, match="other parameters"):
        rm.Inputs.from_bytes(world.inputs.to_bytes(), other)
    mixed = {"x": world.inputs.ciphertexts["x"], "y": world.compiled.keygen().encrypt(x=X, y=Y).ciphertexts["y"]}
    with pytest.raises(rm.FileError, match="another secret key"):
        rm.Inputs(mixed).to_bytes()


def sealed(data):
    """Returns a file with the checksum of its content."""
    return data[:-CHECKSUM] + hashlib.sha256(data[:-CHECKSUM]).digest()


def test_altered_bytes_are_refused_or_another_object(world):
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    dice = random.Random(seed)
    for name, (item, kind) in objects(world).items():
        data = item.to_bytes()
        for cut in [0, 1, HEADER - 1, HEADER, len(data) // 2, len(data) - 1, *range(4096, len(data), 4096)]:
            with pytest.raises(rm.FileError):
                kind.from_bytes(data[:cut], world.params)
        for _ in range(60):
            altered = bytearray(data)
            for _ in range(dice.randrange(1, 4)):
                # Most of a file are residues. The fields before them are of more interest.
                at = dice.randrange(len(data) if dice.random() < 0.3 else 160)
                altered[at] = dice.choice([0, 1, 0x7F, 0xFF, altered[at] ^ (1 << dice.randrange(8))])
            if altered != data:
                with pytest.raises(rm.FileError):
                    kind.from_bytes(altered, world.params)
            try:
                kind.from_bytes(sealed(bytes(altered)), world.params)
            except (rm.FileError, rm.KeysError):
                pass
            except BaseException as error:
                raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error


def test_nothing_that_is_sent_holds_the_secret(world, tmp_path):
    world.client.save_secret_key(tmp_path / "secret")
    secret = (tmp_path / "secret").read_bytes()[HEADER:-CHECKSUM]
    pieces = {secret[at : at + 16] for at in range(0, len(secret) - 16, 16)}
    for name, (item, _) in objects(world).items():
        data = item.to_bytes()
        found = {data[at : at + 16] for at in range(len(data) - 15)}
        assert not pieces & found, name
