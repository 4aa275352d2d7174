"""Parsing and elaborating text on top of one imported environment, command by command.

A *state* is Lean's `Command.State`: environment, scopes (open namespaces, variables), messages. Each text has its own
positions, so a context can be elaborated first and the command after it in the same scopes with its lines starting at
1. What the gate has parsed is what is elaborated: no text is parsed twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from rlmath.kernel.embedded.ffi import (
    Lean,
    Obj,
    box,
    field,
    items,
    list_items,
    retain,
    text,
    unbox,
)

SNAPSHOT_TASKS: Final = 10
"""Field of a state with the tasks that commands set off on the side (making the equations of a definition, say, or a
proof when `Elab.async` is on, which it is not by default). It grows from command to command, and the messages of such a
task are those of its command."""

State = Obj
"""A `Lean.Elab.Command.State`, borrowed."""


@dataclass(frozen=True)
class ParseError:
    """Why a text is not one whole phrase of its category."""

    message: str
    line: int
    """1-based, in the parsed text."""
    column: int
    """0-based, in code points."""


@dataclass(frozen=True)
class Parsed:
    """One whole phrase: its tree and the input it stands in."""

    tree: Obj
    input: Obj
    source: str


class Elaborator:
    """Lean's parser and elaborator over one environment.

    Made in the image, where it builds all that every check needs and marks it persistent; used in a forked child.
    """

    def __init__(self, lean: Lean, environment: Obj) -> None:
        """`environment` as from `Lean.import_modules`."""
        self.lean = lean
        self.environment = environment
        empty = lean.constant("l_Lean_Options_empty")
        set_bool = lean.function("l_Lean_Options_setBool", 3)
        options = set_bool(empty, lean.name("autoImplicit"), box(0))
        self._options = lean.persistent(options)
        self._no_messages = lean.constant("l_Lean_MessageLog_empty")
        self._file_name = lean.persistent(lean.string("<input>"))
        whitespace = lean.closure("l_Lean_Parser_whitespace", 2, [])
        self._categories = {
            category: lean.persistent(
                lean.closure(
                    "l_Lean_Parser_andthenFn",
                    4,
                    [
                        retain(whitespace),
                        lean.closure("l_Lean_Parser_categoryParserFnImpl", 3, [lean.name(category)]),
                    ],
                )
            )
            for category in ("term", "command")
        }
        self._stack_back = lean.function("l_Lean_Parser_SyntaxStack_back", 1)
        self._make_state = lean.function("l_Lean_Elab_Command_mkState", 3)
        self._make_input = lean.function("l_Lean_Parser_mkInputContext___redArg", 4)
        self._parser_state = lean.function("l_Lean_Parser_mkParserState", 1)
        self._token_table = lean.function("l_Lean_Parser_getTokenTable", 1)
        self._run_parser = lean.function("l_Lean_Parser_ParserFn_run", 5)
        self._error_text = lean.function("l_Lean_Parser_Error_toString", 1)
        self._parse_command = lean.function("l_Lean_Parser_parseCommand", 4)
        self._is_last_command = lean.function("l_Lean_Parser_isTerminalCommand", 1)
        self._elaborate = lean.function("l_Lean_Elab_Frontend_elabCommandAtFrontend", 3)
        self._struct_eq = lean.function("l_Lean_Syntax_structEq", 2)
        self._make_reference = lean.function("lean_st_mk_ref", 1)
        self._dereference = lean.function("lean_st_ref_get", 1)
        self._log_list = lean.function("l_Lean_MessageLog_toList", 1)
        self._no_snapshots = lean.constant("l_Lean_Language_instInhabitedSnapshotTree_default")
        self._all_snapshots = lean.function("l_Lean_Language_SnapshotTree_getAll", 1)
        self._message_json = lean.function("l_Lean_Message_toJson", 2)
        self._json_text = lean.function("l_Lean_Json_compress", 1)

    def fresh(self) -> State:
        """A state with nothing but the environment, `autoImplicit` off."""
        return self._make_state(retain(self.environment), self._no_messages, self._options)

    def parse(self, state: State, category: str, source: str) -> Parsed | ParseError:
        """`source` as one whole `term` or `command`, up to the end of input, in the state's scope. No error
        recovery."""
        input_context = self._input(source)
        result = self._run_parser(
            retain(self._categories[category]),
            retain(input_context),
            self._module_context(state),
            self._token_table(retain(field(state, 0))),
            self._parser_state(retain(field(input_context, 0))),
        )
        stack, _, position, _, error, recovered = (field(result, i) for i in range(6))
        if not error & 1:
            return self._parse_error(source, position, field(error, 0))
        if recovered_errors := items(recovered):
            first = recovered_errors[0]
            return self._parse_error(source, field(first, 0), field(field(first, 1), 1))
        encoded_length = len(source.encode("utf-8"))
        if unbox(position) < encoded_length:
            line, column = line_and_column(source, unbox(position))
            return ParseError("expected end of input", line, column)
        return Parsed(self._stack_back(retain(stack)), input_context, source)

    def elaborate(self, state: State, parsed: Parsed) -> tuple[State, list[Obj]]:
        """Elaborate one parsed command; the new state and its messages, in Lean's order."""
        return self._elaborate_tree(state, parsed.tree, parsed.input)

    def run(self, state: State, source: str) -> tuple[State, list[Obj]]:
        """Elaborate all commands of `source`, as `lean` does a file without a header; the new state and all
        messages."""
        steps = list(self.commands(state, source))
        return steps[-1][1], [message for _, _, messages in steps for message in messages]

    def commands(self, state: State, source: str) -> Iterator[tuple[Obj, State, list[Obj]]]:
        """Elaborate `source` command by command: the tree, the state after it, its messages. There is at least one
        command, the end of the file."""
        input_context = self._input(source)
        position = self.lean.constructor(0, [box(0)], b"\0")
        while True:
            step = self._parse_command(
                retain(input_context), self._module_context(state), retain(position), self._no_messages
            )
            tree, (position, log) = field(step, 0), (field(field(step, 1), i) for i in range(2))
            messages = list_items(self._log_list(retain(log)))
            state, more = self._elaborate_tree(state, tree, input_context)
            yield tree, state, messages + more
            if unbox(self._is_last_command(retain(tree))):
                return

    def same_tree(self, left: Obj, right: Obj) -> bool:
        """Whether two syntax trees are equal but for positions, comments and white space."""
        return bool(unbox(self._struct_eq(retain(left), retain(right))))

    def message_json(self, message: Obj) -> Obj:
        """A message as a Lean string of JSON, as `lean --json` prints it."""
        return self._json_text(self._message_json(retain(message), box(0)))

    def _elaborate_tree(self, state: State, tree: Obj, input_context: Obj) -> tuple[State, list[Obj]]:
        frontend = self.lean.constructor(
            0, [retain(state), self.lean.constructor(0, [box(0)], b"\0"), box(0), self.lean.array([])]
        )
        reference = self._make_reference(frontend)
        self.lean.value(self._elaborate(retain(tree), retain(input_context), retain(reference)))
        after = field(self._dereference(retain(reference)), 0)
        messages = list_items(self._log_list(retain(field(after, 1))))
        return after, messages + self._side_messages(state, after)

    def _side_messages(self, before: State, after: State) -> list[Obj]:
        """The messages of the tasks that the command between two states set off, once they have ended."""
        tasks = items(field(after, SNAPSHOT_TASKS))[len(items(field(before, SNAPSHOT_TASKS))) :]
        if not tasks:
            return []
        children = self.lean.array([retain(task) for task in tasks])
        tree = self.lean.constructor(0, [retain(field(self._no_snapshots, 0)), children])
        diagnostics = [field(snapshot, 1) for snapshot in items(self._all_snapshots(tree))]
        return [message for each in diagnostics for message in list_items(self._log_list(retain(field(each, 0))))]

    def _input(self, source: str) -> Obj:
        length = len(source.encode("utf-8"))
        return self._make_input(self.lean.string(source), self._file_name, box(0), box(length))

    def _module_context(self, state: State) -> Obj:
        """The parser's view of a state: environment, options, current namespace, open declarations of the innermost
        scope."""
        scope = field(field(state, 2), 0)
        return self.lean.constructor(
            0, [retain(field(state, 0)), retain(field(scope, 1)), retain(field(scope, 2)), retain(field(scope, 3))]
        )

    def _parse_error(self, source: str, position: Obj, error: Obj) -> ParseError:
        line, column = line_and_column(source, unbox(position))
        return ParseError(text(self._error_text(retain(error))), line, column)


def line_and_column(source: str, byte_position: int) -> tuple[int, int]:
    """A byte position of a text as line (1-based) and column (0-based, in code points)."""
    before = source.encode("utf-8")[:byte_position].decode("utf-8", "replace")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1)
