"""Read graphs from files and from other libraries, and write them. One module per source.

- ``read.py``: `read_graphs` for files and folders. Formats: ``tu``, ``edgelist`` and ``table`` (edge lists),
  ``adjacency``, ``neighborlists``, ``graphml``, ``jsonlines``, ``smiles``.
- ``convert.py``: `as_graphset` for graphs in memory. Libraries: ``networkx``, ``igraph``, ``pyg``, ``scipy``
  (matrices); ``edges`` (edge arrays).
- ``write.py``: conversion to networkx and PyG, and TU folders.
- Shared: ``parsed`` (what every reader produces), ``objects``, ``dropped`` (warnings), ``text``, ``archive``.

To add a file format, write a module with a function that parses the bytes of a file to a `ParsedFile`, and add a line
to ``FORMATS`` in ``read.py``. To add a graph library, write a module with a `GraphType` and a ``from_...`` function,
and add a line to ``READERS`` in ``convert.py``.
"""
