-- One theorem or more for each tactic that a submission may use.

theorem intro_exact (p q : Prop) : p → q → p := by
  intro hp _
  exact hp

theorem intro_pattern (p q : Prop) : p ∧ q → q := by
  intro ⟨_, hq⟩
  exact hq

theorem apply_backward (p q r : Prop) (f : p → q) (g : q → r) : p → r := by
  intro hp
  apply g
  apply f
  exact hp

theorem refine_holes (p q : Prop) (hp : p) (hq : q) : (p ∧ q) ∧ q ∧ p := by
  refine ⟨⟨?_, ?_⟩, ?_, ?_⟩
  all_goals first | exact hp | exact hq

theorem constructor_both (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  · exact hp
  · exact hq

theorem constructor_iff (p q : Prop) : p ∧ q ↔ q ∧ p := by
  constructor <;> intro ⟨a, b⟩ <;> exact ⟨b, a⟩

theorem cases_or (p q : Prop) (h : p ∨ q) : q ∨ p := by
  cases h with
  | inl hp => right; exact hp
  | inr hq => left; exact hq

theorem cases_nat (n : Nat) (h : n ≠ 0) : ∃ m, n = m + 1 := by
  cases n with
  | zero => contradiction
  | succ m => exact ⟨m, rfl⟩

theorem cases_named_equation (b : Bool) : b = true ∨ b = false := by
  cases h : b
  · right; rfl
  · left; rfl

theorem rcases_deep (p q r : Prop) (h : p ∧ (q ∨ r)) : (p ∧ q) ∨ (p ∧ r) := by
  rcases h with ⟨hp, hq | hr⟩
  · exact Or.inl ⟨hp, hq⟩
  · exact Or.inr ⟨hp, hr⟩

theorem rintro_patterns (p q r : Prop) : p ∧ q ∧ r → r ∧ p := by
  rintro ⟨hp, -, hr⟩
  exact ⟨hr, hp⟩

theorem rintro_rfl (a b : Nat) : a = b → b = a := by
  rintro rfl
  rfl

theorem obtain_witness (P : Nat → Prop) (h : ∃ x, P x ∧ x > 0) : ∃ y, P y := by
  obtain ⟨x, hx, _⟩ := h
  exact ⟨x, hx⟩

theorem obtain_equation (n : Nat) (h : ∃ k, n = 2 * k) : n % 2 = 0 := by
  obtain ⟨k, rfl⟩ := h
  omega

theorem induction_plain (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [← Nat.add_assoc, ih]

theorem induction_cases_by_name (p : Nat → Prop) (h0 : p 0) (hs : ∀ n, p n → p (n + 1)) (n : Nat) : p n := by
  induction n
  case zero => exact h0
  case succ n ih => exact hs n ih

theorem induction_generalizing (a b : Nat) : a + b = b + a := by
  induction a generalizing b with
  | zero => simp
  | succ a ih => rw [Nat.succ_add, ih]; rfl

theorem induction_strong (p : Nat → Prop) (h : ∀ n, (∀ m, m < n → p m) → p n) (n : Nat) : p n := by
  induction n using Nat.strongRecOn with
  | ind n ih => exact h n ih

theorem match_in_tactics (n : Nat) (h : 0 < n) : ∃ m, n = m + 1 := by
  match n, h with
  | m + 1, _ => exact ⟨m, rfl⟩

theorem match_as_term : ∀ n : Nat, n = 0 ∨ 0 < n := fun
  | 0 => Or.inl rfl
  | _ + 1 => Or.inr (Nat.zero_lt_succ _)

theorem rw_chain (a b c : Nat) (h₁ : a = b) (h₂ : b = c) : a = c := by rw [h₁, h₂]

theorem rw_backward (a b : Nat) (f : Nat → Nat) (h : f a = b) : b = f a := by rw [← h]

theorem rw_at (a b c : Nat) (h : a + b = c) : b + a = c := by
  rw [Nat.add_comm] at h
  exact h

theorem rw_under_iff (p q r : Prop) (h : p ↔ q) : (p ∧ r) ↔ (q ∧ r) := by rw [h]

theorem rwa_assumption (a b : Nat) (h₁ : a = b) (h₂ : b = 5) : a = 5 := by rwa [h₁]

theorem nth_rw_by_conv (a b : Nat) (h : a = b) : a + a = b + a := by
  conv => lhs; lhs; rw [h]

theorem conv_ext (f : Nat → Nat) (h : ∀ x, 0 + x = x) : (fun x => f (0 + x)) = f := by
  conv => lhs; ext x; rw [h]

theorem conv_rhs (a b : Nat) (h : b = a) : a + 1 = b + 1 := by
  conv => rhs; rw [h]

theorem conv_at (a b c : Nat) (h : a + b = c) : b + a = c := by
  conv at h => lhs; rw [Nat.add_comm]
  exact h

theorem calc_equalities (a b c : Nat) (h₁ : a = b) (h₂ : b = c) : a = c := calc
  a = b := h₁
  _ = c := h₂

theorem calc_mixed (a b c d : Nat) (h₁ : a ≤ b) (h₂ : b < c) (h₃ : c = d) : a < d := calc
  a ≤ b := h₁
  _ < c := h₂
  _ = d := h₃

theorem calc_in_tactics (a b c : Int) (h₁ : a < b) (h₂ : b ≤ c) : a < c := by
  calc a < b := h₁
    _ ≤ c := h₂

theorem calc_iff (p q r : Prop) (h₁ : p ↔ q) (h₂ : q ↔ r) : p ↔ r := calc
  p ↔ q := h₁
  _ ↔ r := h₂

theorem calc_dvd (a b c : Nat) (h₁ : a ∣ b) (h₂ : b ∣ c) : a ∣ c := calc
  a ∣ b := h₁
  _ ∣ c := h₂

theorem split_goal (x : Nat) (h : x > 3) : (if x > 3 then 1 else 2) = 1 := by
  split
  · rfl
  · contradiction

theorem split_hypothesis (a b c : Nat) (h : (if a < b then c else c) = 3) : c = 3 := by
  split at h
  · exact h
  · exact h

theorem split_match (n : Nat) : (match n with | 0 => 1 | k + 1 => k + 1) ≠ 0 := by
  split <;> simp

theorem by_cases_decidable (n : Nat) : n = 3 ∨ n ≠ 3 := by
  by_cases h : n = 3
  · exact Or.inl h
  · exact Or.inr h

theorem by_cases_classical (p : Prop) : p ∨ ¬p := by
  by_cases h : p
  · exact Or.inl h
  · exact Or.inr h

theorem subst_variable (x y : Nat) (h : x = y) (h₂ : y = 5) : x = 5 := by
  subst h
  exact h₂

theorem subst_both_ways (a b : Nat) (f : Nat → Nat) (h : b = a) : f a = f b := by
  subst h
  rfl

theorem injection_succ (x y : Nat) (h : Nat.succ x = Nat.succ y) : x = y := by
  injection h

theorem injection_with (a b c d : Nat) (h : (a, b) = (c, d)) : b = d := by
  injection h with _ h₂

theorem injections_some (a b : Nat) (h : some a = some b) : a = b := by
  injections

theorem contradiction_hypotheses (p : Prop) (h : p) (h' : ¬p) : 1 = 2 := by contradiction

theorem contradiction_constructors (h : (0 : Nat) = 1) : False := by contradiction

theorem exfalso_then (p : Prop) (h : False) : p := by
  exfalso
  exact h

theorem absurd_used (p q : Prop) (h : p) (h' : ¬p) : q := by exact absurd h h'

theorem funext_used (f g : Nat → Nat) (h : ∀ x, f x = g x) : f = g := by
  funext x
  exact h x

theorem funext_two (f g : Nat → Nat → Nat) (h : ∀ x y, f x y = g x y) : f = g := by
  funext x y
  exact h x y

theorem ext_function (f g : Nat → Nat) (h : ∀ x, f x = g x) : f = g := by
  ext x
  exact h x

theorem ext_pair (p q : Nat × Nat) (h₁ : p.1 = q.1) (h₂ : p.2 = q.2) : p = q := by
  ext
  · exact h₁
  · exact h₂

def double (n : Nat) : Nat := n + n

theorem unfold_goal (n : Nat) : double n = n + n := by
  unfold double
  rfl

theorem unfold_hypothesis (n : Nat) (h : double n = 6) : n = 3 := by
  unfold double at h
  omega

theorem delta_by_simp (n : Nat) : double n = 2 * n := by
  simp only [double]
  omega

theorem specialize_used (P : Nat → Prop) (h : ∀ n, P n → P (n + 1)) (h₀ : P 0) : P 1 := by
  specialize h 0 h₀
  exact h

theorem show_then (n : Nat) : n < n + 1 := by
  show n + 1 ≤ n + 1
  exact Nat.le_refl _

theorem change_goal (n : Nat) : n + 1 = Nat.succ n := by
  change Nat.succ n = Nat.succ n
  rfl

theorem have_steps (a b c : Nat) (h₁ : a ≤ b) (h₂ : b ≤ c) : a ≤ c + 1 := by
  have h₃ : a ≤ c := Nat.le_trans h₁ h₂
  have : c ≤ c + 1 := by omega
  exact Nat.le_trans h₃ this

theorem have_pattern (p q : Prop) (h : p ∧ q) : q := by
  have ⟨_, hq⟩ := h
  exact hq

theorem let_value (a : Nat) : ∃ b, b = a + 1 := by
  let c := a + 1
  exact ⟨c, rfl⟩

theorem suffices_first (a b : Nat) (h : a = b) : b + 0 = a := by
  suffices h' : b = a by rw [h']; rfl
  exact h.symm

theorem suffices_from (p q : Prop) (hp : p) (h : p → q) : q := by
  suffices hp : p from h hp
  exact hp

theorem exists_tactic : ∃ n : Nat, n * n = 49 := by exists 7

theorem exists_two : ∃ a b : Nat, a + b = 5 ∧ a < b := by exists 2, 3

theorem exists_with_proof : ∃ n : Nat, n > 3 ∧ n < 5 := ⟨4, by decide, by decide⟩

theorem focus_dots (p q : Prop) (hp : p) (hq : q) : p ∧ q := by
  constructor
  · assumption
  · assumption

theorem seq_focus (p q r : Prop) (hp : p) (hq : q) (hr : r) : p ∧ q ∧ r := by
  refine ⟨?_, ?_, ?_⟩ <;> assumption

theorem first_alternative (a b : Nat) (h : a = b) : b = a := by
  first
    | exact h
    | exact h.symm

theorem try_and_repeat (p q r s : Prop) (hp : p) (hq : q) (hr : r) (hs : s) : (p ∧ q) ∧ (r ∧ s) := by
  constructor
  all_goals try constructor
  repeat first | assumption | constructor

theorem any_goals_used (p q : Prop) (hp : p) (h : p → q) : p ∧ q := by
  constructor
  any_goals exact hp
  exact h hp

theorem iterate_used (p q : Prop) : p → q → p ∧ q := by
  iterate 2 intro
  constructor <;> assumption

theorem next_and_rename (p q : Prop) : p → q → p := by
  intros
  rename_i hp _
  exact hp

theorem revert_intro (a b : Nat) (h : a = b) : b = a := by
  revert h
  intro h
  exact h.symm

theorem generalize_term (a b : Nat) (h : a * b + 1 = 1) : a * b = 0 := by
  generalize a * b = c at *
  omega

theorem clear_used (a b : Nat) (h : a = 1) (hb : b = 2) : b = 2 := by
  clear h a
  exact hb

theorem exact_with_by (a b : Nat) (h : a < b) : a ≤ b := Nat.le_of_lt (by exact h)

theorem symm_tactic (a b : Nat) (h : a = b) : b = a := by
  symm
  exact h

theorem trivial_tactic : True ∧ True := by constructor <;> trivial

theorem rfl_tactic (n : Nat) : n + 2 = Nat.succ (Nat.succ n) := by rfl

theorem ac_rfl_nat (a b c : Nat) : a + b + c = c + b + a := by ac_rfl

theorem ac_rfl_neutral (a b : Nat) : a + 0 + b = b + a := by ac_rfl

theorem ac_rfl_int (a b c : Int) : a * (b * c) = c * b * a := by ac_rfl

theorem congr_used (f : Nat → Nat) (a b : Nat) (h : a = b) : f a = f b := by congr

theorem nofun_used : ∀ n : Nat, n < 0 → False := by
  intro n h
  exact absurd h (Nat.not_lt_zero n)

theorem nomatch_used (h : (1 : Nat) = 0) : False := nomatch h

theorem by_contradiction_term (p : Prop) (h : ¬¬p) : p := Classical.byContradiction h

theorem false_or_by_contra_used (p : Prop) (h : ¬¬p) : p := by
  false_or_by_contra
  contradiction

theorem apply_question_arguments (a b c : Nat) (h₁ : a ≤ b) (h₂ : b ≤ c) : a ≤ c := by
  apply Nat.le_trans ?_ h₂
  exact h₁

theorem open_namespace (a b : Nat) : a + b = b + a := by
  open Nat in
  exact Nat.add_comm a b

theorem left_right (p q : Prop) (hq : q) : p ∨ q := by
  right
  exact hq

theorem norm_cast_used (a b : Nat) (h : (a : Int) + b = 3) : a + b = 3 := by exact_mod_cast h

theorem push_cast_used (a b : Nat) (h : (a : Int) * b = 6) : ((a * b : Nat) : Int) = 6 := by
  push_cast
  exact h

theorem sorry_is_a_warning : 1 + 1 = 3 := by sorry -- warning: declaration uses `sorry`
