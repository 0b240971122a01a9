"""`anysize compile`: compile all kernels ahead, for images and for machines that many people use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Annotated

import typer

from anysize.cli.shared import console, handle_errors

Job = tuple[str, Callable[[], object]]


def compile(
    which: Annotated[
        list[str] | None, typer.Argument(help="Engines, sample, orbits or motifs; default: all of them.")
    ] = None,
) -> None:
    """Compile the kernels of counting, orbits and motifs ahead for this machine, once: a minute or two."""
    with handle_errors():
        groups: dict[str, list[Callable[[], object]]] = {}
        for name, run in jobs():
            groups.setdefault(name, []).append(run)
        for name in which or ():
            if name not in groups:
                raise ValueError(f"kernels are those of {', '.join(groups)}; got {name!r}")
        began = perf_counter()
        for name in which or groups:
            console.print(f"{name} ...")
            for run in groups[name]:
                run()
        console.print(f"Compiled; it took {perf_counter() - began:.0f} s.")
        from anysize.counting.engines import oriented
        from anysize.counting.engines.kernel_cache import folder_of

        console.print(
            f"New kernels are in {folder_of(oriented.triangles_of_edges)}, for processors of this model.",
            soft_wrap=True,
        )


def jobs() -> Iterator[Job]:
    """Small counts that use every kernel once: each engine, and each number of colors that it is compiled for."""
    from anysize import count, motifs, orbits
    from anysize.counting.engines import bitset, flip, flip_sparse
    from anysize.graphs.graphset import GraphSet

    def wheel(n: int, colors: int = 0) -> GraphSet:
        edges = [(0, v) for v in range(1, n)] + [(v, v + 1) for v in range(1, n - 1)]
        return GraphSet.from_edges(edges, colors=[v % colors for v in range(n)] if colors else None)

    for words in bitset.WIDTHS:
        yield "bitset", partial(count, wheel(64 * (words or 9)), 5, engine="bitset")
    for k in (3, 4, 5):
        yield "sparse", partial(count, wheel(20), k, engine="sparse")
    for name, compiled in (("flip", flip.COLORS), ("flip_sparse", flip_sparse.COLORS)):
        for k, numbers in compiled.items():
            for colors in numbers:
                graph = wheel(20, 0 if colors == 1 else colors)
                yield name, partial(count, graph, k, engine=name)
    for graph, k in ((wheel(30), 4), (wheel(9), 7), (wheel(9, 2).with_palette(range(65536)), 4)):
        yield "enumerate", partial(count, graph, k, engine="enumerate")
    for graph in (wheel(20), wheel(20, 3)):
        yield "sample", partial(count, graph, 5, engine="sample", samples=1000)
    arrows = GraphSet.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 2)], edge_colors=[0, 1, 0, 1, 1], directed=True)
    yield "typed", partial(count, arrows, 3, edges=True)
    for k in (3, 4, 5):
        for per in ("vertex", "edge"):
            yield "orbits", partial(orbits, wheel(20), k, per=per)
    for per in ("vertex", "edge"):
        yield "orbits", partial(orbits, wheel(20, 3), 3, per=per)
        yield "orbits", partial(orbits, arrows, 3, edges=True, per=per)
    for null, graph in (
        ("degrees", wheel(20)),
        ("stubs", GraphSet.from_edges([(0, 1), (1, 2)])),
        ("colors", wheel(9, 2)),
        ("degrees", arrows),
    ):
        yield "motifs", partial(motifs, graph, 3, null=null, samples=2)
