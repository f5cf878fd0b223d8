"""Progress: a bar that leaves the terminal as it was, lines elsewhere, nothing for fast work."""

from __future__ import annotations

import errno
import io
import logging
import os
import pty
import subprocess
import sys
import threading

import pytest

from glyphrank import progress
from glyphrank.progress import LineTracker, duration, track

HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def _log_all(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "glyphrank")


def test_lines_come_every_ten_seconds_with_rate_and_remaining_time(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    lines = LineTracker(400, "reading", clock)
    for _ in range(25):
        clock.now += 1
        lines.advance(4)
    assert caplog.messages == [
        "reading: 40 of 400, 4 a second, 1 min 30 s left",
        "reading: 80 of 400, 4 a second, 1 min 20 s left",
    ]


def test_the_end_says_how_long_it_took(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    lines = LineTracker(6, "reading", clock)
    clock.now += 12
    lines.advance(6)
    lines.finish()
    assert caplog.messages == ["reading: 6 in 12 s, 0.5 a second"]


def test_work_of_less_than_a_second_is_not_mentioned(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    lines = LineTracker(6, "reading", clock)
    clock.now += 0.9
    lines.advance(6)
    lines.finish()
    assert caplog.messages == []


def test_nothing_done_after_ten_seconds_has_no_rate_to_divide_by(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    lines = LineTracker(6, "reading", clock)
    clock.now += 10
    lines.advance(0)
    assert caplog.messages == ["reading: 0 of 6, 0 a second, an unknown time left"]


def test_threads_lose_no_count(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    lines = LineTracker(40_000, "reading", clock)

    def work() -> None:
        for _ in range(10_000):
            lines.advance()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    clock.now += 2
    lines.finish()
    assert caplog.messages == ["reading: 40000 in 2 s, 2e+04 a second"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (87, "1 min 27 s"), (3599.9, "1 h 0 min"), (7380, "2 h 3 min")],
)
def test_duration_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_track_writes_no_bar_where_stderr_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    stderr = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setattr(progress, "QUIET", 0.0)
    with track(3, "reading") as tracker:
        tracker.advance(3)
    assert stderr.getvalue() == ""
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith("reading: 3 in 0 s")


def on_a_terminal(script: str, term: str = "xterm") -> tuple[int, str, str]:
    """Exit status, stdout, and what a terminal at stderr got."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": term, "COLUMNS": "100"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            chunk = os.read(ours, 65536)
        except OSError as error:
            if error.errno != errno.EIO:  # how the end of a terminal reads
                raise
            break
        if not chunk:
            break
        shown += chunk
    os.close(ours)
    out, _ = process.communicate(timeout=60)
    return process.returncode, out, shown.decode()


def test_a_bar_shows_count_and_rate_and_is_gone_in_the_end() -> None:
    status, out, shown = on_a_terminal(
        "import time; from glyphrank.progress import track\n"
        "with track(40, 'reading [pages]') as tracker:\n"
        "    for _ in range(10): time.sleep(0.03); tracker.advance(4)\n"
        "    print('for a pipe')\n"
    )
    assert status == 0
    assert out == "for a pipe\n"
    assert "reading [pages]" in shown
    assert "40/40" in shown
    assert "a second" in shown
    assert shown.rindex(SHOW) > shown.rindex(HIDE)
    assert shown.rstrip().endswith("\x1b[2K")  # the bar's line is erased


def test_the_terminal_is_restored_when_the_work_raises() -> None:
    status, _, shown = on_a_terminal(
        "from glyphrank.progress import track\n"
        "with track(40, 'reading') as tracker:\n"
        "    raise KeyError('broken page')\n"
    )
    assert status == 1
    assert HIDE in shown
    assert shown.rindex(SHOW) > shown.rindex(HIDE)
    assert shown.index("broken page") > shown.rindex(SHOW)


def test_a_second_bar_and_a_dumb_terminal_get_lines() -> None:
    script = (
        "import logging; from glyphrank import progress\n"
        "logging.basicConfig(level='INFO', format='%(message)s'); progress.QUIET = 0.0\n"
        "with progress.track(2, 'outer') as outer:\n"
        "    with progress.track(3, 'inner') as inner:\n"
        "        inner.advance(3); outer.advance(2)\n"
    )
    status, _, shown = on_a_terminal(script)
    assert status == 0
    assert "inner: 3 in 0 s" in shown
    assert "outer: 2 in" not in shown
    status, _, shown = on_a_terminal(script, term="dumb")
    assert status == 0
    assert HIDE not in shown
    assert "outer: 2 in 0 s" in shown
