# SPDX-License-Identifier: Apache-2.0
"""Tests that copies of a client repeat no randomness: forked processes, process pools and threads draw their own."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import random
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest

import ringmill as rm
from ringmill.seal import SealClient

FORK = multiprocessing.get_context("fork")
LONG = int(os.environ.get("RINGMILL_FUZZ_SECONDS", "0"))


@rm.program
def twisted(x: rm.Encrypted):
    return (x * x) << 1


@pytest.fixture(scope="module")
def compiled(small):
    return twisted.compile(small, input_bound=16)


@pytest.fixture(scope="module")
def client(compiled):
    return compiled.keygen()


@pytest.fixture(scope="module")
def seal():
    from seal_reference import small_parameters

    return SealClient.generate(small_parameters(), security_table="standard_2018", compression="none")


def in_child(work):
    """Runs `work` in a forked child and returns its result."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(read)
            with os.fdopen(write, "wb") as out:
                pickle.dump(work(), out)
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        result = answer.read()
    _, status = os.waitpid(child, 0)
    assert status == 0
    return pickle.loads(result)


def all_differ(masks):
    return all(not np.array_equal(a, b) for a, b in combinations(masks, 2))


def share_bytes(a, b):
    """Whether two files share a stretch of 24 bytes, which is three residues. The search tries 40 places."""
    where = random.Random(1)
    stretches = (a[at : at + 24] for at in (where.randrange(200, len(a) - 56) for _ in range(40)))
    return any(len(set(stretch)) > 8 and stretch in b for stretch in stretches)


# Values for process pools. Children that this module forks inherit the parent's client.
HELD = {}


def mask_of_client(number):
    ciphertext = HELD["client"].encrypt(x=np.full(1024, number / 8)).ciphertexts["x"]
    return ciphertext.limbs[1]


def files_of_seal(number):
    client = HELD["seal"]
    cipher = client.encrypt([number / 8], 2.0**30)
    return cipher, client.public_key(), client.relin_keys(), client.galois_keys([number + 1])


def test_forked_children_encrypt_under_masks_of_their_own(client):
    HELD["client"] = client
    masks = [in_child(lambda n=n: mask_of_client(n)) for n in range(4)]
    masks += [mask_of_client(0), mask_of_client(0)]
    assert all_differ(masks)


def test_a_process_pool_and_a_multiprocessing_pool_repeat_nothing(client):
    HELD["client"] = client
    with ProcessPoolExecutor(4, mp_context=FORK) as pool:
        masks = list(pool.map(mask_of_client, range(8)))
    with FORK.Pool(4) as pool:
        masks += pool.map(mask_of_client, range(8))
    assert all_differ(masks)


def test_threads_repeat_nothing(client):
    HELD["client"] = client
    with ThreadPoolExecutor(8) as pool:
        assert all_differ(list(pool.map(mask_of_client, range(32))))


def test_keys_made_in_children_have_halves_of_their_own(seal):
    HELD["seal"] = seal
    made = [in_child(lambda n=n: files_of_seal(n)) for n in (0, 1)] + [files_of_seal(0)]
    with ProcessPoolExecutor(2, mp_context=FORK) as pool:
        made += pool.map(files_of_seal, (0, 1))
    with ThreadPoolExecutor(2) as pool:
        made += pool.map(files_of_seal, (0, 1))
    for kind in range(4):
        for a, b in combinations([files[kind] for files in made], 2):
            assert not share_bytes(a, b)
    assert share_bytes(made[0][0], made[0][0]), "the comparison finds what is there"


def test_evaluation_keys_made_in_children_differ(compiled, client, small, tmp_path):
    client.save_secret_key(tmp_path / "secret")

    def keys(number):
        own = compiled.load_secret_key(tmp_path / "secret")
        own.evaluation_keys.save(tmp_path / str(number))
        return own.key_id, compiled.keygen().key_id

    ids = [in_child(lambda n=n: keys(n)) for n in range(2)]
    assert {loaded for loaded, _ in ids} == {client.key_id}
    assert len({fresh for _, fresh in ids} | {client.key_id}) == 3
    a, b = ((tmp_path / number).read_bytes() for number in "01")
    assert not share_bytes(a, b)


def forked_among_threads(client, forks):
    """Forks children while threads encrypt. Each child finishes, and no two masks are equal."""
    HELD["client"] = client
    stop, masks, busy = threading.Event(), [], threading.Lock()

    def work():
        while not stop.is_set():
            mask = mask_of_client(1)
            with busy:
                masks.append(mask[:, :8].copy())

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(forks):
            process = FORK.Process(target=lambda: [mask_of_client(n) for n in range(3)])
            process.start()
            process.join(60)
            assert process.exitcode == 0, "a child hangs or fails"
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert len({mask.tobytes() for mask in masks}) == len(masks)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_forked_among_busy_threads_still_encrypts(client):
    forked_among_threads(client, 6)


@pytest.mark.skipif(not LONG, reason="long: make full runs it")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_at_random_children_threads_and_pools_repeat_nothing(compiled, client, seal):
    HELD.update(client=client, seal=seal)
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    draw = random.Random(seed)
    until = time.monotonic() + LONG
    masks, files = [], []
    while time.monotonic() < until:
        workers, tasks = draw.randint(1, 6), draw.randint(1, 12)
        match draw.randrange(5):
            case 0:
                masks += [in_child(lambda n=n: mask_of_client(n)) for n in range(workers)]
            case 1:
                with ProcessPoolExecutor(workers, mp_context=FORK) as pool:
                    masks += pool.map(mask_of_client, range(tasks))
            case 2:
                with ThreadPoolExecutor(workers) as pool:
                    masks += pool.map(mask_of_client, range(tasks))
            case 3:
                files += [in_child(lambda n=n: files_of_seal(n)) for n in range(2)]
            case _:
                forked_among_threads(client, workers)
        # A child forks a child of its own.
        masks.append(in_child(lambda: in_child(lambda: mask_of_client(0))))
        assert len({mask.tobytes() for mask in masks}) == len(masks)
        for kind in range(4):
            recent = [made[kind] for made in files[-6:]]
            assert not any(share_bytes(a, b) for a, b in combinations(recent, 2))


@rm.circuit
def quotient(x: rm.Encrypted[rm.uint(32)], y: rm.Encrypted[rm.uint(32)]):
    return x // y


def test_circuits_run_in_children_that_were_forked_in_the_middle_of_one(tmp_path):
    compiled = quotient.compile(rm.circuit_params(toy_for_tests_only=True), failure=-40)
    client = compiled.keygen()
    x = 2**32 - 1

    def ran(name, y):
        inputs = client.encrypt(x=x, y=y)
        inputs.ciphertexts["x"].save(tmp_path / name)
        return client.decrypt(compiled.run(inputs, progress=False))

    found = []
    busy = threading.Thread(target=lambda: found.extend(ran(f"parent{n}", 7) for n in range(4)))
    busy.start()
    time.sleep(0.1)
    children = [in_child(lambda n=n: ran(f"child{n}", 100 + n)) for n in range(3)]
    busy.join()
    assert children == [x // (100 + n) for n in range(3)]
    assert found == [x // 7] * 4
    # All files are of one value, each under masks from a seed of its own. The seed follows the type of the integer.
    files = [path.read_bytes() for path in tmp_path.iterdir()]
    assert len(files) == 7
    assert len({file[72 + 4 + 18 : 72 + 4 + 18 + 32] for file in files}) == 7
    assert len({file[72 + 4 + 18 + 32 : -32] for file in files}) == 7
