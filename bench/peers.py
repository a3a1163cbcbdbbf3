"""The programs that sleuth is compared with, configured to use the loopback server.

In those with a fixed URL, a few lines replace that URL and nothing else.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from loopback import Addresses

FOLDER = Path(__file__).parent.parent / ".cache" / "peers"
PACKAGES = ("ddgr", "ddgs", "tavily-cli")


def peer_runners(addresses: Addresses, folder: Path, words: Sequence[str]) -> dict[str, list[str]]:
    """Install the peers and return their commands by name."""
    python, ddgr, ddgs, tvly = (FOLDER / "bin" / name for name in ("python", "ddgr", "ddgs", "tvly"))
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(FOLDER)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=False)
    found: dict[str, list[str]] = {}
    if ddgr.exists():
        found["ddgr --version"] = [str(python), str(ddgr), "--version"]
        for name, address in (("live", addresses.http), ("live over https", addresses.https)):
            copy = folder / f"ddgr-{address.partition(':')[0]}"
            copy.write_text(ddgr.read_text().replace("https://html.duckduckgo.com/html", f"{address}/html"))
            found[f"ddgr --json, {name}"] = [str(python), str(copy), "--json", "--noprompt", *words]
    if ddgs.exists():
        driver = folder / "ddgs.py"
        driver.write_text(
            "import sys\nsys.path.pop(0)\nfrom ddgs.engines.duckduckgo import Duckduckgo\n"
            f"Duckduckgo.search_url = '{addresses.http}/html/'\n"
            "from ddgs.cli import safe_entry_point\nsafe_entry_point()\n"
        )
        found["ddgs --version"] = [str(python), str(ddgs), "version"]
        found["ddgs text, live"] = [str(python), str(driver), "text", "-q", " ".join(words)]
        found["ddgs text, live"] += ["-b", "duckduckgo", "-m", "5"]
    if tvly.exists():
        found["tvly --version"] = [str(tvly), "--version"]
        found["tvly search --json, live"] = [str(tvly), "search", " ".join(words), "--json"]
    return found
