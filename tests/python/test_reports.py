# SPDX-License-Identifier: Apache-2.0
"""Tests reports of time by line: in Python, in the terminal, and as pages that load nothing (docs/reports.md)."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from html_pages import part, whole
from reported import approximate, integers, long

import ringmill as rm

INSECURE = {"allow_insecure_parameters_for_tests_only": True}
HERE = str(Path(__file__).with_name("reported.py"))
SOURCE = Path(HERE).read_text().splitlines()


def line_of(text: str) -> int:
    (number,) = [number for number, line in enumerate(SOURCE, 1) if text in line]
    return number


@pytest.fixture(scope="module")
def runs() -> list[rm.Run]:
    """Runs of a program of approximate values on the CPU and on a simulated machine, with timelines."""
    params = rm.params(log_n=11, bits=[50, 40, 40, 40, 50], scale=2.0**40, **INSECURE)
    compiled = approximate.compile(params=params, slots=1024, input_bound=1)
    x = np.linspace(-1, 1, 1024)
    inputs = compiled.keygen().encrypt(x=x, w=x)
    return compiled.run(inputs, device=["cpu:1", "sim:ring"], timeline=True, progress=False)


def test_records_add_up_to_what_the_report_states(runs):
    cpu, machine = (run.report for run in runs)
    assert sum(line["seconds"] for line in cpu.by_line) == pytest.approx(cpu.data["cpu"]["seconds"], rel=1e-9)
    assert sum(line["cycles"] for line in machine.by_line) == machine.data["machine"]["cycles"]
    assert not any("cycles" in line for line in cpu.by_line)
    for report in (cpu, machine):
        assert sum(line["share"] for line in report.by_line) == pytest.approx(1)
        assert [line["seconds"] for line in report.by_line] == sorted(
            (r["seconds"] for r in report.by_line), reverse=True
        )
        product = [line for line in report.by_line if line["line"] == line_of("product = turned")]
        assert product
        assert all(line["file"] == HERE and line["calls"] == 1 for line in product)
        assert any("MUL" in line["operation"] for line in product)
        turned = [line for line in report.by_line if line["line"] == line_of("turned = ")]
        assert any("ROTATE" in line["operation"] for line in turned)
        assert all(line["level"] >= 0 for line in product + turned)


def test_a_profile_has_the_source(runs):
    for run in runs:
        assert "turned = rm.rotate(x, 1) + rm.rotate(x, 2)" in run.report.profile
        assert "reported.py:" in run.report.profile
        assert HERE not in run.report.profile


def test_a_page_is_one_file_that_loads_nothing(runs, tmp_path):
    for run, device in zip(runs, ["cpu:1", "sim:ring"], strict=True):
        file = tmp_path / "run.html"
        run.report.save_html(file)
        html = file.read_text(encoding="utf-8")
        page = whole(html)
        assert page.headings[0] == f"Run of approximate on {device}"
        wanted = ["Time", "Lines of the program", "Units over time", "Memory over time", "Precision along the program"]
        wanted += ["Precision of outputs (bits after the binary point, of the worst slot)", "Parameters and security"]
        wanted += ["Units", "Roofline"] if device == "sim:ring" else []
        assert set(page.headings[1:]) == set(wanted)
        figures = [json.loads(text) for attrs, text in page.scripts if attrs.get("type") == "application/json"]
        assert len(figures) == len(page.scripts) - 2 >= 4
        assert all(figure["data"] and figure["layout"]["xaxis"]["title"]["text"] for figure in figures)
        # The user's line is text, in the table and in the figures, and never HTML.
        assert '# </script><script>document.title = "caught"</script><b>bold</b>' in page.text
        assert "<b>bold" not in html
        assert "<script>document" not in html
        assert "NOT SECURE" in page.text
        assert [path.name for path in tmp_path.iterdir()] == ["run.html"]


def test_without_a_timeline_a_page_says_so(tmp_path):
    params = rm.params(log_n=11, bits=[50, 40, 40, 50], scale=2.0**40, **INSECURE)
    compiled = long.compile(params=params, slots=1024, input_bound=1)
    run = compiled.run(compiled.keygen().encrypt(x=np.zeros(1024)), progress=False)
    run.report.save_html(tmp_path / "run.html")
    page = whole((tmp_path / "run.html").read_text(encoding="utf-8"))
    assert "the run was not asked for a timeline" in page.text
    assert "timeline" not in run.report.data


def test_notebooks_show_parts_of_pages(runs):
    for run in runs:
        shown = part(run.report._repr_html_())
        assert "turned = rm.rotate(x, 1) + rm.rotate(x, 2)" in shown.text
        assert "save_html" in shown.text
    params = rm.params("set2")
    assert "log2 of all primes" in part(params._repr_html_()).text
    compiled = integers.compile(slots=8)
    shown = part(compiled._repr_html_()).text
    assert "bits of noise budget" in shown
    assert "Macro instructions: operations on ciphertexts" in shown


def test_a_copied_report_says_that_it_has_no_figures(runs, tmp_path):
    report = runs[0].report
    for copied in (copy.deepcopy(report), pickle.loads(pickle.dumps(report)), rm.Report("", "", "{}")):
        assert copied._repr_html_() is None
        with pytest.raises(rm.DataError, match="in the process that ran it"):
            copied.save_html(tmp_path / "run.html")
    assert copy.deepcopy(report).by_line == report.by_line
    assert rm.Report("", "", "{}").by_line == []


def test_a_page_is_whole_or_not_there(runs, tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(rm.FileError):
        runs[0].report.save_html(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_lines_of_files_that_are_no_modules_are_not_shown(tmp_path):
    """A program from text names the files of its lines. It may name any file, and the report must not read them."""
    secret = tmp_path / "secret.py"
    secret.write_text("password = 'hunter2'\n")
    text = (
        'macro "p" scheme ckks slots 1024\n  input 0 = encrypted "x"\n  output 0 = "y"\n'
        f'  %0 = INPUT input 0 : cipher 2\n  %1 = SQUARE %0 : cipher 2 at "{secret}":1\n  OUTPUT %1 output 0\nend\n'
    )
    (tmp_path / "p.rmac").write_text(text)
    params = rm.params(log_n=11, bits=[50, 40, 40, 50], scale=2.0**40, **INSECURE)
    compiled = rm.load(tmp_path / "p.rmac", params, input_bound=1)
    run = compiled.run(compiled.keygen().encrypt(x=np.zeros(1024)), progress=False)
    run.report.save_html(tmp_path / "run.html")
    assert "secret.py:1" in run.report.profile
    assert "hunter2" not in run.report.profile + (tmp_path / "run.html").read_text(encoding="utf-8")


def test_the_command_writes_pages_and_profiles(ringmill, tmp_path):
    program = "tests/python/reported.py:approximate"
    options = ["--slots", "1024", "--input-bound", "1"]
    page = tmp_path / "page.html"
    text = ringmill("sim", program, *options, "--profile", "--html", page)
    assert "product = turned * w" in text
    assert "Cycles of `approximate` on sim:ring by line" in text
    assert {"Time", "Roofline", "Units over time"} <= set(whole(page.read_text(encoding="utf-8")).headings)
    told = json.loads(ringmill("sim", program, *options, "--json"))
    assert sum(line["cycles"] for line in told["by_line"]) == told["cycles"]
    ringmill("compile", program, *options, "--html", page)
    assert {"Program", "Instructions"} <= set(whole(page.read_text(encoding="utf-8")).headings)
    ringmill("params", "--html", page)
    assert len(whole(page.read_text(encoding="utf-8")).headings) == 3
    ringmill(
        "run", "examples/mean.rmac", "--random-inputs", "--device", "cpu:1", "--device", "sim:ring", "--html", page
    )
    headings = whole(page.read_text(encoding="utf-8")).headings
    assert {"Memory over time, cpu:1", "Units over time, sim:ring", "Roofline, sim:ring"} <= set(headings)


def test_the_page_of_the_documentation(tmp_path):
    """The program of docs/reports.md runs, and prints the hottest line."""
    text = (Path(__file__).parents[2] / "docs" / "reports.md").read_text()
    block = re.findall(r"```python\n(.*?)```", text, re.S)[0]
    (tmp_path / "smoothed.py").write_text(block)
    done = subprocess.run([sys.executable, "smoothed.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    *profile, hottest = done.stdout.splitlines()
    number, operation, cycles = hottest.split()
    assert int(cycles) > 0
    assert operation.isupper()
    assert any(f"smoothed.py:{number} " in line and "turned" in line for line in profile)
    whole((tmp_path / "smoothed.html").read_text(encoding="utf-8"))
