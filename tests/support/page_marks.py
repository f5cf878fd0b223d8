"""PDF pages whose whole content is what was put on them later: a form that is filled in, a stamp."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reportlab.pdfgen.canvas import Canvas


def write_form(path: Path, value: str) -> Path:
    """One page with a text field without a border, and its value."""
    canvas: Any = Canvas(str(path), pagesize=(200, 100), invariant=1)
    canvas.acroForm.textfield(
        name="a", value=value, x=10, y=20, width=180, height=60, fontSize=40, borderWidth=0, fillColor=None
    )
    canvas.showPage()
    canvas.save()
    return path


def write_stamp(path: Path, words: str) -> Path:
    """One page with an annotation that looks like some words."""
    drawing = b"BT /F 20 Tf 5 10 Td (%b) Tj ET" % words.encode()
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Annots[4 0 R]>>",
        b"<</Type/Annot/Subtype/Stamp/Rect[20 20 180 60]/F 4/AP<</N 5 0 R>>>>",
        b"<</Type/XObject/Subtype/Form/BBox[0 0 160 40]/Resources<</Font<</F 6 0 R>>>>/Length %d>>stream\n%b\nendstream"
        % (len(drawing), drawing),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    content, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, 1):
        places.append(len(content))
        content += b"%d 0 obj\n%b\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    content += b"xref\n0 7\n0000000000 65535 f \n%btrailer<</Size 7/Root 1 0 R>>\n" % table
    path.write_bytes(content + b"startxref\n%d\n%%%%EOF\n" % content.index(b"xref\n"))
    return path
