"""Takes secrets out of the YAML files in which Hydra keeps what a person asked for."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import yaml

from glyphrank.redaction import is_secret, redact, redact_text
from glyphrank.whole_files import replace_whole

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where it is there: a sweep reads four such files for every cell."""


class _Dumper(yaml.SafeDumper):
    """Quotes a text such as `1e3`, which Hydra would read as a number and YAML 1.1 would not."""


_Dumper.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+$"), list("-+0123456789")
)


def redact_folder(folder: Path) -> None:
    """Takes secrets out of `.hydra/*.yaml` of a run's folder; see `redact_file`."""
    for path in sorted((folder / ".hydra").glob("*.yaml")):
        redact_file(path)


def redact_file(path: Path) -> None:
    """Writes one YAML file anew without secrets, whole or not at all; one that holds none stays byte for byte.

    Values, interpolations and the order of keys stay, comments do not. A file that is no YAML becomes one comment
    where a secret may stand in it. A path that is not a file needs nothing.
    """
    if not path.is_file():
        return
    content = path.read_bytes()
    try:
        clean = _without_secrets(content)
    except (yaml.YAMLError, ValueError, RecursionError):
        text = content.decode("utf-8", "replace")
        if redact_text(text) == text and not any(is_secret(name) for name in re.findall(r"[\w.-]+", text)):
            return
        told = f"# {path.name} could not be read as YAML and may have held secrets, so its content was removed\n"
        clean = told.encode("utf-8")
    if clean != content:
        replace_whole(path, lambda new: new.write_bytes(clean), durable=False)


@lru_cache(maxsize=8)
def _without_secrets(content: bytes) -> bytes:
    """The same bytes where no secret stands in them; a cell asks twice, and the cells of a sweep share `multirun.yaml`.

    Raises:
        yaml.YAMLError, ValueError, RecursionError: it is no YAML.
    """
    loaded = yaml.load(content.decode("utf-8"), Loader=_Loader)  # noqa: S506 - a safe one
    clean = redact(loaded)
    if clean == loaded:
        return content
    return str(yaml.dump(clean, Dumper=_Dumper, allow_unicode=True, sort_keys=False)).encode("utf-8")
