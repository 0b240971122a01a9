"""Writers of tables: text, Markdown, LaTeX, HTML, JSON."""
