"""The causal model: what a draw holds, twins, and densities that agree across sizes at the rate they should."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import anysize as az
from anysize.causal.coloring import Coloring
from anysize.causal.environments import CausalSample
from anysize.causal.graphons import balanced_density

TRAIN_COLORS = [{"red": 0.9, "blue": 0.1}, {"green": 0.9, "yellow": 0.1}]
TEST_COLORS = [{"red": 0.1, "blue": 0.9}, {"green": 0.1, "yellow": 0.9}]
SBM = (az.BlockModel(within=(0.2, 0.2), between=0.1), az.BlockModel(within=(0.2, 0.2), between=0.3))
LOPSIDED = az.BlockModel(within=(0.6, 0.2), between=0.3, shares=(0.4, 0.6))
SMOOTH = az.SmoothGraphon(lambda u, v: 0.1 + 0.7 * u * v)


def sbm(n=50, seed=0, blocks="iid", sizes=(20,)):
    return az.sample_graphs(SBM, az.Environment(sizes=sizes, colors=TRAIN_COLORS, blocks=blocks), n, seed)


# ---- what a draw holds -----------------------------------------------------------------------------


def test_a_sample_is_a_graph_set_with_labels_and_what_is_hidden():
    graphs = sbm(sizes=(14, 20))
    assert isinstance(graphs, az.GraphSet)
    assert graphs.palette == ("blue", "green", "red", "yellow")
    assert set(graphs.y) == {0, 1}
    assert (graphs.sizes == np.array([14, 20])[graphs.environments]).all()
    assert set(graphs.environments) == {0, 1}
    assert len(graphs.hidden) == len(graphs.blocks) == graphs.sizes.sum()
    assert (graphs.blocks == (graphs.hidden >= 0.5)).all()
    assert az.count(graphs, 3).shape[0] == 50


def test_slices_keep_what_is_hidden():
    graphs = sbm(sizes=(14, 20))
    for key in (slice(10, 20), [3, -1, 7], graphs.y == 1, 4):
        part = graphs[key]
        rows = np.atleast_1d(np.arange(50)[key])
        assert isinstance(part, CausalSample)
        assert part.equals(az.GraphSet.concatenate([graphs[int(row)] for row in rows]).with_palette(graphs.palette))
        assert (part.environments == graphs.environments[rows]).all()
        vertices = np.concatenate([np.arange(graphs.first[r], graphs.first[r + 1]) for r in rows])
        assert (part.hidden == graphs.hidden[vertices]).all()
        assert (part.blocks == graphs.blocks[vertices]).all()
    assert isinstance(graphs.without_colors(), CausalSample)


def test_the_same_seed_gives_the_same_data(monkeypatch):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    one, two, other = sbm(seed=7), sbm(seed=7), sbm(seed=8)
    assert one.equals(two)
    assert (one.hidden == two.hidden).all()
    assert not one.equals(other)
    assert one.equals(sbm(seed=np.random.default_rng(7)))
    monkeypatch.setattr("anysize.causal.environments.MAX_PAIRS_IN_MEMORY", 7)
    assert one.equals(sbm(seed=7))
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


def test_edges_follow_the_graphon():
    env = az.Environment(sizes=(1, 12))
    for p, share in ((0.0, 0), (1.0, 1)):
        graphs = az.sample_graphs(az.ErdosRenyi(p), env, 10, seed=0)
        assert (graphs.edge_counts == share * graphs.sizes * (graphs.sizes - 1) // 2).all()
    cliques = az.sample_graphs(az.BlockModel(within=(1, 1), between=0), az.Environment(sizes=(9,)), 5, seed=0)
    for g, graph in enumerate(cliques):
        block = cliques[g].blocks
        linked = {tuple(edge) for edge in graph.edges().tolist()}
        assert linked == {(u, v) for v in range(9) for u in range(v) if block[u] == block[v]}


def test_edges_are_independent_given_the_hidden_variables():
    """Edge frequencies of one graphon, per pair of positions: p each, and uncorrelated."""
    graphs = az.sample_graphs(az.ErdosRenyi(0.3), az.Environment(sizes=(4,)), 20_000, seed=1)
    pairs = {(u, v): place for place, (u, v) in enumerate((u, v) for v in range(4) for u in range(v))}
    source = np.repeat(np.arange(len(graphs.degrees)), graphs.degrees)
    owner, local = np.repeat(np.arange(20_000), 4)[source], source % 4
    table = np.zeros((20_000, 6))
    for g, u, v in zip(owner, local, graphs.indices.astype(int), strict=True):
        if u < v:
            table[g, pairs[u, v]] = 1
    assert np.abs(table.mean(axis=0) - 0.3).max() < 4 * np.sqrt(0.21 / 20_000)
    correlation = np.corrcoef(table.T) - np.eye(6)
    assert np.abs(correlation).max() < 4 / np.sqrt(20_000)


def test_colors_are_a_function_of_environment_block_and_position():
    graphs = sbm(400)
    position = graphs.hidden * 2 % 1
    names = np.array(graphs.palette)[graphs.colors]
    first, rest = position < 0.9, graphs.blocks == 0
    expected = np.where(rest, np.where(first, "red", "blue"), np.where(first, "green", "yellow"))
    assert (names == expected).all()
    assert np.mean(names[rest] == "red") == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("cut", [0.5, 0.3])
def test_colors_are_those_of_the_example_in_the_paper(cut):
    """SBM with vertex attributes: W(u, u) tells block and position, alpha_1 and alpha_2 divide each half of [0, 1]."""
    model = az.BlockModel(matrix=[[0.2, 0.1], [0.1, 0.2]], shares=[cut, 1 - cut])
    for red, green in ((0.9, 0.9), (0.1, 0.25)):
        colors = [{"red": red, "blue": 1 - red}, {"green": green, "yellow": 1 - green}]
        graphs = az.sample_graphs(model, az.Environment(sizes=(20, 30), colors=colors), 50, seed=1)
        u = graphs.hidden
        diagonal = np.where(u < cut, u / (2 * cut), 0.5 + (u - cut) / (2 * (1 - cut)))
        ends = [red / 2, 0.5, 0.5 + green / 2]
        expected = np.array(["red", "blue", "green", "yellow"])[np.searchsorted(ends, diagonal, side="right")]
        assert (np.array(graphs.palette)[graphs.colors] == expected).all()


def test_colors_can_follow_intervals_of_a_smooth_graphon():
    env = az.Environment(sizes=(30,), colors=[{"low": 0.25, "high": 0.75}])
    graphs = az.sample_graphs(SMOOTH, env, 20, seed=0)
    names = np.array(graphs.palette)[graphs.colors]
    assert ((names == "low") == (graphs.hidden < 0.25)).all()


def test_balanced_blocks_are_exact_and_come_block_after_block():
    graphs = sbm(blocks="balanced", sizes=(15, 20))
    for graph in graphs:
        size = int(graph.sizes[0])
        assert graph.blocks.tolist() == [0] * ((size + 1) // 2) + [1] * (size // 2)
        assert ((graph.hidden >= 0.5) == (graph.blocks == 1)).all()


def test_independent_blocks_vary_in_size():
    share = np.add.reduceat(sbm(2000).blocks, np.arange(0, 40_000, 20)) / 20
    assert share.mean() == pytest.approx(0.5, abs=0.01)
    assert share.std() == pytest.approx(np.sqrt(0.25 / 20), rel=0.1)


def test_classes_and_sizes_follow_their_shares():
    env = az.Environment(sizes=(3, 5), weights=(0.25, 0.75))
    graphs = az.sample_graphs([az.ErdosRenyi(p) for p in (0.2, 0.5, 0.8)], env, 4000, 0, class_shares=(0.5, 0.5, 0.0))
    assert np.bincount(graphs.y, minlength=3)[2] == 0
    assert np.mean(graphs.y) == pytest.approx(0.5, abs=0.03)
    assert np.mean(graphs.sizes == 5) == pytest.approx(0.75, abs=0.03)


def test_one_graphon_needs_no_list():
    assert az.sample_graphs(az.ErdosRenyi(0.5), az.Environment(sizes=[4]), 3, 0).y.tolist() == [0, 0, 0]


# ---- twins -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("train_sizes", "test_sizes"), [((20,), (40,)), ((14, 30), (20,)), ((40,), (40,))])
def test_twins_share_everything_but_the_environment(train_sizes, test_sizes):
    train = az.Environment(sizes=train_sizes, colors=TRAIN_COLORS)
    test = az.Environment(sizes=test_sizes, colors=TEST_COLORS)
    twins = az.sample_twins(SBM, train, test, 30, seed=3)
    assert len(twins) == 30
    assert (twins.train.y == twins.test.y).all()
    changed = 0
    for one, two, shared in zip(twins.train, twins.test, twins.shared, strict=True):
        assert shared == min(one.sizes[0], two.sizes[0])
        assert (one.hidden[:shared] == two.hidden[:shared]).all()
        assert (one.blocks[:shared] == two.blocks[:shared]).all()
        edges = [[e for e in g.edges().tolist() if max(e) < shared] for g in (one, two)]
        assert edges[0] == edges[1]
        changed += np.sum(np.array(one.color_names()[:shared]) != np.array(two.color_names()[:shared]))
    assert 0.7 < changed / twins.shared.sum() < 0.9  # a position in [.1, .9) changes its color: four in five


def test_colors_of_twins_agree_where_they_do_not_depend_on_the_environment():
    train, test = (az.Environment(sizes=(size,), colors=TRAIN_COLORS) for size in (20, 40))
    twins = az.sample_twins(SBM, train, test, 30, seed=3)
    for one, two in zip(twins.train, twins.test, strict=True):
        assert one.color_names() == two.color_names()[:20]


def test_each_twin_alone_is_a_draw_of_the_model():
    twins = az.sample_twins(SBM, az.Environment(sizes=(10,)), az.Environment(sizes=(16,)), 3000, seed=0)
    for graphs in (twins.train, twins.test):
        for y, model in enumerate(SBM):
            own = graphs[graphs.y == y]
            density = az.count(own, 3).densities().toarray()
            expected = [model.expected_density(pattern) for pattern in az.connected_patterns(3)]
            assert np.abs((density.mean(axis=0) - expected) / density.std(axis=0) * np.sqrt(len(own))).max() < 4


# ---- label noise, distributions over W, and free colors --------------------------------------------


def test_label_noise_changes_labels_and_nothing_else():
    env = az.Environment(sizes=(6,))
    classes = [az.ErdosRenyi(p) for p in (0.2, 0.5, 0.8)]
    clean, noisy = (az.sample_graphs(classes, env, 6000, 4, label_noise=noise) for noise in (None, 0.3))
    assert (clean.y == clean.classes).all()
    assert (noisy.classes == clean.y).all()
    assert noisy.with_y(clean.y).equals(clean)
    table = np.array([[np.mean(noisy.y[noisy.classes == c] == y) for y in range(3)] for c in range(3)])
    expected = [[0.7 if y == c else 0.15 for y in range(3)] for c in range(3)]
    assert np.abs(table - expected).max() < 4.5 * np.sqrt(0.25 / 2000)
    assert (noisy[10:20].classes == noisy.classes[10:20]).all()


def test_label_noise_as_a_matrix_of_probabilities():
    matrix = [[0.9, 0.1], [0.0, 1.0], [0.4, 0.6]]  # three classes, two labels
    graphs = az.sample_graphs([az.ErdosRenyi(p) for p in (0.2, 0.5, 0.8)], GOOD, 6000, 5, label_noise=matrix)
    table = [np.mean(graphs.y[graphs.classes == c]) for c in range(3)]
    assert np.abs(np.array(table) - [0.1, 1.0, 0.6]).max() < 4.5 * np.sqrt(0.25 / 2000)
    assert table[1] == 1
    twins = az.sample_twins(SBM, az.Environment((10,)), az.Environment((20,)), 200, 0, label_noise=0.4)
    assert (twins.train.y == twins.test.y).all()  # Z_Y is shared too
    assert 0.3 < np.mean(twins.train.y != twins.train.classes) < 0.5


def test_every_graph_has_a_graphon_of_its_own():
    """P(W): p is uniform on [0, .4] or [.6, 1]; the number of edges is then a mixture of binomials."""
    classes = [
        az.GraphonDistribution(lambda rng: az.ErdosRenyi(rng.uniform(0.0, 0.4))),
        az.GraphonDistribution(lambda rng: az.ErdosRenyi(rng.uniform(0.6, 1.0))),
    ]
    graphs = az.sample_graphs(classes, az.Environment(sizes=(15,)), 3000, seed=1)
    p = np.array([graphon.p for graphon in graphs.graphons])
    assert ((p > 0.5) == (graphs.y == 1)).all()
    assert len(set(p.tolist())) == 3000
    z = (graphs.edge_counts - 105 * p) / np.sqrt(105 * p * (1 - p))  # given W
    assert abs(z.mean()) < 4.5 / np.sqrt(3000)
    assert abs(z.var() - 1) < 0.12
    low = graphs[graphs.y == 0]
    assert low.edge_counts.mean() == pytest.approx(105 * 0.2, rel=0.05)
    variance = 105 * (0.2 - 0.04 - 0.16 / 12) + 105**2 * 0.16 / 12  # of the mixture: E var + var E
    assert low.edge_counts.var() == pytest.approx(variance, rel=0.1)
    assert [graphs[7].graphons, graphs[[3, 5]].graphons] == [
        graphs.graphons[7:8],
        (graphs.graphons[3], graphs.graphons[5]),
    ]


def test_fixed_graphons_and_distributions_can_be_mixed_and_twins_share_w():
    classes = [SBM[0], az.GraphonDistribution(lambda rng: az.BlockModel(within=(0.2, 0.2), between=rng.random()))]
    train, test = az.Environment((12,), TRAIN_COLORS), az.Environment((20,), TEST_COLORS)
    twins = az.sample_twins(classes, train, test, 40, seed=2)
    assert twins.train.graphons == twins.test.graphons
    assert all((graphon is SBM[0]) == (y == 0) for graphon, y in zip(twins.train.graphons, twins.train.y, strict=True))
    for one, two in zip(twins.train, twins.test, strict=True):
        assert one.edges().tolist() == [edge for edge in two.edges().tolist() if max(edge) < 12]
    balanced = az.sample_graphs(classes, az.Environment((15,), blocks="balanced"), 10, seed=0)
    assert all(graph.blocks.tolist() == [0] * 8 + [1] * 7 for graph in balanced)


def test_colors_that_depend_on_the_size_within_an_environment():
    by_size = {14: TRAIN_COLORS, 20: TEST_COLORS}
    graphs = az.sample_graphs(SBM, az.Environment(sizes=(14, 20), colors=by_size), 300, seed=3)
    for size, colors in by_size.items():
        part = graphs[graphs.sizes == size]
        alone = Coloring.of(colors)
        names = [alone.palette[code] for code in alone.codes(part.blocks, part.hidden * 2 % 1)]
        assert [part.palette[code] for code in part.colors] == names
        red = sum(name == "red" for name in names) / np.sum(part.blocks == 0)
        assert red == pytest.approx(colors[0]["red"], abs=0.05)
    env = az.Environment(sizes=(14, 20), colors=by_size)
    assert env.coloring.at(20) == Coloring.of(TEST_COLORS)


def test_a_free_color_function():
    """Colors from the size, the block and the position, by any rule: here parity of the size, and thirds."""

    def paint(sizes, blocks, positions):
        thirds = np.floor(positions * 3).astype(int)
        return [f"{'even' if n % 2 == 0 else 'odd'}-{b}-{t}" for n, b, t in zip(sizes, blocks, thirds, strict=True)]

    graphs = az.sample_graphs(SBM, az.Environment(sizes=(9, 10), colors=paint), 100, seed=0)
    assert len(graphs.palette) == 12
    for graph in graphs:
        parity = "even" if graph.sizes[0] % 2 == 0 else "odd"
        expected = [f"{parity}-{int(u >= 0.5)}-{int((u * 2 % 1) * 3)}" for u in graph.hidden]
        assert list(graph.color_names()) == expected
    share = np.mean([graphs.palette[code].endswith("0") for code in graphs.colors])
    assert share == pytest.approx(1 / 3, abs=0.06)


# ---- invalid input ---------------------------------------------------------------------------------

GOOD = az.Environment(sizes=(5,))
BALANCED = az.Environment(sizes=(5,), blocks="balanced")
ER = az.ErdosRenyi(0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: az.Environment(sizes=()), "list of numbers of vertices"),
        (lambda: az.Environment(sizes=20), "list of numbers of vertices"),
        (lambda: az.Environment(sizes=(20, 0)), "integers of at least 1; got"),
        (lambda: az.Environment(sizes=(2.5,)), "integers of at least 1; got"),
        (lambda: az.Environment(sizes=(5,), blocks="equal"), "'iid' or 'balanced'; got 'equal'"),
        (lambda: az.Environment(sizes=(5,), weights=(0.5, 0.5)), "expected 1 weights"),
        (lambda: az.Environment(sizes=(5, 6), weights=(0.5, 0.6)), "sum to 1"),
        (lambda: az.Environment(sizes=(5,), colors=["red"]), "one mapping of names to shares"),
        (lambda: az.sample_graphs(ER, GOOD, 0, 0), "at least 1; got 0"),
        (lambda: az.sample_graphs(ER, GOOD, 2.0, 0), "at least 1; got 2.0"),
        (lambda: az.sample_graphs([], GOOD, 2, 0), "expected a graphon, or one per class"),
        (lambda: az.sample_graphs([0.2, 0.8], GOOD, 2, 0), "expected a graphon, or one per class"),
        (lambda: az.sample_graphs([ER, ER], GOOD, 2, 0, class_shares=(1.0,)), "expected 2 class shares"),
        (lambda: az.sample_graphs([ER, ER], GOOD, 2, 0, class_shares=(1.5, -0.5)), "not negative"),
        (lambda: az.sample_graphs(ER, az.Environment((5,), TRAIN_COLORS), 2, 0), "for 2 blocks"),
        (lambda: az.sample_twins(ER, GOOD, BALANCED, 2, 0), "blocks='iid'"),
        (lambda: az.Environment(sizes=(5, 6), colors={5: [{"a": 1.0}]}), "graphs of 6 vertices have none"),
        (lambda: az.sample_graphs([ER, ER], GOOD, 2, 0, label_noise=1.5), "label_noise must be a probability"),
        (lambda: az.sample_graphs(ER, GOOD, 2, 0, label_noise=0.5), "at least two classes"),
        (lambda: az.sample_graphs([ER, ER], GOOD, 2, 0, label_noise=[[1.0]]), "for each of 2 classes"),
        (lambda: az.sample_graphs([ER, ER], GOOD, 2, 0, label_noise=[[1.0, 0.1], [0, 1]]), "sum to 1"),
        (lambda: az.GraphonDistribution(0.5), "needs a function of a random generator"),
        (lambda: az.sample_graphs(az.GraphonDistribution(lambda rng: 0.5), GOOD, 2, 0), "must return a graphon"),
        (lambda: az.sample_graphs(ER, az.Environment((5,), lambda n, b, u: ["x"]), 2, 0), "one color per vertex"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- densities across sizes ------------------------------------------------------------------------

SIZES = (50, 100, 200, 500)
DRAWS = {False: 60, True: 36}
BLOCK_COLORS = [{"a": 0.6, "b": 0.4}, {"b": 0.3, "c": 0.7}]
ONE_BLOCK_COLORS = [{"a": 0.7, "b": 0.3}]


@cache
def deviations(name, colored):
    """Patterns up to 4 vertices, expected densities, and densities (sizes, graphs, patterns)."""
    graphon = {"er": az.ErdosRenyi(0.3), "blocks": LOPSIDED, "smooth": SMOOTH}[name]
    colors = (BLOCK_COLORS if name == "blocks" else ONE_BLOCK_COLORS) if colored else None
    tables = []
    for seed, size in enumerate(SIZES):
        graphs = az.sample_graphs(graphon, az.Environment(sizes=(size,), colors=colors), DRAWS[colored], seed)
        tables.append(az.count(graphs, (1, 2, 3, 4)))
    patterns = az.Counts.concatenate(tables).patterns
    expected = np.array([graphon.expected_density(pattern, colors) for pattern in patterns])
    return patterns, expected, np.stack([table.align(patterns).densities().toarray() for table in tables])


def slopes(deviation):
    """Exponents of N in the root mean square of deviations (sizes, graphs, patterns) -> (patterns,)."""
    size = np.log(SIZES) - np.mean(np.log(SIZES))
    root = np.log(np.sqrt((deviation**2).mean(axis=1)))
    return size @ root / (size @ size)


CASES = [("er", False), ("blocks", False), ("smooth", False), ("er", True), ("blocks", True), ("smooth", True)]


@pytest.mark.parametrize(("name", "colored"), CASES)
def test_densities_of_every_size_have_the_expected_mean(name, colored):
    patterns, expected, table = deviations(name, colored)
    assert len(patterns) == (10 if not colored else {"er": 65, "blocks": 238, "smooth": 65}[name])
    error = table.std(axis=1) / np.sqrt(table.shape[1])
    assert (np.abs(table.mean(axis=1) - expected) <= 4.5 * error + 1e-12).all()
    for one in range(len(SIZES)):  # and so any two sizes agree
        other = (one + 1) % len(SIZES)
        both = np.hypot(error[one], error[other])
        assert (np.abs(table[one].mean(axis=0) - table[other].mean(axis=0)) <= 4.5 * both + 1e-12).all()


def test_deviations_of_erdos_renyi_shrink_as_one_over_n():
    patterns, expected, table = deviations("er", False)
    assert (table[:, :, 0] == 1).all()  # every vertex is a vertex
    slope = slopes((table - expected)[:, :, 1:])
    assert np.abs(slope + 1).max() < 0.15, dict(zip(patterns[1:], slope, strict=True))


@pytest.mark.parametrize("name", ["blocks", "smooth"])
def test_deviations_of_other_graphons_shrink_as_one_over_the_root_of_n(name):
    patterns, expected, table = deviations(name, False)
    slope = slopes((table - expected)[:, :, 1:])
    assert np.abs(slope + 0.5).max() < 0.15, dict(zip(patterns[1:], slope, strict=True))


@pytest.mark.parametrize("name", ["er", "blocks", "smooth"])
def test_colored_deviations_shrink_at_least_as_one_over_the_root_of_n(name):
    """The shares of colors vary like N^-1/2 even in Erdos-Renyi graphs; rare patterns are still faster here."""
    patterns, expected, table = deviations(name, True)
    slope = slopes(table - expected)
    assert slope.max() < -0.5 + 0.2, patterns[int(slope.argmax())]
    largest = np.abs(table - expected).max(axis=2, keepdims=True)  # the norm of Theorem 1
    assert slopes(largest)[0] == pytest.approx(-0.5, abs=0.1)
    shares = [place for place, pattern in enumerate(patterns) if pattern.size == 1]
    assert np.abs(slope[shares] + 0.5).max() < 0.15


def test_a_graphon_of_equal_degrees_is_as_fast_as_a_constant_one():
    """One over N needs no constant graphon: for edges, equal expected degrees are enough."""
    table = []
    for seed, size in enumerate(SIZES):
        graphs = az.sample_graphs(SBM[1], az.Environment(sizes=(size,)), 150, seed)
        table.append(graphs.edge_counts[:, None] / (size * (size - 1) / 2) - 0.25)
    assert slopes(np.stack(table))[0] == pytest.approx(-1, abs=0.12)


def test_balanced_blocks_have_the_finite_mean_not_the_limit():
    env = az.Environment(sizes=(20,), colors=TRAIN_COLORS, blocks="balanced")
    counts = az.count(az.sample_graphs(SBM[1], env, 4000, seed=0), (1, 2, 3))
    table = counts.densities().toarray()
    error = table.std(axis=0) / np.sqrt(len(table))
    expected = np.array([balanced_density(SBM[1], pattern, 20, TRAIN_COLORS) for pattern in counts.patterns])
    assert (np.abs(table.mean(axis=0) - expected) <= 4.5 * error + 1e-12).all()
    limit = np.array([SBM[1].expected_density(pattern, TRAIN_COLORS) for pattern in counts.patterns])
    assert (np.abs(table.mean(axis=0) - limit) / error).max() > 8


def test_colors_that_depend_on_the_environment_keep_a_gap_at_every_size():
    """Negative control: red is .45 of the vertices in training, .05 in test, however large the graphs are."""
    red = az.Pattern.of([], colors=["red"])
    limit = SBM[0].expected_density(red, TRAIN_COLORS) - SBM[0].expected_density(red, TEST_COLORS)
    assert limit == pytest.approx(0.4)
    for size in SIZES:
        train, test = (az.Environment((size,), colors) for colors in (TRAIN_COLORS, TEST_COLORS))
        twins = az.sample_twins(SBM[0], train, test, 10, seed=size)
        for k, constant in ((1, 0.25), (2, 0.005)):
            both = az.count(az.GraphSet.concatenate([twins.train, twins.test]), k).densities().toarray()
            gaps = np.abs(both[:10] - both[10:]).max(axis=1)
            assert gaps.min() > constant
            assert k == 2 or gaps.mean() > 0.9 * limit
