"""Questions that no collection answers: words of no language, and good questions about other things."""

from __future__ import annotations

import random

from firstlight.corpus.calibrate import NONSENSE as CALIBRATING

_COUNT = 60
_SEED = 1
_CONSONANTS, _VOWELS = "bcdfghjklmnpqrstvwz", "aeiou"
_FRAMES = (
    "{}",
    "what is a {}",
    "how do I {}",
    "when did {} meet {}",
    "the {} of {}",
    "{} {} {}",
    "{} and {}",
)

# None of the collections (claims about medicine, aerodynamics, articles of an encyclopedia, Ethereum's
# proposals) has anything on these.
OFF_TOPIC = (
    "how long does sourdough bread have to rise before baking",
    "which knitting stitch is best for a winter scarf",
    "how do I get a red wine stain out of a white shirt",
    "why does my cat refuse to eat its dry food",
    "best beaches in Portugal for learning to surf",
    "how often should guitar strings be changed",
    "how do I tie a bow tie",
    "training plan for a first marathon",
    "how to fold a fitted sheet neatly",
    "which tomatoes grow well on a shady balcony",
    "how to sharpen a kitchen knife with a whetstone",
    "what should a toddler's bedtime routine look like",
    "how do I repair a flat bicycle tyre",
    "cheap hotels near the station in Kyoto",
    "how to descale an espresso machine",
    "what do I write in a birthday card for a colleague",
    "opening moves against the Sicilian defence in chess",
    "how do I paint a ceiling without drips",
    "easy steps for a salsa dancing beginner",
    "how many eggs go into a sponge cake",
)


def nonsense() -> tuple[str, ...]:
    """Return questions of made-up words: those that floors are calibrated with, and as many again and more.

    Example:
        >>> len(nonsense()), nonsense() == nonsense()
        (60, True)
    """
    dice = random.Random(_SEED)
    made: list[str] = []
    while len(CALIBRATING) + len(made) < _COUNT:
        frame = dice.choice(_FRAMES)
        made.append(frame.format(*(_word(dice) for _ in range(frame.count("{}")))))
    return (*CALIBRATING, *made)


def _word(dice: random.Random) -> str:
    return "".join(dice.choice(_CONSONANTS) + dice.choice(_VOWELS) for _ in range(dice.randint(2, 4)))
