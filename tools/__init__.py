"""Scripts that make docs/results.md and the table of README.md from records."""
