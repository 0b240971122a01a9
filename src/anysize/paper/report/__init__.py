"""The HTML report of a folder of records."""
