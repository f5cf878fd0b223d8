"""The page of a run's misses in a real browser: its filters, keyboard, a phone, no network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import corpus, ran
from dashboard import page
from pictures import write_picture
from tiny_clip import write_tiny_clip

EVIL = '</script><script>document.title = "taken"</script> "red"'
COMMAND = (
    *("run", "dataset=folder", "dataset.root=data", "ocr=embedded", "encoder@lexical=bm25_words", "metrics=clips"),
    *("encoder@visual=clip_folder", "visual.weights.folder=tiny", "metrics.ties=average"),
)
BELOW_THE_FILTERS = """() => { const focus = document.activeElement;
    return !focus.closest('.gallery') || focus.getBoundingClientRect().top
        >= document.querySelector('.filters').getBoundingClientRect().bottom; }"""
TEXTS = {
    "red": "빨간 여우 예산",
    "green": "green frog near water",
    "blue": f"blue whale {EVIL}",
    "black": "black cat at night",
}
ODD = "odd\rfield"
QUERIES = {"red": "예산 보고", "green": "a frog", "blue": f"whale {EVIL}", "black": "nothing that is known"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of pictures beside text, fused, both ways, with a torn picture, one not there, and an item without any."""
    folder = tmp_path_factory.mktemp("page")
    write_tiny_clip(folder / "tiny")
    items: list[dict[str, Any]] = [{"id": name, "text": text, "media": f"{name}.png"} for name, text in TEXTS.items()]
    items += [{"id": "torn", "text": "torn", "media": "torn.png"}, {"id": "gone", "text": "gone", "media": "gone.png"}]
    items += [{"id": "words", "text": "only words " * 60}]
    queries = [{"id": f"q_{name}", "text": text, "kind": name[:1]} for name, text in QUERIES.items()]
    queries += [{"id": "q_none", "text": "frog frog", "kind": "g"}]
    queries[0][ODD] = "a\r\0b"
    queries[1][ODD] = "undefined"
    qrels = [f"q_{name}\t{name}\t1" for name in QUERIES]
    qrels += ["q_green\twords\t2", "q_black\ttorn\t1", "q_black\tgone\t1"]
    corpus(folder / "data", items, queries, qrels)
    for name in TEXTS:
        write_picture(folder / "data" / f"{name}.png", name, 640, 400)
    (folder / "data" / "torn.png").write_bytes((folder / "data" / "red.png").read_bytes()[:200])
    ran(*COMMAND, cwd=folder)
    return folder


def run_folder(folder: Path) -> Path:
    (found,) = folder.glob("outputs/runs/*/*")
    return found


@pytest.fixture(scope="module")
def view(folder: Path) -> Iterator[Any]:
    """The page in a browser; whatever it asks of a network is remembered as `asked`."""
    with page() as opened:
        opened.asked = []
        opened.on("request", lambda request: opened.asked.append(request.url))
        opened.faults = []
        opened.on("pageerror", lambda error: opened.faults.append(str(error)))
        opened.on("console", lambda said: opened.faults.append(said.text) if said.type == "error" else None)
        opened.goto((run_folder(folder) / "report.html").as_uri())
        yield opened


def shown(view: Any) -> list[str]:
    """Ids of the queries that are visible, in order."""
    found: list[str] = view.locator(
        "article.query:visible .about .id"
    ).all_text_contents()  # also of those not drawn yet
    return found


def test_a_single_run_leaves_its_page_among_its_files_and_in_the_store(folder: Path) -> None:
    (artifacts,) = {path.parent for path in folder.glob("outputs/**/artifacts/report.html")}
    assert (artifacts / "report.html").read_bytes() == (run_folder(folder) / "report.html").read_bytes()


def test_the_page_loads_nothing_and_runs_no_text_of_the_data(view: Any) -> None:
    view.locator("article.query").first.wait_for()
    assert [url for url in view.asked if not url.startswith(("data:", "file:"))] == []
    assert [url for url in view.asked if url.startswith("file:")] == view.asked[:1]
    assert view.faults == []
    assert view.title() != "taken"
    assert view.locator("h3", has_text="</script><script>").inner_text() == QUERIES["blue"]


def test_filters_count_what_the_report_counts(folder: Path, view: Any) -> None:
    report = json.loads((run_folder(folder) / "report.json").read_text(encoding="utf-8"))
    options = view.locator("select[name=kind] option").all_inner_texts()
    for what in ("rescued", "broken"):
        for cutoff in (1, 10):
            count = int(report["contributions"][f"ocr/{what}_at_{cutoff}"])
            label = f"{what.title()} by the text layer at {cutoff} ({count})"
            assert (label in options) == (count > 0)
    assert "Without a relevant item (1)" in options
    view.select_option("select[name=kind]", label="Without a relevant item (1)")
    assert shown(view) == ["q_none"]
    view.locator("button[type=reset]").click()
    view.locator(".count", has_text="5 of 5 queries").wait_for()
    missed = round(4 * (1 - report["metrics"]["hit_rate_at_1"]))
    view.select_option("select[name=kind]", "missed_1")
    assert len(shown(view)) >= missed
    view.locator("button[type=reset]").click()


def test_values_of_any_signs_choose_their_queries(view: Any) -> None:
    select = view.locator("select[name=slice]").nth(1)
    found = []
    for place in (1, 2):
        select.select_option(index=place)
        found.append(shown(view))
    assert found == [["q_red"], ["q_green"]]
    view.locator("button[type=reset]").click()


def test_filters_hide_nothing_that_has_the_focus(view: Any) -> None:
    view.evaluate("scrollTo(0, document.body.scrollHeight)")
    view.locator(".gallery button.pictures").last.focus()
    seen = []
    for _ in range(12):
        view.keyboard.press("Shift+Tab")
        view.wait_for_timeout(50)
        seen.append(view.evaluate(BELOW_THE_FILTERS))
    assert seen == [True] * 12
    sticks = "getComputedStyle(document.querySelector('.filters')).position"
    assert view.evaluate(sticks) == "sticky"
    view.evaluate("document.querySelector('.filters').style.minHeight = '9rem'")
    view.wait_for_timeout(100)
    assert view.evaluate(sticks) == "static"
    view.reload()


def test_the_page_is_used_by_keyboard_alone(view: Any) -> None:
    view.reload()
    view.keyboard.press("Tab")
    assert view.evaluate("document.activeElement.className") == "skip"
    view.keyboard.press("Enter")
    view.keyboard.press("Tab")
    assert view.evaluate("document.activeElement.name") == "text"
    assert view.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    view.keyboard.type("보고")
    view.locator(".count", has_text="1 of 5 queries").wait_for()
    assert shown(view) == ["q_red"]
    assert view.locator(".count").get_attribute("aria-live") == "polite"
    while view.evaluate("document.activeElement.type") != "reset":
        view.keyboard.press("Tab")
    view.keyboard.press("Enter")
    view.locator(".count", has_text="5 of 5 queries").wait_for()
    while "pictures" not in view.evaluate("document.activeElement.className"):
        view.keyboard.press("Tab")
    view.keyboard.press("Enter")
    assert view.locator("dialog[open] img").count() == 1
    view.keyboard.press("Escape")
    assert view.locator("dialog[open]").count() == 0
    assert "pictures" in view.evaluate("document.activeElement.className")


def test_items_show_pictures_text_ranks_and_why_something_is_missing(view: Any) -> None:
    blue = view.locator("article.query", has=view.locator(".about .id", has_text="q_blue"))
    blue.scroll_into_view_if_needed()
    item = blue.locator("li.item.relevant")
    assert item.locator(".id").first.inner_text() == "blue"
    item.locator("img[src]").wait_for()
    assert item.locator("img").evaluate("image => image.decode().then(() => image.naturalWidth)") == 192
    assert item.locator(".spots th[scope=row]").all_inner_texts() == ["visual", "lexical", "fused"]
    text = view.locator(".gallery").inner_text()
    assert "no picture: gone.png: there is no such file" in text
    assert "no picture: torn.png" in text
    assert "not retrieved" in text
    assert view.locator("[lang=ko]", has_text="예산 보고").first.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_without_scrolling_sideways(view: Any, scheme: str) -> None:
    view.emulate_media(color_scheme=scheme)
    view.set_viewport_size({"width": 360, "height": 740})
    view.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    assert view.evaluate("document.documentElement.scrollWidth") == 360
    wide = "[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > 361).length"
    assert view.evaluate(wide) == 0
    ground = view.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(247, 247, 245)", "dark": "rgb(19, 21, 24)"}[scheme]


def test_the_command_makes_the_page_again_of_fewer_queries(folder: Path) -> None:
    path = run_folder(folder)
    identity = json.loads((path / "report.json").read_text(encoding="utf-8"))["identity"]
    said = ran("report", identity[:12], "--queries", "2", "--output", "some/few.html", cwd=folder).stdout
    assert said == "page: some/few.html\n"
    text = (folder / "some" / "few.html").read_text(encoding="utf-8")
    assert text.count("<article") == 2
    assert "2 of 5 queries are shown" in text
    assert "that rank otherwise now" not in text
