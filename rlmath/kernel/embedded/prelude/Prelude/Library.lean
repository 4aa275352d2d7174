prelude
import Prelude.LibraryIndex

/-! The lemma library: everything that a proof may quote by name and no tactic needs. -/
