"""The page of results: every sentence with a number follows from the records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.helpers import made, seeds
from typer.testing import CliRunner

from anysize.evaluation.store import RecordStore
from anysize.paper.cli.app import main_app as app
from anysize.paper.front_table import BEGIN, END, between_marks, front_table
from anysize.paper.results_page import ComparedCell, appendix_page, compare, results_page
from anysize.paper.tables import build_table


def compared(records, number=2, sizes=None):
    return compare(build_table(number, records, data="published"), records, sizes)


def only(records, **others) -> ComparedCell:
    (own,) = compared(records, **others)
    return own


def part(page: str, title: str) -> str:
    return page.partition(f"## {title}\n")[2].partition("\n## ")[0]


# ---- comparisons -------------------------------------------------------------------------------------

# published: gamma-gin on sbm-20 has .98 (.02)


@pytest.mark.parametrize(("mean", "far"), [(0.98, False), (0.96, False), (1.0, False), (0.95, True), (0.954, True)])
def test_a_cell_differs_beyond_the_published_deviation_as_printed(mean, far):
    assert only(seeds([1.0] * 2, [mean] * 2)).deviates == far


def test_a_deviation_of_zero_admits_no_difference():
    assert only([made(0.95, 0.42, method="gc-kernel", C=1)]).deviates
    assert not only([made(0.95, 0.43, method="gc-kernel", C=1)]).deviates


def test_checks_other_recipes_and_fresh_data_are_not_compared():
    about = [{"method": "topology-only"}, {"recipe": "robust"}, {"data": "seed:1"}, {"method": "mine"}]
    assert compared([made(**one) for one in about]) == []


def test_ties_are_in_the_cells_of_the_page():
    tied = [*seeds([1.0, 1.0], [0.3, 0.3], hidden=32), *seeds([1.0, 1.0], [1.0, 1.0], hidden=64)]
    assert only(tied, sizes=lambda task, method: 64).reduced
    assert not only(tied, sizes=lambda task, method: 2).reduced
    page = results_page(tied)
    assert "| Table 2, Gamma models | 1 | 0 | 0 | 0.68 |" in part(page, "Agreement with the published numbers")
    assert "0.30 (0.00)**<br>2 tie, 0.30 to 1.00<br>0.98 (0.02) -0.68" in part(
        page, "Test scores on the published data"
    )


def test_kernels_on_real_graphs_have_mean_and_range_over_validation_draws():
    runs = [
        replace(made(0.5, test, task="NCI1", method=method, C=1), data=f"split:{draw}", epochs=None)
        for method in ("gc-kernel", "wl-kernel")
        for draw, test in enumerate((0.1, -0.1, 0.3))
    ]
    draws = part(results_page([*runs, made(0.5, 0.9, task="NCI1", method="gc-kernel", C=1)]), "Ten validation draws")
    assert "| GC kernel | NCI1 | 0.02 | 0.10 | -0.10 to 0.30 | 3 |" in draws
    assert "| WL kernel | NCI1 |  | 0.10 | -0.10 to 0.30 | 3 |" in draws
    assert part(results_page([made()]), "Ten validation draws") == ""


# ---- the page ----------------------------------------------------------------------------------------


def test_the_page_says_what_was_found():
    runs = [
        *seeds([1.0] * 10, [0.9] * 10, hidden=32),
        *seeds([1.0] * 10, [0.98] * 10, hidden=64),
        *seeds([1.0] * 10, [0.5] * 10, method="gin-sum"),
        *seeds([1.0] * 3, [0.48] * 3, method="rpgin"),
        *(made(1.0, test, data=f"seed:{number}", recipe="robust") for number, test in enumerate((1.0, 0.97))),
    ]
    sizes = {"gamma-gin": 2, "gin-sum": 72}
    page = results_page(runs, lambda task, method: sizes.get(method))
    right = part(page, "Who is right where")
    assert "| SBM, 20 → 40 (accuracy) | 0.50 GIN (0.86 PNA (mean)) |  | 0.90 Γ GIN (1.00 Γ RPGIN) |  |" in right
    assert "| Table 2, Gamma models | 1 | 0 | 1 | 0.08 |" in part(page, "Agreement with the published numbers")
    fresh = part(page, "Fresh data")
    assert "| Table 2 | Γ GIN, robust recipe | 2 | 0.985 | 0.970 (sbm-20, seed:1) |" in fresh
    assert "<br>validation" not in page
    page = appendix_page(runs, lambda task, method: sizes.get(method))
    assert "**0.90 (0.00)**<br>2 tie, 0.90 to 0.98<br>0.98 (0.02) -0.08" in part(page, "Published data")
    missing = part(page, "Missing")
    assert "- Table 1: no run of Schizophrenia, Schizophrenia-like (not in the paper), Erdős–Rényi" in missing
    assert "- SBM, 20 → 40: part of the paper's grid for GIN (1 of 72)." in missing
    assert "- SBM, 20 → 40, RPGIN: 3 of 10 seeds." in missing
    assert "no run of PNA, PNA (mean)" in missing
    assert "robust" not in missing
    assert "Γ GIN, robust | " in part(page, "Fresh data")


def test_the_page_does_not_depend_on_the_order_of_records():
    runs = [*seeds([1.0, 0.9], [0.9, 0.8]), *seeds([1.0, 0.9], [0.5, 0.8], method="rpgin", lr=0.1)]
    assert results_page(runs) == results_page(runs[::-1])
    assert appendix_page(runs) == appendix_page(runs[::-1])


def test_without_records_the_page_says_so():
    page = results_page([])
    assert "There are no records yet." in page
    assert "data\n" not in page
    appendix = appendix_page([])
    assert part(appendix, "Missing").count("no run of") == 3


def run(*arguments):
    return CliRunner().invoke(app, ["paper", "results", *map(str, arguments)])


def test_the_command_writes_page_and_tables(tmp_path: Path):
    RecordStore(tmp_path / "records").write(
        [*seeds([1.0] * 2, [0.9, 1.0], hidden=32), *seeds([1.0] * 2, [0.7, 0.7], hidden=64)]
    )
    readme, ties = tmp_path / "README.md", tmp_path / "ties.md"
    for page in (readme, ties):
        page.write_text(f"# Mine\n\n{BEGIN}\n{END}\n\nMore.\n")
    arguments = ["--records", tmp_path / "records"]
    pages = ["--out", tmp_path / "results.md", "--appendix", tmp_path / "appendix.md"]
    done = run(*arguments, *pages, "--readme", readme, "--ties", ties)
    assert done.exit_code == 0, done.output
    assert "0.95 (0.05)" in (tmp_path / "results.md").read_text()
    assert "(2 of 64)" in (tmp_path / "appendix.md").read_text()
    assert "| Γ GIN, the paper's recipe | – | 0.95 (0.98)<br>ties 0.70–0.95 | – |" in readme.read_text()
    assert "Up to 2 configurations of a cell share" in readme.read_text()
    assert "Their test means lie up to 0.25 apart" in readme.read_text()
    assert "| 1 to 2 | 0 |  |  | 1 | +0.16 | +0.03 |" in ties.read_text()
    for page in (readme, ties):
        assert page.read_text().startswith("# Mine\n")
        assert page.read_text().endswith("\nMore.\n")
    assert run(*arguments).stdout == (tmp_path / "results.md").read_text()


@pytest.mark.parametrize("wrong", [["--records", "nowhere"], ["--readme", "page.md"], ["--ties", "page.md"]])
def test_mistakes_end_in_one_sentence(wrong, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results" / "records").mkdir(parents=True)
    (tmp_path / "page.md").write_text("no marks here")
    result = run(*wrong)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


# ---- the front page ----------------------------------------------------------------------------------


def test_the_front_table_has_rows_that_were_run():
    table = front_table([*seeds([1.0], [0.5], method="gin-sum"), *seeds([1.0], [0.7], data="seed:1", recipe="robust")])
    assert [line.split(" | ")[0] for line in table.splitlines()[2:]] == ["| GIN", "| Γ GIN, robust recipe"]
    assert "| GIN | – | 0.50 (0.64) | – | – |" in table
    assert "| Γ GIN, robust recipe | – | – | – | 0.70 |" in table


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="one of them is missing"):
        between_marks(f"{END} {BEGIN}", "")


def test_gpu_time_is_extrapolated_to_the_whole_grid():
    runs = [replace(run, device="GPU", seconds=36.0) for run in seeds([1.0, 1.0], [0.5, 0.5], hidden=32)]
    page = results_page([*runs, replace(runs[0], recipe="robust")], lambda task, method: 64)
    assert "| Table 2 | GPU | 2 | 0.0 | 640 | 6.4 |" in part(page, "Time on a GPU")
    assert part(results_page(seeds([1.0], [0.5])), "Time on a GPU") == ""
