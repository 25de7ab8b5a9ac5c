# SPDX-License-Identifier: Apache-2.0
"""Builds the wheels into dist/ and tries each in an empty environment, outside the checkout: what `make wheel` does.

The wheel of this computer is tried with every CPython from 3.11 that is found, the one for aarch64 under qemu. Each
must have the tag that auditwheel finds, the RTL, the licences and the SBOM in it, and must answer the README's first
program within a minute from `pip install` on.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import third_party
import watch_build

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
DIST = ROOT / "dist"
# The oldest C library that Rust's standard library works with.
GLIBC = 17
AARCH64 = "aarch64-unknown-linux-gnu"
# What requirements/aarch64.sh unpacks.
CROSS = BIN.parent / "share" / "aarch64"
VERSIONS = range(11, 15)
# Seconds from the start of `pip install` to the answer of the README's program.
SOON = 60.0
# Of the RTL outside a checkout, with no tools.
COMMANDS = (
    (("machine", "show", "ring"), "clock_mhz"),
    (("rtl", "list"), "rm_ring"),
    (("rtl", "generate", "polymul", "--set", "p=8", "--out", "polymul8"), "rm_polymul_top.sv is the top"),
)


def run(command: list[str | Path], **options) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with status {done.returncode}:\n{done.stdout}")
    return done.stdout


# ---- Building.


def compiler(target: str) -> dict[str, str] | None:
    """What to set so that cargo's compiler has the target's standard library; none where nothing has it."""
    sysroot = run(["rustc", "--print", "sysroot"]).strip()
    if (Path(sysroot) / "lib/rustlib" / target / "lib").is_dir():
        return {}
    rustc = CROSS / "bin/rustc"
    return {"RUSTC": str(rustc)} if target == AARCH64 and rustc.exists() else None


def build(target: str, settings: Mapping[str, str]) -> Path:
    """The wheel of a target."""
    third_party.main([target])
    machine = target.partition("-")[0]
    before = set(DIST.glob("*.whl"))
    for old in before:
        if old.name.endswith(f"_{machine}.whl"):
            old.unlink()
    command = [BIN / "maturin", "build", "--release", "--locked", "--strip", "--zig", "--target", target]
    command += ["--compatibility", f"manylinux_2_{GLIBC}", "--auditwheel", "check", "--out", DIST]
    print(f"building the wheel for {target}: about 6 minutes on 2 cores, where nothing of it is built", flush=True)
    os.chdir(ROOT)
    # zig is a package of that Python, which need not be the first one on PATH.
    settings = {**settings, "CARGO_ZIGBUILD_PYTHON_PATH": str(BIN / "python")}
    os.environ.update(settings)
    status = watch_build.main([str(part) for part in command])
    for name in settings:
        del os.environ[name]
    if status:
        raise SystemExit(status)
    (wheel,) = DIST.glob(f"*_{machine}.whl")
    return wheel


# ---- What has to be in a wheel.


def check(wheel: Path) -> None:
    """The tag that auditwheel finds; licences and SBOM."""
    said = " ".join(run([BIN / "auditwheel", "show", wheel]).split())
    found = re.search(r'platform tag: "manylinux_2_(\d+)_(\w+)"', said)
    if not found or int(found[1]) > GLIBC or not wheel.stem.endswith(f"_{found[2]}"):
        raise SystemExit(f"{wheel.name} claims glibc 2.{GLIBC}; auditwheel says: {said}")
    with zipfile.ZipFile(wheel) as file:
        texts = {name.partition(".dist-info/")[2]: name for name in file.namelist() if ".dist-info/" in name}
        licences = file.read(texts["licenses/THIRD_PARTY_LICENSES"]).decode()
        sboms = [json.loads(file.read(name)) for short, name in texts.items() if short.startswith("sboms/")]
    if "licenses/LICENSE" not in texts:
        raise SystemExit(f"{wheel.name} has no licence")
    if faults := [fault for sbom in sboms for fault in faults_of_sbom(sbom)] or missing(licences, sboms):
        raise SystemExit(f"{wheel.name}: {'; '.join(faults)}")
    print(f"{wheel.name}: {wheel.stat().st_size / 2**20:.1f} MiB, {found[0]}, {len(sboms)} SBOM")


def faults_of_sbom(sbom: Mapping) -> list[str]:
    """What a CycloneDX document lacks of what its schema requires."""
    faults = [
        f"the SBOM has no {key}" for key in ("specVersion", "version", "metadata", "components") if key not in sbom
    ]
    if sbom.get("bomFormat") != "CycloneDX":
        faults.append("the SBOM is not CycloneDX")
    for component in sbom.get("components", ()):
        faults += [f"a component has no {key}: {component}" for key in ("type", "name") if not component.get(key)]
    references = [component.get("bom-ref") for component in sbom.get("components", ())]
    if len(set(references)) != len(references):
        faults.append("the SBOM names two components alike")
    return faults


def missing(licences: str, sboms: list[Mapping]) -> list[str]:
    """Crates of the SBOM that the list of licences lacks, or that there is no SBOM."""
    if not sboms:
        return ["there is no SBOM"]
    components = [component for sbom in sboms for component in sbom["components"]]
    normal = {(c["name"], c["version"]) for c in components if c.get("scope") != "excluded"}
    listed = set(re.findall(r"^  (\S+) (\S+): ", licences, re.M))
    return [f"{name} {version} is not in the list of licences" for name, version in sorted(listed - normal)]


# ---- Trying one.


def interpreters() -> Iterator[tuple[str, Path]]:
    """Each CPython from 3.11: by its name on PATH, or where pyenv and uv put theirs."""
    home = Path.home()
    places = (Path(os.environ.get("PYENV_ROOT", home / ".pyenv")) / "versions", home / ".local/share/uv/python")
    for minor in VERSIONS:
        name = f"python3.{minor}"
        named = [found for found in [shutil.which(name)] if found]
        kept = [path for place in places for path in sorted(place.glob(f"*3.{minor}.*/bin/{name}"))]
        for path in [*map(Path, named), *kept]:
            # A shim is there for versions that are not.
            if subprocess.run([path, "-c", "import venv, ensurepip"], capture_output=True, check=False).returncode == 0:
                yield name, path
                break
        else:
            print(f"{name} is not on this computer: the wheel is not tried with it")


def program() -> str:
    """The README's first program."""
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)
    if not found:
        raise SystemExit("README.md has no program in Python")
    return found[1]


def outside(work: Path) -> dict[str, str]:
    """The environment of a user who has no checkout and no tools."""
    hidden = ("RINGMILL", "PYTHON", "VIRTUAL_ENV", "CARGO")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    return kept | {"XDG_CACHE_HOME": str(work / "cache"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def answer(said: str) -> str:
    """The program's first line: the variance under encryption. The second is the one in the clear."""
    found, clear = map(float, said.splitlines()[:2])
    if abs(found - clear) > 1e-4:
        raise SystemExit(f"the README's program answers {found}, in the clear it is {clear}")
    return f"{found}"


def try_here(name: str, python: Path, wheel: Path, work: Path) -> None:
    environment = outside(work)
    venv = work / "venv"
    run([python, "-m", "venv", venv])
    options = {"cwd": work, "env": environment}
    (work / "readme.py").write_text(program(), encoding="utf-8")
    begin = time.monotonic()
    run([venv / "bin/pip", "install", "--quiet", wheel], **options)
    installed = time.monotonic() - begin
    first = answer(run([venv / "bin/python", "readme.py"], **options))
    took = time.monotonic() - begin
    if took > SOON:
        raise SystemExit(f"{name}: from pip install to the answer {took:.0f} s, more than {SOON:.0f}")
    for command, says in COMMANDS:
        if says not in (said := run([venv / "bin/ringmill", *command], **options)):
            raise SystemExit(f"{name}: ringmill {' '.join(command)} does not say `{says}`: {said}")
    refused = subprocess.run(
        [venv / "bin/ringmill", "rtl", "lint", "rm_fifo"], capture_output=True, text=True, check=False, **options
    )
    if refused.returncode != 2 or "pip install 'ringmill[rtl]'" not in refused.stderr:
        raise SystemExit(f"{name}: lint without tools: {refused.returncode}, {refused.stderr}")
    print(f"{name}: pip install {installed:.1f} s, answer ({first}) after {took:.1f} s in all", flush=True)


def try_tools(wheel: Path, work: Path) -> None:
    """The extra `rtl` brings what lints the RTL of the package; with this Python."""
    run([sys.executable, "-m", "venv", work / "venv"])
    options = {"cwd": work, "env": outside(work)}
    run([work / "venv/bin/pip", "install", "--quiet", f"ringmill[rtl] @ {wheel.as_uri()}"], **options)
    said = run([work / "venv/bin/ringmill", "rtl", "lint", "polymul", "--set", "p=8"], **options)
    if "no warnings" not in said:
        raise SystemExit(f"ringmill rtl lint: {said}")
    print(f"ringmill[rtl]: {said.strip()}")


def try_aarch64(wheel: Path, work: Path) -> None:
    """Under qemu-user, with Debian's Python."""
    emulator, root = CROSS / "bin/qemu-aarch64", CROSS / "root"
    python = root / "usr/bin/python3.11"
    if not emulator.exists() or not python.exists():
        print("there is no qemu-user and no aarch64 Python: the wheel for aarch64 is not tried")
        return
    site = work / "site"
    begin = time.monotonic()
    command = [BIN / "pip", "install", "--quiet", "--target", site, "--python-version", "3.11"]
    command += ["--only-binary", ":all:", "--implementation", "cp"]
    for old in (17, 27, 28):
        command += ["--platform", f"manylinux_2_{old}_aarch64"]
    run([*command, wheel], cwd=work, env=outside(work))
    (work / "readme.py").write_text(program(), encoding="utf-8")
    options = {"cwd": work, "env": outside(work) | {"PYTHONPATH": str(site)}}
    emulated: list[str | Path] = [emulator, "-L", root, python]
    first = answer(run([*emulated, "readme.py"], **options))
    took = time.monotonic() - begin
    call = "import sys; from ringmill_command import main; sys.exit(main())"
    for command, says in COMMANDS:
        if says not in (said := run([*emulated, "-c", call, *command], **options)):
            raise SystemExit(f"aarch64: ringmill {' '.join(command)} does not say `{says}`: {said}")
    print(f"aarch64 under qemu, Python 3.11: answer ({first}) after {took:.0f} s, no figure of speed")


def main() -> int:
    native = third_party.host()
    DIST.mkdir(exist_ok=True)
    wheel = build(native, {})
    check(wheel)
    tried = 0
    for name, python in interpreters():
        with tempfile.TemporaryDirectory() as work:
            try_here(name, python, wheel, Path(work))
        tried += 1
    if not tried:
        raise SystemExit("no CPython from 3.11 with venv was found to try the wheel with")
    with tempfile.TemporaryDirectory() as work:
        try_tools(wheel, Path(work))
    if native == AARCH64:
        return 0
    settings = compiler(AARCH64)
    if settings is None:
        print(f"no standard library of Rust for {AARCH64}, here or from Debian's packages: no wheel for it")
        return 0
    wheel = build(AARCH64, settings)
    check(wheel)
    with tempfile.TemporaryDirectory() as work:
        try_aarch64(wheel, Path(work))
    return 0


if __name__ == "__main__":
    sys.exit(main())
