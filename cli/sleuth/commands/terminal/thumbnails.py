"""Thumbnails of pictures and videos, on terminals that show graphics (kitty, or sixel as in iTerm2, WezTerm, foot)."""

import io
from functools import partial
from typing import Any

from sleuth.base.extras import install_command
from sleuth.base.i18n import tr
from sleuth.engine.outcome import Outcome
from sleuth.relevance.details import is_picture
from sleuth.runtime import Runtime
from sleuth.store.settings import FETCH_PRIVATE

TIMEOUT_S = 5.0  # for all thumbnails together
COLUMNS = 24
MAX_PIXELS = 16_000_000  # a small file may be a huge picture
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")


def load(runtime: Runtime, outcome: Outcome) -> dict[str, Any]:
    """Return the thumbnails of the results by URL, ready to print; none for a terminal without graphics."""
    found = (hit for hit in outcome.results if hit.thumbnail and (is_picture(hit) or hit.length))
    urls = list(dict.fromkeys(hit.thumbnail for hit in found))
    if not urls or not (runtime.stdout.isatty() and runtime.stdin.isatty()):
        return {}
    try:
        # Asks the terminal what it can show.
        from textual_image.renderable import Image, SixelImage, TGPImage
    except ImportError:
        runtime.warn(tr("thumbnails need a package: {command}", command=install_command("images")))
        return {}
    return _downloaded(runtime, urls, Image) if Image in (SixelImage, TGPImage) else {}


def _downloaded(runtime: Runtime, urls: list[str], renderable: Any) -> dict[str, Any]:
    """Download the thumbnails in parallel, never from private addresses; what fails is left out."""
    from sleuth.pages.fetch import fetch
    from sleuth_providers.net.guard import AddressGuard
    from sleuth_providers.threads import run_parallel

    reader, is_allowed = runtime.reader, runtime.settings[FETCH_PRIVATE]

    def download(url: str) -> bytes:
        return fetch(url, timeout=TIMEOUT_S, guard=AddressGuard(reader.guard, is_allowed)).body

    jobs = [partial(download, url) for url in urls]
    pictures = {}
    for place, body in run_parallel(jobs, TIMEOUT_S):
        picture = decoded(body) if isinstance(body, bytes) else None
        if picture is not None:
            pictures[urls[place]] = renderable(picture, width=COLUMNS, height="auto")
    return pictures


def decoded(body: bytes) -> Any:
    """Return a picture, None for one that is damaged, too large or of another format."""
    from PIL import Image, UnidentifiedImageError

    try:
        picture = Image.open(io.BytesIO(body), formats=FORMATS)
        if picture.width * picture.height > MAX_PIXELS:
            return None
        picture.draft("RGB", (320, 320))  # decodes a large JPEG at a smaller size
        return picture.convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
