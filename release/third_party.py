# SPDX-License-Identifier: Apache-2.0
"""Writes THIRD_PARTY_LICENSES: every crate that the package is built from, with its licence and the texts it ships.

    release/third_party.py [TARGET]

The crates are those that cargo resolves for the extension module on that target (this computer's where none is named),
without what tests and build scripts alone need. A text that several crates ship is printed once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "THIRD_PARTY_LICENSES"
PACKAGE = "ringmill-python"
# How the files begin that hold a licence or belong to one.
BEGINNINGS = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
# zstd-sys carries zstd, which is under either of two licences; these are its GPL's, and we take the BSD's.
NOT_TAKEN = {("zstd-sys", "zstd/COPYING")}
# No text of one is longer.
LONGEST = 1 << 20


@dataclass(frozen=True)
class Crate:
    name: str
    version: str
    licence: str
    texts: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


def resolved(target: str) -> dict:
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", target]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def host() -> str:
    said = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return next(line.removeprefix("host: ") for line in said.splitlines() if line.startswith("host: "))


def linked(metadata: dict) -> list[dict]:
    """The packages of others that the extension module normally depends on, through any of ours."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, waiting = set(), [i for i, package in packages.items() if package["name"] == PACKAGE]
    while waiting:
        if (one := waiting.pop()) in found:
            continue
        found.add(one)
        dependencies = nodes[one]["deps"]
        waiting += [d["pkg"] for d in dependencies if any(kind["kind"] is None for kind in d["dep_kinds"])]
    others = [packages[one] for one in found if packages[one]["source"]]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def texts(name: str, folder: Path) -> tuple[str, ...]:
    """What the crate ships of licences."""
    found = []
    for path in sorted(folder.rglob("*")):
        within = path.relative_to(folder).as_posix()
        if not path.name.upper().startswith(BEGINNINGS) or (name, within) in NOT_TAKEN or not path.is_file():
            continue
        if path.stat().st_size > LONGEST:
            raise SystemExit(f"{path} has more than {LONGEST} bytes: is it a licence?")
        found.append(text(path))
    return tuple(found)


def text(path: Path) -> str:
    """Without what two copies of a text differ in: white space at ends of lines, empty lines around it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def crates(metadata: dict) -> list[Crate]:
    found = []
    for package in linked(metadata):
        name, licence = package["name"], package["license"]
        if not licence:
            raise SystemExit(f"{name} {package['version']} names no licence: find out, or do without it")
        shipped = texts(name, Path(package["manifest_path"]).parent)
        found.append(Crate(name, package["version"], licence.replace("/", " OR "), shipped))
    return found


def standard_library() -> Crate:
    """Rust's own, which is in every binary of its compiler."""
    ask = ["rustc", "--print", "sysroot"]
    root = Path(subprocess.run(ask, check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
    version = subprocess.run(["rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()[1]
    shipped = (root / "share/doc/rust/licenses" / f"{name}.txt" for name in ("MIT", "Apache-2.0"))
    shipped = tuple(text(path) for path in shipped if path.is_file())
    return Crate("std, the standard library of Rust,", version, "MIT OR Apache-2.0", shipped)


def page(found: list[Crate]) -> str:
    """The list, then each text below the crates that ship it."""
    lines = ["What Ringmill's binary is built from, beside Ringmill itself (Apache-2.0, see LICENSE).", ""]
    lines += [f"  {crate}: {crate.licence}{'' if crate.texts else ' (ships no text of it)'}" for crate in found]
    owners: dict[str, list[str]] = {}
    for crate in found:
        for words in dict.fromkeys(crate.texts):
            owners.setdefault(words, []).append(str(crate))
    for words, names in owners.items():
        lines += ["", "=" * 100, "Shipped by " + ", ".join(names), "=" * 100, "", words]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    target = arguments[0] if arguments else host()
    found = [*crates(resolved(target)), standard_library()]
    FILE.write_text(page(found), encoding="utf-8")
    print(f"{FILE.name}: {len(found)} entries")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
