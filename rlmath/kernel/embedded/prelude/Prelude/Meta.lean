prelude
import Prelude.Core
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! The types by which the elaborator's own parsers and macros are declared.

`Prelude.Syntax` binds every parser descriptor, macro and unexpander that lies compiled in the shared library to a Lean constant; this
module holds the types those constants have. Constructor order is part of the contract: compiled code reads the constructors by number. There
are no monad operations, so `macro` and `notation` do not compile here. -/

inductive Except (ε : Type u) (α : Type v) where
  | error : ε → Except ε α
  | ok : α → Except ε α

inductive EStateM.Result (ε σ α : Type u) where
  | ok : α → σ → EStateM.Result ε σ α
  | error : ε → σ → EStateM.Result ε σ α

def EStateM (ε σ α : Type u) : Type u := σ → EStateM.Result ε σ α

def ReaderT (ρ : Type u) (m : Type u → Type v) (α : Type u) : Type (max u v) := ρ → m α

structure String.Pos.Raw where
  byteIdx : Nat

structure Substring.Raw where
  str : String
  startPos : String.Pos.Raw
  stopPos : String.Pos.Raw

namespace Lean

inductive Name where
  | anonymous : Name
  | str (pre : Name) (str : String)
  | num (pre : Name) (i : Nat)
instance : Inhabited Name := ⟨Name.anonymous⟩

-- Compiled code keeps a hash beside the fields of a name, so a name that is built at run time must come from the compiled constructors.
@[extern "n"] opaque Name.anonymous._override : Name
@[extern "n"] opaque Name.str._override (pre : Name) (str : String) : Name
@[extern "n"] opaque Name.num._override (pre : Name) (i : Nat) : Name
attribute [implemented_by Name.anonymous._override] Name.anonymous
attribute [implemented_by Name.str._override] Name.str
attribute [implemented_by Name.num._override] Name.num

namespace Name
abbrev mkStr (p : Name) (s : String) : Name := Name.str p s
abbrev mkNum (p : Name) (v : Nat) : Name := Name.num p v
abbrev mkSimple (s : String) : Name := Name.str Name.anonymous s
abbrev mkStr1 (s₁ : String) : Name := mkSimple s₁
abbrev mkStr2 (s₁ s₂ : String) : Name := Name.str (mkStr1 s₁) s₂
abbrev mkStr3 (s₁ s₂ s₃ : String) : Name := Name.str (mkStr2 s₁ s₂) s₃
abbrev mkStr4 (s₁ s₂ s₃ s₄ : String) : Name := Name.str (mkStr3 s₁ s₂ s₃) s₄
abbrev mkStr5 (s₁ s₂ s₃ s₄ s₅ : String) : Name := Name.str (mkStr4 s₁ s₂ s₃ s₄) s₅
abbrev mkStr6 (s₁ s₂ s₃ s₄ s₅ s₆ : String) : Name := Name.str (mkStr5 s₁ s₂ s₃ s₄ s₅) s₆
abbrev mkStr7 (s₁ s₂ s₃ s₄ s₅ s₆ s₇ : String) : Name := Name.str (mkStr6 s₁ s₂ s₃ s₄ s₅ s₆) s₇
abbrev mkStr8 (s₁ s₂ s₃ s₄ s₅ s₆ s₇ s₈ : String) : Name := Name.str (mkStr7 s₁ s₂ s₃ s₄ s₅ s₆ s₇) s₈
end Name

abbrev SyntaxNodeKind : Type := Name

inductive SourceInfo where
  | original (leading : Substring.Raw) (pos : String.Pos.Raw) (trailing : Substring.Raw) (endPos : String.Pos.Raw)
  | synthetic (pos : String.Pos.Raw) (endPos : String.Pos.Raw) (canonical : Bool)
  | none
instance : Inhabited SourceInfo := ⟨SourceInfo.none⟩

inductive Syntax.Preresolved where
  | namespace (ns : Name)
  | decl (n : Name) (fields : List String)

inductive Syntax where
  | missing : Syntax
  | node (info : SourceInfo) (kind : SyntaxNodeKind) (args : Array Syntax)
  | atom (info : SourceInfo) (val : String)
  | ident (info : SourceInfo) (rawVal : Substring.Raw) (val : Name) (preresolved : List Syntax.Preresolved)
instance : Inhabited Syntax := ⟨Syntax.missing⟩

inductive ParserDescr where
  | const (name : Name)
  | unary (name : Name) (p : ParserDescr)
  | binary (name : Name) (p₁ p₂ : ParserDescr)
  | node (kind : SyntaxNodeKind) (prec : Nat) (p : ParserDescr)
  | trailingNode (kind : SyntaxNodeKind) (prec lhsPrec : Nat) (p : ParserDescr)
  | symbol (val : String)
  | nonReservedSymbol (val : String) (includeIdent : Bool)
  | cat (catName : Name) (rbp : Nat)
  | parser (declName : Name)
  | nodeWithAntiquot (name : String) (kind : SyntaxNodeKind) (p : ParserDescr)
  | sepBy (p : ParserDescr) (sep : String) (psep : ParserDescr) (allowTrailingSep : Bool)
  | sepBy1 (p : ParserDescr) (sep : String) (psep : ParserDescr) (allowTrailingSep : Bool)
  | unicodeSymbol (val asciiVal : String) (preserveForPP : Bool)
instance : Inhabited ParserDescr := ⟨ParserDescr.const Name.anonymous⟩
abbrev TrailingParserDescr : Type := ParserDescr

abbrev MacroScope : Type := Nat

namespace Macro
opaque MethodsRef : Type

structure Context where
  methods : MethodsRef
  quotContext : Name
  currMacroScope : MacroScope
  currRecDepth : Nat
  maxRecDepth : Nat
  ref : Syntax

inductive Exception where
  | error : Syntax → String → Exception
  | unsupportedSyntax : Exception
instance : Inhabited Exception := ⟨Exception.unsupportedSyntax⟩

structure State where
  macroScope : MacroScope
  traceMsgs : List (Prod Name String)
end Macro

abbrev MacroM (α : Type) : Type := ReaderT Macro.Context (EStateM Macro.Exception Macro.State) α
instance {α : Type} : Inhabited (MacroM α) := ⟨fun _ s => EStateM.Result.error default s⟩
abbrev Macro : Type := Syntax → MacroM Syntax

namespace PrettyPrinter
abbrev UnexpandM (α : Type) : Type := ReaderT Syntax (EStateM Unit Unit) α
instance {α : Type} : Inhabited (UnexpandM α) := ⟨fun _ s => EStateM.Result.error Unit.unit s⟩
abbrev Unexpander : Type := Syntax → UnexpandM Syntax
end PrettyPrinter

namespace Parser
opaque Parser : Type
abbrev TrailingParser : Type := Parser
structure Category where
end Parser

end Lean
