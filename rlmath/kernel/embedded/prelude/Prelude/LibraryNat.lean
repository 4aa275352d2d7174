prelude
import Prelude.Simp
set_option autoImplicit false
set_option linter.unusedVariables false

/-! Induction principles, multiplication and powers of `Nat`: the lemmas that a proof quotes by the name they have in Lean's library. -/

namespace Nat
variable {a b c d k m n : Nat}

-- ===== induction principles =====
@[elab_as_elim] theorem strong_induction_on {p : Nat → Prop} (n : Nat) (h : ∀ n, (∀ m, m < n → p m) → p n) : p n := Nat.strongRecOn n h
@[elab_as_elim] theorem strongInductionOn {p : Nat → Prop} (n : Nat) (h : ∀ n, (∀ m, m < n → p m) → p n) : p n := Nat.strongRecOn n h
@[elab_as_elim] theorem le_induction {m : Nat} {p : (n : Nat) → m ≤ n → Prop} (base : p m (Nat.le_refl m))
    (succ : ∀ (n : Nat) (h : m ≤ n), p n h → p (n + 1) (Nat.le.step h)) (n : Nat) (h : m ≤ n) : p n h := by
  induction h with
  | refl => exact base
  | step h ih => exact succ _ h ih

-- ===== multiplication =====
protected theorem mul_left_comm (n m k : Nat) : n * (m * k) = m * (n * k) := by rw [← Nat.mul_assoc, Nat.mul_comm n m, Nat.mul_assoc]
protected theorem mul_right_comm (n m k : Nat) : n * m * k = n * k * m := by rw [Nat.mul_assoc, Nat.mul_comm m k, Nat.mul_assoc]
protected theorem mul_mul_mul_comm (a b c d : Nat) : a * b * (c * d) = a * c * (b * d) := by
  rw [Nat.mul_assoc, Nat.mul_left_comm b, ← Nat.mul_assoc]
protected theorem right_distrib (n m k : Nat) : (n + m) * k = n * k + m * k := Nat.add_mul n m k
protected theorem two_mul (n : Nat) : 2 * n = n + n := by omega
protected theorem mul_two (n : Nat) : n * 2 = n + n := by omega
theorem add_one_mul (n m : Nat) : (n + 1) * m = n * m + m := succ_mul n m
protected theorem mul_le_mul_left {m n : Nat} (k : Nat) (h : m ≤ n) : k * m ≤ k * n := by
  obtain ⟨c, rfl⟩ := Nat.exists_eq_add_of_le h
  rw [Nat.mul_add]; exact le_add_right _ _
protected theorem mul_le_mul_right {m n : Nat} (k : Nat) (h : m ≤ n) : m * k ≤ n * k := by
  rw [Nat.mul_comm m, Nat.mul_comm n]; exact Nat.mul_le_mul_left k h
protected theorem mul_le_mul {p q m n : Nat} (h₁ : p ≤ m) (h₂ : q ≤ n) : p * q ≤ m * n :=
  Nat.le_trans (Nat.mul_le_mul_right q h₁) (Nat.mul_le_mul_left m h₂)
theorem mul_self_le_mul_self {m n : Nat} (h : m ≤ n) : m * m ≤ n * n := Nat.mul_le_mul h h
protected theorem mul_pos (ha : 0 < m) (hb : 0 < n) : 0 < m * n := Nat.lt_of_lt_of_le ha (le_mul_of_pos m hb)
protected theorem le_mul_of_pos_right (n : Nat) (h : 0 < m) : n ≤ n * m := le_mul_of_pos n h
protected theorem le_mul_of_pos_left (n : Nat) (h : 0 < m) : n ≤ m * n := by rw [Nat.mul_comm]; exact le_mul_of_pos n h
protected theorem mul_lt_mul_of_pos_left (h : m < n) (hk : 0 < k) : k * m < k * n := by
  have := Nat.mul_le_mul_left k (succ_le_of_lt h)
  rw [mul_succ] at this; omega
protected theorem mul_lt_mul_of_pos_right (h : m < n) (hk : 0 < k) : m * k < n * k := by
  rw [Nat.mul_comm m, Nat.mul_comm n]; exact Nat.mul_lt_mul_of_pos_left h hk
protected theorem mul_lt_mul_of_lt_of_le (hac : a < c) (hbd : b ≤ d) (hd : 0 < d) : a * b < c * d :=
  Nat.lt_of_le_of_lt (Nat.mul_le_mul_left a hbd) (Nat.mul_lt_mul_of_pos_right hac hd)
protected theorem mul_lt_mul_of_le_of_lt (hac : a ≤ c) (hbd : b < d) (hc : 0 < c) : a * b < c * d :=
  Nat.lt_of_le_of_lt (Nat.mul_le_mul_right b hac) (Nat.mul_lt_mul_of_pos_left hbd hc)
theorem mul_self_lt_mul_self (h : m < n) : m * m < n * n := Nat.mul_lt_mul_of_lt_of_le h (Nat.le_of_lt h) (by omega)
protected theorem le_of_mul_le_mul_left (h : c * a ≤ c * b) (hc : 0 < c) : a ≤ b :=
  Nat.not_lt.1 fun k => Nat.not_le_of_lt (Nat.mul_lt_mul_of_pos_left k hc) h
protected theorem le_of_mul_le_mul_right (h : a * c ≤ b * c) (hc : 0 < c) : a ≤ b :=
  Nat.not_lt.1 fun k => Nat.not_le_of_lt (Nat.mul_lt_mul_of_pos_right k hc) h
protected theorem lt_of_mul_lt_mul_left (h : a * b < a * c) : b < c := Nat.not_le.1 fun k => Nat.not_le_of_lt h (Nat.mul_le_mul_left a k)
protected theorem lt_of_mul_lt_mul_right (h : b * a < c * a) : b < c := Nat.not_le.1 fun k => Nat.not_le_of_lt h (Nat.mul_le_mul_right a k)
protected theorem mul_le_mul_left_iff (h : 0 < k) : k * m ≤ k * n ↔ m ≤ n := ⟨fun l => Nat.le_of_mul_le_mul_left l h, Nat.mul_le_mul_left k⟩
protected theorem mul_lt_mul_left (h : 0 < a) : a * b < a * c ↔ b < c := ⟨Nat.lt_of_mul_lt_mul_left, fun l => Nat.mul_lt_mul_of_pos_left l h⟩
protected theorem mul_lt_mul_right (ha : 0 < a) : b * a < c * a ↔ b < c := by rw [Nat.mul_comm b, Nat.mul_comm c]; exact Nat.mul_lt_mul_left ha
protected theorem le_mul_self (n : Nat) : n ≤ n * n := (eq_zero_or_pos n).elim (fun h => h ▸ Nat.le_refl 0) (le_mul_of_pos n)
protected theorem eq_of_mul_eq_mul_left (ha : 0 < a) (h : a * b = a * c) : b = c :=
  Nat.le_antisymm (Nat.le_of_mul_le_mul_left (Nat.le_of_eq h) ha) (Nat.le_of_mul_le_mul_left (Nat.le_of_eq h.symm) ha)
protected theorem eq_of_mul_eq_mul_right (ha : 0 < a) (h : b * a = c * a) : b = c := by
  rw [Nat.mul_comm b, Nat.mul_comm c] at h; exact Nat.eq_of_mul_eq_mul_left ha h
protected theorem mul_left_cancel {n m k : Nat} (np : 0 < n) (h : n * m = n * k) : m = k := Nat.eq_of_mul_eq_mul_left np h
protected theorem mul_right_cancel {n m k : Nat} (mp : 0 < m) (h : n * m = k * m) : n = k := Nat.eq_of_mul_eq_mul_right mp h
protected theorem mul_left_cancel_iff (ha : 0 < a) : a * b = a * c ↔ b = c := ⟨Nat.eq_of_mul_eq_mul_left ha, congrArg (a * ·)⟩
protected theorem mul_right_cancel_iff (ha : 0 < a) : b * a = c * a ↔ b = c := ⟨Nat.eq_of_mul_eq_mul_right ha, congrArg (· * a)⟩
@[simp] protected theorem mul_eq_zero : m * n = 0 ↔ m = 0 ∨ n = 0 := by
  constructor
  · intro h
    cases Nat.eq_zero_or_pos m with
    | inl hm => exact .inl hm
    | inr hm => cases Nat.eq_zero_or_pos n with
      | inl hn => exact .inr hn
      | inr hn => have := Nat.mul_pos hm hn; omega
  · rintro (h | h) <;> simp [h]
protected theorem mul_ne_zero (hm : m ≠ 0) (hn : n ≠ 0) : m * n ≠ 0 := by simp [hm, hn]
protected theorem mul_ne_zero_iff : m * n ≠ 0 ↔ m ≠ 0 ∧ n ≠ 0 := by simp
protected theorem pos_of_mul_pos (h : 0 < n * m) : 0 < n := by
  cases n with
  | zero => simp at h
  | succ n => omega
theorem eq_zero_of_mul_eq_zero (h : m * n = 0) : m = 0 ∨ n = 0 := Nat.mul_eq_zero.1 h
theorem mul_self_inj : m * m = n * n ↔ m = n := by
  constructor
  · intro h
    cases Nat.lt_trichotomy m n with
    | inl l => have := mul_self_lt_mul_self l; omega
    | inr l => cases l with
      | inl e => exact e
      | inr l => have := mul_self_lt_mul_self l; omega
  · intro h; rw [h]
theorem eq_one_of_mul_eq_one_right (h : m * n = 1) : m = 1 := by
  cases m with
  | zero => simp at h
  | succ m => cases n with
    | zero => simp at h
    | succ n => rw [succ_mul, mul_succ] at h; omega
theorem eq_one_of_mul_eq_one_left (h : m * n = 1) : n = 1 := eq_one_of_mul_eq_one_right (by rw [Nat.mul_comm]; exact h)
protected theorem mul_eq_one_iff : m * n = 1 ↔ m = 1 ∧ n = 1 :=
  ⟨fun h => ⟨eq_one_of_mul_eq_one_right h, eq_one_of_mul_eq_one_left h⟩, fun h => by rw [h.1, h.2]⟩
protected theorem mul_sub (k m n : Nat) : k * (m - n) = k * m - k * n := by
  cases Nat.le_total m n with
  | inl h => have := Nat.mul_le_mul_left k h; rw [Nat.sub_eq_zero_of_le h, Nat.sub_eq_zero_of_le this]; rfl
  | inr h => obtain ⟨c, rfl⟩ := Nat.exists_eq_add_of_le h; rw [Nat.mul_add, Nat.add_sub_cancel_left, Nat.add_sub_cancel_left]
protected theorem sub_mul (n m k : Nat) : (n - m) * k = n * k - m * k := by
  rw [Nat.mul_comm, Nat.mul_sub, Nat.mul_comm k, Nat.mul_comm k]
protected theorem mul_sub_one (n m : Nat) : n * (m - 1) = n * m - n := by rw [Nat.mul_sub, Nat.mul_one]
protected theorem sub_one_mul (n m : Nat) : (n - 1) * m = n * m - m := by rw [Nat.sub_mul, Nat.one_mul]
theorem mul_self_sub_mul_self_eq (a b : Nat) : a * a - b * b = (a + b) * (a - b) := by
  rw [Nat.mul_sub, Nat.add_mul, Nat.add_mul, Nat.mul_comm b a, Nat.add_comm (a * a), Nat.add_sub_add_left]

-- ===== powers =====
@[simp] protected theorem pow_one (a : Nat) : a ^ 1 = a := Nat.one_mul a
protected theorem pow_two (a : Nat) : a ^ 2 = a * a := by rw [pow_succ, Nat.pow_one]
protected theorem pow_succ' {m n : Nat} : m ^ (n + 1) = m * m ^ n := by rw [pow_succ, Nat.mul_comm]
theorem pow_add_one (b n : Nat) : b ^ (n + 1) = b ^ n * b := rfl
theorem pow_add_one' (b n : Nat) : b ^ (n + 1) = b * b ^ n := Nat.pow_succ'
@[simp] protected theorem one_pow (n : Nat) : 1 ^ n = 1 := by
  induction n with
  | zero => rfl
  | succ n ih => rw [pow_succ, ih]
@[simp] protected theorem zero_pow (h : 0 < n) : 0 ^ n = 0 := by
  cases n with
  | zero => omega
  | succ n => rw [pow_succ, Nat.mul_zero]
protected theorem pow_add (a m n : Nat) : a ^ (m + n) = a ^ m * a ^ n := by
  induction n with
  | zero => rw [Nat.add_zero, pow_zero, Nat.mul_one]
  | succ n ih => rw [← Nat.add_assoc, pow_succ, pow_succ, ih, Nat.mul_assoc]
protected theorem pow_mul (a m n : Nat) : a ^ (m * n) = (a ^ m) ^ n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [mul_succ, Nat.pow_add, ih, pow_succ]
protected theorem mul_pow (a b n : Nat) : (a * b) ^ n = a ^ n * b ^ n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [pow_succ, pow_succ, pow_succ, ih, Nat.mul_mul_mul_comm]
protected theorem pow_le_pow_left {m n : Nat} (h : m ≤ n) (i : Nat) : m ^ i ≤ n ^ i := by
  induction i with
  | zero => exact Nat.le_refl 1
  | succ i ih => exact Nat.mul_le_mul ih h
protected theorem pow_le_pow_right {n m : Nat} (h : 0 < n) {i : Nat} (hi : i ≤ m) : n ^ i ≤ n ^ m := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le hi
  rw [Nat.pow_add]; exact le_mul_of_pos _ (pow_pos h)
protected theorem two_pow_pos (w : Nat) : 0 < 2 ^ w := pow_pos (by decide)
theorem pos_pow_of_pos {b : Nat} (n : Nat) (h : 0 < b) : 0 < b ^ n := pow_pos h
protected theorem pow_lt_pow_succ (h : 1 < a) : a ^ n < a ^ (n + 1) := by
  have := Nat.mul_lt_mul_of_pos_left h (pow_pos (n := n) (by omega : 0 < a))
  rw [Nat.mul_one] at this; exact this
protected theorem pow_lt_pow_right (ha : 1 < a) (h : m < n) : a ^ m < a ^ n :=
  Nat.lt_of_lt_of_le (Nat.pow_lt_pow_succ ha) (Nat.pow_le_pow_right (by omega) h)
protected theorem pow_lt_pow_left (h : a < b) (hn : n ≠ 0) : a ^ n < b ^ n := by
  cases n with
  | zero => contradiction
  | succ n => exact Nat.mul_lt_mul_of_le_of_lt (Nat.pow_le_pow_left (Nat.le_of_lt h) n) h (pow_pos (by omega))
protected theorem lt_two_pow_self : n < 2 ^ n := by
  induction n with
  | zero => decide
  | succ n ih => rw [pow_succ]; omega
protected theorem lt_pow_self (hb : 1 < b) : n < b ^ n := Nat.lt_of_lt_of_le Nat.lt_two_pow_self (Nat.pow_le_pow_left hb n)
protected theorem one_lt_two_pow (h : n ≠ 0) : 1 < 2 ^ n := Nat.lt_of_le_of_lt (Nat.pos_of_ne_zero h) Nat.lt_two_pow_self
protected theorem one_le_two_pow : 1 ≤ 2 ^ n := Nat.two_pow_pos n
protected theorem pow_eq_zero {a n : Nat} : a ^ n = 0 ↔ a = 0 ∧ n ≠ 0 := by
  constructor
  · intro h
    cases Nat.eq_zero_or_pos a with
    | inl ha => refine ⟨ha, fun hn => ?_⟩; subst hn; contradiction
    | inr ha => have := pow_pos (n := n) ha; omega
  · rintro ⟨rfl, hn⟩; exact Nat.zero_pow (by omega)
end Nat
