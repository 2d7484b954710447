"""Sections of a report: one module for each, from results to blocks."""
