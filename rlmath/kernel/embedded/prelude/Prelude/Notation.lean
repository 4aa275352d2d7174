prelude
import Prelude.Int
set_option autoImplicit false

/-! `ℕ` and `ℤ`, which read as `Nat` and `Int` themselves: the elaborator never sees another name for the type, so no tactic has to unfold one.

There are no monad operations to write a `notation` with, so each is a parser descriptor and the macro that answers with the identifier. -/

namespace Lean

@[term_parser 1000] def «termℕ» : ParserDescr := .node `Lean.termℕ 1024 (.symbol "ℕ")
@[term_parser 1000] def «termℤ» : ParserDescr := .node `Lean.termℤ 1024 (.symbol "ℤ")

@[macro «termℕ»] def «expandℕ» : Macro := fun _ _ state =>
  .ok (.ident .none ⟨"Nat", ⟨0⟩, ⟨3⟩⟩ `Nat [.decl `Nat []]) state
@[macro «termℤ»] def «expandℤ» : Macro := fun _ _ state =>
  .ok (.ident .none ⟨"Int", ⟨0⟩, ⟨3⟩⟩ `Int [.decl `Int []]) state

end Lean
