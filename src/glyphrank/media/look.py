"""What of an item can be seen, whatever kind of file it is."""

from __future__ import annotations

from pathlib import Path

from glyphrank.errors import ConfigError
from glyphrank.media import Sampler
from glyphrank.media.faults import MediaError, MediaFault
from glyphrank.media.files import head_of, shown_media
from glyphrank.media.images import load_image, load_picture
from glyphrank.media.kinds import HEAD, FileKind, kind_of
from glyphrank.media.parquet import cell_bytes
from glyphrank.media.pdf import render_page
from glyphrank.media.video import sample
from glyphrank.records import Cell, Frames, Media, UInt8Array


def look(media: Media, sampler: Sampler) -> Frames:
    """The frames of a clip, or the one frame of a page or picture: upright RGB, no side above the sampler's.

    What a file is goes by what it holds, not by its name (`kinds.kind_of`): a document (its first page where none is
    named), a clip, else a picture. Of a picture with several frames (GIF, APNG, multi-page TIFF) the first is seen,
    without a time. A cell of a parquet file holds a picture.

    Raises:
        MediaError: the item cannot be seen; the message names the file, and the row of a parquet file.
        ConfigError: the sampler breaks its promise.
    """
    long_side, most_pixels = sampler.long_side, sampler.most_pixels
    try:
        if media.cell is not None:
            return Frames((_in_cell(media.path, media.cell, long_side, most_pixels),))
        kind = kind_of(head_of(media.path, HEAD))
        if media.page is not None or kind is FileKind.pdf:
            return Frames((render_page(media.path, media.page or 1, long_side, most_pixels),))
        if kind is FileKind.clip:
            return sample(media.path, sampler)
        return Frames((load_image(media.path, long_side, most_pixels),))
    except (MediaError, ConfigError):
        raise
    except MemoryError as error:
        raise MediaError(MediaFault.too_large, f"{shown_media(media)}: needs more memory than there is") from error
    except Exception as error:  # whatever else a library raises at a file is a fault of the file
        raise MediaError(
            MediaFault.damaged, f"{shown_media(media)}: cannot be decoded ({type(error).__name__}: {error})"
        ) from error


def _in_cell(path: Path, cell: Cell, long_side: int, most_pixels: int) -> UInt8Array:
    """The picture in a cell; documents and clips in parquet files are refused, as no benchmark has them there."""
    name = shown_media(Media(path, None, "", cell=cell))
    data = cell_bytes(path, cell)
    kind = kind_of(data[:HEAD])
    if kind in (FileKind.pdf, FileKind.clip):
        what = "a PDF document" if kind is FileKind.pdf else "a clip"
        raise MediaError(MediaFault.unsupported, f"{name}: holds {what}; of a parquet file only pictures are read")
    return load_picture(data, name, long_side, most_pixels)
