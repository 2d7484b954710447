"""Results on a terminal: compact tables with small bars."""
