"""A real headless browser for the tests that look at pages; they are skipped where there is no Chromium."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here to look at the page with")


def chromium(folder: Path, *arguments: str) -> str:
    """The output of a headless Chromium that knows nobody and keeps nothing."""
    options = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
               "--no-first-run", f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=10000")  # fmt: skip
    return subprocess.run(
        [str(CHROMIUM), *options, *arguments], capture_output=True, text=True, timeout=120, check=False
    ).stdout


def measured(dom: str) -> Any:
    """What the script of a page has written, as JSON, into its element of this name."""
    found = re.search(r'<pre id="measured">(.*?)</pre>', dom, re.S)
    assert found is not None
    return json.loads(unescape(found[1]))
