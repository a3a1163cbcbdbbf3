"""The embedded index: documents are found in any language, by many processes at once; the handbook comes first."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.forks import run_at_once

from sleuth.base.errors import SettingsError, UnwritableError
from sleuth.library import handbook, index, ranking
from sleuth.library.library import Counts, Document, Library
from sleuth.library.provider import LibraryProvider
from sleuth.library.snippet import best_passage
from sleuth_providers.base import Account, Query
from sleuth_providers.errors import ProviderError
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy

CHINESE = [
    Document(
        "https://example.cn/json",
        "在SearXNG里启用JSON",
        "默认情况下SearXNG只返回HTML。打开settings.yml，在search.formats里加上json，然后重启容器，程序就能读到结果了。",
        source="page",
    ),
    Document(
        "https://example.cn/tea",
        "茶的历史",
        "茶起源于中国西南部，唐代开始流行全国，后来传到日本和欧洲。",
        source="page",
    ),
    Document(
        "https://example.cn/limit", "限流与429错误", "服务器返回429表示请求太多，请降低频率，稍后再试。", source="page"
    ),
]
HOSTILE = [
    '"',
    '"unbalanced',
    "*",
    "json*",
    "NEAR(json searxng, 3)",
    "-json",
    "title: json",
    "title : json",
    "json AND OR NOT",
    "(((",
    ")",
    "{title body}: x",
    "^json",
    "a + b",
    "'; DROP TABLE page; --",
    "\0json",
    "json\u202e",
    "🙂",
    "的",
    "\ud800",
    "x" * 400,
    "，。！",
    "AND",
]


@pytest.fixture
def library(tmp_path: Path, handbook_database: Path) -> Iterator[Library]:
    library = Library(shutil.copy(handbook_database, tmp_path))
    yield library
    library.close()


@pytest.fixture
def no_handbook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handbook, "handbook_folder", lambda: None)


def page(number: int, text: str, **more: object) -> Document:
    values: dict[str, object] = {"source": "page", "modified": 1.0, "size": len(text)} | more
    return Document(f"https://example.org/{number}", f"Document {number}", text, **values)  # type: ignore[arg-type]


def urls(library: Library, query: str, count: int = 10) -> list[str]:
    return [result.url for result in library.search(query, count)]


def is_whole(library: Library) -> bool:
    """Tell whether the index agrees with itself and holds a document for every page."""
    with sqlite3.connect(library.path) as connection:
        connection.execute("INSERT INTO words (words) VALUES ('integrity-check')")
        pages = connection.execute("SELECT count(*) FROM page").fetchone()
        documents = connection.execute("SELECT count(*) FROM words_docsize").fetchone()
    connection.close()
    return bool(pages == documents)


@pytest.mark.parametrize(
    ("query", "anchor"),
    [
        ("enable json in searxng", "searxng.md#enable-json-in-searxng-403-forbidden"),
        ("how to enable json in searxng", "searxng.md#enable-json-in-searxng-403-forbidden"),
        ("how do I enable JSON output in SearXNG", "searxng.md#enable-json-in-searxng-403-forbidden"),
        ("run sleuth from cron", "scripting.md#use-sleuth-in-cron"),
        ("searxng 403", "searxng.md#enable-json-in-searxng-403-forbidden"),
        ("429 too many requests", "searxng.md#searxng-429-too-many-requests-on-the-first-request"),
        ("port 8080 already in use", "searxng.md#port-8080-is-already-in-use-by-another-program"),
        ("table of exit codes", "exit-codes.md#table-of-exit-codes"),
        ("captcha", "troubleshooting.md#blocked-captcha-or-bot-check"),
        ("search offline", "getting-started.md#search-without-a-network-offline"),
    ],
)
def test_handbook_answers_first_when_nothing_was_added(library: Library, query: str, anchor: str) -> None:
    first = library.search(query, 3)[0]
    assert first.url.startswith("file:///")
    assert first.url.endswith(anchor)
    assert first.site.startswith("sleuth handbook · ")
    assert first.snippet
    assert first.score
    assert first.score > 0


def test_sections_name_their_chapter(library: Library) -> None:
    first = library.search("enable json in searxng", 1)[0]
    assert first.title == "Enable JSON in SearXNG (403 Forbidden)"
    assert first.site == "sleuth handbook · SearXNG: deployment and troubleshooting"


def test_handbook_is_not_read_again_when_nothing_changed(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.search("json", 1)
    library.close()
    monkeypatch.setattr(handbook, "chapters", lambda folder: pytest.fail("read again"))
    assert library.search("json", 1)


def test_handbook_follows_its_files(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "index.md").write_text(
        "# Book\n\nPreface on walruses.\n\n## Oysters\n\nEaten.\n\n## Cabbages\n\nGreen.\n"
    )
    (folder / "kings.md").write_text("# Kings\n\n## Crowns\n\nGolden.\n")
    monkeypatch.setattr(handbook, "handbook_folder", lambda: str(folder))
    assert urls(library, "oysters") == [f"{(folder / 'index.md').as_uri()}#oysters"]
    assert urls(library, "walruses") == [f"{(folder / 'index.md').as_uri()}#book"]

    (folder / "index.md").write_text("# Book\n\n## Oysters\n\nThey had followed the carpenter.\n")
    (folder / "kings.md").unlink()
    library.close()
    assert urls(library, "carpenter") == [f"{(folder / 'index.md').as_uri()}#oysters"]
    assert urls(library, "cabbages") == urls(library, "crowns") == urls(library, "walruses") == []
    assert is_whole(library)


def test_comments_in_code_are_not_headings() -> None:
    text = "# Chapter\n\n## Real\n\n```sh\n## a comment\n# another\n```\n\nAfter.\n\n## Real\n\nTwice.\n"
    path = Path(__file__)
    pages = list(handbook.sections(path, text))
    assert [page.title for page in pages] == ["Real", "Real"]
    assert [page.url.partition("#")[2] for page in pages] == ["real", "real-1"]
    assert "## a comment" in pages[0].text
    assert "After." in pages[0].text


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Enable JSON in SearXNG (403 Forbidden)", "enable-json-in-searxng-403-forbidden"),
        ("No results is exit code 0, unless --exit-status", "no-results-is-exit-code-0-unless---exit-status"),
        ('SearXNG on Kubernetes: "tcp://…" is not', "searxng-on-kubernetes-tcp-is-not"),
        ("config.toml", "configtoml"),
        ("使用 JSON", "使用-json"),
    ],
)
def test_anchors_are_those_of_github(heading: str, anchor: str) -> None:
    assert handbook.anchor(heading) == anchor


@pytest.mark.parametrize(
    ("query", "url"),
    [
        ("在SearXNG里启用JSON", "https://example.cn/json"),
        ("怎么启用 JSON 格式", "https://example.cn/json"),
        ("茶 历史", "https://example.cn/tea"),
        ("日本的茶", "https://example.cn/tea"),
        ("请求太多 429", "https://example.cn/limit"),
        ("ＪＳＯＮ 启用", "https://example.cn/json"),
    ],
)
def test_chinese_is_found(library: Library, query: str, url: str) -> None:
    library.add(CHINESE)
    assert urls(library, query)[0] == url


def test_japanese_and_korean_are_found(library: Library) -> None:
    library.add(
        [
            page(1, "検索エンジンの設定を変更する方法を説明します。"),
            page(2, "검색 엔진의 설정을 바꾸는 방법을 설명합니다."),
        ]
    )
    assert urls(library, "検索エンジン 設定")[0] == "https://example.org/1"
    assert urls(library, "검색 엔진 설정")[0] == "https://example.org/2"


def test_forms_of_a_word_are_found(library: Library) -> None:
    library.add([page(1, "The walruses were reasoning about oysters.")])
    assert urls(library, "walrus reasons oyster")[0] == "https://example.org/1"


@pytest.mark.usefixtures("no_handbook")
def test_title_counts_more_than_text(library: Library) -> None:
    in_text = Document(
        "https://example.org/text", "Something else", "All about walrus and nothing more.", source="page"
    )
    in_title = Document(
        "https://example.org/title", "Walrus", "A large animal of the north, and its habits.", source="page"
    )
    others = [page(number, "Filler of no interest.") for number in range(10)]
    library.add([in_text, in_title, *others])
    assert urls(library, "walrus") == ["https://example.org/title", "https://example.org/text"]


@pytest.mark.parametrize("budget", [1_000, 10])
def test_no_query_is_an_error(library: Library, budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    library.add(CHINESE)
    monkeypatch.setattr(ranking, "BUDGET", budget)
    for query in HOSTILE:
        assert isinstance(library.search(query, 5), list), ascii(query)


def test_snippet_is_where_the_words_are(library: Library) -> None:
    filler = "Nothing to see in this sentence at all. " * 100
    text = f"{filler}The walrus and the carpenter were walking close at hand. {filler}"
    library.add([page(1, text)])
    snippet = library.search("walrus carpenter", 1)[0].snippet
    assert "The walrus and the carpenter were walking close at hand." in snippet
    assert len(snippet) <= 302


def test_snippet_of_chinese_begins_and_ends_at_a_sentence() -> None:
    text = "这一句没有什么内容。" * 60 + "海象和木匠在海边散步。" + "后面也没有什么内容。" * 60
    found = best_passage(text, "海象 木匠")
    assert "海象和木匠在海边散步。" in found
    assert found.endswith("。")
    assert found.startswith(("这", "海"))
    assert len(found) <= 302


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("", "walrus"),
        ("short text", "nothing in common"),
        ("x" * 100_000, "x"),
        ("İ" * 1_000 + " walrus " + "İ" * 1_000, "walrus"),
        ("walrus " * 100_000, "walrus"),
        ("海象" * 50_000, "海象"),
        ("a b " * 1_000, "🙂"),
    ],
)
def test_snippet_is_short_whatever_the_text(text: str, query: str) -> None:
    found = best_passage(text, query)
    assert len(found) <= 302
    assert "\n" not in found


def test_unchanged_pages_are_left_alone(library: Library) -> None:
    assert library.add([page(1, "walrus"), page(2, "carpenter")]) == Counts(added=2)
    assert library.add([page(1, "walrus"), page(2, "oyster", modified=2.0)]) == Counts(updated=1, unchanged=1)
    assert urls(library, "carpenter") == []
    assert urls(library, "oyster") == ["https://example.org/2"]
    assert is_whole(library)


def test_touched_page_with_the_same_text_is_not_indexed_again(library: Library) -> None:
    library.add([page(1, "walrus")])
    assert library.add([page(1, "walrus", modified=2.0)]) == Counts(unchanged=1)
    assert library.holds("https://example.org/1", 2.0, 6)


def test_page_is_found_by_its_text_and_its_bookmark_whichever_came_first(library: Library) -> None:
    read = page(1, "the whole text about a walrus", source="page", kind="html")
    bookmark = page(1, "stripes", source="bookmark", kind="bookmark", modified=9.0)._replace(title="Zebra")
    renamed = bookmark._replace(title="Quagga")
    for first, second in ((read, bookmark), (bookmark, read)):
        assert library.add([first]) == Counts(added=1)
        assert library.add([second]) == Counts(updated=1)
        assert library.add([second]) == Counts(unchanged=1)
        assert all(urls(library, word) == [read.url] for word in ("walrus", "stripes", "zebra"))
        assert library.add([read._replace(text="now about seals")]) == Counts(updated=1)
        assert library.add([renamed]) == Counts(updated=1)
        assert [urls(library, word) for word in ("seals", "quagga")] == [[read.url]] * 2
        assert [urls(library, word) for word in ("walrus", "zebra")] == [[]] * 2
        assert library.stats().sources["bookmark"] == 1
        assert library.remove(read.url) == 1


def test_progress_is_reported_per_batch(library: Library) -> None:
    reported: list[Counts] = []
    library.add((page(number, "walrus") for number in range(700)), progress=reported.append)
    assert [sum(counts) for counts in reported] == [300, 300, 100]


def test_lone_surrogates_and_zeros_are_accepted(library: Library) -> None:
    library.add(
        [Document("https://example.org/\ud800", "walrus \udfff", "text \ud800 with \0 carpenter", source="page")]
    )
    assert len(library.search("walrus carpenter", 5)) >= 1


def test_pages_of_results_follow_each_other(library: Library) -> None:
    library.add(page(number, "walrus " * (number + 1)) for number in range(25))
    together = urls(library, "walrus", 25)
    assert len(set(together)) == 25
    parts = [result.url for start in (0, 10, 20) for result in library.search("walrus", 10, start)]
    assert parts == together


def test_content_is_the_text_when_wanted(library: Library) -> None:
    library.add([page(1, "The walrus said\nmany things.")])
    assert library.search("walrus", 1, content=True)[0].content == "The walrus said\nmany things."
    assert library.search("walrus", 1)[0].content == ""


def test_remove_takes_a_url_or_a_prefix(library: Library) -> None:
    library.add(page(number, f"walrus {number}") for number in range(20))
    assert library.remove("https://example.org/1") == 1
    assert library.remove("https://example.org/1*") == 10
    assert library.remove("https://example.org/nothing") == 0
    assert library.remove("https://example.org/*") == 9
    assert urls(library, "walrus") == []
    assert is_whole(library)


def test_remove_spares_the_handbook(library: Library) -> None:
    before = library.stats().sources["handbook"]
    library.add([page(1, "walrus")])
    assert library.remove("file:///*") == 0
    assert library.remove_all() == 1
    assert library.stats().sources == {"handbook": before}
    assert library.search("enable json in searxng", 1)
    assert is_whole(library)


def test_list_is_paged_and_counted(library: Library) -> None:
    library.add(page(number, "walrus") for number in range(5))
    listing = library.list(2, 1, source="page")
    assert [entry.url for entry in listing.items] == ["https://example.org/1", "https://example.org/2"]
    assert listing.total == 5
    assert library.list(1).total == 5 + library.stats().sources["handbook"]


def test_adding_a_page_leaves_the_handbook_to_the_first_search(tmp_path: Path) -> None:
    library = Library(str(tmp_path / "library.db"))
    library.add([page(1, "walrus")])
    assert library.has_read("https://example.org/1")
    with sqlite3.connect(library.path) as connection:
        assert connection.execute("SELECT source FROM page").fetchall() == [("page",)]
    assert library.search("search.formats json", 3)[0].site.startswith(handbook.SITE)
    library.close()


def test_trim_removes_only_the_pages_read_longest_ago(library: Library) -> None:
    words = " ".join(f"word{number}" for number in range(500))
    library.add(page(number, f"kept{number} {words}", source="file") for number in range(20))
    library.add(page(number, f"read{number} {words} {number}") for number in range(100, 500))
    assert library.trim(1_000) == 0
    removed = library.trim(3)
    assert 0 < removed < 400
    assert library.stats().bytes <= 3_000_000
    assert library.stats().sources["file"] == 20
    assert urls(library, "read100") == []
    assert urls(library, "read499") == ["https://example.org/499"]
    assert is_whole(library)


def test_index_is_rebuilt_when_the_tokens_change(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.add([page(1, "walrus"), page(2, "carpenter")])
    library.close()
    monkeypatch.setattr(index, "PROBE_TEXT", "another probe")
    assert urls(library, "walrus") == ["https://example.org/1"]
    assert library.remove("https://example.org/1") == 1
    assert is_whole(library)


def test_search_does_not_rebuild_a_large_index(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.add(page(number, f"walrus{number}") for number in range(30))
    library.close()
    monkeypatch.setattr(index, "PROBE_TEXT", "another probe")
    monkeypatch.setattr("sleuth.library.library.MAX_REINDEXED", 10)
    monkeypatch.setattr(index, "reindex", lambda connection: pytest.fail("reindexed"))
    assert urls(library, "walrus7") == ["https://example.org/7"]


def test_bounded_search_finds_what_a_full_one_does(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"all of them {'walrus ' * (n % 3 > 0)} {'carpenter ' * (n % 7 == 0)} {n}" for n in range(200)]
    texts[150] = "walrus carpenter oyster cabbages and kings"
    library.add(page(number, text) for number, text in enumerate(texts))
    queries = ["oyster", "walrus oyster", "all walrus kings", "walrus carpenter oyster cabbages", "walrus carpenter 49"]
    full = [urls(library, query)[0] for query in queries]
    monkeypatch.setattr(ranking, "BUDGET", 40)
    assert [urls(library, query)[0] for query in queries] == full


def test_common_words_cost_no_more_than_the_budget(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.add(page(number, "walrus carpenter") for number in range(300))
    monkeypatch.setattr(ranking, "BUDGET", 20)
    assert len(urls(library, "walrus carpenter", 10)) == 10
    assert len(urls(library, "walrus", 50)) == 20


def test_threads_search_side_by_side(library: Library) -> None:
    library.add(CHINESE)
    found: list[str] = []

    def look() -> None:
        found.append(urls(library, "启用JSON")[0])
        library.close()

    threads = [threading.Thread(target=look) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["https://example.cn/json"] * 16


def test_search_works_during_a_write(library: Library) -> None:
    library.add(CHINESE)
    library.close()
    other = sqlite3.connect(library.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert urls(library, "启用JSON")[0] == "https://example.cn/json"
    other.execute("ROLLBACK")
    other.close()


def test_files_are_private(library: Library) -> None:
    library.search("json", 1)
    assert os.stat(library.path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(library.path)).st_mode & 0o777 == 0o700


def test_handbook_answers_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    library = Library(str(tmp_path / "file" / "library.db"))
    assert library.search("enable json in searxng", 1)[0].url.endswith("#enable-json-in-searxng-403-forbidden")
    with pytest.raises(UnwritableError):
        library.add(CHINESE)
    library.close()


def test_what_was_added_is_found_where_nothing_can_be_written_any_more(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(CHINESE)
    library.close()

    def refuse(path: str, migrations: object) -> sqlite3.Connection:
        raise UnwritableError("read-only")

    monkeypatch.setattr("sleuth.library.library.open_database", refuse)  # the superuser may write anywhere
    assert urls(library, "启用JSON")[0] == "https://example.cn/json"
    with pytest.raises(UnwritableError):
        library.remove_all()


def test_broken_file_is_reported_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    path.write_bytes(b"this is no database" * 1000)
    library = Library(str(path))
    with pytest.raises(SettingsError):
        library.search("json", 1)
    assert path.read_bytes().startswith(b"this is no database")
    library.close()


@pytest.fixture
def provider(library: Library) -> LibraryProvider:
    library.add(CHINESE)
    return LibraryProvider(lambda: library)


def test_provider_applies_what_it_declares(provider: LibraryProvider) -> None:
    http = HttpClient(Policy())
    found = provider.search(Query("json", count=5, content=True, include=("example.cn",)), Account(), http)
    assert [result.url for result in found.results] == ["https://example.cn/json"]
    assert "settings.yml" in found.results[0].content
    found = provider.search(Query("json", count=5, exclude=("example.cn",)), Account(), http)
    assert found.results
    assert all(result.url.startswith("file:") for result in found.results)
    first, second = (provider.search(Query("json", count=3, page=n), Account(), http).results for n in (1, 2))
    assert not {result.url for result in first} & {result.url for result in second}
    assert provider.not_applied(Query("json", page=2, include=("a.b",), exclude=("c.d",))) == ()
    assert provider.not_applied(Query("json", lang="de")) == ("lang",)


def test_provider_reports_a_broken_file(tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    path.write_bytes(b"this is no database" * 1000)
    provider = LibraryProvider(lambda: Library(str(path)))
    with pytest.raises(ProviderError) as caught:
        provider.search(Query("json"), Account(), HttpClient(Policy()))
    assert caught.value.values["path"] == str(path)
    assert caught.value.hint == "see how to repair it: sleuth doctor"


NEWCOMER_IMPORTS = """
import sleuth.library.handbook, sleuth.library.index, sleuth.library.ranking
from sleuth.library.library import Document, Library
"""
NEWCOMER = """
library = Library(arguments[0])
assert library.search("enable json in searxng", 1)[0].url.endswith("#enable-json-in-searxng-403-forbidden")
texts = [(f"https://example.org/{number}/{part}", f"walrus{number} {part}") for part in range(3)]
pages = [Document(url, f"Document {number}", text) for url, text in texts]
shared = Document("https://example.org/shared", "Shared", "carpenter")
assert library.add([*pages, shared]).added >= 3
assert len(library.search(f"walrus{number}", 5)) == 3
"""


def test_many_processes_open_a_new_library_at_once(library: Library) -> None:
    run_at_once(32, NEWCOMER_IMPORTS, NEWCOMER, library.path)
    assert library.stats().sources["file"] == 32 * 3 + 1
    assert is_whole(library)
