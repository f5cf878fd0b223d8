from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import pytest

from glyphrank.ocr.scene_files import DETECTOR, RECOGNISERS
from glyphrank.ocr.scene_languages import GREEDY, SCRIPTS, model_for
from scene_parts import easyocr_en


@pytest.mark.parametrize(
    ("languages", "model"),
    [
        (["en"], "english_g2"),
        (["ko", "en"], "korean_g2"),
        (["en", "ko"], "korean_g2"),
        (["fr", "de"], "latin_g2"),
        (["ru", "en", "uk"], "cyrillic_g2"),
        (["hi"], "devanagari_g1"),
    ],
)
def test_model_for_names_the_model_that_reads_the_languages(languages: list[str], model: str) -> None:
    assert model_for(languages) == model


def test_model_for_names_the_sets_that_go_when_languages_clash() -> None:  # case O01
    with pytest.raises(ValueError, match=r"\['ko', 'ja'\]; EasyOCR reads these together: en, ja; or en, ko"):
        model_for(["ko", "ja"])


@pytest.mark.parametrize(
    ("languages", "message"),
    [
        ([], r"languages are \[\]; wanted at least one"),
        (["en", "en"], "none of them twice"),
        (["ko", "klingon"], r"does not read \['klingon'\]; wanted abq, ady, af"),
    ],
)
def test_model_for_refuses_no_repeated_and_unknown_languages(languages: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model_for(languages)


def test_easyocr_refuses_languages_that_clash_when_it_is_built() -> None:  # case O01
    with pytest.raises(ValueError, match="en, ja; or en, ko"):
        easyocr_en(languages=("ko", "ja"))


@pytest.fixture(scope="module")
def package() -> Any:
    return pytest.importorskip("easyocr")


def test_every_pair_of_languages_goes_exactly_where_it_goes_in_the_installed_package(
    package: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # case O01
    monkeypatch.setattr(sys, "path", list(sys.path))  # to which the reader adds a folder
    names = package.config.all_lang_list
    models = {**package.config.recognition_models["gen1"], **package.config.recognition_models["gen2"]}
    scripts = {model["characters"]: name for name, model in models.items()}
    for pair in [*itertools.combinations_with_replacement(names, 2), ("ru", "uk", "en"), ("ko", "en", "ja")]:
        languages = list(dict.fromkeys(pair))
        theirs: str | None
        try:
            folder = str(tmp_path)
            reader = package.Reader(languages, False, folder, folder, "craft", "standard", False, False, False, False)
            theirs = scripts[reader.character]
        except (ValueError, FileNotFoundError):  # they clash, or their characters are missing
            theirs = None
        try:
            ours = model_for(languages)
        except ValueError:
            ours = None
        assert ours == theirs, languages


def test_files_are_those_that_the_installed_package_names(package: Any) -> None:
    models = {**package.config.recognition_models["gen1"], **package.config.recognition_models["gen2"]}
    ours = {name: (file.name, file.url, file.md5) for name, file in RECOGNISERS.items()}
    assert ours == {name: (models[name]["filename"], models[name]["url"], models[name]["md5sum"]) for name in ours}
    craft = package.config.detection_models["craft"]
    assert (DETECTOR.name, DETECTOR.url, DETECTOR.md5) == (craft["filename"], craft["url"], craft["md5sum"])


def test_every_model_of_the_rule_has_a_file() -> None:
    assert {script.model for script in SCRIPTS} | {"english_g2"} == set(RECOGNISERS)
    assert set(RECOGNISERS) >= GREEDY
