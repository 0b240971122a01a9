"""What the paper concludes from its tables: answers from published numbers and records, against plain loops."""

from __future__ import annotations

from evaluation.helpers import made, seeds

from anysize.methods.catalog import METHODS
from anysize.paper.claims import CLAIMS, claims_rows
from anysize.paper.published import published
from anysize.paper.results_page import results_page
from anysize.paper.tables import build_table

PAPER = [name for name, method in METHODS.items() if method.in_paper]
TASKS = ("er-single", "er-multi", "sbm-20", "sbm-14-20", "sbm-20-30", "NCI1", "NCI109", "PROTEINS", "DD")
SCORES = {
    (task, method, split): cell.mean
    for task in TASKS
    for method in PAPER
    for split in ("validation", "test")
    if (cell := published(task, method, split)) is not None and cell.mean is not None
}
ANSWERS = [claim.answer(SCORES) for claim in CLAIMS]


def mean_of(task: str, method: str) -> float:
    return SCORES[task, method, "test"]


def test_answers_of_the_published_numbers():
    validation, densities, irm, gammas, irm_blocks, larger, best, wl = ANSWERS
    assert validation == "lowest validation mean 1.00"
    others = [name for name in PAPER if not name.startswith("gamma") and name != "gc-kernel"]
    highest = max(
        mean_of(task, name) for task in ("er-single", "er-multi") for name in others if (task, name, "test") in SCORES
    )
    assert densities == f"these at least 1.00, others at most {highest:.2f}"
    gains = [mean_of("er-multi", f"{name}-irm") - mean_of("er-multi", f"{name}-sum") for name in ("pna", "gcn", "gin")]
    assert irm == f"mean change {sum(gains) / 3:+.2f} (3 cells)"
    own = [
        mean_of(task, name) for task in ("sbm-20", "sbm-14-20", "sbm-20-30") for name in ("gamma-gin", "gamma-rpgin")
    ]
    assert gammas.startswith(f"test {sum(own) / 6:.2f}, others 0.6")
    assert irm_blocks == "mean change +0.04 (6 cells)"
    both = [name for name in PAPER if not name.endswith("-irm")]
    from_20 = sum(mean_of("sbm-20-30", name) > mean_of("sbm-20", name) for name in both)
    from_14 = sum(mean_of("sbm-20-30", name) > mean_of("sbm-14-20", name) for name in PAPER)
    assert larger == f"{from_20} of 15 better than with 20, {from_14} of 18 better than with 14 and 20"
    assert best == "NCI1, PROTEINS, DD (3 of 4)"
    assert wl == "NCI1 0.39, NCI109 0.21, PROTEINS 0.00, DD 0.00"


def test_published_numbers_answer_only_for_cells_that_were_run():
    records = [
        *seeds([1.0, 1.0], [0.3, 0.4], task="er-single", method="gin-sum"),
        *seeds([0.9, 0.9], [1.0, 1.0], task="er-single", method="gamma-gin"),
        made(1.0, 0.5, task="sbm-20", method="gin-sum", recipe="robust"),
        made(1.0, 0.5, task="er-multi", method="gin-irm"),
    ]
    tables = [build_table(number, records, data="published") for number in (1, 2, 3)]
    rows = {statement: (theirs, ours) for statement, theirs, ours in claims_rows(tables)}
    assert [statement.partition(":")[0] for statement in rows] == ["Table 1, Erdős–Rényi", "Table 1"]
    (lowest, extrapolate) = rows.values()
    assert lowest == ("lowest validation mean 1.00", "lowest validation mean 0.90")
    assert extrapolate == ("these at least 1.00, others at most 0.66", "these at least 1.00, others at most 0.50")
    page = results_page(records)
    assert "these at least 1.00, others at most 0.66 | these at least 1.00, others at most 0.50" in page


def test_nothing_is_said_without_records():
    assert claims_rows([build_table(1, [], data="published")]) == []
    assert [claim.answer({}) for claim in CLAIMS] == [""] * len(CLAIMS)
