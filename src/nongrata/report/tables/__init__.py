"""Tables of a document as files for papers: Markdown, LaTeX, HTML, CSV; one module a format."""
