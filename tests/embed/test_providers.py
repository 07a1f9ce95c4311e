"""Every provider, over a real connection, with every failure that providers are known for."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.embed.provider_server import (
    KINDS,
    ProviderServer,
    Step,
    dropped,
    failing,
    late,
    no_quota,
    not_a_number,
    ok,
    redirect,
    short,
    too_large,
    too_long,
    too_many,
    trickled,
    truncated,
    unit,
    wrong_dimension,
    zero,
)

from firstlight.embed.limits import Prefixes
from firstlight.embed.ollama import OllamaEmbedder
from firstlight.embed.openai import OpenAIEmbedder
from firstlight.embed.pace import Pace
from firstlight.embed.tei import TeiEmbedder
from firstlight.embed.types import Embedder, Limits
from firstlight.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.embed.provider_server import Kind

    from firstlight.embed.remote import RemoteEmbedder

    Make = Callable[..., RemoteEmbedder]

CLASSES: dict[Kind, type[RemoteEmbedder]] = {
    "openai": OpenAIEmbedder,
    "ollama": OllamaEmbedder,
    "tei": TeiEmbedder,
}
TEXTS = ["the first private sentence", "a second one", "水は third"]
KEY = "sk-very-secret-0123"
QUICK: dict[str, Any] = {"backoff": (0.001, 0.002), "timeout": 10.0, "query_timeout": 10.0}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    given: Kind = request.param
    return given


@pytest.fixture
def make(provider: ProviderServer, kind: Kind) -> Iterator[Make]:
    """Makes embedders of a kind that ask the server and wait for next to nothing."""
    made: list[RemoteEmbedder] = []

    def one(model: str = "test-model", **options: Any) -> RemoteEmbedder:
        embedder = CLASSES[kind](model, base_url=provider.url(kind), **(QUICK | options))
        made.append(embedder)
        return embedder

    yield one
    for embedder in made:
        embedder.close()


def right(texts: list[str], dimensions: int = 8) -> np.ndarray[Any, Any]:
    return np.array([unit(text, dimensions) for text in texts])


def trouble(embedder: RemoteEmbedder, kind: str = "document", texts: list[str] = TEXTS) -> EmbeddingError:
    """Embed what cannot be; the error names the provider, and holds nothing private."""
    with pytest.raises(EmbeddingError) as error:
        embedder.embed(texts, kind)  # type: ignore[arg-type]
    assert str(error.value).startswith(embedder.name)
    assert not any(word in str(error.value) for word in [*texts, KEY])
    return error.value


# What is right


def test_each_text_gets_its_own_vector_of_unit_length(make: Make) -> None:
    embedder = make()
    assert isinstance(embedder, Embedder)
    vectors = embedder.embed(TEXTS, "document")
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, right(TEXTS), atol=1e-6)
    np.testing.assert_array_equal(embedder.embed(TEXTS[1:2], "query"), vectors[1:2])


def test_every_input_is_counted_once(make: Make, provider: ProviderServer) -> None:
    make().embed(TEXTS, "document")
    assert provider.inputs == TEXTS
    assert [provider.times(text) for text in TEXTS] == [1, 1, 1]
    assert [call.texts for call in provider.requests] == [tuple(TEXTS)]


def test_nothing_is_asked_for_no_texts(make: Make, provider: ProviderServer) -> None:
    assert make().embed([], "document").shape == (0, 0)
    assert not provider.calls


def test_the_dimension_is_known_from_the_first_answer_on(make: Make) -> None:
    embedder = make()
    assert embedder.dimensions == 0
    embedder.embed(TEXTS, "document")
    assert embedder.dimensions == 8
    assert embedder.embed([], "document").shape == (0, 8)


def test_what_is_known_of_a_model_is_used(make: Make, provider: ProviderServer) -> None:
    provider.model = "nomic-embed-text"
    provider.dimensions = 768
    embedder = make("nomic-embed-text")
    assert embedder.dimensions == 768
    assert embedder.languages == frozenset({"en"})
    assert embedder.name == f"{embedder.kind}:nomic-embed-text"
    embedder.embed(["a text"], "document")
    embedder.embed(["a question"], "query")
    assert provider.inputs == ["search_document: a text", "search_query: a question"]
    assert provider.times("a question") == 1


def test_a_text_with_a_broken_character_is_embedded(make: Make, provider: ProviderServer) -> None:
    make().embed(["half \ud83d of a pair"], "document")
    assert provider.inputs == ["half ? of a pair"]


def test_a_short_dimension_is_asked_for(make: Make, provider: ProviderServer) -> None:
    embedder = make(dimensions=4)
    provider.dimensions = 4
    assert embedder.dimensions == 4
    embedder.embed(TEXTS, "document")
    assert provider.requests[0].body["dimensions"] == 4


def test_long_texts_are_not_to_be_cut(make: Make, provider: ProviderServer, kind: Kind) -> None:
    make().embed(TEXTS, "document")
    assert provider.requests[0].body.get("truncate") is (None if kind == "openai" else False)


def test_the_order_of_openai_is_that_of_the_indices(provider: ProviderServer) -> None:
    provider.shuffled = True
    embedder = OpenAIEmbedder("m", base_url=provider.url("openai"), **QUICK)
    np.testing.assert_allclose(embedder.embed(TEXTS, "document"), right(TEXTS), atol=1e-6)
    embedder.close()


@pytest.mark.parametrize("indices", [[0, 0, 1], [0, 1, 1], [1, 2, 3], [0, 1, None], [0, 1, "2"]])
def test_indices_that_are_not_each_text_once_are_a_wrong_answer(
    provider: ProviderServer, monkeypatch: pytest.MonkeyPatch, indices: list[Any]
) -> None:
    give = provider.give

    def renumbered(*args: Any) -> object:
        answer: Any = give(*args)
        for row, index in zip(answer["data"], indices, strict=True):
            row["index"] = index
        return answer

    monkeypatch.setattr(provider, "give", renumbered)
    embedder = OpenAIEmbedder("m", base_url=provider.url("openai"), **QUICK)
    assert trouble(embedder).kind == "wrong-answer"
    embedder.close()


# What vectors are called


def test_fingerprints_tell_models_apart_and_know_no_address(make: Make, provider: ProviderServer) -> None:
    plain = make().fingerprint
    assert plain == make(key=KEY).fingerprint
    different = {
        make(dimensions=4).fingerprint,
        make(prefixes=Prefixes("", "ask: ")).fingerprint,
        make(prefixes=Prefixes("ask: ", "")).fingerprint,
        make(revision="another").fingerprint,
        make("nomic-embed-text", revision="").fingerprint,
        make("nomic-embed-text", revision="", prefixes=Prefixes()).fingerprint,
        plain,
    }
    assert len(different) == 7
    assert not any(secret in text for text in different for secret in (KEY, "127.0.0.1", "http"))
    assert plain.startswith(f"{make().kind}:test-model")


def test_a_new_revision_is_another_fingerprint(make: Make, provider: ProviderServer, kind: Kind) -> None:
    before = make().fingerprint
    provider.revision = "4567"
    assert (make().fingerprint == before) is (kind == "openai")


def test_the_revision_is_asked_for_once_and_not_before_it_is_needed(
    make: Make, provider: ProviderServer, kind: Kind
) -> None:
    embedder = make()
    assert not provider.calls
    for _ in range(3):
        assert embedder.fingerprint
        embedder.embed(TEXTS, "document")
    asked = {"openai": None, "ollama": "/api/tags", "tei": "/info"}[kind]
    paths = Counter(call.path for call in provider.calls)
    assert paths[asked or ""] == (1 if asked else 0)


def test_tei_tells_what_it_serves(provider: ProviderServer) -> None:
    provider.model = "BAAI/bge-small-en-v1.5"
    embedder = TeiEmbedder("", base_url=provider.url("tei"), **QUICK)
    assert (embedder.name, embedder.max_tokens) == ("tei:", 512)
    assert embedder.fingerprint.startswith(
        "tei:BAAI/bge-small-en-v1.5;revision=0123abcd;pooling=mean;prefix="
    )
    assert embedder.name == "tei:BAAI/bge-small-en-v1.5"
    assert (embedder.max_tokens, embedder.dimensions, embedder.limits) == (384, 384, Limits(32, 16384))
    embedder.close()


def test_a_tei_server_of_another_model_is_refused(provider: ProviderServer) -> None:
    provider.model = "BAAI/bge-m3"
    embedder = TeiEmbedder("BAAI/bge-small-en-v1.5", base_url=provider.url("tei"), **QUICK)
    assert trouble(embedder).kind == "refused"
    assert not provider.inputs
    embedder.close()


# What fails


@pytest.mark.parametrize(
    "step",
    [
        too_many(),
        too_many(after=0),
        too_many(after=0.01),
        too_many(after=format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)),
        failing(500),
        failing(502),
        failing(503),
        failing(408),
        failing(424),
        truncated(),
        dropped(),
    ],
    ids=lambda step: f"{step.status}-{step.ending}",
)
def test_what_passes_is_tried_again(make: Make, provider: ProviderServer, step: Step) -> None:
    provider.script(step, step, ok())
    np.testing.assert_allclose(make().embed(TEXTS, "document"), right(TEXTS), atol=1e-6)
    assert len(provider.requests) == 3
    assert provider.inputs == TEXTS


@pytest.mark.parametrize("step", [late(5.0), trickled()], ids=["late", "trickled"])
def test_what_comes_too_late_is_tried_again(make: Make, provider: ProviderServer, step: Step) -> None:
    provider.script(step)
    np.testing.assert_allclose(make(timeout=0.3).embed(TEXTS, "document"), right(TEXTS), atol=1e-6)


@pytest.mark.parametrize("step", [too_many(), failing(500), truncated(), dropped()], ids=lambda s: s.ending)
def test_what_does_not_pass_is_unavailable(make: Make, provider: ProviderServer, step: Step) -> None:
    provider.script(*[step] * 3)
    error = trouble(make(retries=2))
    assert error.kind == "unavailable"
    assert len(provider.requests) == 3


@pytest.mark.parametrize("kind", ["ollama", "tei"])
def test_who_does_not_say_what_it_serves_rests_for_a_while(make: Make, provider: ProviderServer) -> None:
    embedder = make(retries=0)
    provider.stop()
    for words in ("no connection", "a moment ago: no connection; start "):
        with pytest.raises(EmbeddingError, match=words) as error:
            _ = embedder.fingerprint
        assert error.value.kind == "unavailable"
    assert "no connection" in str(trouble(embedder))  # a batch asks all the same


def test_where_nobody_listens_it_is_unavailable(make: Make, provider: ProviderServer) -> None:
    embedder = make(retries=1, revision="known")
    provider.stop()
    assert trouble(embedder).kind == "unavailable"


@pytest.mark.parametrize(
    "step", [too_large(), too_long(), too_long(500), too_long(422)], ids=lambda s: s.status
)
def test_too_large_is_told_at_once(make: Make, provider: ProviderServer, step: Step) -> None:
    provider.script(step)
    assert trouble(make()).kind == "too-large"
    assert len(provider.requests) == 1


def test_limits_of_the_server_are_told_as_too_large(make: Make, provider: ProviderServer) -> None:
    provider.max_texts = 2
    assert trouble(make()).kind == "too-large"
    provider.max_texts, provider.max_bytes = None, 50
    assert trouble(make()).kind == "too-large"
    provider.max_bytes, provider.max_chars = None, 5
    assert trouble(make()).kind == "too-large"
    provider.max_chars = 30
    np.testing.assert_allclose(make().embed(TEXTS, "document"), right(TEXTS), atol=1e-6)


def test_known_limits_are_kept_without_asking(make: Make, provider: ProviderServer) -> None:
    embedder = make()
    assert trouble(embedder, texts=["many"] * (embedder.limits.texts + 1)).kind == "too-large"
    assert trouble(embedder, texts=["long" * 3_000_000]).kind == "too-large"
    assert not provider.requests


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 422])
def test_a_refusal_is_final(make: Make, provider: ProviderServer, status: int) -> None:
    provider.script(failing(status, code="some_code"))
    error = trouble(make())
    assert error.kind == "refused"
    assert str(status) in str(error)
    assert len(provider.requests) == 1


def test_a_missing_or_wrong_key_names_its_variable(make: Make, provider: ProviderServer, kind: Kind) -> None:
    provider.key = KEY
    variable = {"openai": "OPENAI_API_KEY", "ollama": "OLLAMA_API_KEY", "tei": "TEI_API_KEY"}[kind]
    assert f"it wants a key: set {variable}" in str(trouble(make(revision="known")))
    assert f"it does not take the key in {variable}" in str(trouble(make(revision="known", key="sk-wrong")))
    np.testing.assert_allclose(make(key=KEY).embed(TEXTS, "document"), right(TEXTS), atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "way"), [("openai", "check the model's name"), ("ollama", "run `ollama pull test-model`")]
)
def test_a_missing_model_says_how_to_get_it(make: Make, provider: ProviderServer, way: str) -> None:
    provider.model = "another"
    for embedder in (make(), make(revision="known")):
        assert way in str(trouble(embedder))


@pytest.mark.parametrize(
    ("kind", "status"), [("openai", 429), ("openai", 402), ("ollama", 402), ("tei", 402)]
)
def test_an_exhausted_quota_is_final(make: Make, provider: ProviderServer, status: int) -> None:
    provider.script(no_quota(status))
    assert trouble(make()).kind == "quota"
    assert len(provider.requests) == 1


WRONG = [short(), wrong_dimension(), not_a_number(), zero()]
WRONG_IDS = ["short", "dimension", "nan", "zero"]


@pytest.mark.parametrize("step", WRONG, ids=WRONG_IDS)
def test_a_wrong_answer_is_asked_for_once_more(make: Make, provider: ProviderServer, step: Step) -> None:
    embedder = make()
    embedder.embed(["before"], "document")
    provider.script(step)
    np.testing.assert_allclose(embedder.embed(TEXTS, "document"), right(TEXTS), atol=1e-6)
    provider.script(step, step)
    assert trouble(embedder).kind == "wrong-answer"
    assert len(provider.requests) == 5


def test_after_a_wrong_answer_a_refusal_is_final_all_the_same(make: Make, provider: ProviderServer) -> None:
    provider.script(zero(), failing(400))
    assert trouble(make()).kind == "refused"
    assert len(provider.requests) == 2


def test_another_dimension_than_the_known_one_is_a_wrong_answer(make: Make, provider: ProviderServer) -> None:
    assert trouble(make("all-minilm", revision="known")).kind == "wrong-answer"


def test_an_answer_in_another_format_is_a_wrong_answer(
    make: Make, kind: Kind, provider: ProviderServer
) -> None:
    embedder = make(revision="known")
    provider.give = lambda call, step: {"detail": call.texts}  # type: ignore[method-assign]
    assert trouble(embedder).kind == "wrong-answer"


def test_a_redirect_is_refused(make: Make, provider: ProviderServer) -> None:
    provider.script(redirect(provider.url("tei") + "/embed"))
    error = trouble(make(key=KEY))
    assert error.kind == "refused"
    assert "redirects" in str(error)
    assert len(provider.requests) == 1


# Pace, questions, stopping


def test_retry_after_is_what_is_waited(make: Make, provider: ProviderServer) -> None:
    now = [0.0]
    pace = Pace(clock=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s), chance=lambda: 0.0)
    provider.script(too_many(after=7), too_many(after=3600))
    make(pace=pace).embed(TEXTS, "document")
    assert now[0] == pytest.approx(7 + 60)


def test_backoff_doubles_up_to_its_bound(make: Make, provider: ProviderServer) -> None:
    now = [0.0]
    pace = Pace(clock=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s), chance=lambda: 0.5)
    provider.script(*[failing(500)] * 5)
    make(pace=pace, backoff=(1.0, 5.0)).embed(TEXTS, "document")
    assert now[0] == pytest.approx(1 + 2 + 4 + 5 + 5)


def test_one_429_holds_sixteen_threads(make: Make, provider: ProviderServer) -> None:
    embedder = make()
    embedder.embed(["before"], "document")
    provider.script(too_many(after=1.0))
    with pytest.raises(EmbeddingError):
        embedder.embed(["a question"], "query")
    start = time.monotonic()
    came: list[float] = []

    def work(number: int) -> None:
        embedder.embed([f"text {number}"], "document")
        came.append(time.monotonic() - start)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    embedder.embed(["another question"], "query")  # which waits for nobody
    assert [call.texts[0] for call in provider.requests[1:]] == ["a question", "another question"]
    for thread in threads:
        thread.join()
    assert len(came) == 16
    assert min(came) > 0.8
    assert all(provider.times(f"text {number}") >= 1 for number in range(16))


def test_a_question_has_one_attempt(make: Make, provider: ProviderServer) -> None:
    embedder = make()
    for step in (too_many(after=60), failing(500), dropped(), zero()):
        before = len(provider.requests)
        provider.script(step)
        start = time.monotonic()
        assert trouble(embedder, "query").kind in ("unavailable", "wrong-answer")
        assert len(provider.requests) == before + 1
        assert time.monotonic() - start < 5


def test_a_question_has_a_deadline_of_its_own(make: Make, provider: ProviderServer) -> None:
    embedder = make(query_timeout=0.2, revision="known")
    provider.script(trickled())
    start = time.monotonic()
    assert trouble(embedder, "query").kind == "unavailable"
    assert time.monotonic() - start < 2


def test_batches_wait_while_a_question_is_asked(make: Make, provider: ProviderServer) -> None:
    embedder = make(revision="known")
    provider.hold()
    question = threading.Thread(target=embedder.embed, args=(["a question"], "query"))
    question.start()
    provider.wait_for_calls(1)
    batch = threading.Thread(target=embedder.embed, args=(["a batch"], "document"))
    batch.start()
    time.sleep(0.2)
    assert len(provider.requests) == 1
    provider.release()
    question.join()
    batch.join()
    assert provider.inputs == ["a question", "a batch"]


@pytest.mark.parametrize("step", [too_many(after=60), late(60.0)], ids=["told to wait", "under way"])
def test_a_stop_ends_a_batch_within_two_seconds(make: Make, provider: ProviderServer, step: Step) -> None:
    embedder, stop = make(timeout=90.0), threading.Event()
    embedder.stop = stop
    provider.script(step)
    ended: list[str] = []

    def work() -> None:
        with pytest.raises(EmbeddingError, match="stopped") as error:
            embedder.embed(TEXTS, "document")
        ended.append(error.value.kind)

    worker = threading.Thread(target=work)
    worker.start()
    provider.wait_for_calls(1)
    time.sleep(0.1)
    start = time.monotonic()
    stop.set()
    worker.join(10)
    assert ended == ["unavailable"]
    assert time.monotonic() - start < 2
    assert embedder.embed(["a question"], "query").shape == (
        1,
        8,
    )  # stop or not


def test_threads_share_an_embedder(make: Make, provider: ProviderServer) -> None:
    embedder = make()
    right_ones: list[bool] = []

    def work(number: int) -> None:
        texts = [f"text {number}.{at}" for at in range(5)]
        answers = [embedder.embed(texts, "document") for _ in range(3)]
        right_ones.append(all(np.allclose(answer, right(texts), atol=1e-6) for answer in answers))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right_ones == [True] * 8
    assert set(Counter(provider.inputs).values()) == {3}


# What is private


def test_no_log_and_no_repr_holds_a_text_or_a_key(
    make: Make, provider: ProviderServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    embedder = make(key=KEY, retries=2)
    provider.script(failing(500), too_many(after=0), ok(), truncated(), dropped(), failing(400, code=KEY))
    embedder.embed(TEXTS, "document")
    error = trouble(embedder)
    logged = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    assert "http" in logged  # the client's own lines are there
    for shown in (logged, repr(embedder), str(embedder), repr(error)):
        assert not any(word in shown for word in [*TEXTS, KEY])


def test_a_retry_says_nothing_on_the_terminal(
    make: Make, provider: ProviderServer, capfd: pytest.CaptureFixture[str]
) -> None:
    provider.script(failing(500))
    make().embed(TEXTS, "document")
    assert capfd.readouterr() == ("", "")
