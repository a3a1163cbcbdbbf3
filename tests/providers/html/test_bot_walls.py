"""Bot checks and login pages are recognised, ordinary pages are not mistaken for them."""

import pytest

from sleuth_providers.html import bot_walls

HERE = "https://example.org/article"
WALLS = {
    "cloudflare": "<title>Just a moment...</title><body>Checking <script>window._cf_chl_opt={}</script></body>",
    "turnstile": '<title>example.org</title><div class="cf-turnstile"></div><p>Verify you are human</p>',
    "datadome": '<title>example.org</title><script src="https://geo.captcha-delivery.com/captcha/"></script>',
    "perimeterx": '<title>Access to this page has been denied</title><div id="px-captcha"></div>',
    "akamai": "<TITLE>Access Denied</TITLE><H1>Access Denied</H1>You don't have permission. Reference #18.2",
    "anubis": "<title>Making sure you&#39;re not a bot!</title><p>Loading...</p>",
    "vercel": "<title>Vercel Security Checkpoint</title><p>We're verifying your browser</p>",
    "baidu": "<title>百度安全验证</title><p>网络不给力，请稍后重试</p>",
    "weibo": "<title>Sina Visitor System</title><p></p>",
    "recaptcha": '<title>example</title><form><div class="g-recaptcha"></div></form>',
}
LOGINS = {
    "password": '<title>Welcome</title><form><input name=u><input name="p" type="password"></form>',
    "title": "<title>Sign in to your account</title><p>Enter your mail address</p>",
    "chinese": "<title>登录 - 某站</title><p>请输入手机号</p>",
}


@pytest.mark.parametrize("name", WALLS)
def test_a_bot_check_is_recognised(name: str) -> None:
    assert bot_walls.find_wall(WALLS[name], HERE, HERE) == "bot check"


@pytest.mark.parametrize("name", LOGINS)
def test_a_login_is_recognised(name: str) -> None:
    assert bot_walls.find_wall(LOGINS[name], HERE, HERE) == "login page"


def test_a_redirect_to_a_login_is_recognised() -> None:
    page = "<title>Acme</title><p>Continue with your account</p>"
    assert bot_walls.find_wall(page, HERE, "https://example.org/account/login?next=/article") == "login page"
    assert bot_walls.find_wall(page, "https://example.org/login", "https://example.org/login") == ""


@pytest.mark.parametrize("name", [*WALLS, *LOGINS])
def test_a_long_page_is_not_a_wall(name: str) -> None:
    text = "<p>" + "Every site has a login form and a captcha somewhere these days. " * 50 + "</p>"
    assert bot_walls.find_wall((WALLS | LOGINS)[name] + text, HERE, HERE) == ""


def test_an_ordinary_short_page_is_not_a_wall() -> None:
    assert bot_walls.find_wall("<title>Hello</title><p>Just a few words.</p>", HERE, HERE) == ""
    assert bot_walls.find_wall("", HERE, HERE) == ""


@pytest.mark.parametrize("headers", [{"cf-mitigated": "challenge"}, {"x-amzn-waf-action": "captcha"}])
def test_challenge_headers_are_recognised(headers: dict[str, str]) -> None:
    assert bot_walls.is_challenge(headers)
    assert not bot_walls.is_challenge(dict.fromkeys(headers, "none"))


@pytest.mark.cpu_limit(10)
@pytest.mark.parametrize("part", ["<input ", "<title ", "<input type=", "<html lang", "captcha-", "<title>"])
def test_hostile_markup_takes_linear_time(part: str) -> None:
    bot_walls.find_wall(part * 100_000, HERE, HERE)


@pytest.mark.parametrize("markup", ["".join(f"<p><font a={n}>" for n in range(11_000)), "<div>" * 39_000])
def test_pages_that_would_take_gigabytes_are_not_parsed(markup: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(page: str) -> None:
        raise AssertionError(f"{len(page)} characters are parsed")

    monkeypatch.setattr("selectolax.lexbor.LexborHTMLParser", refuse)
    assert bot_walls.find_wall(f"<title>captcha</title>{markup}", HERE, HERE) == ""
