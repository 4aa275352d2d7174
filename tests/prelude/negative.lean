-- What must fail, and how it is said.

theorem wrong_arithmetic : 1 + 1 = 3 := by rfl -- error: not definitionally equal

theorem wrong_type (p q : Prop) (h : q) : p := by exact h -- error: ype mismatch

theorem unknown_name (a b : Nat) : a + b = b + a := Nat.add_commute a b -- error: nknown

theorem unsolved (p q : Prop) (hp : p) (hq : q) : p ∧ q := by -- error: unsolved goals
  constructor
  · exact hp
  · skip

theorem no_such_rewrite (a b : Nat) (h : a = b) : b = 1 := by rw [h] -- error: Did not find an occurrence of the pattern

theorem not_by_assumption (p q : Prop) (h : p) : q := by assumption -- error: Tactic `assumption` failed

theorem contradiction_absent (p : Prop) (h : p) : p ∧ p := by contradiction -- error: Tactic `contradiction` failed

theorem non_exhaustive (n : Nat) : n = n := by
  cases n with -- error: Alternative `succ` has not been provided
  | zero => rfl

theorem missing_induction_case (n : Nat) : n + 0 = n := by
  induction n with -- error: Alternative `zero` has not been provided
  | succ n ih => rfl

theorem unknown_tactic (p : Prop) : p → p := by nosuchtactic -- error: unknown tactic

theorem mathlib_tactic (a b : Nat) : a + b = b + a := by linarith -- error: unknown tactic

theorem not_inductive (p : Prop) : p := by constructor -- error: Tactic `constructor` failed

theorem circular (p : Prop) : p := circular p -- error: fail to show termination

theorem existential_without_witness : ∃ n : Nat, n = 3 := by exists 4 -- error: unsolved goals

theorem bad_apply (a b : Nat) (h : a ≤ b) : a < b := by apply h -- error: could not unify

theorem bad_intro (a b : Nat) : a = b := by intro x -- error: Tactic `introN` failed

theorem bad_calc (a b c : Nat) (h₁ : a = b) (h₂ : b = c) : a = b := calc -- error: invalid 'calc' step
  a = b := h₁
  _ = c := h₂

theorem bad_split (a : Nat) : a = a + 0 := by split -- error: Could not split

theorem bad_subst (a b : Nat) (h : a + 1 = b + 1) : a = b := by subst h -- error: Tactic `subst` failed

theorem false_statement : False := by trivial -- error: Tactic `assumption` failed

theorem after_an_error (p : Prop) (h : p) : p := h
