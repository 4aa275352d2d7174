prelude
import Prelude.Logic
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! Operator classes, the arithmetic of `Nat` as far as the elaborator needs it to read numerals and to decide equality, and the data types
that the code generator knows.

Lean's kernel computes `Nat.add`, `sub`, `mul`, `pow`, `beq` and `ble` on literals by itself, whatever is written here: each must be the
function it computes, or `False` could be proved with no axiom reported. `Prelude.Arith` has the rest of those functions. -/

-- ===== numerals and operators =====
instance : Inhabited Nat := ⟨Nat.zero⟩
class OfNat (α : Type u) (_ : Nat) where
  ofNat : α
@[default_instance 100] instance instOfNatNat (n : Nat) : OfNat Nat n := ⟨n⟩

class LE (α : Type u) where le : α → α → Prop
class LT (α : Type u) where lt : α → α → Prop
@[reducible] def GE.ge {α : Type u} [LE α] (a b : α) : Prop := LE.le b a
@[reducible] def GT.gt {α : Type u} [LT α] (a b : α) : Prop := LT.lt b a
class Max (α : Type u) where max : α → α → α
class Min (α : Type u) where min : α → α → α
export Max (max)
export Min (min)

class HAdd (α : Type u) (β : Type v) (γ : outParam (Type w)) where hAdd : α → β → γ
class HSub (α : Type u) (β : Type v) (γ : outParam (Type w)) where hSub : α → β → γ
class HMul (α : Type u) (β : Type v) (γ : outParam (Type w)) where hMul : α → β → γ
class HDiv (α : Type u) (β : Type v) (γ : outParam (Type w)) where hDiv : α → β → γ
class HMod (α : Type u) (β : Type v) (γ : outParam (Type w)) where hMod : α → β → γ
class HPow (α : Type u) (β : Type v) (γ : outParam (Type w)) where hPow : α → β → γ
class HSMul (α : Type u) (β : Type v) (γ : outParam (Type w)) where hSMul : α → β → γ
class HAppend (α : Type u) (β : Type v) (γ : outParam (Type w)) where hAppend : α → β → γ
class HOrElse (α : Type u) (β : Type v) (γ : outParam (Type w)) where hOrElse : α → (Unit → β) → γ
class HAndThen (α : Type u) (β : Type v) (γ : outParam (Type w)) where hAndThen : α → (Unit → β) → γ
class HAnd (α : Type u) (β : Type v) (γ : outParam (Type w)) where hAnd : α → β → γ
class HXor (α : Type u) (β : Type v) (γ : outParam (Type w)) where hXor : α → β → γ
class HOr (α : Type u) (β : Type v) (γ : outParam (Type w)) where hOr : α → β → γ
class HShiftLeft (α : Type u) (β : Type v) (γ : outParam (Type w)) where hShiftLeft : α → β → γ
class HShiftRight (α : Type u) (β : Type v) (γ : outParam (Type w)) where hShiftRight : α → β → γ
class Zero (α : Type u) where zero : α
class One (α : Type u) where one : α
class Add (α : Type u) where add : α → α → α
class Sub (α : Type u) where sub : α → α → α
class Mul (α : Type u) where mul : α → α → α
class Neg (α : Type u) where neg : α → α
class Inv (α : Type u) where inv : α → α
class Div (α : Type u) where div : α → α → α
class Mod (α : Type u) where mod : α → α → α
class Dvd (α : Type u) where dvd : α → α → Prop
class Pow (α : Type u) (β : Type v) where pow : α → β → α
class NatPow (α : Type u) where pow : α → Nat → α
class SMul (M : Type u) (α : Type v) where smul : M → α → α
class Append (α : Type u) where append : α → α → α
class OrElse (α : Type u) where orElse : α → (Unit → α) → α
class AndThen (α : Type u) where andThen : α → (Unit → α) → α
class AndOp (α : Type u) where and : α → α → α
class XorOp (α : Type u) where xor : α → α → α
class OrOp (α : Type u) where or : α → α → α
class Complement (α : Type u) where complement : α → α
class ShiftLeft (α : Type u) where shiftLeft : α → α → α
class ShiftRight (α : Type u) where shiftRight : α → α → α
class EmptyCollection (α : Type u) where emptyCollection : α
class Insert (α : outParam (Type u)) (γ : Type v) where insert : α → γ → γ
export Insert (insert)
class Singleton (α : outParam (Type u)) (β : Type v) where singleton : α → β
export Singleton (singleton)
class Union (α : Type u) where union : α → α → α
class Inter (α : Type u) where inter : α → α → α
class SDiff (α : Type u) where sdiff : α → α → α
class HasSubset (α : Type u) where Subset : α → α → Prop
class Membership (α : outParam (Type u)) (γ : Type v) where mem : γ → α → Prop
class HasEquiv (α : Sort u) where Equiv : α → α → Sort v

@[default_instance] instance instHAdd {α : Type u} [Add α] : HAdd α α α := ⟨Add.add⟩
@[default_instance] instance instHSub {α : Type u} [Sub α] : HSub α α α := ⟨Sub.sub⟩
@[default_instance] instance instHMul {α : Type u} [Mul α] : HMul α α α := ⟨Mul.mul⟩
@[default_instance] instance instHDiv {α : Type u} [Div α] : HDiv α α α := ⟨Div.div⟩
@[default_instance] instance instHMod {α : Type u} [Mod α] : HMod α α α := ⟨Mod.mod⟩
@[default_instance] instance instHPow {α : Type u} {β : Type v} [Pow α β] : HPow α β α := ⟨Pow.pow⟩
@[default_instance] instance instPowNat {α : Type u} [NatPow α] : Pow α Nat := ⟨NatPow.pow⟩
@[default_instance] instance instHSMul {α : Type u} {β : Type v} [SMul α β] : HSMul α β β := ⟨SMul.smul⟩
@[default_instance] instance instHAppendOfAppend {α : Type u} [Append α] : HAppend α α α := ⟨Append.append⟩
@[default_instance] instance instHOrElseOfOrElse {α : Type u} [OrElse α] : HOrElse α α α := ⟨OrElse.orElse⟩
@[default_instance] instance instHAndThenOfAndThen {α : Type u} [AndThen α] : HAndThen α α α := ⟨AndThen.andThen⟩
instance instBEqOfDecidableEq {α : Type u} [DecidableEq α] : BEq α := ⟨fun a b => decide (Eq a b)⟩
instance instInhabitedProp : Inhabited Prop := ⟨True⟩
instance instInhabitedSort : Inhabited (Sort u) := ⟨PUnit⟩
instance instDecidableTrue : Decidable True := isTrue trivial
instance instDecidableFalse : Decidable False := isFalse id

-- ===== Nat =====
@[extern "lean_nat_add"] protected def Nat.add : Nat → Nat → Nat
  | n, .zero => n
  | n, .succ m => .succ (Nat.add n m)
instance instAddNat : Add Nat := ⟨Nat.add⟩
attribute [match_pattern] Nat.add Add.add HAdd.hAdd
@[extern "lean_nat_mul"] protected def Nat.mul : Nat → Nat → Nat
  | _, .zero => .zero
  | n, .succ m => Nat.add (Nat.mul n m) n
instance instMulNat : Mul Nat := ⟨Nat.mul⟩
@[extern "lean_nat_pow"] protected def Nat.pow (m : Nat) : Nat → Nat
  | .zero => 1
  | .succ n => Nat.mul (Nat.pow m n) m
instance instNatPowNat : NatPow Nat := ⟨Nat.pow⟩
@[extern "lean_nat_pred"] def Nat.pred : Nat → Nat
  | .zero => .zero
  | .succ n => n
@[extern "lean_nat_sub"] protected def Nat.sub : Nat → Nat → Nat
  | n, .zero => n
  | n, .succ m => Nat.pred (Nat.sub n m)
instance instSubNat : Sub Nat := ⟨Nat.sub⟩
@[extern "lean_nat_dec_eq"] def Nat.beq : Nat → Nat → Bool
  | .zero, .zero => true
  | .zero, .succ _ => false
  | .succ _, .zero => false
  | .succ n, .succ m => Nat.beq n m
@[extern "lean_nat_dec_le"] def Nat.ble : Nat → Nat → Bool
  | .zero, _ => true
  | .succ _, .zero => false
  | .succ n, .succ m => Nat.ble n m
theorem noConfusion_of_Nat {α : Sort u} (f : α → Nat) {a b : α} (h : Eq a b) : Bool.rec False True (Nat.beq (f a) (f b)) :=
  h.rec (Nat.rec (motive := fun n => Bool.rec (motive := fun _ => Prop) False True (Nat.beq n n)) True.intro (fun _ ih => ih) (f a))
attribute [gen_constructor_elims] Bool
theorem Nat.eq_of_beq_eq_true : {n m : Nat} → Eq (Nat.beq n m) true → Eq n m
  | .zero, .zero, _ => rfl
  | .zero, .succ _, h => nomatch h
  | .succ _, .zero, h => nomatch h
  | .succ n, .succ m, h =>
    have h : Eq (Nat.beq n m) true := h
    congrArg Nat.succ (Nat.eq_of_beq_eq_true h)
theorem Nat.ne_of_beq_eq_false : {n m : Nat} → Eq (Nat.beq n m) false → Not (Eq n m)
  | .zero, .zero, h₁, _ => nomatch h₁
  | .succ n, .succ m, h₁, h₂ =>
    have h₁ : Eq (Nat.beq n m) false := h₁
    absurd (congrArg (fun k => Nat.rec (motive := fun _ => Nat) .zero (fun x _ => x) k) h₂) (Nat.ne_of_beq_eq_false h₁)
  | .zero, .succ _, _, h₂ => noConfusion_of_Nat id h₂
  | .succ _, .zero, _, h₂ => noConfusion_of_Nat id h₂
@[extern "lean_nat_dec_eq"] protected def Nat.decEq (n m : Nat) : Decidable (Eq n m) :=
  match h : Nat.beq n m with
  | true => isTrue (Nat.eq_of_beq_eq_true h)
  | false => isFalse (Nat.ne_of_beq_eq_false h)
attribute [gen_constructor_elims] Nat
attribute [gen_constructor_elims] Decidable
@[inline] instance instDecidableEqNat : DecidableEq Nat := Nat.decEq

protected inductive Nat.le (n : Nat) : Nat → Prop
  | refl : Nat.le n n
  | step {m : Nat} : Nat.le n m → Nat.le n (.succ m)
protected def Nat.lt (n m : Nat) : Prop := Nat.le (.succ n) m
instance instLENat : LE Nat := ⟨Nat.le⟩
instance instLTNat : LT Nat := ⟨Nat.lt⟩
theorem Nat.zero_le : (n : Nat) → LE.le 0 n
  | .zero => Nat.le.refl
  | .succ n => Nat.le.step (Nat.zero_le n)
theorem Nat.succ_le_succ {n m : Nat} : LE.le n m → LE.le (Nat.succ n) (Nat.succ m)
  | .refl => Nat.le.refl
  | .step h => Nat.le.step (Nat.succ_le_succ h)
theorem Nat.le_succ (n : Nat) : LE.le n (Nat.succ n) := Nat.le.step Nat.le.refl
protected theorem Nat.le_trans {n m k : Nat} (h₁ : LE.le n m) : LE.le m k → LE.le n k
  | .refl => h₁
  | .step h₂ => Nat.le.step (Nat.le_trans h₁ h₂)
protected theorem Nat.le_refl (n : Nat) : LE.le n n := Nat.le.refl
theorem Nat.pred_le_pred : {n m : Nat} → LE.le n m → LE.le (Nat.pred n) (Nat.pred m)
  | .zero, _, _ => Nat.zero_le _
  | .succ _, _, .refl => Nat.le.refl
  | .succ n, .succ m, .step h => Nat.le_trans (Nat.le_succ n) h
theorem Nat.le_of_succ_le_succ {n m : Nat} : LE.le (Nat.succ n) (Nat.succ m) → LE.le n m := Nat.pred_le_pred
theorem Nat.not_succ_le_zero : (n : Nat) → LE.le (Nat.succ n) 0 → False
  | _, h => nomatch h
theorem Nat.ble_self_eq_true : (n : Nat) → Eq (Nat.ble n n) true
  | .zero => rfl
  | .succ n => Nat.ble_self_eq_true n
theorem Nat.ble_eq_true_of_le : {n m : Nat} → LE.le n m → Eq (Nat.ble n m) true
  | .zero, _, _ => rfl
  | .succ n, .zero, h => (Nat.not_succ_le_zero n h).elim
  | .succ n, .succ m, h => Nat.ble_eq_true_of_le (n := n) (m := m) (Nat.le_of_succ_le_succ h)
theorem Nat.le_of_ble_eq_true : {n m : Nat} → Eq (Nat.ble n m) true → LE.le n m
  | .zero, m, _ => Nat.zero_le m
  | .succ _, .zero, h => nomatch h
  | .succ n, .succ m, h => Nat.succ_le_succ (Nat.le_of_ble_eq_true (n := n) (m := m) h)
theorem Nat.not_le_of_not_ble_eq_true {n m : Nat} (h : Not (Eq (Nat.ble n m) true)) : Not (LE.le n m) :=
  fun h' => h (Nat.ble_eq_true_of_le h')
theorem eq_true_of_ne_false : {b : Bool} → Not (Eq b false) → Eq b true
  | true, _ => rfl
  | false, h => (h rfl).elim
theorem eq_false_of_ne_true : {b : Bool} → Not (Eq b true) → Eq b false
  | false, _ => rfl
  | true, h => (h rfl).elim
theorem ne_false_of_eq_true : {b : Bool} → Eq b true → Not (Eq b false)
  | true, _ => fun h => nomatch h
  | false, h => nomatch h
theorem ne_true_of_eq_false : {b : Bool} → Eq b false → Not (Eq b true)
  | false, _ => fun h => nomatch h
  | true, h => nomatch h
def Bool.decEq : (a b : Bool) → Decidable (Eq a b)
  | false, false => isTrue rfl
  | true, true => isTrue rfl
  | false, true => isFalse (fun h => nomatch h)
  | true, false => isFalse (fun h => nomatch h)
instance instDecidableEqBool : DecidableEq Bool := Bool.decEq
@[extern "lean_nat_dec_le"] instance Nat.decLe (n m : Nat) : Decidable (LE.le n m) :=
  dite (Eq (Nat.ble n m) true) (fun h => isTrue (Nat.le_of_ble_eq_true h)) (fun h => isFalse (Nat.not_le_of_not_ble_eq_true h))
@[extern "lean_nat_dec_lt"] instance Nat.decLt (n m : Nat) : Decidable (LT.lt n m) := Nat.decLe (Nat.succ n) m
instance instMinNat : Min Nat := ⟨fun n m => ite (LE.le n m) n m⟩
instance Nat.instMax : Max Nat := ⟨fun n m => ite (LE.le n m) m n⟩
theorem Nat.lt_irrefl : (n : Nat) → Not (LT.lt n n)
  | .zero, h => Nat.not_succ_le_zero _ h
  | .succ n, h => Nat.lt_irrefl n (Nat.le_of_succ_le_succ h)

theorem of_decide_eq_true {p : Prop} [inst : Decidable p] : Eq (decide p) true → p :=
  fun h => match inst, h with
  | isTrue hp, _ => hp
  | isFalse _, h => nomatch h
theorem of_decide_eq_false {p : Prop} [inst : Decidable p] : Eq (decide p) false → Not p :=
  fun h => match inst, h with
  | isTrue _, h => nomatch h
  | isFalse hn, _ => hn
theorem decide_eq_true {p : Prop} [inst : Decidable p] : p → Eq (decide p) true :=
  fun h => match inst with
  | isTrue _ => rfl
  | isFalse hn => (hn h).elim
theorem decide_eq_false {p : Prop} [inst : Decidable p] : Not p → Eq (decide p) false :=
  fun h => match inst with
  | isTrue hp => (h hp).elim
  | isFalse _ => rfl

-- ===== data the code generator and the quotation machinery know =====
structure Fin (n : Nat) where
  mk ::
  val : Nat
  isLt : LT.lt val n
structure BitVec (w : Nat) where
  ofFin ::
  toFin : Fin (HPow.hPow 2 w)
structure UInt8 where
  ofBitVec ::
  toBitVec : BitVec 8
structure UInt16 where
  ofBitVec ::
  toBitVec : BitVec 16
structure UInt32 where
  ofBitVec ::
  toBitVec : BitVec 32
structure UInt64 where
  ofBitVec ::
  toBitVec : BitVec 64
abbrev Nat.isValidChar (n : Nat) : Prop := Or (LT.lt n 0xd800) (And (LT.lt 0xdfff n) (LT.lt n 0x110000))
abbrev UInt32.isValidChar (n : UInt32) : Prop := n.toBitVec.toFin.val.isValidChar
structure Char where
  val : UInt32
  valid : val.isValidChar

inductive Option (α : Type u) where
  | none : Option α
  | some (val : α) : Option α
export Option (none some)
instance {α : Type u} : Inhabited (Option α) := ⟨none⟩
inductive List (α : Type u) where
  | nil : List α
  | cons (head : α) (tail : List α) : List α
instance {α : Type u} : Inhabited (List α) := ⟨List.nil⟩
structure Array (α : Type u) where
  mk ::
  toList : List α
instance {α : Type u} : Inhabited (Array α) := ⟨⟨List.nil⟩⟩
structure ByteArray where
  data : Array UInt8
structure String where
  ofList ::
  toList : List Char
