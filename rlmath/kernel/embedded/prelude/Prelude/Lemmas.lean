prelude
import Prelude.Syntax
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! Propositional and natural-number facts: what `simp`, `decide`, `split`, `rcases`, `by_cases` and `cases` build their proof terms from,
and the lemmas of the same names that people quote. Function extensionality and excluded middle are derived here. -/

-- ===== Iff, HEq, Exists, Or, And =====
theorem Iff.refl (a : Prop) : a ↔ a := ⟨fun h => h, fun h => h⟩
theorem Iff.rfl {a : Prop} : a ↔ a := Iff.refl a
theorem Iff.trans {a b c : Prop} (h₁ : a ↔ b) (h₂ : b ↔ c) : a ↔ c := ⟨fun h => h₂.mp (h₁.mp h), fun h => h₁.mpr (h₂.mpr h)⟩
theorem Iff.symm {a b : Prop} (h : a ↔ b) : b ↔ a := ⟨h.mpr, h.mp⟩
theorem Iff.of_eq {a b : Prop} (h : a = b) : a ↔ b := h.rec Iff.rfl
theorem Iff.comm {a b : Prop} : (a ↔ b) ↔ (b ↔ a) := ⟨Iff.symm, Iff.symm⟩
theorem iff_of_eq {a b : Prop} (h : a = b) : a ↔ b := h.rec Iff.rfl
theorem HEq.symm {α β : Sort u} {a : α} {b : β} (h : HEq a b) : HEq b a := h.rec (HEq.refl a)
theorem HEq.trans {α β φ : Sort u} {a : α} {b : β} {c : φ} (h₁ : HEq a b) (h₂ : HEq b c) : HEq a c := h₂.rec h₁
theorem heq_of_heq_of_eq {α β : Sort u} {a : α} {b b' : β} (h₁ : HEq a b) (h₂ : b = b') : HEq a b' := h₂.rec h₁
theorem heq_of_eq_of_heq {α β : Sort u} {a a' : α} {b : β} (h₁ : a = a') (h₂ : HEq a' b) : HEq a b := HEq.trans (heq_of_eq h₁) h₂
theorem type_eq_of_heq {α β : Sort u} {a : α} {b : β} (h : HEq a b) : α = β := h.rec rfl
theorem Ne.symm {α : Sort u} {a b : α} (h : a ≠ b) : b ≠ a := fun e => h e.symm
theorem Ne.irrefl {α : Sort u} {a : α} (h : a ≠ a) : False := h rfl
theorem ne_of_apply_ne {α : Sort u} {β : Sort v} (f : α → β) {x y : α} (h : f x ≠ f y) : x ≠ y := fun e => h (congrArg f e)
theorem false_of_ne {α : Sort u} {a : α} (h : a ≠ a) : False := h rfl
theorem ne_false_of_self {p : Prop} (h : p) : p ≠ False := fun e => e.rec (motive := fun x _ => x) h
theorem proof_irrel {a : Prop} (h₁ h₂ : a) : h₁ = h₂ := rfl
theorem Eq.propIntro {a b : Prop} (h₁ : a → b) (h₂ : b → a) : a = b := propext ⟨h₁, h₂⟩
theorem Exists.elim {α : Sort u} {p : α → Prop} {b : Prop} (h₁ : ∃ x, p x) (h₂ : ∀ a, p a → b) : b :=
  match h₁ with | ⟨w, h⟩ => h₂ w h
theorem Or.elim {a b c : Prop} (h : a ∨ b) (l : a → c) (r : b → c) : c := match h with | .inl h => l h | .inr h => r h
theorem Or.symm {a b : Prop} : a ∨ b → b ∨ a | .inl h => .inr h | .inr h => .inl h
theorem And.symm {a b : Prop} : a ∧ b → b ∧ a | ⟨h, k⟩ => ⟨k, h⟩
theorem Or.intro_left {a : Prop} (b : Prop) (h : a) : a ∨ b := .inl h
theorem Or.intro_right {b : Prop} (a : Prop) (h : b) : a ∨ b := .inr h
theorem Or.resolve_left {a b : Prop} (h : a ∨ b) (na : ¬a) : b := h.elim (fun ha => absurd ha na) id
theorem Or.resolve_right {a b : Prop} (h : a ∨ b) (nb : ¬b) : a := h.elim id (fun hb => absurd hb nb)
theorem mt {a b : Prop} (h₁ : a → b) (h₂ : ¬b) : ¬a := fun h => h₂ (h₁ h)
theorem not_false : ¬False := id
theorem not_not_intro {p : Prop} (h : p) : ¬¬p := fun hn => hn h
theorem not_and_of_not_left {a : Prop} (b : Prop) (h : ¬a) : ¬(a ∧ b) := fun k => h k.1
theorem not_and_of_not_right (a : Prop) {b : Prop} (h : ¬b) : ¬(a ∧ b) := fun k => h k.2
theorem and_comm {a b : Prop} : a ∧ b ↔ b ∧ a := ⟨And.symm, And.symm⟩
theorem or_comm {a b : Prop} : a ∨ b ↔ b ∨ a := ⟨Or.symm, Or.symm⟩
theorem and_congr {a b c d : Prop} (h₁ : a ↔ c) (h₂ : b ↔ d) : (a ∧ b) ↔ (c ∧ d) := ⟨fun h => ⟨h₁.1 h.1, h₂.1 h.2⟩, fun h => ⟨h₁.2 h.1, h₂.2 h.2⟩⟩
theorem or_congr {a b c d : Prop} (h₁ : a ↔ c) (h₂ : b ↔ d) : (a ∨ b) ↔ (c ∨ d) :=
  ⟨fun h => h.elim (fun x => .inl (h₁.1 x)) (fun x => .inr (h₂.1 x)), fun h => h.elim (fun x => .inl (h₁.2 x)) (fun x => .inr (h₂.2 x))⟩
theorem not_congr {a b : Prop} (h : a ↔ b) : ¬a ↔ ¬b := ⟨mt h.2, mt h.1⟩
theorem and_assoc {a b c : Prop} : (a ∧ b) ∧ c ↔ a ∧ (b ∧ c) := ⟨fun ⟨⟨x, y⟩, z⟩ => ⟨x, y, z⟩, fun ⟨x, y, z⟩ => ⟨⟨x, y⟩, z⟩⟩
theorem or_assoc {a b c : Prop} : (a ∨ b) ∨ c ↔ a ∨ (b ∨ c) := by
  constructor
  · rintro ((h | h) | h)
    · exact .inl h
    · exact .inr (.inl h)
    · exact .inr (.inr h)
  · rintro (h | h | h)
    · exact .inl (.inl h)
    · exact .inl (.inr h)
    · exact .inr h
theorem eq_comm {α : Sort u} {a b : α} : a = b ↔ b = a := ⟨Eq.symm, Eq.symm⟩

-- ===== what simp builds proofs from =====
theorem of_eq_true {p : Prop} (h : p = True) : p := h.symm.rec (motive := fun x _ => x) trivial
theorem of_eq_false {p : Prop} (h : p = False) : ¬p := fun hp => h.rec (motive := fun x _ => x) hp
theorem eq_true {p : Prop} (h : p) : p = True := propext ⟨fun _ => trivial, fun _ => h⟩
theorem eq_false {p : Prop} (h : ¬p) : p = False := propext ⟨h, fun f => f.elim⟩
theorem eq_false' {p : Prop} (h : p → False) : p = False := eq_false h
theorem eq_true_of_decide {p : Prop} [Decidable p] (h : decide p = true) : p = True := eq_true (of_decide_eq_true h)
theorem eq_false_of_decide {p : Prop} [Decidable p] (h : decide p = false) : p = False := eq_false (of_decide_eq_false h)
@[simp] theorem eq_self {α : Sort u} (a : α) : (a = a) = True := eq_true rfl
@[simp] theorem iff_self (p : Prop) : (p ↔ p) = True := eq_true Iff.rfl
@[simp] theorem heq_eq_eq {α : Sort u} (a b : α) : HEq a b = (a = b) := propext ⟨eq_of_heq, heq_of_eq⟩
theorem implies_congr {p₁ p₂ : Sort u} {q₁ q₂ : Sort v} (h₁ : p₁ = p₂) (h₂ : q₁ = q₂) : (p₁ → q₁) = (p₂ → q₂) := by cases h₁; cases h₂; rfl
theorem implies_dep_congr_ctx {p₁ p₂ q₁ : Prop} (h₁ : p₁ = p₂) {q₂ : p₂ → Prop} (h₂ : (h : p₂) → q₁ = q₂ h) : (p₁ → q₁) = ((h : p₂) → q₂ h) := by
  cases h₁; exact propext ⟨fun f h => (h₂ h).rec (motive := fun x _ => x) (f h), fun f h => (h₂ h).symm.rec (motive := fun x _ => x) (f h)⟩
theorem implies_congr_ctx {p₁ p₂ q₁ q₂ : Prop} (h₁ : p₁ = p₂) (h₂ : p₂ → q₁ = q₂) : (p₁ → q₁) = (p₂ → q₂) := implies_dep_congr_ctx h₁ h₂
theorem forall_congr {α : Sort u} {p q : α → Prop} (h : ∀ a, p a = q a) : (∀ a, p a) = (∀ a, q a) :=
  propext ⟨fun f a => (h a).rec (motive := fun x _ => x) (f a), fun f a => (h a).symm.rec (motive := fun x _ => x) (f a)⟩
theorem forall_prop_domain_congr {p₁ p₂ : Prop} {q : p₁ → Prop} (h : p₁ = p₂) : (∀ a : p₁, q a) = (∀ a : p₂, q (h.symm.rec (motive := fun x _ => x) a)) := by cases h; rfl
theorem forall_prop_congr_dom {p₁ p₂ : Prop} (h : p₁ = p₂) (q : p₁ → Prop) : (∀ a : p₁, q a) = (∀ a : p₂, q (h.symm.rec (motive := fun x _ => x) a)) := by cases h; rfl
protected theorem Subsingleton.elim {α : Sort u} [h : Subsingleton α] (a b : α) : a = b := h.allEq a b
protected theorem Subsingleton.helim {α β : Sort u} [Subsingleton α] (h : α = β) (a : α) (b : β) : HEq a b := by cases h; exact heq_of_eq (Subsingleton.elim a b)
instance instSubsingletonProp (p : Prop) : Subsingleton p := ⟨fun _ _ => rfl⟩
instance instSubsingletonDecidable (p : Prop) : Subsingleton (Decidable p) :=
  ⟨fun a b => match a, b with | isTrue _, isTrue _ => rfl | isFalse _, isFalse _ => rfl | isTrue h, isFalse n => absurd h n | isFalse n, isTrue h => absurd h n⟩
theorem let_congr {α : Sort u} {β : Sort v} {a a' : α} {b b' : α → β} (h₁ : a = a') (h₂ : ∀ x, b x = b' x) : (b a) = (b' a') := by cases h₁; exact h₂ a
theorem let_val_congr {α : Sort u} {β : Sort v} {a a' : α} (b : α → β) (h : a = a') : (let x := a; b x) = (let x := a'; b x) := by cases h; rfl
theorem let_body_congr {α : Sort u} {β : α → Sort v} {b b' : (a : α) → β a} (a : α) (h : ∀ x, b x = b' x) : (let x := a; b x) = (let x := a; b' x) := h a
theorem have_unused' {α : Sort u} {β : Sort v} (a : α) {b b' : β} (h : b = b') : (fun _ : α => b) a = b' := h
theorem have_unused_dep' {α : Sort u} {β : Sort v} (a : α) {b : α → β} {b' : β} (h : ∀ x, b x = b') : b a = b' := h a
theorem have_congr' {α : Sort u} {β : Sort v} {a a' : α} {f f' : α → β} (h₁ : a = a') (h₂ : ∀ x, f x = f' x) : f a = f' a' := by cases h₁; exact h₂ a
theorem have_val_congr' {α : Sort u} {β : Sort v} {a a' : α} {f : α → β} (h : a = a') : f a = f a' := by cases h; rfl
theorem have_body_congr_dep' {α : Sort u} {β : α → Sort v} (a : α) {f f' : (x : α) → β x} (h : ∀ x, f x = f' x) : f a = f' a := h a
theorem have_body_congr' {α : Sort u} {β : Sort v} (a : α) {f f' : α → β} (h : ∀ x, f x = f' x) : f a = f' a := h a

-- quotients give function extensionality
theorem funext {α : Sort u} {β : α → Sort v} {f g : (x : α) → β x} (h : ∀ x, f x = g x) : f = g :=
  let eqv (f g : (x : α) → β x) := ∀ x, f x = g x
  let extfunApp (f : Quot eqv) (x : α) : β x := Quot.lift (fun (f : (x : α) → β x) => f x) (fun _ _ h => h x) f
  show extfunApp (Quot.mk eqv f) = extfunApp (Quot.mk eqv g) from congrArg extfunApp (Quot.sound h)

theorem pi_congr {α : Sort u} {β β' : α → Sort v} (h : ∀ a, β a = β' a) : (∀ a, β a) = (∀ a, β' a) := by
  have e : β = β' := funext h
  cases e; rfl
theorem implies_congr_left {p₁ p₂ : Sort u} {q : Sort v} (h : p₁ = p₂) : (p₁ → q) = (p₂ → q) := by cases h; rfl
theorem implies_congr_right {p : Sort u} {q₁ q₂ : Sort v} (h : q₁ = q₂) : (p → q₁) = (p → q₂) := by cases h; rfl

@[simp] theorem ite_true {α : Sort u} (a b : α) : (if True then a else b) = a := rfl
@[simp] theorem ite_false {α : Sort u} (a b : α) : (if False then a else b) = b := rfl
theorem ite_eq_left {c : Prop} {h : Decidable c} (hc : c) {α : Sort u} {t e : α} : (ite c t e) = t := match h with | isTrue _ => rfl | isFalse n => absurd hc n
theorem ite_eq_right {c : Prop} {h : Decidable c} (hc : ¬c) {α : Sort u} {t e : α} : (ite c t e) = e := match h with | isFalse _ => rfl | isTrue n => absurd n hc
theorem dite_eq_left {c : Prop} {h : Decidable c} (hc : c) {α : Sort u} {t : c → α} {e : ¬c → α} : (dite c t e) = t hc := match h with | isTrue _ => rfl | isFalse n => absurd hc n
theorem dite_eq_right {c : Prop} {h : Decidable c} (hc : ¬c) {α : Sort u} {t : c → α} {e : ¬c → α} : (dite c t e) = e hc := match h with | isFalse _ => rfl | isTrue n => absurd n hc
theorem if_pos {c : Prop} {h : Decidable c} (hc : c) {α : Sort u} {t e : α} : (ite c t e) = t := ite_eq_left hc
theorem if_neg {c : Prop} {h : Decidable c} (hnc : ¬c) {α : Sort u} {t e : α} : (ite c t e) = e := ite_eq_right hnc
theorem dif_pos {c : Prop} {h : Decidable c} (hc : c) {α : Sort u} {t : c → α} {e : ¬c → α} : (dite c t e) = t hc := dite_eq_left hc
theorem dif_neg {c : Prop} {h : Decidable c} (hnc : ¬c) {α : Sort u} {t : c → α} {e : ¬c → α} : (dite c t e) = e hnc := dite_eq_right hnc
theorem ite_eq_left_of_eq_true {α : Sort u} {c : Prop} {_ : Decidable c} (a b : α) (h : c = True) : (if c then a else b) = a := ite_eq_left (of_eq_true h)
theorem ite_eq_right_of_eq_false {α : Sort u} {c : Prop} {_ : Decidable c} (a b : α) (h : c = False) : (if c then a else b) = b := ite_eq_right (of_eq_false h)
theorem dite_eq_left_of_eq_true {α : Sort u} {c : Prop} {_ : Decidable c} {t : c → α} {e : ¬c → α} (h : c = True) : (dite c t e) = t (of_eq_true h) := dite_eq_left (of_eq_true h)
theorem dite_eq_right_of_eq_false {α : Sort u} {c : Prop} {_ : Decidable c} {t : c → α} {e : ¬c → α} (h : c = False) : (dite c t e) = e (of_eq_false h) := dite_eq_right (of_eq_false h)
theorem Decidable.em (p : Prop) [d : Decidable p] : p ∨ ¬p := match d with | isTrue h => .inl h | isFalse h => .inr h
@[congr] theorem ite_congr {α : Sort u} {b c : Prop} {x y u v : α} {s : Decidable b} [Decidable c] (h₁ : b = c) (h₂ : c → x = u) (h₃ : ¬c → y = v) : ite b x y = ite c u v := by
  cases h₁
  cases Decidable.em b with
  | inl h => exact (ite_eq_left h).trans ((h₂ h).trans (ite_eq_left h).symm)
  | inr h => exact (ite_eq_right h).trans ((h₃ h).trans (ite_eq_right h).symm)

@[congr] theorem dite_congr {b c : Prop} {α : Sort u} {_ : Decidable b} [Decidable c] {x : b → α} {u : c → α} {y : ¬b → α} {v : ¬c → α}
    (h₁ : b = c) (h₂ : ∀ h : c, x (h₁.symm.rec (motive := fun x _ => x) h) = u h) (h₃ : ∀ h : ¬c, y (fun k => h (h₁.rec (motive := fun x _ => x) k)) = v h) : dite b x y = dite c u v := by
  cases h₁
  cases Decidable.em b with
  | inl h => exact (dite_eq_left h).trans ((h₂ h).trans (dite_eq_left h).symm)
  | inr h => exact (dite_eq_right h).trans ((h₃ h).trans (dite_eq_right h).symm)
theorem Decidable.byContradiction {p : Prop} [d : Decidable p] (h : ¬p → False) : p := match d with | isTrue h => h | isFalse n => (h n).elim
theorem Decidable.of_not_not {p : Prop} [Decidable p] (h : ¬¬p) : p := Decidable.byContradiction h
@[macro_inline] def Decidable.byCases {p : Prop} {q : Sort u} [d : Decidable p] (h1 : p → q) (h2 : ¬p → q) : q := match d with | isTrue h => h1 h | isFalse h => h2 h

-- ===== decidability =====
instance instDecidableAnd {p q : Prop} [dp : Decidable p] [dq : Decidable q] : Decidable (p ∧ q) :=
  match dp with
  | isTrue hp => match dq with | isTrue hq => isTrue ⟨hp, hq⟩ | isFalse hq => isFalse (fun h => hq h.2)
  | isFalse hp => isFalse (fun h => hp h.1)
instance instDecidableOr {p q : Prop} [dp : Decidable p] [dq : Decidable q] : Decidable (p ∨ q) :=
  match dp with
  | isTrue hp => isTrue (.inl hp)
  | isFalse hp => match dq with | isTrue hq => isTrue (.inr hq) | isFalse hq => isFalse (fun h => h.elim hp hq)
instance instDecidableNot {p : Prop} [dp : Decidable p] : Decidable (¬p) :=
  match dp with | isTrue hp => isFalse (fun h => h hp) | isFalse hp => isTrue hp
instance instDecidableForall {p q : Prop} [Decidable p] [Decidable q] : Decidable (p → q) :=
  if hp : p then (if hq : q then isTrue (fun _ => hq) else isFalse (fun h => hq (h hp))) else isTrue (fun h => absurd h hp)
instance instDecidableIff {p q : Prop} [Decidable p] [Decidable q] : Decidable (p ↔ q) :=
  if hp : p then (if hq : q then isTrue ⟨fun _ => hq, fun _ => hp⟩ else isFalse (fun h => hq (h.1 hp)))
  else (if hq : q then isFalse (fun h => hp (h.2 hq)) else isTrue ⟨fun h => absurd h hp, fun h => absurd h hq⟩)
instance instDecidableNe {α : Sort u} [DecidableEq α] (a b : α) : Decidable (a ≠ b) :=
  match decEq a b with | isTrue h => isFalse (fun k => k h) | isFalse h => isTrue h
def decidable_of_decidable_of_iff {p q : Prop} [d : Decidable p] (h : p ↔ q) : Decidable q :=
  match d with | isTrue hp => isTrue (h.1 hp) | isFalse hp => isFalse (fun hq => hp (h.2 hq))
instance {p q : Prop} [Decidable p] [Decidable q] : Decidable (p = q) :=
  decidable_of_decidable_of_iff (p := p ↔ q) ⟨propext, iff_of_eq⟩

-- ===== classical =====
namespace Classical
noncomputable def indefiniteDescription {α : Sort u} (p : α → Prop) (h : ∃ x, p x) : {x // p x} :=
  choice (match h with | ⟨x, px⟩ => ⟨⟨x, px⟩⟩)
noncomputable def choose {α : Sort u} {p : α → Prop} (h : ∃ x, p x) : α := (indefiniteDescription p h).val
theorem choose_spec {α : Sort u} {p : α → Prop} (h : ∃ x, p x) : p (choose h) := (indefiniteDescription p h).property
theorem em (p : Prop) : p ∨ ¬p :=
  let U (x : Prop) : Prop := x = True ∨ p
  let V (x : Prop) : Prop := x = False ∨ p
  have exU : ∃ x, U x := ⟨True, .inl rfl⟩
  have exV : ∃ x, V x := ⟨False, .inl rfl⟩
  let u : Prop := choose exU
  let v : Prop := choose exV
  have hu : U u := choose_spec exU
  have hv : V v := choose_spec exV
  have nuv : u ≠ v ∨ p := by
    cases hu with
    | inr h => exact .inr h
    | inl hut => cases hv with
      | inr h => exact .inr h
      | inl hvf => exact .inl (fun e => of_eq_false (hvf.symm.trans (e.symm.trans hut)).symm trivial)
  have huv : p → u = v := fun hp =>
    have hpred : U = V := funext fun x => propext ⟨fun _ => .inr hp, fun _ => .inr hp⟩
    have h₀ : ∀ exU exV, @choose _ U exU = @choose _ V exV := by rw [hpred]; intro _ _; rfl
    h₀ exU exV
  nuv.elim (fun n => .inr (mt huv n)) .inl
theorem byContradiction {p : Prop} (h : ¬p → False) : p := (em p).elim id (fun n => (h n).elim)
theorem not_not {a : Prop} : ¬¬a ↔ a := ⟨fun h => byContradiction h, not_not_intro⟩
theorem byCases {p q : Prop} (h1 : p → q) (h2 : ¬p → q) : q := (em p).elim h1 h2
@[instance_reducible] noncomputable def propDecidable (a : Prop) : Decidable a := choice ((em a).elim (fun h => ⟨isTrue h⟩) (fun h => ⟨isFalse h⟩))
attribute [scoped instance low] Classical.propDecidable
theorem not_forall {α : Sort u} {p : α → Prop} : (¬∀ x, p x) ↔ ∃ x, ¬p x :=
  ⟨fun h => byContradiction fun n => h fun x => byContradiction fun nx => n ⟨x, nx⟩, fun ⟨x, nx⟩ h => nx (h x)⟩
theorem not_imp {a b : Prop} : ¬(a → b) ↔ a ∧ ¬b :=
  ⟨fun h => ⟨byContradiction fun na => h fun ha => absurd ha na, fun hb => h fun _ => hb⟩, fun ⟨ha, nb⟩ h => nb (h ha)⟩
end Classical

-- ===== propositional simp set =====
@[simp] theorem not_true_eq_false : (¬True) = False := eq_false (fun h => h trivial)
@[simp] theorem not_false_eq_true : (¬False) = True := eq_true id
@[simp] theorem and_true (p : Prop) : (p ∧ True) = p := propext ⟨fun h => h.1, fun h => ⟨h, trivial⟩⟩
@[simp] theorem true_and (p : Prop) : (True ∧ p) = p := propext ⟨fun h => h.2, fun h => ⟨trivial, h⟩⟩
@[simp] theorem and_false (p : Prop) : (p ∧ False) = False := eq_false fun h => h.2
@[simp] theorem false_and (p : Prop) : (False ∧ p) = False := eq_false fun h => h.1
@[simp] theorem and_self (p : Prop) : (p ∧ p) = p := propext ⟨fun h => h.1, fun h => ⟨h, h⟩⟩
@[simp] theorem or_self (p : Prop) : (p ∨ p) = p := propext ⟨fun h => h.elim id id, .inl⟩
@[simp] theorem or_true (p : Prop) : (p ∨ True) = True := eq_true (.inr trivial)
@[simp] theorem true_or (p : Prop) : (True ∨ p) = True := eq_true (.inl trivial)
@[simp] theorem or_false (p : Prop) : (p ∨ False) = p := propext ⟨fun h => h.elim id False.elim, .inl⟩
@[simp] theorem false_or (p : Prop) : (False ∨ p) = p := propext ⟨fun h => h.elim False.elim id, .inr⟩
@[simp] theorem iff_true (p : Prop) : (p ↔ True) = p := propext ⟨fun h => h.2 trivial, fun h => ⟨fun _ => trivial, fun _ => h⟩⟩
@[simp] theorem true_iff (p : Prop) : (True ↔ p) = p := propext ⟨fun h => h.1 trivial, fun h => ⟨fun _ => h, fun _ => trivial⟩⟩
@[simp] theorem iff_false (p : Prop) : (p ↔ False) = ¬p := propext ⟨fun h => h.1, fun h => ⟨h, False.elim⟩⟩
@[simp] theorem false_iff (p : Prop) : (False ↔ p) = ¬p := propext ⟨fun h => h.2, fun h => ⟨False.elim, h⟩⟩
@[simp] theorem implies_true (α : Sort u) : (α → True) = True := eq_true fun _ => trivial
@[simp] theorem false_implies (p : Prop) : (False → p) = True := eq_true False.elim
@[simp] theorem true_implies (p : Prop) : (True → p) = p := propext ⟨fun h => h trivial, fun h _ => h⟩
@[simp] theorem imp_self {p : Prop} : (p → p) = True := eq_true id
@[simp] theorem imp_false {p : Prop} : (p → False) ↔ ¬p := Iff.rfl
@[simp] theorem ne_eq {α : Sort u} (a b : α) : (a ≠ b) = ¬(a = b) := rfl
@[simp] theorem not_not {p : Prop} : ¬¬p ↔ p := Classical.not_not
@[simp] theorem and_not_self {p : Prop} : ¬(p ∧ ¬p) := fun h => h.2 h.1
@[simp] theorem not_and_self {p : Prop} : ¬(¬p ∧ p) := fun h => h.1 h.2
@[simp] theorem not_and {a b : Prop} : ¬(a ∧ b) ↔ (a → ¬b) := ⟨fun h x y => h ⟨x, y⟩, fun h k => h k.1 k.2⟩
@[simp] theorem not_or {a b : Prop} : ¬(a ∨ b) ↔ ¬a ∧ ¬b := ⟨fun h => ⟨fun x => h (.inl x), fun x => h (.inr x)⟩, fun h k => k.elim h.1 h.2⟩
@[simp] theorem not_exists {α : Sort u} {p : α → Prop} : (¬∃ x, p x) ↔ ∀ x, ¬p x := ⟨fun h x hx => h ⟨x, hx⟩, fun h ⟨x, hx⟩ => h x hx⟩
@[simp] theorem exists_eq {α : Sort u} {a : α} : ∃ x, x = a := ⟨a, rfl⟩
@[simp] theorem exists_eq' {α : Sort u} {a : α} : ∃ x, a = x := ⟨a, rfl⟩
@[simp] theorem decide_eq_true_eq {p : Prop} [Decidable p] : (decide p = true) = p := propext ⟨of_decide_eq_true, decide_eq_true⟩
@[simp] theorem decide_true : decide True = true := rfl
@[simp] theorem decide_false : decide False = false := rfl

-- ===== Bool =====
@[simp] theorem Bool.not_true : (!true) = false := rfl
@[simp] theorem Bool.not_false : (!false) = true := rfl
@[simp] theorem Bool.not_not (b : Bool) : (!!b) = b := by cases b <;> rfl
@[simp] theorem Bool.and_true (b : Bool) : (b && true) = b := by cases b <;> rfl
@[simp] theorem Bool.true_and (b : Bool) : (true && b) = b := rfl
@[simp] theorem Bool.and_false (b : Bool) : (b && false) = false := by cases b <;> rfl
@[simp] theorem Bool.false_and (b : Bool) : (false && b) = false := rfl
@[simp] theorem Bool.or_true (b : Bool) : (b || true) = true := by cases b <;> rfl
@[simp] theorem Bool.true_or (b : Bool) : (true || b) = true := rfl
@[simp] theorem Bool.or_false (b : Bool) : (b || false) = b := by cases b <;> rfl
@[simp] theorem Bool.false_or (b : Bool) : (false || b) = b := rfl
theorem Bool.and_comm (a b : Bool) : (a && b) = (b && a) := by cases a <;> cases b <;> rfl
theorem Bool.or_comm (a b : Bool) : (a || b) = (b || a) := by cases a <;> cases b <;> rfl
@[simp] theorem Bool.false_eq_true : (false = true) = False := eq_false (fun h => nomatch h)
@[simp] theorem Bool.true_eq_false : (true = false) = False := eq_false (fun h => nomatch h)

-- ===== Nat =====
namespace Nat
@[simp] theorem add_zero (n : Nat) : n + 0 = n := rfl
@[simp] theorem zero_eq : Nat.zero = 0 := rfl
theorem add_succ (n m : Nat) : n + succ m = succ (n + m) := rfl
theorem add_one (n : Nat) : n + 1 = succ n := rfl
theorem succ_eq_add_one (n : Nat) : succ n = n + 1 := rfl
@[simp] protected theorem zero_add (n : Nat) : 0 + n = n := by
  induction n with
  | zero => rfl
  | succ n ih => exact congrArg succ ih
theorem succ_add (n m : Nat) : succ n + m = succ (n + m) := by
  induction m with
  | zero => rfl
  | succ m ih => exact congrArg succ ih
protected theorem add_comm (n m : Nat) : n + m = m + n := by
  induction m with
  | zero => exact (Nat.zero_add n).symm
  | succ m ih => exact (congrArg succ ih).trans (succ_add m n).symm
protected theorem add_assoc (n m k : Nat) : n + m + k = n + (m + k) := by
  induction k with
  | zero => rfl
  | succ k ih => exact congrArg succ ih
protected theorem add_left_comm (n m k : Nat) : n + (m + k) = m + (n + k) := by
  rw [← Nat.add_assoc, Nat.add_comm n m, Nat.add_assoc]
protected theorem add_right_comm (n m k : Nat) : n + m + k = n + k + m := by
  rw [Nat.add_assoc, Nat.add_comm m k, Nat.add_assoc]
@[simp] protected theorem mul_zero (n : Nat) : n * 0 = 0 := rfl
theorem mul_succ (n m : Nat) : n * succ m = n * m + n := rfl
theorem mul_add_one (n m : Nat) : n * (m + 1) = n * m + n := rfl
@[simp] protected theorem zero_mul (n : Nat) : 0 * n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih => exact ih
theorem succ_mul (n m : Nat) : succ n * m = n * m + m := by
  induction m with
  | zero => rfl
  | succ m ih => rw [mul_succ, mul_succ, ih, add_succ, add_succ, Nat.add_right_comm]
protected theorem mul_comm (n m : Nat) : n * m = m * n := by
  induction m with
  | zero => exact (Nat.zero_mul n).symm
  | succ m ih => rw [mul_succ, succ_mul, ih]
@[simp] protected theorem mul_one (n : Nat) : n * 1 = n := Nat.zero_add n
@[simp] protected theorem one_mul (n : Nat) : 1 * n = n := by rw [Nat.mul_comm, Nat.mul_one]
protected theorem left_distrib (n m k : Nat) : n * (m + k) = n * m + n * k := by
  induction k with
  | zero => rfl
  | succ k ih => rw [add_succ, mul_succ, ih, mul_succ, Nat.add_assoc]
protected theorem mul_add (n m k : Nat) : n * (m + k) = n * m + n * k := Nat.left_distrib n m k
protected theorem add_mul (n m k : Nat) : (n + m) * k = n * k + m * k := by
  rw [Nat.mul_comm, Nat.mul_add, Nat.mul_comm k n, Nat.mul_comm k m]
protected theorem mul_assoc (n m k : Nat) : n * m * k = n * (m * k) := by
  induction k with
  | zero => rfl
  | succ k ih => rw [mul_succ, ih, mul_succ, Nat.mul_add]
theorem succ_ne_zero (n : Nat) : succ n ≠ 0 := fun h => nomatch h
protected theorem add_left_cancel {n m k : Nat} (h : n + m = n + k) : m = k := by
  induction n with
  | zero => rw [Nat.zero_add, Nat.zero_add] at h; exact h
  | succ n ih => rw [Nat.succ_add, Nat.succ_add] at h; injection h with h; exact ih h
protected theorem add_right_cancel {n m k : Nat} (h : n + m = k + m) : n = k := by
  rw [Nat.add_comm n m, Nat.add_comm k m] at h; exact Nat.add_left_cancel h
protected theorem le_of_eq {n m : Nat} (h : n = m) : n ≤ m := h.rec (Nat.le_refl n)
theorem le_succ_of_le {n m : Nat} (h : n ≤ m) : n ≤ succ m := Nat.le.step h
theorem le_of_lt_succ {n m : Nat} (h : n < succ m) : n ≤ m := le_of_succ_le_succ h
theorem lt_succ_of_le {n m : Nat} (h : n ≤ m) : n < succ m := succ_le_succ h
protected theorem le_of_lt {n m : Nat} (h : n < m) : n ≤ m := Nat.le_trans (le_succ n) h
protected theorem lt_of_lt_of_le {n m k : Nat} (h₁ : n < m) (h₂ : m ≤ k) : n < k := Nat.le_trans h₁ h₂
protected theorem lt_of_le_of_lt {n m k : Nat} (h₁ : n ≤ m) (h₂ : m < k) : n < k := Nat.le_trans (succ_le_succ h₁) h₂
protected theorem lt_trans {n m k : Nat} (h₁ : n < m) (h₂ : m < k) : n < k := Nat.lt_of_lt_of_le h₁ (Nat.le_of_lt h₂)
theorem zero_lt_succ (n : Nat) : 0 < succ n := succ_le_succ (zero_le n)
theorem le_add_right (n k : Nat) : n ≤ n + k := by
  induction k with
  | zero => exact Nat.le.refl
  | succ k ih => exact Nat.le.step ih
theorem le_add_left (n k : Nat) : n ≤ k + n := by rw [Nat.add_comm]; exact le_add_right n k
protected theorem eq_or_lt_of_le {n m : Nat} (h : n ≤ m) : n = m ∨ n < m := by
  cases h with
  | refl => exact .inl rfl
  | step h => exact .inr (succ_le_succ h)
protected theorem le_total (n m : Nat) : n ≤ m ∨ m ≤ n := by
  induction m with
  | zero => exact .inr (zero_le n)
  | succ m ih =>
    cases ih with
    | inl h => exact .inl (Nat.le.step h)
    | inr h => cases Nat.eq_or_lt_of_le h with
      | inl e => exact .inl (le_total.le_of_eq_succ e)
      | inr h => exact .inr h
where le_of_eq_succ {n m : Nat} (e : m = n) : n ≤ succ m := by rw [e]; exact Nat.le_succ n
protected theorem le_antisymm {n m : Nat} (h₁ : n ≤ m) (h₂ : m ≤ n) : n = m := by
  cases Nat.eq_or_lt_of_le h₁ with
  | inl h => exact h
  | inr h => exact absurd (Nat.lt_of_lt_of_le h h₂) (Nat.lt_irrefl n)
protected theorem lt_or_ge (n m : Nat) : n < m ∨ n ≥ m := by
  cases Nat.le_total m n with
  | inl h => exact .inr h
  | inr h => cases Nat.eq_or_lt_of_le h with
    | inl e => exact .inr (Nat.le_of_eq e.symm)
    | inr h => exact .inl h
protected theorem not_le {n m : Nat} : ¬n ≤ m ↔ m < n :=
  ⟨fun h => (Nat.lt_or_ge m n).resolve_right h, fun h k => Nat.lt_irrefl _ (Nat.lt_of_lt_of_le h k)⟩
protected theorem not_lt {n m : Nat} : ¬n < m ↔ m ≤ n :=
  ⟨fun h => (Nat.lt_or_ge n m).resolve_left h, fun h k => Nat.lt_irrefl _ (Nat.lt_of_lt_of_le k h)⟩
protected theorem add_le_add_right {n m : Nat} (h : n ≤ m) (k : Nat) : n + k ≤ m + k := by
  induction k with
  | zero => exact h
  | succ k ih => exact succ_le_succ ih
protected theorem add_le_add_left {n m : Nat} (h : n ≤ m) (k : Nat) : k + n ≤ k + m := by
  rw [Nat.add_comm k n, Nat.add_comm k m]; exact Nat.add_le_add_right h k
protected theorem add_le_add {a b c d : Nat} (h₁ : a ≤ b) (h₂ : c ≤ d) : a + c ≤ b + d :=
  Nat.le_trans (Nat.add_le_add_right h₁ c) (Nat.add_le_add_left h₂ b)
@[simp] protected theorem sub_zero (n : Nat) : n - 0 = n := rfl
theorem sub_succ (n m : Nat) : n - succ m = pred (n - m) := rfl
theorem succ_sub_succ (n m : Nat) : succ n - succ m = n - m := by
  induction m with
  | zero => rfl
  | succ m ih => exact congrArg pred ih
@[simp] protected theorem sub_self (n : Nat) : n - n = 0 := by
  induction n with
  | zero => rfl
  | succ n ih => rw [Nat.succ_sub_succ]; exact ih
@[simp] theorem pow_zero (b : Nat) : b ^ 0 = 1 := rfl
theorem pow_succ (b n : Nat) : b ^ (n + 1) = b ^ n * b := rfl
@[simp] protected theorem le_zero_eq (n : Nat) : (n ≤ 0) = (n = 0) := propext ⟨fun h => Nat.le_antisymm h (zero_le n), fun h => Nat.le_of_eq h⟩
@[simp] theorem not_lt_zero (n : Nat) : ¬n < 0 := not_succ_le_zero n
attribute [simp] Nat.zero_le
end Nat
