"""A local page that shows every answer of a run: `nongrata view`.

The page asks this package's JSON interface (`nongrata.viewer.api`), which reads what it is asked
for from the run's Parquet files; nothing is loaded as a whole.
"""

from nongrata.viewer.api import Api
from nongrata.viewer.run_on_disk import RunOnDisk
from nongrata.viewer.server import ViewerServer, open_server

__all__ = ["Api", "RunOnDisk", "ViewerServer", "open_server"]
