from __future__ import annotations

from pathlib import Path

import pytest

from beir_miniature import RELEVANT, SCORES, lines, plain
from glyphrank.datasets.beir_hub import BeirHub
from glyphrank.errors import DataError
from glyphrank.runtime import Runtime


def test_judgements_in_several_files_are_one_table(tmp_path: Path) -> None:
    written = tmp_path / "fruit"
    plain(written, None, lines, "jsonl")
    (written / "qrels.jsonl").unlink()
    (written / "qrels").mkdir()
    header, (first, *rest) = "query-id\tcorpus-id\tscore\n", (f"{q}\t{i}\t{s}\n" for q, i, s in SCORES)
    (written / "qrels/test-00000-of-00002.tsv").write_text(header + first, encoding="utf-8")
    (written / "qrels/test-00001-of-00002.tsv").write_text(header + "".join(rest), encoding="utf-8")
    runtime = Runtime("cpu", 1, 0, 60, 4, False, tmp_path / "outputs", tmp_path / "cache")
    dataset = BeirHub(written, None, None, None, "test")
    assert dataset.load(runtime).relevant == RELEVANT
    (written / "qrels/test-00001-of-00002.tsv").write_text(f"{header}1\t99\t1\n2\t2\tmuch\n", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        dataset.load(runtime)
    assert str(caught.value).splitlines() == [
        f"{written}/qrels/test.tsv: qrels/test-00001-of-00002.tsv line 3: the score 'much'; wanted a finite number",
        f"{written}/qrels/test.tsv: query '1' names the item '99', not among the 5 items of corpus.jsonl",
    ]
