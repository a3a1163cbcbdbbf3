"""Which addresses are one page, which are two, and what a domain pattern covers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.base.urls import ascii_host, registered_host
from sleuth.relevance.patterns import expression
from sleuth.relevance.urls import canonical, matches_domain

SAME = [
    ("https://arxiv.org/pdf/1706.03762.pdf", "https://arxiv.org/pdf/1706.03762"),
    ("https://arxiv.org/pdf/hep-th/9901001v2.pdf", "http://export.arxiv.org/pdf/hep-th/9901001v2"),
    (
        "https://example.com/a?ga_source=1&gs_l=1&hmb_campaign=1&otm_source=1&os_ehash=1&wtrid=1&emc=1&Echobox=1",
        "https://example.com/a?vn_source=1&tracking_source=1&ceneo_spo=1",
    ),
    # scheme, host, port
    ("http://example.com/a", "https://example.com/a"),
    ("HTTPS://example.com/a", "https://example.com/a"),
    ("//example.com/a", "https://example.com/a"),
    ("https://www.example.com/a", "https://example.com/a"),
    ("https://WWW.Example.COM/a", "https://example.com/a"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("http://www.example.com:80/", "https://example.com"),
    ("https://example.com.:443/a", "https://example.com/a"),
    ("https://user:secret@example.com/a", "https://example.com/a"),
    ("https://münchen.de/a", "https://xn--mnchen-3ya.de/a"),
    ("https://例え.jp/a", "https://xn--r8jz45g.jp/a"),
    ("https://Weiße。straße.de/a", "https://xn--weie-xna.xn--strae-oqa.de/a"),
    ("https://ναυς.gr/a", "https://xn--mxaxql.gr/a"),
    ("https://ΝΑΥΣ.gr/a", "https://xn--mxaxth.gr/a"),
    ("https://www.gov.uk/a", "https://gov.uk/a"),
    ("http://[2001:DB8::1]:80/a", "https://[2001:db8::1]/a"),
    # path
    ("https://example.com/a/", "https://example.com/a"),
    ("https://example.com/a/../b", "https://example.com/b"),
    ("https://example.com/../a", "https://example.com/a"),
    ("https://example.com///a", "https://example.com/a"),
    ("https://example.com/index.html", "https://example.com/"),
    ("https://example.com/docs/Index.HTM", "https://example.com/docs"),
    ("https://example.com/default.aspx?id=5", "https://example.com/?id=5"),
    ("https://example.com/%7Euser/", "https://example.com/~user"),
    ("https://example.com/caf%c3%a9", "https://example.com/caf%C3%A9"),
    ("https://example.com/%61", "https://example.com/a"),
    ("https://example.com/a b", "https://example.com/a%20b"),
    ("https://en.wikipedia.org/wiki/C%2B%2B", "https://en.wikipedia.org/wiki/C++"),
    ("https://en.wikipedia.org/wiki/Go_%28game%29", "https://en.wikipedia.org/wiki/Go_(game)"),
    ("https://zh.wikipedia.org/wiki/%E7%BC%96%E7%A8%8B", "https://zh.wikipedia.org/wiki/编程"),
    ("https://example.com/(S(abcdefghijklmnopqrstuvwx))/a", "https://example.com/a"),
    ("https://example.com/a;JSESSIONID=1A2B.node1?id=5", "https://example.com/a?id=5"),
    # query and fragment
    ("https://example.com/a?b=2&a=1", "https://example.com/a?a=1&b=2"),
    ("https://example.com/a?", "https://example.com/a"),
    ("https://example.com/a?&&id=5&", "https://example.com/a?id=5"),
    ("https://example.com/a?q=x+y", "https://example.com/a?q=x%20y"),
    ("https://example.com/a?u=%2fb", "https://example.com/a?u=/b"),
    ("https://example.com/a?b=", "https://example.com/a?b"),
    ("https://example.com/a?id=5&id=5", "https://example.com/a?id=5"),
    ("https://example.com/a?id=5&amp;utm_source=x", "https://example.com/a?id=5"),
    ("https://example.com/a#:~:text=words", "https://example.com/a"),
    ("https://example.com/#/", "https://example.com/"),
    ("https://example.com/a?fbclid=IwAR0", "https://example.com/a"),
    ("https://example.com/a?UTM_Source=x", "https://example.com/a"),
    ("https://example.com/a?yclid=1&ysclid=2", "https://example.com/a"),
    ("https://example.com/a?mc_cid=1&mc_eid=2&id=5", "https://example.com/a?id=5"),
    ("https://example.com/a?ref_src=twsrc%5Etfw", "https://example.com/a"),
    ("https://example.com/a?_hsenc=p2A&_hsmi=1&hsCtaTracking=x", "https://example.com/a"),
    ("https://example.com/a?gbraid=0A&gad_source=1&srsltid=Af", "https://example.com/a"),
    ("https://example.com/a?PHPSESSID=0123456789abcdef", "https://example.com/a"),
    ("https://forum.example.com/viewtopic.php?t=5&sid=" + "0f" * 16, "https://forum.example.com/viewtopic.php?t=5"),
    ("https://blog.example.com/a?source=rss----abc---4", "https://blog.example.com/a"),
    ("https://example.com/a?from=singlemessage&isappinstalled=0", "https://example.com/a"),
    # AMP and mobile
    ("https://mobile.example.com/a", "https://example.com/a"),
    ("https://en.m.wikipedia.org/wiki/Python", "https://en.wikipedia.org/wiki/Python"),
    ("https://m.example.co.uk/a", "https://example.co.uk/a"),
    ("https://amp.example.com/a", "https://example.com/a"),
    ("https://example.com/2026/story/amp/", "https://example.com/2026/story"),
    ("https://example.com/amp/2026/story", "https://example.com/2026/story"),
    ("https://example.com/story.amp.html", "https://example.com/story.html"),
    ("https://example.com/story?amp", "https://example.com/story"),
    ("https://example.com/story?outputType=amp", "https://example.com/story"),
    ("https://www.google.com/amp/s/www.example.com/a?id=5", "https://example.com/a?id=5"),
    ("https://www-example-com.cdn.ampproject.org/c/s/www.example.com/a?amp_js_v=0.1", "https://example.com/a"),
    ("https://www-example-com.cdn.ampproject.org/v/s/example.com/a/amp?usqp=mq3", "https://example.com/a"),
    # pages that only send on
    ("https://www.google.com/url?sa=t&url=https%3A%2F%2Fexample.com%2Fa%3Fid%3D5&usg=x", "https://example.com/a?id=5"),
    ("https://www.google.com.hk/url?q=https://example.com/a&sa=U", "https://example.com/a"),
    ("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa&rut=1", "https://example.com/a"),
    ("https://link.zhihu.com/?target=https%3A//example.com/a", "https://example.com/a"),
    ("https://l.facebook.com/l.php?u=https%3A%2F%2Fexample.com%2Fa%3Ffbclid%3D1&h=2", "https://example.com/a"),
    # particular sites
    ("https://youtu.be/dQw4w9WgXcQ?si=abc&t=10", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
    ("https://m.youtube.com/watch?v=dQw4w9WgXcQ&feature=youtu.be", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
    ("https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=42s&list=PL1", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
    ("https://www.youtube.com/shorts/dQw4w9WgXcQ", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
    ("https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ", "https://www.youtube.com/watch?v=dQw4w9WgXcQ"),
    ("https://twitter.com/someone/status/123?s=20&t=abc", "https://x.com/someone/status/123"),
    ("https://mobile.twitter.com/someone", "https://x.com/someone"),
    ("https://old.reddit.com/r/python/", "https://www.reddit.com/r/python"),
    ("https://www.reddit.com/r/python/comments/abc/title/?share_id=1", "https://redd.it/abc"),
    ("https://stackoverflow.com/q/1/42", "https://stackoverflow.com/questions/1/title?rq=3"),
    ("https://unix.stackexchange.com/questions/7/a-title", "https://unix.stackexchange.com/questions/7"),
    ("https://www.amazon.com/Some-Book/dp/0123456789/ref=sr_1_1?keywords=x", "https://www.amazon.com/dp/0123456789"),
    ("https://www.amazon.de/gp/product/B000000000?tag=x-21", "https://amazon.de/Etwas/dp/B000000000?th=1"),
    ("https://someone.medium.com/title-0123456789ab", "https://medium.com/@someone/title-0123456789ab"),
    ("https://www.imdb.com/title/tt0111161/?ref_=nv_sr_1", "https://m.imdb.com/title/tt0111161"),
    ("https://www.ebay.com/itm/A-Thing/123?hash=item1", "https://www.ebay.com/itm/123?_trkparms=x"),
    ("https://medium.com/@a/title-123?source=user_profile&sk=1", "https://medium.com/@a/title-123"),
    ("https://github.com/a/b.git", "https://github.com/a/b?tab=readme-ov-file#readme"),
    ("https://en.wikipedia.org/wiki/Go?useskin=vector&oldformat=true", "https://en.wikipedia.org/wiki/Go"),
    ("https://dx.doi.org/10.1000/182", "https://doi.org/10.1000/182"),
    ("https://www.linkedin.com/pulse/a?trk=public_post", "https://linkedin.com/pulse/a"),
    ("https://www.nytimes.com/2026/11/01/a.html?smid=url-share", "https://www.nytimes.com/2026/11/01/a.html"),
    ("https://name.blogspot.com/2026/11/a.html?m=1", "https://name.blogspot.com/2026/11/a.html"),
    # Chinese sites
    ("https://www.zhihu.com/question/1/answer/2?utm_psn=1&utm_id=0", "https://www.zhihu.com/question/1/answer/2"),
    ("https://www.zhihu.com/tardis/bd/art/123?source_id=1001", "https://zhuanlan.zhihu.com/p/123"),
    ("https://m.bilibili.com/video/BV1xx411c7mD?share_source=copy", "https://www.bilibili.com/video/BV1xx411c7mD/"),
    ("https://www.bilibili.com/video/BV1xx411c7mD?p=2&t=9", "https://www.bilibili.com/video/BV1xx411c7mD/?p=2"),
    ("https://item.taobao.com/item.htm?spm=a230r.1&id=5&ns=1&abbucket=9", "https://item.taobao.com/item.htm?id=5"),
    ("https://detail.tmall.com/item.htm?id=5&scm=1007.1", "https://detail.tmall.com/item.htm?id=5"),
    ("https://item.m.jd.com/product/5.html?cu=true", "https://item.jd.com/5.html"),
    ("https://blog.csdn.net/a/article/details/5?spm=1001.2014&depth_1=2", "https://blog.csdn.net/a/article/details/5"),
    ("https://developer.aliyun.com/article/5?spm=a2c6h.1&scm=20140722.184", "https://developer.aliyun.com/article/5"),
    ("https://baijiahao.baidu.com/s?id=17&wfr=spider&for=pc", "https://baijiahao.baidu.com/s?id=17"),
    ("https://baike.baidu.com/item/Python/407313?fr=aladdin", "https://baike.baidu.com/item/Python/407313"),
    ("https://wapbaike.baidu.com/item/Python/407313", "https://baike.baidu.com/item/Python/407313"),
    ("https://www.jianshu.com/p/abc?utm_campaign=maleskine", "https://www.jianshu.com/p/abc"),
    ("https://www.sohu.com/a/1_2?scm=1102.xchannel&spm=smpc.channel", "https://m.sohu.com/a/1_2"),
    ("https://www.toutiao.com/i123/?log_from=x", "https://www.toutiao.com/article/123/"),
    ("https://www.xiaohongshu.com/discovery/item/6a?xsec_token=A", "https://www.xiaohongshu.com/explore/6a"),
    ("https://weibo.com/1/AbC?from=page_1&refer_flag=2", "https://weibo.com/1/AbC"),
]

DIFFERENT = [
    ("https://example.com/a", "https://example.com/b"),
    ("https://example.com/a?page=1", "https://example.com/a?page=2"),
    ("https://example.com/a?q=x", "https://example.com/a?q=y"),
    ("https://example.com/a?q=c%2B%2B", "https://example.com/a?q=c++"),
    ("https://example.com/a?q=x%26y", "https://example.com/a?q=x&y"),
    ("https://example.com/a?x=1&x=2", "https://example.com/a?x=2&x=1"),
    ("https://example.com/a?ID=5", "https://example.com/a?id=5"),
    ("https://example.com/a?id=A", "https://example.com/a?id=a"),
    ("https://example.com/a?t=5", "https://example.com/a?t=6"),
    ("https://example.com/?s=words", "https://example.com/?s=others"),
    ("https://example.com/a?from=berlin", "https://example.com/a?from=paris"),
    ("https://example.com/a?tab=files", "https://example.com/a"),
    ("https://example.com/a?sid=5", "https://example.com/a?sid=6"),
    ("https://example.com/a?ref=main", "https://example.com/a"),
    ("https://example.com/a?hl=en", "https://example.com/a?hl=de"),
    ("https://example.com/en/a", "https://example.com/de/a"),
    ("https://example.com:8080/a", "https://example.com/a"),
    ("https://docs.example.com/a", "https://example.com/a"),
    ("https://de.example.com/a", "https://fr.example.com/a"),
    ("https://example.co.uk/a", "https://example.com/a"),
    ("https://example.com/a.html", "https://example.com/a"),
    ("https://example.com/index", "https://example.com/"),
    ("https://example.com/#!/a", "https://example.com/#!/b"),
    ("https://example.com/#/a", "https://example.com/#/b"),
    ("https://example.com/a%3Fb", "https://example.com/a?b"),
    ("https://example.com/a%23b", "https://example.com/a#b"),
    ("https://example.com/100%25", "https://example.com/100"),
    ("https://example.com/amplifier", "https://example.com/"),
    ("https://example.com/stamp", "https://example.com/st"),
    ("https://en.wikipedia.org/wiki/amp", "https://en.wikipedia.org/wiki"),
    ("https://github.com/someone/amp", "https://github.com/someone"),
    ("https://github.com/a/b/tree/main", "https://github.com/a/b/tree/dev"),
    ("https://github.com/a/b/blob/main/c.py", "https://github.com/a/b/tree/main/c.py"),
    ("https://amp.dev/a", "https://mobile.dev/a"),
    ("https://mobile.de/a", "https://de/a"),
    ("https://one.github.io/a", "https://two.github.io/a"),
    ("https://arxiv.org/abs/1706.03762", "https://arxiv.org/pdf/1706.03762"),
    ("https://arxiv.org/abs/1706.03762v1", "https://arxiv.org/abs/1706.03762v2"),
    ("https://www.bilibili.com/video/BV1xx411c7mD?p=2", "https://www.bilibili.com/video/BV1xx411c7mD"),
    ("https://www.bilibili.com/video/BV1xx411c7mD", "https://www.bilibili.com/video/BV1XX411c7mD"),
    ("https://www.zhihu.com/question/1", "https://www.zhihu.com/question/1/answer/2"),
    ("https://item.taobao.com/item.htm?id=5", "https://item.taobao.com/item.htm?id=6"),
    ("https://mp.weixin.qq.com/s?__biz=A&mid=1&idx=1&sn=b", "https://mp.weixin.qq.com/s?__biz=A&mid=1&idx=2&sn=c"),
    ("https://www.youtube.com/playlist?list=A", "https://www.youtube.com/playlist?list=B"),
    ("https://www.youtube.com/@one", "https://www.youtube.com/@two"),
    ("https://x.com/a/status/1", "https://x.com/a/status/2"),
    ("https://www.reddit.com/r/a/comments/1/t/c1", "https://www.reddit.com/r/a/comments/1/t/c2"),
    ("https://stackoverflow.com/questions/1", "https://stackoverflow.com/questions/2"),
    ("https://stackoverflow.com/questions/tagged/a", "https://stackoverflow.com/questions/tagged/b"),
    ("https://www.amazon.com/dp/0123456789", "https://www.amazon.de/dp/0123456789"),
    ("https://en.wikipedia.org/w/index.php?title=A&oldid=1", "https://en.wikipedia.org/w/index.php?title=A&oldid=2"),
    ("https://www.google.com/search?q=a", "https://www.google.com/search?q=b"),
    ("https://web.archive.org/web/2020/http://example.com/", "https://example.com/"),
    ("http://192.168.0.1/a", "http://192.168.0.2/a"),
    ("file:///home/a.md", "file:///home/b.md"),
    ("file:///home/A.md", "file:///home/a.md"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_page_has_one_key(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_pages_have_different_keys(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_a_key_is_a_plain_address() -> None:
    assert canonical("http://www.Example.com:80/a/?utm_source=x&b=2&a=1#top") == "https://example.com/a?a=1&b=2"


@pytest.mark.parametrize("text", ["", "words", "mailto:a@example.com", "http://[broken", "http://a:99999/", "https://"])
def test_anything_but_a_web_url_is_its_own_key(text: str) -> None:
    assert canonical(text) == text


def test_a_very_long_url_is_its_own_key() -> None:
    long = "https://example.com/" + "a%2f/../" * 100_000
    assert canonical(long) == long


def test_nested_urls_are_unwrapped() -> None:
    nested = "https://www.google.com/url?q=" * 100 + "https://example.com/a"
    assert canonical(nested) == "https://example.com/a"


PARTS = [
    "http://",
    "https://",
    "//",
    "www.",
    "m.",
    "amp.",
    "example",
    ".com",
    ".co.uk",
    "youtu.be",
    "google.com/url?q=",
    "google.com/amp/s/",
    "reddit.com/r/a/",
    "x.cdn.ampproject.org/c/",
    "twitter.com/a/status/1",
    "comments/b/c",
    "/",
    "..",
    ".",
    "amp",
    "index.html",
    "?",
    "&",
    "=",
    "utm_source",
    "id",
    "#",
    "#!",
    "%",
    "%2",
    "%2F",
    "%41",
    "é",
    "中",
    "。",
    "xn--",
    "[",
    "]",
    ":",
    ":80",
    "@",
    ";jsessionid=1",
    "+",
    "(S(a))",
    "&amp;",
]
parts = st.sampled_from([*PARTS, " ", "\t", "\ud800"])


@settings(max_examples=600, deadline=None)
@given(st.one_of(st.text(), st.lists(parts, max_size=14).map("".join)))
def test_every_text_has_a_key_and_a_key_is_its_own(text: str) -> None:
    key = canonical(text)
    assert canonical(key) == key


COVERED = [
    ("example.com", "example.com"),
    ("docs.example.com", "example.com"),
    ("https://www.example.com/a", "example.com"),
    ("https://EXAMPLE.com./a", "Example.com"),
    ("https://example.com:8443/a", "example.com"),
    ("https://example.com/a", "www.example.com"),
    ("https://example.com/a", "https://example.com"),
    ("https://docs.example.com/a", "*.example.com"),
    ("https://münchen.de/a", "xn--mnchen-3ya.de"),
    ("https://example.com/blog/a", r"/example\.(com|org)/blog/"),
    ("https://example.com/Blog/a", "/blog/"),
    ("https://lib.rs/a", "rs"),
    ("https://www.example.com/a", "*.example.com"),
]
NOT_COVERED = [
    ("https://notexample.com/a", "example.com"),
    ("https://example.com.evil.org/a", "example.com"),
    ("https://example.org/?u=example.com", "example.com"),
    ("https://example.com/a", "*.example.com"),
    ("https://example.com/a", "docs.example.com"),
    ("https://example.com/a", "/[/"),
    ("https://example.com/a", "/(a+)+$/"),
    ("https://example.com/a", "/((a+)b?)+$/"),
    ("https://example.com/a", "/(a|a)*$/"),
    ("https://example.com/a", "/.*.*.*.*x/"),
    ("https://example.com/a", f"/{'a?' * 400}/"),
    ("https://example.com/a", ""),
    ("https://example.com/a", "//"),
    ("", "example.com"),
    ("http://[broken", "example.com"),
]


@pytest.mark.parametrize(("address", "pattern"), COVERED)
def test_a_domain_pattern_covers(address: str, pattern: str) -> None:
    assert matches_domain(address, pattern)


@pytest.mark.parametrize(("address", "pattern"), NOT_COVERED)
def test_a_domain_pattern_does_not_cover(address: str, pattern: str) -> None:
    assert not matches_domain(address, pattern)


@pytest.mark.cpu_limit(10)
@pytest.mark.parametrize(
    "pattern",
    [
        *("/(a+)+$/", "/(?:a|aa)+$/", "/([a-z]+)*$/", "/(a?){50}a{50}/", "/(x+x+)+y/"),
        *(
            "/(?#[)(a+)+$/",
            "/(?x)(a+) +$/",
            "/(?ix:(a+)#\n+)$/",
        ),  # with x, blanks and comments may precede a repetition
        *(f"/{group * 40}b/" for group in ("(a|a)", "(a|aa)", "(?:[a]|a)", "(a|b?a)", "((a|a))", "(a|ab*)")),
    ],
)
def test_exponential_expressions_are_not_run(pattern: str) -> None:
    matches_domain("https://example.com/" + "a" * 3000 + "!", pattern)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "pattern", ["/a*a*a*b/", "/.*a.*a.*b/", f"/{'a?' * 25}{'a' * 25}/", f"/{'a{0,99}' * 8}b/", "/a?a?a?a?a?a?a*a*b/"]
)
def test_polynomial_expressions_are_not_run(pattern: str) -> None:
    assert expression(pattern.strip("/")) is None
    assert not matches_domain("https://example.com/" + "a" * 3000, pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        *(r"^https?://[^/]*\.example\.(com|org)/.*", r".*?ads.*?", r"(^|\.)ads\d+\."),
        *(r"^https?://(?:www\.|m\.)[^/]*\.(com|co|net|org|info|io)/.*", "(casino|poker|slots)" * 9),
    ],
)
def test_common_expressions_are_run(pattern: str) -> None:
    assert expression(pattern) is not None


@settings(max_examples=200, deadline=2000)
@given(st.text(max_size=60), st.text(alphabet="ab.*+?()[]{}|/\\^$:<=!-1,", max_size=30))
def test_no_pattern_fails(address: str, pattern: str) -> None:
    assert matches_domain(address, pattern) in (True, False)
    assert matches_domain(address, f"/{pattern}/") in (True, False)


def test_hosts_and_their_registered_part() -> None:
    assert ascii_host("https://www.Example.com:8080/a") == "example.com"
    assert registered_host("news.bbc.co.uk") == "bbc.co.uk"
    assert registered_host("docs.python.org") == "python.org"
    assert registered_host("someone.github.io") == "someone.github.io"
    assert registered_host("localhost") == "localhost"
