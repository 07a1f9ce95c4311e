"""Any endpoint that speaks OpenAI's `/v1/embeddings`: OpenAI itself, vLLM, llama.cpp, LM Studio, others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firstlight.embed.remote import RemoteEmbedder
from firstlight.errors import EmbeddingError

if TYPE_CHECKING:
    from typing import ClassVar


class OpenAIEmbedder(RemoteEmbedder):
    """A model behind `/v1/embeddings`; `base_url` ends with that `/v1`.

    The protocol tells neither a model's revision nor whether a server cuts long texts in silence; OpenAI
    refuses them. See `RemoteEmbedder` for the arguments.
    """

    kind: ClassVar[str] = "openai"

    def _request(self, texts: list[str]) -> tuple[str, dict[str, object]]:
        option = {} if self._option is None else {"dimensions": self._option}
        return "/embeddings", {"model": self._model, "input": texts, **option}

    def _vectors(self, answer: Any) -> object:
        """Bring vectors into the order that their indices say."""
        rows = answer["data"]
        by_index = {row["index"]: row["embedding"] for row in rows}
        if len(by_index) != len(rows) or by_index.keys() != set(range(len(rows))):
            raise EmbeddingError(
                "its vectors are not numbered once each, from 0 on: their order is not known",
                kind="wrong-answer",
            )
        return [by_index[index] for index in range(len(rows))]
