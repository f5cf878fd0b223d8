from __future__ import annotations

from pathlib import Path

import pytest

from glyphrank.builder import BROKEN, Builder, Fault, find_component, raise_for
from glyphrank.errors import ConfigError
from strange_parts import Colour, Score, Words

HERE = Path("/launch")


WORDS = {"_target_": "strange_parts.Words", "lower": True}
GOOD: dict[str, object] = {
    "cutter": WORDS,
    "k1": 1,
    "n": 3,
    "lower": False,
    "name": "3",
    "colour": "dark_blue",
    "cutoffs": [1, 5],
    "pair": [0.5, "x"],
    "weights": {"text": 1},
    "root": "data",
    "extra": None,
    "limit": None,
}


def build(**changed: object) -> tuple[object, list[Fault]]:
    builder = Builder({"glyphrank", "strange_parts"}, HERE)
    node = {key: value for key, value in {**GOOD, **changed}.items() if value is not ...}
    built = builder.build(Score, node)
    assert (built is BROKEN) == bool(builder.faults)
    return built, builder.faults


def test_build_with_every_kind_of_field_gives_typed_values() -> None:
    score, _ = build(extra=WORDS)
    assert isinstance(score, Score)
    assert (score.k1, score.colour, score.cutoffs, score.pair) == (1.0, Colour.dark_blue, (1, 5), (0.5, "x"))
    assert isinstance(score.k1, float)
    assert isinstance(score.cutter, Words)
    assert isinstance(score.extra, Words)
    assert score.root == HERE / "data"
    assert score.limit is None


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("k1", "3", "valid number"),
        ("k1", True, "valid number"),
        ("n", "3", "valid integer"),
        ("n", 2.5, "valid integer"),
        ("n", True, "valid integer"),
        ("lower", "yes", "valid boolean"),
        ("lower", 1, "valid boolean"),
        ("name", 3, "valid string"),
        ("name", None, "valid string"),
        ("colour", "green", "'red' or 'dark_blue'"),
        ("cutoffs", [1, "5"], "valid integer"),
        ("cutoffs", 5, "valid array"),
        ("pair", [0.5], "wanted 2"),
        ("weights", {"text": "1"}, "valid number"),
        ("root", 5, "valid string"),
        ("root", "", "empty path"),
        ("limit", "many", "valid integer"),
        ("cutter", "words", "`_target_`"),
        ("cutter", None, "`_target_`"),
        ("extra", 5, "`_target_`"),
    ],
)
def test_build_with_a_wrong_type_names_found_and_wanted(field: str, value: object, wanted: str) -> None:
    _, faults = build(**{field: value})
    assert len(faults) == 1
    assert faults[0].path.startswith(field)
    assert wanted in faults[0].message


def test_build_with_an_empty_node_for_an_optional_component_gives_none() -> None:
    score, _ = build(extra={})
    assert isinstance(score, Score)
    assert score.extra is None


def test_build_collects_all_faults_at_once_nested_ones_too() -> None:
    _, faults = build(k1="x", n=None, cutter={"_target_": "strange_parts.Words", "lower": 3, "lowr": 1}, name=...)
    assert sorted(fault.path for fault in faults) == ["cutter.lower", "cutter.lowr", "k1", "n", "name"]
    assert "did you mean 'lower'?" in next(fault.message for fault in faults if fault.path == "cutter.lowr")


def test_build_with_a_value_out_of_range_names_the_component() -> None:
    _, faults = build(k1=-1.0)
    assert faults == [Fault("", "k1 is -1.0; wanted at least 0")]


def test_build_with_a_component_of_the_wrong_kind_lists_those_that_fit() -> None:
    builder = Builder({"strange_parts"}, HERE, lambda path, wanted: ["words", "ngrams"])
    node = {**GOOD, "cutter": {**GOOD, "_target_": "strange_parts.Score"}}
    assert builder.build(Score, node) is BROKEN
    assert builder.faults == [Fault("cutter", "Score does not fit here, wanted Cutter; those that do: words, ngrams")]


@pytest.mark.parametrize("target", ["logging.os.system", "builtins.open", "os.system", "glyph.rank", "", None, 3])
def test_find_component_outside_the_allowed_packages_is_refused(target: object) -> None:  # case H13
    with pytest.raises(LookupError, match="outside glyphrank"):
        find_component(target, {"glyphrank"})


@pytest.mark.parametrize(
    "target",
    [
        "strange_parts.not_a_class",
        "strange_parts.Alias",
        "strange_parts.nothing",
        "glyphrank.identity.os",
        "glyphrank.errors.DataError",
    ],
)
def test_find_component_that_is_no_dataclass_of_that_module_is_refused(target: str) -> None:  # case H13
    with pytest.raises(LookupError, match="not a component"):
        find_component(target, {"glyphrank", "strange_parts"})


def test_find_component_in_a_module_that_is_not_there_says_so() -> None:
    with pytest.raises(LookupError, match="cannot be imported"):
        find_component("glyphrank.nowhere.Thing", {"glyphrank"})


def test_raise_for_names_every_fault_with_its_origin() -> None:
    raise_for([], str)
    with pytest.raises(ConfigError) as caught:
        raise_for([Fault("lexical.k1", "is bad"), Fault("lexical.b", "is worse")], lambda path: f" [from {path}]")
    assert str(caught.value).splitlines() == [
        "2 faults in the configuration:",
        "  lexical.k1: is bad [from lexical.k1]",
        "  lexical.b: is worse [from lexical.b]",
    ]
