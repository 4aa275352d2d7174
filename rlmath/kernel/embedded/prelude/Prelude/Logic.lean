prelude
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! The types that the elaborator and the kernel know by name, and what follows from them alone: equality, the connectives, products and
sums, `Nat` and `Bool` as bare inductives, quotients, decidability.

The only axioms of the whole prelude are here: `propext`, `Classical.choice`, `Quot.sound`, and `sorryAx`, which stands for a hole and shows
in `#print axioms`. No infix notation yet: it comes with `Prelude.Syntax`. Constructor and field order is part of the contract, since compiled
code reads both by number. -/

-- Markers that the code generator looks for. They are inhabited by nothing, so they are `unsafe`: the kernel refuses them in any theorem.
unsafe axiom lcProof {p : Prop} : p
unsafe axiom lcAny : Type
unsafe axiom lcErased : Type
unsafe axiom lcVoid : Type
unsafe axiom lcUnreachable {α : Sort u} : α
unsafe axiom lcCast {α : Sort u} {β : Sort v} (a : α) : β

@[inline] def id {α : Sort u} (a : α) : α := a
set_option checkBinderAnnotations false in
abbrev inferInstance {α : Sort u} [i : α] : α := i
@[inline] def Function.comp {α : Sort u} {β : Sort v} {δ : Sort w} (f : β → δ) (g : α → β) : α → δ := fun x => f (g x)
@[inline] def Function.const {α : Sort u} (β : Sort v) (a : α) : β → α := fun _ => a

set_option bootstrap.inductiveCheckResultingUniverse false in
inductive PUnit : Sort u where
  | unit : PUnit
abbrev Unit : Type := PUnit
@[match_pattern] abbrev Unit.unit : Unit := PUnit.unit

inductive True : Prop where
  | intro : True
inductive False : Prop
inductive Empty : Type
set_option bootstrap.inductiveCheckResultingUniverse false in
inductive PEmpty : Sort u where

@[macro_inline] def False.elim {C : Sort u} (h : False) : C := h.rec
def Not (a : Prop) : Prop := a → False
@[macro_inline] def absurd {a : Prop} {b : Sort v} (h₁ : a) (h₂ : Not a) : b := (h₂ h₁).elim
theorem trivial : True := True.intro

inductive Eq {α : Sort u} : α → α → Prop where
  | refl (a : α) : Eq a a

abbrev Eq.ndrec.{u1, u2} {α : Sort u2} {a : α} {motive : α → Sort u1} (m : motive a) {b : α} (h : Eq a b) : motive b := h.rec m

set_option linter.defProp false in
@[match_pattern] def rfl {α : Sort u} {a : α} : Eq a a := Eq.refl a
theorem id_eq {α : Sort u} (a : α) : Eq (id a) a := rfl
theorem Eq.subst {α : Sort u} {motive : α → Prop} {a b : α} (h₁ : Eq a b) (h₂ : motive a) : motive b := Eq.ndrec h₂ h₁
theorem Eq.symm {α : Sort u} {a b : α} (h : Eq a b) : Eq b a := h.rec rfl
theorem Eq.trans {α : Sort u} {a b c : α} (h₁ : Eq a b) (h₂ : Eq b c) : Eq a c := h₂.rec h₁
@[macro_inline] def cast {α β : Sort u} (h : Eq α β) (a : α) : β := h.rec a
@[macro_inline] def Eq.mp {α β : Sort u} (h : Eq α β) (a : α) : β := h.rec a
@[macro_inline] def Eq.mpr {α β : Sort u} (h : Eq α β) (b : β) : α := h.symm.rec b
theorem congrArg {α : Sort u} {β : Sort v} {a₁ a₂ : α} (f : α → β) (h : Eq a₁ a₂) : Eq (f a₁) (f a₂) := h.rec rfl
theorem congr {α : Sort u} {β : Sort v} {f₁ f₂ : α → β} {a₁ a₂ : α} (h₁ : Eq f₁ f₂) (h₂ : Eq a₁ a₂) : Eq (f₁ a₁) (f₂ a₂) := h₁.rec (h₂.rec rfl)
theorem congrFun {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : Eq f g) (a : α) : Eq (f a) (g a) := h.rec rfl
theorem congrFun' {α : Sort u} {β : Sort v} {f g : α → β} (h : Eq f g) (a : α) : Eq (f a) (g a) := h.rec rfl
@[reducible] def Ne {α : Sort u} (a b : α) : Prop := Not (Eq a b)

init_quot
axiom Quot.sound {α : Sort u} {r : α → α → Prop} {a b : α} : r a b → Eq (Quot.mk r a) (Quot.mk r b)

inductive HEq : {α : Sort u} → α → {β : Sort u} → β → Prop where
  | refl {α : Sort u} (a : α) : @HEq α a α a
set_option linter.defProp false in
@[match_pattern] def HEq.rfl {α : Sort u} {a : α} : HEq a a := HEq.refl a
theorem eq_of_heq {α : Sort u} {a a' : α} (h : HEq a a') : Eq a a' :=
  have : (α β : Sort u) → (a : α) → (b : β) → HEq a b → (h : Eq α β) → Eq (cast h a) b :=
    fun _ _ _ _ h₁ => h₁.rec (fun _ => rfl)
  this α α a a' h rfl
theorem heq_of_eq {α : Sort u} {a a' : α} (h : Eq a a') : HEq a a' := h.rec (HEq.refl a)

structure Prod (α : Type u) (β : Type v) where
  fst : α
  snd : β
structure PProd (α : Sort u) (β : Sort v) where
  fst : α
  snd : β
structure MProd (α β : Type u) where
  fst : α
  snd : β
structure And (a b : Prop) : Prop where
  intro ::
  left : a
  right : b
theorem Lean.injEq_helper {P Q R : Prop} : (P → Q → R) → (And P Q → R) := fun h k => h k.left k.right
inductive Or (a b : Prop) : Prop where
  | inl (h : a) : Or a b
  | inr (h : b) : Or a b
structure Iff (a b : Prop) : Prop where
  intro ::
  mp : a → b
  mpr : b → a
inductive Exists {α : Sort u} (p : α → Prop) : Prop where
  | intro (w : α) (h : p w) : Exists p
structure Subtype {α : Sort u} (p : α → Prop) where
  val : α
  property : p val
structure Sigma {α : Type u} (β : α → Type v) where
  fst : α
  snd : β fst
structure PSigma {α : Sort u} (β : α → Sort v) where
  fst : α
  snd : β fst
inductive Sum (α : Type u) (β : Type v) where
  | inl (val : α) : Sum α β
  | inr (val : β) : Sum α β
inductive PSum (α : Sort u) (β : Sort v) where
  | inl (val : α) : PSum α β
  | inr (val : β) : PSum α β

structure PLift (α : Sort u) : Type u where
  up :: down : α
structure ULift.{r, s} (α : Type s) : Type (max s r) where
  up :: down : α
structure PULift.{r, s} (α : Sort s) : Sort (max s r 1) where
  up :: down : α

set_option genCtorIdx false in
inductive Nat where
  | zero : Nat
  | succ (n : Nat) : Nat

set_option genCtorIdx false in
inductive Bool : Type where
  | false : Bool
  | true : Bool
export Bool (false true)

@[reducible] def optParam (α : Sort u) (default : α) : Sort u := α
@[reducible] def outParam (α : Sort u) : Sort u := α
@[reducible] def semiOutParam (α : Sort u) : Sort u := α
/-- Tells the kernel to reduce its argument eagerly. A name that the kernel knows: it must not be left free for another meaning. -/
def eagerReduce {α : Sort u} (a : α) : α := a
@[reducible] def namedPattern {α : Sort u} (x a : α) (h : Eq x a) : α := a

axiom sorryAx (α : Sort u) (synthetic : Bool) : α

class inductive Nonempty (α : Sort u) : Prop where
  | intro (val : α) : Nonempty α
axiom Classical.choice {α : Sort u} : Nonempty α → α
axiom propext {a b : Prop} : Iff a b → Eq a b
class Inhabited (α : Sort u) where
  default : α
export Inhabited (default)
instance instNonemptyOfInhabited {α : Sort u} [Inhabited α] : Nonempty α := ⟨default⟩
instance instInhabitedForall {α : Sort u} {β : α → Sort v} [(a : α) → Inhabited (β a)] : Inhabited ((a : α) → β a) := ⟨fun _ => default⟩
instance : Inhabited Bool := ⟨false⟩
instance : Inhabited PUnit.{u} := ⟨⟨⟩⟩
class Subsingleton (α : Sort u) : Prop where
  intro :: allEq : (a b : α) → Eq a b

set_option genCtorIdx false in
class inductive Decidable (p : Prop) where
  | isFalse (h : Not p) : Decidable p
  | isTrue (h : p) : Decidable p
@[inline_if_reduce, nospecialize] def Decidable.decide (p : Prop) [h : Decidable p] : Bool :=
  h.casesOn (fun _ => false) (fun _ => true)
export Decidable (isTrue isFalse decide)
abbrev DecidablePred {α : Sort u} (r : α → Prop) := (a : α) → Decidable (r a)
abbrev DecidableRel {α : Sort u} {β : Sort v} (r : α → β → Prop) := (a : α) → (b : β) → Decidable (r a b)
abbrev DecidableEq (α : Sort u) := (a b : α) → Decidable (Eq a b)
def decEq {α : Sort u} [inst : DecidableEq α] (a b : α) : Decidable (Eq a b) := inst a b

@[macro_inline] def cond {α : Sort u} (c : Bool) (x y : α) : α :=
  match c with
  | true => x
  | false => y
@[macro_inline] def ite {α : Sort u} (c : Prop) [h : Decidable c] (t e : α) : α :=
  match h with
  | isTrue _ => t
  | isFalse _ => e
@[macro_inline] def dite {α : Sort u} (c : Prop) [h : Decidable c] (t : c → α) (e : Not c → α) : α :=
  match h with
  | isTrue h => t h
  | isFalse h => e h
@[macro_inline] def Bool.or (x y : Bool) : Bool := match x with | true => true | false => y
@[macro_inline] def Bool.and (x y : Bool) : Bool := match x with | false => false | true => y
@[inline] def Bool.not : Bool → Bool | true => false | false => true

@[inline] def Bool.xor : Bool → Bool → Bool | true, true => false | false, b => b | b, false => b
export Bool (or and not xor)

class BEq (α : Type u) where
  beq : α → α → Bool
open BEq (beq)
