"""Findings and results -> terminal, tables, charts, pages."""
