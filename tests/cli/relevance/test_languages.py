"""Languages recognised by their function words, and words found in other forms of many languages."""

import pytest

from sleuth.relevance.bm25 import rank
from sleuth.relevance.languages import ENGLISH, detect

SENTENCES = {
    "english": "The council approved the new harbour bridge after two years of debate about its cost.",
    "german": "Der Rat hat die neue Brücke über den Hafen nach zwei Jahren genehmigt.",
    "french": "Le conseil a approuvé le nouveau pont du port après deux ans de débats sur son coût.",
    "spanish": "El consejo aprobó el nuevo puente del puerto después de dos años de debate sobre su coste.",
    "italian": "Il consiglio ha approvato il nuovo ponte del porto dopo due anni di dibattito sul costo.",
    "portuguese": "O conselho aprovou a nova ponte do porto depois de dois anos de debate sobre o seu custo.",
    "dutch": "De raad heeft na twee jaar de nieuwe brug over de haven goedgekeurd, wat het ook kost.",
    "romanian": "Consiliul a aprobat noul pod din port după doi ani de dezbateri și este pentru că nu era bun.",
    "turkish": "Meclis iki yıl süren tartışmadan sonra yeni bir köprü için ve bu liman ile ilgili karar verdi.",
    "polish": "Rada po dwóch latach zgodziła się na nowy most w porcie, który jest dla miasta i nie był drogi.",
    "vietnamese": "Hội đồng đã phê duyệt cây cầu mới của cảng và các con đường trong thành phố.",
}


@pytest.mark.parametrize(("language", "text"), SENTENCES.items())
def test_language_is_told_by_function_words(language: str, text: str) -> None:
    assert detect([text]) == language


@pytest.mark.parametrize("text", ["", "rust async runtime", "北京大学", "ISO 9001", "Café Zürich"])
def test_english_is_assumed_in_doubt(text: str) -> None:
    assert detect([text]) == ENGLISH


@pytest.mark.parametrize(
    ("query", "right", "wrong"),
    [
        ("строительство мостов", "Новый мост построили. Его строительством гордятся.", "Новый рынок открыли вчера."),
        ("جسر", "بني الجسر الجديد في المدينة", "افتتح السوق الجديد في المدينة"),
        ("γέφυρες", "η νέα γέφυρα του λιμανιού", "η νέα αγορά του λιμανιού"),
        ("Häuser der Stadt", "Das Haus ist mit der Zeit und den Jahren alt.", "Der Wald ist mit der Zeit alt."),
        ("köprüler ve limanlar", "Bu köprü bir yıl için kapalı ve çok eski.", "Bu pazar bir yıl için kapalı ve eski."),
        ("สะพาน", "มีสะพานใหม่ในเมือง", "มีตลาดใหม่ในเมือง"),
        ("why does it rain", "Rain falls when clouds cool.", "Why he does it is a riddle."),
        ("who built it", "It was built by two brothers.", "He is the one who sings."),
    ],
)
def test_other_forms_of_a_word_are_found(query: str, right: str, wrong: str) -> None:
    scores = rank(query, [wrong, right])
    assert scores[1] > scores[0]
