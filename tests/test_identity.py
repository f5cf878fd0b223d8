"""Identity: all that can change a number changes the key, and nothing else does."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar

import pytest

from glyphrank.digests import digest_file, digest_json, digest_text
from glyphrank.errors import ConfigError, DataError
from glyphrank.identity import Location, digest_place, key, recipe


class Norm(StrEnum):
    nfc = "nfc"
    nfd = "nfd"


@dataclass(frozen=True)
class Analyser:
    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    width: int


@dataclass(frozen=True)
class OtherAnalyser:
    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    width: int


@dataclass(frozen=True)
class Encoder:
    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ("numpy",)
    size: int = 2
    rate: float = 0.5
    name: str = "small"
    bold: bool = True
    norm: Norm = Norm.nfc
    limit: int | None = None
    sizes: tuple[int, ...] = (1, 2)
    weights: Mapping[str, float] = field(default_factory=lambda: {"a": 1.0, "b": 2.0})
    analyser: Analyser | OtherAnalyser = Analyser(3)
    more: tuple[Analyser, ...] = (Analyser(1), Analyser(2))


@dataclass(frozen=True)
class Reader:
    VERSION: ClassVar[int] = 1
    PACKAGES: ClassVar[tuple[str, ...]] = ()
    model: Location
    extra: Location | None = None
    others: tuple[Location, ...] = ()


def test_equal_components_have_equal_keys() -> None:
    assert key(Encoder(), digest_file) == key(Encoder(), digest_file)
    assert len(key(Encoder(), digest_file)) == 32


@pytest.mark.parametrize(
    "change",
    [
        {"size": 3},
        {"rate": math.nextafter(0.5, 1)},
        {"rate": math.nan},
        {"name": "Small"},
        {"bold": False},
        {"bold": 1},
        {"norm": Norm.nfd},
        {"limit": 0},
        {"limit": ""},
        {"sizes": (2, 1)},
        {"sizes": (1,)},
        {"sizes": (12,)},
        {"weights": {"a": 1.0}},
        {"weights": {"a": 2.0, "b": 1.0}},
        {"analyser": Analyser(4)},
        {"analyser": OtherAnalyser(3)},
        {"more": (Analyser(2), Analyser(1))},
    ],
    ids=str,
)
def test_every_kind_of_field_changes_the_key(change: dict[str, Any]) -> None:  # case C01
    assert key(replace(Encoder(), **change), digest_file) != key(Encoder(), digest_file)


def test_the_order_of_a_mapping_does_not_change_the_key() -> None:
    assert key(Encoder(weights={"b": 2.0, "a": 1.0}), digest_file) == key(Encoder(), digest_file)


def test_the_version_of_a_class_changes_the_key_also_deep_inside(monkeypatch: pytest.MonkeyPatch) -> None:  # case C01
    before = key(Encoder(), digest_file)
    monkeypatch.setattr(Analyser, "VERSION", 2)
    inner = key(Encoder(), digest_file)
    monkeypatch.setattr(Encoder, "VERSION", 2)
    assert len({before, inner, key(Encoder(), digest_file)}) == 3


def test_the_version_of_a_package_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:  # case C01
    before = key(Encoder(), digest_file)
    monkeypatch.setattr("glyphrank.identity.installed_version", lambda name: "0.0.1")
    assert key(Encoder(), digest_file) != before


def test_a_package_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Encoder, "PACKAGES", ("no-such-package-here",))
    with pytest.raises(ConfigError, match="'no-such-package-here' is not installed; pip install"):
        key(Encoder(), digest_file)


def test_a_recipe_can_be_read() -> None:
    found = recipe(Encoder(), digest_file)
    assert found["class"] == f"{__name__}.Encoder"
    assert found["version"] == 1
    assert list(found["packages"]) == ["numpy"]  # type: ignore[call-overload]
    fields = found["fields"]
    assert isinstance(fields, dict)
    assert fields["norm"] == "nfc"
    assert fields["sizes"] == [1, 2]
    assert fields["analyser"]["class"] == f"{__name__}.Analyser"
    assert fields["analyser"]["fields"] == {"width": 3}


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", object(), len, 1j])
def test_a_field_of_unknown_content_is_refused(value: object) -> None:
    with pytest.raises(ConfigError, match="has no known content"):
        key(replace(Encoder(), name=value), digest_file)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [Encoder, "text", {"size": 2}])
def test_what_is_no_component_has_no_recipe(value: object) -> None:
    with pytest.raises(ConfigError, match="is not a component"):
        recipe(value, digest_file)


def test_a_location_counts_as_what_it_holds(tmp_path: Path) -> None:  # case C01
    here, there, other = tmp_path / "here.bin", tmp_path / "there.bin", tmp_path / "other.bin"
    for path, content in ((here, b"weights"), (there, b"weights"), (other, b"Weights")):
        path.write_bytes(content)
    assert key(Reader(here), digest_file) == key(Reader(there), digest_file)
    assert key(Reader(here), digest_file) != key(Reader(other), digest_file)
    assert key(Reader(here, extra=here), digest_file) == key(Reader(here, extra=there), digest_file)
    assert key(Reader(here, others=(here,)), digest_file) == key(Reader(here, others=(there,)), digest_file)
    assert key(Reader(here, others=(here,)), digest_file) != key(Reader(here, others=(other,)), digest_file)
    assert str(tmp_path) not in str(recipe(Reader(here, here, (here,)), digest_file))


def test_a_file_that_changes_in_its_place_changes_the_key(tmp_path: Path) -> None:  # case C01
    weights = tmp_path / "model.bin"
    weights.write_bytes(b"weights")
    before = key(Reader(weights), digest_file)
    weights.write_bytes(b"weightz")
    assert key(Reader(weights), digest_file) != before


def test_a_folder_counts_as_its_files_and_their_names(tmp_path: Path) -> None:
    def folder(name: str, files: Mapping[str, str]) -> Path:
        for file, content in files.items():
            path = tmp_path / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path / name

    first = digest_place(folder("1", {"a.txt": "A", "sub/b.txt": "B"}), digest_file)
    assert digest_place(folder("2", {"sub/b.txt": "B", "a.txt": "A"}), digest_file) == first
    assert (
        digest_place(folder("6", {"a.txt": "A", "sub/b.txt": "B", ".notes": "1", ".git/c": "2"}), digest_file) == first
    )
    assert digest_place(folder("3", {"a.txt": "A", "b.txt": "B"}), digest_file) != first
    assert digest_place(folder("4", {"a.txt": "B", "sub/b.txt": "A"}), digest_file) != first
    assert digest_place(folder("5", {"a.txt": "A"}), digest_file) != first


def test_a_place_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"missing\.bin: no such file or folder"):
        key(Reader(tmp_path / "missing.bin"), digest_file)


def test_texts_are_told_apart_by_where_they_end() -> None:
    assert digest_text("ab", "c") != digest_text("a", "bc") != digest_text("abc")
    assert digest_text() != digest_text("")
    assert digest_text("\uac00") != digest_text("\u1100\u1161")  # 가, composed and not: the caller normalises
    assert len(digest_text("\ud800")) == 32


def test_json_is_told_apart_by_type_and_not_by_order() -> None:
    assert digest_json({"a": 1, "b": 2}) == digest_json({"b": 2, "a": 1})
    values: list[object] = [1, 1.0, "1", True, None, [1], {"1": 1}, "", [], {}]
    assert len({digest_json(value) for value in values}) == len(values)
