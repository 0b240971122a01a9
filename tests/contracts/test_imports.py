"""Layers of the package: module-level imports point downwards, and cheap imports stay cheap."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

import anysize

PACKAGE = Path(anysize.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))

LEVELS = (
    (
        "_errors",
        "_registry",
        "_sklearn",
        "_files",
        "_schema",
        "_log",
        "_memory",
        "_unpack",
        "_text",
        "_typing",
        "_progress",
        "_html",
        "graphs",
        "patterns",
    ),
    ("causal", "io", "executors", "counting", "metrics", "splits"),
    ("nn", "training"),
    ("kernels", "methods", "estimators"),
    ("evaluation", "shift", "plots", "networks"),
    ("cli",),
    ("paper", "__main__"),  # the library never imports the paper
)
LEVEL = {name: level for level, names in enumerate(LEVELS) for name in names}
# third-party packages that may be imported at module level, from this level upwards
THIRD_PARTIES = (
    {"numpy", "scipy"},
    set(),
    {"torch", "torch_geometric"},
    {"sklearn", "threadpoolctl"},
    {"pandas", "matplotlib", "joblib"},
    {"typer", "rich", "click"},
    set(),
)
COUNTING_ONLY = {"numba", "llvmlite"}


def unit(file: Path) -> str:
    """The entry of `LEVELS` that a file belongs to."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


def module_level(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run when the module is imported, not those in functions or under TYPE_CHECKING."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += node.orelse
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting += ast.iter_child_nodes(node)


def imported(source: str) -> set[str]:
    """Full names of the modules (or of what is taken from them) that a source imports at module level."""
    names: set[str] = set()
    for node in module_level(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            assert node.level == 0, "imports must be absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def violations(name: str, source: str) -> list[str]:
    """The imports that a file of this entry must not have."""
    level = LEVEL[name]
    allowed = set().union(*THIRD_PARTIES[: level + 1]) | (COUNTING_ONLY if name == "counting" else set())
    wrong = []
    for full in imported(source):
        top, _, rest = full.partition(".")
        if top == "anysize":
            other = rest.partition(".")[0]
            if LEVEL.get(other, -1 if other.startswith("__") else len(LEVELS)) > level:
                wrong.append(f"{name} (level {level}) imports {full} from above")
        elif top not in sys.stdlib_module_names and top not in allowed:
            wrong.append(f"{name} (level {level}) imports {full} at module level")
    return wrong


def test_every_file_has_a_level() -> None:
    assert len(FILES) > 20
    assert {unit(file) for file in FILES} - {"__init__"} <= set(LEVEL)


@pytest.mark.parametrize("file", [f for f in FILES if unit(f) != "__init__"], ids=lambda f: f"{f.parent.name}.{f.stem}")
def test_imports_point_downwards(file: Path) -> None:
    assert violations(unit(file), file.read_text()) == []


def test_every_public_name_has_a_module() -> None:
    assert sorted(anysize._HOME) == sorted(set(anysize.__all__) - {"__version__"})
    for name in anysize.__all__:
        assert getattr(anysize, name) is not None


def test_the_package_itself_imports_nothing_but_the_standard_library() -> None:
    assert {name.partition(".")[0] for name in imported((PACKAGE / "__init__.py").read_text())} <= set(
        sys.stdlib_module_names
    )


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("graphs", "from anysize.io import read", True),
        ("graphs", "from anysize import counting", True),
        ("graphs", "import anysize.cli", True),
        ("counting", "from anysize import __version__", False),
        ("graphs", "def f():\n    from anysize.io import read", False),
        ("graphs", "if TYPE_CHECKING:\n    from anysize.io import read", False),
        ("graphs", "try:\n    import pandas\nexcept ImportError:\n    pass", True),
        ("graphs", "class A:\n    import torch", True),
        ("counting", "import numba.core", False),
        ("io", "from numba import njit", True),
        ("training", "import torch, numpy", False),
        ("counting", "import torch", True),
        ("cli", "import rich.table, pandas", False),
        ("cli", "from anysize.paper.tasks import TASKS", True),
        ("paper", "from anysize.evaluation.evaluate import evaluate", False),
    ],
)
def test_upward_imports_are_noticed(name: str, source: str, wrong: bool) -> None:
    assert bool(violations(name, source)) == wrong


# ---- fresh interpreters ----------------------------------------------------------------------------


def run(code: str) -> str:
    """The output of a fresh interpreter in which warnings are errors."""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


HEAVY = ("torch", "numba", "llvmlite", "scipy", "pandas", "networkx", "sklearn", "matplotlib", "igraph", "ray")


def test_importing_the_package_loads_nothing_heavy() -> None:
    loaded = run(f"import sys, anysize; print([name for name in {HEAVY} if name in sys.modules])")
    assert loaded.strip() == "[]"


@pytest.mark.parametrize(
    "module", ["counting.api", "counting.counts", "io.read", "patterns.pattern", "graphs.graphset"]
)
def test_no_module_loads_numba_before_it_counts(module: str) -> None:
    names = tuple(name for name in HEAVY if name != "scipy")
    loaded = run(f"import sys, anysize.{module}; print([name for name in {names} if name in sys.modules])")
    assert loaded.strip() == "[]"


def test_tables_are_read_where_numba_is_missing(tmp_path: Path) -> None:
    house = nx.house_graph()
    nx.set_node_attributes(house, dict(enumerate("CNCOC")), "atom")
    counts = anysize.count(house, (3, 4), color="atom")
    counts.save(tmp_path / "table.npz")
    output = run(
        "import sys; sys.modules['numba'] = None; sys.modules['llvmlite'] = None\n"
        "import anysize\n"
        f"counts = anysize.Counts.load({str(tmp_path / 'table.npz')!r})\n"
        "for over in ('subsets', 'maps', 'connected'):\n"
        "    print(counts.densities(over).toarray().tolist())\n"
        "print([pattern.name for pattern in counts.patterns])\n"
    )
    expected = [counts.densities(over).toarray().tolist() for over in ("subsets", "maps", "connected")]
    assert output.splitlines() == [*map(str, expected), str([pattern.name for pattern in counts.patterns])]
