"""Searches side by side, each a function that asks for what it needs and goes on from the answer.

The answers to all are computed at once: whoever asks last has them made for everybody.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")
Found = TypeVar("Found")


class _Turns(Generic[Question, Answer]):
    """Gathers a question of every search that goes on, and hands out the answers."""

    def __init__(self, answer: Callable[[Sequence[Question]], Sequence[Answer]], count: int):
        self.answer, self.going = answer, set(range(count))
        self.asked: dict[int, Question] = {}
        self.answers: dict[int, Answer | BaseException] = {}
        self.turn = threading.Condition()

    def ask(self, who: int, question: Question) -> Answer:
        with self.turn:
            self.asked[who] = question
            self._answer_if_all_ask()
            self.turn.wait_for(lambda: who in self.answers)
            found = self.answers.pop(who)
        if isinstance(found, BaseException):
            raise found
        return found

    def leave(self, who: int) -> None:
        with self.turn:
            self.going.discard(who)
            self._answer_if_all_ask()

    def _answer_if_all_ask(self) -> None:
        if not self.asked or self.going - self.asked.keys():
            return
        # In one order, however the threads came: what is computed together is the same again.
        order = sorted(self.asked)
        questions = [self.asked[who] for who in order]
        self.asked.clear()
        self.answers |= dict(zip(order, self._answered(questions), strict=True))
        self.turn.notify_all()

    def _answered(self, questions: Sequence[Question]) -> Sequence[Answer | BaseException]:
        """Answers; one by one where that fails, so that an error is its own question's."""
        try:
            return self.answer(questions)
        except BaseException as cause:
            if len(questions) == 1:
                return [cause]
        return [found for one in questions for found in self._answered([one])]


def run(
    searches: Sequence[Callable[[Callable[[Question], Answer]], Found]],
    answer: Callable[[Sequence[Question]], Sequence[Answer]],
) -> list[Found]:
    """What every search finds.

    Parameters
    ----------
    searches
        Each gets a function that answers a question of it.
    answer
        Answers to questions, at most one of each search. An error is raised in who asked.

    Raises
    ------
    Exception
        What a search raises, after all have ended.
    """
    turns = _Turns(answer, len(searches))

    def follow(who: int) -> Found:
        try:
            return searches[who](lambda question: turns.ask(who, question))
        finally:
            turns.leave(who)

    with ThreadPoolExecutor(len(searches)) as threads:
        begun: list[Future[Found]] = []
        try:
            begun += (threads.submit(follow, who) for who in range(len(searches)))
        finally:
            for who in range(len(begun), len(searches)):  # no thread is left for it
                turns.leave(who)
    return [one.result() for one in begun]
