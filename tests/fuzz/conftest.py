"""Makes the modules of this folder importable, which tests of this project otherwise are not."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
