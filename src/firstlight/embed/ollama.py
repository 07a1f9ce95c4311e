"""Models that a server of Ollama runs: `POST /api/embed`; `GET /api/tags` tells their digests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firstlight.embed.failures import ShutOutError
from firstlight.embed.remote import RemoteEmbedder, Served

if TYPE_CHECKING:
    from typing import ClassVar

    from firstlight.embed.types import Kind


class OllamaEmbedder(RemoteEmbedder):
    """A model of Ollama's; see `RemoteEmbedder` for the arguments.

    The digest of the model is part of the fingerprint, for `ollama pull` may bring another one under the same
    name. Texts that are too long are refused rather than cut.
    """

    kind: ClassVar[str] = "ollama"

    def _request(self, texts: list[str]) -> tuple[str, dict[str, object]]:
        option = {} if self._option is None else {"dimensions": self._option}
        return "/api/embed", {"model": self._model, "input": texts, "truncate": False, **option}

    def _vectors(self, answer: Any) -> object:
        return answer["embeddings"]

    def _ask_served(self, kind: Kind) -> Served:
        digests: dict[str, str] = self._tell(
            "/api/tags", lambda answer: {m["name"]: m["digest"] for m in answer["models"]}, kind
        )
        digest = digests.get(self._model) or digests.get(f"{self._model}:latest")
        if digest is None:
            raise ShutOutError(
                f"{self.name} is not there: run `ollama pull {self._model}`, or check base_url"
            )
        return Served(self._model.removesuffix(":latest"), digest)
