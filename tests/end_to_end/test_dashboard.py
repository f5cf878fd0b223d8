"""A finished sweep on MLflow's dashboard, in a real browser: its table of runs and the page that compares its cells."""

from __future__ import annotations

import json
import math
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest

from command import corpus, ran
from dashboard import opened, page, shown_metrics, shown_parameters

SWEPT = ("encoder@lexical=bm25_words,bm25_ngrams", "lexical.k1=0.9,1.5")
SWEEP = ("run", "-m", "dataset=folder", "dataset.root=data", *SWEPT)
TEXTS = ("red fox in the snow", "blue whale in the sea", "green frog near water", "grey owl at night", "a fox at sea")
HEADLINE = [f"{name}_at_{k}" for name in ("recall", "ndcg") for k in (1, 3, 5, 10)] + ["median_rank", "mean_rank"]


@dataclass(frozen=True)
class Swept:
    """A sweep on the dashboard.

    Attributes:
        cells: id of MLflow's run -> its report; metrics as they were measured.
    """

    view: Any
    address: str
    experiment: str
    parent: str
    cells: dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Swept]:
    folder = tmp_path_factory.mktemp("dashboard")
    items = [{"id": f"p{number}", "text": text} for number, text in enumerate(TEXTS)]
    queries = [{"id": f"q{number}", "text": f"{text.split()[1]}s"} for number, text in enumerate(TEXTS)]
    corpus(folder / "data", items, queries, [f"q{number}\tp{number}\t1" for number in range(len(TEXTS))])
    with page() as view:
        said = ran(*SWEEP, cwd=folder).stdout
        command = re.findall(r"^dashboard: (.*)$", said, re.MULTILINE)[-1]
        with closing(sqlite3.connect(folder / "outputs" / "mlflow.db")) as store:
            tags = "select run_uuid, value from tags where key = ?"
            identities = dict(store.execute(tags, ("identity",)).fetchall())
            ((parent,),) = set(store.execute("select value from tags where key = 'mlflow.parentRunId'").fetchall())
            ((experiment,),) = store.execute(
                "select experiment_id from experiments where name = 'glyphrank'"
            ).fetchall()
        reports = {run: folder / "outputs" / "results" / name / "report.json" for run, name in identities.items()}
        cells = {run: json.loads(path.read_text()) for run, path in reports.items() if run != parent}
        with opened(command, folder) as address:
            yield Swept(view, address, str(experiment), parent, cells)


def test_the_table_of_runs_shows_a_sweep_and_below_it_its_cells(swept: Swept) -> None:
    view = swept.view
    view.goto(f"{swept.address}/#/experiments/{swept.experiment}/runs")
    parent = view.locator("[role=gridcell]").filter(has=view.locator(f"a[href$='/runs/{swept.parent}']"))
    parent.get_by_text("sweep").wait_for()
    assert view.locator("[role=gridcell] a[href*='/runs/']").count() == 1
    parent.locator("button").first.click()
    for run in swept.cells:
        cell = view.locator("[role=gridcell]").filter(has=view.locator(f"a[href$='/runs/{run}']"))
        cell.wait_for()
        assert cell.bounding_box()["y"] > parent.bounding_box()["y"]
    assert len(swept.cells) == 4


def test_the_compare_page_shows_what_was_swept_and_every_headline_number(swept: Swept) -> None:
    view = swept.view
    runs, experiments = quote(json.dumps(list(swept.cells))), quote(json.dumps([swept.experiment]))
    view.goto(f"{swept.address}/#/compare-runs?runs={runs}&experiments={experiments}")
    view.get_by_text("Comparing 4 Runs from 1 Experiment").wait_for()
    view.locator("th").get_by_text("lexical.k1", exact=True).wait_for()
    columns = shown_parameters(view, "Run ID:")
    assert set(columns) == swept.cells.keys()
    lexical, k1 = (shown_parameters(view, name) for name in ("lexical", "lexical.k1"))
    assert len(set(zip(lexical, k1, strict=True))) == 4
    shown = shown_metrics(view)
    assert shown.keys() >= set(HEADLINE)
    for place, run in enumerate(columns):
        report = swept.cells[run]
        assert lexical[place] == report["choices"]["encoder@lexical"]
        assert float(k1[place]) == report["config"]["lexical"]["k1"]
        for name in HEADLINE:  # the page rounds to three places
            assert math.isclose(float(shown[name][place]), report["metrics"][name], abs_tol=0.00051), name
    assert len({tuple(shown[name][place] for name in HEADLINE) for place in range(4)}) > 1
