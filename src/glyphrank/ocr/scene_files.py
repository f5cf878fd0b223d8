"""The files of EasyOCR's models: what they are called, where they come from, and by which digests they are known.

Names, addresses and MD5 sums are those of EasyOCR 1.7.2 (`easyocr/config.py`); a test compares them with the
installed package. The SHA-256 of the two English ones are known as well.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path

from glyphrank.errors import DataError
from glyphrank.identity import FileDigests

_RELEASES = "https://github.com/JaidedAI/EasyOCR/releases/download"


@dataclass(frozen=True)
class ModelFile:
    """One file with weights.

    Attributes:
        name: of the file, and of the member of the archive.
        url: of a zip archive that holds it.
        md5, sha256: digests of the file; the second where it is known.
    """

    name: str
    url: str
    md5: str
    sha256: str | None = None

    def fault(self, path: Path, digests: FileDigests) -> str | None:
        """Why the file at a path, which exists, is not this one; None where it is.

        Raises:
            DataError: it cannot be read.
        """
        found, wanted = (_md5(path), self.md5) if self.sha256 is None else (digests(path), self.sha256)
        return None if found == wanted else f"has the digest {found}; wanted {wanted}"


DETECTOR = ModelFile(
    "craft_mlt_25k.pth",
    f"{_RELEASES}/pre-v1.1.6/craft_mlt_25k.zip",
    "2f8227d2def4037cdb3b34389dcf9ec1",
    "4a5efbfb48b4081100544e75e1e2b57f8de3d84f213004b14b85fd4b3748db17",
)
"""CRAFT, which finds text of any language (Baek et al. 2019, arXiv:1904.01941)."""


def _recogniser(release: str, stem: str, md5: str, sha256: str | None = None) -> ModelFile:
    return ModelFile(f"{stem}.pth", f"{_RELEASES}/{release}/{stem}.zip", md5, sha256)


RECOGNISERS = {
    "english_g2": _recogniser(
        "v1.3",
        "english_g2",
        "5864788e1821be9e454ec108d61b887d",
        "e2272681d9d67a04e2dff396b6e95077bc19001f8f6d3593c307b9852e1c29e8",
    ),
    "latin_g2": _recogniser("v1.3", "latin_g2", "469869130aad1a34e8f9086f4262bc59"),
    "zh_sim_g2": _recogniser("v1.3", "zh_sim_g2", "b601ce7143293387d3ec4f41a66edc07"),
    "japanese_g2": _recogniser("v1.3", "japanese_g2", "bad5146990ccb1272cb0908440fbe15e"),
    "korean_g2": _recogniser("v1.3", "korean_g2", "befecf7b1ca2fffb5af814a51443682d"),
    "telugu_g2": _recogniser("v1.2", "telugu", "f7576012a3abe593950c47bfa1bd8ddc"),
    "kannada_g2": _recogniser("v1.2", "kannada", "c240c97e4adb8773b53b3b3dec728627"),
    "cyrillic_g2": _recogniser("v1.6.1", "cyrillic_g2", "19f85f43d9128a89ac21b8d6a06973fe"),
    "thai_g1": _recogniser("pre-v1.1.6", "thai", "40a06b563a2b3d7897e2d19df20dc709"),
    "zh_tra_g1": _recogniser("pre-v1.1.6", "chinese", "dfba8e364cd98ed4fed7ad54d71e3965"),
    "tamil_g1": _recogniser("v1.1.7", "tamil", "4b93972fdacdcdabe6d57097025d4dc2"),
    "bengali_g1": _recogniser("v1.1.8", "bengali", "cea9e897e2c0576b62cbb1554997ce1c"),
    "arabic_g1": _recogniser("pre-v1.1.6", "arabic", "993074555550e4e06a6077d55ff0449a"),
    "devanagari_g1": _recogniser("pre-v1.1.6", "devanagari", "db6b1f074fae3070f561675db908ac08"),
}
"""What reads the text, by EasyOCR's names of the models."""


def _md5(path: Path) -> str:
    try:
        state = path.stat()
        return _md5_of(path, (state.st_size, state.st_mtime_ns, state.st_ino))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


@functools.lru_cache(maxsize=8)
def _md5_of(path: Path, stamp: tuple[int, ...]) -> str:
    """The MD5 sum of a file that has not changed since `stamp`; asked for with every item that is read."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
