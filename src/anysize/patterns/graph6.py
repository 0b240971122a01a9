"""The graph6 format: a graph of up to 62 vertices as printable text, six vertex pairs in each character."""

from __future__ import annotations

from anysize.patterns.orbits import MAX_SIZE, edges_of


def to_graph6(size: int, edges: tuple[tuple[int, int], ...]) -> str:
    """The graph6 string of a graph with these vertex numbers.

    >>> to_graph6(4, ((0, 1), (1, 2), (2, 3), (0, 3)))
    'Cl'
    """
    present = set(edges)
    bits = [(i, j) in present for j in range(size) for i in range(j)]
    bits += [False] * (-len(bits) % 6)
    numbers = (int("".join(str(int(bit)) for bit in bits[at : at + 6]), 2) for at in range(0, len(bits), 6))
    return "".join(chr(63 + number) for number in (size, *numbers))


def from_graph6(text: str) -> tuple[int, tuple[tuple[int, int], ...]]:
    """The vertices and edges of a graph6 string; a ValueError if it is none, or has more vertices than a pattern.

    >>> from_graph6("Cl")
    (4, ((0, 1), (1, 2), (0, 3), (2, 3)))
    """
    size, *numbers = (ord(letter) - 63 for letter in text) if text else (0,)
    pairs = size * (size - 1) // 2
    if not 1 <= size <= MAX_SIZE or len(numbers) != -(-pairs // 6) or not all(0 <= n < 64 for n in numbers):
        raise ValueError(f"expected a graph6 string of a graph on 1 to {MAX_SIZE} vertices; got {text!r:.60}")
    bits = "".join(f"{number:06b}" for number in numbers)[:pairs]
    return size, edges_of(int(bits[::-1] or "0", 2), size)
