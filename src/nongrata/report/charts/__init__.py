"""Charts of a report: one module for each, from results to a Vega-Lite specification."""
