"""TextVR in miniature: the published files with invented content, and short clips that show the texts."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from glyphrank.datasets.sample_clips_video import FRAMES, HEIGHT, WIDTH, write_video
from glyphrank.records import UInt8Array

_SIZE = 30
_MARGIN = 20
_SHIFT = 3
"""How far the videos of the random file are moved against the captions."""


@dataclass(frozen=True)
class Film:
    """A record with what its clip shows.

    Attributes:
        texts: drawn in the first half and in the second half of the clip, or nowhere.
        ocr: `found` as drawn, `empty` for a file that holds nothing, `absent` for one that is not there.
        ocr_folder: below `Kwai_VideoOCR`, None for the scenario's.
    """

    path: str
    captions: tuple[str, ...]
    texts: tuple[str, str] | None
    ocr: str = "found"
    ocr_folder: str | None = None

    @property
    def kwai(self) -> str:
        """What the record says under `Kwai_OCR`."""
        folder, name = self.path.split("/")
        return f"{self.ocr_folder or folder}/{name.removesuffix('.mp4')}.json"


TEST = (
    Film(
        "Street_View_Indoor/hB3kPq-Zt_8_00100_00110.mp4",
        ("The shop behind the glass is called HARBOUR BOOKS.",),
        ("HARBOUR BOOKS", "OPEN LATE"),
    ),
    Film("Activity/v_Qw3-rT_yU1o_0.mp4", (" They keep running in the background.",), ("SPRING RELAY", "LAP TWO")),
    Film("Activity/v_Qw3-rT_yU1o_2.mp4", ("They keep running in the background.",), ("SPRING RELAY", "FINISH")),
    Film(
        "News_Movie/kL9_mN0pQ1r_00045_00055.mp4",
        ("The logo of CHANNEL NINE stands beside the WEATHER.",),
        ("CHANNEL NINE", "WEATHER"),
        ocr_folder="Technology",
    ),
    Film("Driving/629.mp4", ("A car follows a dark road.",), None, "empty"),
    Film("Cooking/b_uK tart_3.mp4", ("She shows how to bake a LEMON TART.",), ("LEMON TART", "STEP THREE"), "absent"),
    Film(
        "Sports/한강 달리기_00010_00020.mp4",
        ("Runners pass a banner of the RIVER MARATHON.",),
        ("RIVER MARATHON", "KM FORTY"),
    ),
    Film(
        "Games/video2_00100_00110.mp4",
        ("  The screen says GAME OVER after LEVEL SEVEN.",),
        ("LEVEL SEVEN", "GAME OVER"),
    ),
)
"""Eight clips of the test file, one caption each; two captions are equal but for white space."""

TRAIN = (
    Film(
        "Street_View_Outdoor/aZ1x-Cv_B2n_00000_00010.mp4",
        ("A sign points to the OLD MILL.", " The OLD MILL is a museum."),
        ("OLD MILL", "MUSEUM"),
    ),
    Film(
        "Street_View_Outdoor/aZ1x-Cv_B2n_00010_00020.mp4",
        ("People walk past a CORNER CAFE.",),
        ("CORNER CAFE", "FRESH TEA"),
    ),
    Film(
        "Street_View_Indoor/aZ1x-Cv_B2nlistPL0abc_XYindex4_00060_00070.mp4",
        ("The lift goes to PLATFORM TWO.", "A lift.", "They wait at PLATFORM TWO.", "A lift."),
        ("PLATFORM TWO", "LIFT"),
    ),
    Film("Activity/v_mN4-bV_cX5z_0.mp4", ("A man paints a fence.",), ("WET PAINT", "WET PAINT")),
    Film("Activity/v_mN4-bV_cX5z_1.mp4", ("A man paints a fence.", " He is done."), ("WET PAINT", "THE END")),
    Film("Activity/v_mN4-bV_cX5z_3.mp4", (" He shows the brush.",), None, "empty"),
    Film("Cooking/gH7_jK8lM9n_1.mp4", ("Two cups of RICE FLOUR.", "RICE FLOUR goes in."), ("RICE FLOUR", "TWO CUPS")),
    Film("Cooking/gH7_jK8lM9n_12.mp4", ("It is served with PLUM JAM.",), ("PLUM JAM", "ENJOY"), "absent"),
    Film("Driving/17.mp4", ("The road sign says EXIT NORTH.",), ("EXIT NORTH", "EXIT NORTH")),
    Film(
        "News_Movie/pO6iU5yT4rE_00200_00215.mp4",
        ("The speaker talks of GREEN ENERGY.", "A talk.", "GREEN ENERGY is the title.", "A hall.", "A speaker."),
        ("GREEN ENERGY", "THANK YOU"),
        ocr_folder="Speech_Interview",
    ),
)
"""Ten clips of the train file, cut from five videos, with one to five captions each."""


def write_textvr(
    folder: Path, *, mismatched: bool = False, videos: str | None = "Videos", absent: Collection[str] = ()
) -> Path:
    """Writes the three annotation files, the OCR and the clips as they are published, and returns the folder.

    On disk the names with Hangul are in NFD, in the annotation files in NFC.

    Args:
        mismatched: whether the test file names the OCR of other videos, as the first release did.
        videos: name of the folder of the clips, None for none.
        absent: paths of clips that are not written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    moved = TEST[_SHIFT:] + TEST[:_SHIFT]
    _write(
        folder / "TextVR_test.json", [_record(film, moved[at] if mismatched else film) for at, film in enumerate(TEST)]
    )
    rand = [_record(film, other) | {"path": other.path} for film, other in zip(TEST, moved, strict=True)]
    _write(folder / "TextVR_test_rand.json", rand)
    _write(folder / "TextVR_train.json", [_record(film, film, "train") for film in TRAIN])
    for number, film in enumerate((*TEST, *TRAIN)):
        if film.ocr != "absent":
            path = _decomposed(folder / "Kwai_VideoOCR", film.kwai)
            path.write_text(json.dumps(kwai_tracks(film.texts) if film.ocr == "found" else {}), encoding="utf-8")
        if videos is not None and film.path not in absent:
            write_video(_decomposed(folder / videos, film.path), draw(film.texts, number))
    return folder


def write_stubs(folder: Path, films: Sequence[Film]) -> None:
    """Writes files of a few bytes in the places of clips, for whoever does not look into them."""
    for film in films:
        path = folder / "Videos" / film.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(path.name.encode())


def kwai_tracks(texts: tuple[str, str] | None) -> dict[str, Any]:
    """The OCR of a clip as TextVR publishes it: a text is followed over the frames in which it is drawn."""
    tracks: dict[str, Any] = {}
    for half, text in enumerate(texts or ()):
        left, top, right, bottom = _place(text, half)
        numbers = [left, top, right, top, right, bottom, left, bottom, 0, 1]
        frames = range(half * FRAMES // 2, (half + 1) * FRAMES // 2)
        tracks[str(7 * half + 1)] = {
            "text": text,
            "score": 0.97 if half == 0 else "0.88",
            "recommend_box": numbers[:8],
            "tracks": {str(frame): numbers for frame in frames},
        }
    return tracks


def draw(texts: tuple[str, str] | None, number: int) -> Iterator[UInt8Array]:
    """The frames of a clip, (180, 320, 3) uint8 RGB each: a ground of its own with one text, then with the other."""
    ground = (40 + 37 * number % 90, 40 + 53 * number % 90, 40 + 71 * number % 90)
    for frame in range(FRAMES):
        image = Image.new("RGB", (WIDTH, HEIGHT), ground)
        canvas = ImageDraw.Draw(image)
        canvas.rectangle((4 * frame, HEIGHT - 16, 4 * frame + 30, HEIGHT - 6), (230, 120, 40))
        if texts is not None:
            half = 2 * frame // FRAMES
            left, top, *_ = _place(texts[half], half)
            canvas.text((left, top), texts[half], (255, 255, 255), _font(), anchor="lt")
        yield np.asarray(image)


def _place(text: str, half: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a text in pixels."""
    left, top = _MARGIN, _MARGIN + 70 * half
    return left, top, left + round(_font().getlength(text)), top + _SIZE


def _font() -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(_SIZE)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


def _record(film: Film, shown: Film, split: str = "test") -> dict[str, Any]:
    """The captions of one film with the `videos_info` of another."""
    activity = film.path.startswith("Activity/")
    captions = [
        {"caption": caption, "caption_info": {"duration": 0 if activity else 10.0, "desc_id": 100 + number}}
        for number, caption in enumerate(film.captions)
    ]
    video = {"source": f"vitvr_{len(shown.path)}", "split": split, "Kwai_OCR": shown.kwai}
    return {"path": film.path, "captions_info": captions, "videos_info": video}


def _write(path: Path, records: Sequence[object]) -> None:
    path.write_text(json.dumps(records), encoding="utf-8")


def _decomposed(folder: Path, name: str) -> Path:
    """A place for a file, its name in NFD, below folders that are made."""
    path = folder / unicodedata.normalize("NFD", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
