"""Who ran what, where and from which commit: the tags that a run has from its start."""

from __future__ import annotations

import getpass
import json
import os
import shlex
import socket
import subprocess
from collections.abc import Mapping
from pathlib import Path

import glyphrank
from glyphrank.digests import digest_text
from glyphrank.known_secrets import hide
from glyphrank.redaction import REDACTED, redact, redact_override, redact_text
from glyphrank.tracking.names import NAME_LIMIT, stored_name
from glyphrank.tracking.processes import own_process
from glyphrank.tracking.start import Start

TAG_LIMIT = 5000
RUN_NAME = "mlflow.runName"
PARENT = "mlflow.parentRunId"
KIND, SWEEP = "kind", "sweep"
"""Tag and value that tell the parent run of a sweep from runs that have numbers of their own."""
EVENT, PARENT_EVENT, LAUNCH = "glyphrank.event", "glyphrank.parent_event", "glyphrank.launch"
"""Tags: what tells a run from all others, whatever store it is in; that of its parent; the command it belongs to."""
HOST, PROCESS = "host", "process"
"""Tags that tell which process a run is of; see `processes`."""
_GIT_SECONDS = 3
_OWN_FOLDER = Path(glyphrank.__file__).parent

_commits: dict[tuple[str, Path], dict[str, str]] = {}


def origin_tags(start: Start) -> dict[str, str]:
    """Tags of version, commit, person, machine and command, without secrets; `complete` is false until a run is.

    Git is asked about the folder of launch (`git.commit`, `git.dirty`) and, where glyphrank runs from a checkout, about
    that (`glyphrank.git.commit`, `glyphrank.git.dirty`); without git or a repository, or after 3 s, tags are left out.
    """
    tags = {
        RUN_NAME: shown_name(start.name),
        "mlflow.source.name": "glyphrank",
        "mlflow.source.type": "LOCAL",
        "mlflow.user": _user(),
        "mlflow.note.content": _note(start.overrides),
        HOST: socket.gethostname(),
        PROCESS: own_process(),
        "glyphrank.version": glyphrank.__version__,
        "config_digest": _digest(start.config),
        "complete": "false",
    }
    if start.sweep:
        tags[KIND] = SWEEP
    if start.launch:
        tags[LAUNCH] = start.launch
    tags |= _commits_of(start) | {stored_name(name): redact_text(text) for name, text in start.tags.items()}
    return {name: hide(value, REDACTED)[:TAG_LIMIT] for name, value in tags.items()}


def _commits_of(start: Start) -> dict[str, str]:
    """Asked once a launch and process, whose cells run the code that was there when it began."""
    if start.launch and (start.launch, start.launched_from) in _commits:
        return _commits[start.launch, start.launched_from]
    tags = _commit_tags("git", start.launched_from)
    if "git.commit" in tags:
        tags["mlflow.source.git.commit"] = tags["git.commit"]
    if _git(_OWN_FOLDER, "ls-files", "--error-unmatch", "__init__.py"):
        tags |= _commit_tags("glyphrank.git", _OWN_FOLDER)
    _commits.clear()
    _commits[start.launch, start.launched_from] = tags
    return tags


def _commit_tags(prefix: str, folder: Path) -> dict[str, str]:
    """Commit of the repository that holds a folder and whether anything in it is changed; nothing without one."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return {}
    changes = _git(folder, "status", "--porcelain")
    return {f"{prefix}.commit": commit, f"{prefix}.dirty": "unknown" if changes is None else str(bool(changes)).lower()}


def shown_name(name: str) -> str:
    """A run's name as every store takes it: 1 to 250 printable characters; a longer one ends in its digest."""
    printable = "".join(letter if letter.isprintable() else " " for letter in name).strip() or "glyphrank"
    return printable if len(printable) <= NAME_LIMIT else f"{printable[: NAME_LIMIT - 9]} {digest_text(name)[:8]}"


def _digest(config: Mapping[str, object]) -> str:
    """The same for the same configuration; Hydra's own node, which holds the time of day, is left out."""
    entries = {name: value for name, value in redact(config).items() if name != "hydra"}
    return digest_text(json.dumps(entries, sort_keys=True, default=str))


def _note(overrides: tuple[str, ...]) -> str:
    command = shlex.join(["glyphrank", "run", *(redact_override(override) for override in overrides)])
    return f"```\n{command}\n```"


def _git(folder: Path, *arguments: str) -> str | None:
    """Git's answer, None when there is none."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            check=True,
            timeout=_GIT_SECONDS,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace").strip()


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user without an entry
        return f"uid {os.getuid()}" if hasattr(os, "getuid") else "unknown"
