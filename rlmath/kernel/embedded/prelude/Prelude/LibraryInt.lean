prelude
import Prelude.LibraryDvd
import Prelude.LibraryLogic
set_option autoImplicit false
set_option linter.unusedVariables false

/-! The ordered ring `Int`, casts from `Nat`, and integer division: the lemmas that a proof quotes by the name they have in Lean's library. -/

namespace Int
variable {a b c d k : Int} {m n : Nat}

-- ===== ring laws =====
protected theorem add_right_comm (a b c : Int) : a + b + c = a + c + b := by rw [Int.add_assoc, Int.add_comm b, Int.add_assoc]
protected theorem add_left_neg (a : Int) : -a + a = 0 := by rw [Int.add_comm]; exact Int.add_right_neg a
protected theorem neg_add_cancel (a : Int) : -a + a = 0 := Int.add_left_neg a
protected theorem add_neg_cancel (a : Int) : a + -a = 0 := Int.add_right_neg a
protected theorem neg_add_cancel_left (a b : Int) : -a + (a + b) = b := by rw [← Int.add_assoc, Int.add_left_neg, Int.zero_add]
protected theorem add_neg_cancel_left (a b : Int) : a + (-a + b) = b := by rw [← Int.add_assoc, Int.add_right_neg, Int.zero_add]
protected theorem add_left_cancel (h : a + b = a + c) : b = c := by rw [← Int.neg_add_cancel_left a b, h, Int.neg_add_cancel_left]
protected theorem add_right_cancel (h : a + b = c + b) : a = c := Int.add_left_cancel (a := b) (by rw [Int.add_comm b, h, Int.add_comm])
protected theorem add_left_inj (k : Int) : a + k = b + k ↔ a = b := ⟨Int.add_right_cancel, congrArg (· + k)⟩
protected theorem add_right_inj (k : Int) : k + a = k + b ↔ a = b := ⟨Int.add_left_cancel, congrArg (k + ·)⟩
@[simp] protected theorem sub_zero (a : Int) : a - 0 = a := Int.add_zero a
@[simp] protected theorem zero_sub (a : Int) : 0 - a = -a := Int.zero_add (-a)
protected theorem neg_sub (a b : Int) : -(a - b) = b - a := by
  rw [Int.sub_eq_add_neg, Int.sub_eq_add_neg, Int.neg_add, Int.neg_neg, Int.add_comm]
protected theorem sub_neg (a b : Int) : a - -b = a + b := congrArg (a + ·) (Int.neg_neg b)
protected theorem sub_sub (a b c : Int) : a - b - c = a - (b + c) := by
  rw [Int.sub_eq_add_neg, Int.sub_eq_add_neg, Int.sub_eq_add_neg, Int.neg_add, Int.add_assoc]
protected theorem add_sub_assoc (a b c : Int) : a + b - c = a + (b - c) := Int.add_assoc a b (-c)
protected theorem sub_add_comm (a b c : Int) : a - b + c = a + c - b := Int.add_right_comm a (-b) c
protected theorem sub_right_comm (a b c : Int) : a - b - c = a - c - b := Int.add_right_comm a (-b) (-c)
protected theorem add_sub_cancel_left (a b : Int) : a + b - a = b := by rw [Int.add_comm]; exact Int.add_sub_cancel b a
protected theorem sub_sub_self (a b : Int) : a - (a - b) = b := by rw [Int.sub_eq_add_neg, Int.neg_sub, Int.add_comm]; exact Int.sub_add_cancel b a
protected theorem eq_of_sub_eq_zero (h : a - b = 0) : a = b := by rw [← Int.sub_add_cancel a b, h, Int.zero_add]
protected theorem sub_eq_zero : a - b = 0 ↔ a = b := ⟨Int.eq_of_sub_eq_zero, Int.sub_eq_zero_of_eq⟩
protected theorem sub_eq_iff_eq_add : b - a = c ↔ b = c + a := ⟨fun h => by rw [← h, Int.sub_add_cancel], fun h => by rw [h, Int.add_sub_cancel]⟩
protected theorem eq_sub_of_add_eq (h : a + c = b) : a = b - c := by rw [← h, Int.add_sub_cancel]
protected theorem neg_inj : -a = -b ↔ a = b := ⟨fun h => by rw [← Int.neg_neg a, h, Int.neg_neg], congrArg (- ·)⟩
protected theorem neg_eq_zero : -a = 0 ↔ a = 0 := Int.neg_inj (b := 0)
protected theorem neg_ne_zero : -a ≠ 0 ↔ a ≠ 0 := not_congr Int.neg_eq_zero
protected theorem eq_neg_of_add_eq_zero (h : a + b = 0) : a = -b := by rw [← Int.add_neg_cancel_right a b, h, Int.zero_add]
protected theorem mul_left_comm (a b c : Int) : a * (b * c) = b * (a * c) := by rw [← Int.mul_assoc, Int.mul_comm a, Int.mul_assoc]
protected theorem mul_right_comm (a b c : Int) : a * b * c = a * c * b := by rw [Int.mul_assoc, Int.mul_comm b, Int.mul_assoc]
protected theorem sub_mul (a b c : Int) : (a - b) * c = a * c - b * c := by rw [Int.mul_comm, Int.mul_sub, Int.mul_comm c, Int.mul_comm c]
protected theorem neg_mul_neg (a b : Int) : -a * -b = a * b := by rw [Int.neg_mul, Int.mul_neg, Int.neg_neg]
protected theorem neg_mul_comm (a b : Int) : -a * b = a * -b := by rw [Int.neg_mul, Int.mul_neg]
protected theorem neg_eq_neg_one_mul (a : Int) : -a = -1 * a := by rw [Int.neg_mul, Int.one_mul]
protected theorem mul_two (a : Int) : a * 2 = a + a := (Int.mul_add a 1 1).trans (by rw [Int.mul_one])
protected theorem two_mul (a : Int) : 2 * a = a + a := by rw [Int.mul_comm, Int.mul_two]
protected theorem left_distrib (a b c : Int) : a * (b + c) = a * b + a * c := Int.mul_add a b c
protected theorem right_distrib (a b c : Int) : (a + b) * c = a * c + b * c := Int.add_mul a b c
@[simp] protected theorem pow_zero (b : Int) : b ^ 0 = 1 := rfl
@[simp] protected theorem pow_one (b : Int) : b ^ 1 = b := Int.one_mul b
protected theorem pow_two (b : Int) : b ^ 2 = b * b := congrArg (· * b) (Int.one_mul b)
protected theorem pow_succ' (b : Int) (e : Nat) : b ^ (e + 1) = b * b ^ e := by rw [Int.pow_succ, Int.mul_comm]
protected theorem pow_add (a : Int) (m n : Nat) : a ^ (m + n) = a ^ m * a ^ n := by
  induction n with
  | zero => exact (Int.mul_one _).symm
  | succ n ih => rw [← Nat.add_assoc, Int.pow_succ, Int.pow_succ, ih, Int.mul_assoc]
protected theorem mul_pow (a b : Int) (n : Nat) : (a * b) ^ n = a ^ n * b ^ n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [Int.pow_succ, Int.pow_succ, Int.pow_succ, ih, Int.mul_assoc, Int.mul_left_comm (b ^ n), ← Int.mul_assoc]
protected theorem one_pow (n : Nat) : (1 : Int) ^ n = 1 := by
  induction n with
  | zero => rfl
  | succ n ih => rw [Int.pow_succ, ih]; rfl
attribute [simp] Int.sub_add_cancel Int.add_sub_cancel Int.add_sub_cancel_left Int.add_neg_cancel_right Int.neg_add_cancel_right Int.neg_add_cancel_left
  Int.add_neg_cancel_left Int.add_left_neg Int.add_right_neg Int.neg_zero Int.neg_mul_neg Int.sub_neg Int.add_left_inj Int.add_right_inj Int.neg_inj
  Int.neg_eq_zero Int.mul_neg Int.neg_mul Int.emod_add_ediv Int.ediv_add_emod

-- ===== casts from Nat =====
@[simp, norm_cast] theorem natCast_inj : (m : Int) = (n : Int) ↔ m = n := ⟨fun h => by injection h, congrArg _⟩
@[simp, norm_cast] theorem natCast_le : (m : Int) ≤ (n : Int) ↔ m ≤ n := ofNat_le
@[simp, norm_cast] theorem natCast_lt : (m : Int) < (n : Int) ↔ m < n := ofNat_le
theorem ofNat_lt : (m : Int) < (n : Int) ↔ m < n := ofNat_le
theorem ofNat_inj : (m : Int) = (n : Int) ↔ m = n := natCast_inj
@[simp, norm_cast] theorem natCast_eq_zero : (n : Int) = 0 ↔ n = 0 := natCast_inj (n := 0)
theorem natCast_ne_zero : (n : Int) ≠ 0 ↔ n ≠ 0 := not_congr natCast_eq_zero
theorem natCast_pos : (0 : Int) < (n : Int) ↔ 0 < n := natCast_lt (m := 0)
theorem natCast_zero : ((0 : Nat) : Int) = 0 := rfl
theorem natCast_one : ((1 : Nat) : Int) = 1 := rfl
@[simp, norm_cast] theorem cast_ofNat_Int {n : Nat} : ((no_index (OfNat.ofNat n) : Nat) : Int) = OfNat.ofNat n := rfl
theorem natCast_sub (h : m ≤ n) : ((n - m : Nat) : Int) = (n : Int) - (m : Int) :=
  Int.eq_sub_of_add_eq (congrArg _ (Nat.sub_add_cancel h) : ((n - m + m : Nat) : Int) = (n : Int))
@[norm_cast] theorem natCast_pow (a n : Nat) : ((a ^ n : Nat) : Int) = (a : Int) ^ n := Lean.Omega.Int.ofNat_pow a n
attribute [norm_cast] natCast_add natCast_mul natCast_ediv natCast_emod
attribute [simp] natCast_nonneg natCast_add natCast_mul
theorem ofNat_eq_natCast (n : Nat) : Int.ofNat n = (n : Int) := rfl
theorem ofNat_nonneg (n : Nat) : 0 ≤ (n : Int) := natCast_nonneg n
theorem toNat_of_nonneg (h : 0 ≤ a) : (toNat a : Int) = a := by
  cases a with
  | ofNat n => rfl
  | negSucc n => exact absurd (show negSucc n < 0 from h') (Int.not_lt.2 h)
where h' {n : Nat} : negSucc n < 0 := Int.lt_of_le_of_lt (neg_le_neg (ofNat_le.2 (Nat.zero_lt_succ n))) (by decide)
theorem eq_ofNat_of_zero_le (h : 0 ≤ a) : ∃ n : Nat, a = n := ⟨toNat a, (toNat_of_nonneg h).symm⟩
theorem eq_natCast_of_nonneg (h : 0 ≤ a) : ∃ n : Nat, a = n := eq_ofNat_of_zero_le h
theorem eq_nat_or_neg : (a : Int) → ∃ n : Nat, a = n ∨ a = -n | ofNat n => ⟨n, .inl rfl⟩ | negSucc n => ⟨n + 1, .inr rfl⟩
@[simp] theorem toNat_natCast (n : Nat) : toNat (n : Int) = n := rfl
theorem toNat_of_nonpos (h : a ≤ 0) : toNat a = 0 := by
  cases a with
  | ofNat n => exact Nat.eq_zero_of_le_zero (ofNat_le.1 h)
  | negSucc n => rfl
theorem self_le_toNat (a : Int) : a ≤ toNat a := by
  cases a with
  | ofNat n => exact Int.le_refl _
  | negSucc n => exact Int.le_of_lt toNat_of_nonneg.h'
theorem le_toNat (h : 0 ≤ a) : n ≤ toNat a ↔ (n : Int) ≤ a := by rw [← natCast_le, toNat_of_nonneg h]
@[simp] theorem natAbs_zero : natAbs 0 = 0 := rfl
@[simp] theorem natAbs_one : natAbs 1 = 1 := rfl
@[simp] theorem natAbs_natCast (n : Nat) : natAbs (n : Int) = n := rfl
@[simp] theorem natAbs_neg : (a : Int) → natAbs (-a) = natAbs a | ofNat 0 => rfl | ofNat (n + 1) => rfl | negSucc n => rfl
theorem natAbs_eq : (a : Int) → a = natAbs a ∨ a = -(natAbs a : Int) | ofNat n => .inl rfl | negSucc n => .inr rfl
@[simp] theorem natAbs_eq_zero : natAbs a = 0 ↔ a = 0 := by
  cases a with | ofNat n => exact natCast_inj.symm | negSucc n => exact ⟨fun h => (nomatch h), fun h => (nomatch h)⟩
theorem natAbs_pos : 0 < natAbs a ↔ a ≠ 0 := by rw [Nat.pos_iff_ne_zero, Ne, natAbs_eq_zero]
theorem natAbs_mul : (a b : Int) → natAbs (a * b) = natAbs a * natAbs b
  | ofNat m, ofNat n => rfl
  | ofNat m, negSucc n => natAbs_negOfNat _
  | negSucc m, ofNat n => natAbs_negOfNat _
  | negSucc m, negSucc n => rfl
where natAbs_negOfNat : (n : Nat) → natAbs (negOfNat n) = n | 0 => rfl | n + 1 => rfl
theorem natAbs_of_nonneg (h : 0 ≤ a) : (natAbs a : Int) = a := (Lean.Omega.Int.ofNat_natAbs a).trans (if_pos h)
theorem natAbs_add_le (a b : Int) : natAbs (a + b) ≤ natAbs a + natAbs b := by omega
theorem natAbs_mul_self : (natAbs a * natAbs a : Int) = a * a := by
  cases natAbs_eq a with
  | inl h => rw [← h]
  | inr h => rw [h, Int.neg_mul_neg, natAbs_neg]; rfl

-- ===== order =====
protected theorem le_rfl : a ≤ a := Int.le_refl a
protected theorem le_total (a b : Int) : a ≤ b ∨ b ≤ a := (Int.lt_or_ge b a).elim (fun h => .inr (Int.le_of_lt h)) .inl
protected theorem lt_trans (h₁ : a < b) (h₂ : b < c) : a < c := Int.lt_of_lt_of_le h₁ (Int.le_of_lt h₂)
protected theorem lt_of_le_of_ne (h₁ : a ≤ b) (h₂ : a ≠ b) : a < b := (Int.lt_or_ge a b).elim id fun k => absurd (Int.le_antisymm h₁ k) h₂
protected theorem lt_trichotomy (a b : Int) : a < b ∨ a = b ∨ b < a :=
  (Int.lt_or_ge a b).elim .inl fun h => .inr ((Int.lt_or_ge b a).elim .inr fun k => .inl (Int.le_antisymm k h))
protected theorem lt_or_eq_of_le (h : a ≤ b) : a < b ∨ a = b := (Int.lt_or_ge a b).imp id fun k => Int.le_antisymm h k
protected theorem le_iff_lt_or_eq : a ≤ b ↔ a < b ∨ a = b := ⟨Int.lt_or_eq_of_le, fun h => h.elim Int.le_of_lt Int.le_of_eq⟩
protected theorem lt_asymm (h : a < b) : ¬b < a := Int.not_lt.2 (Int.le_of_lt h)
protected theorem lt_iff_le_and_ne : a < b ↔ a ≤ b ∧ a ≠ b := ⟨fun h => ⟨Int.le_of_lt h, Int.ne_of_lt h⟩, fun h => Int.lt_of_le_of_ne h.1 h.2⟩
protected theorem lt_iff_le_not_le : a < b ↔ a ≤ b ∧ ¬b ≤ a := ⟨fun h => ⟨Int.le_of_lt h, Int.not_le.2 h⟩, fun h => Int.not_le.1 h.2⟩
protected theorem ne_iff_lt_or_gt : a ≠ b ↔ a < b ∨ b < a := ⟨Int.lt_or_gt_of_ne, fun h => h.elim Int.ne_of_lt Int.ne_of_gt⟩
protected theorem not_le_of_gt (h : b < a) : ¬a ≤ b := Int.not_le.2 h
protected theorem not_lt_of_ge (h : b ≤ a) : ¬a < b := Int.not_lt.2 h
protected theorem lt_of_not_ge (h : ¬a ≤ b) : b < a := Int.not_le.1 h
protected theorem le_of_not_gt (h : ¬a > b) : a ≤ b := Int.not_lt.1 h
protected theorem zero_lt_one : (0 : Int) < 1 := by decide
protected theorem zero_ne_one : (0 : Int) ≠ 1 := by decide
theorem lt_add_one_iff : a < b + 1 ↔ a ≤ b := ⟨le_of_lt_add_one, fun h => Int.add_le_add_right h 1⟩
theorem lt_add_one_of_le (h : a ≤ b) : a < b + 1 := lt_add_one_iff.2 h
theorem add_one_le_iff : a + 1 ≤ b ↔ a < b := Iff.rfl
theorem lt_succ (a : Int) : a < a + 1 := Int.le_refl _
protected theorem sub_nonneg : 0 ≤ a - b ↔ b ≤ a := ⟨Int.le_of_sub_nonneg, Int.sub_nonneg_of_le⟩
protected theorem add_le_add_iff_right (c : Int) : a + c ≤ b + c ↔ a ≤ b := ⟨Int.le_of_add_le_add_right, fun h => Int.add_le_add_right h c⟩
protected theorem add_le_add_iff_left (a : Int) : a + b ≤ a + c ↔ b ≤ c := by rw [Int.add_comm a, Int.add_comm a]; exact Int.add_le_add_iff_right a
protected theorem add_lt_add_iff_left (a : Int) : a + b < a + c ↔ b < c := by rw [← Int.not_le, Int.add_le_add_iff_left, Int.not_le]
protected theorem add_lt_add_iff_right (c : Int) : a + c < b + c ↔ a < b := by rw [← Int.not_le, Int.add_le_add_iff_right, Int.not_le]
protected theorem sub_le_iff_le_add : a - b ≤ c ↔ a ≤ c + b := by rw [← Int.add_le_add_iff_right b, Int.sub_add_cancel]
protected theorem le_sub_iff_add_le : a ≤ c - b ↔ a + b ≤ c := by rw [← Int.add_le_add_iff_right b, Int.sub_add_cancel]
protected theorem sub_lt_iff_lt_add : a - b < c ↔ a < c + b := by rw [← Int.not_le, Int.le_sub_iff_add_le, Int.not_le]
protected theorem lt_sub_iff_add_lt : a < c - b ↔ a + b < c := by rw [← Int.not_le, Int.sub_le_iff_le_add, Int.not_le]
protected theorem sub_pos : 0 < a - b ↔ b < a := by rw [Int.lt_sub_iff_add_lt, Int.zero_add]
protected theorem sub_pos_of_lt (h : b < a) : 0 < a - b := Int.sub_pos.2 h
theorem le_sub_one_iff : a ≤ b - 1 ↔ a < b := Int.le_sub_iff_add_le
theorem le_sub_one_of_lt (h : a < b) : a ≤ b - 1 := le_sub_one_iff.2 h
protected theorem add_lt_add_left (h : a < b) (c : Int) : c + a < c + b := (Int.add_lt_add_iff_left c).2 h
protected theorem add_lt_add_right (h : a < b) (c : Int) : a + c < b + c := (Int.add_lt_add_iff_right c).2 h
protected theorem add_lt_add_of_le_of_lt (h₁ : a ≤ b) (h₂ : c < d) : a + c < b + d :=
  Int.lt_of_le_of_lt (Int.add_le_add_right h₁ c) (Int.add_lt_add_left h₂ b)
protected theorem add_lt_add_of_lt_of_le (h₁ : a < b) (h₂ : c ≤ d) : a + c < b + d :=
  Int.lt_of_lt_of_le (Int.add_lt_add_right h₁ c) (Int.add_le_add_left h₂ b)
protected theorem add_lt_add (h₁ : a < b) (h₂ : c < d) : a + c < b + d := Int.add_lt_add_of_le_of_lt (Int.le_of_lt h₁) h₂
protected theorem add_nonneg (ha : 0 ≤ a) (hb : 0 ≤ b) : 0 ≤ a + b := Int.add_le_add ha hb
protected theorem add_pos (ha : 0 < a) (hb : 0 < b) : 0 < a + b := Int.add_lt_add ha hb
protected theorem neg_le_neg_iff : -a ≤ -b ↔ b ≤ a :=
  ⟨fun h => by have := neg_le_neg h; rw [Int.neg_neg, Int.neg_neg] at this; exact this, neg_le_neg⟩
protected theorem neg_lt_neg_iff : -a < -b ↔ b < a := by rw [← Int.not_le, Int.neg_le_neg_iff, Int.not_le]
protected theorem neg_lt_neg (h : a < b) : -b < -a := Int.neg_lt_neg_iff.2 h
protected theorem neg_nonneg : 0 ≤ -a ↔ a ≤ 0 := Int.neg_le_neg_iff (a := 0)
protected theorem neg_pos : 0 < -a ↔ a < 0 := Int.neg_lt_neg_iff (a := 0)
protected theorem neg_nonneg_of_nonpos (h : a ≤ 0) : 0 ≤ -a := Int.neg_nonneg.2 h
protected theorem neg_pos_of_neg (h : a < 0) : 0 < -a := Int.neg_pos.2 h
protected theorem neg_neg_of_pos (h : 0 < a) : -a < 0 := Int.neg_lt_neg h
protected theorem sub_le_sub_left (h : a ≤ b) (c : Int) : c - b ≤ c - a := Int.add_le_add_left (neg_le_neg h) c
protected theorem sub_le_sub_right (h : a ≤ b) (c : Int) : a - c ≤ b - c := Int.add_le_add_right h (-c)
protected theorem mul_pos (ha : 0 < a) (hb : 0 < b) : 0 < a * b := by
  have := mul_le_mul_of_nonneg_left (show 0 + 1 ≤ b from hb) (Int.le_of_lt ha)
  rw [Int.zero_add, Int.mul_one] at this
  exact Int.lt_of_lt_of_le ha this
protected theorem mul_le_mul_of_nonneg_right (h₁ : a ≤ b) (h₂ : 0 ≤ c) : a * c ≤ b * c := by
  rw [Int.mul_comm a, Int.mul_comm b]; exact mul_le_mul_of_nonneg_left h₁ h₂
protected theorem mul_le_mul (hac : a ≤ c) (hbd : b ≤ d) (nn_b : 0 ≤ b) (nn_c : 0 ≤ c) : a * b ≤ c * d :=
  Int.le_trans (Int.mul_le_mul_of_nonneg_right hac nn_b) (mul_le_mul_of_nonneg_left hbd nn_c)
protected theorem mul_lt_mul_of_pos_left (h₁ : a < b) (h₂ : 0 < c) : c * a < c * b := by
  have := Int.mul_pos h₂ (Int.sub_pos_of_lt h₁)
  rw [Int.mul_sub] at this; exact Int.sub_pos.1 this
protected theorem mul_lt_mul_of_pos_right (h₁ : a < b) (h₂ : 0 < c) : a * c < b * c := by
  rw [Int.mul_comm a, Int.mul_comm b]; exact Int.mul_lt_mul_of_pos_left h₁ h₂
protected theorem mul_neg_of_pos_of_neg (ha : 0 < a) (hb : b < 0) : a * b < 0 := by
  have := Int.mul_lt_mul_of_pos_left hb ha; rw [Int.mul_zero] at this; exact this
protected theorem mul_nonneg_of_nonpos_of_nonpos (ha : a ≤ 0) (hb : b ≤ 0) : 0 ≤ a * b := by
  rw [← Int.neg_mul_neg]; exact mul_nonneg (Int.neg_nonneg.2 ha) (Int.neg_nonneg.2 hb)
theorem mul_self_nonneg (a : Int) : 0 ≤ a * a :=
  (Int.le_total 0 a).elim (fun h => mul_nonneg h h) fun h => Int.mul_nonneg_of_nonpos_of_nonpos h h
protected theorem sq_nonneg (a : Int) : 0 ≤ a ^ 2 := by rw [Int.pow_two]; exact mul_self_nonneg a
protected theorem mul_ne_zero (ha : a ≠ 0) (hb : b ≠ 0) : a * b ≠ 0 := fun h => by
  have := congrArg natAbs h
  rw [natAbs_mul] at this
  exact (Nat.mul_eq_zero.1 this).elim (fun k => ha (natAbs_eq_zero.1 k)) fun k => hb (natAbs_eq_zero.1 k)
protected theorem mul_eq_zero : a * b = 0 ↔ a = 0 ∨ b = 0 :=
  ⟨fun h => Classical.byContradiction fun n => Int.mul_ne_zero (fun k => n (.inl k)) (fun k => n (.inr k)) h,
    fun h => h.elim (fun h => by rw [h, Int.zero_mul]) fun h => by rw [h, Int.mul_zero]⟩
attribute [simp] Int.mul_eq_zero
protected theorem eq_of_mul_eq_mul_left (ha : a ≠ 0) (h : a * b = a * c) : b = c := by
  have := Int.sub_eq_zero_of_eq h
  rw [← Int.mul_sub] at this
  exact Int.eq_of_sub_eq_zero ((Int.mul_eq_zero.1 this).resolve_left ha)
protected theorem eq_of_mul_eq_mul_right (ha : a ≠ 0) (h : b * a = c * a) : b = c :=
  Int.eq_of_mul_eq_mul_left ha (by rw [Int.mul_comm a, h, Int.mul_comm])
protected theorem le_of_mul_le_mul_left (w : a * b ≤ a * c) (h : 0 < a) : b ≤ c :=
  Int.not_lt.1 fun k => Int.not_le_of_lt (Int.mul_lt_mul_of_pos_left k h) w
protected theorem max_eq_right (h : a ≤ b) : max a b = b := if_pos h
protected theorem min_eq_left (h : a ≤ b) : min a b = a := if_pos h
protected theorem max_eq_left (h : b ≤ a) : max a b = a :=
  Int.le_antisymm (by rw [Int.max_def]; split <;> first | exact h | exact Int.le_refl a) (Int.le_max_left a b)
protected theorem min_eq_right (h : b ≤ a) : min a b = b :=
  Int.le_antisymm (Int.min_le_right a b) (by rw [Int.min_def]; split <;> first | exact h | exact Int.le_refl b)
protected theorem max_comm (a b : Int) : max a b = max b a :=
  (Int.le_total a b).elim (fun h => (Int.max_eq_right h).trans (Int.max_eq_left h).symm) fun h => (Int.max_eq_left h).trans (Int.max_eq_right h).symm
protected theorem min_comm (a b : Int) : min a b = min b a :=
  (Int.le_total a b).elim (fun h => (Int.min_eq_left h).trans (Int.min_eq_right h).symm) fun h => (Int.min_eq_right h).trans (Int.min_eq_left h).symm
protected theorem le_min : a ≤ min b c ↔ a ≤ b ∧ a ≤ c :=
  ⟨fun h => ⟨Int.le_trans h (Int.min_le_left b c), Int.le_trans h (Int.min_le_right b c)⟩, fun h => by rw [Int.min_def]; split <;> simp only [h]⟩
protected theorem max_le : max a b ≤ c ↔ a ≤ c ∧ b ≤ c :=
  ⟨fun h => ⟨Int.le_trans (Int.le_max_left a b) h, Int.le_trans (Int.le_max_right a b) h⟩, fun h => by rw [Int.max_def]; split <;> simp only [h]⟩
attribute [simp] Int.neg_le_neg_iff Int.neg_lt_neg_iff Int.add_le_add_iff_left Int.add_le_add_iff_right Int.add_lt_add_iff_left Int.add_lt_add_iff_right

-- ===== divisibility and division =====
protected theorem dvd_refl (n : Int) : n ∣ n := ⟨1, (Int.mul_one n).symm⟩
protected theorem dvd_zero (n : Int) : n ∣ 0 := ⟨0, (Int.mul_zero n).symm⟩
protected theorem one_dvd (n : Int) : 1 ∣ n := ⟨n, (Int.one_mul n).symm⟩
protected theorem dvd_mul_right (a b : Int) : a ∣ a * b := ⟨b, rfl⟩
protected theorem dvd_mul_left (a b : Int) : b ∣ a * b := ⟨a, Int.mul_comm a b⟩
protected theorem dvd_trans : a ∣ b → b ∣ c → a ∣ c | ⟨x, hx⟩, ⟨y, hy⟩ => ⟨x * y, by rw [hy, hx, Int.mul_assoc]⟩
protected theorem dvd_add : a ∣ b → a ∣ c → a ∣ b + c | ⟨x, hx⟩, ⟨y, hy⟩ => ⟨x + y, by rw [hx, hy, Int.mul_add]⟩
protected theorem dvd_sub : a ∣ b → a ∣ c → a ∣ b - c | ⟨x, hx⟩, ⟨y, hy⟩ => ⟨x - y, by rw [hx, hy, Int.mul_sub]⟩
protected theorem dvd_neg : a ∣ -b ↔ a ∣ b :=
  ⟨fun ⟨c, e⟩ => ⟨-c, by rw [Int.mul_neg, ← e, Int.neg_neg]⟩, fun ⟨c, e⟩ => ⟨-c, by rw [Int.mul_neg, ← e]⟩⟩
protected theorem dvd_mul_right_of_dvd (h : a ∣ b) (c : Int) : a ∣ b * c := Int.dvd_trans h (Int.dvd_mul_right b c)
protected theorem dvd_mul_left_of_dvd (h : a ∣ b) (c : Int) : a ∣ c * b := Int.dvd_trans h (Int.dvd_mul_left c b)
protected theorem mul_dvd_mul : a ∣ b → c ∣ d → a * c ∣ b * d
  | ⟨x, hx⟩, ⟨y, hy⟩ => ⟨x * y, by rw [hx, hy, Int.mul_assoc, Int.mul_left_comm x, ← Int.mul_assoc]⟩
protected theorem zero_dvd : 0 ∣ a ↔ a = 0 := ⟨fun ⟨c, e⟩ => by rw [e, Int.zero_mul], fun h => h ▸ Int.dvd_refl 0⟩
theorem dvd_iff_emod_eq_zero : a ∣ b ↔ b % a = 0 := ⟨emod_eq_zero_of_dvd, dvd_of_emod_eq_zero⟩
@[norm_cast] theorem natCast_dvd_natCast : (m : Int) ∣ (n : Int) ↔ m ∣ n := by
  rw [dvd_iff_emod_eq_zero, ← natCast_emod, natCast_eq_zero, Nat.dvd_iff_mod_eq_zero]
theorem le_of_dvd (bpos : 0 < b) : a ∣ b → a ≤ b
  | ⟨c, e⟩ => by
    cases Int.lt_or_ge 0 a with
    | inr h => exact Int.le_trans h (Int.le_of_lt bpos)
    | inl h =>
      have hc : 0 < c := Int.not_le.1 fun k => by
        have := mul_le_mul_of_nonneg_left k (Int.le_of_lt h)
        rw [← e, Int.mul_zero] at this
        exact Int.not_le_of_lt bpos this
      have := mul_le_mul_of_nonneg_left (show 0 + 1 ≤ c from hc) (Int.le_of_lt h)
      rw [Int.zero_add, Int.mul_one, ← e] at this; exact this
instance decidable_dvd : (a b : Int) → Decidable (a ∣ b) := fun a b => decidable_of_decidable_of_iff dvd_iff_emod_eq_zero.symm
theorem emod_two_eq (a : Int) : a % 2 = 0 ∨ a % 2 = 1 := by omega
@[simp] theorem emod_zero (a : Int) : a % 0 = a := by rw [emod_def, Int.zero_mul, Int.sub_zero]
@[simp] theorem zero_emod (b : Int) : 0 % b = 0 := emod_eq_zero_of_dvd (Int.dvd_zero b)
@[simp] theorem emod_self : a % a = 0 := emod_eq_zero_of_dvd (Int.dvd_refl a)
@[simp] theorem emod_one (a : Int) : a % 1 = 0 := emod_eq_zero_of_dvd (Int.one_dvd a)
@[simp] protected theorem ediv_one (a : Int) : a / 1 = a := by have := ediv_add_emod a 1; rw [emod_one, Int.one_mul, Int.add_zero] at this; exact this
@[simp] protected theorem mul_ediv_cancel_left (b : Int) (H : a ≠ 0) : a * b / a = b := by
  have := ediv_add_emod (a * b) a
  rw [emod_eq_zero_of_dvd (Int.dvd_mul_right a b), Int.add_zero] at this
  exact Int.eq_of_mul_eq_mul_left H this
@[simp] protected theorem mul_ediv_cancel (a : Int) (H : b ≠ 0) : a * b / b = a := by rw [Int.mul_comm]; exact Int.mul_ediv_cancel_left a H
@[simp] protected theorem zero_ediv (b : Int) : 0 / b = 0 := by
  by_cases h : b = 0
  · rw [h, Int.ediv_zero]
  · have := Int.mul_ediv_cancel_left 0 h; rw [Int.mul_zero] at this; exact this
@[simp] protected theorem ediv_self (H : a ≠ 0) : a / a = 1 := by have := Int.mul_ediv_cancel_left 1 H; rw [Int.mul_one] at this; exact this
protected theorem mul_ediv_cancel' (H : a ∣ b) : a * (b / a) = b := by
  have := ediv_add_emod b a; rw [emod_eq_zero_of_dvd H, Int.add_zero] at this; exact this
protected theorem ediv_mul_cancel (H : b ∣ a) : a / b * b = a := by rw [Int.mul_comm, Int.mul_ediv_cancel' H]
/-- Uniqueness of quotient and remainder. -/
theorem ediv_emod_unique {r q : Int} (h : 0 < b) : a / b = q ∧ a % b = r ↔ r + b * q = a ∧ 0 ≤ r ∧ r < b := by
  constructor
  · rintro ⟨rfl, rfl⟩; exact ⟨emod_add_ediv a b, emod_nonneg a (Int.ne_of_gt h), emod_lt_of_pos a h⟩
  · rintro ⟨rfl, h0, h1⟩
    have e := emod_add_ediv (r + b * q) b
    have lo := emod_nonneg (r + b * q) (Int.ne_of_gt h)
    have hi := emod_lt_of_pos (r + b * q) h
    have key : b * ((r + b * q) / b - q) = r - (r + b * q) % b := by rw [Int.mul_sub]; omega
    have hq : (r + b * q) / b = q := by
      cases Int.lt_trichotomy ((r + b * q) / b - q) 0 with
      | inl l =>
        have := mul_le_mul_of_nonneg_left (show (r + b * q) / b - q + 1 ≤ 0 from l) (Int.le_of_lt h)
        rw [Int.mul_add, key, Int.mul_one, Int.mul_zero] at this; omega
      | inr l => cases l with
        | inl z => exact Int.eq_of_sub_eq_zero z
        | inr l =>
          have := mul_le_mul_of_nonneg_left (show 0 + 1 ≤ (r + b * q) / b - q from l) (Int.le_of_lt h)
          rw [key, Int.zero_add, Int.mul_one] at this; omega
    refine ⟨hq, ?_⟩
    rw [hq] at e; omega
theorem add_mul_emod_self_left (a b c : Int) : (a + b * c) % b = a % b := by
  cases Int.lt_trichotomy b 0 with
  | inl h =>
    have key : ∀ x : Int, x % b = x % -b := fun x => by rw [emod_def, emod_def, Int.ediv_neg, Int.neg_mul_neg]
    rw [key, key, ← Int.neg_mul_neg b c]
    exact ((ediv_emod_unique (q := a / -b + -c) (Int.neg_pos.2 h)).2 ⟨by rw [Int.mul_add, ← Int.add_assoc, emod_add_ediv],
      emod_nonneg a (Int.neg_ne_zero.2 (Int.ne_of_lt h)), emod_lt_of_pos a (Int.neg_pos.2 h)⟩).2
  | inr h => cases h with
    | inl h => rw [h, Int.zero_mul, Int.add_zero]
    | inr h => exact ((ediv_emod_unique (q := a / b + c) h).2 ⟨by rw [Int.mul_add, ← Int.add_assoc, emod_add_ediv],
        emod_nonneg a (Int.ne_of_gt h), emod_lt_of_pos a h⟩).2
theorem add_mul_emod_self_right (a b c : Int) : (a + b * c) % c = a % c := by rw [Int.mul_comm, add_mul_emod_self_left]
@[simp] theorem add_emod_right (a b : Int) : (a + b) % b = a % b := by have := add_mul_emod_self_left a b 1; rw [Int.mul_one] at this; exact this
@[simp] theorem add_emod_left (a b : Int) : (a + b) % a = b % a := by rw [Int.add_comm, add_emod_right]
@[simp] theorem mul_emod_left (a b : Int) : a * b % b = 0 := emod_eq_zero_of_dvd (Int.dvd_mul_left a b)
@[simp] theorem mul_emod_right (a b : Int) : a * b % a = 0 := emod_eq_zero_of_dvd (Int.dvd_mul_right a b)
theorem emod_add_emod (m n k : Int) : (m % n + k) % n = (m + k) % n := by
  have := add_mul_emod_self_left (m % n + k) n (m / n)
  rw [Int.add_right_comm, emod_add_ediv] at this; exact this.symm
theorem add_emod_emod (m n k : Int) : (m + n % k) % k = (m + n) % k := by rw [Int.add_comm, emod_add_emod, Int.add_comm]
theorem add_emod (a b n : Int) : (a + b) % n = (a % n + b % n) % n := by rw [add_emod_emod, emod_add_emod]
@[simp] theorem emod_emod (a b : Int) : a % b % b = a % b := by have := emod_add_emod a b 0; rw [Int.add_zero, Int.add_zero] at this; exact this
theorem mul_emod (a b n : Int) : a * b % n = a % n * (b % n) % n := by
  have key : ∀ x y : Int, x % n * y % n = x * y % n := fun x y => by
    have := add_mul_emod_self_left (x % n * y) n (x / n * y)
    rw [← Int.mul_assoc, ← Int.add_mul, emod_add_ediv] at this; exact this.symm
  rw [key, Int.mul_comm a (b % n), key, Int.mul_comm]
theorem emod_eq_of_lt (H1 : 0 ≤ a) (H2 : a < b) : a % b = a :=
  ((ediv_emod_unique (q := 0) (Int.lt_of_le_of_lt H1 H2)).2 ⟨by rw [Int.mul_zero, Int.add_zero], H1, H2⟩).2
theorem ediv_eq_zero_of_lt (H1 : 0 ≤ a) (H2 : a < b) : a / b = 0 :=
  ((ediv_emod_unique (r := a) (Int.lt_of_le_of_lt H1 H2)).2 ⟨by rw [Int.mul_zero, Int.add_zero], H1, H2⟩).1
theorem add_mul_ediv_left (a : Int) (c : Int) (H : 0 < b) : (a + b * c) / b = a / b + c :=
  ((ediv_emod_unique (r := a % b) H).2 ⟨by rw [Int.mul_add, ← Int.add_assoc, emod_add_ediv], emod_nonneg a (Int.ne_of_gt H), emod_lt_of_pos a H⟩).1
theorem le_ediv_iff_mul_le (H : 0 < c) : a ≤ b / c ↔ a * c ≤ b := by
  rw [Int.mul_comm]
  exact ⟨fun h => Int.le_trans (mul_le_mul_of_nonneg_left h (Int.le_of_lt H)) (mul_ediv_self_le (Int.ne_of_gt H)), fun h => le_of_lt_add_one
    (lt_of_mul_lt_mul_left (c := c) (by rw [Int.mul_add, Int.mul_one]; exact Int.lt_of_le_of_lt h (lt_mul_ediv_self_add H)) (Int.le_of_lt H))⟩
theorem ediv_lt_iff_lt_mul (H : 0 < c) : a / c < b ↔ a < b * c := by rw [← Int.not_le, le_ediv_iff_mul_le H, Int.not_le]
theorem ediv_nonneg (Ha : 0 ≤ a) (Hb : 0 < b) : 0 ≤ a / b := (le_ediv_iff_mul_le Hb).2 (by rw [Int.zero_mul]; exact Ha)
attribute [simp] Int.dvd_refl Int.dvd_zero Int.one_dvd Int.dvd_mul_right Int.dvd_mul_left Int.dvd_neg Int.zero_dvd

/-- From zero, up and down. -/
@[elab_as_elim] theorem induction_on {p : Int → Prop} (a : Int) (zero : p 0) (succ : ∀ n : Nat, p n → p (n + 1)) (pred : ∀ n : Nat, p (-n) → p (-n - 1)) : p a :=
  by
  have up : ∀ n : Nat, p n := fun n => by
    induction n with
    | zero => exact zero
    | succ n ih => exact succ n ih
  have down : ∀ n : Nat, p (-n) := fun n => by
    induction n with
    | zero => exact zero
    | succ n ih => have := pred n ih; rw [Int.sub_eq_add_neg, ← Int.neg_add] at this; exact this
  cases eq_nat_or_neg a with | intro n h => cases h with
    | inl h => rw [h]; exact up n
    | inr h => rw [h]; exact down n
end Int
instance : Std.Associative (α := Int) (· + ·) := ⟨Int.add_assoc⟩
instance : Std.Commutative (α := Int) (· + ·) := ⟨Int.add_comm⟩
instance : Std.Associative (α := Int) (· * ·) := ⟨Int.mul_assoc⟩
instance : Std.Commutative (α := Int) (· * ·) := ⟨Int.mul_comm⟩
instance : @Trans Int Int Int LE.le LE.le LE.le := ⟨Int.le_trans⟩
instance : @Trans Int Int Int LT.lt LT.lt LT.lt := ⟨Int.lt_trans⟩
instance : @Trans Int Int Int LE.le LT.lt LT.lt := ⟨Int.lt_of_le_of_lt⟩
instance : @Trans Int Int Int LT.lt LE.le LT.lt := ⟨Int.lt_of_lt_of_le⟩
instance : @Trans Nat Nat Nat GE.ge GE.ge GE.ge := ⟨fun h k => Nat.le_trans k h⟩
instance : @Trans Nat Nat Nat GT.gt GT.gt GT.gt := ⟨fun h k => Nat.lt_trans k h⟩
instance : @Trans Nat Nat Nat GE.ge GT.gt GT.gt := ⟨fun h k => Nat.lt_of_lt_of_le k h⟩
instance : @Trans Nat Nat Nat GT.gt GE.ge GT.gt := ⟨fun h k => Nat.lt_of_le_of_lt k h⟩
instance : @Trans Int Int Int GE.ge GE.ge GE.ge := ⟨fun h k => Int.le_trans k h⟩
instance : @Trans Int Int Int GT.gt GT.gt GT.gt := ⟨fun h k => Int.lt_trans k h⟩
instance : @Trans Int Int Int GE.ge GT.gt GT.gt := ⟨fun h k => Int.lt_of_lt_of_le k h⟩
instance : @Trans Int Int Int GT.gt GE.ge GT.gt := ⟨fun h k => Int.lt_of_le_of_lt k h⟩
instance : @Trans Nat Nat Nat Dvd.dvd Dvd.dvd Dvd.dvd := ⟨Nat.dvd_trans⟩
instance : @Trans Int Int Int Dvd.dvd Dvd.dvd Dvd.dvd := ⟨Int.dvd_trans⟩
