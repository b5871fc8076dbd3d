"""How long variants take."""

from dataclasses import dataclass


@dataclass(slots=True)
class Pace:
    """Seconds per variant of a stage, later tasks weighing more."""

    seconds: float = 0.0
    variants: float = 0.0

    def learn(self, seconds: float, variants: int) -> None:
        self.seconds = 0.7 * self.seconds + seconds
        self.variants = 0.7 * self.variants + variants

    @property
    def each(self) -> float:
        return self.seconds / self.variants if self.variants else 0.0
