"""What the next cell of a sweep may need again, kept in memory: the last value of each kind."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class LastValue(Generic[T]):
    """The last value of one kind, with the key of all that decided it. Values are shared, so nobody may change them."""

    def __init__(self) -> None:
        self._held: tuple[Hashable, T] | None = None

    def get(self, key: Hashable, make: Callable[[], T], is_good: Callable[[T], bool] = lambda value: True) -> T:
        """The kept value where it was made under an equal key, else what `make` returns, which is kept from now on.

        The former value goes before the new one is made, so that two are never held at once.

        Args:
            is_good: a new value that is not is returned and not kept, so that the next one is made anew.
        """
        self.keep_only(key)
        held = self._held
        if held is not None:
            return held[1]
        value = make()
        if is_good(value):
            self._held = (key, value)
        return value

    def keep_only(self, key: Hashable) -> None:
        """Lets go of a value that was made under another key."""
        if self._held is not None and self._held[0] != key:
            self._held = None

    def keep_if(self, is_good: Callable[[T], bool]) -> None:
        """Lets go of a value that is not good any more."""
        if self._held is not None and not is_good(self._held[1]):
            self._held = None
