"""The paper's tables from records, beside the published numbers."""
