"""The report in a real browser, at the width of a desk and of a phone; skipped where there is no Chromium."""

from __future__ import annotations

import json
import re
from html import escape, unescape

import numpy as np
import pytest
from browser import chromium, measured, needs_chromium
from evaluation.helpers import sweep

from anysize.evaluation.store import RecordStore
from anysize.paper.report.build import make_report

WIDTHS = {"desk": 1280, "phone": 375}
HEIGHT = 3000
LONG = "a-method-of-one's-own-with-a-name-that-does-not-end-" * 4

pytestmark = needs_chromium

# What a reader gets to see: measured in the unchanged page from the page around it.
MEASURE = """
addEventListener("load", () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, box = (one) => one.getBoundingClientRect();
    const boxes = (what) => [...page.querySelectorAll(what)].map((one) => [box(one).width, box(one).height]);
    const inside = (one) => one.closest(".wide, nav ul") !== null;
    found[frame.id] = {
      width: page.documentElement.clientWidth,
      needed: page.documentElement.scrollWidth,
      plots: boxes("svg.plot"),
      patterns: boxes("svg.pattern"),
      tables: boxes("table"),
      outside: [...page.querySelectorAll("main *")].filter((one) => !inside(one) &&
        box(one).right > page.documentElement.clientWidth + 1).map((one) => one.outerHTML.slice(0, 200)),
      small: [...page.querySelectorAll("svg.plot text")].filter((one) => box(one).height < 6).length,
      ink: getComputedStyle(page.querySelector("svg.plot text")).fill,
      paint: getComputedStyle(page.querySelector("figure.card")).backgroundColor,
      scripts: page.querySelectorAll("script").length,
    };
  }
  document.getElementById("measured").textContent = JSON.stringify(found);
});
"""


@pytest.fixture(scope="module")
def around(tmp_path_factory):
    """A page that shows the report twice, as wide as a desk and as wide as a phone."""
    folder = tmp_path_factory.mktemp("browser")
    store = RecordStore(folder / "records")
    store.write(sweep(("sbm-20", "<script>parent.document.title = 'run'</script>"), ("gin-sum", "gamma-gin", LONG)))
    html = make_report(store, fits=False)
    frames = "".join(
        f'<iframe id="{name}" style="width: {width}px; height: {HEIGHT}px; border: 0; float: left" '
        f'srcdoc="{escape(html)}"></iframe>'
        for name, width in WIDTHS.items()
    )
    path = folder / "around.html"
    path.write_text(
        '<!doctype html><meta charset="utf-8"><title>still</title><body style="margin: 0; width: 1700px">'
        f'{frames}<pre id="measured"></pre><script>{MEASURE}</script>',
        encoding="utf-8",
    )
    return path


@pytest.fixture(scope="module")
def seen(around):
    dom = chromium(around.parent, "--dump-dom", around.as_uri())
    assert "<title>still</title>" in dom
    return measured(dom)


@pytest.mark.parametrize("name", WIDTHS)
def test_figures_and_tables_are_seen(seen, name):
    found = seen[name]
    assert found["width"] == WIDTHS[name]
    assert len(found["plots"]) == 7  # charts of two tables, sizes, colors, drift, curves of two tasks
    assert len(found["patterns"]) == 12
    for width, height in found["plots"]:
        assert 250 <= width <= 460
        assert 120 <= height <= 700
    assert all(width >= 30 and height >= 30 for width, height in found["patterns"])
    assert all(width >= 200 and height >= 80 for width, height in found["tables"])
    assert found["scripts"] == 0
    assert found["small"] == 0


@pytest.mark.parametrize("name", WIDTHS)
def test_nothing_is_wider_than_the_screen(seen, name):
    assert seen[name]["outside"] == []
    assert seen[name]["needed"] <= seen[name]["width"]


def test_a_phone_shows_larger_tables_than_its_screen_in_boxes_that_scroll(seen):
    assert max(width for width, _ in seen["phone"]["tables"]) > WIDTHS["phone"]


def test_a_picture_of_the_page_is_no_blank_sheet(around):
    image = pytest.importorskip("PIL.Image")
    shot = around.parent / "shot.png"
    chromium(around.parent, f"--screenshot={shot}", f"--window-size=1700,{HEIGHT}", around.as_uri())
    pixels = np.asarray(image.open(shot).convert("RGB"))
    for part in (pixels[:, : WIDTHS["desk"]], pixels[:, WIDTHS["desk"] : sum(WIDTHS.values())]):
        assert len(np.unique(part @ np.array([1 << 16, 1 << 8, 1]))) > 100  # colors
        blue = (part == (0x2C, 0x6B, 0xD6)).all(axis=2)
        assert blue.sum() > 500  # the dots of the charts


def test_dark_pages_repaint_figures_too(around):
    dom = chromium(around.parent, "--blink-settings=preferredColorScheme=0", "--dump-dom", around.as_uri())
    found = json.loads(unescape(re.search(r'<pre id="measured">(.*?)</pre>', dom, re.S)[1]))["phone"]
    assert found["paint"] == "rgb(23, 28, 37)"
    assert found["ink"] in ("rgb(231, 234, 240)", "rgb(154, 164, 182)")
