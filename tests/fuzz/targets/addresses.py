"""URLs: canonical, clean and encoded forms are final. A case is a list of lines."""

from sleuth.base.urls import ascii_host, ascii_url, clean_url, domain, mask_login, registered_host
from sleuth.pages.fetch import wire_url
from sleuth.relevance.urls import canonical, matches_domain
from sleuth_providers.errors import BadRequestError
from sleuth_providers.html.tree import is_web, join, unwrap
from sleuth_providers.net.urls import site_of

WORDS = (
    "www. ¦ m. ¦ amp/ ¦ /amp ¦ .amp.html ¦ index.html ¦ utm_x=1 ¦ ? ¦ & ¦ &amp; ¦ ;sid=1 ¦ %2e%2e/ ¦ %25 ¦ "
    "#!/ ¦ :80 ¦ xn-- ¦ url=http ¦ google.com/url?q= ¦ wikipedia.org/wiki/"
)
ROUNDS = 800


def check(data: bytes) -> None:
    """Normalise each line in all ways; nothing raises, and a normal form stays the same."""
    for url in data.decode("utf-8", "surrogateescape").split("\n")[:20]:
        key = canonical(url)
        assert canonical(key) == key, "canonical is final"
        host = ascii_host(url)
        assert registered_host(host) in host
        if host.isprintable() and " " not in host:
            assert matches_domain(url, host) is bool(ascii_host(host)), "a host covers itself"
        shown = clean_url(url)
        assert not shown or shown.startswith(("http://", "https://", "HTTP", "Http", "hTTp")) or "://" in shown
        assert clean_url(shown) == shown, "clean is final"
        assert ascii_url(shown).isascii()
        assert not set(shown) & set(' <>"\\\x1b\n\r\t\u202e'), "fit to be clicked"
        domain(url), site_of(url), mask_login(url)
        if is_web(joined := join("https://search.example/", url)):
            assert is_web(unwrap(joined, "https://search.example/?q=x"))
        try:
            assert wire_url(url).isascii()
        except BadRequestError:
            continue
