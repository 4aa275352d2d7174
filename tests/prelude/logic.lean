-- Propositions and quantifiers, with the lemma names of Lean's library.

theorem and_swap (p q : Prop) : p ∧ q → q ∧ p := fun ⟨hp, hq⟩ => ⟨hq, hp⟩

theorem and_comm_by_name (p q : Prop) : p ∧ q ↔ q ∧ p := And.comm

theorem or_comm_by_name (p q : Prop) : p ∨ q ↔ q ∨ p := Or.comm

theorem and_assoc_by_name (p q r : Prop) : (p ∧ q) ∧ r ↔ p ∧ q ∧ r := and_assoc

theorem or_assoc_by_name (p q r : Prop) : (p ∨ q) ∨ r ↔ p ∨ q ∨ r := or_assoc

theorem distributes (p q r : Prop) : p ∧ (q ∨ r) ↔ (p ∧ q) ∨ (p ∧ r) := and_or_left

theorem curry (p q r : Prop) : (p → q → r) ↔ (p ∧ q → r) := by simp

theorem contrapositive (p q : Prop) (h : p → q) : ¬q → ¬p := mt h

theorem contrapositive_back (p q : Prop) (h : ¬q → ¬p) : p → q := not_imp_not.1 h

theorem de_morgan_or (p q : Prop) : ¬(p ∨ q) ↔ ¬p ∧ ¬q := not_or

theorem de_morgan_and (p q : Prop) : ¬(p ∧ q) ↔ ¬p ∨ ¬q := not_and_or

theorem de_morgan_and_classical (p q : Prop) : ¬(p ∧ q) ↔ ¬p ∨ ¬q := Classical.not_and_iff_not_or_not

theorem de_morgan_by_hand (p q : Prop) : ¬(p ∧ q) → ¬p ∨ ¬q := by
  intro h
  by_cases hp : p
  · right
    intro hq
    exact h ⟨hp, hq⟩
  · left
    exact hp

theorem double_negation (p : Prop) : ¬¬p ↔ p := Classical.not_not

theorem double_negation_simp (p : Prop) : ¬¬p ↔ p := by simp

theorem peirce (p q : Prop) : ((p → q) → p) → p := by
  intro h
  by_cases hp : p
  · exact hp
  · exact h fun k => absurd k hp

theorem excluded_middle (p : Prop) : p ∨ ¬p := Classical.em p

theorem not_imp_iff (p q : Prop) : ¬(p → q) ↔ p ∧ ¬q := Classical.not_imp

theorem imp_as_or (p q : Prop) : (p → q) ↔ ¬p ∨ q := imp_iff_not_or

theorem or_as_imp (p q : Prop) : p ∨ q ↔ (¬p → q) := or_iff_not_imp_left

theorem exists_and (P : Nat → Prop) (q : Prop) : (∃ x, P x ∧ q) ↔ (∃ x, P x) ∧ q := exists_and_right

theorem exists_or_distributes (P Q : Nat → Prop) : (∃ x, P x ∨ Q x) ↔ (∃ x, P x) ∨ ∃ x, Q x := exists_or

theorem forall_and_distributes (P Q : Nat → Prop) : (∀ x, P x ∧ Q x) ↔ (∀ x, P x) ∧ ∀ x, Q x := forall_and

theorem not_exists_iff (P : Nat → Prop) : (¬∃ x, P x) ↔ ∀ x, ¬P x := not_exists

theorem not_forall_iff (P : Nat → Prop) : (¬∀ x, P x) ↔ ∃ x, ¬P x := Classical.not_forall

theorem exists_imp_forall (P : Nat → Prop) (q : Prop) : ((∃ x, P x) → q) ↔ ∀ x, P x → q := exists_imp

theorem swap_quantifiers (P : Nat → Nat → Prop) (h : ∃ x, ∀ y, P x y) : ∀ y, ∃ x, P x y := by
  obtain ⟨x, hx⟩ := h
  intro y
  exact ⟨x, hx y⟩

theorem drinker (α : Type) [Nonempty α] (P : α → Prop) : ∃ x, P x → ∀ y, P y := by
  by_cases h : ∃ x, ¬P x
  · obtain ⟨x, hx⟩ := h
    exact ⟨x, fun k => absurd k hx⟩
  · have h : ∀ x, P x := Classical.not_exists_not.1 h
    exact ⟨Classical.ofNonempty, fun _ => h⟩

theorem iff_trans_named (p q r : Prop) (h₁ : p ↔ q) (h₂ : q ↔ r) : p ↔ r := h₁.trans h₂

theorem iff_refl_named (p : Prop) : p ↔ p := Iff.rfl

theorem iff_symm_named (p q : Prop) (h : p ↔ q) : q ↔ p := h.symm

theorem iff_congr_named (p q r s : Prop) (h₁ : p ↔ r) (h₂ : q ↔ s) : (p ∧ q) ↔ (r ∧ s) := and_congr h₁ h₂

theorem or_elim_term (p q r : Prop) (h : p ∨ q) (f : p → r) (g : q → r) : r := h.elim f g

theorem resolve (p q : Prop) (h : p ∨ q) (hp : ¬p) : q := h.resolve_left hp

theorem eq_trans_symm (α : Type) (a b c : α) (h₁ : a = b) (h₂ : c = b) : a = c := h₁.trans h₂.symm

theorem ne_symm_named (a b : Nat) (h : a ≠ b) : b ≠ a := h.symm

theorem triangle_rewrite (α : Type) (a b : α) (P : α → Prop) (h : a = b) (ha : P a) : P b := h ▸ ha

theorem congr_named (f g : Nat → Nat) (a b : Nat) (h₁ : f = g) (h₂ : a = b) : f a = g b := congr h₁ h₂

theorem prop_extensionality (p q : Prop) (h : p ↔ q) : p = q := propext h

theorem choice_principle (P : Nat → Nat → Prop) (h : ∀ x, ∃ y, P x y) : ∃ f : Nat → Nat, ∀ x, P x (f x) :=
  ⟨fun x => Classical.choose (h x), fun x => Classical.choose_spec (h x)⟩

theorem exists_unique_by_hand : ∃ x : Nat, x + 2 = 5 ∧ ∀ y, y + 2 = 5 → y = x := by
  refine ⟨3, rfl, ?_⟩
  intro y hy
  omega

theorem comp_assoc_named (f g h : Nat → Nat) : (f ∘ g) ∘ h = f ∘ (g ∘ h) := rfl

theorem comp_apply_simp (f g : Nat → Nat) (x : Nat) : (f ∘ g) x = f (g x) := by simp

theorem injective_comp (f g : Nat → Nat) (hf : Function.Injective f) (hg : Function.Injective g) :
    Function.Injective (g ∘ f) := by
  intro x y h
  exact hf (hg h)

theorem cantor (f : Nat → Nat → Prop) : ∃ s : Nat → Prop, ∀ n, f n ≠ s := by
  refine ⟨fun n => ¬f n n, fun n h => ?_⟩
  have h : f n n = ¬f n n := congrFun h n
  by_cases k : f n n
  · exact (h ▸ k) k
  · exact k (h ▸ k)

theorem russell : ¬∃ R : Nat → Prop, ∃ n, (R n ↔ ¬R n) := by
  rintro ⟨R, n, h⟩
  exact iff_not_self h

theorem option_cases (o : Option Nat) : o = none ∨ ∃ x, o = some x := by
  cases o with
  | none => exact Or.inl rfl
  | some x => exact Or.inr ⟨x, rfl⟩

theorem option_map_simp (x : Nat) : (some x).map (· + 1) = some (x + 1) := by simp

theorem pair_eta (p : Nat × Nat) : (p.1, p.2) = p := rfl

theorem pair_injective (a b c d : Nat) (h : (a, b) = (c, d)) : a = c ∧ b = d := by simpa using h

theorem sum_disjoint (a b : Nat) : (Sum.inl a : Sum Nat Nat) ≠ Sum.inr b := by simp

theorem subtype_ext (a b : { n : Nat // 2 < n }) (h : a.val = b.val) : a = b := Subtype.ext h

theorem unit_unique (a b : Unit) : a = b := rfl

theorem ac_rfl_idempotent (p q r : Prop) : (p ∧ q ∧ r ∧ p) = (r ∧ q ∧ p) := by ac_rfl
