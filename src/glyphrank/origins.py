"""Where a value of the configuration came from, for messages and names: an override, a choice, an experiment."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from glyphrank.redaction import redact_override

_UNNAMED = frozenset(("launch", "paths", "runtime", "tracking"))
"""Root keys whose overrides are no part of a run's name, which has room for what was measured alone."""


def telling(overrides: Sequence[str]) -> list[str]:
    """Those that say what is measured, for names: without secrets and without the backslashes that Hydra asks for."""
    counting = [text for text in overrides if re.split(r"[.=]", text.lstrip("+~"))[0] not in _UNNAMED]
    return [re.sub(r"\\(.)", r"\1", redact_override(override)) for override in counting]


def slot_of(path: str, choices: Mapping[str, str]) -> str | None:
    """The slot whose choice fills a path: `encoder@lexical` for `lexical.k1`."""
    top = path.partition(".")[0]
    return next((name for name in choices if name.rpartition("@")[2] == top), None)


@dataclass(frozen=True)
class Origins:
    """Says where a value came from: overrides on the command line, or the choice that holds it.

    A component that refuses its fields does not say which, so all overrides inside it are named.

    Attributes:
        choices: slot -> choice.
        overrides: as they were given.
    """

    choices: Mapping[str, str]
    overrides: Sequence[str]

    def __call__(self, path: str) -> str:
        """A text to stand behind a message about the value at a dotted path; secrets removed, empty if unknown."""
        overrides = [redact_override(override) for override in self._of(path)] if path else []
        if overrides:
            return f" [override{'s' if len(overrides) > 1 else ''} {', '.join(overrides)}]"
        slot = slot_of(path, self.choices)
        sources = [slot] if slot else []
        sources += ["experiment"] if path and self.choices.get("experiment") else []
        return f" [{', '.join(f'{name}={self.choices[name]}' for name in sources)}]" if sources else ""

    def _of(self, path: str) -> list[str]:
        """The overrides that made a value: the last one of it or of what holds it, and those of what it holds."""
        made: dict[str, str] = {}
        for override in self.overrides:
            name = override.partition("=")[0].lstrip("+~")
            if name in self.choices:
                continue
            if path == name or path.startswith((f"{name}.", f"{name}[")):
                made = {path: override}
            elif name.startswith((f"{path}.", f"{path}[")):
                made.pop(name, None)
                made[name] = override
        return list(made.values())
