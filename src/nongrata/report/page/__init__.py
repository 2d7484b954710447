"""A document as one self-contained HTML file."""
