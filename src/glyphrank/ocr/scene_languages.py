"""Which languages EasyOCR reads together, and with which of its models (as of EasyOCR 1.7.2, `easyocr/config.py`).

Known here so that a set that cannot be read is refused before anything is imported or fetched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_LATIN = """
    af az bs cs cy da de en es et fr ga hr hu id is it ku la lt lv mi ms mt nl no oc pi pl pt ro rs_latin sk sl sq sv
    sw tl tr uz vi
"""
_CYRILLIC = "ru rs_cyrillic be bg uk mn abq ady kbd ava dar inh che lbe lez tab tjk"  # codespell:ignore inh


@dataclass(frozen=True)
class Script:
    """Languages that one of EasyOCR's models reads; each goes with English and with the others of its script."""

    model: str
    languages: frozenset[str]


def _script(model: str, languages: str) -> Script:
    return Script(model, frozenset(languages.split()))


SCRIPTS = (
    _script("thai_g1", "th"),
    _script("zh_tra_g1", "ch_tra"),
    _script("zh_sim_g2", "ch_sim"),
    _script("japanese_g2", "ja"),
    _script("korean_g2", "ko"),
    _script("tamil_g1", "ta"),
    _script("telugu_g2", "te"),  # codespell:ignore te
    _script("kannada_g2", "kn"),
    _script("bengali_g1", "bn as"),
    _script("arabic_g1", "ar fa ug ur"),
    _script("devanagari_g1", "hi mr ne bh mai ang bho mah sck new gom"),
    _script("cyrillic_g2", _CYRILLIC),
    _script("latin_g2", _LATIN),
)
"""EasyOCR also lists `mni`, `sa` and `bgc`, but comes without their characters and fails on them."""

GREEDY = frozenset({"zh_tra_g1", "zh_sim_g2"})
"""Models that EasyOCR decodes greedily, whatever is asked for."""


def model_for(languages: Sequence[str]) -> str:
    """EasyOCR's name of the model that reads these languages.

    >>> model_for(["ko", "en"])
    'korean_g2'

    Raises:
        ValueError: a language is unknown or given twice, there is none, or they cannot be read together.
    """
    if not languages or len(set(languages)) < len(languages):
        raise ValueError(f"languages are {list(languages)}; wanted at least one, none of them twice")
    if list(languages) == ["en"]:
        return "english_g2"  # English alone has a model of its own
    scripts = [script for script in SCRIPTS if script.languages & (set(languages) - {"en"})]
    known = frozenset({"en"}).union(*(script.languages for script in SCRIPTS))
    unknown = [language for language in languages if language not in known]
    if unknown:
        raise ValueError(f"languages are {list(languages)}; EasyOCR does not read {unknown}; wanted {_listed(known)}")
    if len(scripts) > 1:
        sets = "; or ".join(_listed(script.languages | {"en"}) for script in scripts)
        raise ValueError(f"languages are {list(languages)}; EasyOCR reads these together: {sets}")
    return scripts[0].model


def _listed(languages: frozenset[str]) -> str:
    return ", ".join(sorted(languages))
