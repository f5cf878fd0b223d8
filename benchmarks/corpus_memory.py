"""Peak memory of whole runs over 500 and 5,000 pages in parquet files of published shape: it must not grow with them.

    python benchmarks/corpus_memory.py [--counts 500 5000] [--group 100] [--folder FOLDER]

For each count a corpus is generated in the layout of SDS KoPub VDR (PNG pages of 2,502 x 3,330 pixels and about 0.6 MB,
all different; 866 characters of text layer and of OCR; row groups as the hub's library writes them, of 100 rows) and
`glyphrank run` is started on it with a cold cache: a tiny open_clip model looks at every page, and the text layers are
searched by BM25. The peak is the largest sum, over time, of what the run's process and all that it started have ever
held. Of a page's picture nothing stays; its texts, their words and its vector take some 30 kB, nearly all of it while
BM25 counts the words. Wanted: a growth of at most 40 kB a page, and a ratio of at most 1.25 between the last count and
the first. Exit code 1 where that is missed. Needs Linux, and 0.7 MB of disk a page, which is freed at the end.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

import inputs
from glyphrank.datasets.kopub_vdr_tables import ANNOTATIONS, CORPUS, QUESTIONS

WIDTH, HEIGHT, BLOCK, SPECKS = 2502, 3330, 18, 0.005
"""Pixels of a page, of its marks, and the share of pixels with specks, as scans have them: they decide the size."""
NUMBER_ROWS, BITS = 36, 18
"""Rows at the foot of a page in which its number stands, a bar a bit."""
CHARACTERS, WORDS, PAGES_A_DOCUMENT, QUERIES = 866, 20_000, 113, 100
MOST_GROWTH, MOST_TIMES = 40.0, 1.25
"""kB a page, and peak through peak."""


def main() -> int:
    """Generates, runs and measures each count, and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--group", type=int, default=100, help="rows of a row group")
    parser.add_argument("--folder", type=Path, help="where the corpora are written (default: the system's)")
    options = parser.parse_args()
    peaks = []
    for count in options.counts:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            folder = Path(name)
            start = time.monotonic()
            _write_corpus(folder / "corpus", count, options.group)
            size = (folder / "corpus" / CORPUS).stat().st_size / 2**20
            made = time.monotonic()
            peaks.append(_run(folder))
            ran = time.monotonic() - made
            print(
                f"{count:6} pages: {size:6.0f} MB of parquet (made in {made - start:.0f} s), run in {ran:.0f} s, "
                f"peak {peaks[-1]:.0f} MB",
                flush=True,
            )
    growth = 1024 * (peaks[-1] - peaks[0]) / max(1, options.counts[-1] - options.counts[0])
    ratio = peaks[-1] / peaks[0]
    print(f"growth {growth:.0f} kB a page (wanted <= {MOST_GROWTH:.0f}), ratio {ratio:.2f} (wanted <= {MOST_TIMES})")
    return int(growth > MOST_GROWTH or ratio > MOST_TIMES)


def _run(folder: Path) -> float:
    """Peak of a run in MB."""
    inputs.encoder(folder, "tiny")
    weights = [
        f"visual.weights.folder={folder / 'tiny'}",
        "visual.weights.repository=null",
        "visual.random_weights=true",
    ]
    weights += ["visual.weights.revision=null", "visual.weights.sha256=null", "visual.seed=0"]
    command = [sys.executable, "-m", "glyphrank", "run", "dataset=kopub_vdr", f"dataset.root={folder / 'corpus'}"]
    command += ["ocr=embedded", "encoder@lexical=bm25_ngrams", "encoder@visual=clip_vit_b_32", *weights]
    command += ["metrics=pages", "tracking=none", "on_bad_media=error", f"paths.outputs={folder / 'outputs'}"]
    with (folder / "said").open("w+") as said:
        process = subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT)
        peak = _peak(process)
        if process.returncode:
            said.seek(0)
            raise RuntimeError(f"the run failed:\n{said.read()[-4000:]}")
    return peak


def _peak(process: subprocess.Popen[bytes]) -> float:
    """Waits for the end of a process; the largest sum of what it and its living descendants have held so far, in MB."""
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, sum(_largest(one) for one in _family(process.pid)))
        time.sleep(0.2)
    return peak


def _family(process: int) -> Iterator[int]:
    yield process
    try:
        tasks = list(Path(f"/proc/{process}/task").iterdir())
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return
    for child in children:
        yield from _family(child)


def _largest(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def _write_corpus(folder: Path, count: int, group: int) -> None:
    """The three files in the published schema."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter, write_table

    folder.mkdir(parents=True)
    picture = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("id", pa.string()), ("image", picture), ("text", pa.string()), ("ocr", pa.string())])
    page = _Page()
    with ParquetWriter(folder / CORPUS, schema) as writer:
        for start in range(0, count, group):
            rows = range(start, min(start + group, count))
            pictures = [{"bytes": page.png(row), "path": f"{row}.png"} for row in rows]
            texts = {"text": [_text(row, 0) for row in rows], "ocr": [_text(row, 1) for row in rows]}
            columns = {"id": [_name(row) for row in rows], "image": pa.array(pictures, picture), **texts}
            writer.write_table(pa.table(columns, schema=schema), row_group_size=group)
    documents = [
        list(range(start, min(start + PAGES_A_DOCUMENT, count))) for start in range(0, count, PAGES_A_DOCUMENT)
    ]
    names = [_name(rows[0]).rpartition("_")[0] for rows in documents]
    write_table(pa.table({"file_id": names, "page_indices": documents}), folder / ANNOTATIONS)
    golds = list(range(0, count, max(1, count // QUERIES)))
    questions = {"id": [_name(row) for row in golds], "query": [_text(row, 0)[:60] for row in golds]}
    slices = {"type": ["text"] * len(golds), "domain": ["사회"] * len(golds)}
    write_table(pa.table({**questions, **slices, "ground_truth": [[row] for row in golds]}), folder / QUESTIONS)


def _name(row: int) -> str:
    return f"사회/문서 {row // PAGES_A_DOCUMENT}_{row % PAGES_A_DOCUMENT + 1}"


def _text(row: int, kind: int) -> str:
    """Words of a page, as often used as those of a language."""
    ranks = np.random.default_rng([row, kind]).zipf(1.2, CHARACTERS // 3)
    return " ".join(_words()[rank % WORDS] for rank in ranks)[:CHARACTERS]


@cache
def _words() -> list[str]:
    """Words of two to four of the 2,350 syllables in use (KS X 1001)."""
    chance = np.random.default_rng(7)
    signs = [bytes([0xB0 + number // 94, 0xA1 + number % 94]).decode("euc_kr") for number in range(2350)]
    return ["".join(signs[sign] for sign in chance.integers(0, 2350, chance.integers(2, 5))) for _ in range(WORDS)]


class _Page:
    """Pages that look like print: all alike but for their number, so that most of a page is compressed once."""

    def __init__(self) -> None:
        chance = np.random.default_rng(7)
        marks = chance.random((-(-HEIGHT // BLOCK), -(-WIDTH // BLOCK))) < 0.4
        marks[::3] = False
        grey = np.where(np.kron(marks, np.ones((BLOCK, BLOCK), dtype=bool)), 30, 250).astype(np.uint8)
        grey[chance.random(grey.shape) < SPECKS] = 200
        body = _scanlines(grey[: HEIGHT - NUMBER_ROWS, :WIDTH])
        packer = zlib.compressobj(1, zlib.DEFLATED, -15)
        self._packed = packer.compress(body) + packer.flush(zlib.Z_FULL_FLUSH)
        self._sum = zlib.adler32(body)

    def png(self, number: int) -> bytes:
        """The page of a number as a PNG file."""
        bits = np.array([30 if number >> bit & 1 else 250 for bit in range(BITS)], dtype=np.uint8)
        foot = _scanlines(np.broadcast_to(np.repeat(bits, WIDTH // BITS), (NUMBER_ROWS, WIDTH)))
        packer = zlib.compressobj(1, zlib.DEFLATED, -15)
        packed = b"\x78\x01" + self._packed + packer.compress(foot) + packer.flush()
        data = packed + zlib.adler32(foot, self._sum).to_bytes(4, "big")
        header = WIDTH.to_bytes(4, "big") + HEIGHT.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
        return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _scanlines(grey: np.ndarray) -> bytes:
    """Rows of a PNG file, RGB and without a filter."""
    lines = np.zeros((len(grey), 1 + 3 * WIDTH), dtype=np.uint8)
    lines[:, 1:] = np.repeat(grey, 3, axis=1)
    return lines.tobytes()


def _chunk(name: bytes, data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")


if __name__ == "__main__":
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    sys.exit(main())
