"""Languages of a report: catalogues of its sentences, and how numbers are written."""
