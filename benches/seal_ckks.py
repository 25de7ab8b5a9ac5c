"""CKKS operations beside Microsoft SEAL, in one run.

Ringmill and SEAL compute on the same keys and ciphertexts (made by SEAL), pinned to one core, one thread each, in
turns: a block of SEAL's, a block of ours, and so on, so that both meet the same machine. Before anything is timed,
every result of ours must equal SEAL's bit for bit. The figure compared is the fastest run of each; the medians are in
the JSON file.

SEAL is timed around its own C++ methods, called from Python (the call costs under a microsecond); ours inside the Rust
process `seal_peer`, from bound limbs to output limbs, verification of the program included.

    python benches/seal_ckks.py            # prints a table, writes benches/results/seal_ckks.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# SEAL reports no version through this binding; the wheel's own does.
SEAL_NAME = "Microsoft SEAL (tenseal.sealapi)"


def build_peer() -> Path:
    """Builds our side in release mode and returns its path."""
    target = ["-p", "ringmill-devices", "--example", "seal_peer"]
    command = ["cargo", "build", "--release", *target, "--message-format=json"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True)
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "seal_peer":
            return Path(message["executable"])
    raise SystemExit("cargo built no seal_peer")


class Seal:
    """SEAL's side: context, keys, two ciphertexts and the operations to time."""

    def __init__(self, parameters: dict) -> None:
        import tenseal.sealapi as seal

        self.seal = seal
        parms = seal.EncryptionParameters(seal.SCHEME_TYPE.CKKS)
        parms.set_poly_modulus_degree(1 << parameters["log_n"])
        parms.set_coeff_modulus([seal.Modulus(q) for q in parameters["moduli"]])
        self.context = seal.SEALContext(parms, True, seal.SEC_LEVEL_TYPE.TC128)
        if not self.context.parameters_set():
            raise SystemExit("SEAL refuses the parameters")
        keygen = seal.KeyGenerator(self.context)
        public = seal.PublicKey()
        keygen.create_public_key(public)
        self.relin = seal.RelinKeys()
        keygen.create_relin_keys(self.relin)
        self.galois = seal.GaloisKeys()
        keygen.create_galois_keys([parameters["galois"]], self.galois)  # by Galois element
        encoder = seal.CKKSEncoder(self.context)
        encryptor = seal.Encryptor(self.context, public)
        self.evaluator = seal.Evaluator(self.context)
        scale = 2.0 ** parameters["log2_scale"]
        self.a, self.b = (self._encrypt(encoder, encryptor, [x, -x, x / 3, 1.0], scale) for x in (0.75, -0.4))
        self.out = seal.Ciphertext()

    def _encrypt(self, encoder: object, encryptor: object, values: list[float], scale: float) -> object:
        plain, cipher = self.seal.Plaintext(), self.seal.Ciphertext()
        encoder.encode([float(v) for v in values], scale, plain)
        encryptor.encrypt(plain, cipher)
        return cipher

    def rows(self) -> dict[str, Callable[[], None]]:
        """Each operation writes its result to `self.out`."""
        e, a, b, out = self.evaluator, self.a, self.b, self.out

        def multiply_relinearise() -> None:
            e.multiply(a, b, out)
            e.relinearize_inplace(out, self.relin)

        def multiply_relinearise_rescale() -> None:
            multiply_relinearise()
            e.rescale_to_next_inplace(out)

        return {
            "add": lambda: e.add(a, b, out),
            "multiply": lambda: e.multiply(a, b, out),
            "multiply_relinearise": multiply_relinearise,
            "rescale": lambda: e.rescale_to_next(a, out),
            "multiply_relinearise_rescale": multiply_relinearise_rescale,
            "rotate": lambda: e.rotate_vector(a, 1, self.galois, out),
        }

    def save(self, folder: Path) -> None:
        """Keys, operands and the result of every row."""
        objects = {"relin": self.relin, "galois": self.galois, "a": self.a, "b": self.b}
        for name, item in objects.items():
            item.save(str(folder / f"{name}.seal"))
        for name, run in self.rows().items():
            run()
            self.out.save(str(folder / f"{name}.seal"))


def time_seal(run: Callable[[], None], count: int) -> list[float]:
    """Seconds of each of `count` runs."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return times


def measure(peer: Path, name: str, rounds: int, count: int) -> list[dict]:
    """Rows of one parameter set."""
    parameters = json.loads(subprocess.run([peer, "params", name], check=True, capture_output=True).stdout)
    theirs = Seal(parameters)
    with tempfile.TemporaryDirectory() as folder:
        theirs.save(Path(folder))
        command = [peer, "serve", name, folder]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            equal = json.loads(process.stdout.readline())
            if not all(equal.values()):
                raise SystemExit(f"results differ from SEAL's, nothing is timed: {equal}")

            def time_ours(row: str, runs: int) -> list[float]:
                process.stdin.write(f"{row} {runs}\n")
                process.stdin.flush()
                return json.loads(process.stdout.readline())

            rows = []
            for row, run in theirs.rows().items():
                time_seal(run, 1)
                time_ours(row, 1)
                seal_times: list[float] = []
                our_times: list[float] = []
                for _ in range(rounds):
                    seal_times += time_seal(run, count)
                    our_times += time_ours(row, count)
                seal_us, our_us = (min(t) * 1e6 for t in (seal_times, our_times))
                seal_median, our_median = (statistics.median(t) * 1e6 for t in (seal_times, our_times))
                rows.append(
                    {
                        "set": name,
                        "operation": row,
                        "seal_us": round(seal_us, 1),
                        "ours_us": round(our_us, 1),
                        "seal_over_ours": round(seal_us / our_us, 3),
                        "seal_median_us": round(seal_median, 1),
                        "ours_median_us": round(our_median, 1),
                        "runs": rounds * count,
                        "log_n": parameters["log_n"],
                        "log2_qp": sum(q.bit_length() for q in parameters["moduli"]),
                        "backend": parameters["backend"],
                    }
                )
            process.stdin.close()
    return rows


def processor() -> str:
    """The processor's name, where the system tells."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", dest="sets", action="append", choices=["set1", "set2"], help="default: both")
    parser.add_argument("--rounds", type=int, default=5, help="turns of SEAL and ours (default 5)")
    parser.add_argument("--count", type=int, default=5, help="runs in a turn (default 5)")
    parser.add_argument("--output", type=Path, default=ROOT / "benches" / "results" / "seal_ckks.json")
    parser.add_argument("--peer", type=Path, help="our side, already built (default: cargo builds it)")
    options = parser.parse_args()

    peer = options.peer or build_peer()
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})  # inherited by our side's process
    sets = options.sets or ["set1", "set2"]
    rows = [row for name in sets for row in measure(peer, name, options.rounds, options.count)]

    print(f"{SEAL_NAME} {version('tenseal')}; 1 thread, one core; {processor()}")
    print(f"{'set':<6}{'operation':<32}{'N':>7}{'log2 QP':>8}{'SEAL us':>12}{'ours us':>12}{'SEAL/ours':>11}")
    for r in rows:
        print(
            f"{r['set']:<6}{r['operation']:<32}{'2^' + str(r['log_n']):>7}{r['log2_qp']:>8}"
            f"{r['seal_us']:>12,.0f}{r['ours_us']:>12,.0f}{r['seal_over_ours']:>10.2f}x"
        )
    report = {
        "peer": SEAL_NAME,
        "peer_version": f"tenseal {version('tenseal')}",
        "threads": 1,
        "processor": processor(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "results_equal": "bit for bit, checked before timing",
        "rows": rows,
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(report, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
