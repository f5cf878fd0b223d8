"""The reference of a sweep's parent run in the sweep's folder, where cells in any process find it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from glyphrank.report.cells import launch_folder
from glyphrank.whole_files import replace_whole

PARENT_FILE = "parent.json"
"""Beside the records of the launch's cells."""
_FIELDS = ("store", "experiment", "run_id")

_log = logging.getLogger(__name__)
_sweeps: dict[str, Path] = {}


def remember_sweep(launch: str, folder: Path) -> None:
    """Tells this process where the launching one keeps a sweep: a cell's own config may name another folder."""
    _sweeps[launch] = folder


def remembered_sweep(launch: str) -> Path | None:
    """The folder of a sweep as it was told to this process."""
    return _sweeps.get(launch)


def write_parent(sweep: Path, launch: str, reference: Mapping[str, str]) -> None:
    """Puts the reference (`TrackedRun.reference`) into a sweep's folder; an empty one leaves no file.

    Args:
        launch: tells this command from others that may use the same folder.

    Raises:
        OSError: the folder cannot be written.
    """
    if reference:
        path = launch_folder(sweep, launch) / PARENT_FILE
        text = json.dumps(dict(reference), ensure_ascii=False, indent=1)
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_whole(path, lambda new: new.write_text(text + "\n", encoding="utf-8"))


def find_parent(sweep: Path, launch: str) -> dict[str, str]:
    """The reference that this launch left in a sweep's folder; empty where there is none.

    A damaged file costs the cell its place below the parent and no more: one warning.
    """
    path = launch_folder(sweep, launch) / PARENT_FILE
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {name: str(stored[name]) for name in _FIELDS}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        _log.warning("%s cannot be read (%s); the run stands alone", path, error)
        return {}
