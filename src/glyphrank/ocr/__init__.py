"""Engines that find the text of an item."""

from typing import Protocol

from glyphrank.records import Item, Reading, Runtime


class OcrEngine(Protocol):
    """Finds the lines of one item; its work is cached by what the item holds."""

    def read(self, item: Item, runtime: Runtime) -> Reading:
        """All lines of the item in the order of the source; an item that cannot be read gives a `failure`."""
        ...
