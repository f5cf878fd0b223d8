"""Makes the README's pictures: a sweep in the terminal, MLflow's table of its runs, and the page that compares them.

    python benchmarks/screenshots.py                  # the sample of pages, into docs/pictures/; needs Chromium

Everything is taken from a real sweep in a folder that is thrown away afterwards.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import pty
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

HERE = Path(__file__).parents[1]
COMMAND = "glyphrank run -m experiment=quickstart"
COLUMNS = 118
PARAMETERS, METRICS = ("lexical", "text"), ("recall_at_1", "recall_at_10", "ndcg_at_10", "median_rank", "mean_rank")
_SCROLL = """(grid, top) => { grid.scrollTop = top;
    return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))); }"""
_SETTLED = """top => [...document.querySelectorAll('.ReactVirtualized__Grid')].every(
    grid => Math.abs(grid.scrollTop - top) < 2 && [...grid.firstElementChild.children].some(
        cell => parseInt(cell.style.top) >= top + grid.clientHeight - 45))"""
PAGE = """<html><body style="margin:0"><div id="terminal" style="display:inline-block;background:#10151c;color:#d7dde4;
padding:18px 22px;border-radius:8px;font-family:'DejaVu Sans Mono',monospace;font-size:13px;line-height:1.17">
<pre style="margin:0;font-family:inherit">{code}</pre></div></body></html>"""


def main() -> None:
    """Runs the sweep and writes `terminal.png`, `runs.png` and `compare.png`."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=HERE / "docs" / "pictures", metavar="DIR")
    options = parser.parse_args()
    options.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="glyphrank-pictures-") as scratch:
        folder = Path(scratch)
        said = in_a_terminal(COMMAND, folder)
        with browser() as view:
            photograph_terminal(view, said, options.into / "terminal.png")
            printed = re.findall(r"dashboard: (.*?)\r?\n", plain(said))[-1]
            with dashboard(printed, folder) as address:
                photograph_runs(view, address, options.into / "runs.png")
                photograph_comparison(view, address, options.into / "compare.png")
    for path in sorted(options.into.glob("*.png")):
        print(f"{path}: {path.stat().st_size / 1000:.0f} kB")


def in_a_terminal(command: str, folder: Path) -> str:
    """What a command writes to a terminal of `COLUMNS` columns, colours and all."""
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "GLYPHRANK_OUTPUTS": "outputs"}
    program, *words = shlex.split(command)
    ours, theirs = pty.openpty()
    said = io.BytesIO()
    words[:0] = [str(Path(sys.executable).parent / program)]
    child = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment)
    os.close(theirs)
    with suppress(OSError):  # the other end is closed
        while piece := os.read(ours, 65536):
            said.write(piece)
    os.close(ours)
    if child.wait() != 0:
        raise SystemExit(said.getvalue().decode(errors="replace"))
    return said.getvalue().decode()


def plain(text: str) -> str:
    """The text without what steers a terminal."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)


def photograph_terminal(view: Any, said: str, path: Path) -> None:
    """The beginning of a sweep and its end, the comparison of its cells; what lies between is told as dots."""
    from rich.console import Console
    from rich.text import Text

    lines = [line.rpartition("\r")[2] for line in re.sub(r"\x1b\[[0-9;?]*[A-LN-Za-ln-z]", "", said).split("\r\n")]
    first = _first(lines, "files: ") + 2
    last = _first(lines, "nDCG@10 of ")
    until = _first(lines, "Behind each value")
    dots = ["", "... and five more cells ...", ""]
    console = Console(width=COLUMNS, record=True, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for line in [f"$ {COMMAND}", *_beginning(lines, first), *dots, *lines[last:until]]:
        console.print(Text.from_ansi(line), soft_wrap=True)
    view.set_content(PAGE.replace("{code}", console.export_html(inline_styles=True, code_format="{code}")))
    kept(view.locator("#terminal").screenshot(), path)


def _first(lines: Sequence[str], beginning: str) -> int:
    return next(number for number, line in enumerate(lines) if plain(line).startswith(beginning))


def _beginning(lines: Sequence[str], until: int) -> list[str]:
    """What is said up to the end of the first cell, without log lines, unfinished bars and this machine's paths."""
    kept_back = re.compile(r"(dashboard|note|reading|tokens|vectors|Loading).*|.*-:--:--.*|\s*")
    told = [line for line in lines[:until] if not kept_back.fullmatch(plain(line))]
    return [re.sub(r"files: \S*outputs/", "files: outputs/", line) for line in told]


def photograph_runs(view: Any, address: str, path: Path) -> None:
    """The experiment's table of runs: the sweep, and its cells below it."""
    view.add_init_script(
        "localStorage.setItem('mlflow.assistant.fab.autoOpenedOnFirstLoad_v1', 'true');"
        "localStorage.setItem('mlflow.assistant.panelOpen_v1', 'false');"
        f"localStorage.setItem({json.dumps(_state_key())}, {json.dumps(json.dumps(_state()))});"
    )
    view.set_viewport_size({"width": 1500, "height": 560})
    view.goto(f"{address}/#/experiments/1/runs")
    view.get_by_text("7 matching runs").wait_for()
    view.get_by_label("Toggle sidebar").click()
    view.locator("[role=gridcell]").filter(has_text="sweep").locator("button").first.click()
    view.locator("[role=gridcell]").get_by_text("bm25_korean", exact=True).first.wait_for()
    kept(view.screenshot(), path)


def _state_key() -> str:
    return 'MLflowLocalStorage-1.1-ExperimentPage-["1"]-ReactComponentState'


def _state() -> dict[str, object]:
    """How a person sets the table up with the button `Columns`."""
    return {
        "searchFilter": "",
        "orderByKey": "attributes.start_time",
        "orderByAsc": False,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": [*(f"params.`{name}`" for name in PARAMETERS), *(f"metrics.`{name}`" for name in METRICS)],
        "columnWidths": {"attributes.`Run Name`": 300},
    }


def photograph_comparison(view: Any, address: str, path: Path) -> None:
    """MLflow's page that compares the cells, with the fields that were swept and the headline numbers."""
    body = json.dumps({"experiment_ids": ["1"], "filter": "tags.`mlflow.parentRunId` != ''"}).encode()
    request = urllib.request.Request(f"{address}/api/2.0/mlflow/runs/search", data=body)
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as answer:
        runs = [run["info"]["run_id"] for run in json.load(answer)["runs"]]
    view.set_viewport_size({"width": 1500, "height": 2000})
    view.goto(f"{address}/#/compare-runs?runs={quote(json.dumps(runs))}&experiments={quote(json.dumps(['1']))}")
    view.get_by_text(f"Comparing {len(runs)} Runs from 1 Experiment").wait_for()
    view.locator("th").get_by_text("lexical", exact=True).first.wait_for()
    view.get_by_label("collapse Run details").click()
    for part in ("Parameters", "Metrics"):
        view.get_by_label(f"{part} - Show diff only").click()
    _scroll_to(view, "ndcg_at_10")
    view.get_by_label("collapse Visualizations").scroll_into_view_if_needed()
    end = view.get_by_label("collapse Artifacts").bounding_box()["y"] - 12
    kept(view.screenshot(clip={"x": 0, "y": 0, "width": 1500, "height": end}), path)


def _scroll_to(view: Any, metric: str) -> None:
    """Brings a row of the table of metrics to its top; the table draws only the rows that are seen."""
    row = view.locator(".ReactVirtualized__Grid").first.get_by_text(metric, exact=True)
    top = 0
    while not row.count():
        top += 200
        _scroll(view, top)
    _scroll(view, row.evaluate("name => parseInt(name.closest('[style*=absolute]').style.top)"))


def _scroll(view: Any, top: int) -> None:
    """Scrolls the table; its column of names follows the values one step behind, as under a wheel."""
    for place in (top - 1, top):
        view.locator(".ReactVirtualized__Grid").last.evaluate(_SCROLL, place)
    view.wait_for_function(_SETTLED, arg=top)


def kept(picture: bytes, path: Path) -> None:
    """Writes a picture with 256 colours, which is enough for pages and terminals and takes a third of the room."""
    from PIL import Image

    Image.open(io.BytesIO(picture)).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


@contextmanager
def browser() -> Iterator[Any]:
    """A page in Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("Chromium is not installed: apt-get install chromium")
    with sync_playwright() as started:
        program = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        view = program.new_page(viewport={"width": 1500, "height": 900})
        view.set_default_timeout(60_000)
        yield view
        program.close()


@contextmanager
def dashboard(command: str, folder: Path) -> Iterator[str]:
    """Address of the dashboard that the sweep's own command starts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    words = [*shlex.split(command), "--port", str(port), "--workers", "1"]
    address = f"http://127.0.0.1:{port}"
    with (folder / "dashboard.log").open("wb") as log:
        server = subprocess.Popen(words, stdout=log, stderr=log, start_new_session=True, env=environment)
        try:
            for _ in range(600):
                with suppress(OSError), urllib.request.urlopen(f"{address}/health", timeout=5):
                    break
                time.sleep(0.1)
            yield address
        finally:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(timeout=20)


if __name__ == "__main__":
    main()
