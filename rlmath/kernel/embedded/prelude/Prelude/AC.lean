prelude
import Prelude.LibraryInt
set_option autoImplicit false
set_option linter.unusedVariables false
set_option genSizeOf false
set_option genInjectivity false
universe u

/-! What compiled `ac_rfl` and `ac_nf` quote: expressions over one associative operation, their normal form, and the proof that it has the same
value. Compiled code computes the normal form itself and leaves it to the kernel to see that both sides have the same one. -/

namespace Std
class LawfulIdentity {α : Sort u} (op : α → α → α) (o : outParam α) : Prop where
  left_id : ∀ a, op o a = a
  right_id : ∀ a, op a o = a
end Std

namespace Lean.Data.AC
inductive Expr where
  | var (x : Nat)
  | op (lhs rhs : Expr)
structure Variable {α : Sort u} (op : α → α → α) : Type u where
  value : α
  neutral : Option (PLift (Std.LawfulIdentity op value))
structure Context (α : Sort u) where
  op : α → α → α
  assoc : Std.Associative op
  comm : Option (PLift (Std.Commutative op))
  idem : Option (PLift (Std.IdempotentOp op))
  vars : List (Variable op)
  arbitrary : α
variable {α : Sort u} (ctx : Context α)

def Context.lookup {op : α → α → α} : List (Variable op) → Nat → Option (Variable op)
  | [], _ => none
  | v :: _, 0 => some v
  | _ :: vs, n + 1 => lookup vs n
def Context.value (x : Nat) : α := match Context.lookup ctx.vars x with | some v => v.value | none => ctx.arbitrary
def Context.isNeutral (x : Nat) : Bool := match Context.lookup ctx.vars x with | some ⟨_, some _⟩ => true | _ => false

def eval (α : Sort u) (ctx : Context α) : Expr → α
  | .var x => ctx.value x
  | .op l r => ctx.op (eval α ctx l) (eval α ctx r)
def evalList : List Nat → α
  | [] => ctx.arbitrary
  | [x] => ctx.value x
  | x :: y :: xs => ctx.op (ctx.value x) (evalList (y :: xs))
def Expr.toList : Expr → List Nat
  | .var x => [x]
  | .op l r => l.toList ++ r.toList
def dropNeutrals : List Nat → List Nat
  | [] => []
  | x :: xs => match ctx.isNeutral x with
    | true => dropNeutrals xs
    | false => x :: dropNeutrals xs
def orFirst (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: ys => y :: ys
/-- All but the neutral elements; of neutral ones alone, the first. -/
def removeNeutrals : List Nat → List Nat
  | [] => []
  | x :: xs => orFirst x (dropNeutrals ctx (x :: xs))
def insert (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: ys => match Nat.ble x y with
    | true => x :: y :: ys
    | false => y :: insert x ys
def sort : List Nat → List Nat
  | [] => []
  | x :: xs => insert x (sort xs)
/-- Puts `x` in front, unless it is there. -/
def consNew (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: ys => match Nat.beq x y with
    | true => y :: ys
    | false => x :: y :: ys
def mergeIdem : List Nat → List Nat
  | [] => []
  | x :: xs => consNew x (mergeIdem xs)
def norm (e : Expr) : List Nat :=
  let xs := removeNeutrals ctx e.toList
  let xs := match ctx.comm with | some _ => sort xs | none => xs
  match ctx.idem with | some _ => mergeIdem xs | none => xs
def sameList : List Nat → List Nat → Bool
  | [], [] => true
  | x :: xs, y :: ys => Nat.beq x y && sameList xs ys
  | _, _ => false
theorem eq_of_sameList : {xs ys : List Nat} → sameList xs ys = true → xs = ys
  | [], [], _ => rfl
  | x :: xs, y :: ys, h => by
    have h := Bool.and_eq_true_iff.1 h
    rw [Nat.eq_of_beq_eq_true h.1, eq_of_sameList h.2]

theorem evalList_cons (x : Nat) {xs : List Nat} (h : xs ≠ []) : evalList ctx (x :: xs) = ctx.op (ctx.value x) (evalList ctx xs) := by
  cases xs with
  | nil => exact absurd rfl h
  | cons y ys => rfl
theorem evalList_append {xs ys : List Nat} (hx : xs ≠ []) (hy : ys ≠ []) : evalList ctx (xs ++ ys) = ctx.op (evalList ctx xs) (evalList ctx ys) := by
  induction xs with
  | nil => exact absurd rfl hx
  | cons x xs ih => cases xs with
    | nil => exact evalList_cons ctx x hy
    | cons z xs =>
      show ctx.op (ctx.value x) (evalList ctx ((z :: xs) ++ ys)) = ctx.op (ctx.op (ctx.value x) (evalList ctx (z :: xs))) _
      rw [ih (fun h => nomatch h), ctx.assoc.assoc]
theorem Expr.toList_ne_nil : (e : Expr) → e.toList ≠ []
  | .var x => fun h => nomatch h
  | .op l r => fun h => by
    have h : l.toList ++ r.toList = [] := h
    cases hl : l.toList with
    | nil => exact l.toList_ne_nil hl
    | cons x xs => rw [hl] at h; nomatch h
theorem evalList_toList : (e : Expr) → evalList ctx e.toList = eval α ctx e
  | .var x => rfl
  | .op l r => by
    show evalList ctx (l.toList ++ r.toList) = ctx.op (eval α ctx l) (eval α ctx r)
    rw [evalList_append ctx l.toList_ne_nil r.toList_ne_nil, evalList_toList l, evalList_toList r]

/-- `a` changes nothing. -/
def Neutral (a : α) : Prop := ∀ b, ctx.op a b = b ∧ ctx.op b a = b
theorem neutral_of_isNeutral {x : Nat} (h : ctx.isNeutral x = true) : Neutral ctx (ctx.value x) := by
  unfold Context.isNeutral at h; unfold Context.value
  cases hv : Context.lookup ctx.vars x with
  | none => rw [hv] at h; nomatch h
  | some v =>
    rw [hv] at h
    obtain ⟨a, n⟩ := v
    cases n with
    | none => nomatch h
    | some n => exact fun b => ⟨n.down.left_id b, n.down.right_id b⟩
theorem dropNeutrals_spec (x : Nat) (xs : List Nat) :
    dropNeutrals ctx (x :: xs) = [] ∧ Neutral ctx (evalList ctx (x :: xs)) ∧ Neutral ctx (ctx.value x) ∨
      dropNeutrals ctx (x :: xs) ≠ [] ∧ evalList ctx (dropNeutrals ctx (x :: xs)) = evalList ctx (x :: xs) := by
  have pos : ∀ {x : Nat} {xs : List Nat}, ctx.isNeutral x = true → dropNeutrals ctx (x :: xs) = dropNeutrals ctx xs := fun h => by
    rw [dropNeutrals, h]
  have neg : ∀ {x : Nat} {xs : List Nat}, ctx.isNeutral x = false → dropNeutrals ctx (x :: xs) = x :: dropNeutrals ctx xs := fun h => by
    rw [dropNeutrals, h]
  induction xs generalizing x with
  | nil =>
    cases h : ctx.isNeutral x with
    | true => exact .inl ⟨pos h, neutral_of_isNeutral ctx h, neutral_of_isNeutral ctx h⟩
    | false => rw [neg h]; exact .inr ⟨fun k => (nomatch k), rfl⟩
  | cons y ys ih =>
    have e : evalList ctx (x :: y :: ys) = ctx.op (ctx.value x) (evalList ctx (y :: ys)) := rfl
    cases h : ctx.isNeutral x with
    | true =>
      have n := neutral_of_isNeutral ctx h
      rw [pos h, e, (n _).1]
      exact (ih y).imp (fun k => ⟨k.1, k.2.1, n⟩) id
    | false =>
      rw [neg h, e]
      refine .inr ⟨fun k => (nomatch k), ?_⟩
      cases ih y with
      | inl k => rw [k.1]; exact (k.2.1 _).2.symm
      | inr k => rw [evalList_cons ctx x k.1, k.2]
theorem evalList_removeNeutrals {xs : List Nat} (h : xs ≠ []) :
    evalList ctx (removeNeutrals ctx xs) = evalList ctx xs ∧ removeNeutrals ctx xs ≠ [] := by
  cases xs with
  | nil => exact absurd rfl h
  | cons x xs =>
    show evalList ctx (orFirst x (dropNeutrals ctx (x :: xs))) = _ ∧ orFirst x (dropNeutrals ctx (x :: xs)) ≠ []
    cases dropNeutrals_spec ctx x xs with
    | inl k => rw [k.1]; exact ⟨(k.2.1 _).1.symm.trans (k.2.2 _).2, fun k => (nomatch k)⟩
    | inr k =>
      rw [← k.2]
      cases hd : dropNeutrals ctx (x :: xs) with
      | nil => exact absurd hd k.1
      | cons y ys => exact ⟨rfl, fun k => (nomatch k)⟩
theorem insert_ne_nil (x : Nat) (xs : List Nat) : insert x xs ≠ [] := by
  cases xs with
  | nil => exact fun h => nomatch h
  | cons y ys => unfold insert; split <;> exact fun h => nomatch h
theorem evalList_insert (hc : Std.Commutative ctx.op) (x : Nat) (xs : List Nat) : evalList ctx (insert x xs) = evalList ctx (x :: xs) := by
  induction xs with
  | nil => rfl
  | cons y ys ih =>
    unfold insert
    split
    · rfl
    · rw [evalList_cons ctx y (insert_ne_nil x ys), ih]
      cases ys with
      | nil => exact hc.comm _ _
      | cons z zs =>
        show ctx.op (ctx.value y) (ctx.op (ctx.value x) (evalList ctx (z :: zs))) = ctx.op (ctx.value x) (ctx.op (ctx.value y) (evalList ctx (z :: zs)))
        rw [← ctx.assoc.assoc, hc.comm (ctx.value y), ctx.assoc.assoc]
theorem evalList_sort (hc : Std.Commutative ctx.op) {xs : List Nat} (h : xs ≠ []) : evalList ctx (sort xs) = evalList ctx xs ∧ sort xs ≠ [] := by
  induction xs with
  | nil => exact absurd rfl h
  | cons x xs ih =>
    refine ⟨(evalList_insert ctx hc x (sort xs)).trans ?_, insert_ne_nil x _⟩
    cases xs with
    | nil => rfl
    | cons y ys =>
      have k := ih fun k => nomatch k
      rw [evalList_cons ctx x k.2, k.1]; rfl
theorem consNew_ne_nil (x : Nat) (xs : List Nat) : consNew x xs ≠ [] := by
  cases xs with
  | nil => exact fun k => nomatch k
  | cons y ys => rw [consNew]; cases Nat.beq x y <;> exact fun k => nomatch k
theorem evalList_consNew (hi : Std.IdempotentOp ctx.op) (x : Nat) {xs : List Nat} (h : xs ≠ []) :
    evalList ctx (consNew x xs) = ctx.op (ctx.value x) (evalList ctx xs) := by
  cases xs with
  | nil => exact absurd rfl h
  | cons y ys =>
    cases hb : Nat.beq x y with
    | false => rw [consNew, hb]; rfl
    | true =>
      rw [consNew, hb, Nat.eq_of_beq_eq_true hb]
      cases ys with
      | nil => exact (hi.idempotent _).symm
      | cons w ws => show ctx.op _ _ = ctx.op _ (ctx.op _ _); rw [← ctx.assoc.assoc, hi.idempotent]
theorem evalList_mergeIdem (hi : Std.IdempotentOp ctx.op) {xs : List Nat} (h : xs ≠ []) :
    evalList ctx (mergeIdem xs) = evalList ctx xs ∧ mergeIdem xs ≠ [] := by
  induction xs with
  | nil => exact absurd rfl h
  | cons x xs ih =>
    refine ⟨?_, consNew_ne_nil x _⟩
    cases xs with
    | nil => rfl
    | cons z zs =>
      have k := ih fun k => nomatch k
      exact (evalList_consNew ctx hi x k.2).trans (congrArg (ctx.op (ctx.value x)) k.1)
theorem evalList_norm (e : Expr) : evalList ctx (norm ctx e) = eval α ctx e := by
  have h₁ := evalList_removeNeutrals ctx e.toList_ne_nil
  rw [evalList_toList] at h₁
  unfold norm
  generalize removeNeutrals ctx e.toList = xs at h₁
  have key : ∀ ys, evalList ctx ys = eval α ctx e ∧ ys ≠ [] →
      evalList ctx (match ctx.idem with | some _ => mergeIdem ys | none => ys) = eval α ctx e := fun ys k => by
    cases ctx.idem with
    | none => exact k.1
    | some hi => exact (evalList_mergeIdem ctx hi.down k.2).1.trans k.1
  cases ctx.comm with
  | none => exact key xs h₁
  | some hc => have h₂ := evalList_sort ctx hc.down h₁.2; exact key (sort xs) ⟨h₂.1.trans h₁.1, h₂.2⟩
theorem Context.eq_of_norm (ctx : Context α) (a b : Expr) (h : sameList (norm ctx a) (norm ctx b) = true) : eval α ctx a = eval α ctx b := by
  rw [← evalList_norm, ← evalList_norm, eq_of_sameList h]
end Lean.Data.AC

instance : Std.LawfulIdentity (α := Nat) (· + ·) 0 := ⟨Nat.zero_add, Nat.add_zero⟩
instance : Std.LawfulIdentity (α := Nat) (· * ·) 1 := ⟨Nat.one_mul, Nat.mul_one⟩
instance : Std.LawfulIdentity (α := Int) (· + ·) 0 := ⟨Int.zero_add, Int.add_zero⟩
instance : Std.LawfulIdentity (α := Int) (· * ·) 1 := ⟨Int.one_mul, Int.mul_one⟩
instance : Std.Associative And := ⟨fun _ _ _ => propext and_assoc⟩
instance : Std.Commutative And := ⟨fun _ _ => propext and_comm⟩
instance : Std.IdempotentOp And := ⟨and_self⟩
instance : Std.LawfulIdentity And True := ⟨true_and, and_true⟩
instance : Std.Associative Or := ⟨fun _ _ _ => propext or_assoc⟩
instance : Std.Commutative Or := ⟨fun _ _ => propext or_comm⟩
instance : Std.IdempotentOp Or := ⟨or_self⟩
instance : Std.LawfulIdentity Or False := ⟨false_or, or_false⟩
instance : Std.Associative Bool.and := ⟨Bool.and_assoc⟩
instance : Std.Commutative Bool.and := ⟨Bool.and_comm⟩
instance : Std.IdempotentOp Bool.and := ⟨Bool.and_self⟩
instance : Std.Associative Bool.or := ⟨Bool.or_assoc⟩
instance : Std.Commutative Bool.or := ⟨Bool.or_comm⟩
instance : Std.IdempotentOp Bool.or := ⟨Bool.or_self⟩
instance {α : Type u} : Std.Associative (α := List α) (· ++ ·) := ⟨List.append_assoc⟩
instance {α : Type u} : Std.LawfulIdentity (α := List α) (· ++ ·) [] := ⟨List.nil_append, List.append_nil⟩
