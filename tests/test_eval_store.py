"""The results file survives whatever ends its writer, and belongs to one run and one writer."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlmath.errors import InputError
from rlmath.evals.store import ResultsStore, SampleStore, neighbour
from rlmath.types import Status

IDENTITY = {"goals": "1", "budgets": {"max_lemmas": 8}}


def row(row_id: str, status: Status = Status.VERIFIED, detail: str = "") -> dict[str, Any]:
    return {
        "id": row_id,
        "goal_id": "g",
        "status": status.value,
        "reward": status.reward,
        "detail": detail,
        "leaf_attempts_used": 1,
        "kernel": None,
    }


def on_disk(out: Path) -> list[dict[str, Any]]:
    text = out.read_bytes()
    assert not text or text.endswith(b"\n")
    return [json.loads(line) for line in text.splitlines()]


@contextmanager
def stored(out: Path, *rows: dict[str, Any]) -> Iterator[Path]:
    with ResultsStore(out, IDENTITY) as store:
        store.append(rows)
    yield out


def test_rows_are_there_after_reopening(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "er" / "r.jsonl"
    with ResultsStore(out, IDENTITY) as store:
        store.append([row("a"), row("b", Status.LEAF_FAILED)])
        store.append([])
        store.append([row("c")])
    with ResultsStore(out, IDENTITY) as store:
        assert list(store.rows) == ["a", "b", "c"]
    assert on_disk(out) == [row("a"), row("b", Status.LEAF_FAILED), row("c")]


def test_a_second_row_for_an_id_is_refused(tmp_path: Path) -> None:
    with ResultsStore(tmp_path / "r.jsonl", IDENTITY) as store:
        store.append([row("a")])
        with pytest.raises(ValueError, match="'a' already has a result"):
            store.append([row("a")])


statuses = st.sampled_from([Status.VERIFIED, Status.FORMAT_ERROR, Status.ERROR, Status.CONTEXT_WINDOW_EXCEEDED])
details = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "C", "Z")) | st.just("\ud800"), max_size=12)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), rows=st.lists(st.tuples(statuses, details), min_size=1, max_size=5))
def test_a_file_cut_at_any_byte_resumes_with_the_rows_that_were_whole(
    data: st.DataObject, rows: list[tuple[Status, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path_factory.mktemp("store") / "r.jsonl"
    written = [row(str(number), status, detail) for number, (status, detail) in enumerate(rows)]
    with stored(out, *written):
        whole = out.read_bytes()
    cut = data.draw(st.integers(0, len(whole)), label="cut")
    out.write_bytes(whole[:cut])

    # A row whose last byte is there is whole, with its line break or without.
    ends = [len(b"\n".join(whole.split(b"\n")[: number + 1])) for number in range(len(written))]
    survivors = [kept for kept, end in zip(written, ends, strict=True) if end <= cut]
    evidence = [kept for kept in survivors if kept["status"] != Status.ERROR]
    with ResultsStore(out, IDENTITY) as store:
        assert list(store.rows) == [kept["id"] for kept in evidence]
        assert on_disk(out) == evidence
        missing = [again for again in written if again["id"] not in store.rows]
        store.append(missing)
    assert sorted(on_disk(out), key=lambda kept: kept["id"]) == written


def test_a_tail_longer_than_a_block_and_zeros_from_a_power_cut_are_cut_off(tmp_path: Path) -> None:
    for tail in (b'{"id": "b", "detail": "' + b"x" * 200_000, b"\0" * 70_000):
        with stored(tmp_path / f"{len(tail)}.jsonl", row("a", detail="y" * 100_000)) as out:
            with out.open("ab") as file:
                file.write(tail)
            with ResultsStore(out, IDENTITY) as store:
                assert list(store.rows) == ["a"]
            assert on_disk(out) == [row("a", detail="y" * 100_000)]


def test_error_rows_are_run_again_and_superseded(tmp_path: Path) -> None:
    with stored(tmp_path / "r.jsonl", row("a"), row("b", Status.ERROR), row("c")) as out:
        with ResultsStore(out, IDENTITY) as store:
            assert list(store.rows) == ["a", "c"]
            store.append([row("b", Status.PLAN_INVALID)])
        assert on_disk(out) == [row("a"), row("c"), row("b", Status.PLAN_INVALID)]


@pytest.mark.parametrize(
    "text", [b"not a row\n", b'{"id": 1}\n', b'{"id": "x", "status": "verified"}\n', b"[]\n", b"\n"]
)
def test_a_damaged_line_that_is_not_the_last_is_refused_and_left_alone(tmp_path: Path, text: bytes) -> None:
    with stored(tmp_path / "r.jsonl", row("a"), row("b")) as out:
        damaged = out.read_bytes().replace(b"\n", b"\n" + text, 1)
        out.write_bytes(damaged)
        with pytest.raises(InputError, match=r"r\.jsonl line 2 is not a row"), ResultsStore(out, IDENTITY):
            pass
        assert out.read_bytes() == damaged


def test_an_id_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with stored(tmp_path / "r.jsonl", row("a")) as out:
        out.write_bytes(out.read_bytes() * 2)
        with pytest.raises(InputError, match="line 2 is a second row with id 'a'"), ResultsStore(out, IDENTITY):
            pass


def test_another_run_is_refused_and_fresh_discards_it(tmp_path: Path) -> None:
    changed = {**IDENTITY, "budgets": {"max_lemmas": 4}, "policy": {}}
    with stored(tmp_path / "r.jsonl", row("a")) as out:
        with pytest.raises(InputError) as caught, ResultsStore(out, changed):
            pass
        assert "changed since: budgets, policy" in str(caught.value)
        assert "--fresh" in str(caught.value)
        assert on_disk(out) == [row("a")]
        samples = SampleStore(neighbour(out, ".completions.jsonl"))
        samples.append([{"id": "a", "goal_id": "g", "completion": "x", "sample": {}}])
        samples.close()
        with ResultsStore(out, changed, fresh=True):
            pass  # a run that came to nothing has cost nothing
        assert on_disk(out) == [row("a")]
        with ResultsStore(out, changed, fresh=True) as store:
            store.begin()
            assert store.rows == {}
            assert not neighbour(out, ".completions.jsonl").exists()
            store.append([row("b")])
        with ResultsStore(out, changed) as store:
            assert list(store.rows) == ["b"]


def test_samples_that_were_drawn_for_other_inputs_are_another_run(tmp_path: Path) -> None:
    with stored(tmp_path / "r.jsonl") as out:
        SampleStore(neighbour(out, ".completions.jsonl")).close()
        with pytest.raises(InputError, match="belongs to another run"), ResultsStore(out, {}):
            pass


def test_a_run_that_left_no_row_binds_nobody(tmp_path: Path) -> None:
    with stored(tmp_path / "r.jsonl") as out, ResultsStore(out, {"goals": "2"}) as store:
        assert store.rows == {}


@pytest.mark.parametrize("fresh", [False, True])
def test_a_file_that_is_not_ours_is_never_touched(tmp_path: Path, fresh: bool) -> None:
    out = tmp_path / "thesis.txt"
    out.write_text("years of work\n")
    with pytest.raises(InputError, match="is no results file of rlmath eval"), ResultsStore(out, IDENTITY, fresh=fresh):
        pass
    assert out.read_text() == "years of work\n"
    assert list(tmp_path.iterdir()) == [out]


def test_out_that_is_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"out: .* is a directory"), ResultsStore(tmp_path, IDENTITY):
        pass


def test_out_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(InputError, match="out: cannot make the directory"),
        ResultsStore(tmp_path / "file" / "r.jsonl", IDENTITY),
    ):
        pass


def test_two_writers_at_once(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    with ResultsStore(out, IDENTITY), pytest.raises(InputError) as caught:
        ResultsStore(out, IDENTITY).__enter__()
    assert f"is being written by another rlmath eval (process {os.getpid()})" in str(caught.value)
    with ResultsStore(out, IDENTITY):
        pass


def _append_and_die(out: Path) -> None:
    store = ResultsStore(out, IDENTITY).__enter__()
    store.append([row("a")])
    os.kill(os.getpid(), 9)


def test_a_writer_that_was_killed_holds_no_lock_and_leaves_its_rows(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    process = multiprocessing.get_context("spawn").Process(target=_append_and_die, args=(out,))
    process.start()
    process.join(60)
    assert process.exitcode == -9
    with ResultsStore(out, IDENTITY) as store:
        assert list(store.rows) == ["a"]


def test_samples_come_back_and_a_torn_one_is_drawn_again(tmp_path: Path) -> None:
    path = tmp_path / "r.completions.jsonl"
    store = SampleStore(path)
    store.append([{"id": "g#0", "goal_id": "g", "completion": "x\ud800", "sample": {}}])
    store.append([{"id": "g#1", "goal_id": "g", "completion": "y", "sample": {}}])
    store.close()
    path.write_bytes(path.read_bytes()[:-5])
    again = SampleStore(path)
    again.close()
    assert again.rows == {"g#0": {"id": "g#0", "goal_id": "g", "completion": "x\ud800", "sample": {}}}
