"""Stemmers and stop words of many languages, and which language a text in Latin script is written in."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

# Function words of each language: they say nothing about the subject of a query, and tell languages apart.
LATIN_STOP_WORDS = {
    name: frozenset(listed.split())
    for name, listed in {
        "english": """
            a about an and are as at be been but by can could did do does for from had has have how i if in into is
            it its me my no not of on or our s should such t than that the their then there these they this to was
            we were what when where which who whom whose why will with would you your
        """,
        "german": """
            am an als auch auf aus bei das dass dem den der des die durch ein eine einem einen einer eines er es für
            hat hatte hatten haben ich ihr im in ist kann mit nach nicht oder sich sie sind um und unter viele vom
            von wann war waren warum was welche welchem welchen welcher welches wem wen wer werden wessen wie wir
            wird wo wurde wurden zu zum zur über
        """,
        "french": """
            a ai au aux avait avec c ce ces cet cette combien comment d dans de des dont du elle elles en est et il
            ils j l la le les leur leurs n ne ont on ou où par pas plus pour pourquoi qu quand que quel quelle
            quelles quels qui quoi s sa sans se ses son sont sur un une été étaient était être
        """,
        "spanish": """
            a al como con cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo de del dónde el en era eran es este
            esta estos fue fueron ha había han la las le les lo los más no o para por que quien quién quiénes qué se
            ser sin son su sus un una unas unos y
        """,
        "italian": """
            a ai al alla che chi come con cosa da dal dalla degli dei del della delle dello di dove e era erano gli
            ha hanno i il in la le lo nel nella non o per perché più quale quali quando quante quanti quanto si sono
            su sul un una uno è
        """,
        "portuguese": """
            a ao as com como da das de do dos e em era eram foi foram mais na nas no nos não o onde os ou para pela
            pelo por qual quais quando quantas quanto quantos que quem se sem seu seus sua suas são um uma à é
        """,
        "dutch": """
            aan als bij dat de die door een en er had hebben heeft het hij hoe in is met naar niet of om ook op over
            te uit van voor waar waarom wanneer waren was wat welk welke werd werden wie ze zij zijn
        """,
        "romanian": """
            a ai al ale au ca care ce cine cu cum când câte câți cât că de din ei el era erau este fi fost in la lor
            lui mai nu o pe pentru prin sau se sunt un unde unei unui în și
        """,
        "turkish": """
            bir bu çok da daha de değil en gibi hangi ile ise için kaç kadar ki kim kimin mi mu mı mü nasıl ne neden
            nerede niçin o olan olarak oldu olduğu ve veya şu
        """,
        "swedish": """
            att av de den det en ett från för har hade hur i inte med när och om på som till vad var vem vilka
            vilken vilket är
        """,
        "danish": """
            af at de den det en er et for fra har havde hvad hvem hvilken hvilket hvor hvordan hvornår i ikke med og
            på som til var
        """,
        "norwegian": """
            av at de den det en er et for fra har hadde hva hvem hvilken hvilket hvor hvordan når i ikke med og på
            som til var
        """,
        "finnish": """
            että ei hän ja joka kuinka kuka kun mikä milloin missä miten mitä miksi myös ne oli olivat on ovat se
            sen tai
        """,
        "hungarian": """
            a az egy és ez ezt hány hogy hogyan hol is ki meg melyik mennyi mi mikor miért nem vagy van volt voltak
        """,
        "polish": """
            był była było były co czy dla do gdzie i ile jak jaka jaki jakie jest kiedy kto która które który na nie
            o od po przez się są to w z że
        """,
        "czech": """
            a byl byla byli bylo co do i jak jaký je jsou kde kdo kdy kolik která které který na ne nebo o od po pro
            se v z že
        """,
        "indonesian": """
            adalah akan apa atau bagaimana berapa dalam dan dari dengan di ini itu kapan ke mana mengapa oleh pada
            siapa telah tidak untuk yang
        """,
        "vietnamese": """
            ai bao bị cho các có của do gì khi không là một nào này những nhiêu như ở từ thì trong và vào với đã đâu
            đó được đến để
        """,
    }.items()
}
# No other language that is stemmed here has their script.
OTHER_STOP_WORDS = frozenset(
    word
    for listed in (
        """
            и или в во на с со к ко о об от до из за по для при не что кто когда где как почему какой какая какое
            какие который сколько это этот эта был была было были есть его её их он она они же ли бы
        """,
        """
            ο η το οι τα του της των τον την και ή είναι ήταν σε στο στη στην στον στα από για με που πως τι ποιος
            ποια ποιο ποιοι ποιες πότε πού πώς πόσο πόσα πόσοι δεν να θα ένα μια ένας αυτό
        """,
        """
            في من على إلى عن مع هذا هذه ذلك التي الذي ما ماذا متى أين كيف لماذا كم هل أي و أو ثم أن إن كان كانت هو
            هي لا لم
        """,
        """
            का की के को में से पर और या है हैं था थी थे क्या कौन कब कहाँ कहां कैसे क्यों कितने कितना कितनी किस किसने
            ने यह वह एक इस उस भी नहीं तक लिए कर
        """,
    )
    for word in listed.split()
)
SCRIPT_STEMMERS = (  # first and last character of a script, and its stemmer
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
ENGLISH, UNSTEMMED = "english", "vietnamese"
LATIN_WORD = re.compile(r"[a-z\u00df-\u024f\u1e00-\u1eff]+", re.IGNORECASE)
SAMPLED_TEXTS, SAMPLED_CHARS = 20, 1_000  # from which the language is detected
MIN_LEAD = 1.3  # of the function words of another language over English ones: names and terms are often English


def detect(texts: Iterable[str]) -> str:
    """Return the language of texts in Latin script by their function words; English if in doubt."""
    sample = " ".join(text[:SAMPLED_CHARS] for text in islice(texts, SAMPLED_TEXTS))
    found = LATIN_WORD.findall(sample.lower())
    counts = {name: sum(word in listed for word in found) for name, listed in LATIN_STOP_WORDS.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > MIN_LEAD * counts[ENGLISH] else ENGLISH


def is_stop_word(word: str, language: str) -> bool:
    """Tell whether a lower-case word, not its stem, is a function word."""
    return word in LATIN_STOP_WORDS[language] or word in OTHER_STOP_WORDS


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case word in the language of its script; `language` is for Latin script."""
    from Stemmer import Stemmer  # type: ignore[import-not-found]  # PyStemmer ships no types

    name = language
    if word[:1] > "\u024f":
        name = next((known for first, last, known in SCRIPT_STEMMERS if first <= word[0] <= last), language)
    if name == UNSTEMMED:
        return word
    return str(Stemmer(name, 0).stemWord(word))  # a new one takes a microsecond; a shared one is not thread-safe
