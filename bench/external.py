"""Reads public sets in the form they are published in, so that figures can be measured on data we do not ship.

A folder holds the files as downloaded, under any name; each is recognised by its fields:

    SQuAD form          XQuAD, CMRC 2018, DRCD: questions about paragraphs
    RGB                 a question, passages with the answer and passages without
    DuReader 2.0        search.*.json: a question, the pages that Baidu found, human answers
    QMSum               data/ALL/jsonl: meetings, questions, human answers
    AttributionBench, WiCE, UHGEval, OCNLI    claims with a label, and their source
    rank_llm            retrieve_results_*.json: ranked passages for TREC topics, with judgements beside them (qrels*)

Cases that are in bench/data are left out.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.figure import hash_of

from sleuth.relevance.bm25 import rank
from sleuth.relevance.sentences import sentences

MAX_CASES = 200  # of a set of questions
LATIN_PAGES, CJK_PAGES = 10, 20  # in which the evidence is looked for, as in bench/data
MAX_EVIDENCE_CHARS = 500
RIGHT_PASSAGES, WRONG_PASSAGES = 2, 3  # of RGB

Data = dict[str, Any]


class Claim(NamedTuple):
    """A claim, its source, and whether people found it supported."""

    id: str
    text: str
    source: str
    supported: bool


class RankedList(NamedTuple):
    """What one system found for a topic, best first, and the grade of each passage."""

    system: str
    topic: str
    query: str
    documents: list[str]
    texts: list[str]
    grades: list[float]
    ideal: list[float]  # all grades of the topic, best first


class External(NamedTuple):
    """Everything that was recognised in a folder."""

    sets: dict[str, Data]  # in the form of bench/data
    claims: dict[str, list[Claim]]
    lists: dict[str, list[RankedList]]


def read(folder: Path, known: frozenset[str]) -> External:
    """Read all files of a folder; cases with a known id or question are left out."""
    found = External({}, {}, {})
    grades = {file: _qrels(file) for file in sorted(folder.rglob("qrels*"))}
    for file in sorted(folder.rglob("*.json*")):
        records = _records(file)
        fields = records[0].keys() if records and isinstance(records[0], dict) else set()
        if "hits" in fields:
            topics = {topic: row for judged in grades.values() for topic, row in judged.items()}
            found.lists[f"{file.parent.name} {file.stem}"] = _ranked(file.stem, records, topics)
        elif read_claims := next((one for needed, one in CLAIMS.items() if fields >= set(needed.split())), None):
            found.claims[file.stem] = list(read_claims(records))
        elif read_set := next((one for needed, one in SETS.items() if fields >= set(needed.split())), None):
            data = read_set(file.stem, records)
            unseen = [case for case in data["cases"] if not {case["id"], case["query"]} & known]
            data["cases"] = sorted(unseen, key=lambda case: hash_of(case["id"]))[:MAX_CASES]
            if data["cases"]:
                found.sets[data["name"]] = data
    return found


def _records(file: Path) -> list[Any]:
    """Return what a file holds: a list, an object, or an object on each line."""
    text = file.read_text("utf-8")
    try:
        whole = json.loads(text)
    except ValueError:
        try:
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        except ValueError:
            return []
    return whole if isinstance(whole, list) else [whole]


def _is_chinese(text: str) -> bool:
    return sum("\u4e00" <= character <= "\u9fff" for character in text) > len(text) // 3


def _squad(name: str, records: Sequence[Data]) -> Data:
    """Return questions about pages, each of which is an article."""
    articles = records[0]["data"]
    pages = ["\n".join(paragraph["context"] for paragraph in article["paragraphs"]) for article in articles]
    chinese = _is_chinese(pages[0])
    cases = []
    for gold, article in enumerate(articles):
        for paragraph in article["paragraphs"]:
            spans = sentences(paragraph["context"])
            for asked in paragraph["qas"]:
                at = asked["answers"][0]["answer_start"]
                span = next((one for one in spans if one[0] <= at < one[1]), None)
                answers = list(dict.fromkeys(answer["text"] for answer in asked["answers"]))
                evidence = paragraph["context"][slice(*span)] if span else ""
                if len(evidence) > MAX_EVIDENCE_CHARS:  # Thai has spaces between phrases and no full stops
                    evidence = next((phrase for phrase in evidence.split() if answers[0] in phrase), "")
                if answers[0] in evidence:
                    case = {"query": asked["question"], "answers": answers, "evidence": evidence, "gold": gold}
                    cases.append({"id": asked["id"], **case})
    return {"name": f"{name}{'_zh' if chinese else ''}", "pages": pages, "cases": cases}


def similar(data: Data, case: Data) -> list[int]:
    """Return the right page and those most like the question, in an order that reveals nothing."""
    scores = rank(case["query"], data["pages"])
    others = sorted((at for at in range(len(scores)) if at != case["gold"]), key=lambda at: -scores[at])
    near = [case["gold"], *others[: CJK_PAGES - 1 if "_zh" in data["name"] else LATIN_PAGES - 1]]
    return sorted(near, key=lambda at: hash_of(f"{case['id']} {at}"))


def _rgb(name: str, records: Sequence[Data]) -> Data:
    """Return questions whose answer is in two of five passages."""
    pages, cases = list[str](), []
    for record in records:
        right = [one if isinstance(one, str) else one[0] for one in record["positive"]][:RIGHT_PASSAGES]
        passages = sorted([*right, *record["negative"][:WRONG_PASSAGES]], key=hash_of)
        answer = record["answer"] if isinstance(record["answer"], list) else [record["answer"]]
        accepted = [one for part in answer for one in (part if isinstance(part, list) else [part])]
        numbers = list(range(len(pages), len(pages) + len(passages)))
        pages += passages
        cases.append(
            {"id": f"{name} {record['id']}", "query": record["query"], "answers": accepted, "passages": numbers}
        )
    chinese = _is_chinese("".join(pages[:5]))
    return {"name": f"{name}{'_zh' if chinese else ''}", "pages": pages, "cases": cases}


def _dureader(name: str, records: Sequence[Data]) -> Data:
    cases = [
        {
            "id": str(record["question_id"]),
            "query": record["question"],
            "pages": ["\n".join(page["paragraphs"]) for page in record["documents"]],
            "refs": record["answers"],
            "budget": 150,
        }
        for record in records
        if record["answers"]
    ]
    return {"name": f"{name}_zh", "cases": cases}


def _qmsum(name: str, records: Sequence[Data]) -> Data:
    pages, cases = [], []
    for number, record in enumerate(records):
        pages.append("\n".join(f"{turn['speaker']}: {turn['content']}" for turn in record["meeting_transcripts"]))
        for at, asked in enumerate(record["specific_query_list"]):
            case = {"id": f"{name} {number} {at}", "query": asked["query"], "refs": [asked["answer"]]}
            cases.append({**case, "doc": number, "budget": 400})
    return {"name": name, "pages": pages, "cases": cases}


def _attribution_bench(records: Sequence[Data]) -> Iterator[Claim]:
    for record in records:
        source = "\n\n".join(record["references"])
        yield Claim(record["id"], record["claim"], source, record["attribution_label"] == "attributable")


def _wice(records: Sequence[Data]) -> Iterator[Claim]:
    for record in records:
        if record["label"] != "partially_supported":
            source = "\n".join(record["evidence"])
            yield Claim(record["meta"]["id"], record["claim"], source, record["label"] == "supported")


def _uhgeval(records: Sequence[Data]) -> Iterator[Claim]:
    """Yield headlines with their own article and with the one most like it, and what a model invented."""
    articles = [record["newsBeginning"] + record["newsRemainder"] for record in records]
    for at, record in enumerate(records):
        headline = record["headLine"].partition("）")[2] or record["headLine"]
        yield Claim(f"{record['id']} own", headline, articles[at], True)
        nearby = [other for other in range(max(0, at - 50), min(len(articles), at + 50)) if other != at]
        scores = rank(headline, [articles[other] for other in nearby])
        other = nearby[max(range(len(nearby)), key=scores.__getitem__)]
        yield Claim(f"{record['id']} other", headline, articles[other], False)
        yield Claim(f"{record['id']} invented", record["hallucinatedContinuation"].strip(), articles[at], False)


def _nli(records: Sequence[Data]) -> Iterator[Claim]:
    for record in records:
        if record["label"] in ("entailment", "neutral", "contradiction"):
            supported = record["label"] == "entailment"
            yield Claim(str(record["id"]), record["sentence2"], record["sentence1"], supported)


def _qrels(file: Path) -> dict[str, dict[str, float]]:
    judged: dict[str, dict[str, float]] = {}
    for line in file.read_text("utf-8").splitlines():
        topic, _, document, grade = line.split()
        judged.setdefault(topic, {})[document] = float(grade)
    return judged


def _ranked(system: str, records: Sequence[Data], topics: dict[str, dict[str, float]]) -> list[RankedList]:
    found = []
    for record in records:
        hits = sorted(record["hits"], key=lambda hit: int(hit["rank"]))
        grades = topics.get(str(hits[0]["qid"]), {}) if hits else {}
        if any(grades.values()):
            documents = [str(hit["docid"]) for hit in hits]
            own = [grades.get(document, 0.0) for document in documents]
            ideal = sorted(grades.values(), reverse=True)
            texts = [hit["content"] for hit in hits]
            found.append(RankedList(system, str(hits[0]["qid"]), record["query"], documents, texts, own, ideal))
    return found


SETS: dict[str, Callable[[str, Sequence[Data]], Data]] = {
    "data": _squad,
    "query answer positive negative": _rgb,
    "question_id documents answers": _dureader,
    "meeting_transcripts specific_query_list": _qmsum,
}
CLAIMS: dict[str, Callable[[Sequence[Data]], Iterator[Claim]]] = {
    "claim references attribution_label": _attribution_bench,
    "claim evidence label meta": _wice,
    "headLine newsBeginning hallucinatedContinuation": _uhgeval,
    "sentence1 sentence2 label": _nli,
}
