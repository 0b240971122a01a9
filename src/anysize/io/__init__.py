"""Read graphs from other libraries and from files, and write them.

- `read_graphs` in ``read.py`` reads files and folders. One module per format: ``tu``, ``adjacency``, ``edgelist``,
  ``table`` (edges with a header), ``neighborlists``, ``graphml`` (and GML), ``jsonlines``, ``smiles`` (molecules).
- `as_graphset` in ``convert.py`` takes graphs in memory. One module per library: ``networkx``, ``igraph``, ``pyg``,
  ``scipy`` (matrices), ``smiles`` (RDKit), ``table`` (pandas) and ``edges`` (edge arrays).
- ``write.py`` writes; ``parsed.py``, ``objects.py``, ``dropped.py``, ``text.py`` and ``archive.py`` are shared.

To add a file format, write a module with a function that says whether a name and content have this format and one that
parses the content to a `ParsedFile` (``parse(data, where, **options)``), then add a line to ``FORMATS`` in ``read.py``.
To add a graph library, write a module with a `GraphType` and a ``from_...`` function and add a line to ``READERS`` in
``convert.py``.
"""
