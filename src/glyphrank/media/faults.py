"""Why media cannot be read: one error type, with causes that can be told apart."""

from __future__ import annotations

from enum import StrEnum


class MediaFault(StrEnum):
    """Why a file or a page of it cannot be opened.

    `no_page`: there is no such page, or no such row or column of a parquet file · `truncated`: it ends before its own
    header says · `not_media`: neither a picture, nor a PDF, nor a clip ·
    `no_video`: a clip without pictures · `unsupported`: whole, but in a coding that nothing here decodes ·
    `too_large`, `too_slow`: beyond the limits of pixels or memory, of time · `crashed`: the process that decoded it
    died · `no_decoder`: the package that decodes it is not installed · `changed`: another file than when its digest
    was taken.
    """

    missing = "missing"
    unreadable = "unreadable"
    empty = "empty"
    encrypted = "encrypted"
    damaged = "damaged"
    no_page = "no_page"
    changed = "changed"
    truncated = "truncated"
    not_media = "not_media"
    no_video = "no_video"
    unsupported = "unsupported"
    too_large = "too_large"
    too_slow = "too_slow"
    crashed = "crashed"
    no_decoder = "no_decoder"


class MediaError(Exception):
    """A file or a page cannot be opened; `fault` tells the causes apart, the message names the file."""

    def __init__(self, fault: MediaFault, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type[MediaError], tuple[MediaFault, str]]:
        """So that it can be pickled: what is made anew takes the cause and the message."""
        return type(self), (self.fault, str(self))
