"""What is said about a folder's files that are wrong, and that it can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpora import CORPUS, QUERIES, Corpus
from glyphrank.datasets.folder import Folder
from glyphrank.errors import DataError
from glyphrank.runtime import Runtime
from odd_files import odd_file


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return Corpus(tmp_path / "fruit", tmp_path / "cache")


def test_every_fault_of_a_file_is_reported_at_once(corpus: Corpus) -> None:
    broken = ['{"id": "c"}', "{", '{"text": "x"}', '{"id": "d", "text": 3}', '{"id": 1.5, "text": "x"}', "[1]", "[]"]
    broken += ['{"id": true, "text": "x"}']
    message = corpus.write(corpus=CORPUS + "\n".join(broken)).fault()
    assert "corpus.jsonl: 6 faults:" in message
    assert [f"line {number}: " in message for number in range(3, 11)] == [True] * 5 + [False] * 3
    assert "and 2 more lines;" in message
    assert message.endswith("and 1 more")


@pytest.mark.parametrize("items", [1, 300])
def test_a_pretty_printed_file_is_one_fault(corpus: Corpus, items: int) -> None:
    lines = 4 * items + 2
    pretty = ",\n".join('  {\n    "id": "a",\n    "text": "x"\n  }' for _ in range(items))
    message = corpus.write(corpus=f"[\n{pretty}\n]\n").fault()
    assert "corpus.jsonl: line 1: not JSON" in message
    assert f"and {lines - 1} more lines; wanted one JSON object a line (JSON lines)" in message
    assert "\n" not in message


def test_one_line_that_is_no_json_is_told_alone(corpus: Corpus) -> None:
    message = corpus.write(corpus=CORPUS + '{"id": "c"').fault()
    assert "line 3: not JSON (" in message
    assert "more line" not in message
    assert "zeros" not in message


@pytest.mark.parametrize("value", ["0001", "00", "-01"])
def test_a_number_with_leading_zeros_is_told_to_stand_in_quotes(corpus: Corpus, value: str) -> None:  # case M12
    message = corpus.write(corpus=f'{CORPUS}{{"id": {value}, "text": "x"}}\n').fault()
    assert "numbers with leading zeros must stand in quotes" in message


@pytest.mark.parametrize("line", ['{"id": "0001" "text": "x"}', '{"id": 10 1}', "{", '{"id": 0.01.2}'])
def test_other_faults_say_nothing_of_zeros(corpus: Corpus, line: str) -> None:
    assert "zeros" not in corpus.write(corpus=f"{CORPUS}{line}\n").fault()


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"id": "c", "text": "x", "id": "d"}', "'id'"),
        ('{"id": "c", "text": "x", "text": "x"}', "'text'"),
        ('{"id": "c", "text": "x", "more": {"colour": 1, "colour": 1}}', "'colour'"),
        ('{"id": "c", "text": "x", "more": [{"a": {"b": 1, "b": 2}}]}', "'b'"),
    ],
)
def test_a_key_that_stands_twice_is_a_fault(corpus: Corpus, line: str, key: str) -> None:
    assert f"line 3: the key {key} stands twice in one object" in corpus.write(corpus=f"{CORPUS}{line}\n").fault()


def test_equal_keys_in_different_objects_are_none(corpus: Corpus) -> None:
    task = corpus.write(corpus=CORPUS + '{"id": "c", "text": "x", "more": [{"id": 1}, {"id": 2}]}\n').load()
    assert task.items[2].slices == {"more": '[{"id":1},{"id":2}]'}


LONG = "x" * 10_000


@pytest.mark.parametrize(
    "line",
    [
        f'{{"id": "{LONG}"}}',
        f'{{"id": ["{LONG}"], "text": "x"}}',
        f'{{"id": "a{LONG}", "_id": "b{LONG}", "text": "x"}}',
        f'{{"id": "c", "text": ["{LONG}"]}}',
        f'{{"id": "c", "media": {{"{LONG}": 1}}}}',
        f'{{"id": "c", "media": "x.pdf", "page": "{LONG}"}}',
        f'{{"id": "c", "media": "../{LONG}"}}',
        f'{{"{LONG}": 1, "{LONG}": 1}}',
        f'{{"{LONG}": "c"}}',
        f'{{"id": "{LONG}", "text": ""}}\n{{"id": "{LONG}", "text": ""}}',
    ],
)
def test_long_values_are_shortened_in_messages(corpus: Corpus, line: str) -> None:
    message = corpus.write(corpus=f"{CORPUS}{line}\n").fault()
    assert "line 3: " in message or "line 4: " in message
    assert len(message) - len(str(corpus.root)) < 400
    assert "..." in message


def test_titles_that_nobody_searches_are_noted(corpus: Corpus) -> None:
    titled = CORPUS.replace('"apple"', '"apple", "title": "Fruit"')
    said = "a title, which is kept as a slice and not searched"
    assert corpus.write(corpus=titled).load().notes == (f"corpus.jsonl: 1 item has {said}",)
    both = titled.replace('"bread"', '"bread", "title": "Food"')
    assert corpus.write(corpus=both).load().notes == (f"corpus.jsonl: 2 items have {said}",)
    assert corpus.write(corpus=titled.replace('"Fruit"', '""')).load().notes == ()


@pytest.mark.parametrize("kind", ["a directory", "a named pipe", "a socket", "a device"])
@pytest.mark.parametrize("suffix", [".pdf", ".mp4"])
def test_media_that_is_no_file_keeps_its_item(corpus: Corpus, kind: str, suffix: str) -> None:
    odd_file(corpus.root / f"odd{suffix}", kind)
    task = corpus.pages(f'"media": "odd{suffix}"', '"text": "b"').load()
    assert task.items[0].media is not None
    assert task.items[0].media.path == corpus.root / f"odd{suffix}"


@pytest.mark.parametrize("name", ["x" * 5000 + ".pdf", "/".join(["x" * 200] * 50), "y" * 5000 + "/z.mp4"])
def test_media_under_a_name_that_no_disk_can_hold_keeps_its_item(corpus: Corpus, name: str) -> None:
    task = corpus.pages(f'"media": "{name}"', '"text": "b"').load()
    assert task.items[0].media is not None


def test_media_in_a_folder_without_permission_keeps_its_item(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.stat

    def refuse(path: Path, *, follow_symlinks: bool = True) -> object:
        if path.name == "a.pdf":
            raise PermissionError(13, "Permission denied")
        return real(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", refuse)
    assert corpus.pages('"media": "closed/a.pdf"', '"text": "b"').load().items[0].media is not None


def test_media_with_a_nul_is_refused_with_its_line_and_id(corpus: Corpus) -> None:
    message = corpus.pages('"text": "a"', '"media": "a\\u0000b.pdf"').fault()
    assert "corpus.jsonl: line 2: 'b': media is 'a\\x00b.pdf', with a NUL" in message


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
@pytest.mark.parametrize("kind", ["a directory", "a named pipe"])
def test_a_file_of_the_dataset_that_is_none_is_named(corpus: Corpus, name: str, kind: str) -> None:
    (corpus.root / name).unlink()
    odd_file(corpus.root / name, kind)
    assert name in corpus.fault()


@pytest.mark.parametrize("root", ["a\0b", "x" * 5000, "loop/here"])
def test_a_root_that_no_disk_can_hold_is_named(tmp_path: Path, root: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(DataError, match=r"check dataset\.root"):
        Folder(tmp_path / root, "test").load(Runtime("cpu", 1, 0, 60, 4, False, tmp_path, tmp_path / "cache"))


def test_a_split_with_a_name_that_no_disk_can_hold_is_named(corpus: Corpus) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        corpus.load("x" * 5000)


def test_a_query_without_text_has_a_short_message(corpus: Corpus) -> None:
    assert len(corpus.write(queries=f'{QUERIES}{{"id": "{LONG}"}}\n').fault()) < 400
