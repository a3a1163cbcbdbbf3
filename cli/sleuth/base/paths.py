"""The folders for config, data, cache and state. Linux does without platformdirs, which is slow to import."""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


class Paths:
    """The folders and files of one user."""

    def __init__(self, config: str, data: str, cache: str, state: str, config_file: str) -> None:
        self.config, self.data, self.cache, self.state, self.config_file = config, data, cache, state, config_file
        self.rules = os.path.join(os.path.dirname(config_file), "rules.txt")  # domain rules, next to the settings
        self.database = os.path.join(data, "sleuth.db")  # the provider table and the usage log
        self.library = os.path.join(data, "library.db")
        self.rendered = os.path.join(cache, "rendered")  # the folder of rendered answers
        self.cleared = os.path.join(cache, "cleared")  # touched when running servers must forget what they have cached
        self.journal = os.path.join(state, "searches.jsonl")  # searches that are not in the database yet


def find_paths(environ: "Mapping[str, str]") -> Paths:
    """Return the folders to use: under SLEUTH_HOME if set, else those of the platform."""
    home = environ.get("SLEUTH_HOME")
    if home:
        home = os.path.abspath(os.path.expanduser(home))
        config, data, cache, state = (os.path.join(home, name) for name in ("config", "data", "cache", "state"))
    elif sys.platform.startswith("linux"):
        config, data, cache, state = _xdg(environ)
    else:
        import platformdirs

        config, data = platformdirs.user_config_dir("sleuth", False), platformdirs.user_data_dir("sleuth", False)
        cache, state = platformdirs.user_cache_dir("sleuth", False), platformdirs.user_state_dir("sleuth", False)
    named = environ.get("SLEUTH_CONFIG")
    file = os.path.abspath(os.path.expanduser(named)) if named else os.path.join(config, "config.toml")
    return Paths(config, data, cache, state, file)


def _xdg(environ: "Mapping[str, str]") -> list[str]:
    home = next((place for place in (environ.get("HOME", ""), os.path.expanduser("~")) if os.path.isabs(place)), os.sep)
    defaults = {"CONFIG": ".config", "DATA": ".local/share", "CACHE": ".cache", "STATE": ".local/state"}
    named = {name: environ.get(f"XDG_{name}_HOME", "") for name in defaults}
    return [  # XDG: relative paths are ignored
        os.path.join(named[name] if os.path.isabs(named[name]) else os.path.join(home, folder), "sleuth")
        for name, folder in defaults.items()
    ]


def stamp_of(database: str) -> str:
    """Return the file next to a database that is touched whenever its provider table changes."""
    return f"{database}.stamp"


def shipped_folder(installed: str, checkout: str = "") -> str | None:
    """Return a folder of data files: inside the package once installed, at the top of a checkout."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    inside = os.path.join(package, installed)
    beside = os.path.join(os.path.dirname(os.path.dirname(package)), checkout or installed)
    return next((folder for folder in (inside, beside) if os.path.isdir(folder)), None)
