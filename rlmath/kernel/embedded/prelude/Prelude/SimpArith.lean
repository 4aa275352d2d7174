prelude
import Prelude.Simp
set_option autoImplicit false
set_option linter.unusedVariables false
set_option genSizeOf false
set_option genInjectivity false
universe u

/-! What `simp +arith` quotes on `Nat`, the termination prover with it. Compiled code finds the normal form of a linear (in)equation; the checks
below only have to agree, when the kernel evaluates them, that it says the same. -/

namespace Lean
/-- The values of the variables: a search tree on their numbers. -/
inductive RArray (α : Type u) where
  | leaf (value : α) : RArray α
  | branch (p : Nat) (left right : RArray α) : RArray α
def RArray.get {α : Type u} (n : Nat) : RArray α → α
  | .leaf x => x
  | .branch p l r => match Nat.ble p n with
    | true => r.get n
    | false => l.get n
end Lean

namespace Nat.Internal.Linear
abbrev Context : Type := Lean.RArray Nat
inductive Expr where
  | num (v : Nat)
  | var (i : Nat)
  | add (a b : Expr)
  | mulL (k : Nat) (a : Expr)
  | mulR (a : Expr) (k : Nat)
/-- `lhs = rhs` or, when `eq` is false, `lhs ≤ rhs`. -/
structure ExprCnstr where
  eq : Bool
  lhs : Expr
  rhs : Expr
def Expr.denote (ctx : Context) : Expr → Nat
  | .num v => v
  | .var i => ctx.get i
  | .add a b => a.denote ctx + b.denote ctx
  | .mulL k a => k * a.denote ctx
  | .mulR a k => a.denote ctx * k
def relation (eq : Bool) (a b : Nat) : Prop := match eq with | true => a = b | false => a ≤ b
def ExprCnstr.denote (ctx : Context) (c : ExprCnstr) : Prop := relation c.eq (c.lhs.denote ctx) (c.rhs.denote ctx)

-- ===== linear forms: the constant, then the coefficient of each variable =====
def value (ctx : Context) : Nat → Nat | 0 => 1 | i + 1 => ctx.get i
def evalFrom (ctx : Context) (i : Nat) : List Nat → Nat
  | [] => 0
  | k :: ks => k * value ctx i + evalFrom ctx (i + 1) ks
def plus : List Nat → List Nat → List Nat
  | [], ys => ys
  | x :: xs, [] => x :: xs
  | x :: xs, y :: ys => (x + y) :: plus xs ys
def scale (k : Nat) : List Nat → List Nat
  | [] => []
  | x :: xs => (k * x) :: scale k xs
def unit : Nat → List Nat
  | 0 => [1]
  | i + 1 => 0 :: unit i
def Expr.form : Expr → List Nat
  | .num v => [v]
  | .var i => unit (i + 1)
  | .add a b => plus a.form b.form
  | .mulL k a => scale k a.form
  | .mulR a k => scale k a.form
/-- No coefficient is larger. -/
def below : List Nat → List Nat → Bool
  | [], _ => true
  | x :: xs, [] => Nat.beq x 0 && below xs []
  | x :: xs, y :: ys => Nat.ble x y && below xs ys
def same (xs ys : List Nat) : Bool := below xs ys && below ys xs

theorem evalFrom_plus (ctx : Context) (i : Nat) (xs ys : List Nat) : evalFrom ctx i (plus xs ys) = evalFrom ctx i xs + evalFrom ctx i ys := by
  induction xs generalizing i ys with
  | nil => exact (Nat.zero_add _).symm
  | cons x xs ih => cases ys with
    | nil => rfl
    | cons y ys =>
      show (x + y) * value ctx i + evalFrom ctx (i + 1) (plus xs ys) = _ + _ + (_ + _)
      rw [ih, Nat.add_mul, Nat.add_add_add_comm]
theorem evalFrom_scale (ctx : Context) (i k : Nat) (xs : List Nat) : evalFrom ctx i (scale k xs) = k * evalFrom ctx i xs := by
  induction xs generalizing i with
  | nil => rfl
  | cons x xs ih => show k * x * _ + evalFrom ctx (i + 1) (scale k xs) = k * (_ + _); rw [ih, Nat.mul_add, Nat.mul_assoc]
theorem evalFrom_unit (ctx : Context) (i j : Nat) : evalFrom ctx i (unit j) = value ctx (i + j) := by
  induction j generalizing i with
  | zero => show 1 * value ctx i + 0 = _; rw [Nat.one_mul]; rfl
  | succ j ih => show 0 * _ + evalFrom ctx (i + 1) (unit j) = _; rw [ih, Nat.zero_mul, Nat.zero_add, Nat.add_right_comm]; rfl
theorem form_denote (ctx : Context) : (e : Expr) → evalFrom ctx 0 e.form = e.denote ctx
  | .num v => Nat.mul_one v
  | .var i => (evalFrom_unit ctx 0 (i + 1)).trans (by rw [Nat.zero_add]; rfl)
  | .add a b => by show evalFrom ctx 0 (plus a.form b.form) = _; rw [evalFrom_plus, form_denote ctx a, form_denote ctx b]; rfl
  | .mulL k a => by show evalFrom ctx 0 (scale k a.form) = _; rw [evalFrom_scale, form_denote ctx a]; rfl
  | .mulR a k => by show evalFrom ctx 0 (scale k a.form) = _; rw [evalFrom_scale, form_denote ctx a, Nat.mul_comm]; rfl
theorem and_true_split {a b : Bool} (h : (a && b) = true) : a = true ∧ b = true := by
  cases a with
  | true => exact ⟨rfl, h⟩
  | false => nomatch h
theorem evalFrom_below (ctx : Context) (i : Nat) {xs ys : List Nat} (h : below xs ys = true) : evalFrom ctx i xs ≤ evalFrom ctx i ys := by
  induction xs generalizing i ys with
  | nil => exact Nat.zero_le _
  | cons x xs ih => cases ys with
    | nil =>
      obtain ⟨h₁, h₂⟩ := and_true_split h
      show x * _ + evalFrom ctx (i + 1) xs ≤ 0
      rw [Nat.eq_of_beq_eq_true h₁, Nat.zero_mul, Nat.zero_add]; exact ih (i + 1) h₂
    | cons y ys =>
      obtain ⟨h₁, h₂⟩ := and_true_split h
      obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le (Nat.le_of_ble_eq_true h₁)
      refine Nat.add_le_add ?_ (ih (i + 1) h₂)
      rw [Nat.add_mul]; exact Nat.le_add_right _ _
theorem denote_le_of_below (ctx : Context) {a b : Expr} (h : below a.form b.form = true) : a.denote ctx ≤ b.denote ctx := by
  rw [← form_denote, ← form_denote]; exact evalFrom_below ctx 0 h

theorem Expr.eq_of_toNormPoly_eq (ctx : Context) (e e' : Expr) (h : same e.form e'.form = true) : e.denote ctx = e'.denote ctx :=
  Nat.le_antisymm (denote_le_of_below ctx (and_true_split h).1) (denote_le_of_below ctx (and_true_split h).2)

-- ===== relations =====
/-- `a < b` for all values. -/
def less (a b : Expr) : Bool := below (Expr.add a (.num 1)).form b.form
def ExprCnstr.isUnsat (c : ExprCnstr) : Bool := match c.eq with
  | true => match less c.rhs c.lhs with
    | true => true
    | false => less c.lhs c.rhs
  | false => less c.rhs c.lhs
def ExprCnstr.isValid (c : ExprCnstr) : Bool := match c.eq with
  | true => same c.lhs.form c.rhs.form
  | false => below c.lhs.form c.rhs.form
/-- Both of one kind, with the same difference of the sides. -/
def ExprCnstr.sameAs (c d : ExprCnstr) : Bool :=
  match c.eq, d.eq with
  | true, true | false, false => same (Expr.add c.lhs d.rhs).form (Expr.add d.lhs c.rhs).form
  | _, _ => false
theorem lt_of_less (ctx : Context) {a b : Expr} (h : less a b = true) : a.denote ctx < b.denote ctx := denote_le_of_below ctx (a := .add a (.num 1)) h
theorem ExprCnstr.eq_of_toNormPoly_eq (ctx : Context) (c d : ExprCnstr) (h : c.sameAs d = true) : c.denote ctx = d.denote ctx := by
  obtain ⟨ceq, cl, cr⟩ := c; obtain ⟨deq, dl, dr⟩ := d
  have key : ∀ k : same (Expr.add cl dr).form (Expr.add dl cr).form = true, cl.denote ctx + dr.denote ctx = dl.denote ctx + cr.denote ctx :=
    Expr.eq_of_toNormPoly_eq ctx (.add cl dr) (.add dl cr)
  cases ceq <;> cases deq
  · have k := key h; show (cl.denote ctx ≤ cr.denote ctx) = (dl.denote ctx ≤ dr.denote ctx); exact propext (by omega)
  · nomatch h
  · nomatch h
  · have k := key h; show (cl.denote ctx = cr.denote ctx) = (dl.denote ctx = dr.denote ctx); exact propext (by omega)
theorem ExprCnstr.eq_false_of_isUnsat (ctx : Context) (c : ExprCnstr) (h : c.isUnsat = true) : c.denote ctx = False := by
  obtain ⟨ceq, l, r⟩ := c
  refine eq_false fun k => ?_
  cases ceq with
  | false => exact Nat.not_le.2 (lt_of_less ctx h) k
  | true =>
    have k : l.denote ctx = r.denote ctx := k
    cases hr : less r l with
    | true => exact Nat.ne_of_lt (lt_of_less ctx hr) k.symm
    | false => rw [ExprCnstr.isUnsat, hr] at h; exact Nat.ne_of_lt (lt_of_less ctx h) k
theorem ExprCnstr.eq_true_of_isValid (ctx : Context) (c : ExprCnstr) (h : c.isValid = true) : c.denote ctx = True := by
  obtain ⟨ceq, l, r⟩ := c
  cases ceq with
  | false => exact eq_true (denote_le_of_below ctx h)
  | true => exact eq_true (Expr.eq_of_toNormPoly_eq ctx l r h)
end Nat.Internal.Linear
