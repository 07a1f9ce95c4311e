"""A server of Hugging Face's text-embeddings-inference: `POST /embed`; `GET /info` tells what it serves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firstlight.embed.failures import ShutOutError
from firstlight.embed.remote import RemoteEmbedder, Served

if TYPE_CHECKING:
    from typing import ClassVar

    from firstlight.embed.types import Kind


class TeiEmbedder(RemoteEmbedder):
    """The one model that a server serves; see `RemoteEmbedder` for the arguments.

    The server says which model, which revision, how long a text and how many texts at once. Where `model` is
    given, a server that serves another one is refused. Texts that are too long are refused rather than cut.
    """

    kind: ClassVar[str] = "tei"

    def _request(self, texts: list[str]) -> tuple[str, dict[str, object]]:
        option = {} if self._option is None else {"dimensions": self._option}
        return "/embed", {"inputs": texts, "truncate": False, "normalize": True, **option}

    def _vectors(self, answer: Any) -> object:
        return answer

    def _ask_served(self, kind: Kind) -> Served:
        served = self._tell("/info", _served, kind)
        if self._model and served.model != self._model:
            raise ShutOutError(f"{self.name}: the server at base_url serves another model")
        return served


def _served(info: Any) -> Served:
    """Read what `/info` says."""
    return Served(
        model=str(info["model_id"]),
        revision=str(info.get("model_sha") or ""),
        pooling=str(info["model_type"]["embedding"]["pooling"]),
        max_tokens=int(info["max_input_length"]),
        texts=int(info["max_client_batch_size"]),
    )
