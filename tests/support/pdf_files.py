"""PDF files for tests, each with a fault or without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas


def write_pdf(path: Path, *pages: str, password: str | None = None) -> Path:
    """A document with the texts as pages, lines separated by line feeds; "" is a blank page."""
    encryption = StandardEncryption(password, "owner") if password is not None else None
    canvas: Any = Canvas(str(path), invariant=1, encrypt=encryption)
    for page in pages:
        for number, line in enumerate(page.split("\n")):
            if line:
                canvas.drawString(72, 720 - 20 * number, line)
        canvas.showPage()
    canvas.save()
    return path


def write_drawing(path: Path) -> Path:
    """One page with a filled rectangle and no text, as scans have an image and no text."""
    canvas: Any = Canvas(str(path), invariant=1)
    canvas.rect(100, 100, 200, 200, fill=1)
    canvas.showPage()
    canvas.save()
    return path


def cut_off(path: Path) -> Path:
    """Leaves the first third of a file."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 3])
    return path
