"""Thumbnails of pictures and videos, on terminals that show graphics (kitty, or sixel as in iTerm2, WezTerm, foot)."""

import io
from functools import partial
from threading import Lock
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
MAX_SIZE = (640, 640)  # that is kept and printed, in pixels
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
    one_at_a_time = Lock()  # decoding takes up to 4 bytes per pixel

    def download(url: str) -> Any:
        body = fetch(url, timeout=TIMEOUT_S, guard=AddressGuard(reader.guard, is_allowed)).body
        with one_at_a_time:
            return decoded(body)

    jobs = [partial(download, url) for url in urls]
    found = {urls[place]: picture for place, picture in run_parallel(jobs, TIMEOUT_S)}
    return {
        url: renderable(picture, width=COLUMNS, height="auto")
        for url, picture in found.items()
        if picture is not None and not isinstance(picture, Exception)
    }


def decoded(body: bytes) -> Any:
    """Return a picture, None for one that is damaged, too large or of another format."""
    from PIL import Image, UnidentifiedImageError

    try:
        picture = Image.open(io.BytesIO(body), formats=FORMATS)
        if picture.width * picture.height > MAX_PIXELS:
            return None
        picture.draft("RGB", MAX_SIZE)  # decodes a large JPEG at a smaller size
        small = picture.convert("RGB")
        small.thumbnail(MAX_SIZE)
        return small
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
