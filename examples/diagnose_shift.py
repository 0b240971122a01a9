"""Before you predict: do the new graphs differ from the training graphs, and does it matter?

Run:  python examples/diagnose_shift.py
"""

import tempfile
from pathlib import Path

import anysize as az

mixing = az.BlockModel(within=(0.2, 0.2), between=0.3)
apart = az.BlockModel(within=(0.2, 0.2), between=0.1)
small = az.Environment(sizes=(16, 20, 24), colors=[{"red": 0.9, "orange": 0.1}, {"blue": 0.9, "green": 0.1}])
large = az.Environment(sizes=(40, 50), colors=[{"red": 0.1, "orange": 0.9}, {"blue": 0.1, "green": 0.9}])
train = az.sample_graphs((mixing, apart), small, 120, seed=1)

# Larger graphs, and colors exchanged within each block: the shift that the Gamma models are made for.
exchanged = az.diagnose(train, az.sample_graphs((mixing, apart), large, 60, seed=2))
print(exchanged)

# The same sizes and colors, but half as many edges: no method handles that, and the report warns.
other = az.BlockModel(within=(0.1, 0.1), between=0.1)
rewired = az.diagnose(train, az.sample_graphs(other, small, 60, seed=3))

# Graphs of the same distribution.
same = az.diagnose(train, az.sample_graphs((mixing, apart), small, 60, seed=4))

print()
for name, report in (("exchanged", exchanged), ("rewired", rewired), ("same", same)):
    shifts = [question.subject for question in report.findings.questions if question.found] or ["nothing"]
    print(f"{name}: shift of {', '.join(shifts)}; use {report.advice.call}; {len(report.advice.warnings)} warnings")

with tempfile.TemporaryDirectory() as folder:
    page = Path(folder) / "diagnosis.html"
    page.write_text(rewired.to_html(), encoding="utf-8")
    print(f"\nThe same as a page: {page.name}, {page.stat().st_size:,} bytes, no network needed")
