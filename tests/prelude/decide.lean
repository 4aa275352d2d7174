-- Decision procedures by instance.

theorem closed_equation : 2 + 2 = 4 := by decide

theorem closed_disequation : 2 + 2 ≠ 5 := by decide

theorem connectives : (1 < 2 ∧ 3 ≤ 3) ∨ ¬(0 = 0) := by decide

theorem implication : 1 = 2 → 3 = 4 := by decide

theorem equivalence : 1 < 2 ↔ 5 ≤ 7 := by decide

theorem divisibility : 7 ∣ 91 ∧ ¬7 ∣ 92 := by decide

theorem integers : (-3 : Int) < 2 ∧ (-3 : Int) * -3 = 9 := by decide

theorem bounded_lt : ∀ x < 5, x * x < 25 := by decide

theorem bounded_le : ∀ x ≤ 4, x ^ 2 ≤ 16 := by decide

theorem bounded_exists_lt : ∃ x < 10, x * x = 49 := by decide

theorem bounded_exists_le : ∃ x ≤ 7, x * x = 49 := by decide

theorem bounded_two : ∀ x < 6, ∀ y < 6, x * y = y * x := by decide

theorem bounded_between : ∀ x, 3 ≤ x → x < 9 → x * x < 81 := by decide

theorem primality : ∀ d < 13, d ∣ 13 → d = 1 := by decide

theorem booleans : ∀ a b : Bool, (a && b) = (b && a) := by decide

theorem boolean_exists : ∃ b : Bool, (!b) = true := by decide

theorem finite : ∀ i : Fin 6, i.val * i.val < 36 := by decide

theorem pairs : (1, 2) ≠ (2, 1) := by decide

theorem options : some 3 ≠ none := by decide

theorem sums : (Sum.inl 3 : Sum Nat Bool) ≠ Sum.inr true := by decide

theorem lists : [1, 2] ++ [3] = [1, 2, 3] := by decide

theorem strings : "ab" ≠ "ba" := by decide

theorem propositions : (True ∧ False) = False := by decide

theorem kernel_arithmetic : 2 ^ 64 % 1000000007 = 582344008 := by decide

theorem bitwise : 12 &&& 10 = 8 ∧ 12 ||| 10 = 14 ∧ 12 ^^^ 10 = 6 := by decide

theorem greatest_common_divisor : Nat.gcd 1071 462 = 21 := by decide

theorem decide_as_bool : decide (3 < 5) = true := rfl

theorem if_computes : (if 3 ∣ 9 then 1 else 0) = 1 := by decide

theorem false_equation : 2 + 2 = 5 := by decide -- error: is false

theorem false_bounded : ∀ x < 5, x * x < 16 := by decide -- error: is false

theorem free_variable (n : Nat) : n + 0 = n := by decide -- error: Expected type must not contain free variables

theorem unbounded : ∀ n : Nat, n < n + 1 := by decide -- error: failed to synthesize
