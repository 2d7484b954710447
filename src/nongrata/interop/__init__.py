"""Answers that another program collected: a table of them in, a Dataset of responses out."""

from __future__ import annotations

from nongrata.interop.imported import load_import
from nongrata.interop.importing import from_table, import_table, import_to_folder
from nongrata.interop.loading import load_responses
from nongrata.interop.table_mapping import TableMapping

__all__ = [
    "TableMapping",
    "from_table",
    "import_table",
    "import_to_folder",
    "load_import",
    "load_responses",
]
