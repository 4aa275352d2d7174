-- Integers: `ℤ` reads as `Int`, ring and order laws, casts, division.

theorem blackboard_z : ∀ a : ℤ, a + 0 = a := by omega

theorem blackboard_z_simp (a : ℤ) : a - a = 0 := by simp

theorem numerals : (3 : ℤ) - 5 = -2 := by decide

theorem numerals_rfl : (-7 : Int) * 6 = -42 := rfl

theorem add_comm_by_name (a b : Int) : a + b = b + a := Int.add_comm a b

theorem add_assoc_by_name (a b c : Int) : a + b + c = a + (b + c) := Int.add_assoc a b c

theorem mul_comm_by_name (a b : Int) : a * b = b * a := Int.mul_comm a b

theorem mul_assoc_by_name (a b c : Int) : a * b * c = a * (b * c) := Int.mul_assoc a b c

theorem mul_left_comm_by_name (a b c : Int) : a * (b * c) = b * (a * c) := Int.mul_left_comm a b c

theorem distributes (a b c : Int) : a * (b + c) = a * b + a * c := Int.mul_add a b c

theorem neg_add_by_name (a b : Int) : -(a + b) = -a + -b := Int.neg_add

theorem sub_as_add (a b : Int) : a - b = a + -b := Int.sub_eq_add_neg

theorem neg_neg_simp (a : Int) : - -a = a := by simp

theorem product_of_negatives (a b : Int) : -a * -b = a * b := Int.neg_mul_neg a b

theorem cancel (a b c : Int) (h : a + b = a + c) : b = c := Int.add_left_cancel h

theorem square_of_difference (a b : Int) : (a - b) * (a - b) = a * a - 2 * (a * b) + b * b := by
  rw [Int.sub_mul, Int.mul_sub, Int.mul_sub, Int.mul_comm b a]
  omega

theorem difference_of_squares (a b : Int) : (a + b) * (a - b) = a * a - b * b := by
  rw [Int.add_mul, Int.mul_sub, Int.mul_sub, Int.mul_comm b a]
  omega

theorem square_nonneg (a : Int) : 0 ≤ a * a := Int.mul_self_nonneg a

theorem am_gm (a b : Int) : 2 * (a * b) ≤ a * a + b * b := by
  have h := Int.mul_self_nonneg (a - b)
  rw [Int.sub_mul, Int.mul_sub, Int.mul_sub, Int.mul_comm b a] at h
  omega

theorem order_antisymm (a b : Int) (h₁ : a ≤ b) (h₂ : b ≤ a) : a = b := Int.le_antisymm h₁ h₂

theorem order_trans (a b c : Int) (h₁ : a ≤ b) (h₂ : b ≤ c) : a ≤ c := Int.le_trans h₁ h₂

theorem order_total (a b : Int) : a ≤ b ∨ b ≤ a := Int.le_total a b

theorem not_le_by_name (a b : Int) : ¬a ≤ b ↔ b < a := Int.not_le

theorem mul_pos_by_name (a b : Int) (ha : 0 < a) (hb : 0 < b) : 0 < a * b := Int.mul_pos ha hb

theorem mul_eq_zero_by_name (a b : Int) : a * b = 0 ↔ a = 0 ∨ b = 0 := Int.mul_eq_zero

theorem monotone (a b c : Int) (h : a ≤ b) (hc : 0 ≤ c) : c * a ≤ c * b := Int.mul_le_mul_of_nonneg_left h hc

theorem cast_add (a b : Nat) : ((a + b : Nat) : Int) = (a : Int) + b := Int.natCast_add a b

theorem cast_injective (a b : Nat) (h : (a : Int) = b) : a = b := Int.natCast_inj.1 h

theorem cast_order (a b : Nat) : (a : Int) ≤ b ↔ a ≤ b := Int.natCast_le

theorem nonneg_is_nat (a : Int) (h : 0 ≤ a) : ∃ n : Nat, a = n := Int.eq_ofNat_of_zero_le h

theorem natAbs_of_neg (a : Int) : (-a).natAbs = a.natAbs := Int.natAbs_neg a

theorem natAbs_product (a b : Int) : (a * b).natAbs = a.natAbs * b.natAbs := Int.natAbs_mul a b

theorem toNat_omega (a : Int) (h : 3 ≤ a) : (a.toNat : Int) = a := by omega

theorem emod_nonneg_by_name (a b : Int) (h : b ≠ 0) : 0 ≤ a % b := Int.emod_nonneg a h

theorem emod_lt_by_name (a b : Int) (h : 0 < b) : a % b < b := Int.emod_lt_of_pos a h

theorem division_algorithm (a b : Int) : b * (a / b) + a % b = a := Int.ediv_add_emod a b

theorem emod_two (a : Int) : a % 2 = 0 ∨ a % 2 = 1 := Int.emod_two_eq a

theorem mul_emod_by_name (a b n : Int) : a * b % n = a % n * (b % n) % n := Int.mul_emod a b n

theorem negative_quotient : (-7 : Int) / 2 = -4 ∧ (-7 : Int) % 2 = 1 := by decide

theorem dvd_trans_by_name (a b c : Int) (h₁ : a ∣ b) (h₂ : b ∣ c) : a ∣ c := Int.dvd_trans h₁ h₂

theorem dvd_difference (a b c : Int) (h₁ : a ∣ b) (h₂ : a ∣ c) : a ∣ b - c := Int.dvd_sub h₁ h₂

theorem dvd_decided : (3 : Int) ∣ -12 ∧ ¬(5 : Int) ∣ 12 := by decide

theorem dvd_nat_cast (a b : Nat) : (a : Int) ∣ b ↔ a ∣ b := Int.natCast_dvd_natCast

theorem cases_on_sign (a : Int) : ∃ n : Nat, a = n ∨ a = -n := by
  cases a with
  | ofNat n => exact ⟨n, Or.inl rfl⟩
  | negSucc n => exact ⟨n + 1, Or.inr rfl⟩

theorem induction_both_ways (p : Int → Prop) (h₀ : p 0) (up : ∀ n, p n → p (n + 1)) (down : ∀ n, p n → p (n - 1)) (a : Int) :
    p a := by
  induction a using Int.induction_on with
  | zero => exact h₀
  | succ n ih => exact up n ih
  | pred n ih => exact down (-n) ih

theorem power (a : Int) : a ^ 2 = a * a := Int.pow_two a

theorem power_decided : (-2 : Int) ^ 3 = -8 := by decide

theorem ring_by_rewriting (a b c : Int) : a * (b + c) - a * b = a * c := by
  rw [Int.mul_add]
  omega
