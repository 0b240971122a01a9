"""From runs to tables: plan and train sweeps, keep records, select configurations, build tables and the report.

Records, selection, tables and the report's tables are pure functions of stored records: they train nothing and do not
need torch.
"""
