"""MLflow's dashboard as a person sees it: the command that a run prints, and a Chromium without a window."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from served import wait_for

SECONDS = 60
"""How long the page may take to show something; it usually takes five."""

_METRICS = """() => [...document.querySelectorAll('.ReactVirtualized__Grid')].map(
    grid => [...grid.firstElementChild.children].map(
        cell => [parseInt(cell.style.top), parseInt(cell.style.left), cell.innerText.trim()]))"""
_DRAWN = """top => { const grids = [...document.querySelectorAll('.ReactVirtualized__Grid')];
    const drawn = grids.length == 2 && grids.every(grid => {
        const tops = [...grid.firstElementChild.children].map(cell => parseInt(cell.style.top));
        const last = Math.min(top + grid.clientHeight, grid.firstElementChild.clientHeight) - 45;
        return Math.min(...tops) <= top && Math.max(...tops) >= last; });
    const scrolled = grids[grids.length - 1];
    if (!drawn && scrolled) {
        const before = scrolled.scrollTop;
        scrolled.scrollTop = top;
        if (scrolled.scrollTop == before) scrolled.scrollTop = before ? before - 1 : 1; }
    return drawn; }"""
"""Scrolls until all rows there are drawn, more than once where need be: names may follow the values a step behind."""


@contextmanager
def opened(command: str, folder: Path) -> Iterator[str]:
    """Address of the dashboard that a printed command starts, on a port of its own; its log lies in a folder."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    surroundings = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    words = [*shlex.split(command), "--port", str(port), "--workers", "1"]
    log = folder / "dashboard.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(words, stdout=stream, stderr=stream, start_new_session=True, env=surroundings)
        try:
            wait_for(port, server, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.wait(timeout=20)


@contextmanager
def page() -> Iterator[Any]:
    """A page of Debian's Chromium, wide enough for all columns; the test is skipped where there is none."""
    programs = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    with programs.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 2400, "height": 1200})
        view.set_default_timeout(1000 * SECONDS)
        view.add_init_script("localStorage.setItem('mlflow.assistant.panelOpen_v1', 'false')")
        yield view
        browser.close()


def shown_parameters(view: Any, name: str) -> list[str]:
    """A row of the compare page above its metrics: what stands in it for each run."""
    row = view.locator("tr").filter(has=view.locator("th").get_by_text(name, exact=True))
    return [text.strip() for text in row.locator("td, th:not(:first-child)").all_inner_texts()]


def shown_metrics(view: Any) -> dict[str, list[str]]:
    """Name -> what the compare page shows of a metric for each run; its table draws only what is scrolled into it."""
    view.wait_for_function(_DRAWN, arg=0, polling=100)
    height = view.evaluate("() => document.querySelector('.ReactVirtualized__Grid').firstElementChild.clientHeight")
    found: dict[str, list[str]] = {}
    for top in range(0, height, 200):
        reached = min(top, max(0, height - 300))
        view.wait_for_function(_DRAWN, arg=reached, polling=100)
        names, values = view.evaluate(_METRICS)
        for place, _, name in names:
            cells = sorted((left, text) for row, left, text in values if row == place)
            if cells:
                found[name] = [text for _, text in cells]
    return found
