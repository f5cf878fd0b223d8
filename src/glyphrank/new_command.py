"""`glyphrank new`: a dataset out of a folder of PDFs, pictures and clips, ready for questions."""

from __future__ import annotations

import argparse
import logging
import os
import re
import shlex
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from glyphrank.errors import DataError
from glyphrank.media.kinds import FileKind
from glyphrank.starting import CORPUS, QRELS, QUERIES, Started, start
from glyphrank.starting_files import Skipped
from glyphrank.starting_text import TextLayers, suggested_ocr, text_layers
from glyphrank.written_out import write_out

_MOST_NAMED = 20
"""Names of skipped files that are shown for each cause; --skipped shows all."""
_INTERRUPTED = 130


def run_new(argv: Sequence[str]) -> int:
    """The command: writes the files, prints what it found and what is to be filled in, and returns the exit code.

    0: the dataset is there; 2: nothing was written, for the reason given, or what was found could not be told; 130: it
    was interrupted.
    """
    try:
        options = _parser().parse_args(argv)
        _log_to_the_terminal()
        outputs = Path(os.environ.get("GLYPHRANK_OUTPUTS") or "outputs")
        started = start(options.dataset, options.folder, options.add, outputs)
        return _write_out(_told(options, started, text_layers(started.documents)), options.dataset)
    except SystemExit as leave:
        return int(leave.code or 0)
    except DataError as error:
        return _say(str(error), 2)
    except KeyboardInterrupt:
        return _say("interrupted", _INTERRUPTED)


def _write_out(told: str, dataset: Path) -> int:
    try:
        write_out(told)
    except OSError as error:
        # What is still buffered would be written, and fail, once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = error.strerror or error
        return _say(f"standard output: cannot be written ({reason}); {dataset} is there and can be filled in", 2)
    return 0


def _say(message: str, code: int) -> int:
    sys.stderr.write(f"glyphrank: {message}\n")
    return code


def _folder(text: str) -> Path:
    """An argument that names a folder; an empty one, of a variable that is not set, would mean this folder."""
    if not text:
        raise argparse.ArgumentTypeError("is an empty text; wanted the name of a folder (. is this one)")
    return Path(text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="glyphrank new",
        description="Makes a dataset of your own documents. FOLDER, with the folders in it, holds PDFs, pictures or "
        "clips; every page, picture and clip becomes an item in DATASET/corpus.jsonl, with an id that you can read "
        "(reports/budget.pdf#3). Beside it lie queries.jsonl, for the questions, and qrels.tsv, which says what "
        "answers them; both are yours to fill in, and the command shows a line of each. Your documents are neither "
        "changed nor copied: DATASET may be FOLDER itself or a folder around it, and anywhere else it gets a link to "
        "them. Files that cannot become items are named with the reason. Nothing that is there is overwritten.",
        epilog="Exit code: 0 the dataset is there; 2 nothing was written, for the reason given; 130 interrupted.",
    )
    parser.add_argument(
        "dataset", type=_folder, metavar="DATASET", help="folder of the dataset; made if it is not there"
    )
    parser.add_argument("folder", type=_folder, metavar="FOLDER", help="folder with your documents")
    parser.add_argument(
        "--add", action="store_true", help="append what a dataset lacks, and keep all lines that are there"
    )
    parser.add_argument(
        "--skipped", action="store_true", help=f"name all files that were skipped, not {_MOST_NAMED} for each reason"
    )
    return parser


def _told(options: argparse.Namespace, started: Started, layers: TextLayers) -> str:
    ocr = suggested_ocr(started.documents, layers)
    lines = [*_contents(options, started), *_layers(layers)]
    lines += _skipped(started.skipped, None if options.skipped else _MOST_NAMED)
    if started.gone:
        shown = ", ".join(started.gone[:_MOST_NAMED]) + (", ..." if len(started.gone) > _MOST_NAMED else "")
        lines.append(f"  not there any more, and still in {CORPUS}: {shown}")
    return "\n".join([*lines, "", *_next(options.dataset, started, ocr)])


def _contents(options: argparse.Namespace, started: Started) -> list[str]:
    """What was found and where it went."""
    kinds = [document.kind for document in started.documents]
    pages = sum(document.pages or 0 for document in started.documents)
    pdfs, pictures, clips = (kinds.count(kind) for kind in (FileKind.pdf, FileKind.picture, FileKind.clip))
    parts = [f"{_counted(pages, 'page')} of {_counted(pdfs, 'PDF')}"] if pdfs else []
    parts += [_counted(pictures, "picture")] if pictures else []
    parts += [_counted(clips, "clip")] if clips else []
    new = _counted(len(started.ids), "new item") if options.add else _counted(len(started.ids), "item")
    before = f", {started.before} were there" if options.add else ""
    lines = [f"{options.folder}: {', '.join(parts)}", f"{options.dataset / CORPUS}: {new}{before}"]
    if started.link is not None:
        lines.append(f"  {options.dataset / started.link.name} is a link to {options.folder}: keep both where they are")
    return lines


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _layers(layers: TextLayers) -> list[str]:
    """How many pages have a text layer."""
    if not layers.pages:
        return []
    counts = [
        (
            layers.text + layers.thin,
            "with a text layer" + (f" ({layers.thin} of a few characters)" * (layers.thin > 0)),
        ),
        (layers.scanned, "scanned or drawn, without text"),
        (layers.garbled, "with a garbled text layer"),
        (layers.blank, "blank or damaged"),
    ]
    whole = "" if layers.looked_at == layers.pages else f"of {layers.looked_at:,} looked at: "
    return [f"  {whole}{', '.join(f'{count:,} {what}' for count, what in counts if count)}"]


def _skipped(skipped: Sequence[Skipped], most: int | None) -> list[str]:
    """The skipped files under their reasons."""
    if not skipped:
        return []
    causes: dict[str, list[str]] = defaultdict(list)
    for each in skipped:
        causes[each.cause].append(each.name)
    lines = ["skipped: 1 file or folder" if len(skipped) == 1 else f"skipped: {len(skipped):,} files and folders"]
    for cause, names in causes.items():
        rest = f", and {len(names) - most} more (--skipped names all)" if most is not None and len(names) > most else ""
        lines.append(f"  {cause}: {', '.join(map(_on_one_line, names[:most]))}{rest}")
    return lines


def _on_one_line(name: str) -> str:
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in name)


def _next(dataset: Path, started: Started, ocr: str) -> list[str]:
    """What is to be filled in, with an id of an item, and the commands that follow."""
    root = f"dataset=folder {_override('dataset.root', dataset)}"
    choices = "" if ocr == "embedded" else f" ocr={ocr}"
    if all(document.kind is FileKind.clip for document in started.documents):
        choices += " metrics=clips"
    lines = [
        f"1. write a line for each question into {dataset / QUERIES}, such as",
        '     {"id": "q1", "text": "your question"}',
        f"2. write a row for each item that answers it into {dataset / QRELS}, with tabs between the columns, such as",
        f"     q1\t{started.example}\t1",
        "3. look for faults, then measure:",
        f"     glyphrank check {root}",
        f"     glyphrank run {root}{choices}",
    ]
    if ocr != "embedded":
        english = "ocr.second.languages=[en]" if ocr == "embedded_else_easyocr" else "ocr=easyocr_en"
        lines += [
            f"   {ocr} recognises Korean and English; the first time it needs runtime.download=true for EasyOCR's",
            f"   weights. For English alone: {shlex.quote(english)}",
        ]
    return lines


def _override(key: str, path: Path) -> str:
    r"""An override for Hydra, as it is typed in a shell; what Hydra's grammar does not take bare stands in quotes.

    >>> _override("dataset.root", Path("my files/보고서"))
    '\'dataset.root="my files/보고서"\''
    """
    text = str(path)
    if re.fullmatch(r"[A-Za-z0-9_./-]+", text):
        return f"{key}={text}"
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', text)
    escaped = re.sub(r"(\\+)$", r"\1\1", escaped)
    return shlex.quote(f'{key}="{escaped}"')


def _log_to_the_terminal() -> None:
    """Progress where there is no bar, and warnings."""
    if not logging.getLogger().handlers:
        logging.basicConfig(level=logging.INFO, format="%(message)s")
