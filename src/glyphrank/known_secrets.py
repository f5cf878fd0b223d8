"""The secrets of this process, once its config is known: they are hidden wherever a message repeats them.

What a name gives away (`token=...`) is found without this; a component's or a client's own message may hold the bare
value.
"""

from __future__ import annotations

from collections.abc import Iterable

SHORTEST = 6
"""Characters below which a value is not looked for: hiding every "abc" would make messages unreadable."""

_known: set[str] = set()


def remember(values: Iterable[str]) -> None:
    """Hides these values from now on, as far as they have at least `SHORTEST` characters."""
    _known.update(value for value in values if len(value.strip()) >= SHORTEST)


def hide(text: str, substitute: str) -> str:
    """The text with every known secret replaced, longer ones first."""
    for value in sorted(_known, key=len, reverse=True):
        text = text.replace(value, substitute)
    return text
