"""Every command of the README runs, in a small form: on tiny data, with tiny models, on stores of its own.

`IN_SMALL` says what stands in for a word of a command, `PLACES` for a place that a person fills in. A command with a
word in capitals or an experiment that neither knows fails here: it has to be told what is small.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from clip_files import write_clip
from command import corpus
from composing import built
from one_process import Commands, Done, one_process
from pdf_files import write_pdf
from tiny_clip import write_tiny_clip
from told_commands import Told, inline_commands, told_commands

ROOT = Path(__file__).parents[2]
README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
TOLD = list({told.text: told for told in reversed(told_commands(README))}.values())[::-1]
ELSEWHERE = {"The two benchmarks": "test_benchmarks.py", "Your own documents": "test_own_documents.py"}
"""Sections whose commands of glyphrank another file runs."""

TINY = ("encoder@visual=clip_folder", "visual.weights.folder=models/mine")
IN_SMALL: dict[str, tuple[str, ...]] = {
    "experiment=sample_clips": (
        "experiment=sample_clips",
        *("dataset.clips=4", "dataset.clips_a_text=2", "dataset.clips_a_scene=2"),
        *("fusion=reciprocal_rank", "transcript.min_confidence=0.3"),  # of the twelve cells two are left
    ),
    "hydra/launcher=local_parallel": (
        *("hydra/launcher=local_parallel", "hydra.launcher.n_jobs=2"),
        "encoder@text=none",  # which each process would load
    ),
    "hydra.sweeper.n_trials=10": ("hydra.sweeper.n_trials=2",),
    "encoder@visual=clip_vit_b_32": TINY,
    "encoder@visual=siglip2_vit_b_16": TINY,
    "runtime.download=true": (),
    "ocr=embedded_else_easyocr": ("ocr=embedded_else_easyocr", "ocr.second.languages=[en]"),
    "dataset.root=/elsewhere": ("dataset.root=moved",),
}
"""Words of commands, and what stands in for them: fewer clips, trials and cells, a tiny model for one of a hub's."""

CODES = {"glyphrank compare --expected quickstart.yaml": 1}
"""Commands that end with another code than 0 here: the quickstart's six runs are not in this store."""

COMPOSED = ("hydra/launcher=slurm",)
"""Words of commands that need what a test has not, a cluster; `test_engines_slurm.py` has one and runs the like."""


@dataclass
class Place:
    """Where the commands run.

    Attributes:
        commands: the process.
        runs: folders of two finished runs.
        sweep: the folder of the last sweep, once there was one.
    """

    folder: Path
    commands: Commands
    runs: list[str]
    sweep: str = ""


def is_run(told: Told) -> bool:
    """Whether a command is run here."""
    return told.words[0] == "glyphrank" and told.section not in ELSEWHERE and not set(COMPOSED) & set(told.words)


RUN = [told for told in TOLD if is_run(told)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A folder with everything that the commands name, and two finished runs to compare."""
    folder = tmp_path_factory.mktemp("readme")
    write_texts(folder / "texts")
    write_pictures(folder / "pictures")
    shutil.copytree(folder / "texts", folder / "moved")
    shutil.copy(folder / "texts" / "qrels.tsv", folder)
    write_tiny_clip(folder / "models" / "mine")
    write_component(folder)
    with one_process(folder) as commands:
        place = Place(folder, commands, [])
        for experiment in ("glyphrank", "kopub"):
            given = ("run", "dataset=folder", "dataset.root=texts", f"tracking.experiment={experiment}")
            finished = [
                commands.run((*given, f"encoder@lexical={choice}"), {"GLYPHRANK_OUTPUTS": "compared"})
                for choice in ("bm25_words", "bm25_ngrams")
            ]
            assert [one.code for one in finished] == [0, 0], finished
            place.runs = [files_of(one) for one in finished]
        shutil.copy(Path(place.runs[0]) / "run.trec", folder)
        yield place


def write_texts(folder: Path) -> None:
    """Six items of text, a query for each, in two groups of a field `type`."""
    texts = ["red apples", "yellow bananas", "blue plums", "사과는 빨갛다", "green pears and apples", "white milk"]
    items = [{"id": f"p{number}", "text": text} for number, text in enumerate(texts)]
    queries = [{"id": f"q{number}", "text": text[:8], "type": "ab"[number % 2]} for number, text in enumerate(texts)]
    corpus(folder, items, queries, [f"q{number}\tp{number}\t1" for number in range(len(texts))])


def write_pictures(folder: Path) -> None:
    """A page of a PDF, two pictures with a word each, and a clip of bars."""
    folder.mkdir()
    for word in ("STATION", "HARBOUR"):
        picture = Image.new("RGB", (240, 80), "white")
        ImageDraw.Draw(picture).text((20, 20), word, fill="black", font_size=40)
        picture.save(folder / f"{word.lower()}.png")
    write_clip(folder / "bars.mp4", 12)
    write_pdf(folder / "letter.pdf", "A letter about the weather")
    items: list[dict[str, Any]] = [{"id": name, "media": name} for name in ("station.png", "harbour.png", "bars.mp4")]
    items.append({"id": "letter", "media": "letter.pdf", "page": 1})
    queries = [{"id": "q1", "text": "station"}, {"id": "q2", "text": "harbour"}, {"id": "q3", "text": "weather"}]
    corpus(folder, items, queries, ["q1\tstation.png\t1", "q2\tharbour.png\t1", "q3\tletter\t1"])


def write_component(folder: Path) -> None:
    """The files of "Add an encoder in five minutes", as CONTRIBUTING has them."""
    text = CONTRIBUTING.read_text(encoding="utf-8")
    for kind, name in (("python", "mine/my_encoder.py"), ("yaml", "mine/encoder/my_encoder.yaml")):
        assert f"`{name}`" in text
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(re.findall(rf"```{kind}\n(.*?)```", text, re.DOTALL)[0], encoding="utf-8")


def files_of(done: Done) -> str:
    """The folder that a run names at its end."""
    return str(re.findall(r"^files: (.+)$", done.stdout, re.MULTILINE)[-1])


def in_small(told: Told, place: Place) -> list[str]:
    """The arguments with which a command is run here."""
    data = "pictures" if re.search(r"easyocr|encoder@visual", told.text) else "texts"
    runs = iter(place.runs)
    words = []
    for word in told.words[1:]:
        for part in IN_SMALL.get(word, (word,)):
            part = re.sub(r"\bRUN\b", lambda _: next(runs), part)
            part = part.replace("outputs/sweeps/DATE/TIME", place.sweep).replace("http://HOST:5000", store(place))
            words.append(re.sub(r"\bPATH\b", data, part))
    return words


def store(place: Place) -> str:
    """Stands for a server: a store outside the folder of outputs, named by its URI (`test_team_server.py` has one)."""
    return f"sqlite:///{place.folder}/team.db"


@pytest.mark.parametrize("told", RUN, ids=lambda told: told.text)
@pytest.mark.timeout(600)
def test_a_command_of_the_readme_runs(told: Told, place: Place) -> None:
    words = in_small(told, place)
    unknown = [word for word in words if re.search(r"\b[A-Z]{3,}\b", word.replace(str(place.folder), ""))]
    assert not unknown, f"nothing stands in for {unknown}; add it to in_small"
    unknown = [word for word in told.words if word.startswith("experiment=") and word not in IN_SMALL]
    assert not unknown, f"{unknown} is not made small; add it to IN_SMALL"
    env = {name: value.replace("http://HOST:5000", store(place)) for name, value in told.env.items()}
    if words[0] == "compare" and "--store" not in words and place.sweep not in words:
        env["GLYPHRANK_OUTPUTS"] = "compared"  # in which all runs are of one dataset
    done = place.commands.run(words, env)
    assert done.code == CODES.get(told.text, 0), f"{words}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    if "-m" in words and (found := re.findall(r"^files: (.+)/\d+$", done.stdout, re.MULTILINE)):
        place.sweep = found[-1]


def test_the_component_of_contributing_runs(place: Place) -> None:
    text = " ".join(CONTRIBUTING.read_text(encoding="utf-8").split())
    [command] = re.findall(r"`(glyphrank run --config-dir mine [^`]+)`", text)
    done = place.commands.run(shlex.split(command)[1:])
    assert done.code == 0, done.stderr
    report = json.loads((Path(files_of(done)) / "report.json").read_text(encoding="utf-8"))
    assert report["counts"]["queries"] == 80
    assert "queries" in done.stdout
    assert 0 < report["metrics"]["hit_rate_at_10"] < 1  # it knows no Hangul
    assert any(command.startswith(told.text) for told in TOLD)


@pytest.mark.parametrize("told", [told for told in TOLD if not is_run(told)], ids=lambda told: told.text)
def test_a_command_that_is_not_run_here_is_run_elsewhere_or_composes(told: Told, tmp_path: Path) -> None:
    match told.words:
        case ["make", target]:
            assert make(target), target
        case ["hf", "download", repository, *options]:
            node = (ROOT / "conf" / "dataset" / "kopub_vdr.yaml").read_text(encoding="utf-8")
            assert f"repository: {repository}\n" in node
            assert f"revision: {options[options.index('--revision') + 1]} " in node
        case [_, *_] if told.section in ELSEWHERE:
            text = (Path(__file__).parent / ELSEWHERE[told.section]).read_text(encoding="utf-8")
            assert f'partition("## {told.section}")' in text
        case ["glyphrank", "run", *overrides]:
            built(tmp_path, *(word for word in overrides if word != "-m"))
        case _:
            pytest.fail(f"unknown command: {told.text}")


def make(target: str) -> str:
    """What `make TARGET` would do, beyond installing."""
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


@pytest.mark.parametrize("command", sorted({*inline_commands(README)}))
def test_a_command_in_the_text_of_the_readme_names_what_there_is(command: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    match command.replace("'", "").split():
        case ["make", target]:
            assert make(target)
        case ["python", file, *_]:
            assert (ROOT / file).is_file()
        case ["pip", "install", package]:
            assert set(re.findall(r"\[(\w+)\]", package)) <= extras.keys()
        case ["glyphrank", name, *_]:
            assert re.search(rf"^  {name} ", usage(), re.MULTILINE)
        case _:
            pytest.fail(f"unknown command: {command}")


def usage() -> str:
    from glyphrank.__main__ import USAGE

    return USAGE


@pytest.mark.parametrize("name", ["clip_vit_b_32", "siglip2_vit_b_16"])
def test_what_a_tiny_model_stood_in_for_builds(name: str, tmp_path: Path) -> None:
    run, start = built(tmp_path, f"encoder@visual={name}", "encoder@lexical=none", "runtime.download=true")
    assert start.choices["encoder@visual"] == name
    assert run.channels == ("visual",)
