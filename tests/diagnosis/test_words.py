"""What the report says where there is little to go by: each sentence is right for the sets at hand."""

from __future__ import annotations

import pytest
from diagnosis.helpers import blocks, erdos_renyi
from diagnosis.rates import BLOCKS, SHARP, SMALL, TWO, TWO_TURNED, Side, grown

import anysize as az


def told(*arguments: object, **options: object) -> str:
    return " ".join(str(az.diagnose(*arguments, **options)).split())  # type: ignore[arg-type]


def test_three_training_graphs_raise_no_alarm_and_a_warning() -> None:
    text = told(blocks((14, 20), 3, 1), blocks((40,), 30, 2))
    assert "Densities: no shift found" in text
    assert "There are few graphs: a shift that matters could go unseen." in text
    assert "one could go unseen among so few graphs: the attribute penalty stays" in text
    assert "penalty=0" not in text
    assert "The smallest class has only 1 training graph." in text


def test_one_new_graph_is_spoken_of_as_one() -> None:
    text = told(blocks((14, 20), 60, 1), blocks((40,), 1, 2))
    assert "The new graph is 2.0 times larger (40 vertices; training 14 to 20, median 20)." in text
    assert "It does not lie within the sizes seen in training." in text
    assert "could go unseen" in text
    alone = told(erdos_renyi(0.3, (20,), 2, 1), erdos_renyi(0.3, (20,), 1, 2))
    assert "With so few graphs, any difference may go unseen." in alone
    assert "No shift of sizes was found" in alone  # colors were not looked at


def test_one_class_and_no_classes() -> None:
    one = blocks((20,), 60, 1, graphons=BLOCKS[:1])
    text = told(one, blocks((40,), 60, 2), k=3)
    assert "All training graphs have one class." in text
    assert "Graphs of other classes would look the same." in text
    bare = told(one.with_y(None), blocks((40,), 60, 2), k=3)
    assert "would look the same" not in bare
    assert "Nothing is known about the label" in bare


def test_unseen_colors_have_a_role_of_their_own() -> None:
    text = told(blocks((20,), 60, 1), blocks((20,), 30, 2, ({"purple": 1.0}, {"green": 1.0})), k=3)
    assert "Colors: a shift beyond exchangeable colors" in text
    assert "A color that training never saw counts as a role of its own." in text


@pytest.mark.parametrize("k", [2, 3])
def test_sizes_of_patterns_are_named_as_they_are(k: int) -> None:
    text = told(erdos_renyi(0.3, (20,), 20, 1), erdos_renyi(0.3, (20,), 20, 2), k=k)
    assert f"Plain patterns of {'2' if k == 2 else '2 to 3'} vertices" in text


def test_colors_too_rare_for_a_role_are_named() -> None:
    few = Side(BLOCKS, SMALL, TWO).draw(30, (0, 0))
    turned = Side(BLOCKS, (40,), TWO_TURNED).draw(30, (0, 1))
    found = az.diagnose(few, turned, k=3)
    assert found.findings.within_roles is None
    assert found.findings.colors is not None
    assert found.findings.colors.roles is None
    text = " ".join(str(found).split())
    assert "is not known: too rare in the training graphs for a role to be told: " in text
    assert "Whether colors shift among exchangeable ones only is not known." in text
    uneven = az.BlockModel(within=(0.2, 0.2), between=0.1, shares=(0.8, 0.2))
    other = told(few, Side((uneven,), (40,), TWO_TURNED).draw(30, (0, 2)), k=3)
    assert "Whatever their roles are, the shares of roles differ by" in other
    assert "Colors: a shift beyond exchangeable colors" in other


def test_balanced_blocks_differ_by_what_finite_sizes_explain() -> None:
    """Two cliques of exactly half of the vertices: edge densities of 9/19 and 19/39, always."""
    cliques = az.BlockModel(within=(1.0, 1.0), between=0.0)
    small, large = (side.draw(400, (0, 0)) for side in grown(Side((cliques,), SMALL, balanced=True)))
    found = az.diagnose(small, large, k=3)
    edge = next(item for item in found.findings.families[0].patterns if item.pattern == "edge")
    assert (edge.train, edge.new) == pytest.approx((9 / 19, 19 / 39))
    assert edge.p_constant < 1e-4
    assert edge.judgment == "size may explain"
    assert not found.findings.beyond_size
    assert "differ by no more than effects of order 1/N may bring about" in " ".join(str(found).split())
    sharp = [side.draw(100, (1, 1)) for side in grown(Side(SHARP[:1], SMALL, balanced=True))]
    assert not az.diagnose(*sharp).findings.beyond_size
