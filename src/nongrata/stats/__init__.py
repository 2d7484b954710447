"""Statistics on plain numpy arrays: no labels, no input or output, one module per idea."""
