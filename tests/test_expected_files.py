"""Files of expected scores are read strictly; those that come with glyphrank speak of what there is."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from composing import built
from glyphrank.errors import DataError
from glyphrank.expected_files import Expected, Row, Wanted, read_expected
from glyphrank.expected_runs import Runs
from glyphrank.expected_scores import expected_folder
from glyphrank.metrics import names, prefix
from glyphrank.run import CHANNELS
from glyphrank.tracking.names import parameters, stored_value
from made_runs import made

GOOD = """
experiment: quickstart
command: glyphrank run
source: measured
rows:
  - name: words
    where: {lexical: bm25_words, text: none, lexical.k1: 1.5, lower: true}
    expect:
      ndcg_at_10: {value: 0.5, tolerance: 0.01}
      slice/type/figure/table/v2t/hit_rate_at_7: {value: 1, tolerance: 0}
  - name: theirs
    source: a paper
    expect: {channel/text/median_rank: {value: 12, tolerance: 1}}
"""
FILES = sorted(expected_folder().glob("*.yaml"))
ROWS = [(path, row) for path in FILES for row in read_expected(path).rows]


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    first = Row(
        "words",
        {"lexical": "bm25_words", "text": "none", "lexical.k1": 1.5, "lower": True},
        {"ndcg_at_10": Wanted(0.5, 0.01), "slice/type/figure/table/v2t/hit_rate_at_7": Wanted(1, 0)},
        "measured",
    )
    second = Row("theirs", None, {"channel/text/median_rank": Wanted(12, 1)}, "a paper")
    assert read_expected(written(tmp_path, GOOD)) == Expected("quickstart", "glyphrank run", (first, second))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("source: measured", "sauce: measured", "the key 'sauce' is not known; wanted command, experiment, rows"),
        ("source: measured\n", "", "the file: source is missing"),
        ("experiment: quickstart", "experiment: 7", "experiment is 7; wanted a text"),
        ("ndcg_at_10", "ndcg@10", "row 'words': there is no metric 'ndcg@10'; wanted such as ndcg_at_10"),
        ("ndcg_at_10", "ndcg_at_0", "there is no metric 'ndcg_at_0'"),
        ("channel/text/median", "channel/text/x/median", "there is no metric 'channel/text/x/median_rank'"),
        ("value: 0.5, tol", "value: .nan, tol", "ndcg_at_10: value is nan; wanted a number of at least 0"),
        ("value: 0.5, tol", 'value: "0.5", tol', "ndcg_at_10: value is '0.5'; wanted a number of at least 0"),
        ("value: 0.5, tol", "value: yes, tol", "ndcg_at_10: value is True; wanted a number of at least 0"),
        ("value: 0.5, tol", f"value: 1{'0' * 400}, tol", "ndcg_at_10: value is 1000"),
        ("value: 0.5, tol", "value: 50, tol", "ndcg_at_10: value is 50; wanted a fraction of at most 1, not per cent"),
        ("tolerance: 0.01", "tolerance: 1", "ndcg_at_10: tolerance is 1; wanted a fraction below 0.5, not per cent"),
        ("value: 1, tol", "value: 1.5, tol", "hit_rate_at_7: value is 1.5; wanted a fraction of at most 1"),
        ("lexical.k1: 1.5", "lexical.k1: .nan", "where: lexical.k1 is nan; wanted one value"),
        ("tolerance: 0.01", "tolerance: -0.01", "ndcg_at_10: tolerance is -0.01; wanted a number of at least 0"),
        ("{value: 0.5, tolerance: 0.01}", "0.5", "row 'words', ndcg_at_10: found 0.5; wanted a mapping of names"),
        ("name: theirs", "name: words", "2 rows are called 'words'; wanted another name for each"),
        ("text: none", "text: [none]", "where: text is ['none']; wanted one value"),
        ("text: none", "text: null", "where: text is None; wanted one value"),
        ("{lexical: bm25_words, text: none, lexical.k1: 1.5, lower: true}", "{}", "where: nothing stands in it"),
        ("{channel/text/median_rank: {value: 12, tolerance: 1}}", "{}", "row 'theirs', expect: nothing stands in it"),
        ("lower: true}", "lower: true, text: minilm}", "is no YAML that can be read (the key 'text' stands twice"),
        ("experiment: quickstart", "experiment: [", "is no YAML that can be read"),
        ("experiment: quickstart", "experiment: !!python/name:os.system", "is no YAML that can be read"),
    ],
)
def test_a_malformed_file_is_one_error(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(DataError) as caught:
        read_expected(written(tmp_path, GOOD.replace(old, new, 1)))
    assert str(caught.value).startswith(f"{tmp_path / 'mine.yaml'}: ")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "7", "rows: []", "rows: [7]", "1: 2"])
def test_what_is_no_such_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError):
        read_expected(written(tmp_path, text))


def test_all_faults_come_at_once(tmp_path: Path) -> None:
    text = GOOD.replace("ndcg_at_10", "speed").replace("source: measured\n", "").replace("value: 12", "value: -1")
    with pytest.raises(DataError) as caught:
        read_expected(written(tmp_path, text))
    assert len(caught.value.faults) == 3


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_bytes(b"\xff\xfe\xff")
    for path in (tmp_path / "mine.yaml", tmp_path, tmp_path / "nowhere.yaml"):
        with pytest.raises(DataError, match=str(path)):
            read_expected(path)


def test_names_of_rows_differ_in_all_files() -> None:
    assert len({row.name for _, row in ROWS}) == len(ROWS)
    assert {path.stem for path in FILES} >= {"quickstart", "sample_clips", "kopub_task1_text", "textvr_fused"}


def overrides_of(row: Row) -> list[str]:
    """The choices and fields of a row as on the command line."""
    slots = {name: f"encoder@{name}" for name in CHANNELS}
    return [f"{slots.get(name, name)}={value}" for name, value in (row.where or {}).items()]


@pytest.mark.parametrize(("path", "row"), ROWS, ids=[row.name for _, row in ROWS])
def test_every_row_speaks_of_an_experiment_choices_and_metrics_that_there_are(
    tmp_path: Path, path: Path, row: Row
) -> None:
    """What a row names can be composed, stands so on the dashboard, and has the numbers that are expected."""
    expected = read_expected(path)
    root = "dataset.root=." if expected.experiment.startswith(("kopub", "textvr")) else "tracking=none"
    own = [override for override in overrides_of(row) if not override.startswith("experiment=")]
    run, start = built(tmp_path, f"experiment={expected.experiment}", root, *own)
    wanted = {name: stored_value(value) for name, value in (row.where or {}).items()}
    assert wanted.items() <= parameters(start.choices, start.config).items()
    assert Runs([made("it", start.choices, start.config)]).match(expected, row).said == "it (1)"
    known = {prefix(way) + name for way in run.metrics.directions for name in names(run.metrics.cutoffs)}
    for metric in row.expect:
        kind, *steps = metric.split("/")
        if kind == "channel":
            assert steps[0] in run.channels
        if kind == "slice":
            assert steps[0] in ("type", "language")
        start_of_name = {"channel": 2, "slice": 3}.get(kind, 0)
        assert "/".join(metric.split("/")[start_of_name:]) in {*known, "queries"}


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_every_command_measures_what_its_file_expects(tmp_path: Path, path: Path) -> None:
    expected = read_expected(path)
    program, verb, *words = shlex.split(expected.command.replace("PATH", "."))
    assert [program, verb] == ["glyphrank", "run"]
    sweep = "-m" in words
    _, start = built(tmp_path, *(word for word in words if word != "-m"))
    found = parameters(start.choices, start.config)
    assert start.choices["experiment"] == expected.experiment == path.stem
    for row in expected.rows:
        wanted = {name: stored_value(value) for name, value in (row.where or {}).items()}
        assert sweep or wanted.items() <= found.items()
