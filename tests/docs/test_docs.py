"""The manual tells the truth: its code runs, its links lead somewhere, its results are those of the records."""

from __future__ import annotations

import ast
import re
import runpy
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from learned import labeled
from pages import LANGUAGES, PAGES, ROOT, Page, blocks, checked, commands, parsed

from anysize.cli.shared import parse_settings, split_names
from anysize.evaluation.store import RecordStore
from anysize.paper.front_table import between_marks, front_table
from anysize.paper.plan import make_plan
from anysize.paper.results_page import appendix_page, results_page
from anysize.paper.tables import paper_grid_size
from anysize.paper.ties import ties_section

RECORDS = ROOT / "results" / "records"
MAX_WIDTH = 80  # of a line of code in the manual's column
EXAMPLES = sorted(path.name for path in (ROOT / "examples").glob("*.py"))


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_the_manual_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    state = Page(page.name)
    for block in blocks(page):
        state.run(block)


def test_the_ways_from_file_to_result_are_short() -> None:
    ways = [block.code for block in blocks(ROOT / "docs" / "your-graphs.md") if "import anysize" in block.code]
    assert len(ways) == 3
    assert all(len(ast.parse(code).body) < 10 for code in ways)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_reader_sees_all_that_is_run_at_the_full_width(page: Path) -> None:
    """No set-up in comments, and no line that the column of the manual cuts off."""
    assert "<!-- before" not in page.read_text(encoding="utf-8")
    for block in blocks(page):
        wide = [line for line in block.code.splitlines() if len(line) > MAX_WIDTH]
        assert not wide, f"{block}: {wide[0]!r} has more than {MAX_WIDTH} characters"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_says_what_it_is(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block}: {block.language!r}, and not one of {sorted(LANGUAGES)}"
        if block.language == "text":
            assert not re.match(r"(\$ )?(anysize|make|pip|python) ", block.code), f"{block}: these are commands"
    text = page.read_text(encoding="utf-8")
    assert text.count("<!-- not run:") == sum(bool(block.reason) for block in blocks(page)), "a mark without a block"
    assert len(re.findall(r"^ *```", text, re.M)) % 2 == 0


# ---- the tests of the test ---------------------------------------------------------------------------


def page_of(folder: Path, text: str) -> Path:
    file = folder / "page.md"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_page_is_run_in_order_and_in_one_namespace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "```python\na = 1\n```\n```python\na += 1\n```\n\n"
        '=== "tab"\n\n    ```python\n    assert a == 2\n    ```\n\n<!-- not run: no time -->\n```python\n1 / 0\n```\n'
    )
    listed = blocks(page_of(tmp_path, text))
    assert [(block.line, block.language, block.reason) for block in listed] == [
        (1, "python", ""), (4, "python", ""), (10, "python", ""), (15, "python", "no time"),
    ]  # fmt: skip
    state = Page("page.md")
    for block in listed:
        state.run(block)
    assert state.names["a"] == 2


def test_commands_are_run_in_the_folder_that_cd_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "```bash\nanysize demo demo\ncd demo\n```\n```python\nopen('friends.csv').close()\n```\n"
    state = Page("page.md")
    for block in blocks(page_of(tmp_path, text)):
        state.run(block)
    assert Path.cwd() == tmp_path / "demo"


@pytest.mark.parametrize(
    "text",
    [
        "```python\nassert False\n```",
        "```python\n>>> 1 + 1\n3\n```",
        "```bash\nanysize patterns 99\n```",
        "```bash\nrm -r nothing\n```",
        "```bash\nmake nothing\n```",
        "```bash\npip install 'anysize[nothing]'\n```",
        "```bash\npython examples/nothing.py\n```",
        "```bash\nanysize paper nothing\n```",
        "```bash\nanysize sweep table1\n```",
        "```console\n$ anysize patterns 3\na dodecahedron\n```",
        "<!-- not run: whatever -->\n```bash\nanysize paper sweep table1 --nothing\n```",
        "<!-- not run: whatever -->\n```python\nthis is no Python\n```",
    ],
)
def test_what_is_wrong_is_found(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = blocks(page_of(tmp_path, text))
    with pytest.raises((AssertionError, SyntaxError)):
        Page("page.md").run(block)


def test_commands_of_a_console_come_with_their_output(tmp_path: Path) -> None:
    (block,) = blocks(page_of(tmp_path, "```console\n$ anysize a \\\n  b  # why\none\n...\n$ anysize c\n```"))
    assert list(commands(block)) == [(["anysize", "a", "b"], ["one"]), (["anysize", "c"], [])]


# ---- examples, links, places -------------------------------------------------------------------------


def arguments(name: str, folder: Path) -> list[str]:
    """What an example is called with; one that is not here is called with nothing."""
    if name == "count_molecules.py":
        graphs = labeled(12, sizes=(8, 9, 10))
        graphs.with_y(np.arange(12) % 2).to_tu(folder, "SMALL")
        return [str(folder / "SMALL")]
    return [str(RECORDS), str(folder / "results.svg")] if name.startswith("draw_") else []


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_runs(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, *arguments(name, tmp_path)])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(ROOT / "examples" / name), run_name="__main__")
    assert capsys.readouterr().out.strip()
    if name.startswith("draw_"):
        assert "<svg" in (tmp_path / "results.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("*/README.md"), *ROOT.glob("C*.md")], ids=lambda page: page.name)
def test_every_link_within_the_repository_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|href)="([^"]+)"', text):
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            continue
        assert (page.parent / target.partition("#")[0]).exists(), f"{page.name} links to {target}"


def test_the_site_has_every_page_once() -> None:
    listed = re.findall(r"([\w/-]+\.md)\s*$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)
    assert sorted(listed) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def test_the_architecture_has_a_place_for_every_module() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text[text.index("| level") : text.index("`import anysize` imports nothing heavy")]
    units = {
        path.stem for path in (ROOT / "src" / "anysize").iterdir() if path.suffix == ".py" or any(path.glob("*.py"))
    }
    listed = {name.strip("/") for name in re.findall(r"`([a-z_]+/?)`", table)}
    assert listed == units - {"__init__", "__pycache__", "__main__"}


def test_the_architecture_names_files_and_what_is_in_them() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_/]+\.py): (\w+)(?:\.\w+)*`", text)
    assert len(named) > 10
    for file, name in named:
        code = (ROOT / "src" / "anysize" / file).read_text(encoding="utf-8")
        assert re.search(rf"^(def |class )?{name}\b", code, re.M), f"{file} has no {name}"


def test_the_glossary_names_files_and_tests_that_exist() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    table = text[text.index("| in the paper") : text.index("Terms of this package")].splitlines()[2:]
    rows = [[re.findall(r"`([\w/]+\.py)`", cell) for cell in line.split(" | ")[-2:]] for line in table if line]
    assert len(rows) > 30
    for files, tests in rows:
        assert files
        assert len(tests) == 1
        for name in files:
            assert (ROOT / "src" / "anysize" / name).is_file() or (ROOT / name).is_file(), name
        assert (ROOT / "tests" / tests[0]).is_file(), tests[0]


def test_the_reference_names_things_that_exist() -> None:
    for page in PAGES:
        for name in re.findall(r"^::: (\S+)$", page.read_text(encoding="utf-8"), re.M):
            home, value = name, None
            while value is None and "." in home:
                try:
                    value = __import__(home, fromlist=["_"])
                except ModuleNotFoundError:
                    home = home.rpartition(".")[0]
            for part in name[len(home) + 1 :].split(".") if name != home else []:
                assert hasattr(value, part), f"{page.name}: {name}"
                value = getattr(value, part)


@pytest.mark.parametrize("file", ["CONTRIBUTING.md", "results/README.md", "benchmarks/README.md"])
def test_commands_of_other_pages_are_understood(file: str) -> None:
    for block in blocks(ROOT / file):
        if block.language == "bash":
            for words, _ in commands(block):
                where = f"{file}, line {block.line}: {' '.join(words)}"
                if words[0] == "anysize":
                    parsed(words[1:], where)
                else:
                    assert checked(words, where), f"{where}: what is this?"


# ---- results -----------------------------------------------------------------------------------------

NUMBER = re.compile(r"[±+-]?\d+\.\d+")


def same(one: str, two: str) -> bool:
    """Equal texts, but for the last digit of a number: rounding may differ between processors."""
    values = [[float(number.lstrip("±")) for number in NUMBER.findall(text)] for text in (one, two)]
    return NUMBER.sub("", one) == NUMBER.sub("", two) and all(abs(a - b) < 0.011 for a, b in zip(*values, strict=True))


@pytest.fixture(scope="module")
def records() -> list:
    return list(RecordStore(RECORDS).read(curves=False))


@pytest.mark.parametrize(("name", "make"), [("results.md", results_page), ("results-appendix.md", appendix_page)])
def test_the_pages_of_results_are_made_from_the_records(records: list, name: str, make: Callable) -> None:
    written = (ROOT / "docs" / name).read_text(encoding="utf-8")
    made = make(records, paper_grid_size)
    for number, (one, two) in enumerate(zip(written.splitlines(), made.splitlines(), strict=False), 1):
        assert same(one, two), f"docs/{name} is stale from line {number} on: make results\n{one}\n{two}"
    assert len(written.splitlines()) == len(made.splitlines()), f"docs/{name} is stale: make results"


def test_the_table_of_the_front_page_is_made_from_the_records(records: list) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert same(readme, between_marks(readme, front_table(records))), "the table of README.md is stale: make results"


def test_the_page_on_ties_is_made_from_the_records(records: list) -> None:
    page = (ROOT / "docs" / "why-published-numbers-differ.md").read_text(encoding="utf-8")
    assert same(page, between_marks(page, ties_section(records))), "its tables are stale: make results"
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for row, quoted in {"GIN": "68 from .33 to .69 (GIN on", "Γ RPGIN": "39 from .44 to .95 (Γ RPGIN on"}.items():
        count, low, high = re.match(r"(\d+) from (\S+) to (\S+) ", quoted).groups()  # type: ignore[union-attr]
        assert quoted in page.replace("\n  ", " ")
        assert f"{count} tie, 0{low} to 0{high}<br>" in "".join(re.findall(rf"^\| {row} \|.*$", results, re.M))


def test_kernels_on_the_tu_sets_are_those_of_the_results() -> None:
    draws = re.findall(
        r"^\| (WL, padded|WL kernel|GC kernel) \| (\w+) \| (?:[\d.]*) ?\| (\S+) \|", text_lines("results.md"), re.M
    )
    means = {(kernel, task): float(mean) for kernel, task, mean in draws}
    assert len(means) == 12
    rows = re.findall(r"^\| (NCI1|NCI109|PROTEINS|DD) \| (.*) \|$", text_lines("kernels.md"), re.M)
    for task, cells in rows:
        _, padded, exact, _, graphlet = (float(cell.split(",")[0]) for cell in cells.split(" | "))
        assert (padded, exact, graphlet) == tuple(
            means[kernel, task] for kernel in ("WL, padded", "WL kernel", "GC kernel")
        )
    assert len(rows) == 4


def text_lines(name: str) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def text_of(name: str) -> str:
    """A page with single spaces in place of line breaks."""
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def test_epochs_that_tie_are_those_of_the_records(records: list) -> None:
    runs = [record for record in records if (record.method, record.recipe) == ("gamma-gin", "paper")]
    tasks = [[run for run in runs if run.task == task] for task in ("sbm-20", "sbm-14-20", "sbm-20-30")]
    ties = [round(float(np.median([run.tied_epochs for run in task]))) for task in tasks]
    first = [round(float(np.median([run.chosen.epoch for run in task]))) for task in tasks]
    recipes = text_of("docs/recipes.md")
    assert "{}, {} and {} of 500 in the median run".format(*ties) in recipes
    assert "at epoch {}, {} and {}.".format(*first) in recipes


def test_scores_on_simulated_brain_networks_are_those_of_the_results() -> None:
    rows = re.findall(r"Table 1 \| Γ (\S+), (\w+) recipe \| 3 \| ([\d.]+)", text_of("docs/results.md"))
    means = {(method, recipe): float(mean) for method, recipe, mean in rows}
    quoted = re.search(
        r"Gamma_GIN has (\S+) and Gamma_RPGIN (\S+) under the paper's recipe, (\S+) and (\S+) under the robust one; "
        r"Gamma_1-hot, whose patterns pass no batch norm, has (\S+) and (\S+)\.",
        text_of("docs/trust.md"),
    )
    assert quoted is not None
    keys = [*product(("paper", "robust"), ("GIN", "RPGIN")), ("paper", "1-hot"), ("robust", "1-hot")]
    expected = [means[method, recipe] for recipe, method in keys]
    assert [float(number) for number in quoted.groups()] == pytest.approx(expected, abs=0.0051)


def league_means(part: str) -> dict[str, str]:
    """Mean score of every method in one part of the league's page, the best one first."""
    page = (ROOT / "docs" / "league.md").read_text(encoding="utf-8")
    section = page.partition(f"\n## {part}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:2] == "| "]
    return {method: mean for method, mean, *_ in rows[1:] if mean}


def test_scores_of_the_league_are_those_of_its_page() -> None:
    titles = "From small to large", "From large to small", "Planted motifs", "Numbers, from small to large"
    up, down, motifs, numbers = map(league_means, titles)
    (first, second), best_down = list(up)[:2], next(iter(down))
    assert first == next(iter(motifs)) == "auto"
    front = text_of("README.md")
    assert f"the default has the highest mean MCC, {up['auto']}, then `{second}` {up[second]};" in front
    assert f"from large to small (13) it has {down['auto']}, and `{best_down}` {down[best_down]}." in front
    assert f"the default has a mean accuracy of {motifs['auto']}, Gamma models {motifs['gamma-gin']}" in front
    assert f"pattern forests {motifs['patterns-forest']}, PNA {motifs['pna-mean']}." in front
    assert f"`sizemix` takes off {numbers['sizemix']}, the Weisfeiler-Lehman kernel {numbers['wl-kernel']}," in front
    assert f"the best GNN {numbers['gin-mean']}, the size alone {numbers['size-only']}." in front


def test_every_record_comes_from_a_command_that_is_written_down(records: list) -> None:
    known: set[str] = set()
    for block in blocks(ROOT / "results" / "README.md"):
        for words, _ in commands(block):
            assert words[:3] == ["anysize", "paper", "sweep"]
            given = parsed(words[1:], " ".join(words))
            plan = make_plan(
                given["targets"], split_names(given["methods"]),
                grid=None if given["grid"] is None else given["grid"].value, seeds=given["seeds"], data=given["data"],
                recipe=given["recipe"].value, settings=parse_settings(given["settings"]), device="cpu",
            )  # fmt: skip
            known.update(run_key for batch in plan.batches for run_key in batch.keys)
    strangers = [record for record in records if record.key not in known]
    assert not strangers, f"results/README.md has no command for {strangers[0].method} on {strangers[0].task}"
