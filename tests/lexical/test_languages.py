from __future__ import annotations

import pytest
from hypothesis import given
from tests.lexical.texts import any_text, glued

from firstlight.lexical import Index, Indexable, build_segment, detect_language, parse_query
from firstlight.lexical.languages import LATIN_STEMMERS
from firstlight.lexical.stop_words import STOP_WORDS

PARAGRAPHS = {
    "en": """
        A team that keeps its notes in one folder should be able to find them again. Most of us
        remember a word or two of what we wrote, but not where it was, and that is enough when the
        search understands the words.""",
    "de": """
        Wer seine Notizen in einem Ordner sammelt, möchte sie später auch wiederfinden. Meistens
        erinnert man sich nur an ein oder zwei Wörter und nicht an die Stelle, aber das genügt, wenn
        die Suche die Wörter versteht.""",
    "fr": """
        Une équipe qui garde ses notes dans un dossier doit pouvoir les retrouver plus tard. On se
        souvient le plus souvent d'un mot ou de deux, mais pas de l'endroit, et cela suffit si la
        recherche comprend les mots.""",
    "es": """
        Un equipo que guarda sus notas en una carpeta tiene que poder encontrarlas más tarde. Casi
        siempre se recuerda una palabra o dos, pero no el lugar, y eso basta cuando la búsqueda
        entiende las palabras.""",
    "it": """
        Un gruppo che tiene i suoi appunti in una cartella deve poterli ritrovare più tardi. Di
        solito si ricorda una parola o due, ma non il posto, e questo basta quando la ricerca
        capisce le parole della domanda.""",
    "pt": """
        Uma equipa que guarda as suas notas numa pasta precisa de as encontrar mais tarde. Quase
        sempre se lembra de uma palavra ou duas, mas não do lugar, e isso já chega quando a pesquisa
        entende as palavras.""",
    "nl": """
        Een team dat zijn notities in een map bewaart, moet ze later ook kunnen terugvinden. Meestal
        weet je nog een woord of twee en niet waar het stond, maar dat is genoeg als de zoekmachine
        de woorden begrijpt.""",
    "sv": """
        Ett lag som samlar sina anteckningar i en mapp måste kunna hitta dem igen. Oftast minns man
        ett ord eller två men inte var det stod, och det räcker när sökningen förstår orden som man
        har skrivit.""",
    "da": """
        Et hold, der samler sine noter i en mappe, skal også kunne finde dem igen. Som regel husker
        man et ord eller to, men ikke hvor det stod, og det er nok, når søgningen forstår de ord,
        man har skrevet.""",
    "no": """
        Et lag som samler notatene sine i en mappe, må også kunne finne dem igjen. Som regel husker
        man et ord eller to, men ikke hvor det sto, og det er nok når søket forstår ordene som noen
        har skrevet.""",
    "fi": """
        Ryhmä, joka kerää muistiinpanonsa kansioon, haluaa myös löytää ne myöhemmin. Useimmiten
        muistaa vain sanan tai kaksi, mutta ei sitä, missä se oli, ja se on kyllin, kun haku
        ymmärtää ne sanat, jotka on kirjoitettu.""",
    "tr": """
        Notlarını bir klasörde toplayan bir ekip, onları daha sonra bulmak ister. Çoğu zaman insan
        sadece bir ya da iki kelime hatırlar ve bu yeter, çünkü arama için kelimeler ne kadar az
        olsa da çok şey anlatır.""",
    "ru": """
        Команда, которая хранит свои заметки в одной папке, должна потом их найти. Чаще всего мы
        помним только одно или два слова, но не то место, где они были, и этого хватит, если поиск
        понимает эти слова.""",
}
CODE = """
    The worker reads the queue and writes a row for each of the jobs that it has done, see `jobs.py`:

    import os
    def drain(node_id, de, la, en): return os.environ.get("DE") or le(node_id, i, a, e, o)
    for i in range(10): print(i, a[i], e[i], o, un, des, les, die, der, das)

    Set `--de` to keep it in the same place, and `--en` to have it moved to the other one.
"""


@pytest.mark.parametrize("language", PARAGRAPHS)
def test_a_short_paragraph_tells_its_language(language: str) -> None:
    paragraph = " ".join(PARAGRAPHS[language].split())
    assert 150 < len(paragraph) < 230
    assert detect_language(" ".join([paragraph] * 2)) == language
    assert detect_language(f"# {paragraph}\n\n{paragraph.upper()}\n") == language


@pytest.mark.parametrize("language", PARAGRAPHS)
def test_less_than_two_hundred_characters_say_too_little(language: str) -> None:
    assert detect_language(" ".join(PARAGRAPHS[language].split())[:199]) == "en"


@pytest.mark.parametrize(
    "text",
    [
        CODE,
        "| a | de | la |\n|---|---|---|\n" + "| 1 | 20455 | v1.2 |\n" * 40,
        "kubectl drain node --force\n" * 30,
        "東京都の機器學習" * 60,
        "1 2 3 4 5 " * 60,
        "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod " * 5,
        "x" * 5000,
        "-" * 500,
    ],
)
def test_code_tables_and_data_are_english_when_unsure(text: str) -> None:
    assert detect_language(text) == "en"


def test_letters_within_codes_are_no_function_words() -> None:
    for code in ("E1234", "A1", "O2", "Y2K", "de_1", "x86"):  # e, a, o and y are words in other languages
        assert detect_language(f"| {code} | disk full | retry |\n" * 40) == "en"


def test_a_quotation_does_not_change_the_language() -> None:
    english, german = (" ".join(PARAGRAPHS[code].split()) for code in ("en", "de"))
    assert detect_language(f"{english} {english} As they say: {german[:80]}") == "en"
    assert detect_language(f"{german} {german} Auf Englisch: {english[:80]}") == "de"


def test_a_text_has_to_be_plainly_more_in_another_language_than_in_english() -> None:
    sentence = "the node is in the pool and it is not in use "  # eight English function words
    for other, expected in (("der die das den ", "en"), ("der die das den dem des " * 2, "de")):
        assert detect_language((sentence + other * 2) * 6) == expected


@given(any_text | glued)
def test_any_text_has_a_language(text: str) -> None:
    for size in (1, 10):
        assert detect_language(text * size) in STOP_WORDS


def test_every_language_that_is_told_can_be_stemmed() -> None:
    assert set(STOP_WORDS) - set(LATIN_STEMMERS) == {"ru"}  # Cyrillic tells by itself


def test_a_german_question_finds_inflected_forms_in_a_german_corpus() -> None:
    bodies = [
        "Die Häuser stehen an der Straße. " * 8,
        "Der Knoten wird geleert, bevor er aus dem Verbund genommen wird. " * 4,
        "Das größere Werkzeug ist nicht immer das bessere, wenn man es nicht kennt. " * 4,
    ]
    languages = [detect_language(body) for body in bodies]
    assert languages == ["de"] * 3
    chunks = [Indexable(body, language=code) for body, code in zip(bodies, languages, strict=True)]
    index = Index([(build_segment([1, 2, 3], chunks), None)])
    for question, expected in [
        ("Wo ist das Haus?", [1]),
        ("hauses", [1]),
        ("STRASSEN", [1]),
        ("Wie leert man einen Knoten?", [2]),
        ("Werkzeuge", [3]),
        ("großes Werkzeug", [3]),
    ]:
        query = parse_query(question, ("en", "de"))
        assert index.search(query, depth=5).ids.tolist()[:1] == expected, question


def test_a_corpus_of_two_languages_is_searched_in_both() -> None:
    chunks = [
        Indexable("die Häuser", language="de"),
        Indexable("the houses"),
        Indexable("maisons", language="fr"),
    ]
    index = Index([(build_segment([1, 2, 3], chunks), None)])
    for question, expected in [("Haus", 1), ("house", 2), ("maison", 3)]:
        assert index.search(parse_query(question, ("en", "de", "fr")), depth=5).ids.tolist() == [expected]
