prelude
import Prelude.Omega
set_option autoImplicit false
set_option linter.unusedVariables false

/-! Order, addition and subtraction on `Nat`: the lemmas that a proof quotes by the name they have in Lean's library.

`omega` proves each of them, but its proof terms are ten to a hundred times as long as these. -/

namespace Nat
variable {a b c d k m n : Nat}

-- ===== order =====
protected theorem le_rfl : n ≤ n := Nat.le_refl n
protected theorem le_step (h : n ≤ m) : n ≤ m + 1 := Nat.le.step h
protected theorem ne_of_gt (h : b < a) : a ≠ b := fun e => Nat.lt_irrefl b (e ▸ h)
protected theorem ne_of_lt (h : a < b) : a ≠ b := fun e => Nat.lt_irrefl b (e ▸ h)
protected theorem ne_of_lt' (h : b < a) : a ≠ b := Nat.ne_of_gt h
theorem ne_zero_of_lt (h : b < a) : a ≠ 0 := Nat.ne_of_gt (Nat.lt_of_le_of_lt (zero_le b) h)
protected theorem zero_lt_of_lt (h : n < m) : 0 < m := Nat.lt_of_le_of_lt (zero_le n) h
theorem eq_zero_or_pos (n : Nat) : n = 0 ∨ 0 < n := (Nat.eq_or_lt_of_le (zero_le n)).elim (fun e => .inl e.symm) .inr
protected theorem pos_of_ne_zero (h : n ≠ 0) : 0 < n := (eq_zero_or_pos n).resolve_left h
protected theorem zero_lt_of_ne_zero (h : a ≠ 0) : 0 < a := Nat.pos_of_ne_zero h
protected theorem pos_iff_ne_zero : 0 < n ↔ n ≠ 0 := ⟨Nat.ne_of_gt, Nat.pos_of_ne_zero⟩
protected theorem one_le_iff_ne_zero : 1 ≤ n ↔ n ≠ 0 := Nat.pos_iff_ne_zero
protected theorem one_le_of_lt (h : a < b) : 1 ≤ b := Nat.zero_lt_of_lt h
protected theorem eq_zero_of_le_zero (h : n ≤ 0) : n = 0 := Nat.le_antisymm h (zero_le n)
protected theorem lt_one_iff : n < 1 ↔ n = 0 := ⟨fun h => Nat.eq_zero_of_le_zero (le_of_lt_succ h), fun h => h ▸ zero_lt_succ 0⟩
theorem eq_zero_or_eq_succ_pred : (n : Nat) → n = 0 ∨ n = succ (pred n) | 0 => .inl rfl | n + 1 => .inr rfl
theorem exists_eq_succ_of_ne_zero : {n : Nat} → n ≠ 0 → ∃ k, n = succ k | 0, h => absurd rfl h | n + 1, _ => ⟨n, rfl⟩
theorem exists_eq_add_one_of_ne_zero (h : n ≠ 0) : ∃ k, n = k + 1 := exists_eq_succ_of_ne_zero h
theorem exists_eq_add_of_lt (h : m < n) : ∃ k, n = m + k + 1 := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  exact ⟨k, succ_add m k⟩
theorem exists_eq_add_of_le' (h : m ≤ n) : ∃ k, n = k + m := ⟨n - m, (Nat.sub_add_cancel h).symm⟩
theorem succ_le_of_lt (h : n < m) : succ n ≤ m := h
theorem lt_of_succ_le (h : succ n ≤ m) : n < m := h
theorem succ_le_iff : succ m ≤ n ↔ m < n := Iff.rfl
theorem add_one_le_iff : m + 1 ≤ n ↔ m < n := Iff.rfl
theorem lt_iff_add_one_le : m < n ↔ m + 1 ≤ n := Iff.rfl
theorem lt_succ_iff : m < succ n ↔ m ≤ n := ⟨le_of_lt_succ, lt_succ_of_le⟩
theorem lt_add_one_iff : m < n + 1 ↔ m ≤ n := lt_succ_iff
theorem lt_add_one_of_le (h : n ≤ m) : n < m + 1 := lt_succ_of_le h
theorem le_of_lt_add_one (h : n < m + 1) : n ≤ m := le_of_lt_succ h
theorem lt_succ_self (n : Nat) : n < succ n := Nat.le_refl _
theorem lt_add_one (n : Nat) : n < n + 1 := Nat.le_refl _
theorem lt_succ_of_lt (h : a < b) : a < succ b := Nat.le.step h
theorem succ_lt_succ (h : n < m) : succ n < succ m := succ_le_succ h
theorem lt_of_succ_lt_succ (h : succ n < succ m) : n < m := le_of_succ_le_succ h
theorem lt_of_succ_lt (h : succ n < m) : n < m := Nat.lt_of_le_of_lt (le_succ n) h
theorem le_of_succ_le (h : succ n ≤ m) : n ≤ m := Nat.le_of_lt h
theorem succ_le_succ_iff : succ a ≤ succ b ↔ a ≤ b := ⟨le_of_succ_le_succ, succ_le_succ⟩
theorem succ_lt_succ_iff : succ a < succ b ↔ a < b := ⟨lt_of_succ_lt_succ, succ_lt_succ⟩
theorem add_one_le_add_one_iff : a + 1 ≤ b + 1 ↔ a ≤ b := succ_le_succ_iff
theorem add_one_lt_add_one_iff : a + 1 < b + 1 ↔ a < b := succ_lt_succ_iff
theorem succ_pos (n : Nat) : 0 < succ n := zero_lt_succ n
theorem add_one_pos (n : Nat) : 0 < n + 1 := zero_lt_succ n
theorem zero_lt_add_one (n : Nat) : 0 < n + 1 := zero_lt_succ n
theorem add_one_ne_zero (n : Nat) : n + 1 ≠ 0 := succ_ne_zero n
protected theorem zero_lt_one : 0 < 1 := zero_lt_succ 0
protected theorem one_pos : 0 < 1 := zero_lt_succ 0
protected theorem two_pos : 0 < 2 := zero_lt_succ 1
protected theorem one_ne_zero : 1 ≠ (0 : Nat) := succ_ne_zero 0
protected theorem zero_ne_one : 0 ≠ (1 : Nat) := (succ_ne_zero 0).symm
protected theorem zero_ne_add_one (n : Nat) : 0 ≠ n + 1 := (succ_ne_zero n).symm
theorem succ_ne_self (n : Nat) : succ n ≠ n := Nat.ne_of_gt (lt_succ_self n)
theorem add_one_ne_self (n : Nat) : n + 1 ≠ n := succ_ne_self n
theorem succ_inj : succ a = succ b ↔ a = b := ⟨Nat.add_right_cancel (m := 1), congrArg succ⟩
theorem add_one_inj : a + 1 = b + 1 ↔ a = b := succ_inj
theorem succ_ne_succ : succ a ≠ succ b ↔ a ≠ b := not_congr succ_inj
theorem pred_zero : pred 0 = 0 := rfl
theorem pred_succ (n : Nat) : pred (succ n) = n := rfl
theorem succ_pred : {n : Nat} → n ≠ 0 → succ (pred n) = n | 0, h => absurd rfl h | n + 1, _ => rfl
theorem succ_pred_eq_of_pos (h : 0 < n) : succ (pred n) = n := succ_pred (Nat.ne_of_gt h)
theorem pred_le : (n : Nat) → pred n ≤ n | 0 => Nat.le_refl 0 | n + 1 => le_succ n
theorem pred_lt : {n : Nat} → n ≠ 0 → pred n < n | 0, h => absurd rfl h | n + 1, _ => Nat.le_refl _
theorem pred_lt_of_lt (h : m < n) : pred n < n := pred_lt (ne_zero_of_lt h)
theorem pred_eq_sub_one : pred n = n - 1 := rfl
theorem sub_one (n : Nat) : n - 1 = pred n := rfl
theorem le_pred_of_lt (h : n < m) : n ≤ m - 1 := pred_le_pred h
theorem le_sub_one_of_lt (h : a < b) : a ≤ b - 1 := pred_le_pred h
theorem lt_or_eq_of_le (h : n ≤ m) : n < m ∨ n = m := (Nat.eq_or_lt_of_le h).symm
theorem le_iff_lt_or_eq : n ≤ m ↔ n < m ∨ n = m := ⟨lt_or_eq_of_le, fun h => h.elim Nat.le_of_lt Nat.le_of_eq⟩
protected theorem lt_of_le_of_ne (h₁ : n ≤ m) (h₂ : n ≠ m) : n < m := (Nat.eq_or_lt_of_le h₁).resolve_left h₂
protected theorem lt_iff_le_and_ne : m < n ↔ m ≤ n ∧ m ≠ n := ⟨fun h => ⟨Nat.le_of_lt h, Nat.ne_of_lt h⟩, fun h => Nat.lt_of_le_of_ne h.1 h.2⟩
protected theorem not_le_of_gt (h : n > m) : ¬n ≤ m := Nat.not_le.2 h
protected theorem not_le_of_lt (h : m < n) : ¬n ≤ m := Nat.not_le.2 h
protected theorem not_lt_of_ge (h : n ≥ m) : ¬n < m := Nat.not_lt.2 h
protected theorem not_lt_of_le (h : m ≤ n) : ¬n < m := Nat.not_lt.2 h
protected theorem lt_iff_le_and_not_ge : m < n ↔ m ≤ n ∧ ¬n ≤ m := ⟨fun h => ⟨Nat.le_of_lt h, Nat.not_le.2 h⟩, fun h => Nat.not_le.1 h.2⟩
protected theorem lt_iff_le_not_le : m < n ↔ m ≤ n ∧ ¬n ≤ m := Nat.lt_iff_le_and_not_ge
protected theorem le_of_not_le (h : ¬b ≤ a) : a ≤ b := Nat.le_of_lt (Nat.not_le.1 h)
protected theorem le_of_not_ge (h : ¬a ≥ b) : a ≤ b := Nat.le_of_not_le h
protected theorem lt_of_not_ge (h : ¬b ≥ a) : b < a := Nat.not_le.1 h
protected theorem lt_asymm (h : a < b) : ¬b < a := Nat.not_lt.2 (Nat.le_of_lt h)
protected theorem le_antisymm_iff : a = b ↔ a ≤ b ∧ b ≤ a := ⟨fun h => h ▸ ⟨Nat.le_refl a, Nat.le_refl a⟩, fun h => Nat.le_antisymm h.1 h.2⟩
protected theorem eq_iff_le_and_ge : a = b ↔ a ≤ b ∧ b ≤ a := Nat.le_antisymm_iff
protected theorem lt_trichotomy (a b : Nat) : a < b ∨ a = b ∨ b < a :=
  (Nat.lt_or_ge a b).elim .inl fun h => .inr ((Nat.eq_or_lt_of_le h).elim (fun e => .inl e.symm) .inr)
protected theorem ne_iff_lt_or_gt : a ≠ b ↔ a < b ∨ b < a := ⟨Nat.lt_or_gt_of_ne, fun h => h.elim Nat.ne_of_lt Nat.ne_of_gt⟩
protected theorem lt_or_le (a b : Nat) : a < b ∨ b ≤ a := Nat.lt_or_ge a b
protected theorem le_or_lt (a b : Nat) : a ≤ b ∨ b < a := (Nat.lt_or_ge b a).symm
protected theorem eq_of_le_of_lt_succ (h₁ : n ≤ m) (h₂ : m < n + 1) : m = n := Nat.le_antisymm (le_of_lt_succ h₂) h₁

-- ===== max, min =====
protected theorem max_def : max a b = if a ≤ b then b else a := rfl
protected theorem min_def : min a b = if a ≤ b then a else b := rfl
protected theorem max_eq_right (h : a ≤ b) : max a b = b := ite_eq_left h
protected theorem min_eq_left (h : a ≤ b) : min a b = a := ite_eq_left h
protected theorem max_eq_left (h : b ≤ a) : max a b = a :=
  (Nat.eq_or_lt_of_le h).elim (fun e => e ▸ Nat.max_eq_right (Nat.le_refl b)) fun l => ite_eq_right (Nat.not_le.2 l)
protected theorem min_eq_right (h : b ≤ a) : min a b = b :=
  (Nat.eq_or_lt_of_le h).elim (fun e => e ▸ Nat.min_eq_left (Nat.le_refl b)) fun l => ite_eq_right (Nat.not_le.2 l)
protected theorem max_comm (a b : Nat) : max a b = max b a :=
  (Nat.le_total a b).elim (fun h => (Nat.max_eq_right h).trans (Nat.max_eq_left h).symm) fun h => (Nat.max_eq_left h).trans (Nat.max_eq_right h).symm
protected theorem min_comm (a b : Nat) : min a b = min b a :=
  (Nat.le_total a b).elim (fun h => (Nat.min_eq_left h).trans (Nat.min_eq_right h).symm) fun h => (Nat.min_eq_right h).trans (Nat.min_eq_left h).symm
protected theorem le_max_left (a b : Nat) : a ≤ max a b :=
  (Nat.le_total a b).elim (fun h => Nat.le_trans h (Nat.le_of_eq (Nat.max_eq_right h).symm)) fun h => Nat.le_of_eq (Nat.max_eq_left h).symm
protected theorem le_max_right (a b : Nat) : b ≤ max a b := Nat.max_comm b a ▸ Nat.le_max_left b a
protected theorem min_le_left (a b : Nat) : min a b ≤ a :=
  (Nat.le_total a b).elim (fun h => Nat.le_of_eq (Nat.min_eq_left h)) fun h => Nat.le_trans (Nat.le_of_eq (Nat.min_eq_right h)) h
protected theorem min_le_right (a b : Nat) : min a b ≤ b := Nat.min_comm b a ▸ Nat.min_le_left b a
protected theorem max_le : max a b ≤ c ↔ a ≤ c ∧ b ≤ c :=
  ⟨fun h => ⟨Nat.le_trans (Nat.le_max_left a b) h, Nat.le_trans (Nat.le_max_right a b) h⟩,
    fun h => (Nat.le_total a b).elim (fun l => Nat.le_trans (Nat.le_of_eq (Nat.max_eq_right l)) h.2) fun l =>
      Nat.le_trans (Nat.le_of_eq (Nat.max_eq_left l)) h.1⟩
protected theorem le_min : a ≤ min b c ↔ a ≤ b ∧ a ≤ c :=
  ⟨fun h => ⟨Nat.le_trans h (Nat.min_le_left b c), Nat.le_trans h (Nat.min_le_right b c)⟩,
    fun h => (Nat.le_total b c).elim (fun l => (Nat.min_eq_left l).symm ▸ h.1) fun l => (Nat.min_eq_right l).symm ▸ h.2⟩
protected theorem max_self (a : Nat) : max a a = a := Nat.max_eq_left (Nat.le_refl a)
protected theorem min_self (a : Nat) : min a a = a := Nat.min_eq_left (Nat.le_refl a)
protected theorem max_zero (a : Nat) : max a 0 = a := Nat.max_eq_left (zero_le a)
protected theorem zero_max (a : Nat) : max 0 a = a := Nat.max_eq_right (zero_le a)

-- ===== addition =====
protected theorem add_left_cancel_iff : n + m = n + k ↔ m = k := ⟨Nat.add_left_cancel, congrArg (n + ·)⟩
protected theorem add_right_cancel_iff : m + n = k + n ↔ m = k := ⟨Nat.add_right_cancel, congrArg (· + n)⟩
protected theorem add_left_inj : m + n = k + n ↔ m = k := Nat.add_right_cancel_iff
protected theorem add_right_inj : m + n = m + k ↔ n = k := Nat.add_left_cancel_iff
protected theorem le_of_add_le_add_left (h : a + b ≤ a + c) : b ≤ c :=
  Nat.le_of_add_le_add_right (c := a) (by rw [Nat.add_comm b, Nat.add_comm c]; exact h)
protected theorem add_le_add_iff_left : n + m ≤ n + k ↔ m ≤ k := ⟨Nat.le_of_add_le_add_left, fun h => Nat.add_le_add_left h n⟩
protected theorem add_le_add_iff_right : m + n ≤ k + n ↔ m ≤ k := ⟨Nat.le_of_add_le_add_right, fun h => Nat.add_le_add_right h n⟩
protected theorem add_lt_add_iff_left : n + m < n + k ↔ m < k := by rw [← Nat.not_le, Nat.add_le_add_iff_left, Nat.not_le]
protected theorem add_lt_add_iff_right : m + n < k + n ↔ m < k := by rw [← Nat.not_le, Nat.add_le_add_iff_right, Nat.not_le]
protected theorem lt_of_add_lt_add_left (h : a + b < a + c) : b < c := Nat.add_lt_add_iff_left.1 h
protected theorem lt_of_add_lt_add_right (h : a + b < c + b) : a < c := Nat.add_lt_add_iff_right.1 h
protected theorem add_lt_add_left (h : n < m) (k : Nat) : k + n < k + m := Nat.add_lt_add_iff_left.2 h
protected theorem add_lt_add_right (h : n < m) (k : Nat) : n + k < m + k := Nat.add_lt_add_iff_right.2 h
protected theorem add_lt_add_of_le_of_lt (h₁ : a ≤ b) (h₂ : c < d) : a + c < b + d :=
  Nat.lt_of_le_of_lt (Nat.add_le_add_right h₁ c) (Nat.add_lt_add_left h₂ b)
protected theorem add_lt_add_of_lt_of_le (h₁ : a < b) (h₂ : c ≤ d) : a + c < b + d :=
  Nat.lt_of_lt_of_le (Nat.add_lt_add_right h₁ c) (Nat.add_le_add_left h₂ b)
protected theorem add_lt_add (h₁ : a < b) (h₂ : c < d) : a + c < b + d := Nat.add_lt_add_of_le_of_lt (Nat.le_of_lt h₁) h₂
protected theorem lt_add_of_pos_right (h : 0 < k) : n < n + k := Nat.add_lt_add_left h n
protected theorem lt_add_of_pos_left (h : 0 < k) : n < k + n := Nat.add_comm n k ▸ Nat.lt_add_of_pos_right h
protected theorem pos_of_lt_add_right (h : n < n + k) : 0 < k := Nat.lt_of_add_lt_add_left (a := n) h
protected theorem le_add_right_of_le (h : n ≤ m) : n ≤ m + k := Nat.le_trans h (le_add_right m k)
protected theorem le_add_left_of_le (h : n ≤ m) : n ≤ k + m := Nat.le_trans h (le_add_left m k)
protected theorem lt_add_right (c : Nat) (h : a < b) : a < b + c := Nat.le_add_right_of_le h
protected theorem lt_add_left (c : Nat) (h : a < b) : a < c + b := Nat.le_add_left_of_le h
protected theorem add_pos_left (h : 0 < m) (n : Nat) : 0 < m + n := Nat.lt_add_right n h
protected theorem add_pos_right (m : Nat) (h : 0 < n) : 0 < m + n := Nat.lt_add_left m h
theorem le_of_add_right_le (h : n + k ≤ m) : n ≤ m := Nat.le_trans (le_add_right n k) h
theorem le_of_add_left_le (h : n + k ≤ m) : k ≤ m := Nat.le_trans (le_add_left k n) h
protected theorem eq_zero_of_add_eq_zero_right (h : n + m = 0) : n = 0 := Nat.eq_zero_of_le_zero (h ▸ le_add_right n m)
protected theorem eq_zero_of_add_eq_zero_left (h : n + m = 0) : m = 0 := Nat.eq_zero_of_le_zero (h ▸ le_add_left m n)
protected theorem eq_zero_of_add_eq_zero (h : n + m = 0) : n = 0 ∧ m = 0 :=
  ⟨Nat.eq_zero_of_add_eq_zero_right h, Nat.eq_zero_of_add_eq_zero_left h⟩
protected theorem add_eq_zero_iff : n + m = 0 ↔ n = 0 ∧ m = 0 := ⟨Nat.eq_zero_of_add_eq_zero, fun h => by rw [h.1, h.2]⟩
protected theorem add_pos_iff_pos_or_pos : 0 < m + n ↔ 0 < m ∨ 0 < n :=
  ⟨fun h => (eq_zero_or_pos m).elim (fun e => .inr (by rw [e, Nat.zero_add] at h; exact h)) .inl,
    fun h => h.elim (fun l => Nat.add_pos_left l n) (Nat.add_pos_right m)⟩
protected theorem add_eq_left : a + b = a ↔ b = 0 := Nat.add_left_cancel_iff (k := 0)
protected theorem add_eq_right : a + b = b ↔ a = 0 := by rw [Nat.add_comm]; exact Nat.add_eq_left
protected theorem left_eq_add : a = a + b ↔ b = 0 := eq_comm.trans Nat.add_eq_left
protected theorem right_eq_add : b = a + b ↔ a = 0 := eq_comm.trans Nat.add_eq_right
protected theorem add_add_add_comm (a b c d : Nat) : a + b + (c + d) = a + c + (b + d) := by
  rw [Nat.add_assoc, Nat.add_left_comm b, ← Nat.add_assoc]
theorem succ_add_eq_add_succ (a b : Nat) : succ a + b = a + succ b := succ_add a b
theorem one_add (n : Nat) : 1 + n = succ n := Nat.add_comm 1 n

-- ===== subtraction =====
protected theorem add_sub_cancel (n m : Nat) : n + m - m = n := by rw [Nat.add_comm]; exact Nat.add_sub_cancel_left m n
protected theorem zero_sub (n : Nat) : 0 - n = 0 := Nat.sub_eq_zero_of_le (zero_le n)
protected theorem sub_sub (n m : Nat) : (k : Nat) → n - m - k = n - (m + k) | 0 => rfl | k + 1 => congrArg pred (Nat.sub_sub n m k)
protected theorem sub_add_eq (a b c : Nat) : a - (b + c) = a - b - c := (Nat.sub_sub a b c).symm
protected theorem sub_right_comm (m n k : Nat) : m - n - k = m - k - n := by rw [Nat.sub_sub, Nat.sub_sub, Nat.add_comm]
theorem sub_le_iff_le_add : a - b ≤ c ↔ a ≤ c + b :=
  (Nat.le_total a b).elim (fun h => by rw [Nat.sub_eq_zero_of_le h]; exact ⟨fun _ => Nat.le_add_left_of_le h, fun _ => zero_le c⟩)
    fun h => by rw [← Nat.add_le_add_iff_right (n := b), Nat.sub_add_cancel h]
theorem lt_sub_iff_add_lt : a < c - b ↔ a + b < c := by rw [← Nat.not_le, sub_le_iff_le_add, Nat.not_le]
theorem sub_le_of_le_add (h : a ≤ c + b) : a - b ≤ c := sub_le_iff_le_add.2 h
theorem le_add_of_sub_le (h : a - b ≤ c) : a ≤ c + b := sub_le_iff_le_add.1 h
theorem lt_sub_of_add_lt (h : a + b < c) : a < c - b := lt_sub_iff_add_lt.2 h
theorem add_lt_of_lt_sub (h : a < c - b) : a + b < c := lt_sub_iff_add_lt.1 h
theorem le_sub_iff_add_le (h : k ≤ m) : n ≤ m - k ↔ n + k ≤ m := by rw [← Nat.add_le_add_iff_right (n := k), Nat.sub_add_cancel h]
theorem le_sub_of_add_le (h : a + b ≤ c) : a ≤ c - b := (le_sub_iff_add_le (le_of_add_left_le h)).2 h
theorem add_le_of_le_sub (hle : b ≤ c) (h : a ≤ c - b) : a + b ≤ c := (le_sub_iff_add_le hle).1 h
theorem sub_le (n m : Nat) : n - m ≤ n := sub_le_of_le_add (le_add_right n m)
theorem sub_lt_of_lt (h : a < c) : a - b < c := Nat.lt_of_le_of_lt (sub_le a b) h
protected theorem add_sub_assoc {m k : Nat} (h : k ≤ m) (n : Nat) : n + m - k = n + (m - k) := by
  obtain ⟨c, rfl⟩ := Nat.exists_eq_add_of_le h
  rw [Nat.add_left_comm, Nat.add_sub_cancel_left, Nat.add_sub_cancel_left]
protected theorem sub_add_comm (h : k ≤ n) : n + m - k = n - k + m := by rw [Nat.add_comm, Nat.add_sub_assoc h, Nat.add_comm]
theorem sub_lt : {n m : Nat} → 0 < n → 0 < m → n - m < n
  | n + 1, m + 1, _, _ => Nat.lt_of_le_of_lt (Nat.le_of_eq (succ_sub_succ n m)) (Nat.lt_of_le_of_lt (sub_le n m) (lt_succ_self n))
theorem sub_one_lt (h : n ≠ 0) : n - 1 < n := pred_lt h
theorem sub_one_lt_of_lt (h : m < n) : n - 1 < n := pred_lt_of_lt h
protected theorem le_of_sub_eq_zero (h : n - m = 0) : n ≤ m := by have := le_add_of_sub_le (Nat.le_of_eq h); rw [Nat.zero_add] at this; exact this
protected theorem sub_eq_zero_iff_le : n - m = 0 ↔ n ≤ m := ⟨Nat.le_of_sub_eq_zero, Nat.sub_eq_zero_of_le⟩
protected theorem sub_pos_iff_lt : 0 < n - m ↔ m < n := lt_sub_iff_add_lt.trans (by rw [Nat.zero_add])
protected theorem sub_pos_of_lt (h : m < n) : 0 < n - m := Nat.sub_pos_iff_lt.2 h
protected theorem lt_of_sub_pos (h : 0 < n - m) : m < n := Nat.sub_pos_iff_lt.1 h
protected theorem sub_ne_zero_of_lt (h : a < b) : b - a ≠ 0 := Nat.ne_of_gt (Nat.sub_pos_of_lt h)
protected theorem add_sub_of_le (h : a ≤ b) : a + (b - a) = b := by rw [Nat.add_comm]; exact Nat.sub_add_cancel h
protected theorem add_sub_cancel' (h : m ≤ n) : m + (n - m) = n := Nat.add_sub_of_le h
protected theorem add_sub_add_left (k n m : Nat) : k + n - (k + m) = n - m := by rw [Nat.sub_add_eq, Nat.add_sub_cancel_left]
protected theorem add_sub_add_right (n k m : Nat) : n + k - (m + k) = n - m := by rw [Nat.add_comm m, Nat.sub_add_eq, Nat.add_sub_cancel]
protected theorem sub_eq_of_eq_add (h : a = c + b) : a - b = c := by rw [h]; exact Nat.add_sub_cancel c b
protected theorem eq_sub_of_add_eq (h : a + b = c) : a = c - b := (Nat.sub_eq_of_eq_add h.symm).symm
protected theorem eq_add_of_sub_eq (hle : b ≤ a) (h : a - b = c) : a = c + b := by rw [← h]; exact (Nat.sub_add_cancel hle).symm
protected theorem sub_eq_iff_eq_add (h : b ≤ a) : a - b = c ↔ a = c + b := ⟨Nat.eq_add_of_sub_eq h, Nat.sub_eq_of_eq_add⟩
protected theorem sub_sub_self (h : n ≤ m) : m - (m - n) = n := Nat.sub_eq_of_eq_add (Nat.add_sub_of_le h).symm
theorem sub_lt_left_of_lt_add (H : n ≤ k) (h : k < n + m) : k - n < m :=
  Nat.lt_of_add_lt_add_left (a := n) (by rw [Nat.add_sub_of_le H]; exact h)
protected theorem sub_le_sub_right (h : n ≤ m) (k : Nat) : n - k ≤ m - k := sub_le_of_le_add (Nat.le_trans h (le_add_of_sub_le (Nat.le_refl _)))
protected theorem sub_le_sub_left (h : n ≤ m) (k : Nat) : k - m ≤ k - n :=
  sub_le_of_le_add (Nat.le_trans (le_add_of_sub_le (Nat.le_refl (k - n))) (Nat.add_le_add_left h _))
theorem sub_lt_sub_left (h₁ : k < m) (h₂ : k < n) : m - n < m - k := by
  cases Nat.le_total n m with
  | inl h => exact lt_sub_of_add_lt (Nat.lt_of_lt_of_le (Nat.add_lt_add_left h₂ _) (Nat.le_of_eq (Nat.sub_add_cancel h)))
  | inr h => rw [Nat.sub_eq_zero_of_le h]; exact Nat.sub_pos_of_lt h₁
theorem sub_lt_sub_right (h₁ : k ≤ m) (h₂ : m < n) : m - k < n - k := lt_sub_of_add_lt (by rw [Nat.sub_add_cancel h₁]; exact h₂)
theorem succ_sub (h : n ≤ m) : succ m - n = succ (m - n) := Nat.sub_add_comm (m := 1) h
theorem succ_sub_one (n : Nat) : succ n - 1 = n := rfl
theorem add_one_sub_one (n : Nat) : n + 1 - 1 = n := rfl
theorem sub_add_cancel_of_pos (h : 0 < n) : n - 1 + 1 = n := Nat.sub_add_cancel h
theorem sub_one_add_one (h : a ≠ 0) : a - 1 + 1 = a := succ_pred h
theorem sub_succ_lt_self (h : k < a) : a - (k + 1) < a - k := by
  rw [Nat.sub_add_eq]; exact sub_one_lt (Nat.sub_ne_zero_of_lt h)
end Nat
