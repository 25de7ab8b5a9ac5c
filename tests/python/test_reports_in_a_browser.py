# SPDX-License-Identifier: Apache-2.0
"""Opens pages of three programs in headless Chromium, wide and as narrow as a phone. They draw without faults and fit
the width.

Set RINGMILL_CHROMIUM to the browser if it is not on the path. Screenshots go to the folder RINGMILL_SCREENSHOTS.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from reported import approximate, integers, long

import ringmill as rm

INSECURE = {"allow_insecure_parameters_for_tests_only": True}
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = os.environ.get("RINGMILL_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)

pytestmark = [
    pytest.mark.skipif(
        "RINGMILL_FUZZ_SECONDS" not in os.environ, reason="a browser, half a minute; `make full` runs it"
    ),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: install it, or name it in RINGMILL_CHROMIUM"),
]

# Tells, once the figures are drawn, the inner width of the page and the faults.
PROBE = """<script>
const faults = [];
addEventListener("error", (event) => faults.push(String(event.message)));
addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
const error = console.error;
console.error = (...said) => { faults.push(said.join(" ")); error(...said); };
const tell = () => {
  const drawn = document.documentElement.dataset.drawn;
  if (drawn === undefined) { setTimeout(tell, 50); return; }
  const page = document.documentElement;
  const told = { drawn: Number(drawn), faults, title: document.title, wide: page.scrollWidth, room: page.clientWidth,
    empty: [...document.querySelectorAll(".plot")].filter((plot) => !plot.querySelector("svg")).length };
  parent.postMessage(JSON.stringify(told), "*");
};
tell();
</script>"""

# A browser window cannot be as narrow as a phone, so a frame shows the page.
FRAME = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><pre id="told" hidden></pre>
<script>addEventListener("message", (event) => { document.getElementById("told").textContent = event.data; });</script>
<iframe src="page.html" style="border:0;width:%dpx;height:%dpx"></iframe>"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, Path]:
    """Writes the page of a run of each program."""
    folder = tmp_path_factory.mktemp("pages")
    params = rm.params(log_n=11, bits=[50, 40, 40, 40, 50], scale=2.0**40, **INSECURE)
    x = np.linspace(-1, 1, 1024)
    made = {
        "approximate": (approximate.compile(params=params, slots=1024, input_bound=1), {"x": x, "w": x}, "sim:ring"),
        "integers": (integers.compile(slots=8), {"x": 7, "y": 3}, "cpu:2"),
        "long": (long.compile(params=params, slots=1024, input_bound=1), {"x": x}, "sim:ring"),
    }
    found = {}
    for name, (compiled, inputs, device) in made.items():
        run = compiled.run(compiled.keygen().encrypt(**inputs), device=device, timeline=True, progress=False)
        found[name] = folder / f"{name}.html"
        run.report.save_html(found[name])
    return found


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["approximate", "integers", "long"])
def test_a_page_is_drawn_without_faults(pages, tmp_path, name, width, scheme):
    text = pages[name].read_text(encoding="utf-8")
    (tmp_path / "page.html").write_text(text.replace("<style>", f"{PROBE}<style>", 1), encoding="utf-8")
    height = 6500
    (tmp_path / "frame.html").write_text(FRAME % (width, height))
    shots = os.environ.get("RINGMILL_SCREENSHOTS")
    shot = [f"--screenshot={Path(shots) / f'{name}-{width}-{scheme}.png'}"] if shots else []
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--window-size={width},{height}",
            "--allow-file-access-from-files",
            "--virtual-time-budget=20000",
            f"--user-data-dir={tmp_path / 'profile'}",
            *dark,
            *shot,
            "--dump-dom",
            f"file://{tmp_path / 'frame.html'}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    told = re.search(r'<pre id="told"[^>]*>(.*?)</pre>', done.stdout, re.S)
    assert told is not None, done.stderr[-2000:]
    found = json.loads(html.unescape(told[1]))
    assert found["faults"] == []
    assert found["drawn"] >= 4
    assert found["empty"] == 0
    assert found["room"] == width
    assert found["wide"] <= width
    assert found["title"].startswith(f"Run of {name} on ")
