"""Tables for programs: all numbers unrounded."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from anysize.experiments.tables.cells import Cell, Table


def fields(table: Table) -> dict[str, Any]:
    """A table as dictionaries and lists."""
    return {
        "title": table.title,
        "metric": table.metric,
        "rule": table.rule,
        "columns": [asdict(column) for column in table.columns],
        "rows": [
            {
                "method": row.method,
                "recipe": row.recipe,
                "label": row.label,
                "check": row.check,
                "cells": [_cell(cell) for cell in row.cells],
            }
            for row in table.rows
        ],
        "notes": list(table.notes),
    }


def render(table: Table) -> str:
    """One line of JSON."""
    return json.dumps(fields(table), allow_nan=False) + "\n"


def _cell(cell: Cell) -> dict[str, Any]:
    own = asdict(cell)
    return own | {"difference": cell.difference}
