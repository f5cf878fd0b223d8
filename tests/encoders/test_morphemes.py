"""Korean morphemes: particles fall away, odd texts do no harm, no thread stays behind."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
import yaml

from glyphrank.encoders.morphemes import Morphemes

ROOT = Path(__file__).parents[2]
CONTENT = Morphemes(tags=("N", "V", "S", "X", "MAG"))


def test_particles_fall_away_and_single_syllables_stay() -> None:  # case I12
    assert CONTENT.tokens(["서울은", "부산은", "표"]) == [["서울"], ["부산"], ["표"]]


def test_letters_and_numbers_are_kept_in_lower_case() -> None:
    tokens = CONTENT.tokens(["GNU 3.5"])[0]
    assert tokens == ["gnu", "3.5"]


CHOICE = yaml.safe_load((ROOT / "conf" / "encoder" / "bm25_korean.yaml").read_text(encoding="utf-8"))["analyser"][
    "tags"
]


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("2024.05.03에 회의", "2024.05.03", ["2024", "05", "03"]),
        ("2024-05-03", "2024-05-03", ["2024", "05", "03"]),
        ("192.168.0.1은 주소", "192.168.0.1", ["192", "168", "0", "1"]),
        ("3.1.4절을 보라", "3.1.4", ["3", "1", "4"]),
        ("https://WWW.debian.org/x 참고", "https://www.debian.org/x", ["https", "www", "debian", "org", "x"]),
        ("a@b.com으로", "a@b.com", ["a", "b", "com"]),
        ("#데비안", "#데비안", ["데비안"]),
    ],
)
def test_dates_and_addresses_are_kept_whole_and_in_parts(text: str, whole: str, parts: list[str]) -> None:
    tokens = Morphemes(tags=tuple(CHOICE)).tokens([text])[0]
    assert tokens[: len(parts) + 1] == [whole, *parts]


def test_emoji_are_left_out() -> None:
    assert Morphemes(tags=tuple(CHOICE)).tokens(["😀 표"]) == [["표"]]


def test_tags_choose_what_is_kept() -> None:
    assert Morphemes(tags=("J",)).tokens(["서울은"]) == [["은"]]


def test_tokens_are_equal_for_both_unicode_forms() -> None:  # case P04
    assert CONTENT.tokens([unicodedata.normalize("NFD", "설치 안내서를 읽는다")]) == CONTENT.tokens(
        ["설치 안내서를 읽는다"]
    )


def test_tokens_do_not_depend_on_what_was_read_before() -> None:
    texts = ["데비안 설치 프로그램이란?", "파티션을 나눈다.", "데비안 설치 프로그램이란?"]
    together = CONTENT.tokens(texts)
    assert together[0] == together[2]
    assert [CONTENT.tokens([text])[0] for text in reversed(texts)] == together[::-1]


def test_odd_texts_do_no_harm() -> None:
    texts = ["", " \n\t", "😀 🏳️‍🌈 ㅋㅋ", "\ud83d 표", "a\x00b", "(" * 100_000, "1" * 100_000, "데비안을 쓴다. " * 2_000]
    tokens = CONTENT.tokens(texts)
    assert tokens[:2] == [[], []]
    assert "표" in tokens[3]
    assert tokens[-1].count("데비안") == 2_000


@pytest.mark.parametrize("tags", [(), ("N", "")])
def test_tags_when_one_is_empty_or_none_is_given(tags: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="wanted at least one, and none empty"):
        Morphemes(tags=tags)


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads in /proc")
def test_no_thread_is_left_behind() -> None:
    program = (
        "from pathlib import Path; from glyphrank.encoders.morphemes import Morphemes; "
        "before = len(list(Path('/proc/self/task').iterdir())); "
        "Morphemes(('N',)).tokens(['서울은'] * 50); "
        "print(len(list(Path('/proc/self/task').iterdir())) - before)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "0", "")
