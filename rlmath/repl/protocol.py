"""What goes over the wire: requests and replies of leanprover-community/repl, as far as they are served.

A request is JSON up to a blank line; lines of one request are joined without their ends, as the original does. A
request that begins with `#` or `--` is a comment. Field names are the original's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

OPTIONS_NOT_SERVED: Final = ("allTactics", "declarations", "rootGoals", "infotree")
"""Options of a command that ask for what is not computed here: refused, rather than answered with nothing."""
OPTIONS_WITHOUT_EFFECT: Final = ("Elab.async",)
"""Lean options that a client may set (LeanInteract does) and that change no answer."""

SEVERITIES: Final = {"information": "info", "warning": "warning", "error": "error"}
"""From Lean's name of a severity to the protocol's."""


class BadRequest(Exception):
    """A request that cannot be served; its text is the reply's `message`."""


@dataclass(frozen=True)
class Command:
    """Elaborate a text."""

    text: str | None
    """None: `path` says where it is."""
    path: str | None
    environment: int | None
    """Number of an environment; None: a new session, whose text may begin with imports."""
    options: tuple[tuple[str, str], ...]
    """Lean options to set first, values as Lean writes them."""


def requests(lines: Iterable[str]) -> Iterator[str]:
    """The texts of the requests in a stream of lines, comments left out. A request ends at a blank line or with the
    stream."""
    parts: list[str] = []
    for line in lines:
        if line.strip():
            parts.append(line.rstrip())
        elif parts:
            yield from _one(parts)
            parts = []
    yield from _one(parts)


def _one(parts: list[str]) -> Iterator[str]:
    if parts and not parts[0].startswith(("#", "--")):
        yield "".join(parts)


def parse_request(text: str) -> Command:
    """Read one request. Raises `BadRequest`."""
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise BadRequest(f"Could not parse JSON:\n{error}") from None
    if not isinstance(raw, dict):
        raise BadRequest("Could not parse as a valid JSON command:\nobject expected")
    if "pickleTo" in raw or "unpickleEnvFrom" in raw or "unpickleProofStateFrom" in raw:
        raise BadRequest("Pickling is not served: an environment here is a process, which no file can hold.")
    if "tactic" in raw or "proofState" in raw:
        raise BadRequest("Unknown proof state.")
    if "cmd" not in raw and "path" not in raw:
        raise BadRequest("Could not parse as a valid JSON command:\nproperty not found: cmd")
    field = "cmd" if "cmd" in raw else "path"
    value, environment = raw[field], raw.get("env")
    if not isinstance(value, str):
        raise BadRequest(f"Could not parse as a valid JSON command:\n{field}: String expected")
    if environment is not None and (isinstance(environment, bool) or not isinstance(environment, int)):
        raise BadRequest("Could not parse as a valid JSON command:\nenv: Natural number expected")
    for option in OPTIONS_NOT_SERVED:
        if raw.get(option) not in (None, False):
            raise BadRequest(f"The option {option} is not served.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise BadRequest(f"Could not parse as a valid JSON command:\n{field}: lone surrogate") from None
    return Command(
        text=value if field == "cmd" else None,
        path=value if field == "path" else None,
        environment=environment,
        options=tuple(_options(raw.get("setOptions"))),
    )


def _options(raw: Any) -> Iterator[tuple[str, str]]:
    """Lean options as (name, value as Lean writes it)."""
    if raw is None:
        return
    problem = BadRequest("Could not parse as a valid JSON command:\nsetOptions: [[name parts], value] pairs expected")
    if not isinstance(raw, list):
        raise problem
    for pair in raw:
        match pair:
            case [[*parts], bool() | int() | str() as value] if parts and all(_is_name(part) for part in parts):
                name = ".".join(parts)
                if name not in OPTIONS_WITHOUT_EFFECT:
                    yield name, json.dumps(value, ensure_ascii=False)
            case _:
                raise problem


def _is_name(part: Any) -> bool:
    return isinstance(part, str) and part.replace("_", "a").isalnum()


def command_reply(number: int, messages: list[Mapping[str, Any]], sorries: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The reply to a command that made environment `number`. `messages` as `lean --json` prints them."""
    reply: dict[str, Any] = {"env": number}
    if messages:
        reply["messages"] = [_message(raw) for raw in messages]
    if sorries:
        reply["sorries"] = sorries
    return reply


def _message(raw: Mapping[str, Any]) -> dict[str, Any]:
    message = {"severity": SEVERITIES[raw["severity"]], "pos": raw["pos"], "data": raw["data"].strip()}
    if raw.get("endPos") is not None:
        message["endPos"] = raw["endPos"]
    return message


def encode_reply(reply: Mapping[str, Any]) -> str:
    """A reply as it goes out, with the blank line that ends it."""
    return json.dumps(reply, ensure_ascii=False, separators=(",", ":")) + "\n\n"
