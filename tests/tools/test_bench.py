"""Public sets are recognised by their fields, and measured; cases that we ship are left out."""

import json
from pathlib import Path
from typing import Any

from bench.claims import labelled
from bench.external import Claim, read
from bench.measures import external

RIGHT = "Tokio is a runtime for Rust. It was released in 2016 by Carl Lerche."
WRONG = "Bananas are a yellow fruit. They grow in warm countries."


def write(path: Path, *records: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(json.dumps(record) for record in records), "utf-8")


def test_public_sets_are_read_and_measured(tmp_path: Path) -> None:
    asked = {"id": "1", "question": "When was Tokio released?", "answers": [{"text": "2016", "answer_start": 48}]}
    shipped = {**asked, "id": "2", "question": "known"}
    articles = [
        {"paragraphs": [{"context": RIGHT, "qas": [asked, shipped]}]},
        {"paragraphs": [{"context": WRONG, "qas": []}]},
    ]
    write(tmp_path / "squad.en.json", {"data": articles})
    rgb = {"id": 0, "query": "When was Tokio released?", "answer": ["2016"], "positive": [RIGHT], "negative": [WRONG]}
    write(tmp_path / "rgb.json", rgb)
    page = {"paragraphs": ["东京是日本的首都。"]}
    write(tmp_path / "du.json", {"question_id": 7, "question": "首都", "documents": [page], "answers": ["东京"]})
    turn, query = {"speaker": "A", "content": RIGHT}, {"query": "When?", "answer": "In 2016."}
    write(tmp_path / "qm.jsonl", {"meeting_transcripts": [turn], "specific_query_list": [query]})
    claim = {"id": "a", "claim": "Tokio was released in 2016.", "references": [RIGHT]}
    labels = ({"attribution_label": "attributable"}, {"attribution_label": "not attributable", "references": [WRONG]})
    write(tmp_path / "ab.jsonl", *(claim | label for label in labels))
    hits = [{"qid": 5, "docid": name, "rank": place, "content": WRONG} for place, name in enumerate("xy", 1)]
    for system in ("one", "two"):
        write(tmp_path / "runs" / f"{system}.json", {"query": "tokio", "hits": hits})
    (tmp_path / "qrels.txt").write_text("5 0 x 0\n5 0 y 2\n")
    found = read(tmp_path, frozenset({"known"}))
    assert sorted(found.sets) == ["du_zh", "qm", "rgb", "squad.en"]
    assert [case["id"] for case in found.sets["squad.en"]["cases"]] == ["1"]
    figures = {(figure.group, figure.name): figure.mean for job in external(found) for figure in job()}
    assert figures["Evidence kept", "squad.en, 1,000 characters"] == 1.0
    assert figures["Answer in a summary of 5 pages", "rgb, 400 characters"] == 1.0
    assert figures["Citation check, balanced accuracy", "ab"] == 1.0
    assert round(figures["Fusion, nDCG@10, equal weights", "runs one + runs two"], 2) == 0.63


def test_balanced_accuracy_weighs_both_kinds_alike() -> None:
    right = Claim("a", "Tokio was released in 2016.", RIGHT, True)
    wrong = [
        right._replace(id=name, source=source, supported=False)
        for name, source in zip("bcd", (WRONG, WRONG, RIGHT), strict=True)
    ]
    accuracy = next(labelled("set", [right, *wrong]))
    assert (accuracy.group, round(accuracy.mean, 3)) == ("Citation check, balanced accuracy", round((1 + 2 / 3) / 2, 3))
