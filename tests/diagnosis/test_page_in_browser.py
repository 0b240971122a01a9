"""The page in a real browser, at the width of a desk and of a phone; skipped where there is no Chromium."""

from __future__ import annotations

from html import escape
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from browser import chromium, measured, needs_chromium
from diagnosis.helpers import blocks, erdos_renyi

import anysize as az

SCREENS = {"desk": (1280, 720), "phone": (375, 667)}

pytestmark = needs_chromium

MEASURE = """
addEventListener("load", () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, box = (one) => one.getBoundingClientRect();
    const wide = page.documentElement.clientWidth;
    found[frame.id] = {
      wide, needed: page.documentElement.scrollWidth,
      advice: box(page.querySelector(".advice")).bottom,
      answers: box(page.querySelector("dl")).bottom,
      outside: [...page.querySelectorAll("body *")].filter((one) => one.closest(".wide") === null &&
        box(one).right > wide + 1).map((one) => one.outerHTML.slice(0, 100)),
      figures: [...page.querySelectorAll("svg")].map((one) => [box(one).width, box(one).height]),
      small: [...page.querySelectorAll("svg text")].filter((one) => box(one).height < 8).length,
      crossed: [...page.querySelectorAll("svg")].map((one) => {
        const texts = [...one.querySelectorAll("text")].map(box);
        return texts.filter((a, i) => texts.some((b, j) => i < j && a.left < b.right && b.left < a.right &&
          a.top + 3 < b.bottom && b.top + 3 < a.bottom)).length;
      }),
    };
  }
  document.getElementById("measured").textContent = JSON.stringify(found);
});
"""


def pages() -> dict[str, str]:
    """The longest first screens: colors and an unknown nature, a label about size, and one that nothing predicts."""
    turned = ({"red": 0.1, "blue": 0.9}, {"green": 0.1, "yellow": 0.9})
    train, new = erdos_renyi(0.3, range(10, 30), 100, 1), erdos_renyi(0.3, (60,), 40, 2)
    rng = np.random.default_rng(1)
    rings = az.GraphSet.from_networkx(
        [nx.connected_watts_strogatz_graph(int(n), 4, 0.2, seed=1) for n in rng.integers(5, 2000, 40)]
    )
    found = {
        "colors": az.diagnose(blocks((20,), 80, 1), blocks((40,), 40, 2, turned)),
        "size": az.diagnose(train, new, y=train.sizes > 20),
        "nothing": az.diagnose(train, new, y=rng.integers(0, 2, 100)),
        "far": az.diagnose(rings[:30], rings[30:], k=3),
    }
    return {name: one.to_html() for name, one in found.items()}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    folder: Path = tmp_path_factory.mktemp("browser")
    frames = "".join(
        f'<iframe id="{name} {screen}" style="width: {wide}px; height: {high}px" srcdoc="{escape(page)}"></iframe>'
        for name, page in pages().items()
        for screen, (wide, high) in SCREENS.items()
    )
    around = folder / "around.html"
    head = '<!doctype html><meta charset="utf-8"><style>iframe { border: 0; display: block; }</style>'
    around.write_text(
        f'{head}<body>{frames}<pre id="measured"></pre><script>{MEASURE}</script>',
        encoding="utf-8",
    )
    return measured(chromium(folder, "--dump-dom", around.as_uri()))  # type: ignore[no-any-return]


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", ["colors", "size", "nothing", "far"])
def test_the_first_screen_holds_verdict_and_advice(seen, name, screen):
    found, (wide, high) = seen[f"{name} {screen}"], SCREENS[screen]
    assert found["wide"] == wide
    assert found["advice"] < high
    assert found["answers"] < (high if screen == "desk" else 1.2 * high)


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("name", ["colors", "size", "nothing", "far"])
def test_nothing_is_wider_than_the_screen_or_too_small_to_read(seen, name, screen):
    found = seen[f"{name} {screen}"]
    assert found["outside"] == []
    assert found["needed"] <= found["wide"]
    assert found["small"] == 0
    assert set(found["crossed"]) <= {0}  # no number is written over another
    assert all(width >= 300 and height >= 20 for width, height in found["figures"])
