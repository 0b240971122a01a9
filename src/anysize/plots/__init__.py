"""Figures: functions of arrays that return a matplotlib `Figure`, and `to_svg` for HTML pages.

No window is opened, pyplot is not imported, and the user's matplotlib settings are left unchanged.
"""

from anysize._html import DARK, LIGHT
from anysize.plots.graph import contributions_figure, draw_contributions, pattern_contributions_figure
from anysize.plots.graph_sets import color_distribution, density_drift, embedding, principal_plane, size_distribution
from anysize.plots.patterns import color_places, pattern_svg
from anysize.plots.scores import (
    Curve,
    MethodScores,
    ScoreRow,
    SizePoint,
    critical_differences,
    method_scores,
    ours_and_published,
    score_by_size,
    training_curves,
)
from anysize.plots.theme import save_figure, to_svg

__all__ = [
    "DARK",
    "LIGHT",
    "Curve",
    "MethodScores",
    "ScoreRow",
    "SizePoint",
    "color_distribution",
    "color_places",
    "contributions_figure",
    "critical_differences",
    "density_drift",
    "draw_contributions",
    "embedding",
    "method_scores",
    "ours_and_published",
    "pattern_contributions_figure",
    "pattern_svg",
    "principal_plane",
    "save_figure",
    "score_by_size",
    "size_distribution",
    "to_svg",
    "training_curves",
]
