"""Every figure, with matplotlib: functions of plain arrays that return a `Figure`, and `to_svg` for pages.

No window is opened, pyplot is not imported, and the user's settings stay as they are.
"""

from anysize.plots.curves import Curve, training_curves
from anysize.plots.distributions import color_distribution, size_distribution
from anysize.plots.drift import density_drift
from anysize.plots.embedding import embedding, principal_plane
from anysize.plots.patterns import color_places, pattern_svg
from anysize.plots.scores import ScoreRow, SizePoint, ours_and_published, score_by_size
from anysize.plots.theme import DARK, LIGHT, clean, to_svg

__all__ = [
    "DARK",
    "LIGHT",
    "Curve",
    "ScoreRow",
    "SizePoint",
    "clean",
    "color_distribution",
    "color_places",
    "density_drift",
    "embedding",
    "ours_and_published",
    "pattern_svg",
    "principal_plane",
    "score_by_size",
    "size_distribution",
    "to_svg",
    "training_curves",
]
