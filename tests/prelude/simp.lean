-- `simp` in all its forms, with the default simp set.

theorem plain (a b : Nat) (h : a = b) : b = a := by simp [h]

theorem closes_arithmetic : 10 * 10 = 100 := by simp

theorem numeral_order : 3 < 5 ∧ ¬5 ≤ 3 := by simp

theorem numeral_division : 17 / 5 = 3 ∧ 17 % 5 = 2 := by simp

theorem int_numerals : (3 : Int) - 5 = -2 := by simp

theorem int_division : (-7 : Int) / 2 = -4 := by simp

theorem offset_equation (x : Nat) (h : x + 3 = 5) : x = 2 := by
  simp at h
  exact h

theorem offset_both_sides (x y : Nat) (h : x + 5 = y + 3) : x + 2 = y := by
  simp at h
  exact h

theorem offset_order (x y : Nat) (h : x + 5 ≤ y + 7) : x ≤ y + 2 := by
  simp at h
  exact h

theorem offset_subtraction (a b : Nat) : a + 5 - (b + 3) = a + 2 - b := by simp

theorem subtraction_of_literal (a : Nat) : a + 5 - 3 = a + 2 := by simp

theorem boolean_equality (a b : Nat) : (a + 1 == b + 1) = (a == b) := by simp

theorem boolean_equality_to_prop (a b : Nat) (h : (a == b) = true) : a = b := by simpa using h

theorem not_equal_bool (a b : Nat) (h : a ≠ b) : (a == b) = false := by simp [h]

theorem bne_to_prop (a b : Nat) (h : (a != b) = true) : a ≠ b := by simpa using h

theorem decide_to_prop (a b : Nat) (h : decide (a < b) = true) : a < b := by simpa using h

theorem bool_not (b : Bool) (h : ¬b = true) : b = false := by simpa using h

theorem bool_and (a b : Bool) (h : (a && b) = true) : a = true := by simp at h; exact h.1

theorem only_lemmas (a b c : Nat) (h : a = b) : a + c = b + c := by simp only [h]

theorem only_with_arith (a b c : Nat) : a + b + c = c + b + a := by
  simp only [Nat.add_comm, Nat.add_left_comm]

theorem at_hypothesis (a b : Nat) (h : a + 0 = b) : b = a := by
  simp at h
  rw [h]

theorem at_star (a b : Nat) (h : a + 0 = 0 + b) : a * 1 = b := by
  simp at *
  exact h

theorem simpa_using (p q : Prop) (h : ¬(p ∨ q)) : ¬p ∧ ¬q := by simpa using h

theorem simpa_lemma (a b : Nat) (h : a = b + 0) : a = b := by simpa using h

theorem simp_all_propagates (p q r : Prop) (h : p ∧ q) (hr : q → r) : r := by simp_all

theorem simp_all_equations (a b c : Nat) (h₁ : a = b) (h₂ : b = c) : a = c := by simp_all

theorem with_definition_rewrites (f : Nat → Nat) (hf : ∀ x, f x = x + 1) : f (f 0) = 2 := by simp [hf]

theorem with_arrow (f : Nat → Nat) (h : ∀ x, 0 < x → f x = 1) : f 3 = 1 := by simp [h]

theorem reverse_direction (a b : Nat) (h : a = b) : b = a := by simp [← h]

theorem conditional (p : Prop) [Decidable p] (h : p) : (if p then 1 else 2) = 1 := by simp [h]

theorem conditional_negative (p : Prop) [Decidable p] (h : ¬p) : (if p then 1 else 2) = 2 := by simp [h]

theorem conditional_same (p : Prop) [Decidable p] : (if p then 1 else 1) = 1 := by simp

theorem forall_equation (P : Nat → Prop) : (∀ x, x = 3 → P x) ↔ P 3 := by simp

theorem exists_equation (P : Nat → Prop) : (∃ x, x = 3 ∧ P x) ↔ P 3 := by simp

theorem de_morgan (p q : Prop) : ¬(p ∧ q) ↔ (p → ¬q) := by simp

theorem constructor_injective (a b c d : Nat) : (a, b) = (c, d) ↔ a = c ∧ b = d := by simp

theorem constructor_disjoint (a : Nat) (l : List Nat) : a :: l ≠ [] := by simp

theorem some_injective (a b : Nat) : some a = some b ↔ a = b := by simp

theorem under_binder (f : Nat → Nat) : (fun x => f (x + 0)) = f := by simp

theorem under_have (a b : Nat) (h : a = b) : (have x := a; x + 1) = b + 1 := by simp [h]

theorem under_let (a b : Nat) (h : a = b) : (let x := a; x + x) = b + b := by simp [h]

theorem divisibility : 3 ∣ 9 ∧ ¬3 ∣ 10 := by simp

theorem divisibility_int : (3 : Int) ∣ -9 ∧ ¬(3 : Int) ∣ 10 := by simp

theorem strings_differ : "abc" ≠ "abd" := by simp

theorem char_differ : 'a' ≠ 'b' := by decide

theorem trace_free_congr (f g : Nat → Nat) (h : ∀ x, f x = g x) (a : Nat) : f (a + 0) = g a := by simp [h]

theorem dsimp_used (a : Nat) : (fun x : Nat => x + 1) a = a + 1 := by dsimp

theorem no_progress (a b : Nat) (h : a < b) : a < b := by simp only [Nat.mul_comm] -- error: `simp` made no progress

theorem leaves_goal (a b : Nat) : a + 0 = b := by simp -- error: unsolved goals

theorem arith_valid (a b : Nat) : a < 1 + b + a := by simp +arith

theorem arith_cancels (a b c : Nat) : a + b + c ≤ c + a + b := by simp +arith

theorem arith_contradiction (a b : Nat) (h : a + b < b + a) : False := by simp +arith at h

theorem arith_normalizes (a b : Nat) (h : 2 * a + b ≤ a + b + 3) : a ≤ 3 := by simpa +arith using h

theorem size_of_tail (x : Nat) (xs : List Nat) : sizeOf xs < sizeOf (x :: xs) := by simp +arith
