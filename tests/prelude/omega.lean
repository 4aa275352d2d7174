-- Linear arithmetic: everything the compiled `omega` knows how to read.

theorem strict_to_weak (a b : Nat) (h : a < b) : a + 1 ≤ b := by omega

theorem antisymm (a b : Nat) (h : a ≤ b) (h₂ : b ≤ a) : a = b := by omega

theorem integer_combination (x y : Int) (h : 2 * x + 3 * y = 7) (h₂ : x > 3) : y < 1 := by omega

theorem parity_obstruction (x y : Int) : 4 * x + 6 * y ≠ 5 := by omega

theorem hard_equality (x y : Int) (h : 5 * x + 7 * y = 1) (h₁ : 0 ≤ x) (h₂ : x < 7) : x = 3 := by omega

theorem hard_equalities (x y : Int) (h₁ : 7 * x - 12 * y = 17) (h₂ : 5 * x + 3 * y = 1) (h₃ : 3 * x = 4) : False := by omega

theorem three_unknowns (x y z : Int) (h : 12 * x + 21 * y + 30 * z = 5) : False := by omega

theorem rounding (x : Int) (h : 3 * x ≤ 10) : x ≤ 3 := by omega

theorem nat_subtraction (a b : Nat) (h : a - b = 0) (h' : b ≤ a) : a = b := by omega

theorem nat_subtraction_nested (a b c : Nat) : a - b - c = a - (b + c) := by omega

theorem nat_subtraction_cast (a b : Nat) (h : b ≤ a) : ((a - b : Nat) : Int) = a - b := by omega

theorem quotient_literal (n : Nat) : n / 2 ≤ n := by omega

theorem quotient_of_quotient (x : Nat) : x / 2 / 3 = x / 6 := by omega

theorem quotient_negative (x : Int) : x / (-3) = -(x / 3) := by omega

theorem quotient_by_zero (x : Nat) : x / 0 = 0 := by omega

theorem remainder_range (x : Int) : 0 ≤ x % 5 ∧ x % 5 < 5 := by omega

theorem remainder_of_remainder (x : Nat) : x % 4 % 2 = x % 2 := by omega

theorem odd_not_zero (n : Nat) (h : n % 2 = 1) : n ≠ 0 := by omega

theorem floor_symmetry (x : Int) : -x / 2 + (x + 1) / 2 = 0 := by omega

theorem divides_literal (x : Nat) (h : 6 ∣ x) : 3 ∣ x := by omega

theorem divides_not (x : Int) (h : ¬2 ∣ x) : x % 2 = 1 := by omega

theorem conjunction (a b : Nat) (h : a < b ∧ b < a + 2) : b = a + 1 := by omega

theorem disjunction (a b c : Nat) (h : a < b ∨ a < c) (h₂ : b ≤ 5) (h₃ : c ≤ 5) : a < 5 := by omega

theorem negated_disjunction (a b : Nat) (h : ¬(a < b ∨ b < a)) : a = b := by omega

theorem negated_conjunction (x y : Nat) : ¬(x < y ∧ y < x + 1) := by omega

theorem implication (p q : Nat) (h : p < q → q < p) : q ≤ p := by omega

theorem equivalence (a b : Nat) (h : a ≤ b ↔ b ≤ a) : a = b := by omega

theorem negated_equivalence (x y : Nat) (h : ¬(x ≤ y ↔ x < y)) : x = y := by omega

theorem disequality (x y : Nat) (h : x ≠ y) (h₂ : x ≤ y) : x < y := by omega

theorem existential_hypothesis (h : ∃ x : Nat, 2 * x = 5) : False := by omega

theorem goal_disjunction (a b : Nat) : a < b ∨ a = b ∨ b < a := by omega

theorem minimum (a b : Nat) : min a b ≤ a := by omega

theorem minimum_maximum (a b : Int) : max a b + min a b = a + b := by omega

theorem if_then_else (a b : Int) : (if a < b then a else b) ≤ a := by omega

theorem if_then_else_nat (a b : Nat) : (if a < b then a else b) ≤ a := by
  split <;> omega

theorem absolute_value (x : Int) : x ≤ x.natAbs ∧ -x ≤ x.natAbs := by omega

theorem to_nat (x : Int) : x ≤ x.toNat := by omega

theorem casts (a b : Nat) (h : (a : Int) - b = 3) : a = b + 3 := by omega

theorem shift_left (x : Nat) : x <<< 3 = 8 * x := by omega

theorem shift_right (x : Nat) : x >>> 2 = x / 4 := by omega

theorem powers_of_two (x : Nat) (h : x < 2 ^ 4) : x ≤ 15 := by omega

theorem power_successor (n : Nat) : 2 ^ (n + 1) = 2 * 2 ^ n := by omega

theorem successor (x y : Nat) (h : Nat.succ x = y) : x < y := by omega

theorem opaque_terms (f : Nat → Nat) (x y : Nat) (h : 2 * (f x * y) < 2) : f x * y = 0 := by omega

theorem projections (x : Nat × Nat) (h : x.1 < x.2) : x.2 > 0 := by omega

theorem subtype_bound (x : { n : Nat // n < 5 }) : x.val < 6 := by omega

theorem fin_bound (i : Fin 5) : i.val < 5 := by omega

theorem fin_order (i j : Fin 7) (h : i < j) : i.val + 1 ≤ j.val := by omega

theorem many_atoms (a b c d e f g h i j k l : Nat) (s : a + b + c + d + e + f + g + h + i + j + k + l = 0) : l = 0 := by omega

theorem long_chain (a b c d e f g h i j k l m : Int) (h₁ : a < b) (h₂ : b < c) (h₃ : c < d) (h₄ : d < e) (h₅ : e < f)
    (h₆ : f < g) (h₇ : g < h) (h₈ : h < i) (h₉ : i < j) (h₁₀ : j < k) (h₁₁ : k < l) (h₁₂ : l < m) : a + 12 ≤ m := by omega

theorem index_arithmetic (i n : Nat) (h : i < n) : n - 1 - i < n := by omega

theorem after_intro : ∀ a b : Nat, a ≤ b → ∃ c, b = a + c := by
  intro a b h
  exact ⟨b - a, by omega⟩

theorem false_claim (a b : Nat) (h : a ≤ b) : b ≤ a := by omega -- error: omega could not prove the goal

theorem nonlinear (a b : Nat) (h : 0 < a) (h' : 0 < b) : a ≤ a * b := by omega -- error: omega could not prove the goal
