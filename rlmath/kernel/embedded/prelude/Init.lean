prelude
import Prelude.AC
import Prelude.Library
import Prelude.Notation

/-! The roof of the prelude: what a file without a header imports. -/
