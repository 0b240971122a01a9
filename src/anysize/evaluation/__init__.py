"""Evaluate methods: splits, the one loop, records, comparisons, the league, tables."""
