"""Charts of a document as files for papers: SVG, PNG and PDF, drawn without a browser."""
