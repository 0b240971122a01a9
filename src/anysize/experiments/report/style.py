"""How the page looks: light and dark, on a phone and on a desk. The colors of the figures are the page's variables."""

from __future__ import annotations

from anysize.experiments.tables.formats.html import STYLE as TABLE_STYLE
from anysize.plots.theme import DARK, LIGHT


def _variables(colors: dict[str, str]) -> str:
    return " ".join(f"--{name}: {color};" for name, color in colors.items())


STYLE = f"""
:root {{ color-scheme: light dark; {_variables(LIGHT)} --ground: #f5f6f9; --soft: #eef1f6; }}
@media (prefers-color-scheme: dark) {{
  :root {{ {_variables(DARK)} --ground: #0f131a; --soft: #1f2631; }}
}}
{TABLE_STYLE}
* {{ box-sizing: border-box; }}
html {{ scroll-behavior: smooth; scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }}
body {{ margin: 0; padding: 0; max-width: none; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }}
main {{ max-width: 74rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; min-width: 0; }}
h1, h2, h3 {{ line-height: 1.2; letter-spacing: -.01em; text-wrap: balance; }}
h1 {{ font-size: clamp(1.7rem, 5vw, 2.5rem); margin: .5rem 0 .75rem; }}
h2 {{ font-size: 1.5rem; margin: 0 0 .5rem; padding-top: 2.5rem; border-top: 1px solid var(--line); }}
h3 {{ font-size: 1.1rem; margin: 2rem 0 .5rem; }}
section {{ margin-top: 2.5rem; }}
section section {{ margin-top: 0; }}
p {{ max-width: 46rem; margin: .5rem 0 1rem; }}
p.lead {{ font-size: 1.1rem; color: var(--muted); }}
p.missing {{ color: var(--muted); border-left: 3px solid var(--line); padding-left: .75rem; }}
p.small, footer {{ color: var(--muted); font-size: .875rem; }}
a {{ color: var(--series-1); }}
code {{ font: .875em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--soft);
  padding: .1em .35em; border-radius: 4px; }}
nav {{ background: var(--paper); border-bottom: 1px solid var(--line); }}
nav .name {{ display: none; }}
nav ul {{ display: flex; gap: .25rem; list-style: none; margin: 0; padding: .5rem .75rem; overflow-x: auto; }}
nav li {{ flex: none; }}
nav a {{ display: block; padding: .35rem .7rem; border-radius: 999px; color: var(--ink); text-decoration: none;
  white-space: nowrap; font-size: .875rem; }}
nav a:hover, nav a:focus-visible {{ background: var(--soft); }}
nav .sub {{ display: none; }}
.tiles {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .75rem; margin: 1.25rem 0; }}
.tiles div {{ background: var(--paper); border: 1px solid var(--line); border-radius: 12px; padding: .8rem 1rem; }}
.tiles b {{ display: block; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums; }}
.tiles span {{ color: var(--muted); font-size: .875rem; }}
.cards {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr)); gap: 1rem;
  margin: 1rem 0; align-items: start; }}
figure.card {{ margin: 0; padding: clamp(.7rem, 3vw, 1rem); min-width: 0; background: var(--paper);
  border: 1px solid var(--line); border-radius: 12px; }}
figure.card figcaption b {{ display: block; font-weight: 600; }}
figure.card figcaption span {{ display: block; color: var(--muted); font-size: .875rem; line-height: 1.4; }}
figure.card figcaption {{ margin-bottom: .75rem; }}
svg.plot {{ display: block; width: 100%; max-width: 28rem; height: auto; margin: 0 auto; }}
svg.pattern {{ display: block; width: 3.2rem; height: 3.2rem; }}
figure.anysize {{ margin: 1rem 0 1.5rem; min-width: 0; }}
figure.anysize .wide, .wide {{ width: fit-content; max-width: 100%; overflow-x: auto; background: var(--paper);
  border: 1px solid var(--line); border-radius: 12px; }}
figure.anysize table, table.grid {{ border-collapse: collapse; font-size: .875rem; white-space: nowrap;
  font-variant-numeric: tabular-nums; }}
figure.anysize th, figure.anysize td, table.grid th, table.grid td {{ padding: .35rem .8rem; text-align: right;
  vertical-align: middle; }}
figure.anysize th[scope=row], table.grid th[scope=row] {{ position: sticky; left: 0; background: var(--paper);
  text-align: left; font-weight: 500; }}
table.grid .words {{ text-align: left; }}
figure.anysize thead th, table.grid thead th {{ color: var(--muted); font-weight: 500;
  border-bottom: 1px solid var(--line); }}
figure.anysize thead th[colspan] {{ color: var(--ink); font-weight: 600; }}
figure.anysize tbody tr + tr > *, table.grid tbody tr + tr > * {{ border-top: 1px solid var(--soft); }}
figure.anysize tbody + tbody {{ border-top: 2px solid var(--line); }}
figure.anysize td b {{ color: var(--series-1); }}
figure.anysize small, figure.anysize .missing {{ color: var(--muted); font-weight: 400; }}
figure.anysize summary {{ margin: .6rem 0; color: var(--series-1); cursor: pointer; font-size: .875rem; }}
figure.anysize ul {{ color: var(--muted); font-size: .875rem; padding-left: 1.1rem; }}
table.grid th small {{ display: block; color: var(--muted); font-weight: 400; }}
.bar {{ display: inline-block; position: relative; width: 4.5rem; height: .6rem; border-radius: 3px;
  background: var(--soft); vertical-align: middle; }}
.bar i {{ position: absolute; top: 0; bottom: 0; border-radius: 3px; background: var(--series-1); }}
.bar i.down {{ background: var(--series-2); }}
@media (max-width: 30rem) {{
  figure.anysize th, figure.anysize td, table.grid th, table.grid td {{ padding: .3rem .5rem; }}
  figure.anysize table, table.grid {{ font-size: .8125rem; }}
  .bar {{ display: none; }}
}}
@media (min-width: 75rem) {{
  body {{ display: grid; grid-template-columns: 15rem minmax(0, 1fr); }}
  nav {{ border-bottom: 0; border-right: 1px solid var(--line); position: sticky; top: 0; height: 100vh;
    overflow-y: auto; padding: 1.5rem 1rem; }}
  nav .name {{ display: block; font-weight: 700; font-size: 1rem; margin-bottom: .75rem; }}
  nav ul {{ display: block; padding: 0; overflow: visible; }}
  nav a, nav .sub {{ display: block; white-space: normal; border-radius: 8px; padding: .25rem .7rem; }}
  nav .sub {{ color: var(--muted); padding-left: 1.4rem; font-size: .8125rem; }}
  main {{ padding: 2rem 2.5rem 5rem; margin: 0; max-width: 80rem; }}
}}
@media print {{ nav {{ display: none; }} figure.card {{ break-inside: avoid; }} }}
""".strip()
