"""The migrations of sleuth.db, in order. A released migration never changes; add new ones at the end."""

import os

from sleuth.store.database import run_script

FOLDER = os.path.join(os.path.dirname(__file__), "schema")
MIGRATIONS = tuple(
    run_script(os.path.join(FOLDER, name)) for name in ("1-providers-and-requests.sql", "2-searches-and-answers.sql")
)
