"""Network motifs: patterns that are over- or underrepresented in a graph, and distances between graphs by patterns."""
