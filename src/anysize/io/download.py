"""Sets of the TU collection: find them in folders (`find_tu`), download them (`fetch_tu`).

NAME.zip is written under another name and renamed when it is complete and readable. NAME.zip.json beside it records
address, size and SHA-256, with which `check_download` finds out later whether the file has changed. For some sets the
graphs themselves are known (`KNOWN_CONTENT`); for all others the first download is trusted.
"""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib import request
from urllib.error import HTTPError, URLError

from anysize._errors import GraphError, GraphWarning
from anysize._files import atomic_write, make_folder
from anysize._memory import format_bytes
from anysize._progress import progress_bars
from anysize._schema import compact_json
from anysize._typing import PathLike
from anysize.graphs.graphset import GraphSet
from anysize.io.read import read_graphs

ADDRESS = "https://www.chrsmrrs.com/graphkerneldatasets/{name}.zip"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
MAX_BYTES = 2**30
TIMEOUT_S = 30.0  # without any answer
BLOCK = 1 << 16  # bytes read at once

# `content_sha256` of sets whose graphs were compared with published statistics
KNOWN_CONTENT = {
    "NCI1": "8635085ceb93c410cb003fef9a5719360893aa3c60dc7102c83a9f6f20003347",
    "NCI109": "6a0e65ad3ff96b9e2daf47a7ff7745b71c978e4c9436e630e1f24d331fa40f21",
    "PROTEINS": "7794d78e378889c39176d4de87b434b39392101fe4c44a0d45688f561179d235",
    "DD": "1bd4f75ab0bb9b777a3883c20668ab43f3726ff25bfc66cb917400d8f2762b9b",
    "MUTAG": "504df83a57a60d7559e931a8bd3f352fae8e28f215ef721b69a5cb9f62f19e25",
    "IMDB-BINARY": "ffb04c329fccb0b128ee1ea8f2b11084722b94c5f686a8ed17cc3e0967ceee8a",
}


def fetch_tu(name: str, folder: Path, max_bytes: int = MAX_BYTES) -> Path:
    """Download NAME.zip into a folder; a sentence on standard error says so first.

    Args:
        name: of the set in the TU collection.
        folder: created if it does not exist.
        max_bytes: a larger file is refused.
    """
    check_name(name)
    target = folder / f"{name}.zip"
    try:
        make_folder(folder)
        with _open(name) as answer, atomic_write(target) as part:
            facts = _receive(name, answer, part, target, max_bytes)
            _check_content(name, part)
        with atomic_write(_facts_file(target)) as part:
            part.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    except HTTPError as error:
        error.close()
        reason = f"the server answered {error.code} {error.reason}"
        raise _failed(name, reason if error.code != 404 else f"{reason}: it has no set of this name") from None
    except URLError as error:
        raise _failed(name, f"no connection: {_text(error.reason)}") from None
    except (HTTPException, TimeoutError, ConnectionError) as error:
        raise _failed(name, f"the connection ended: {_text(error)}") from None
    except OSError as error:
        raise _failed(name, f"{target} cannot be written: {error.strerror or error}") from None
    return target


def check_name(name: str) -> None:
    """Raise an error for a name that cannot be one of the TU collection."""
    if not NAME.fullmatch(name):
        raise GraphError(
            f"The name of a set in the TU collection has letters, digits, dashes and underscores; got {name!r}."
        )


def check_download(file: Path) -> None:
    """Raise an error if a downloaded file is not the one that was downloaded; other files are not checked."""
    try:
        expected = json.loads(_facts_file(file).read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if _file_sha256(file) != expected:
        raise GraphError(
            f"{file} has changed since it was downloaded (its SHA-256 is not that of {_facts_file(file).name}); "
            "remove it to download it again."
        )


def content_sha256(graphs: GraphSet) -> str:
    """SHA-256 of the edges, colors and labels of a set, whatever the files look like that it was read from."""
    from anysize.graphs.graphset import content_digest

    labels = None if graphs.y is None else graphs.y.tolist()
    return sha256(content_digest(graphs) + compact_json(labels).encode()).hexdigest()


def _open(name: str) -> Any:
    """The answer of the server; HTTP and HTTPS only, also after redirections."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler, request.HTTPHandler, request.HTTPSHandler, request.HTTPDefaultErrorHandler,
        request.HTTPRedirectHandler, request.HTTPErrorProcessor, request.UnknownHandler,
    ):  # fmt: skip
        opener.add_handler(handler())
    return opener.open(ADDRESS.format(name=name), timeout=TIMEOUT_S)


def _receive(name: str, answer: Any, part: Path, target: Path, max_bytes: int) -> dict[str, Any]:
    """Write the answer to a file; return what to record about it."""
    announced = answer.headers.get("Content-Length")
    total = int(announced) if announced and announced.isdigit() else None
    _check_size(name, total or 0, max_bytes)
    size = "of unknown size" if total is None else format_bytes(total)
    print(f"anysize: downloading {name} ({size}) from {answer.url} to {target}", file=sys.stderr, flush=True)
    received, digest = 0, sha256()
    with open(part, "wb") as file, progress_bars() as report:
        while block := answer.read(BLOCK):
            received += len(block)
            _check_size(name, received, max_bytes)
            file.write(block)
            digest.update(block)
            if total:
                report(f"downloading {name}", received / total)
    if total is not None and received != total:
        raise _failed(name, f"the connection ended after {received} of {total} bytes")
    return {"name": name, "address": answer.url, "bytes": received, "sha256": digest.hexdigest()}


def _check_size(name: str, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise _failed(name, f"it has more than {format_bytes(max_bytes)}, the largest size that is accepted")


def _check_content(name: str, file: Path) -> None:
    """Raise an error if a file is not a readable set of this name, or holds other graphs than known."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)  # it is read again where it is used
            graphs = read_graphs(file, name, warn=False)
    except GraphError as error:
        raise _failed(name, f"what the server sent is not a TU set: {error}".rstrip(".")) from None
    expected = KNOWN_CONTENT.get(name)
    if expected is not None and content_sha256(graphs) != expected:
        raise _failed(name, "the graphs that the server sent have another checksum than those of this set")


def _failed(name: str, reason: str) -> GraphError:
    return GraphError(f"{name} could not be downloaded from {ADDRESS.format(name=name)}: {reason}.")


def _text(error: object) -> str:
    """An error of the network in a few words."""
    strerror = getattr(error, "strerror", None)
    return " ".join(str(strerror or error).split())[:200] or type(error).__name__


def _facts_file(file: Path) -> Path:
    return file.with_name(f"{file.name}.json")


def _file_sha256(file: Path) -> str:
    digest = sha256()
    with open(file, "rb") as opened:
        while block := opened.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


# ---- data sets in folders --------------------------------------------------------------------------------

DATA_VARIABLE = "ANYSIZE_DATA"
FOLDER_HINT = f"name the folder with --data-dir (data_dir= in Python) or the environment variable {DATA_VARIABLE}"


def data_folder(data_dir: PathLike | None) -> Path | None:
    """The folder with data files, by argument or by the environment variable; None if neither names one."""
    named = os.environ.get(DATA_VARIABLE) or None if data_dir is None else data_dir
    if named is None:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise GraphError(f"There is no folder {folder}: {FOLDER_HINT}.")
    return folder


def load_tu(name: str, data_dir: PathLike | None = None) -> GraphSet:
    """A set of the TU collection; arguments as for `find_tu`."""
    return read_graphs(find_tu(name, data_dir), name, warn=False)


def find_tu(name: str, data_dir: PathLike | None = None, max_bytes: int = MAX_BYTES) -> Path:
    """The zip file or folder of a set of the TU collection, which is downloaded if it is not there.

    Args:
        name: of the set.
        data_dir: a folder with NAME.zip, or with a folder NAME that holds NAME_A.txt and so on. Without it, the
            folder named by ANYSIZE_DATA, or else the user's cache folder.
        max_bytes: a larger file is not downloaded.
    """
    check_name(name)
    folder = data_folder(data_dir) or _cache()
    path = _find(name, folder)
    if path is None:
        try:
            return fetch_tu(name, folder, max_bytes)
        except GraphError as error:
            what = f"{name}.zip, or a folder {name} with {name}_A.txt and its other files"
            raise GraphError(
                f"{str(error).removesuffix('.')}; or put {what}, into {folder}, or {FOLDER_HINT}."
            ) from None
    if path.is_file():
        check_download(path)
    return path


def _find(name: str, folder: Path) -> Path | None:
    """The zip file or folder of a set; PyG keeps the files in a folder ``raw``."""
    if (folder / f"{name}.zip").is_file():
        return folder / f"{name}.zip"
    folders = (folder, folder / name, folder / name / "raw", folder / name / name)
    return next((candidate for candidate in folders if (candidate / f"{name}_A.txt").is_file()), None)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "anysize"
