# SPDX-License-Identifier: Apache-2.0
"""Builds our side, and installs the peers from their ordinary registries, in pinned versions, below `target/peers`.

Two peers come from elsewhere. SEAL is taken from this Python, since the tests need it too (requirements/test.txt). The
user builds HElib. A peer that can't be had raises `Unavailable` with the reason in one line, and the run goes on
without it.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from harness.machine import masked
from harness.side import Side

ROOT = Path(__file__).resolve().parents[2]
BENCHES = ROOT / "benches"
HOME = ROOT / "target" / "peers"

OPENFHE = "1.6.1.0.22.4"  # the newest wheel of OpenFHE 1.x for CPython 3.10
LATTIGO = "v6.2.0"  # benches/lattigo/go.mod
TFHE_NTT = "0.7.1"  # benches/ntt/Cargo.toml
TFHE = "1.8.0"  # benches/tfhe/Cargo.toml
FHEANOR = "0.11.9"  # benches/fheanor/Cargo.toml
ONE_THREAD = {"OMP_NUM_THREADS": "1", "GOMAXPROCS": "1", "RAYON_NUM_THREADS": "1"}


class Unavailable(RuntimeError):
    """A peer can't be had on this computer; the message says why, in one line."""


def run(
    command: list[str | Path], cwd: Path = ROOT, aloud: bool = False, environment: dict[str, str] | None = None
) -> str:
    """Runs a step of an installation and returns its standard output. Raises `Unavailable` with the last line of its
    standard error if it fails, and also if it cannot start or takes more than 30 minutes.

    `aloud` lets its standard error through, for steps that take minutes and tell their progress.
    """
    words = [str(word) for word in command]
    errors = None if aloud else subprocess.PIPE
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            timeout=1800,
            env={**os.environ, **(environment or {})},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{words[0]}: {error}") from error
    if done.returncode:
        lines = (done.stderr or "its messages are above").strip().splitlines() or ["no message"]
        raise Unavailable(f"`{' '.join(words[:3])} ...` failed: {lines[-1].strip()}")
    return done.stdout


def tool(name: str) -> str:
    """Returns the path of a program. Raises `Unavailable` if there is none."""
    found = shutil.which(name)
    if found is None:
        raise Unavailable(f"no `{name}` on this computer")
    return found


def cargo_build(arguments: list[str | Path], name: str, environment: dict[str, str] | None = None) -> str:
    """Builds a binary in release mode and returns its path."""
    command = [tool("cargo"), "build", "--release", "--locked", "--message-format=json", *arguments]
    for line in run(command, aloud=True, environment=environment).splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == name:
            return message["executable"]
    raise Unavailable(f"cargo built no {name}")


def commit() -> str:
    """Returns the commit of this checkout, with `+` if the checkout has changes, or `unknown` outside git."""
    try:
        return run(["git", "describe", "--always", "--dirty=+"]).strip()
    except Unavailable:
        return "unknown"


def ours(built: str | None) -> tuple[str, str]:
    """Returns the path and version of our side's program: the one at `built`, or one that cargo builds."""
    name = "ringmill-bench"
    if built:
        return built, f"{commit()} (the binary was given)"
    return cargo_build(["-p", name], name), commit()


def package(cores: tuple[int, ...], given: bool) -> Side:
    """Returns the side of our Python package. The package is built in release mode into a folder of its own, since that
    of the virtual environment may be built for tests. With `given` the latter is used all the same.
    """
    paths, version = [BENCHES], f"{commit()} (the package was given)" if given else commit()
    if not given:
        home = HOME / "ringmill"
        shutil.rmtree(home, ignore_errors=True)
        maturin = Path(sys.executable).parent / "maturin"
        how = ["--release", "--locked", "--auditwheel", "skip", "--interpreter", sys.executable, "--out", home]
        run([maturin, "build", *how], aloud=True)
        (wheel,) = home.glob("*.whl")
        with zipfile.ZipFile(wheel) as file:
            file.extractall(home)
        paths.append(home)
    command = [sys.executable, str(BENCHES / "sides" / "ringmill_programs.py")]
    return Side("ours", version, command, cores, {**ONE_THREAD, "PYTHONPATH": os.pathsep.join(map(str, paths))})


def seal(cores: tuple[int, ...]) -> Side:
    try:
        version = importlib.metadata.version("tenseal")
    except importlib.metadata.PackageNotFoundError as error:
        raise Unavailable("no `tenseal` in this Python (pip install -r requirements/test.txt)") from error
    command = [sys.executable, str(BENCHES / "sides" / "seal_side.py")]
    return Side("SEAL", f"tenseal {version} (tenseal.sealapi)", command, cores, ONE_THREAD)


def lattigo(cores: tuple[int, ...]) -> Side:
    binary = HOME / "lattigo"
    run([tool("go"), "build", "-mod=readonly", "-o", binary, "."], cwd=BENCHES / "lattigo")
    compiler = run([tool("go"), "env", "GOVERSION"]).strip()
    return Side("Lattigo", f"{LATTIGO}, {compiler}", [str(binary)], cores, ONE_THREAD)


def python310() -> str:
    """Returns the path of the first Python that starts and has `ensurepip`, of three places: the variable `PYTHON310`,
    `python3.10` on the path, and pyenv's folders. Nothing checks the version of the one that the variable names.
    """
    candidates = [os.environ.get("PYTHON310"), shutil.which("python3.10")]
    candidates += sorted(map(str, Path.home().glob(".pyenv/versions/3.10*/bin/python3.10")))
    for candidate in filter(None, candidates):
        try:
            run([candidate, "-c", "import ensurepip"])
            return candidate
        except Unavailable:
            continue
    raise Unavailable("its wheel needs CPython 3.10, and no python3.10 was found (PYTHON310=... names one)")


def openfhe(cores: tuple[int, ...], script: str = "openfhe_side.py") -> Side:
    home = HOME / "openfhe"
    python = home / "bin" / "python"
    if not python.exists():
        run([python310(), "-m", "venv", home])
    run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"openfhe=={OPENFHE}"])
    run([python, "-c", "import openfhe"])
    command = [str(python), str(BENCHES / "sides" / script)]
    return Side("OpenFHE", OPENFHE, command, cores, {**ONE_THREAD, "PYTHONPATH": str(BENCHES)})


def openfhe_programs(cores: tuple[int, ...]) -> Side:
    return openfhe(cores, "openfhe_programs.py")


def tfhe_ntt(cores: tuple[int, ...]) -> Side:
    manifest = BENCHES / "ntt" / "Cargo.toml"
    if masked() is None:
        arguments, version = ["--target-dir", HOME / "tfhe-ntt"], TFHE_NTT
    else:
        arguments, version = ["--no-default-features", "--target-dir", HOME / "tfhe-ntt-avx2"], f"{TFHE_NTT}, AVX2"
    binary = cargo_build(["--manifest-path", manifest, *arguments], "ringmill-bench-tfhe-ntt")
    return Side("tfhe-ntt", version, [binary], cores, ONE_THREAD)


def tfhe_rs(cores: tuple[int, ...]) -> Side:
    manifest = BENCHES / "tfhe" / "Cargo.toml"
    arguments = ["--manifest-path", manifest, "--target-dir", HOME / "tfhe-rs"]
    binary = cargo_build(arguments, "ringmill-bench-tfhe")
    return Side("tfhe-rs", TFHE, [binary], cores, ONE_THREAD)


def fheanor(cores: tuple[int, ...]) -> Side:
    """Builds fheanor. It needs features of nightly compilers, which `RUSTC_BOOTSTRAP` permits in the stable one."""
    manifest = BENCHES / "fheanor" / "Cargo.toml"
    arguments = ["--manifest-path", manifest, "--target-dir", HOME / "fheanor"]
    binary = cargo_build(arguments, "ringmill-bench-fheanor", {"RUSTC_BOOTSTRAP": "1"})
    return Side("fheanor", FHEANOR, [binary], cores, ONE_THREAD)


def helib(cores: tuple[int, ...]) -> Side:
    """Returns the side of HElib. No registry has HElib, so the user builds it and the program in benches/helib."""
    program = os.environ.get("RINGMILL_HELIB")
    if not program:
        raise Unavailable("RINGMILL_HELIB names no program built from benches/helib")
    return Side("HElib", run([program, "--version"]).strip(), [program], cores, ONE_THREAD)


# The functions that make the peers of each group of rows.
BY_GROUP = {
    "ntt": [tfhe_ntt],
    "ckks": [seal, lattigo, openfhe],
    "ckks.bootstrap": [lattigo, openfhe],
    "integers": [seal, openfhe],
    "bgv": [openfhe, fheanor, helib],
    "basext": [],
    "tfhe": [tfhe_rs, openfhe],
    "circuits": [tfhe_rs],
    "programs": [openfhe_programs],
}
