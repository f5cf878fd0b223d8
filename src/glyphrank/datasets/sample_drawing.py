"""Draws pages of the sample as PDF documents with a text layer, through reportlab."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from glyphrank.datasets.sample_text import Page

_WIDTH, _HEIGHT = 595.28, 841.89
_MARGIN = 54.0
_INNER = _WIDTH - 2 * _MARGIN
_CHART_HEIGHT = 190.0
_REGULAR, _BOLD = "NanumGothic", "NanumGothicBold"
_ACCENTS = ("#1f4e79", "#7a3b1e", "#2f6b4f", "#5b3a78")
_INK, _PALE, _GREY = "#1d1d1f", "#f2f4f7", "#6b7280"


def draw_document(path: Path, pages: Sequence[Page], fonts: Path, number: int) -> None:
    """Writes one document; equal pages give equal bytes with equal versions of reportlab.

    Args:
        path: the file to write.
        pages: at least one page, in order.
        fonts: folder with NanumGothic.ttf and NanumGothicBold.ttf.
        number: number of the document, which decides its colour.
    """
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas

    for name in (_REGULAR, _BOLD):
        pdfmetrics.registerFont(TTFont(name, str(fonts / f"{name}.ttf")))
    canvas = Canvas(str(path), pagesize=(_WIDTH, _HEIGHT), invariant=1)
    canvas.setTitle(pages[0].title)
    for page in pages:
        _draw_page(canvas, page, _ACCENTS[number % len(_ACCENTS)])
        canvas.showPage()
    canvas.save()


def _draw_page(canvas: Any, page: Page, accent: str) -> None:
    """Title band, heading, paragraphs, table and chart (in turn first), note and number, from top to bottom."""
    canvas.setFillColor(accent)
    canvas.rect(0, _HEIGHT - 40, _WIDTH, 40, stroke=0, fill=1)
    _write(canvas, page.title, _HEIGHT - 25, (_BOLD, 10.0), "#ffffff")
    _write(canvas, f"{page.number}. {page.heading}", _HEIGHT - 88, (_BOLD, 20.0), accent)
    canvas.setStrokeColor(accent)
    canvas.setLineWidth(1.5)
    canvas.line(_MARGIN, _HEIGHT - 98, _MARGIN + 72, _HEIGHT - 98)
    top = _HEIGHT - 118
    for paragraph in page.paragraphs:
        top = _paragraph(canvas, paragraph, top) - 9
    parts = [_table, _chart] if page.number % 2 else [_chart, _table]
    top -= 8
    for part in parts:
        top = part(canvas, page, accent, top) - 26
    _write(canvas, page.note, 42, (_REGULAR, 8.0), _GREY)
    canvas.setFont(_REGULAR, 8)
    canvas.drawRightString(_WIDTH - _MARGIN, 42, str(page.number))


def _write(canvas: Any, text: str, baseline: float, font: tuple[str, float], colour: str) -> None:
    canvas.setFillColor(colour)
    canvas.setFont(*font)
    canvas.drawString(_MARGIN, baseline, text)


def _paragraph(canvas: Any, text: str, top: float) -> float:
    """Draws a wrapped paragraph; the height where it ends."""
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.platypus import Paragraph

    style = ParagraphStyle("body", fontName=_REGULAR, fontSize=10.5, leading=16.5, textColor=_INK)
    paragraph = Paragraph(text, style)
    _, height = paragraph.wrapOn(canvas, _INNER, _HEIGHT)
    paragraph.drawOn(canvas, _MARGIN, top - height)
    return top - float(height)


def _table(canvas: Any, page: Page, accent: str, top: float) -> float:
    """Draws the table under its title, the total set apart; the height where it ends."""
    from reportlab.platypus import Table, TableStyle

    _write(canvas, page.table, top - 10, (_BOLD, 10.5), _INK)
    rows = [[page.row_head, *map(str, page.years)]]
    rows += [[label, *(f"{value:,}" for value in values)] for label, values in page.cells]
    table = Table(rows, colWidths=[_INNER * 0.4, *[_INNER * 0.2] * len(page.years)], rowHeights=21)
    table.setStyle(
        TableStyle(
            [
                ("FONT", (0, 0), (-1, -1), _REGULAR, 10),
                ("FONT", (0, 0), (-1, 0), _BOLD, 10),
                ("FONT", (0, -1), (-1, -1), _BOLD, 10),
                ("TEXTCOLOR", (0, 1), (-1, -1), _INK),
                ("TEXTCOLOR", (0, 0), (-1, 0), "#ffffff"),
                ("BACKGROUND", (0, 0), (-1, 0), accent),
                ("ROWBACKGROUNDS", (0, 1), (-1, -1), ["#ffffff", _PALE]),
                ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
                ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
                ("LINEABOVE", (0, -1), (-1, -1), 0.8, accent),
                ("LINEBELOW", (0, -1), (-1, -1), 0.8, accent),
            ]
        )
    )
    _, height = table.wrapOn(canvas, _INNER, _HEIGHT)
    table.drawOn(canvas, _MARGIN, top - 18 - height)
    return top - 18 - float(height)


def _chart(canvas: Any, page: Page, accent: str, top: float) -> float:
    """Draws the bars under their title, each with its value; the height where the chart ends."""
    from reportlab.graphics import renderPDF
    from reportlab.graphics.charts.barcharts import VerticalBarChart
    from reportlab.graphics.shapes import Drawing
    from reportlab.lib.colors import HexColor

    _write(canvas, page.chart, top - 10, (_BOLD, 10.5), _INK)
    bars = VerticalBarChart()
    bars.x, bars.y, bars.width, bars.height = 40, 22, _INNER - 50, _CHART_HEIGHT - 50
    bars.data = [list(page.bars)]
    bars.bars[0].fillColor = HexColor(accent)
    bars.bars.strokeColor = None
    bars.barWidth, bars.groupSpacing = 10, 12
    bars.barLabels.fontName, bars.barLabels.fontSize, bars.barLabels.nudge = _REGULAR, 8.5, 8
    bars.barLabelFormat = "{:,}".format
    bars.valueAxis.valueMin = 0
    bars.valueAxis.labels.fontName, bars.valueAxis.labels.fontSize = _REGULAR, 8
    bars.valueAxis.labelTextFormat = _grouped
    bars.valueAxis.visibleGrid, bars.valueAxis.gridStrokeColor = 1, HexColor("#d9dde3")
    bars.valueAxis.strokeColor = None
    bars.categoryAxis.categoryNames = list(page.marks)
    bars.categoryAxis.labels.fontName, bars.categoryAxis.labels.fontSize = _REGULAR, 9
    bars.categoryAxis.visibleTicks = 0
    drawing = Drawing(_INNER, _CHART_HEIGHT)
    drawing.add(bars)
    renderPDF.draw(drawing, canvas, _MARGIN, top - 18 - _CHART_HEIGHT)
    return top - 18 - _CHART_HEIGHT


def _grouped(value: float) -> str:
    return f"{value:,.0f}"
