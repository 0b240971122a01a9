"""From runs to tables: records of runs, which configuration to report, tables beside the published numbers.

`records` and `store` keep what was run, `select` chooses among configurations, `tables` lays the choice out and
`formats` writes it. All of it is a pure function of stored records: nothing here trains, and nothing needs torch.
"""
