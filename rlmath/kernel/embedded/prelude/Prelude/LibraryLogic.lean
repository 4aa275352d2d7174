prelude
import Prelude.Simp
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w u₁ u₂

/-! Connectives, quantifiers, functions, pairs, options and `Bool`: the lemmas that a proof quotes by the name they have in Lean's library. -/

section
variable {a b c d p q r : Prop}

-- ===== ∧ and ∨ =====
theorem And.comm : a ∧ b ↔ b ∧ a := and_comm
theorem Or.comm : a ∨ b ↔ b ∨ a := or_comm
theorem And.imp (f : a → c) (g : b → d) (h : a ∧ b) : c ∧ d := ⟨f h.1, g h.2⟩
theorem And.imp_left (h : a → b) : a ∧ c → b ∧ c := And.imp h id
theorem And.imp_right (h : a → b) : c ∧ a → c ∧ b := And.imp id h
theorem Or.imp (f : a → c) (g : b → d) (h : a ∨ b) : c ∨ d := h.elim (fun x => .inl (f x)) fun x => .inr (g x)
theorem Or.imp_left (f : a → b) : a ∨ c → b ∨ c := Or.imp f id
theorem Or.imp_right (f : b → c) : a ∨ b → a ∨ c := Or.imp id f
theorem Or.rotate (h : a ∨ b ∨ c) : b ∨ c ∨ a := h.elim (fun x => .inr (.inr x)) fun h => h.elim .inl fun x => .inr (.inl x)
theorem and_left_comm : a ∧ b ∧ c ↔ b ∧ a ∧ c := ⟨fun ⟨x, y, z⟩ => ⟨y, x, z⟩, fun ⟨x, y, z⟩ => ⟨y, x, z⟩⟩
theorem and_right_comm : (a ∧ b) ∧ c ↔ (a ∧ c) ∧ b := ⟨fun ⟨⟨x, y⟩, z⟩ => ⟨⟨x, z⟩, y⟩, fun ⟨⟨x, z⟩, y⟩ => ⟨⟨x, y⟩, z⟩⟩
theorem or_left_comm : a ∨ b ∨ c ↔ b ∨ a ∨ c := by rw [← or_assoc, ← or_assoc, or_comm (a := a)]
theorem or_right_comm : (a ∨ b) ∨ c ↔ (a ∨ c) ∨ b := by rw [or_assoc, or_assoc, or_comm (a := b)]
theorem and_or_left : a ∧ (b ∨ c) ↔ a ∧ b ∨ a ∧ c :=
  ⟨fun ⟨x, h⟩ => h.imp (fun y => ⟨x, y⟩) fun y => ⟨x, y⟩, fun h => h.elim (fun ⟨x, y⟩ => ⟨x, .inl y⟩) fun ⟨x, y⟩ => ⟨x, .inr y⟩⟩
theorem or_and_right : (a ∨ b) ∧ c ↔ a ∧ c ∨ b ∧ c := by rw [and_comm, and_or_left, and_comm (a := c), and_comm (a := c)]
theorem or_and_left : a ∨ b ∧ c ↔ (a ∨ b) ∧ (a ∨ c) :=
  ⟨fun h => h.elim (fun x => ⟨.inl x, .inl x⟩) fun ⟨y, z⟩ => ⟨.inr y, .inr z⟩,
    fun ⟨h, k⟩ => h.elim .inl fun y => k.elim .inl fun z => .inr ⟨y, z⟩⟩
theorem and_or_right : a ∧ b ∨ c ↔ (a ∨ c) ∧ (b ∨ c) := by rw [or_comm, or_and_left, or_comm (a := c), or_comm (a := c)]
theorem and_congr_left (h : c → (a ↔ b)) : a ∧ c ↔ b ∧ c := ⟨fun ⟨x, z⟩ => ⟨(h z).1 x, z⟩, fun ⟨x, z⟩ => ⟨(h z).2 x, z⟩⟩
theorem and_congr_right (h : a → (b ↔ c)) : a ∧ b ↔ a ∧ c := ⟨fun ⟨x, y⟩ => ⟨x, (h x).1 y⟩, fun ⟨x, y⟩ => ⟨x, (h x).2 y⟩⟩
theorem and_iff_left (h : b) : a ∧ b ↔ a := ⟨And.left, fun x => ⟨x, h⟩⟩
theorem and_iff_right (h : a) : a ∧ b ↔ b := ⟨And.right, fun y => ⟨h, y⟩⟩
theorem and_iff_left_of_imp (h : a → b) : a ∧ b ↔ a := ⟨And.left, fun x => ⟨x, h x⟩⟩
theorem and_iff_right_of_imp (h : b → a) : a ∧ b ↔ b := ⟨And.right, fun y => ⟨h y, y⟩⟩
theorem or_iff_left (h : ¬b) : a ∨ b ↔ a := ⟨fun k => k.resolve_right h, .inl⟩
theorem or_iff_right (h : ¬a) : a ∨ b ↔ b := ⟨fun k => k.resolve_left h, .inr⟩
theorem or_iff_left_of_imp (h : b → a) : a ∨ b ↔ a := ⟨fun k => k.elim id h, .inl⟩
theorem or_iff_right_of_imp (h : a → b) : a ∨ b ↔ b := ⟨fun k => k.elim h id, .inr⟩
theorem or_imp : (a ∨ b → c) ↔ (a → c) ∧ (b → c) := ⟨fun h => ⟨fun x => h (.inl x), fun y => h (.inr y)⟩, fun ⟨f, g⟩ h => h.elim f g⟩
theorem Or.neg_resolve_left (h : ¬a ∨ b) (ha : a) : b := h.elim (fun n => absurd ha n) id
theorem Or.neg_resolve_right (h : a ∨ ¬b) (nb : b) : a := h.elim id fun n => absurd nb n
@[simp] theorem and_self_left : a ∧ a ∧ b ↔ a ∧ b := ⟨And.right, fun h => ⟨h.1, h⟩⟩
@[simp] theorem and_self_right : (a ∧ b) ∧ b ↔ a ∧ b := ⟨And.left, fun h => ⟨h, h.2⟩⟩
@[simp] theorem or_self_left : a ∨ a ∨ b ↔ a ∨ b := ⟨fun h => h.elim .inl id, .inr⟩
@[simp] theorem or_self_right : (a ∨ b) ∨ b ↔ a ∨ b := ⟨fun h => h.elim id .inr, .inl⟩
theorem iff_self_and : (p ↔ p ∧ q) ↔ (p → q) := ⟨fun h x => (h.1 x).2, fun h => ⟨fun x => ⟨x, h x⟩, And.left⟩⟩
theorem iff_and_self : (p ↔ q ∧ p) ↔ (p → q) := ⟨fun h x => (h.1 x).1, fun h => ⟨fun x => ⟨h x, x⟩, And.right⟩⟩

-- ===== → and ↔ =====
theorem iff_comm : (a ↔ b) ↔ (b ↔ a) := Iff.comm
theorem iff_of_true (ha : a) (hb : b) : a ↔ b := ⟨fun _ => hb, fun _ => ha⟩
theorem iff_of_false (ha : ¬a) (hb : ¬b) : a ↔ b := ⟨fun h => absurd h ha, fun h => absurd h hb⟩
theorem iff_true_intro (h : a) : a ↔ True := iff_of_true h trivial
theorem iff_false_intro (h : ¬a) : a ↔ False := iff_of_false h id
theorem iff_iff_implies_and_implies : (a ↔ b) ↔ (a → b) ∧ (b → a) := ⟨fun h => ⟨h.1, h.2⟩, fun h => ⟨h.1, h.2⟩⟩
theorem iff_def : (a ↔ b) ↔ (a → b) ∧ (b → a) := iff_iff_implies_and_implies
theorem iff_congr (h₁ : a ↔ c) (h₂ : b ↔ d) : (a ↔ b) ↔ (c ↔ d) := ⟨fun h => h₁.symm.trans (h.trans h₂), fun h => h₁.trans (h.trans h₂.symm)⟩
theorem imp_congr (h₁ : a ↔ c) (h₂ : b ↔ d) : (a → b) ↔ (c → d) := ⟨fun f x => h₂.1 (f (h₁.2 x)), fun f x => h₂.2 (f (h₁.1 x))⟩
theorem imp_congr_right (h : a → (b ↔ c)) : (a → b) ↔ (a → c) := ⟨fun f x => (h x).1 (f x), fun f x => (h x).2 (f x)⟩
theorem imp_congr_left (h : a ↔ b) : (a → c) ↔ (b → c) := imp_congr h Iff.rfl
theorem imp_intro {α β : Prop} (h : α) : β → α := fun _ => h
theorem imp_imp_imp (h₀ : c → a) (h₁ : b → d) (f : a → b) : c → d := fun x => h₁ (f (h₀ x))
theorem imp_iff_right (ha : a) : (a → b) ↔ b := ⟨fun f => f ha, fun y _ => y⟩
theorem imp_swap : (a → b → c) ↔ (b → a → c) := ⟨fun f y x => f x y, fun f x y => f y x⟩
theorem imp_not_comm : (a → ¬b) ↔ (b → ¬a) := imp_swap
theorem imp_and {α : Sort u} : (α → b ∧ c) ↔ (α → b) ∧ (α → c) := ⟨fun f => ⟨fun x => (f x).1, fun x => (f x).2⟩, fun h x => ⟨h.1 x, h.2 x⟩⟩
theorem Iff.not (h : a ↔ b) : ¬a ↔ ¬b := not_congr h
theorem Iff.not_left (h : a ↔ ¬b) : ¬a ↔ b := h.not.trans Classical.not_not
theorem Iff.and (h₁ : a ↔ c) (h₂ : b ↔ d) : a ∧ b ↔ c ∧ d := and_congr h₁ h₂
theorem Iff.or (h₁ : a ↔ c) (h₂ : b ↔ d) : a ∨ b ↔ c ∨ d := or_congr h₁ h₂
theorem Iff.imp (h₁ : a ↔ c) (h₂ : b ↔ d) : (a → b) ↔ (c → d) := imp_congr h₁ h₂

-- ===== ¬ =====
theorem Not.elim {b : Prop} (H1 : ¬a) (H2 : a) : b := absurd H2 H1
theorem Not.imp (H2 : ¬b) (H1 : a → b) : ¬a := mt H1 H2
theorem not_not_em (a : Prop) : ¬¬(a ∨ ¬a) := fun h => h (.inr fun x => h (.inl x))
theorem not_not_not : ¬¬¬a ↔ ¬a := ⟨mt not_not_intro, not_not_intro⟩
theorem not_and' : ¬(a ∧ b) ↔ b → ¬a := ⟨fun h y x => h ⟨x, y⟩, fun h k => h k.2 k.1⟩
theorem not_and_of_not_or_not (h : ¬a ∨ ¬b) : ¬(a ∧ b) := h.elim (fun n k => n k.1) fun n k => n k.2
theorem not_or_intro (ha : ¬a) (hb : ¬b) : ¬(a ∨ b) := fun h => h.elim ha hb
theorem not_iff_false_intro (h : a) : ¬a ↔ False := iff_false_intro (not_not_intro h)
theorem iff_not_self : ¬(a ↔ ¬a) := fun h => have n : ¬a := fun x => h.1 x x; n (h.2 n)
theorem not_iff_self : ¬(¬a ↔ a) := fun h => iff_not_self h.symm
theorem not_imp_of_and_not : a ∧ ¬b → ¬(a → b) := fun ⟨x, n⟩ f => n (f x)
theorem not_or_of_imp (h : a → b) : ¬a ∨ b := (Classical.em a).elim (fun x => .inr (h x)) .inl
theorem not_imp_not : (¬a → ¬b) ↔ (b → a) := ⟨fun h y => Classical.byContradiction fun n => h n y, mt⟩
theorem not_imp_comm : (¬a → b) ↔ (¬b → a) :=
  ⟨fun h n => Classical.byContradiction fun m => n (h m), fun h n => Classical.byContradiction fun m => n (h m)⟩
theorem imp_iff_not_or : (a → b) ↔ ¬a ∨ b := ⟨not_or_of_imp, fun h x => h.neg_resolve_left x⟩
theorem or_iff_not_imp_left : a ∨ b ↔ (¬a → b) := ⟨Or.resolve_left, fun h => (Classical.em a).elim .inl fun n => .inr (h n)⟩
theorem or_iff_not_imp_right : a ∨ b ↔ (¬b → a) := or_comm.trans or_iff_not_imp_left
theorem not_and_or : ¬(a ∧ b) ↔ ¬a ∨ ¬b := ⟨fun h => (Classical.em a).elim (fun x => .inr fun y => h ⟨x, y⟩) .inl, not_and_of_not_or_not⟩
theorem not_iff : ¬(a ↔ b) ↔ (¬a ↔ b) :=
  ⟨fun h => ⟨fun n => Classical.byContradiction fun m => h (iff_of_false n m), fun y x => h (iff_of_true x y)⟩, fun h k => iff_not_self (h.trans k.symm).symm⟩
theorem not_iff_not : (¬a ↔ ¬b) ↔ (a ↔ b) :=
  ⟨fun h => ⟨fun x => Classical.byContradiction fun n => h.2 n x, fun y => Classical.byContradiction fun n => h.1 n y⟩, not_congr⟩
theorem and_or_imp : a ∧ b ∨ (a → c) ↔ a → b ∨ c :=
  ⟨fun h x => h.elim (fun k => .inl k.2) fun f => .inr (f x), fun h => (Classical.em (a ∧ b)).elim .inl fun n => .inr fun x => (h x).resolve_left fun y => n ⟨x, y⟩⟩
theorem em (p : Prop) : p ∨ ¬p := Classical.em p
theorem by_contra (h : ¬p → False) : p := Classical.byContradiction h
theorem of_not_not (h : ¬¬p) : p := Classical.not_not.1 h
end

namespace Classical
variable {a b p q : Prop}
theorem not_and_iff_not_or_not : ¬(a ∧ b) ↔ ¬a ∨ ¬b := not_and_or
theorem not_imp_iff_and_not : ¬(a → b) ↔ a ∧ ¬b := not_imp
theorem or_iff_not_imp_left : a ∨ b ↔ (¬a → b) := _root_.or_iff_not_imp_left
theorem or_iff_not_imp_right : a ∨ b ↔ (¬b → a) := _root_.or_iff_not_imp_right
theorem imp_iff_not_or : (a → b) ↔ ¬a ∨ b := _root_.imp_iff_not_or
theorem not_iff : ¬(a ↔ b) ↔ (¬a ↔ b) := _root_.not_iff
theorem or_not : p ∨ ¬p := em p
theorem not_or_of_imp (h : a → b) : ¬a ∨ b := _root_.not_or_of_imp h
theorem by_contradiction (h : ¬p → False) : p := byContradiction h
theorem not_exists_not {α : Sort u} {p : α → Prop} : (¬∃ x, ¬p x) ↔ ∀ x, p x :=
  ⟨fun h x => byContradiction fun n => h ⟨x, n⟩, fun h ⟨x, n⟩ => n (h x)⟩
theorem not_forall_not {α : Sort u} {p : α → Prop} : (¬∀ x, ¬p x) ↔ ∃ x, p x :=
  ⟨fun h => byContradiction fun n => h fun x hx => n ⟨x, hx⟩, fun ⟨x, hx⟩ h => h x hx⟩
theorem exists_not_of_not_forall {α : Sort u} {p : α → Prop} : (¬∀ x, p x) → ∃ x, ¬p x := not_forall.1
theorem choose_eq {α : Sort u} (a : α) : choose (⟨a, rfl⟩ : ∃ x, x = a) = a := choose_spec (⟨a, rfl⟩ : ∃ x, x = a)
theorem axiomOfChoice {α : Sort u} {β : α → Sort v} {r : (x : α) → β x → Prop} (h : ∀ x, ∃ y, r x y) : ∃ f : (x : α) → β x, ∀ x, r x (f x) :=
  ⟨fun x => choose (h x), fun x => choose_spec (h x)⟩
theorem skolem {α : Sort u} {β : α → Sort v} {r : (x : α) → β x → Prop} : (∀ x, ∃ y, r x y) ↔ ∃ f : (x : α) → β x, ∀ x, r x (f x) :=
  ⟨axiomOfChoice, fun ⟨f, h⟩ x => ⟨f x, h x⟩⟩
end Classical
namespace Decidable
variable {a b p q : Prop}
theorem not_not [Decidable p] : ¬¬p ↔ p := ⟨of_not_not, not_not_intro⟩
theorem not_and_iff_or_not [Decidable a] : ¬(a ∧ b) ↔ ¬a ∨ ¬b := not_and_or
theorem not_imp_comm [Decidable a] [Decidable b] : (¬a → b) ↔ (¬b → a) := _root_.not_imp_comm
theorem or_iff_not_imp_left [Decidable a] : a ∨ b ↔ (¬a → b) := _root_.or_iff_not_imp_left
theorem not_imp_not [Decidable a] : (¬a → ¬b) ↔ (b → a) := _root_.not_imp_not
end Decidable

-- ===== quantifiers =====
section
variable {α : Sort u} {β : Sort v} {p q : α → Prop} {b : Prop}
theorem forall_and : (∀ x, p x ∧ q x) ↔ (∀ x, p x) ∧ ∀ x, q x := ⟨fun h => ⟨fun x => (h x).1, fun x => (h x).2⟩, fun h x => ⟨h.1 x, h.2 x⟩⟩
theorem exists_or : (∃ x, p x ∨ q x) ↔ (∃ x, p x) ∨ ∃ x, q x :=
  ⟨fun ⟨x, h⟩ => h.imp (fun k => ⟨x, k⟩) fun k => ⟨x, k⟩, fun h => h.elim (fun ⟨x, k⟩ => ⟨x, .inl k⟩) fun ⟨x, k⟩ => ⟨x, .inr k⟩⟩
theorem forall_congr' (h : ∀ x, p x ↔ q x) : (∀ x, p x) ↔ ∀ x, q x := ⟨fun f x => (h x).1 (f x), fun f x => (h x).2 (f x)⟩
theorem exists_congr (h : ∀ x, p x ↔ q x) : (∃ x, p x) ↔ ∃ x, q x := ⟨fun ⟨x, k⟩ => ⟨x, (h x).1 k⟩, fun ⟨x, k⟩ => ⟨x, (h x).2 k⟩⟩
theorem forall_imp (h : ∀ x, p x → q x) : (∀ x, p x) → ∀ x, q x := fun f x => h x (f x)
theorem Exists.imp (h : ∀ x, p x → q x) : (∃ x, p x) → ∃ x, q x := fun ⟨x, k⟩ => ⟨x, h x k⟩
theorem Exists.imp' {q : β → Prop} (f : α → β) (h : ∀ x, p x → q (f x)) : (∃ x, p x) → ∃ y, q y := fun ⟨x, k⟩ => ⟨f x, h x k⟩
theorem exists_imp : ((∃ x, p x) → b) ↔ ∀ x, p x → b := ⟨fun h x k => h ⟨x, k⟩, fun h ⟨x, k⟩ => h x k⟩
theorem forall_exists_index {p : α → Prop} {q : (∃ x, p x) → Prop} : (∀ h, q h) ↔ ∀ x (h : p x), q ⟨x, h⟩ :=
  ⟨fun h x k => h ⟨x, k⟩, fun h ⟨x, k⟩ => h x k⟩
@[simp] theorem exists_and_left : (∃ x, b ∧ p x) ↔ b ∧ ∃ x, p x := ⟨fun ⟨x, y, k⟩ => ⟨y, x, k⟩, fun ⟨y, x, k⟩ => ⟨x, y, k⟩⟩
@[simp] theorem exists_and_right : (∃ x, p x ∧ b) ↔ (∃ x, p x) ∧ b := ⟨fun ⟨x, k, y⟩ => ⟨⟨x, k⟩, y⟩, fun ⟨⟨x, k⟩, y⟩ => ⟨x, k, y⟩⟩
theorem exists_comm {p : α → β → Prop} : (∃ x y, p x y) ↔ ∃ y x, p x y := ⟨fun ⟨x, y, k⟩ => ⟨y, x, k⟩, fun ⟨y, x, k⟩ => ⟨x, y, k⟩⟩
theorem forall_comm {p : α → β → Prop} : (∀ x y, p x y) ↔ ∀ y x, p x y := ⟨fun h y x => h x y, fun h x y => h y x⟩
theorem not_exists_of_forall_not (h : ∀ x, ¬p x) : ¬∃ x, p x := fun ⟨x, k⟩ => h x k
theorem forall_not_of_not_exists (h : ¬∃ x, p x) : ∀ x, ¬p x := fun x k => h ⟨x, k⟩
theorem not_forall_of_exists_not : (∃ x, ¬p x) → ¬∀ x, p x := fun ⟨x, n⟩ h => n (h x)
theorem exists_of_forall [Nonempty α] (h : ∀ x, p x) : ∃ x, p x := ⟨Classical.ofNonempty, h _⟩
@[simp] theorem exists_eq_right' {p : α → Prop} {a' : α} : (∃ a, p a ∧ a' = a) ↔ p a' := ⟨fun ⟨_, h, e⟩ => e ▸ h, fun h => ⟨a', h, rfl⟩⟩
@[simp] theorem forall_eq_or_imp {p q : α → Prop} {a' : α} : (∀ a, a = a' ∨ q a → p a) ↔ p a' ∧ ∀ a, q a → p a :=
  ⟨fun h => ⟨h a' (.inl rfl), fun a k => h a (.inr k)⟩, fun h a k => k.elim (fun e => e ▸ h.1) (h.2 a)⟩
@[simp] theorem exists_eq_or_imp {p q : α → Prop} {a' : α} : (∃ a, (a = a' ∨ q a) ∧ p a) ↔ p a' ∨ ∃ a, q a ∧ p a :=
  ⟨fun ⟨a, k, h⟩ => k.elim (fun e => .inl (e ▸ h)) fun k => .inr ⟨a, k, h⟩, fun h => h.elim (fun h => ⟨a', .inl rfl, h⟩) fun ⟨a, k, h⟩ => ⟨a, .inr k, h⟩⟩
end
/-- There is exactly one. -/
def ExistsUnique {α : Sort u} (p : α → Prop) : Prop := ∃ x, p x ∧ ∀ y, p y → y = x

-- ===== equality =====
theorem ne_comm {α : Sort u} {a b : α} : a ≠ b ↔ b ≠ a := ⟨Ne.symm, Ne.symm⟩
theorem ne_of_eq_of_ne {α : Sort u} {a b c : α} (h₁ : a = b) (h₂ : b ≠ c) : a ≠ c := h₁ ▸ h₂
theorem ne_of_ne_of_eq {α : Sort u} {a b c : α} (h₁ : a ≠ b) (h₂ : b = c) : a ≠ c := h₂ ▸ h₁
theorem congrArg₂ {α : Sort u} {β : Sort v} {γ : Sort w} (f : α → β → γ) {x x' : α} {y y' : β} (hx : x = x') (hy : y = y') : f x y = f x' y' := by
  rw [hx, hy]
theorem congr_arg {α : Sort u} {β : Sort v} {a₁ a₂ : α} (f : α → β) (h : a₁ = a₂) : f a₁ = f a₂ := congrArg f h
theorem congr_fun {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : f = g) (a : α) : f a = g a := congrFun h a
theorem apply_ite {α : Sort u} {β : Sort v} (f : α → β) (p : Prop) [Decidable p] (x y : α) : f (if p then x else y) = if p then f x else f y := by
  split <;> rfl
theorem ite_not {α : Sort u} (p : Prop) [Decidable p] (x y : α) : (if ¬p then x else y) = if p then y else x := by
  by_cases h : p
  · rw [if_pos h, if_neg (not_not_intro h)]
  · rw [if_neg h, if_pos h]
@[simp] theorem if_true {α : Sort u} {_ : Decidable True} (t e : α) : (if True then t else e) = t := if_pos trivial
@[simp] theorem if_false {α : Sort u} {_ : Decidable False} (t e : α) : (if False then t else e) = e := if_neg id

-- ===== functions =====
namespace Function
variable {α : Sort u} {β : Sort v} {γ : Sort w}
theorem comp_def (f : β → γ) (g : α → β) : f ∘ g = fun x => f (g x) := rfl
@[simp] theorem comp_apply {f : β → γ} {g : α → β} {x : α} : (f ∘ g) x = f (g x) := rfl
theorem comp_assoc {δ : Sort u₁} (f : γ → δ) (g : β → γ) (h : α → β) : (f ∘ g) ∘ h = f ∘ g ∘ h := rfl
@[simp] theorem comp_id (f : α → β) : f ∘ id = f := rfl
@[simp] theorem id_comp (f : α → β) : id ∘ f = f := rfl
@[simp] theorem const_apply {y : β} {x : α} : const α y x = y := rfl
def Injective (f : α → β) : Prop := ∀ ⦃a₁ a₂⦄, f a₁ = f a₂ → a₁ = a₂
def Surjective (f : α → β) : Prop := ∀ b, ∃ a, f a = b
def Bijective (f : α → β) : Prop := Injective f ∧ Surjective f
def LeftInverse (g : β → α) (f : α → β) : Prop := ∀ x, g (f x) = x
def RightInverse (g : β → α) (f : α → β) : Prop := LeftInverse f g
theorem injective_id : Injective (id : α → α) := fun _ _ h => h
theorem surjective_id : Surjective (id : α → α) := fun b => ⟨b, rfl⟩
theorem Injective.comp {g : β → γ} {f : α → β} (hg : Injective g) (hf : Injective f) : Injective (g ∘ f) := fun _ _ h => hf (hg h)
theorem Surjective.comp {g : β → γ} {f : α → β} (hg : Surjective g) (hf : Surjective f) : Surjective (g ∘ f) := fun c =>
  let ⟨b, hb⟩ := hg c
  let ⟨a, ha⟩ := hf b
  ⟨a, show g (f a) = c from (congrArg g ha).trans hb⟩
theorem Injective.eq_iff {f : α → β} (hf : Injective f) {a b : α} : f a = f b ↔ a = b := ⟨fun h => hf h, congrArg f⟩
theorem LeftInverse.injective {g : β → α} {f : α → β} (h : LeftInverse g f) : Injective f := fun a b e => by rw [← h a, ← h b, e]
theorem RightInverse.surjective {g : β → α} {f : α → β} (h : RightInverse g f) : Surjective f := fun b => ⟨g b, h b⟩
end Function
@[simp] theorem id_apply {α : Sort u} (a : α) : id a = a := rfl

-- ===== pairs and subtypes =====
@[ext] protected theorem Prod.ext {α : Type u} {β : Type v} : {p q : α × β} → p.1 = q.1 → p.2 = q.2 → p = q | (_, _), (_, _), rfl, rfl => rfl
@[simp] theorem Prod.mk.eta {α : Type u} {β : Type v} (p : α × β) : (p.1, p.2) = p := rfl
theorem Prod.exists {α : Type u} {β : Type v} {p : α × β → Prop} : (∃ x, p x) ↔ ∃ a b, p (a, b) :=
  ⟨fun ⟨(a, b), h⟩ => ⟨a, b, h⟩, fun ⟨a, b, h⟩ => ⟨(a, b), h⟩⟩
theorem Prod.forall {α : Type u} {β : Type v} {p : α × β → Prop} : (∀ x, p x) ↔ ∀ a b, p (a, b) := ⟨fun h a b => h (a, b), fun h (a, b) => h a b⟩
def Prod.swap {α : Type u} {β : Type v} (p : α × β) : β × α := (p.2, p.1)
@[simp] theorem Prod.swap_swap {α : Type u} {β : Type v} (p : α × β) : p.swap.swap = p := rfl
def Prod.map {α₁ : Type u} {α₂ : Type v} {β₁ : Type u₁} {β₂ : Type u₂} (f : α₁ → α₂) (g : β₁ → β₂) (p : α₁ × β₁) : α₂ × β₂ := (f p.1, g p.2)
@[ext] protected theorem Subtype.ext {α : Sort u} {p : α → Prop} : {a b : {x // p x}} → (a : α) = (b : α) → a = b | ⟨_, _⟩, ⟨_, _⟩, rfl => rfl
theorem Subtype.eq {α : Sort u} {p : α → Prop} {a b : {x // p x}} (h : (a : α) = (b : α)) : a = b := Subtype.ext h

-- ===== options =====
namespace Option
variable {α : Type u} {β : Type v}
protected def map (f : α → β) : Option α → Option β | some x => some (f x) | none => none
protected def bind : Option α → (α → Option β) → Option β | none, _ => none | some a, f => f a
def getD (o : Option α) (dflt : α) : α := match o with | some a => a | none => dflt
def isSome : Option α → Bool | some _ => true | none => false
def isNone : Option α → Bool | some _ => false | none => true
@[simp] theorem map_none (f : α → β) : Option.map f none = none := rfl
@[simp] theorem map_some (f : α → β) (a : α) : Option.map f (some a) = some (f a) := rfl
@[simp] theorem getD_none {a : α} : getD none a = a := rfl
@[simp] theorem getD_some {a b : α} : getD (some a) b = a := rfl
@[simp] theorem isSome_none : @isSome α none = false := rfl
@[simp] theorem isSome_some {a : α} : isSome (some a) = true := rfl
@[simp] theorem isNone_none : @isNone α none = true := rfl
@[simp] theorem isNone_some {a : α} : isNone (some a) = false := rfl
theorem some_ne_none (x : α) : some x ≠ none := fun h => nomatch h
theorem some_inj {a b : α} : some a = some b ↔ a = b := ⟨fun h => by injection h, congrArg some⟩
theorem ne_none_iff_exists {o : Option α} : o ≠ none ↔ ∃ x, some x = o := by cases o <;> simp
theorem isSome_iff_exists {x : Option α} : x.isSome = true ↔ ∃ a, x = some a := by cases x <;> simp
theorem map_map {γ : Type w} (g : β → γ) (f : α → β) (x : Option α) : Option.map g (Option.map f x) = Option.map (g ∘ f) x := by cases x <;> rfl
@[simp] theorem map_id (x : Option α) : Option.map id x = x := by cases x <;> rfl
@[simp] theorem none_bind (f : α → Option β) : Option.bind none f = none := rfl
@[simp] theorem some_bind (a : α) (f : α → Option β) : Option.bind (some a) f = f a := rfl
end Option

-- ===== Bool =====
namespace Bool
instance {p : Bool → Prop} [Decidable (p false)] [Decidable (p true)] : Decidable (∀ b, p b) :=
  if h : p false ∧ p true then isTrue fun b => match b with | false => h.1 | true => h.2 else isFalse fun k => h ⟨k false, k true⟩
instance {p : Bool → Prop} [Decidable (p false)] [Decidable (p true)] : Decidable (∃ b, p b) :=
  if h : p false ∨ p true then isTrue (h.elim (fun k => ⟨false, k⟩) fun k => ⟨true, k⟩)
  else isFalse fun ⟨b, k⟩ => h (match b, k with | false, k => .inl k | true, k => .inr k)
theorem eq_false_or_eq_true (b : Bool) : b = true ∨ b = false := by revert b; decide
theorem dichotomy (b : Bool) : b = false ∨ b = true := by revert b; decide
@[simp] theorem and_eq_true (a b : Bool) : ((a && b) = true) = (a = true ∧ b = true) := by revert a b; decide
@[simp] theorem or_eq_true (a b : Bool) : ((a || b) = true) = (a = true ∨ b = true) := by revert a b; decide
theorem and_eq_true_iff {a b : Bool} : (a && b) = true ↔ a = true ∧ b = true := iff_of_eq (and_eq_true a b)
theorem or_eq_true_iff {a b : Bool} : (a || b) = true ↔ a = true ∨ b = true := iff_of_eq (or_eq_true a b)
@[simp] theorem and_eq_false_iff {a b : Bool} : (a && b) = false ↔ a = false ∨ b = false := by revert a b; decide
@[simp] theorem or_eq_false_iff {a b : Bool} : (a || b) = false ↔ a = false ∧ b = false := by revert a b; decide
@[simp] theorem not_eq_true' (b : Bool) : ((!b) = true) = (b = false) := by revert b; decide
@[simp] theorem not_eq_false' (b : Bool) : ((!b) = false) = (b = true) := by revert b; decide
@[simp] theorem and_self (b : Bool) : (b && b) = b := by cases b <;> rfl
@[simp] theorem or_self (b : Bool) : (b || b) = b := by cases b <;> rfl
theorem and_assoc (a b c : Bool) : ((a && b) && c) = (a && (b && c)) := by cases a <;> rfl
theorem or_assoc (a b c : Bool) : ((a || b) || c) = (a || (b || c)) := by cases a <;> rfl
@[simp] theorem not_and (a b : Bool) : (!(a && b)) = (!a || !b) := by cases a <;> rfl
@[simp] theorem not_or (a b : Bool) : (!(a || b)) = (!a && !b) := by cases a <;> rfl
@[simp] theorem not_eq_not {a b : Bool} : (!a) = (!b) ↔ a = b := by revert a b; decide
def toNat (b : Bool) : Nat := cond b 1 0
@[simp] theorem toNat_true : toNat true = 1 := rfl
@[simp] theorem toNat_false : toNat false = 0 := rfl
theorem eq_iff_iff {a b : Bool} : a = b ↔ (a = true ↔ b = true) := by revert a b; decide
end Bool
@[simp] theorem decide_eq_false_iff_not {p : Prop} {_ : Decidable p} : decide p = false ↔ ¬p := ⟨of_decide_eq_false, decide_eq_false⟩
theorem decide_eq_true_iff {p : Prop} [Decidable p] : decide p = true ↔ p := ⟨of_decide_eq_true, decide_eq_true⟩
theorem decide_eq_decide {p q : Prop} {_ : Decidable p} {_ : Decidable q} : decide p = decide q ↔ (p ↔ q) := by
  rw [Bool.eq_iff_iff, decide_eq_true_iff, decide_eq_true_iff]
@[simp] theorem cond_true {α : Sort u} (a b : α) : cond true a b = a := rfl
@[simp] theorem cond_false {α : Sort u} (a b : α) : cond false a b = b := rfl
