-- Natural numbers: `ℕ` reads as `Nat`, numerals, order, divisibility, and the lemma names of Lean's library.

theorem blackboard_n : ∀ n : ℕ, n + 0 = n := by omega

theorem blackboard_n_simp : ∀ n : ℕ, 0 + n = n := by simp

theorem blackboard_n_induction : ∀ n : ℕ, 0 + n = n := by
  intro n
  induction n with
  | zero => rfl
  | succ n ih => omega

theorem blackboard_is_nat (f : ℕ → ℕ) (n : Nat) : f n = (f : Nat → Nat) n := rfl

theorem numerals : (12 : ℕ) + 30 = 42 := by decide

theorem numerals_rfl : 2 ^ 10 = 1024 := rfl

theorem numerals_big : 12345 * 54321 = 670592745 := by decide

theorem add_comm_by_name (a b : Nat) : a + b = b + a := Nat.add_comm a b

theorem add_assoc_by_name (a b c : Nat) : a + b + c = a + (b + c) := Nat.add_assoc a b c

theorem mul_comm_by_name (a b : Nat) : a * b = b * a := Nat.mul_comm a b

theorem distributes_left (a b c : Nat) : a * (b + c) = a * b + a * c := Nat.mul_add a b c

theorem mul_left_comm_by_name (a b c : Nat) : a * (b * c) = b * (a * c) := Nat.mul_left_comm a b c

theorem antisymmetry (a b : Nat) (h₁ : a ≤ b) (h₂ : b ≤ a) : a = b := Nat.le_antisymm h₁ h₂

theorem lt_of_lt_of_le_by_name (a b c : Nat) (h₁ : a < b) (h₂ : b ≤ c) : a < c := Nat.lt_of_lt_of_le h₁ h₂

theorem mul_le_mul_by_name (a b c d : Nat) (h₁ : a ≤ b) (h₂ : c ≤ d) : a * c ≤ b * d := Nat.mul_le_mul h₁ h₂

theorem add_sub_cancel_by_name (a b : Nat) : a + b - b = a := Nat.add_sub_cancel a b

theorem sub_add_cancel_by_name (a b : Nat) (h : b ≤ a) : a - b + b = a := Nat.sub_add_cancel h

theorem positive_of_ne_zero (n : Nat) (h : n ≠ 0) : 0 < n := Nat.pos_of_ne_zero h

theorem succ_le_of_lt_by_name (a b : Nat) (h : a < b) : a.succ ≤ b := Nat.succ_le_of_lt h

theorem le_of_lt_succ_by_name (a b : Nat) (h : a < b + 1) : a ≤ b := Nat.le_of_lt_succ h

theorem trichotomy (a b : Nat) : a < b ∨ a = b ∨ b < a := Nat.lt_trichotomy a b

theorem mul_eq_zero_by_name (a b : Nat) : a * b = 0 ↔ a = 0 ∨ b = 0 := Nat.mul_eq_zero

theorem cancel_factor (a b c : Nat) (h : 0 < c) (e : c * a = c * b) : a = b := Nat.eq_of_mul_eq_mul_left h e

theorem power_add (a m n : Nat) : a ^ (m + n) = a ^ m * a ^ n := Nat.pow_add a m n

theorem square (a : Nat) : a ^ 2 = a * a := Nat.pow_two a

theorem square_of_sum (x y : Nat) : (x + y) * (x + y) = x * x + 2 * (x * y) + y * y := by
  simp only [Nat.add_mul, Nat.mul_add, Nat.mul_comm y x]
  omega

theorem square_of_sum_power (x y : Nat) : (x + y) ^ 2 = x ^ 2 + 2 * x * y + y ^ 2 := by
  simp only [Nat.pow_two, Nat.add_mul, Nat.mul_add, Nat.mul_comm y x, Nat.two_mul]
  omega

theorem difference_of_squares (a b : Nat) : a * a - b * b = (a + b) * (a - b) := Nat.mul_self_sub_mul_self_eq a b

theorem two_powers_grow (n : Nat) : n < 2 ^ n := by
  induction n with
  | zero => decide
  | succ n ih => rw [Nat.pow_succ]; omega

theorem dvd_refl_by_name (n : Nat) : n ∣ n := Nat.dvd_refl n

theorem dvd_trans_by_name (a b c : Nat) (h₁ : a ∣ b) (h₂ : b ∣ c) : a ∣ c := Nat.dvd_trans h₁ h₂

theorem dvd_add_by_name (a b c : Nat) (h₁ : a ∣ b) (h₂ : a ∣ c) : a ∣ b + c := Nat.dvd_add h₁ h₂

theorem dvd_by_witness : 3 ∣ 12 := ⟨4, rfl⟩

theorem dvd_product (a b : Nat) : a ∣ a * b ∧ a ∣ b * a := ⟨Nat.dvd_mul_right a b, Nat.dvd_mul_left a b⟩

theorem dvd_simp (a b : Nat) : a ∣ a * b := by simp

theorem dvd_antisymm_by_name (a b : Nat) (h₁ : a ∣ b) (h₂ : b ∣ a) : a = b := Nat.dvd_antisymm h₁ h₂

theorem dvd_bound (a b : Nat) (h : a ∣ b) (hb : 0 < b) : a ≤ b := Nat.le_of_dvd hb h

theorem dvd_unpack (a b : Nat) (h : a ∣ b) (hb : b > 0) : a ≤ b := by
  obtain ⟨k, hk⟩ := h
  cases k with
  | zero => omega
  | succ k => rw [hk, Nat.mul_add]; omega

theorem mod_lt_by_name (a b : Nat) (h : b > 0) : a % b < b := Nat.mod_lt a h

theorem parity (n : Nat) : n % 2 = 0 ∨ n % 2 = 1 := Nat.mod_two_eq_zero_or_one n

theorem even_or_odd (n : Nat) : (∃ k, n = 2 * k) ∨ ∃ k, n = 2 * k + 1 := by
  cases Nat.mod_two_eq_zero_or_one n with
  | inl h => exact Or.inl ⟨n / 2, by omega⟩
  | inr h => exact Or.inr ⟨n / 2, by omega⟩

theorem even_square (n : Nat) (h : n % 2 = 0) : n * n % 2 = 0 := by
  rw [Nat.mul_mod, h]

theorem odd_square (n : Nat) (h : n % 2 = 1) : n * n % 2 = 1 := by
  rw [Nat.mul_mod, h]

theorem consecutive_product_even (n : Nat) : n * (n + 1) % 2 = 0 := by
  rw [Nat.mul_mod]
  cases Nat.mod_two_eq_zero_or_one n with
  | inl h => rw [h, Nat.zero_mul]
  | inr h =>
    have : (n + 1) % 2 = 0 := by omega
    rw [this, Nat.mul_zero]

theorem division_algorithm (a b : Nat) : b * (a / b) + a % b = a := Nat.div_add_mod a b

theorem div_of_product (a b : Nat) (h : 0 < b) : a * b / b = a := Nat.mul_div_cancel a h

theorem gcd_divides (a b : Nat) : Nat.gcd a b ∣ a ∧ Nat.gcd a b ∣ b := ⟨Nat.gcd_dvd_left a b, Nat.gcd_dvd_right a b⟩

theorem gcd_greatest (a b d : Nat) (h₁ : d ∣ a) (h₂ : d ∣ b) : d ∣ Nat.gcd a b := Nat.dvd_gcd h₁ h₂

theorem gcd_symmetric (a b : Nat) : Nat.gcd a b = Nat.gcd b a := Nat.gcd_comm a b

theorem gcd_computed : Nat.gcd 84 36 = 12 := by decide

theorem gcd_simp : Nat.gcd 84 36 = 12 := by simp

theorem euclid_lemma (a b c : Nat) (h₁ : Nat.Coprime a b) (h₂ : a ∣ b * c) : a ∣ c := h₁.dvd_of_dvd_mul_left h₂

theorem min_max (a b : Nat) : min a b + max a b = a + b := by omega

theorem max_comm_by_name (a b : Nat) : max a b = max b a := Nat.max_comm a b

theorem strong_induction_by_name (p : Nat → Prop) (h : ∀ n, (∀ m, m < n → p m) → p n) : ∀ n, p n :=
  fun n => Nat.strongRecOn n h

theorem infinitely_descending (f : Nat → Nat) : ¬∀ n, f (n + 1) < f n := by
  intro h
  have bound : ∀ n, f n + n ≤ f 0 := by
    intro n
    induction n with
    | zero => exact Nat.le_refl _
    | succ n ih =>
      have := h n
      omega
  have := bound (f 0 + 1)
  omega

theorem truncated_subtraction : 3 - 5 = 0 := rfl

theorem cube_bound (n : Nat) (h : 2 ≤ n) : n * n ≥ 2 * n := Nat.mul_le_mul_right n h
