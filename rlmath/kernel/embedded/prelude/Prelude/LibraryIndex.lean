prelude
import Prelude.LibraryDecide
import Prelude.LibraryInt
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! `Fin`, and indexing of lists: `l[i]`, `l[i]?`, `l[i]!`. -/

-- ===== Fin =====
class NeZero (n : Nat) : Prop where
  out : n ≠ 0
instance Nat.instNeZeroSucc {n : Nat} : NeZero (n + 1) := ⟨Nat.succ_ne_zero n⟩
namespace Fin
variable {n : Nat} {i j : Fin n}
@[ext] protected theorem ext : {a b : Fin n} → (a : Fin n).val = b.val → a = b | ⟨_, _⟩, ⟨_, _⟩, rfl => rfl
instance coeToNat : CoeOut (Fin n) Nat := ⟨val⟩
instance : LT (Fin n) := ⟨fun a b => a.val < b.val⟩
instance : LE (Fin n) := ⟨fun a b => a.val ≤ b.val⟩
instance : DecidableEq (Fin n) := fun a b => decidable_of_decidable_of_iff Fin.ext_iff.symm
instance decLt (a b : Fin n) : Decidable (a < b) := Nat.decLt a.val b.val
instance decLe (a b : Fin n) : Decidable (a ≤ b) := Nat.decLe a.val b.val
protected def ofNat (n : Nat) [h : NeZero n] (a : Nat) : Fin n := ⟨a % n, Nat.mod_lt a (Nat.pos_of_ne_zero h.out)⟩
instance instOfNat [NeZero n] {i : Nat} : OfNat (Fin n) i := ⟨Fin.ofNat n i⟩
protected def add (a b : Fin n) : Fin n := ⟨(a.val + b.val) % n, Nat.mod_lt _ (Nat.zero_lt_of_lt a.isLt)⟩
protected def sub (a b : Fin n) : Fin n := ⟨(n - b.val + a.val) % n, Nat.mod_lt _ (Nat.zero_lt_of_lt a.isLt)⟩
protected def mul (a b : Fin n) : Fin n := ⟨a.val * b.val % n, Nat.mod_lt _ (Nat.zero_lt_of_lt a.isLt)⟩
instance : Add (Fin n) := ⟨Fin.add⟩
instance : Sub (Fin n) := ⟨Fin.sub⟩
instance : Mul (Fin n) := ⟨Fin.mul⟩
def succ (i : Fin n) : Fin (n + 1) := ⟨i.val + 1, Nat.succ_lt_succ i.isLt⟩
def castSucc (i : Fin n) : Fin (n + 1) := ⟨i.val, Nat.lt_succ_of_lt i.isLt⟩
def last (n : Nat) : Fin (n + 1) := ⟨n, Nat.lt_succ_self n⟩
def elim0 {α : Sort u} (i : Fin 0) : α := absurd i.isLt (Nat.not_lt_zero i.val)
theorem lt_def : i < j ↔ i.val < j.val := Iff.rfl
theorem le_def : i ≤ j ↔ i.val ≤ j.val := Iff.rfl
theorem val_inj : i.val = j.val ↔ i = j := Fin.ext_iff.symm
theorem val_congr (h : i = j) : i.val = j.val := congrArg val h
theorem val_le_of_le (h : i ≤ j) : i.val ≤ j.val := h
theorem val_le_of_ge (h : i ≥ j) : j.val ≤ i.val := h
theorem val_add_one_le_of_lt (h : i < j) : i.val + 1 ≤ j.val := h
theorem val_add_one_le_of_gt (h : i > j) : j.val + 1 ≤ i.val := h
theorem pos (i : Fin n) : 0 < n := Nat.zero_lt_of_lt i.isLt
instance decidableForallFin (P : Fin n → Prop) [DecidablePred P] : Decidable (∀ i, P i) :=
  decidable_of_decidable_of_iff (p := ∀ k (h : k < n), P ⟨k, h⟩) ⟨fun h ⟨k, hk⟩ => h k hk, fun h k hk => h ⟨k, hk⟩⟩
end Fin
namespace Lean.Omega.Fin
variable {n : Nat} {x y : Fin n}
theorem le_of_not_lt (h : ¬x < y) : y ≤ x := Nat.not_lt.1 h
theorem lt_of_not_le (h : ¬x ≤ y) : y < x := Nat.not_le.1 h
theorem lt_or_gt_of_ne (h : x ≠ y) : x < y ∨ x > y := Nat.lt_or_gt_of_ne fun e => h (Fin.ext e)
theorem ofNat_val_add : (((x + y : Fin n).val : Nat) : Int) = ((x.val : Int) + (y.val : Int)) % (n : Int) := _root_.Int.natCast_emod _ _
theorem ofNat_val_sub : (((x - y : Fin n).val : Nat) : Int) = (((n - y.val + x.val : Nat) : Nat) : Int) % (n : Int) := _root_.Int.natCast_emod _ _
theorem ofNat_val_mul : (((x * y : Fin n).val : Nat) : Int) = ((x.val : Int) * (y.val : Int)) % (n : Int) := _root_.Int.natCast_emod _ _
end Lean.Omega.Fin

-- ===== indexing =====
class GetElem (coll : Type u) (idx : Type v) (elem : outParam (Type w)) (valid : outParam (coll → idx → Prop)) where
  getElem (xs : coll) (i : idx) (h : valid xs i) : elem
export GetElem (getElem)
class GetElem? (coll : Type u) (idx : Type v) (elem : outParam (Type w)) (valid : outParam (coll → idx → Prop)) extends GetElem coll idx elem valid where
  getElem? : coll → idx → Option elem
  getElem! [Inhabited elem] (xs : coll) (i : idx) : elem := match getElem? xs i with | some e => e | none => default
export GetElem? (getElem? getElem!)
namespace List
variable {α : Type u} {β : Type v} {l : List α} {i n : Nat}
def getAt : (l : List α) → (i : Nat) → i < length l → α
  | a :: _, 0, _ => a
  | _ :: as, i + 1, h => getAt as i (Nat.lt_of_succ_lt_succ h)
def getAt? : List α → Nat → Option α
  | [], _ => none
  | a :: _, 0 => some a
  | _ :: as, i + 1 => getAt? as i
instance : GetElem? (List α) Nat α (fun l i => i < length l) where
  getElem := getAt
  getElem? := getAt?
@[simp] theorem getElem_cons_zero (a : α) (l : List α) (h : 0 < length (a :: l)) : (a :: l)[0] = a := rfl
@[simp] theorem getElem_cons_succ (a : α) (l : List α) (i : Nat) (h : i + 1 < length (a :: l)) :
    (a :: l)[i + 1] = l[i]'(Nat.lt_of_succ_lt_succ h) := rfl
@[simp] theorem getElem?_nil : ([] : List α)[i]? = none := rfl
@[simp] theorem getElem?_cons_zero (a : α) (l : List α) : (a :: l)[0]? = some a := rfl
@[simp] theorem getElem?_cons_succ (a : α) (l : List α) : (a :: l)[i + 1]? = l[i]? := rfl
theorem getElem?_eq_getElem (h : i < length l) : l[i]? = some l[i] := by
  induction l generalizing i with
  | nil => exact absurd h (Nat.not_lt_zero i)
  | cons a l ih => cases i with
    | zero => rfl
    | succ i => exact ih (Nat.lt_of_succ_lt_succ h)
@[simp] theorem getElem?_eq_none_iff : l[i]? = none ↔ length l ≤ i := by
  induction l generalizing i with
  | nil => simp
  | cons a l ih => cases i with
    | zero => simp
    | succ i => simp [ih]
theorem getElem_mem (h : i < length l) : l[i] ∈ l := by
  induction l generalizing i with
  | nil => exact absurd h (Nat.not_lt_zero i)
  | cons a l ih => cases i with
    | zero => exact mem_cons_self
    | succ i => exact mem_cons_of_mem a (ih (Nat.lt_of_succ_lt_succ h))
theorem ext_getElem? {l₁ l₂ : List α} (h : ∀ i : Nat, l₁[i]? = l₂[i]?) : l₁ = l₂ := by
  induction l₁ generalizing l₂ with
  | nil => cases l₂ with
    | nil => rfl
    | cons b l₂ => exact nomatch h 0
  | cons a l₁ ih => cases l₂ with
    | nil => exact nomatch h 0
    | cons b l₂ => rw [Option.some.inj (h 0), ih fun i => h (i + 1)]
@[simp] theorem getElem_map (f : α → β) (h : i < length (map f l)) : (map f l)[i] = f (l[i]'(length_map f l ▸ h)) := by
  induction l generalizing i with
  | nil => exact absurd h (Nat.not_lt_zero i)
  | cons a l ih => cases i with
    | zero => rfl
    | succ i => exact ih (Nat.lt_of_succ_lt_succ h)
end List
