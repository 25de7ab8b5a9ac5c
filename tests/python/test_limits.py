# SPDX-License-Identifier: Apache-2.0
"""Tests limits and interrupts. Memory is bounded and its end is a MemoryError. Ctrl-C is prompt and keeps finished
results.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import ringmill as rm

# Seconds that a loaded computer may need to stop. A quiet one needs a tenth.
STOPS = 3.0


@rm.program
def squared(x: rm.Encrypted):
    return (x * x) << 1


@pytest.fixture(scope="module")
def compiled(small):
    return squared.compile(small)


@pytest.fixture
def limit():
    """Returns a function that sets the memory limit. The end of the test restores it."""
    before = rm.limits()
    yield lambda memory: rm.limits(memory=memory)
    rm.limits(memory=before.memory)


def test_limits_are_read_and_set(limit):
    assert rm.limits().memory > 2**24
    assert limit("512MiB") == rm.limits() == rm.Limits(memory=2**29)
    assert limit(2**30).memory == 2**30
    for bad in ("much", 0, -1, 1.5, True, "", b"1"):
        with pytest.raises(rm.ArgumentError, match="memory"):
            rm.limits(memory=bad)
    assert rm.limits().memory == 2**30


def test_the_environment_sets_them_too():
    script = "import ringmill as rm; print(rm.limits().memory)"
    environment = {**os.environ, "RINGMILL_MAX_MEMORY": "3G"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == str(3 * 2**30), done.stderr
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=environment | {"RINGMILL_MAX_MEMORY": "much"},
    )
    assert "RingmillError: RINGMILL_MAX_MEMORY: a memory limit is" in done.stderr


def test_key_sizes_are_known_before_keys_are_made(compiled, small, tmp_path):
    size = compiled.key_bytes
    assert f"{size / 2**20:.1f} MiB" in repr(compiled)
    compiled.keygen().evaluation_keys.save(tmp_path / "keys")
    # In memory a residue takes 8 bytes, in files the bits of its prime.
    bits = [q.bit_length() for q in small.ciphertext_primes + small.special_primes]
    packed = size * sum(bits) / (64 * len(bits))
    assert packed <= (tmp_path / "keys").stat().st_size <= packed + 1024


def test_what_needs_more_than_the_limit_is_a_memory_error(compiled, small, limit, tmp_path):
    client = compiled.keygen()
    inputs = client.encrypt(x=np.ones(1024))
    inputs.ciphertexts["x"].save(tmp_path / "x")
    limit("16KiB")
    for work in (
        compiled.keygen,
        lambda: client.encrypt(x=np.ones(1024)),
        lambda: compiled.run(inputs),
        lambda: rm.Ciphertext.load(tmp_path / "x", small),
    ):
        with pytest.raises(MemoryError, match=r"16\.0 KiB.*ringmill\.limits"):
            work()
    limit("4GiB")
    assert compiled.run(inputs).ciphertexts


def test_a_run_shares_the_keys_of_its_client(limit):
    """A run makes no copies of its client's keys, so it fits a limit below their size. A run of 1,000 rotations once
    held them twice more, and a limit ended it midway.
    """
    many = rm.params(log_n=12, bits=[50, 40, 40, 40, 50], scale=2.0**40, allow_insecure_parameters_for_tests_only=True)

    @rm.program
    def turning(x: rm.Encrypted):
        return sum((x << step for step in range(2, 64)), x << 1)

    compiled = turning.compile(many, input_bound=1)
    assert compiled.key_bytes > 32 << 20
    client = compiled.keygen()
    inputs = client.encrypt(x=np.ones(2048))
    limit("24MiB")
    run = compiled.run(inputs)
    limit("4GiB")
    assert np.allclose(client.decrypt(run), 63)


# A script that limits its address space to what it has after loading the package, and so many MiB more.
STARVED = """
import resource, sys
import numpy as np
import ringmill as rm

@rm.program
def deep(x: rm.Encrypted, w: rm.Encrypted):
    y = x
    for step in range(1, 9):
        y = rm.conj(y << step) * w
    return y

def used():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

extra = int(sys.argv[1]) << 20
resource.setrlimit(resource.RLIMIT_AS, (used() + extra, resource.RLIM_INFINITY))
try:
    compiled = deep.compile(slots=2048)
    client = compiled.keygen()
    inputs = client.encrypt(x=np.ones(2048), w=np.ones(2048))
    client.decrypt(compiled.run(inputs, device="cpu:2", progress=False))
    print("done")
except MemoryError as error:
    print("refused", error)
"""


def test_a_starved_process_gets_a_memory_error():
    said = {}
    between = (40, 80, 120, 200, 300) if "RINGMILL_FUZZ_SECONDS" in os.environ else (120,)
    for extra in (8, *between, 4000):
        done = subprocess.run([sys.executable, "-c", STARVED, str(extra)], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, (extra, done.returncode, done.stderr)
        said[extra] = done.stdout.split(maxsplit=1)[0]
    assert said[8] == "refused"
    assert said[4000] == "done"


# A script of work that takes far longer than the tests wait. It says what an interrupt raised, and how soon.
STOPPED = """
import sys, threading, time
import numpy as np
import ringmill as rm

# Seconds of each kind of work, on a fast processor too: a run's 8,000 operations, or the compiler's 40,000.
steps = 20_000 if sys.argv[1] == "compile" else 4_000

@rm.program
def walk(x: rm.Encrypted):
    for step in range(steps):
        x = rm.conj(x << (1 + step % 5))
    return x

@rm.program
def many(x: rm.Encrypted):
    y = x
    for step in range(1, 200):
        y = y + (x << step) * (1 / step)
    return y

set1 = rm.params("set1", table="standard_2018")
slots = set1.slots
def run(*devices):
    compiled = walk.compile(set1)
    client = compiled.keygen()
    inputs = client.encrypt(x=np.zeros(slots))
    return lambda: compiled.run(inputs, device=list(devices), progress=False)

def short_then_long():
    @rm.program
    def short(x: rm.Encrypted):
        return rm.conj(x << 1)
    compiled = short.compile(set1)
    client = compiled.keygen()
    inputs = client.encrypt(x=np.zeros(slots))
    return lambda: compiled.run(inputs, device=["cpu:1"] * 20_000, progress=False)

def compiling():
    from ringmill.program import compile_traced
    traced, shape = walk.trace(slots)
    return lambda: [compile_traced(traced, shape, set1) for _ in range(1000)]

work = {
    "cpu:1": lambda: run("cpu:1"),
    "cpu:2": lambda: run("cpu:2"),
    "sim:ring": lambda: run("sim:ring"),
    "compile": compiling,
    "keygen": lambda: many.compile(rm.params("set2")).keygen,
    "several": short_then_long,
}[sys.argv[1]]()
print("ready", flush=True)
try:
    work()
    print("not interrupted")
except KeyboardInterrupt as error:
    runs = getattr(error, "runs", None)
    print(type(error).__name__, time.time(), -1 if runs is None else len(runs), str(error)[:60])
"""


@pytest.mark.parametrize("work", ["cpu:1", "cpu:2", "sim:ring", "compile", "keygen", "several"])
def test_ctrl_c_is_raised_at_once(work):
    child = subprocess.Popen([sys.executable, "-c", STOPPED, work], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.5)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[0].split(maxsplit=3)
    assert said[0] in ("KeyboardInterrupt", "Interrupted"), said
    assert float(said[1]) - sent < STOPS
    if work in ("cpu:1", "cpu:2", "sim:ring"):
        assert (said[0], said[2]) == ("Interrupted", "0")
    if work == "several":
        assert said[0] == "Interrupted"
        assert int(said[2]) > 0  # those that were complete are there
    assert child.returncode == 0


@pytest.mark.parametrize("swallow", ["", "except KeyboardInterrupt: raise ImportError('half imported')"])
def test_ctrl_c_while_modules_are_imported_is_status_130(tmp_path, swallow):
    """A stand-in for numpy gets Ctrl-C during its import, and may turn it into another exception."""
    body = "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(60)"
    text = f"try:\n    {body}\n{swallow}\n" if swallow else body
    (tmp_path / "numpy.py").write_text(text)
    command = [sys.executable, "-c", "from ringmill_command import main; raise SystemExit(main())", "--version"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "ringmill: interrupted\n")


def test_the_command_exits_130(tmp_path):
    source = tmp_path / "walk.py"
    source.write_text(
        textwrap.dedent(
            """
            import ringmill as rm

            @rm.program
            def walk(x: rm.Encrypted):
                for step in range(600):
                    x = rm.conj(x << (1 + step % 5))
                return x
            """
        )
    )
    command = os.path.join(os.path.dirname(sys.executable), "ringmill")
    arguments = [command, "run", str(source), "--random-inputs", "--params", "set2", "--max-memory", "8G"]
    child = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # The command says the size of the keys before it makes them.
    assert "evaluation keys of" in child.stdout.readline()
    sent = time.time()
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[1]
    assert time.time() - sent < STOPS
    assert child.returncode == 130, said
    assert said.count("interrupted") == 1
    assert "Traceback" not in said


# A script of one operation after another, short and long ones. A signal may come at any moment.
MOMENT = """
import sys, time
import numpy as np
import ringmill as rm
from ringmill.seal import SealClient, SealEvaluator

set1 = rm.params("set1", table="standard_2018")

@rm.program
def many(x: rm.Encrypted):
    y = x
    for step in range(1, 40):
        y = y + (x << step) * (1 / step)
    return y

def seal():
    import os
    import tenseal.sealapi as sealapi
    parms = sealapi.EncryptionParameters(sealapi.SCHEME_TYPE.CKKS)
    log_n, primes = (15, 12) if "RINGMILL_FUZZ_SECONDS" in os.environ else (14, 5)
    parms.set_poly_modulus_degree(2**log_n)
    parms.set_coeff_modulus(sealapi.CoeffModulus.Create(2**log_n, [60] + primes * [50] + [60]))
    os.makedirs(sys.argv[2], exist_ok=True)
    path = os.path.join(sys.argv[2], "parms")
    parms.save(path)
    client = SealClient.generate(open(path, "rb").read(), security_table="standard_2018")
    evaluator = SealEvaluator(client.parameters(), security_table="standard_2018")
    return client, evaluator, client.encrypt(np.ones(2 ** (log_n - 1)), 2.0**50)

def rotations():
    client, evaluator, cipher = seal()
    evaluator.load_galois_keys(client.galois_keys([1, 2, 4, 8]))
    return lambda: evaluator.rotate(cipher, 5)

def loading():
    client, evaluator, cipher = seal()
    keys = client.galois_keys(list(range(1, 9)))
    return lambda: evaluator.load_galois_keys(keys)

def decrypting():
    client, _, cipher = seal()
    return lambda: client.decrypt(cipher)

def reading():
    compiled = many.compile(set1)
    compiled.keygen().evaluation_keys.save(sys.argv[2])
    return lambda: rm.EvaluationKeys.load(sys.argv[2], set1)

def clear():
    program, _ = many.trace(set1.slots)
    from ringmill._ringmill import evaluate_program
    return lambda: evaluate_program(program, [np.ones(set1.slots, complex)])

def runs():
    compiled = many.compile(set1)
    client = compiled.keygen()
    inputs = client.encrypt(x=np.zeros(set1.slots))
    return lambda: client.decrypt(compiled.run(inputs, progress=False))

work = {f.__name__: f for f in (rotations, loading, decrypting, reading, clear, runs)}[sys.argv[1]]()
print("ready", flush=True)
try:
    while True:
        work()
except KeyboardInterrupt:
    print(time.time(), flush=True)
    raise
"""


@pytest.mark.parametrize("work", ["rotations", "loading", "decrypting", "reading", "clear", "runs"])
def test_ctrl_c_at_any_moment(work, tmp_path):
    """An interrupt stops single operations on SEAL's files, loads, decryptions and programs in the clear. The status is
    130, as for runs.
    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for _ in range(4 if "RINGMILL_FUZZ_SECONDS" in os.environ else 1):
        script = ["-c", MOMENT, work, str(tmp_path / "keys")]
        child = subprocess.Popen(
            ["bash", "-c", 'trap : INT; "$@"; exit $?', "sh", sys.executable, *script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=root,
            start_new_session=True,
        )
        assert child.stdout.readline() == "ready\n", child.stderr.read()
        time.sleep(random.uniform(0.01, 0.5))
        sent = time.time()
        os.killpg(child.pid, signal.SIGINT)
        said, fault = child.communicate(timeout=60)
        assert float(said) - sent < STOPS, fault
        assert time.time() - sent < STOPS
        assert child.returncode == 130, fault
        assert "KeyboardInterrupt" in fault


def test_no_python_runs_while_values_are_read():
    """An interrupt that arrives in Python code called while arguments are read must still be raised."""
    from ringmill._ringmill import evaluate_program

    @rm.program
    def doubled(x: rm.Encrypted):
        return x + x

    program, _ = doubled.trace(16)
    called = []
    values = [np.ones(16, complex)]
    evaluate_program(program, values)  # loads numpy's interface, once
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_qualname) if event == "call" else None)
    try:
        outputs = evaluate_program(program, values)
    finally:
        sys.setprofile(None)
    assert np.allclose(next(iter(outputs.values())), 2)
    assert not called, called


def test_other_threads_go_on(compiled):
    """Python handles signals in the main thread. Work on other threads goes on."""
    script = textwrap.dedent(
        """
        import os, signal, threading, time
        import numpy as np
        import ringmill as rm

        @rm.program
        def walk(x: rm.Encrypted):
            for step in range(300):
                x = rm.conj(x << (1 + step % 5))
            return x

        compiled = walk.compile(slots=1024)
        client = compiled.keygen()
        inputs = client.encrypt(x=np.ones(1024))
        done = []
        other = threading.Thread(target=lambda: done.append(compiled.run(inputs, device="cpu:1", progress=False)))
        other.start()
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60)
        except KeyboardInterrupt:
            pass
        other.join()
        assert np.allclose(client.decrypt(done[0]), 1, atol=1e-2)
        """
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_outputs_that_everybody_could_read_are_refused(small):
    @rm.program
    def nothing(x: rm.Encrypted):
        y = x * 2
        return y - y

    with pytest.raises(rm.CompileError, match="transparent") as refused:
        nothing.compile(small)
    assert refused.value.file == __file__
    assert refused.value.line == nothing.__wrapped__.__code__.co_firstlineno + 3

    @rm.program
    def masked(x: rm.Encrypted, mask: rm.Plain):
        return x * mask

    compiled = masked.compile(small)
    inputs = compiled.keygen().encrypt(x=np.ones(1024))
    assert compiled.run(inputs, plain={"mask": np.ones(1024)})
    with pytest.raises(rm.DataError, match="transparent"):
        compiled.run(inputs, plain={"mask": np.zeros(1024)})


@rm.program
def weighted(x: rm.Encrypted):
    y = x
    for step in range(1, 5):
        y = (y << step) + x * np.linspace(step, step + 1, 1024)
    return y


def test_expanded_keys_and_constants_keep_to_a_budget(small):
    compiled = weighted.compile(small, input_bound=0.1)
    client = compiled.keygen()
    x = np.linspace(-0.1, 0.1, 1024)
    inputs = client.encrypt(x=x)

    def run(**options):
        run = compiled.run(inputs, device="cpu:1", progress=False, **options)
        return client.decrypt(run), run.report.data["cpu"]["expanded"]

    whole, everything = run()
    assert everything["budget_bytes"] is None
    assert (everything["constants"], everything["constants_again"]) == (4, 0)
    budget = everything["peak_bytes"] // 2
    halved, half = run(expanded_bytes=budget)
    assert np.array_equal(whole, halved)
    assert half["budget_bytes"] == budget
    # All entries were there before, and the start of this run dropped half of them.
    assert half["limbs"] + half["constants"] > 0
    assert (half["limbs_again"], half["constants_again"]) == (half["limbs"], half["constants"])
    with pytest.raises(rm.DeviceError, match=r"a budget of 1 byte .*give at least \d+ bytes"):
        run(expanded_bytes=1)
    for bad in (0, -1, 1.5, True, "1G", b"1"):
        with pytest.raises(rm.ArgumentError, match="expanded_bytes"):
            run(expanded_bytes=bad)


def test_the_keys_of_circuits(limit, tmp_path):
    """The keys' size is known before they are made. The keys must fit the limit, and so must the form that bootstraps
    read.
    """

    @rm.circuit
    def doubled(x: rm.Encrypted[rm.uint(4)]):
        return x + x

    compiled = doubled.compile(rm.circuit_params(toy_for_tests_only=True), failure=-40)
    client = compiled.keygen()
    client.save_secret_key(tmp_path / "secret")
    client.evaluation_keys.save(tmp_path / "keys")
    saved = (tmp_path / "keys").stat().st_size
    # Words of 32 bits take 4 bytes in the file and 8 in memory. The file has less than 512 bytes beside them.
    assert 0 <= saved - compiled.key_bytes // 2 <= 512
    inputs = client.encrypt(x=5)
    limit(compiled.key_bytes - 1)
    for make in (compiled.keygen, lambda: compiled.load_secret_key(tmp_path / "secret")):
        with pytest.raises(MemoryError, match="the evaluation keys needs about"):
            make()
    with pytest.raises(MemoryError, match="as bootstraps read them"):
        compiled.run(inputs, progress=False)
    limit("100MiB")
    with pytest.raises(MemoryError, match="a checkpoint and what is read of it"):
        compiled.run(inputs, progress=False, resume="/dev/zero")
    assert client.decrypt(compiled.run(inputs, progress=False)) == 10


def test_compiling_circuits_keeps_to_the_limit():
    """The test runs in a process of its own. Other processes have memory left that the compiler would use."""
    script = """
        import ringmill as rm

        @rm.circuit
        def divided(x: rm.Encrypted[rm.uint(64)], y: rm.Encrypted[rm.uint(64)]):
            for turn in range(60):
                x = x // (y + turn)
            return x

        rm.limits(memory="12MiB")
        for params in ("circuits", "circuit_bits"):
            try:
                divided.compile(params)
            except MemoryError as error:
                assert "limit is 12.0 MiB" in str(error), error
            else:
                raise AssertionError(params)
        print("done")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert done.stdout == "done\n", done.stderr
