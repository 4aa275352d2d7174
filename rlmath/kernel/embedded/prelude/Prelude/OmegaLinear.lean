prelude
import Prelude.Div
set_option autoImplicit false
set_option linter.unusedVariables false

/-! The linear-arithmetic half of what compiled `omega` quotes: coefficient lists and linear combinations here, interval constraints in
`Prelude.OmegaConstraint`.

Compiled code computes each constraint and coefficient list itself and leaves it to the kernel to evaluate the definitions below to the same
literal, so they must give equal values (trailing zeros included), not be the same terms. -/

namespace Lean.Omega

-- ===== coefficient lists =====
/-- Coefficients of the atoms, in order; missing ones are zero. -/
abbrev Coeffs : Type := List Int

namespace Coeffs
abbrev ofList (xs : List Int) : Coeffs := xs
def length : Coeffs → Nat
  | [] => 0
  | _ :: xs => length xs + 1
def get : Coeffs → Nat → Int
  | [], _ => 0
  | x :: _, 0 => x
  | _ :: xs, i + 1 => get xs i
def set : Coeffs → Nat → Int → Coeffs
  | [], 0, y => [y]
  | [], i + 1, y => 0 :: set [] i y
  | _ :: xs, 0, y => y :: xs
  | x :: xs, i + 1, y => x :: set xs i y
def dot : Coeffs → Coeffs → Int
  | [], _ => 0
  | _ :: _, [] => 0
  | x :: xs, y :: ys => x * y + dot xs ys
def map (f : Int → Int) : Coeffs → Coeffs
  | [] => []
  | x :: xs => f x :: map f xs
/-- `a * xs + b * ys`, as long as the longer of the two. -/
def combo (a : Int) : Coeffs → Int → Coeffs → Coeffs
  | [], b, ys => map (b * ·) ys
  | x :: xs, b, [] => map (a * ·) (x :: xs)
  | x :: xs, b, y :: ys => (a * x + b * y) :: combo a xs b ys
def smul (xs : Coeffs) (k : Int) : Coeffs := map (k * ·) xs
def neg (xs : Coeffs) : Coeffs := map (- ·) xs
def sdiv (xs : Coeffs) (g : Nat) : Coeffs := map (· / (g : Int)) xs
def bmod (xs : Coeffs) (m : Nat) : Coeffs := map (Int.bmod · m) xs
def gcd : Coeffs → Nat
  | [] => 0
  | x :: xs => Nat.gcd x.natAbs (gcd xs)
/-- The first coefficient that is not zero, or zero. -/
def leading : Coeffs → Int
  | [] => 0
  | x :: xs => if x = 0 then leading xs else x
def allZero : Coeffs → Bool
  | [] => true
  | x :: xs => decide (x = 0) && allZero xs
abbrev isZero (xs : Coeffs) : Prop := allZero xs = true

theorem dot_nil (xs : Coeffs) : dot xs [] = 0 := by cases xs <;> rfl
theorem dot_map_mul (b : Int) (ys v : Coeffs) : dot (map (b * ·) ys) v = b * dot ys v := by
  induction ys generalizing v with
  | nil => exact (Int.mul_zero b).symm
  | cons y ys ih =>
    cases v with
    | nil => exact (Int.mul_zero b).symm
    | cons w v => show b * y * w + dot (map (b * ·) ys) v = b * (y * w + dot ys v); rw [ih, Int.mul_add, Int.mul_assoc]
theorem dot_map_neg (ys v : Coeffs) : dot (neg ys) v = -dot ys v := by
  induction ys generalizing v with
  | nil => rfl
  | cons y ys ih =>
    cases v with
    | nil => rfl
    | cons w v => show -y * w + dot (neg ys) v = -(y * w + dot ys v); rw [ih, Int.neg_add, Int.neg_mul]
theorem dot_combo (a : Int) (xs : Coeffs) (b : Int) (ys v : Coeffs) : dot (combo a xs b ys) v = a * dot xs v + b * dot ys v := by
  induction xs generalizing ys v with
  | nil =>
    show dot (map (b * ·) ys) v = a * 0 + _
    rw [dot_map_mul, Int.mul_zero, Int.zero_add]
  | cons x xs ih =>
    cases ys with
    | nil =>
      show dot (map (a * ·) (x :: xs)) v = _ + b * 0
      rw [dot_map_mul, Int.mul_zero, Int.add_zero]
    | cons y ys =>
      cases v with
      | nil => show 0 = a * 0 + b * 0; rw [Int.mul_zero, Int.mul_zero]; rfl
      | cons w v =>
        show (a * x + b * y) * w + dot (combo a xs b ys) v = a * (x * w + dot xs v) + b * (y * w + dot ys v)
        rw [ih, Int.add_mul, Int.mul_add, Int.mul_add, Int.mul_assoc, Int.mul_assoc]
        simp only [Int.add_assoc, Int.add_left_comm]
theorem dot_set_nil (i : Nat) (v : Coeffs) (m : Int) : dot (set [] i m) v = m * get v i := by
  induction i generalizing v with
  | zero =>
    cases v with
    | nil => exact (Int.mul_zero m).symm
    | cons w v => show m * w + 0 = m * w; rw [Int.add_zero]
  | succ i ih =>
    cases v with
    | nil => exact (Int.mul_zero m).symm
    | cons w v => show 0 * w + dot (set [] i m) v = m * get v i; rw [ih, Int.zero_mul, Int.zero_add]
theorem dot_set (xs : Coeffs) (i : Nat) (v : Coeffs) (m : Int) (h : length xs ≤ i) : dot (set xs i m) v = dot xs v + m * get v i := by
  induction xs generalizing i v with
  | nil => show _ = 0 + _; rw [dot_set_nil, Int.zero_add]
  | cons x xs ih =>
    match i, h with
    | 0, h => exact absurd h (Nat.not_succ_le_zero _)
    | i + 1, h =>
      cases v with
      | nil => show 0 = 0 + m * 0; rw [Int.mul_zero]; rfl
      | cons w v =>
        show x * w + dot (set xs i m) v = x * w + dot xs v + m * get v i
        rw [ih i v (Nat.le_of_succ_le_succ h), Int.add_assoc]
theorem dot_of_isZero {xs : Coeffs} (h : isZero xs) (v : Coeffs) : dot xs v = 0 := by
  induction xs generalizing v with
  | nil => rfl
  | cons x xs ih =>
    have hx : x = 0 ∧ isZero xs := by
      by_cases k : x = 0
      · exact ⟨k, by unfold isZero allZero at h; rw [decide_eq_true k] at h; exact h⟩
      · unfold isZero allZero at h; rw [decide_eq_false k] at h; nomatch h
    cases v with
    | nil => rfl
    | cons w v => show x * w + dot xs v = 0; rw [hx.1, ih hx.2, Int.zero_mul]; rfl

/-- Every coefficient is a multiple of `d`. -/
def divisible (d : Nat) : Coeffs → Prop
  | [] => True
  | x :: xs => d ∣ x.natAbs ∧ divisible d xs
theorem divisible_trans {d e : Nat} (h : d ∣ e) (xs : Coeffs) (hx : divisible e xs) : divisible d xs := by
  induction xs with
  | nil => trivial
  | cons x xs ih => exact ⟨Nat.dvd_trans h hx.1, ih hx.2⟩
theorem divisible_gcd (xs : Coeffs) : divisible (gcd xs) xs := by
  induction xs with
  | nil => trivial
  | cons x xs ih => exact ⟨Nat.gcd_dvd_left _ _, divisible_trans (Nat.gcd_dvd_right _ _) xs ih⟩
theorem dot_sdiv {g : Nat} (hg : 0 < g) (xs : Coeffs) (hx : divisible g xs) (v : Coeffs) : (g : Int) * dot (sdiv xs g) v = dot xs v := by
  induction xs generalizing v with
  | nil => exact Int.mul_zero _
  | cons x xs ih =>
    cases v with
    | nil => exact Int.mul_zero _
    | cons w v =>
      obtain ⟨c, rfl⟩ := Int.exists_eq_mul_of_natAbs_dvd hx.1
      show (g : Int) * (((g : Int) * c / (g : Int)) * w + dot (sdiv xs g) v) = _ * w + dot xs v
      rw [Int.mul_add, ih hx.2, Int.mul_ediv_cancel_of_pos c (Int.ofNat_le.2 hg), Int.mul_assoc]
theorem dot_of_gcd_eq_zero {xs : Coeffs} (h : gcd xs = 0) (v : Coeffs) : dot xs v = 0 := by
  have hx := divisible_gcd xs
  rw [h] at hx
  clear h
  induction xs generalizing v with
  | nil => rfl
  | cons x xs ih =>
    cases v with
    | nil => rfl
    | cons w v =>
      obtain ⟨c, rfl⟩ := Int.exists_eq_mul_of_natAbs_dvd hx.1
      show 0 * c * w + dot xs v = 0
      rw [ih v hx.2, Int.zero_mul, Int.zero_mul]; rfl
theorem exists_dot_bmod (m : Nat) (xs v : Coeffs) : ∃ s, dot (bmod xs m) v = dot xs v - m * s := by
  induction xs generalizing v with
  | nil => exact ⟨0, rfl⟩
  | cons x xs ih =>
    cases v with
    | nil => exact ⟨0, rfl⟩
    | cons w v =>
      obtain ⟨s, hs⟩ := ih v
      obtain ⟨q, hq⟩ := Int.exists_bmod_eq x m
      refine ⟨q * w + s, ?_⟩
      show Int.bmod x m * w + dot (bmod xs m) v = x * w + dot xs v - m * (q * w + s)
      rw [hs, hq]
      simp only [Int.sub_eq_add_neg, Int.add_mul, Int.mul_add, Int.neg_add, Int.neg_mul, Int.mul_assoc, Int.add_assoc, Int.add_left_comm]
end Coeffs

-- ===== linear combinations =====
structure LinearCombo where
  const : Int
  coeffs : Coeffs

namespace LinearCombo
def eval (lc : LinearCombo) (v : Coeffs) : Int := lc.const + lc.coeffs.dot v
def coordinate (i : Nat) : LinearCombo := ⟨0, Coeffs.set [] i 1⟩
def add (l₁ l₂ : LinearCombo) : LinearCombo := ⟨l₁.const + l₂.const, Coeffs.combo 1 l₁.coeffs 1 l₂.coeffs⟩
def sub (l₁ l₂ : LinearCombo) : LinearCombo := ⟨l₁.const - l₂.const, Coeffs.combo 1 l₁.coeffs (-1) l₂.coeffs⟩
def neg (lc : LinearCombo) : LinearCombo := ⟨-lc.const, lc.coeffs.neg⟩
/-- The product, when one of the two is a constant. -/
def mul (l₁ l₂ : LinearCombo) : LinearCombo := ⟨l₁.const * l₂.const, Coeffs.combo l₂.const l₁.coeffs l₁.const l₂.coeffs⟩
instance : Add LinearCombo := ⟨add⟩
instance : Sub LinearCombo := ⟨sub⟩
instance : Neg LinearCombo := ⟨neg⟩

theorem coordinate_eval (i : Nat) (v : Coeffs) : (coordinate i).eval v = v.get i := by
  show 0 + Coeffs.dot (Coeffs.set [] i 1) v = _
  rw [Coeffs.dot_set_nil, Int.zero_add, Int.one_mul]
section
variable (a₀ a₁ a₂ a₃ a₄ a₅ a₆ a₇ a₈ a₉ : Int) (t : List Int)
theorem coordinate_eval_0 : (coordinate 0).eval (.ofList (a₀ :: t)) = a₀ := coordinate_eval 0 _
theorem coordinate_eval_1 : (coordinate 1).eval (.ofList (a₀ :: a₁ :: t)) = a₁ := coordinate_eval 1 _
theorem coordinate_eval_2 : (coordinate 2).eval (.ofList (a₀ :: a₁ :: a₂ :: t)) = a₂ := coordinate_eval 2 _
theorem coordinate_eval_3 : (coordinate 3).eval (.ofList (a₀ :: a₁ :: a₂ :: a₃ :: t)) = a₃ := coordinate_eval 3 _
theorem coordinate_eval_4 : (coordinate 4).eval (.ofList (a₀ :: a₁ :: a₂ :: a₃ :: a₄ :: t)) = a₄ := coordinate_eval 4 _
theorem coordinate_eval_5 : (coordinate 5).eval (.ofList (a₀ :: a₁ :: a₂ :: a₃ :: a₄ :: a₅ :: t)) = a₅ := coordinate_eval 5 _
theorem coordinate_eval_6 : (coordinate 6).eval (.ofList (a₀ :: a₁ :: a₂ :: a₃ :: a₄ :: a₅ :: a₆ :: t)) = a₆ := coordinate_eval 6 _
theorem coordinate_eval_7 : (coordinate 7).eval (.ofList (a₀ :: a₁ :: a₂ :: a₃ :: a₄ :: a₅ :: a₆ :: a₇ :: t)) = a₇ := coordinate_eval 7 _
theorem coordinate_eval_8 : (coordinate 8).eval (.ofList (a₀ :: a₁ :: a₂ :: a₃ :: a₄ :: a₅ :: a₆ :: a₇ :: a₈ :: t)) = a₈ := coordinate_eval 8 _
theorem coordinate_eval_9 : (coordinate 9).eval (.ofList (a₀ :: a₁ :: a₂ :: a₃ :: a₄ :: a₅ :: a₆ :: a₇ :: a₈ :: a₉ :: t)) = a₉ := coordinate_eval 9 _
end
theorem add_eval (l₁ l₂ : LinearCombo) (v : Coeffs) : (l₁ + l₂).eval v = l₁.eval v + l₂.eval v := by
  show l₁.const + l₂.const + Coeffs.dot (Coeffs.combo 1 l₁.coeffs 1 l₂.coeffs) v = l₁.const + l₁.coeffs.dot v + (l₂.const + l₂.coeffs.dot v)
  rw [Coeffs.dot_combo, Int.one_mul, Int.one_mul]
  simp only [Int.add_assoc, Int.add_left_comm]
theorem sub_eval (l₁ l₂ : LinearCombo) (v : Coeffs) : (l₁ - l₂).eval v = l₁.eval v - l₂.eval v := by
  show l₁.const - l₂.const + Coeffs.dot (Coeffs.combo 1 l₁.coeffs (-1) l₂.coeffs) v = l₁.const + l₁.coeffs.dot v - (l₂.const + l₂.coeffs.dot v)
  rw [Coeffs.dot_combo, Int.one_mul, Int.neg_mul, Int.one_mul]
  simp only [Int.sub_eq_add_neg, Int.neg_add, Int.add_assoc, Int.add_left_comm]
theorem neg_eval (lc : LinearCombo) (v : Coeffs) : (-lc).eval v = -lc.eval v := by
  show -lc.const + lc.coeffs.neg.dot v = -(lc.const + lc.coeffs.dot v)
  rw [Coeffs.dot_map_neg, Int.neg_add]
theorem mul_eval (l₁ l₂ : LinearCombo) (v : Coeffs) (h : l₁.coeffs.isZero ∨ l₂.coeffs.isZero) :
    (mul l₁ l₂).eval v = l₁.eval v * l₂.eval v := by
  show l₁.const * l₂.const + Coeffs.dot (Coeffs.combo l₂.const l₁.coeffs l₁.const l₂.coeffs) v =
    (l₁.const + l₁.coeffs.dot v) * (l₂.const + l₂.coeffs.dot v)
  rw [Coeffs.dot_combo]
  cases h with
  | inl h =>
    rw [Coeffs.dot_of_isZero h v, Int.mul_zero, Int.add_zero, Int.zero_add, Int.mul_add]
  | inr h =>
    rw [Coeffs.dot_of_isZero h v, Int.mul_zero, Int.add_zero, Int.add_zero, Int.add_mul, Int.mul_comm l₂.const]
end LinearCombo

end Lean.Omega
