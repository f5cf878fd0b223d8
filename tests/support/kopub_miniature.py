"""SDS KoPub VDR in miniature: the published schema, with drawn pages and everything that is odd about the real ones."""

from __future__ import annotations

import copy
import importlib.util
import io
import unicodedata
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from glyphrank.datasets.kopub_vdr_tables import ANNOTATIONS, CORPUS, QUESTIONS

DOMAINS = ("사회", "환경", "교육", "산업", "외교", "금융")
TYPES = ("text", "visual", "cross")
SIZES = (3, 1, 2)
"""Pages of documents, by turns."""
EMPTY, THIN, GARBLED, PRIVATE = 3, 4, 6, 7
"""Rows of pages whose text layer says nothing of what is drawn, or little."""
COVER, REPEATS = 2, (5, 8)
"""A page that no question asks for, and the rows that repeat its picture and its text exactly."""
WIDTH, HEIGHT = 496, 702

_PLACES = (
    *(
        "강릉시",
        "여수시",
        "전주시",
        "포항시",
        "원주시",
        "목포시",
        "김해시",
        "천안시",
        "속초시",
        "순천시",
        "익산시",
        "경주시",
    ),
    *(
        "춘천시",
        "나주시",
        "진주시",
        "아산시",
        "삼척시",
        "광양시",
        "군산시",
        "안동시",
        "동해시",
        "완도군",
        "통영시",
        "서산시",
    ),
)
_TOPICS = (
    *("노인 돌봄", "생활 하수 처리", "방과 후 학교", "반도체 부품 수출", "해외 자매결연", "서민 금융 지원"),
    *("청년 주거", "미세 먼지 측정", "평생 학습관", "수소 충전소", "국제 문화 교류", "소상공인 대출"),
    *("다문화 가정", "재활용 선별", "원격 수업", "로봇 부품 공장", "여권 발급", "전통 시장 상품권"),
    *("응급 의료", "도시 숲 조성", "학교 급식", "풍력 발전 단지", "공적 개발 원조", "농어민 보험"),
)
_PROGRAMMES = ("새싹", "둥지", "물결", "나침반", "징검다리", "햇살", "디딤돌", "마중물")


@dataclass
class Kopub:
    """Rows of the three tables, which a test may change before they are written."""

    questions: list[dict[str, Any]] = field(default_factory=list)
    corpus: list[dict[str, Any]] = field(default_factory=list)
    annotations: list[dict[str, Any]] = field(default_factory=list)

    def write(self, folder: Path, group: int = 4) -> Path:
        """Writes the three files, in row groups of some rows; the folder."""
        import pyarrow as pa

        picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
        texts = {name: pa.string() for name in ("id", "text", "ocr", "query", "answer", "type", "domain", "file_id")}
        lists = {name: pa.list_(pa.int64()) for name in ("ground_truth", "page_indices")}
        types = {**texts, **lists, "image": picture, "down_url": pa.string()}
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in ((QUESTIONS, self.questions), (CORPUS, self.corpus), (ANNOTATIONS, self.annotations)):
            schema = pa.schema([(column, types[column]) for column in rows[0]])
            write_table(folder / name, pa.Table.from_pylist(rows, schema), group)
        return folder


def write_table(path: Path, table: Any, group: int = 4) -> Path:
    """One parquet file, in row groups of some rows."""
    from pyarrow.parquet import write_table as write

    write(table, path, row_group_size=group)
    return path


def write_kopub(folder: Path, pages: int = 18, group: int = 4) -> Path:
    """Writes the miniature: pages in documents of three, one and two, and a question for each page but the covers.

    Equal arguments give equal files.

    Args:
        pages: 12 to 24; with 12 there are all types and domains.
        group: pages of a row group.
    """
    return kopub(pages).write(folder, group)


def kopub(pages: int = 18) -> Kopub:
    """The rows of the miniature; the first page is asked for twice, the questions stand in no order of the pages.

    Ids hold folders, spaces, `+` and full-width brackets; those of every second document are in NFD, where questions
    and annotations spell them in NFC.
    """
    corpus = [_page(row) for row in range(pages)]
    annotations = []
    start = 0
    for number, size in enumerate(_sizes(pages)):
        rows = list(range(start, start + size))
        annotations.append(
            {"file_id": _document(number), "page_indices": rows, "down_url": f"https://example/{number}"}
        )
        start += size
    asked = [0, *(row for row in reversed(range(pages)) if row not in (COVER, *REPEATS))]
    return Kopub([_question(number, row) for number, row in enumerate(asked)], copy.deepcopy(corpus), annotations)


def _page(row: int) -> dict[str, Any]:
    number, page = _where(row)
    name = f"{_document(number)}_{page}"
    name = unicodedata.normalize("NFD", name) if number % 2 else name
    lines = ["붙임 자료", "이 쪽은 비어 있습니다"] if row in (COVER, *REPEATS) else _lines(row)
    written = "\n".join(lines)
    text = {
        EMPTY: "",
        THIN: f"- {page} -",
        GARBLED: "".join(f"(cid:{ord(sign) % 97})" for sign in written) + "\n2023",
        PRIVATE: "".join(chr(0xE000 + ord(sign) % 64) for sign in written),
    }.get(row, written)
    picture = {"bytes": _drawn(tuple(lines), row if row not in REPEATS else COVER), "path": f"{page}.png"}
    return {"id": name, "image": picture, "text": text, "ocr": " ".join(lines)}


def _question(number: int, row: int) -> dict[str, Any]:
    document, page = _where(row)
    place, topic, programme = _PLACES[row], _TOPICS[row], _PROGRAMMES[row % len(_PROGRAMMES)]
    kind = TYPES[number % len(TYPES)]
    query = {
        "text": f"{place}의 2023년 {topic} 규모는 모두 얼마로 집계되었습니까?",
        "visual": f"{place} {topic} 그래프에서 2023년 막대가 나타내는 값은 얼마입니까?",
        "cross": f"{place}가 {topic} 확대를 위해 {programme} 사업에 편성한 예산은 얼마입니까?",
    }[kind]
    return {
        "id": f"{_document(document)}_{page}",
        "query": query,
        "answer": f"{_value(row):,}",
        "type": kind,
        "domain": DOMAINS[document % len(DOMAINS)],
        "ground_truth": [row],
    }


def _document(number: int) -> str:
    """The published id of a document, in NFC."""
    domain = DOMAINS[number % len(DOMAINS)]
    return f"{domain}/2024 {domain} 통계+전망（요약）/{domain}_보고서 {number + 1}_최종"


def _sizes(pages: int) -> list[int]:
    sizes: list[int] = []
    while sum(sizes) < pages:
        sizes.append(min(SIZES[len(sizes) % len(SIZES)], pages - sum(sizes)))
    return sizes


def _where(row: int) -> tuple[int, int]:
    """Number of a page's document from 0, and of the page in it from 1."""
    number = 0
    while row >= SIZES[number % len(SIZES)]:
        row -= SIZES[number % len(SIZES)]
        number += 1
    return number, row + 1


def _value(row: int) -> int:
    return 1000 + 317 * row


def _lines(row: int) -> list[str]:
    place, topic, programme = _PLACES[row], _TOPICS[row], _PROGRAMMES[row % len(_PROGRAMMES)]
    return [
        f"{place} {topic} 현황",
        f"{place}의 2023년 {topic} 규모는",
        f"{_value(row):,}건으로 집계되었다.",
        f"2022년의 {_value(row) - 113:,}건보다 113건 늘어난 값이다.",
        f"{place}는 {topic} 확대를 위해 {programme} 사업에",
        f"{37 + row}억 원의 예산을 편성하였다.",
        f"아래 그래프의 막대는 {topic} 값을 나타낸다.",
        f"2022년 {_value(row) - 113:,}   2023년 {_value(row):,}",
    ]


@cache
def _drawn(lines: tuple[str, ...], row: int) -> bytes:
    """A page as PNG: the lines, and two bars below them where there are more than two."""
    from PIL import Image, ImageDraw, ImageFont

    spec = importlib.util.find_spec("koreanize_matplotlib")
    places = spec.submodule_search_locations if spec else None
    if not places:
        raise RuntimeError("pages are drawn with a font of koreanize-matplotlib; install the extra `samples`")
    fonts = [ImageFont.truetype(Path(places[0]) / "fonts" / "NanumGothic.ttf", size) for size in (26, 20)]
    image = Image.new("RGB", (WIDTH, HEIGHT), "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((32, 40 + 40 * number), line, fill="black", font=fonts[min(number, 1)])
    if len(lines) > 2:
        for bar, value in enumerate((_value(row) - 113, _value(row))):
            draw.rectangle((90 + 160 * bar, 650 - value // 30, 190 + 160 * bar, 650), fill=(31, 78, 121))
    draw.rectangle((0, 0, WIDTH - 1, 8), fill=(120, 60 + row, 30))
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()
