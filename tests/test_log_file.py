from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from composing import CONF
from glyphrank.log_file import LogFile

logger = logging.getLogger("glyphrank.of_this_test")


class Full(io.TextIOWrapper):
    """A file on a full disk."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO())

    def write(self, text: str) -> int:
        raise OSError(28, "No space left on device")


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LogFile]:
    """A log on a full disk, among the handlers of the program."""
    handler = LogFile(tmp_path / "glyphrank.log", encoding="utf-8")
    handler.close()
    handler.setStream(Full())
    logging.getLogger().addHandler(handler)
    yield handler
    logging.getLogger().removeHandler(handler)
    handler.close()


def test_full_disk_is_told_in_one_line_once(
    log: LogFile, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        logger.warning("line %d", number)
    lines = [text for text in caplog.messages if "line " not in text]
    assert lines == [f"{tmp_path}/glyphrank.log cannot be written (No space left on device): lines are missing there"]
    assert capsys.readouterr().err == ""


def test_error_of_a_line_is_shown_as_logging_shows_it(log: LogFile, capsys: pytest.CaptureFixture[str]) -> None:
    log.handle(logging.LogRecord("glyphrank", logging.INFO, __file__, 1, "%d", ("no number",), None))
    assert "--- Logging error ---" in capsys.readouterr().err


def test_job_logs_with_it() -> None:
    config = yaml.safe_load((CONF / "hydra" / "job_logging" / "glyphrank.yaml").read_text(encoding="utf-8"))
    assert config["handlers"]["file"]["class"] == f"{LogFile.__module__}.{LogFile.__qualname__}"
