"""Datasets: from files as published to a Task."""

from typing import Protocol

from glyphrank.records import Task
from glyphrank.runtime import Runtime


class Dataset(Protocol):
    """A dataset as a person names it."""

    def load(self, runtime: Runtime) -> Task:
        """Queries, items and relevance, with the fingerprints of all media.

        Raises:
            DataError: a file is missing, damaged or contradicts itself; the message names file, line and id.
        """
        ...
