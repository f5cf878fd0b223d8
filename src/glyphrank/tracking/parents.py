"""The reference of a sweep's parent run in the sweep's folder, where cells in any process find it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path

from glyphrank.whole_files import replace_whole

PARENT_FILE = "parent.json"
_LAUNCH = "launch"
_FIELDS = ("store", "experiment", "run_id")

_log = logging.getLogger(__name__)


def write_parent(folder: Path, launch: str, reference: Mapping[str, str]) -> None:
    """Puts the reference (`TrackedRun.reference`) into a sweep's folder; an empty one takes away what lies there.

    Args:
        launch: tells this command from others that may use the same folder.

    Raises:
        OSError: the folder cannot be written.
    """
    path = folder / PARENT_FILE
    if not reference:
        path.unlink(missing_ok=True)
        return
    text = json.dumps({_LAUNCH: launch, **reference}, ensure_ascii=False, indent=1)
    replace_whole(path, lambda new: new.write_text(text + "\n", encoding="utf-8"))


def find_parent(folder: Path, launch: str) -> dict[str, str]:
    """The reference that this launch left in a sweep's folder; empty where there is none, or another launch's.

    A damaged file costs the cell its place below the parent and no more: one warning.
    """
    path = folder / PARENT_FILE
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if stored[_LAUNCH] != launch:
            return {}
        return {name: str(stored[name]) for name in _FIELDS}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        _log.warning("%s cannot be read (%s); the run stands alone", path, error)
        return {}
