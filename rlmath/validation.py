"""Turns pydantic's complaints into one `InputError` that names the field and the fix."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from rlmath.errors import InputError

M = TypeVar("M", bound=BaseModel)


def validate(model: type[M], data: Mapping[str, Any], *, where: str = "") -> M:
    """`data` as a `model`. Raises `InputError` about the first thing wrong; `where` (a file, say) stands before the
    field's name."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise input_error(error, model, where) from None


def read_toml(path: Path, what: str = "it") -> dict[str, Any]:
    """What a TOML file holds. `what`: how an error calls the file. Raises `InputError` (field: the path)."""
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise InputError(str(path), f"cannot read {what}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"is not UTF-8 (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(str(path), f"is not TOML: {error}") from None


@contextmanager
def renamed(field: str, name: str) -> Iterator[None]:
    """What goes wrong with an argument called `field` is told under the name that the user gave it by."""
    try:
        yield
    except InputError as error:
        if error.field != field:
            raise
        raise InputError(name, error.problem) from error


def unknown_key(key: str, known: Sequence[str]) -> str:
    """What to say of a key that is none of `known`: names the nearest one, or all of them."""
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    if close:
        return f"unknown key; did you mean {close[0]!r}?"
    return f"unknown key; known: {', '.join(known)}" if known else "unknown key"


def input_error(error: ValidationError, model: type[BaseModel], where: str = "") -> InputError:
    """What `validate` raises for a complaint of pydantic about `model`."""
    # A misspelt key shows up twice, as unknown and as missing: the unknown one is what its author can see.
    problems = sorted(error.errors(include_url=False), key=lambda problem: problem["type"] != "extra_forbidden")
    first = problems[0]
    loc = first["loc"]
    holder = _holder(model, loc)
    path = [str(part) for index, part in enumerate(loc) if not _is_union_tag(model, loc, index)]
    field = f"{where}: {'.'.join(path)}" if where and path else where or ".".join(path)
    match first["type"]:
        case "extra_forbidden":
            problem = unknown_key(path[-1], list(holder.model_fields) if holder else [])
        case "missing":
            problem = "missing, and has no default"
        case "value_error":
            problem = str(first["ctx"]["error"])
        case "union_tag_not_found":
            problem = f'missing key "type": {_tags(model, loc)}'
        case "union_tag_invalid":
            problem = f"type {str(first['ctx']['tag'])!r} is not known: {_tags(model, loc)}"
        case _:
            problem = f"{_decapitalise(first['msg'])}, got {_short(first['input'])}"
    return InputError(field, problem)


def _tags(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    holder = _holder(model, loc)
    choices = _models(holder.model_fields[str(loc[-1])].annotation) if holder else []
    return f"one of {', '.join(repr(tag) for choice in choices for tag in _literal_type(choice))}"


def _holder(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel] | None:
    """The model whose field the last element of `loc` names."""
    current: type[BaseModel] | None = model
    index = 0
    while current is not None and index < len(loc) - 1:
        info = current.model_fields.get(str(loc[index]))
        if info is None:
            return None
        choices = _models(info.annotation)
        index += 1
        if len(choices) > 1:
            tag = loc[index]
            choices = [choice for choice in choices if tag in _literal_type(choice)]
            index += 1
        current = choices[0] if choices else None
    return current


def _is_union_tag(model: type[BaseModel], loc: tuple[int | str, ...], index: int) -> bool:
    """Whether this element is the tag that pydantic puts into the path of a discriminated union, not a key that
    anyone wrote."""
    if index == 0:
        return False
    holder = _holder(model, loc[:index])
    info = holder.model_fields.get(str(loc[index - 1])) if holder else None
    return info is not None and len(_models(info.annotation)) > 1


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    origin = get_origin(annotation)
    if origin is Annotated:
        return _models(get_args(annotation)[0])
    if origin is Union or (origin is not None and origin.__name__ == "UnionType"):
        return [model for choice in get_args(annotation) for model in _models(choice)]
    return []


def _literal_type(model: type[BaseModel]) -> tuple[Any, ...]:
    info = model.model_fields.get("type")
    return get_args(info.annotation) if info else ()


def _decapitalise(text: str) -> str:
    return text[:1].lower() + text[1:]


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
