"""Recognises bot checks, captchas and login pages, which often come with status 200."""

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from sleuth_providers.html.limits import is_costly, limit_markup
from sleuth_providers.translatable import Translatable

MAX_CHECK_CHARS = 1500  # of visible text; a page with more is not just a bot check
MAX_LOGIN_CHARS = 800

CHECK_TITLE = re.compile(
    r"just a moment|attention required|access (?:to this page has been )?denied|are you (?:a robot|human)|robot check|"
    r"(?:human|bot|browser|security) (?:verification|check)|security checkpoint|verify(?:ing)? (?:that )?you|"
    r"making sure you|ddos-guard|checking your browser|pardon our interruption|one more step|captcha|"
    r"请稍候|安全验证|人机验证|访问验证|滑动验证|验证码|身份验证|访问被拒绝|sina visitor system|"
    r"アクセスが制限|ロボットでは|접근이 제한|자동 입력 방지",
    re.IGNORECASE,
)
CHECK_MARK = re.compile(
    r"_cf_chl_opt|cf-chl-|cf-turnstile|captcha-delivery\.com|px-captcha|_Incapsula_Resource|awsWafCookieDomainList|"
    r"sucuri_cloudproxy_js|ddos-guard/js-challenge|/\.within\.website/x/cmd/anubis|vercel/security|aliyun_waf|"
    r"g-recaptcha|h-captcha|id=[\"']?captcha|wappass\.baidu\.com|unusual traffic from your",
    re.IGNORECASE,
)
LOGIN_TITLE = re.compile(
    r"\s*(?:please )?(?:log ?in|sign ?in|登录|登陆|登入|用户登录|请登录|ログイン|로그인|anmelden|einloggen|"
    r"(?:se )?connexion|se connecter|iniciar sesi[oó]n|accedi|войти|вход)\b",
    re.IGNORECASE,
)
LOGIN_PATH = re.compile(
    r"/(?:log-?in|sign-?in|sso|passport|auth(?:enticate|orize)?|account/begin)(?:[/.?_-]|$)", re.IGNORECASE
)
PASSWORD = re.compile(r"<input\b[^>]{0,500}\btype\s*=\s*[\"']?password", re.IGNORECASE)
TITLE = re.compile(r"<title\b[^>]{0,300}>([^<]{0,1000})", re.IGNORECASE)
HEADERS = {"cf-mitigated": ("challenge",), "x-amzn-waf-action": ("challenge", "captcha")}
MAX_SCANNED_CHARS = 200_000


def is_challenge(headers: Mapping[str, str]) -> bool:
    """Tell whether the response headers announce a bot check."""
    return any(headers.get(name, "").strip().lower() in values for name, values in HEADERS.items())


def find_wall(page: str, requested: str, final: str) -> Translatable:
    """Return `bot check` or `login page`, or nothing for an ordinary page."""
    page = page[:MAX_SCANNED_CHARS]
    found = TITLE.search(page)
    title = found[1].strip() if found else ""
    is_check = CHECK_TITLE.search(title) or CHECK_MARK.search(page)
    is_login = LOGIN_TITLE.match(title) or PASSWORD.search(page) or _is_redirected_to_login(requested, final)
    if not is_check and not is_login:
        return Translatable()
    length = _visible_length(page)
    if is_check and length < MAX_CHECK_CHARS:
        return Translatable("bot check")
    return Translatable("login page" if is_login and length < MAX_LOGIN_CHARS else "")


def _is_redirected_to_login(requested: str, final: str) -> bool:
    here, there = urlsplit(requested), urlsplit(final)
    return here.path != there.path and bool(LOGIN_PATH.search(there.path)) and not LOGIN_PATH.search(here.path)


def _visible_length(page: str) -> int:
    """Return the length of the visible text; of a page that would take too long to parse, that of its source."""
    from selectolax.lexbor import LexborHTMLParser

    if len(limit_markup(page)) < len(page) or is_costly(page):
        return len(page)
    tree = LexborHTMLParser(page)
    tree.strip_tags(["script", "style", "noscript", "template", "svg", "select"])
    return len(" ".join((tree.body.text(separator=" ") if tree.body else "").split()))
