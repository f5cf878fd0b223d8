"""The page of configs is current, says what a person types, and cannot be made of what is described nowhere."""

from __future__ import annotations

import importlib
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from composing import CHOICES, CONF, composed

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "configs.md"


@pytest.fixture
def maker(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The generator, which is a script and no part of the package."""
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("make_configs")


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    """A copy of all choices, to be spoilt."""
    return Path(shutil.copytree(CONF, tmp_path / "conf"))


def test_the_page_of_configs_is_current(maker: ModuleType) -> None:
    assert maker.main(["--check"]) == 0, "docs/configs.md is not current: run `make docs`"


def test_a_page_that_is_not_current_is_told_in_one_line_and_left_alone(
    maker: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = tmp_path / "configs.md"
    old.write_text("old", encoding="utf-8")
    monkeypatch.setattr(maker, "PAGE", old)
    assert maker.main(["--check"]) == 1
    assert capsys.readouterr().err == "docs/configs.md is not current: run `make docs` and commit what it writes\n"
    assert old.read_text(encoding="utf-8") == "old"
    assert maker.main([]) == 0
    assert maker.main(["--check"]) == 0
    assert old.read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")


def test_the_page_names_every_choice_and_experiment() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for group, choice in CHOICES:
        section = text.partition(f"\n## {group}\n")[2].partition("\n## ")[0]
        assert f"\n| `{choice}` |" in section, f"{group}={choice}"
    for file in (CONF / "experiment").glob("*.yaml"):
        assert f"\n### {file.stem}\n" in text


def test_overrides_are_named_as_they_are_typed(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    fields = set(re.findall(r"^\| `([\w.]+\.\w+)` \|", text, re.MULTILINE))
    wanted = {"text.max_length", "visual.crop", "lexical.k1", "runtime.batch_size", "paths.outputs", "launch.snapshot"}
    assert wanted <= fields
    assert "`encoder@text=bge_m3` (or `kure_v1`, `minilm`" in text
    composed(tmp_path, "encoder@text=minilm", "text.max_length=128", "runtime.batch_size=8", "launch.snapshot=true")


def test_links_lead_to_headings() -> None:
    text = PAGE.read_text(encoding="utf-8")
    titles = [title.lower().replace(" ", "-") for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(titles)
    assert len(set(titles)) == len(titles)


def test_the_page_holds_no_place_of_a_machine_and_no_tag() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert str(Path.home()) not in text
    assert str(DOCS.parent) not in text
    assert set(re.findall(r"<[^>\n]+>", re.sub(r"`[^`\n]*`", "", text))) == {
        "<br>",
        "<!-- Made by  from conf/, experiments/ and the classes. Change those, not this page. -->",
    }


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda conf: (conf / "mood").mkdir(), "conf/mood is in no place of the defaults list"),
        (lambda conf: [file.unlink() for file in (conf / "fusion").iterdir()], "conf/fusion holds no choice"),
        (lambda conf: headless(conf / "index" / "exact.yaml"), "index/exact.yaml opens with no comment"),
        (lambda conf: headless(conf / "experiment" / "quickstart.yaml"), "experiments/quickstart.yaml opens without"),
        (lambda conf: moody(conf / "config.yaml"), "has the key 'mood', which is no field"),
    ],
)
def test_what_is_described_nowhere_is_an_error(
    maker: ModuleType, conf: Path, spoil: Callable[[Path], object], message: str
) -> None:
    spoil(conf)
    with pytest.raises(maker.UndescribedError, match=re.escape(message)):
        maker.page(conf)


def moody(file: Path) -> None:
    """Adds a key that the run does not know."""
    file.write_text(file.read_text(encoding="utf-8") + "\nmood: 1\n", encoding="utf-8")


def headless(file: Path) -> None:
    """Takes the comments out of a YAML."""
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(line for line in lines if not line.startswith("#")) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Half:
    """Says something of one field.

    Attributes:
        first: of `a` and b, None for neither; it goes on
            in a second line.
        third, fourth: the two together.
    """

    first: int
    second: int
    third: int
    fourth: int


@dataclass(frozen=True)
class Heir(Half):
    """Takes over what its parent says."""

    fifth: int


def test_a_field_without_a_line_in_its_class_or_those_above_is_an_error(maker: ModuleType) -> None:
    assert maker.words_of(Heir, "first") == "of `a` and b, null for neither; it goes on in a second line."
    assert maker.words_of(Half, "fourth") == "`third`, `fourth`: the two together."
    for kind, name in ((Half, "second"), (Heir, "fifth")):
        with pytest.raises(maker.UndescribedError, match=f"{kind.__name__} says nothing of its field '{name}'"):
            maker.words_of(kind, name)


@dataclass(frozen=True)
class Silent:
    field: int


def test_a_class_without_a_docstring_is_an_error(maker: ModuleType) -> None:
    with pytest.raises(maker.UndescribedError, match="Silent has no docstring"):
        maker.summary_of(Silent)


@dataclass
class Told:
    """One field.

    Attributes:
        said: a number.
    """

    said: int


@pytest.mark.parametrize("node", [{"said": 1, "more": 2}, {}], ids=["more", "less"])
def test_a_yaml_that_has_not_just_the_fields_of_its_class_is_an_error(maker: ModuleType, node: dict[str, int]) -> None:
    with pytest.raises(maker.UndescribedError, match="stands in the class or in the YAML, and not in both"):
        list(maker.read_fields(Told, node))
