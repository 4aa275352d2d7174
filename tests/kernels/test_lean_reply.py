"""Reading what a REPL says."""

from __future__ import annotations

from rlmath.kernel.lean_reply import Question, read_reply


def test_every_sorry_counts() -> None:
    """Both ways in which a REPL tells of one, and all spellings of the message."""
    place = {"line": 3, "column": 4}
    for text in ("declaration uses 'sorry'", "declaration uses `sorry`"):
        [message] = read_reply({"env": 1, "messages": [{"severity": "warning", "pos": place, "data": text}]}).messages
        assert message.kind == "hasSorry"
    [message] = read_reply({"env": 1, "sorries": [{"pos": place, "goal": "⊢ p", "proofState": 0}]}).messages
    assert (message.kind, message.line) == ("hasSorry", 3)
    [message] = read_reply({"env": 1, "messages": [{"severity": "info", "pos": place, "data": "x"}]}).messages
    assert message.kind == ""


def test_an_answer_is_known_by_its_nonce() -> None:
    question = Question("t", "rlmath_00ff")
    right = [("error", 1, "unknown identifier 'rlmath_00ff'"), ("info", 2, "'t' does not…"), ("info", 3, "t : True")]

    def messages(rows: list[tuple[str, int, str]]) -> dict[str, object]:
        return {
            "env": 1,
            "messages": [{"severity": s, "pos": {"line": n, "column": 0}, "data": d} for s, n, d in rows],
        }

    answer = question.answer(read_reply(messages(right)).messages)
    assert answer is not None
    assert (answer.axioms_line, answer.statement) == ("'t' does not…", "t : True")
    for wrong in ([], right[1:], [("info", 1, "rlmath_00ff"), *right[1:]], [("error", 1, "rlmath_00fe"), *right[1:]]):
        assert question.answer(read_reply(messages(wrong)).messages) is None
    doubled = question.answer(read_reply(messages([*right, right[1]])).messages)
    assert doubled is not None
    assert doubled.axioms_line is None
