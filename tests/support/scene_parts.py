"""EasyOcr with settings of a YAML, and a reader in EasyOCR's place that finds what it is told and keeps what it saw."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from composing import CONF
from glyphrank.builder import Builder, find_component
from glyphrank.ocr.scene_text import EasyOcr
from glyphrank.records import UInt8Array


def easyocr_en(**fields: Any) -> EasyOcr:
    """The engine of conf/ocr/easyocr_en.yaml, some fields replaced."""
    engine: EasyOcr = replace(of_yaml("easyocr_en"), **fields)
    return engine


def of_yaml(choice: str) -> Any:
    node: Any = OmegaConf.to_container(OmegaConf.load(CONF / "ocr" / f"{choice}.yaml"))
    builder = Builder({"glyphrank"}, Path("/nowhere"))
    built = builder.build(find_component(node["_target_"], {"glyphrank"}), node)
    assert not builder.faults
    return built


class StubReader:
    """Gives the same results for every picture, or raises them."""

    def __init__(self, results: list[Any] | Exception) -> None:
        self.results = results
        self.pictures: list[UInt8Array] = []
        self.options: dict[str, object] = {}

    def readtext(self, picture: UInt8Array, **options: object) -> list[Any]:
        self.pictures.append(picture)
        self.options = options
        if isinstance(self.results, Exception):
            raise self.results
        return self.results
