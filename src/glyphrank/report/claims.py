"""Whose a sweep's folder is: one sweep's for good, and one launching process's while that runs."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from glyphrank.errors import ConfigError
from glyphrank.report.cells import CELLS
from glyphrank.shard_locks import ShardLocks
from glyphrank.whole_files import replace_whole

SWEEP, LAUNCHING = "sweep.json", "launching.json"
"""Beside the folders of the launches: what the sweep is, and which process launched it last."""
_SHOWN = 4

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Asked:
    """What makes a sweep that very one, secrets removed; how and where it runs is left out.

    Attributes:
        overrides: in any order.
        config: the composed config, nested, not resolved.
        swept: those of the overrides that are swept, in their order, which decides the cells' numbers.
    """

    overrides: tuple[str, ...]
    config: Mapping[str, Any]
    swept: tuple[str, ...] = ()


@contextmanager
def claimed(sweep: Path, launch: str, asked: Asked) -> Iterator[None]:
    """The folder is this process's until the block is left; the same sweep may have it later, to go on.

    A sweep of which no cell has begun leaves the folder to any other. Where the file system has no locks, two processes
    may hold a folder at once (one warning).

    Raises:
        ConfigError: it is another sweep's, or another process launches the same sweep from it at this moment.
        OSError: the folder cannot be made or written; nothing is claimed.
    """
    place = sweep / CELLS
    place.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        lock = ShardLocks(place).take("launching")
        if lock is None:
            raise ConfigError(_held(sweep))
        stack.enter_context(lock)
        _check(sweep, asked)
        _write(place / SWEEP, asdict(asked), durable=True)
        _write(
            place / LAUNCHING, {"launch": launch, "host": socket.gethostname(), "pid": os.getpid(), "at": time.time()}
        )
        yield


def latest_launch(sweep: Path) -> str:
    """The launch that has the folder, or had it last; empty where none is known."""
    found = _read(sweep / CELLS / LAUNCHING).get("launch")
    return found if isinstance(found, str) else ""


def _check(sweep: Path, asked: Asked) -> None:
    before = _read(sweep / CELLS / SWEEP)
    has_cells = next((sweep / CELLS).glob("*/[0-9]*.json"), None) is not None
    now = json.loads(json.dumps(asdict(asked), default=str))
    if not has_cells or _as_a_set({"swept": now["swept"], **before}) == _as_a_set(now):
        return
    if not before:
        raise ConfigError(
            f"the folder {sweep} holds cells, and what sweep they belong to cannot be read in {sweep / CELLS / SWEEP}; "
            "choose another folder with hydra.sweep.dir=FOLDER (stored results are taken over into any)"
        )
    overrides = [str(override) for override in before.get("overrides") or ()]
    if sorted(overrides) != sorted(now["overrides"]):
        what = f"it holds the sweep {' '.join(overrides or ['without overrides'])}"
    elif before.get("swept", now["swept"]) != now["swept"] and before.get("config") == now["config"]:
        order = " ".join(map(str, before["swept"] or ()))
        what = f"it has the same overrides, but what is swept numbers its cells in this order: {order}"
    else:
        was, new = _flat(before.get("config")), _flat(now["config"])
        differ = sorted(name for name in was.keys() | new.keys() if was.get(name, ...) != new.get(name, ...))
        more = f" and {len(differ) - _SHOWN} more" if len(differ) > _SHOWN else ""
        what = f"the configuration of its sweep differs in {', '.join(differ[:_SHOWN])}{more}"
    raise ConfigError(
        f"the folder {sweep} belongs to another sweep: {what}; choose another folder with hydra.sweep.dir=FOLDER "
        f"(the same command would go on where that sweep stopped)"
    )


def _as_a_set(asked: Mapping[str, Any]) -> dict[str, Any]:
    overrides = asked.get("overrides")
    return {**asked, "overrides": sorted(map(str, overrides)) if isinstance(overrides, list) else overrides}


def _held(sweep: Path) -> str:
    holder = _read(sweep / CELLS / LAUNCHING)
    who = f"process {holder['pid']} on {holder['host']}" if holder.keys() >= {"pid", "host"} else "another process"
    return (
        f"a sweep is running in the folder {sweep}, launched by {who}; wait for its end, after which the same command "
        f"goes on with what is missing, or choose another folder with hydra.sweep.dir=FOLDER"
    )


def _flat(node: object, path: str = "") -> dict[str, object]:
    """Dotted keys and values of nested ones."""
    if not isinstance(node, Mapping) or not node:
        return {path: node}
    inner = (_flat(value, f"{path}.{name}" if path else str(name)) for name, value in node.items())
    return {name: value for part in inner for name, value in part.items()}


def _write(path: Path, value: Mapping[str, object], durable: bool = False) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=1, default=str) + "\n"
    replace_whole(path, lambda new: new.write_text(text, encoding="utf-8"), durable=durable)


def _read(path: Path) -> dict[str, Any]:
    """What stands in a file, nothing where it is absent or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        logger.warning("%s cannot be read (%s)", path, error)
        return {}
    return found if isinstance(found, dict) else {}
