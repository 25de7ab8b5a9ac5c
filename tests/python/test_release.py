# SPDX-License-Identifier: Apache-2.0
"""Checks the parts of a release: versions, licences, extras, the progress of a build, and the content of a wheel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import ringmill as rm

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "release"))

import third_party  # noqa: E402
import watch_build  # noqa: E402
import wheel  # noqa: E402

CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@cache
def metadata() -> dict:
    return third_party.resolved(third_party.host())


# ---- One version everywhere.


def test_there_is_one_version():
    version = CARGO["workspace"]["package"]["version"]
    assert rm.__version__ == version
    ours = [package for package in metadata()["packages"] if not package["source"]]
    assert len(ours) > 15
    assert {package["version"] for package in ours} == {version}
    cores = {path.name: re.search(r"^name: \S+:([\d.]+)$", path.read_text(), re.M) for path in ROOT.glob("rtl/*.core")}
    assert {name: found and found[1] for name, found in cores.items()} == dict.fromkeys(cores, version)


def test_every_crate_keeps_to_the_workspaces_lints():
    manifests = [path for member in CARGO["workspace"]["members"] for path in ROOT.glob(f"{member}/Cargo.toml")]
    assert len(manifests) > 15
    for path in manifests:
        assert tomllib.loads(path.read_text()).get("lints") == {"workspace": True}, path


def test_no_compiler_is_downloaded_that_would_do():
    channel = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    assert channel == "stable"
    said = subprocess.run(["rustc", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    newest = tuple(map(int, said.split()[1].split("-")[0].split(".")))
    assert newest >= tuple(map(int, CARGO["workspace"]["package"]["rust-version"].split(".")))


def test_the_extra_is_what_the_rtl_needs():
    pinned = (ROOT / "requirements" / "hdl.txt").read_text().split("# brought by")[0].splitlines()
    extra = PROJECT["project"]["optional-dependencies"]["rtl"]
    # FuseSoC is left out: its core files are for other projects' builds.
    assert set(extra) == {line for line in pinned if "==" in line} - {"fusesoc==2.4.7"}


def test_the_classifiers_are_the_versions_that_the_wheel_is_tried_with():
    classifiers = {f"Programming Language :: Python :: 3.{minor}" for minor in wheel.VERSIONS}
    assert classifiers <= set(PROJECT["project"]["classifiers"])
    assert PROJECT["project"]["requires-python"] == f">=3.{min(wheel.VERSIONS)}"


# ---- Licences.


def allowed(expression: str, licences: set[str]) -> bool:
    """Whether an SPDX expression holds if only these licences are allowed."""
    words = re.findall(r"[()]|[^\s()]+", expression.replace(" WITH ", "_WITH_"))
    kept = {name.replace(" WITH ", "_WITH_") for name in licences}
    python = [w.lower() if w in ("AND", "OR") else w if w in "()" else str(w in kept) for w in words]
    return eval(" ".join(python))  # it has only True, False, and, or, ( and )


def test_expressions_are_understood():
    some = {"MIT", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"}
    assert allowed("MIT OR GPL-3.0", some)
    assert allowed("(MIT OR Apache-2.0) AND Unicode-3.0", some)
    assert allowed("Apache-2.0 WITH LLVM-exception OR BSL-1.0", some)
    assert not allowed("MIT AND GPL-3.0", some)
    assert not allowed("GPL-3.0", some)


def test_every_crate_is_permissive_and_from_the_registry():
    """The licences of all packages are among those that deny.toml allows. `cargo deny` checks the same where it is
    installed.
    """
    deny = tomllib.loads((ROOT / "deny.toml").read_text())
    licences = set(deny["licenses"]["allow"])
    for package in metadata()["packages"]:
        name = f"{package['name']} {package['version']}"
        assert allowed((package["license"] or "none").replace("/", " OR "), licences), name
        assert package["source"] in (None, "registry+https://github.com/rust-lang/crates.io-index"), name
        assert package["name"] not in {ban["name"] for ban in deny["bans"]["deny"]}, name


def test_the_list_of_licences_has_every_crate_and_its_text():
    found = third_party.crates(metadata())
    page = third_party.page(found)
    assert len(found) > 80
    lacking = {crate.name for crate in found if not crate.texts}
    assert lacking <= {"blake2b_simd", "npyz", "plotly", "plotly_derive"}, (
        "find their texts, or say that there are none"
    )
    for crate in found:
        assert f"\n  {crate}: {crate.licence}" in page
        for text in crate.texts:
            assert page.count(text) >= 1
    assert "zstd-sys" in {crate.name for crate in found}
    assert "GNU GENERAL PUBLIC LICENSE" not in page
    # The binary has no crates that only tests need.
    assert "proptest" not in page.split("====")[0]
    std = third_party.standard_library()
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", std.version)


# ---- SBOM.

COMPONENT = {"type": "library", "name": "zstd", "version": "0.13.4", "bom-ref": "a"}
SBOM = {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "metadata": {}, "components": [COMPONENT]}


def test_an_sbom_is_checked():
    assert wheel.faults_of_sbom(SBOM) == []
    for key in SBOM:
        assert wheel.faults_of_sbom({k: v for k, v in SBOM.items() if k != key}), key
    for key in ("type", "name"):
        component = {k: v for k, v in COMPONENT.items() if k != key}
        assert wheel.faults_of_sbom(SBOM | {"components": [component]}), key
    assert wheel.faults_of_sbom(SBOM | {"components": [COMPONENT, COMPONENT]})
    assert wheel.missing("  zstd 0.13.4: BSD-3-Clause\n", [SBOM]) == []
    assert wheel.missing("  zstd 0.13.5: BSD-3-Clause\n", [SBOM])
    assert wheel.missing("", [])


def test_the_answer_that_wheels_are_tried_by_is_the_first_programs():
    assert wheel.answer("0.98751\n0.9875\nRun of `variance`\n") == "0.98751"
    with pytest.raises(SystemExit, match="answers"):
        wheel.answer("0.5\n0.9\n")
    # The first two lines that the program prints are the variance under encryption and in the clear.
    assert 'print(client.decrypt(run)[0], data.var(), run.report, sep="\\n")' in wheel.program()


# ---- The progress of a build.


def test_an_estimate_goes_down_to_nothing():
    shares = [watch_build.share(done, 160) for done in range(161)]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert 0 < shares[80] < shares[159] < shares[160] == 1
    assert "too early" in watch_build.line(0, 1, 160, 1.0)
    assert watch_build.line(0, 160, 160, 300.0) == "160 of 160 crates, 5 min 00 s, about 0 s left"
    # Parts that were built before say nothing of the speed of the rest.
    assert "too early" in watch_build.line(140, 140, 160, 10.0)
    assert "too early" not in watch_build.line(140, 150, 160, 10.0)
    assert watch_build.line(160, 160, 160, 1.0).endswith("about 0 s left")


def test_cargos_bar_is_read():
    said = watch_build.Said()
    output = [
        b"   Compiling a v1\n\r    Build",
        b"ing [==>    ] 3/16: a, b\r    Building [===>   ] 4/16: b",
        b"\rwarning: x\n",
    ]
    assert list(watch_build.states(said.pieces(output))) == [(3, 16), (4, 16)]
    assert said.lines == ["   Compiling a v1", "warning: x"]


def test_a_build_that_fails_says_what_it_said(tmp_path):
    script = tmp_path / "cargo.py"
    script.write_text(
        "import sys; print('error: no'); print('Building [=> ] 1/2: a', end='\\r'); sys.exit(int(sys.argv[1]))"
    )
    for status in (0, 3):
        command = [sys.executable, ROOT / "release" / "watch_build.py", sys.executable, script, str(status)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == status
        assert ("error: no" in done.stderr) == (status != 0)
        assert ("done in" in done.stderr) == (status == 0)


def test_make_demo_says_what_it_does_before_it_does_it():
    done = subprocess.run(["make", "-n", "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    said = done.stdout
    places = [
        said.index(words) for words in ("make demo trains", "demo.stamp", "running examples/01", "python examples/01")
    ]
    assert places == sorted(places)
    makefile = (ROOT / "Makefile").read_text()
    build = makefile.partition("$(VENV)/package.stamp: $(RUST)")[2]
    announced, built = build.index("minutes on 2 cores the first time"), build.index("$(MATURIN)")
    assert announced < built


# ---- The package outside a checkout.


def test_the_package_has_the_rtl(command, tmp_path):
    """Outside a checkout, as in a wheel, the command generates the same RTL as in the checkout."""
    home = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    arguments = ("rtl", "generate", "polymul", "--set", "p=8", "--out")
    outside = command(*arguments, tmp_path / "outside", cwd=tmp_path, env=home)
    assert outside.returncode == 0, outside.stderr
    inside = command(*arguments, tmp_path / "inside")
    assert inside.returncode == 0, inside.stderr
    files = {path.relative_to(tmp_path / "inside"): path for path in (tmp_path / "inside").rglob("*") if path.is_file()}
    assert len(files) > 10
    for name, path in files.items():
        assert (tmp_path / "outside" / name).read_bytes() == path.read_bytes(), name
    listed = command("rtl", "list", cwd=tmp_path, env=home)
    assert listed.stdout == command("rtl", "list").stdout
    assert "rm_ring" in listed.stdout
    written = sorted(p.relative_to(tmp_path / "cache") for p in (tmp_path / "cache").rglob("*.sv"))
    assert len(written) == len(list(ROOT.glob("rtl/*/*.sv"))) + len(list(ROOT.glob("crates/hdl/peers/*.sv")))


@pytest.mark.parametrize("named", [{}, {"XDG_CACHE_HOME": "relative"}])
def test_without_a_folder_of_caches_the_command_says_so(command, tmp_path, named):
    done = command("rtl", "list", cwd=tmp_path, env=named)
    assert done.returncode == 2
    assert "XDG_CACHE_HOME" in done.stderr


def test_without_tools_the_command_says_how_to_get_them(command, tmp_path):
    home = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "RINGMILL_VENV": str(tmp_path)}
    done = command("rtl", "lint", "rm_fifo", cwd=tmp_path, env=home)
    assert done.returncode == 2
    assert "pip install 'ringmill[rtl]'" in done.stderr
