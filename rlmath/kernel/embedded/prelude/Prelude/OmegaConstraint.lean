prelude
import Prelude.OmegaLinear
set_option autoImplicit false
set_option linter.unusedVariables false

/-! The interval constraints that compiled `omega` works with: how they combine, their normal form, and the elimination step for equations
with no unit coefficient. See the note in `Prelude.OmegaLinear` on how these definitions are held against what compiled code computes. -/

namespace Lean.Omega

-- ===== constraints =====
/-- The interval that a linear form must lie in; a bound that is not there is `none`. -/
structure Constraint where
  lowerBound : Option Int
  upperBound : Option Int

namespace Constraint
def exact (r : Int) : Constraint := ⟨some r, some r⟩
def trivial : Constraint := ⟨none, none⟩
def impossible : Constraint := ⟨some 1, some 0⟩
def isImpossible : Constraint → Bool
  | ⟨some lo, some hi⟩ => decide (hi < lo)
  | _ => false
def lowerOk : Option Int → Int → Prop | none, _ => True | some x, t => x ≤ t
def upperOk : Option Int → Int → Prop | none, _ => True | some x, t => t ≤ x
def sat (c : Constraint) (t : Int) : Prop := lowerOk c.lowerBound t ∧ upperOk c.upperBound t
def sat' (c : Constraint) (x v : Coeffs) : Prop := c.sat (x.dot v)
def lowerHasZero : Option Int → Bool | none => true | some x => decide (x ≤ 0)
def upperHasZero : Option Int → Bool | none => true | some x => decide (0 ≤ x)
/-- Whether zero lies in the interval. -/
def hasZero (c : Constraint) : Bool := lowerHasZero c.lowerBound && upperHasZero c.upperBound

def mergeWith (f : Int → Int → Int) : Option Int → Option Int → Option Int
  | none, b => b
  | a, none => a
  | some a, some b => some (f a b)
def addBound : Option Int → Option Int → Option Int
  | some a, some b => some (a + b)
  | _, _ => none
def mapBound (f : Int → Int) : Option Int → Option Int
  | none => none
  | some a => some (f a)
def combine (s t : Constraint) : Constraint := ⟨mergeWith max s.lowerBound t.lowerBound, mergeWith min s.upperBound t.upperBound⟩
def add (s t : Constraint) : Constraint := ⟨addBound s.lowerBound t.lowerBound, addBound s.upperBound t.upperBound⟩
def neg (c : Constraint) : Constraint := ⟨mapBound (- ·) c.upperBound, mapBound (- ·) c.lowerBound⟩
def scale (k : Int) (c : Constraint) : Constraint :=
  if k = 0 then exact 0
  else if 0 < k then ⟨mapBound (k * ·) c.lowerBound, mapBound (k * ·) c.upperBound⟩
  else ⟨mapBound (k * ·) c.upperBound, mapBound (k * ·) c.lowerBound⟩
def combo (a : Int) (s : Constraint) (b : Int) (t : Constraint) : Constraint := add (scale a s) (scale b t)
/-- The interval of `t` when `g * t` lies in `c`. -/
def div (c : Constraint) (g : Nat) : Constraint := ⟨mapBound (fun x => -(-x / g)) c.lowerBound, mapBound (· / g) c.upperBound⟩

theorem combine_sat {s t : Constraint} {x : Int} (hs : s.sat x) (ht : t.sat x) : (s.combine t).sat x := by
  obtain ⟨slo, shi⟩ := s; obtain ⟨tlo, thi⟩ := t; obtain ⟨hs₁, hs₂⟩ := hs; obtain ⟨ht₁, ht₂⟩ := ht
  constructor
  · cases slo with
    | none => exact ht₁
    | some a => cases tlo with
      | none => exact hs₁
      | some b => show (if a ≤ b then b else a) ≤ x; split <;> first | exact ht₁ | exact hs₁
  · cases shi with
    | none => exact ht₂
    | some a => cases thi with
      | none => exact hs₂
      | some b => show x ≤ (if a ≤ b then a else b); split <;> first | exact hs₂ | exact ht₂
theorem combine_sat' {s t : Constraint} {x v : Coeffs} (hs : s.sat' x v) (ht : t.sat' x v) : (s.combine t).sat' x v := combine_sat hs ht
theorem not_sat_of_isImpossible {c : Constraint} (h : c.isImpossible = true) {t : Int} : ¬c.sat t := by
  obtain ⟨lo, hi⟩ := c
  match lo, hi, h with
  | some lo, some hi, h => exact fun k => Int.not_le_of_lt (of_decide_eq_true h) (Int.le_trans k.1 k.2)
theorem not_sat'_of_isImpossible {c : Constraint} (h : c.isImpossible = true) {x v : Coeffs} : ¬c.sat' x v := not_sat_of_isImpossible h
theorem addInequality_sat {c : Int} {x v : Coeffs} (h : c + x.dot v ≥ 0) : sat' ⟨some (-c), none⟩ x v := by
  refine ⟨?_, True.intro⟩
  show -c ≤ x.dot v
  have h := Int.add_le_add_left h (-c)
  rw [← Int.add_assoc, Int.add_comm (-c) c, Int.add_right_neg, Int.zero_add, Int.add_zero] at h
  exact h
theorem addEquality_sat {c : Int} {x v : Coeffs} (h : c + x.dot v = 0) : sat' ⟨some (-c), some (-c)⟩ x v := by
  have e : x.dot v = -c := by
    have h : -c + (c + x.dot v) = -c + 0 := congrArg (-c + ·) h
    rw [← Int.add_assoc, Int.add_comm (-c) c, Int.add_right_neg, Int.zero_add, Int.add_zero] at h
    exact h
  exact ⟨Int.le_of_eq e.symm, Int.le_of_eq e⟩

theorem neg_sat {c : Constraint} {t : Int} (h : c.sat t) : c.neg.sat (-t) := by
  obtain ⟨lo, hi⟩ := c; obtain ⟨h₁, h₂⟩ := h
  constructor
  · cases hi <;> first | exact True.intro | exact Int.neg_le_neg h₂
  · cases lo <;> first | exact True.intro | exact Int.neg_le_neg h₁
theorem scale_sat {c : Constraint} {t : Int} (k : Int) (h : c.sat t) : (c.scale k).sat (k * t) := by
  obtain ⟨lo, hi⟩ := c; obtain ⟨h₁, h₂⟩ := h
  unfold scale
  by_cases h0 : k = 0
  · rw [ite_eq_left h0, h0, Int.zero_mul]; exact ⟨Int.le_refl 0, Int.le_refl 0⟩
  · rw [ite_eq_right h0]
    by_cases hk : 0 < k
    · rw [ite_eq_left hk]
      constructor
      · cases lo <;> first | exact True.intro | exact Int.mul_le_mul_of_nonneg_left h₁ (Int.le_of_lt hk)
      · cases hi <;> first | exact True.intro | exact Int.mul_le_mul_of_nonneg_left h₂ (Int.le_of_lt hk)
    · rw [ite_eq_right hk]
      constructor
      · cases hi <;> first | exact True.intro | exact Int.mul_le_mul_of_nonpos_left h₂ (Int.not_lt.1 hk)
      · cases lo <;> first | exact True.intro | exact Int.mul_le_mul_of_nonpos_left h₁ (Int.not_lt.1 hk)
theorem add_sat {s t : Constraint} {x y : Int} (hs : s.sat x) (ht : t.sat y) : (s.add t).sat (x + y) := by
  obtain ⟨slo, shi⟩ := s; obtain ⟨tlo, thi⟩ := t; obtain ⟨hs₁, hs₂⟩ := hs; obtain ⟨ht₁, ht₂⟩ := ht
  constructor
  · cases slo <;> cases tlo <;> first | exact True.intro | exact Int.add_le_add hs₁ ht₁
  · cases shi <;> cases thi <;> first | exact True.intro | exact Int.add_le_add hs₂ ht₂
theorem div_sat {c : Constraint} {g : Nat} {t : Int} (hg : 0 < g) (h : c.sat (g * t)) : (c.div g).sat t := by
  obtain ⟨lo, hi⟩ := c; obtain ⟨h₁, h₂⟩ := h
  have hg : (0 : Int) < g := Int.ofNat_le.2 hg
  have upper : ∀ {x u : Int}, (g : Int) * u ≤ x → u ≤ x / g := fun {x u} k => by
    refine Int.le_of_lt_add_one (Int.lt_of_mul_lt_mul_left (c := (g : Int)) ?_ (Int.le_of_lt hg))
    rw [Int.mul_add, Int.mul_one]
    exact Int.lt_of_le_of_lt k (Int.lt_mul_ediv_self_add hg)
  constructor
  · cases lo with
    | none => exact True.intro
    | some x =>
      show -(-x / g) ≤ t
      have := Int.neg_le_neg (upper (x := -x) (u := -t) (by rw [Int.mul_neg]; exact Int.neg_le_neg h₁))
      rw [Int.neg_neg] at this; exact this
  · cases hi with
    | none => exact True.intro
    | some x => exact upper h₂
theorem hasZero_of_sat {c : Constraint} (h : c.sat 0) : c.hasZero = true := by
  obtain ⟨lo, hi⟩ := c; obtain ⟨h₁, h₂⟩ := h
  have hlo : lowerHasZero lo = true := by cases lo <;> first | rfl | exact decide_eq_true h₁
  have hhi : upperHasZero hi = true := by cases hi <;> first | rfl | exact decide_eq_true h₂
  show (lowerHasZero lo && upperHasZero hi) = true
  rw [hlo, hhi]; rfl
end Constraint

-- ===== normal form: leading coefficient positive, coefficients with no common factor =====
/-- Makes the leading coefficient positive. -/
def positivize (s : Constraint) (x : Coeffs) : Constraint × Coeffs :=
  if 0 ≤ x.leading then (s, x) else (s.neg, x.smul (-1))
/-- Divides by the common factor and rounds the bounds. -/
def normalize (s : Constraint) (x : Coeffs) : Constraint × Coeffs :=
  if x.gcd = 0 then (if s.hasZero = true then (.trivial, x) else (.impossible, x))
  else if x.gcd = 1 then (s, x)
  else (s.div x.gcd, x.sdiv x.gcd)
def tidy (s : Constraint) (x : Coeffs) : Constraint × Coeffs := let p := positivize s x; normalize p.1 p.2
def tidyConstraint (s : Constraint) (x : Coeffs) : Constraint := (tidy s x).1
def tidyCoeffs (s : Constraint) (x : Coeffs) : Coeffs := (tidy s x).2

theorem positivize_sat {s : Constraint} {x v : Coeffs} (h : s.sat' x v) : (positivize s x).1.sat' (positivize s x).2 v := by
  unfold positivize
  by_cases k : 0 ≤ x.leading
  · rw [ite_eq_left k]; exact h
  · rw [ite_eq_right k]
    show s.neg.sat (Coeffs.dot (Coeffs.map ((-1) * ·) x) v)
    rw [Coeffs.dot_map_mul, Int.neg_mul, Int.one_mul]
    exact Constraint.neg_sat h
theorem normalize_sat {s : Constraint} {x v : Coeffs} (h : s.sat' x v) : (normalize s x).1.sat' (normalize s x).2 v := by
  unfold normalize
  by_cases h0 : x.gcd = 0
  · rw [ite_eq_left h0]
    have hz : s.sat 0 := by have h : s.sat (x.dot v) := h; rw [Coeffs.dot_of_gcd_eq_zero h0 v] at h; exact h
    rw [ite_eq_left (Constraint.hasZero_of_sat hz)]
    exact ⟨True.intro, True.intro⟩
  · rw [ite_eq_right h0]
    by_cases h1 : x.gcd = 1
    · rw [ite_eq_left h1]; exact h
    · rw [ite_eq_right h1]
      have hg : 0 < x.gcd := (Nat.eq_or_lt_of_le (Nat.zero_le x.gcd)).elim (fun e => absurd e.symm h0) id
      refine Constraint.div_sat hg ?_
      rw [Coeffs.dot_sdiv hg x (Coeffs.divisible_gcd x) v]
      exact h
theorem tidy_sat {s : Constraint} {x v : Coeffs} (h : s.sat' x v) : (tidyConstraint s x).sat' (tidyCoeffs s x) v :=
  normalize_sat (positivize_sat h)

theorem combo_sat' (s t : Constraint) (a : Int) (x : Coeffs) (b : Int) (y v : Coeffs) (hx : s.sat' x v) (hy : t.sat' y v) :
    (Constraint.combo a s b t).sat' (Coeffs.combo a x b y) v := by
  show (Constraint.combo a s b t).sat (Coeffs.dot (Coeffs.combo a x b y) v)
  rw [Coeffs.dot_combo]
  exact Constraint.add_sat (Constraint.scale_sat a hx) (Constraint.scale_sat b hy)

-- ===== equations with no unit coefficient: balanced remainders and a new atom =====
/-- The value of the new atom. -/
abbrev bmod_div_term (m : Nat) (a b : Coeffs) : Int := (Int.bmod (Coeffs.dot a b) m - Coeffs.dot (Coeffs.bmod a m) b) / m
def bmod_coeffs (m : Nat) (i : Nat) (x : Coeffs) : Coeffs := Coeffs.set (Coeffs.bmod x m) i m
theorem length_bmod (x : Coeffs) (m : Nat) : Coeffs.length (Coeffs.bmod x m) = Coeffs.length x := by
  induction x with
  | nil => rfl
  | cons x xs ih => exact congrArg (· + 1) ih
theorem bmod_sat (m : Nat) (r : Int) (i : Nat) (x v : Coeffs) (h : x.length ≤ i) (p : Coeffs.get v i = bmod_div_term m x v)
    (w : (Constraint.exact r).sat' x v) : (Constraint.exact (Int.bmod r m)).sat' (bmod_coeffs m i x) v := by
  have e : x.dot v = r := Int.le_antisymm w.2 w.1
  suffices hs : (bmod_coeffs m i x).dot v = Int.bmod r m from ⟨Int.le_of_eq hs.symm, Int.le_of_eq hs⟩
  unfold bmod_coeffs
  rw [Coeffs.dot_set _ i v m (by rw [length_bmod]; exact h), p]
  unfold bmod_div_term
  rw [e]
  obtain ⟨q, hq⟩ := Int.exists_bmod_eq r m
  obtain ⟨s, hs⟩ := Coeffs.exists_dot_bmod m x v
  have d : Int.bmod r m - Coeffs.dot (Coeffs.bmod x m) v = m * (s - q) := by
    rw [hs, hq, e, Int.sub_eq_add_neg, Int.sub_eq_add_neg, Int.sub_eq_add_neg, Int.neg_add, Int.neg_neg, Int.mul_sub, Int.sub_eq_add_neg,
      Int.add_comm (m * s : Int), ← Int.add_assoc, Int.add_assoc r, Int.add_comm (-(m * q : Int)), ← Int.add_assoc, Int.add_right_neg, Int.zero_add]
  have k : (m : Int) * ((m * (s - q) : Int) / m) = m * (s - q) := by
    cases m with
    | zero => show (0 : Int) * _ = 0 * _; rw [Int.zero_mul, Int.zero_mul]
    | succ m => rw [Int.mul_ediv_cancel_of_pos _ (Int.ofNat_le.2 (Nat.zero_lt_succ m))]
  rw [d, k, ← d, Int.add_comm, Int.sub_add_cancel]

end Lean.Omega
