prelude
import Prelude.OmegaConstraint
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v

/-! The facts by which compiled `omega` turns hypotheses into linear constraints over `Int`. Names and argument order are its own. -/

theorem le_of_le_of_eq {α : Type u} {a b c : α} [LE α] (h₁ : a ≤ b) (h₂ : b = c) : a ≤ c := h₂ ▸ h₁

-- ===== Nat =====
namespace Nat
protected theorem lt_or_gt_of_ne {a b : Nat} (h : a ≠ b) : a < b ∨ a > b :=
  (Nat.lt_or_ge a b).elim .inl fun k => (Nat.eq_or_lt_of_le k).elim (fun e => absurd e.symm h) .inr
protected theorem lt_of_not_le {a b : Nat} (h : ¬a ≤ b) : b < a := Nat.not_le.1 h
protected theorem le_of_not_lt {a b : Nat} (h : ¬a < b) : b ≤ a := Nat.not_lt.1 h
end Nat

-- ===== Int =====
namespace Int
protected theorem min_def (a b : Int) : min a b = if a ≤ b then a else b := rfl
protected theorem max_def (a b : Int) : max a b = if a ≤ b then b else a := rfl
protected theorem min_le_left (a b : Int) : min a b ≤ a := by
  rw [Int.min_def]; split
  · exact Int.le_refl a
  · exact Int.le_of_lt (Int.not_le.1 ‹_›)
protected theorem min_le_right (a b : Int) : min a b ≤ b := by
  rw [Int.min_def]; split
  · assumption
  · exact Int.le_refl b
protected theorem le_max_left (a b : Int) : a ≤ max a b := by
  rw [Int.max_def]; split
  · assumption
  · exact Int.le_refl a
protected theorem le_max_right (a b : Int) : b ≤ max a b := by
  rw [Int.max_def]; split
  · exact Int.le_refl b
  · exact Int.le_of_lt (Int.not_le.1 ‹_›)
protected theorem ediv_neg (a b : Int) : a / -b = -(a / b) := by
  match a, b with
  | ofNat m, ofNat 0 => show ofNat (m / 0) = -ofNat (m / 0); rw [Nat.div_zero]; rfl
  | ofNat m, ofNat (Nat.succ n) => rfl
  | ofNat m, negSucc n => show ofNat (m / Nat.succ n) = - -ofNat (m / Nat.succ n); rw [Int.neg_neg]
  | negSucc m, ofNat 0 => rfl
  | negSucc m, ofNat (Nat.succ n) => rfl
  | negSucc m, negSucc n => rfl
theorem emod_eq_zero_of_dvd {a b : Int} : a ∣ b → b % a = 0
  | ⟨c, e⟩ => by
    subst e
    have key : ∀ n : Nat, ∀ c : Int, ((n : Int) * c) % (n : Int) = 0 := fun n c => by
      cases n with
      | zero => show (0 : Int) * c - 0 * _ = 0; rw [Int.zero_mul, Int.zero_mul]; rfl
      | succ n => rw [emod_def, mul_ediv_cancel_of_pos c (ofNat_le.2 (Nat.zero_lt_succ n)), Int.sub_self]
    match a with
    | ofNat n => exact key n c
    | negSucc n =>
      have h : negSucc n = -((Nat.succ n : Nat) : Int) := rfl
      rw [h, emod_def, Int.ediv_neg, Int.neg_mul (Nat.succ n : Nat) (-_), Int.mul_neg, Int.neg_neg, Int.neg_mul, ← Int.mul_neg, ← emod_def]
      exact key _ _
theorem dvd_of_emod_eq_zero {a b : Int} (h : b % a = 0) : a ∣ b :=
  ⟨b / a, by have := ediv_add_emod b a; rw [h, Int.add_zero] at this; exact this.symm⟩
theorem emod_pos_of_not_dvd {a b : Int} (h : ¬a ∣ b) : a = 0 ∨ 0 < b % a := by
  by_cases ha : a = 0
  · exact .inl ha
  · refine .inr ((Int.lt_or_gt_of_ne fun e => h (dvd_of_emod_eq_zero e)).elim (fun k => ?_) id)
    exact (Int.not_le_of_lt k (emod_nonneg b ha)).elim
theorem toNat_eq_max : (a : Int) → (toNat a : Int) = max a 0
  | ofNat n => by show _ = if (n : Int) ≤ 0 then 0 else _; split
                  · exact Int.le_antisymm ‹_› (natCast_nonneg n)
                  · rfl
  | negSucc n => by
    have h : negSucc n ≤ 0 := neg_le_neg (natCast_nonneg (Nat.succ n))
    exact (ite_eq_left h).symm
theorem le_natAbs {a : Int} : a ≤ natAbs a := by
  cases a with
  | ofNat n => exact Int.le_refl _
  | negSucc n => exact Int.le_trans (neg_le_neg (natCast_nonneg (Nat.succ n))) (natCast_nonneg _)
end Int

namespace Lean.Omega
namespace Nat
theorem lt_of_gt {x y : Nat} (h : x > y) : y < x := h
theorem le_of_ge {x y : Nat} (h : x ≥ y) : y ≤ x := h
end Nat

namespace Int
theorem add_congr {a b c d : Int} (h₁ : a = b) (h₂ : c = d) : a + c = b + d := by rw [h₁, h₂]
theorem sub_congr {a b c d : Int} (h₁ : a = b) (h₂ : c = d) : a - c = b - d := by rw [h₁, h₂]
theorem mul_congr {a b c d : Int} (h₁ : a = b) (h₂ : c = d) : a * c = b * d := by rw [h₁, h₂]
theorem neg_congr {a b : Int} (h : a = b) : -a = -b := by rw [h]
theorem lt_of_not_le {x y : Int} (h : ¬x ≤ y) : y < x := Int.not_le.1 h
theorem le_of_not_lt {x y : Int} (h : ¬x < y) : y ≤ x := Int.not_lt.1 h
theorem lt_of_gt {x y : Int} (h : x > y) : y < x := h
theorem le_of_ge {x y : Int} (h : x ≥ y) : y ≤ x := h
theorem ofNat_congr {x y : Nat} (h : x = y) : (x : Int) = (y : Int) := congrArg _ h
theorem ofNat_le_of_le {x y : Nat} (h : x ≤ y) : (x : Int) ≤ (y : Int) := Int.ofNat_le.2 h
theorem ofNat_lt_of_lt {x y : Nat} (h : x < y) : (x : Int) < (y : Int) := Int.ofNat_le.2 h
theorem natCast_ofNat {x : Nat} : ((no_index (OfNat.ofNat x) : Nat) : Int) = OfNat.ofNat x := rfl
theorem emod_ofNat_nonneg {x : Nat} {y : Int} : (x : Int) % y ≥ 0 := _root_.Int.emod_ofNat_nonneg
theorem ofNat_mul_nonneg {x y : Nat} : (x : Int) * y ≥ 0 := Int.natCast_nonneg (x * y)
theorem ofNat_pos_of_pos {x : Nat} (h : 0 < x) : 0 < (x : Int) := Int.ofNat_le.2 h
theorem ofNat_pow (a b : Nat) : ((a ^ b : Nat) : Int) = (a : Int) ^ b := by
  induction b with
  | zero => rfl
  | succ b ih => show ((a ^ b * a : Nat) : Int) = (a : Int) ^ b * a; rw [Int.natCast_mul, ih]
theorem pos_pow_of_pos (b : Int) (exp : Nat) (h : 0 < b) : 0 < b ^ exp := by
  induction exp with
  | zero => exact Int.le_refl 1
  | succ n ih =>
    show (0 : Int) + 1 ≤ b ^ n * b
    have := Int.mul_le_mul_of_nonneg_left h (Int.le_of_lt ih)
    rw [Int.zero_add, Int.mul_one] at this
    exact Int.le_trans ih this
theorem ofNat_shiftLeft_eq {x y : Nat} : ((x <<< y : Nat) : Int) = (x : Int) * (2 ^ y : Nat) := rfl
theorem ofNat_shiftRight_eq_div_pow {x y : Nat} : ((x >>> y : Nat) : Int) = (x : Int) / (2 ^ y : Nat) := rfl
theorem ofNat_sub_dichotomy {a b : Nat} : b ≤ a ∧ ((a - b : Nat) : Int) = a - b ∨ a < b ∧ ((a - b : Nat) : Int) = 0 := by
  cases Nat.lt_or_ge a b with
  | inl h => exact .inr ⟨h, congrArg _ (Nat.sub_eq_zero_of_le (Nat.le_of_lt h))⟩
  | inr h =>
    obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
    rw [Nat.add_sub_cancel_left, Int.natCast_add, Int.add_comm, Int.add_sub_cancel]
    exact .inl ⟨h, rfl⟩
theorem ofNat_sub_sub {a b c : Nat} : ((a - b - c : Nat) : Int) = ((a - (b + c) : Nat) : Int) := by
  refine congrArg _ ?_
  induction c with
  | zero => rfl
  | succ c ih => exact congrArg Nat.pred ih
theorem ofNat_min (a b : Nat) : ((min a b : Nat) : Int) = min (a : Int) (b : Int) := by
  show ((if a ≤ b then a else b : Nat) : Int) = if (a : Int) ≤ b then (a : Int) else b
  by_cases h : a ≤ b
  · rw [ite_eq_left h, ite_eq_left (Int.ofNat_le.2 h)]
  · rw [ite_eq_right h, ite_eq_right fun k => h (Int.ofNat_le.1 k)]
theorem ofNat_max (a b : Nat) : ((max a b : Nat) : Int) = max (a : Int) (b : Int) := by
  show ((if a ≤ b then b else a : Nat) : Int) = if (a : Int) ≤ b then (b : Int) else a
  by_cases h : a ≤ b
  · rw [ite_eq_left h, ite_eq_left (Int.ofNat_le.2 h)]
  · rw [ite_eq_right h, ite_eq_right fun k => h (Int.ofNat_le.1 k)]
theorem ofNat_natAbs (a : Int) : (a.natAbs : Int) = if 0 ≤ a then a else -a := by
  cases a with
  | ofNat n => exact (ite_eq_left (Int.natCast_nonneg n)).symm
  | negSucc n => exact (ite_eq_right fun h => nomatch h).symm
theorem neg_le_natAbs {a : Int} : -a ≤ a.natAbs := by
  cases a with
  | ofNat n => exact Int.le_trans (Int.neg_le_neg (Int.natCast_nonneg n)) (Int.natCast_nonneg _)
  | negSucc n => exact Int.le_refl _
theorem ofNat_fst_mk {β : Type u} {x : Nat} {y : β} : (Prod.fst (x, y) : Int) = x := rfl
theorem ofNat_snd_mk {α : Type u} {x : α} {y : Nat} : (Prod.snd (x, y) : Int) = y := rfl
end Int

-- ===== products =====
namespace Prod
theorem fst_mk {α : Type u} {β : Type v} {x : α} {y : β} : (Prod.mk x y).fst = x := rfl
theorem snd_mk {α : Type u} {β : Type v} {x : α} {y : β} : (Prod.mk x y).snd = y := rfl
theorem of_lex {α : Type u} {β : Type v} {r : α → α → Prop} {s : β → β → Prop} {p q : α × β} (h : Prod.Lex r s p q) :
    r p.fst q.fst ∨ p.fst = q.fst ∧ s p.snd q.snd := by
  cases h with
  | left _ _ h => exact .inl h
  | right _ h => exact .inr ⟨rfl, h⟩
theorem of_not_lex {α : Type u} {β : Type v} {r : α → α → Prop} [DecidableEq α] {s : β → β → Prop} {p q : α × β} (h : ¬Prod.Lex r s p q) :
    ¬r p.fst q.fst ∧ (p.fst ≠ q.fst ∨ ¬s p.snd q.snd) := by
  obtain ⟨a, b⟩ := p; obtain ⟨c, d⟩ := q
  refine ⟨fun k => h (.left _ _ k), ?_⟩
  by_cases e : a = c
  · subst e; exact .inr fun k => h (.right _ k)
  · exact .inl e
end Prod

-- ===== propositional connectives =====
theorem and_not_not_of_not_or {p q : Prop} (h : ¬(p ∨ q)) : ¬p ∧ ¬q := ⟨fun k => h (.inl k), fun k => h (.inr k)⟩
namespace Decidable
theorem or_not_not_of_not_and {p q : Prop} [Decidable p] [Decidable q] (h : ¬(p ∧ q)) : ¬p ∨ ¬q :=
  if hp : p then .inr fun hq => h ⟨hp, hq⟩ else .inl hp
theorem and_or_not_and_not_of_iff {p q : Prop} [Decidable q] (h : p ↔ q) : p ∧ q ∨ ¬p ∧ ¬q :=
  if hq : q then .inl ⟨h.2 hq, hq⟩ else .inr ⟨fun hp => hq (h.1 hp), hq⟩
theorem and_not_of_not_imp {p q : Prop} [Decidable p] (h : ¬(p → q)) : p ∧ ¬q :=
  if hp : p then ⟨hp, fun hq => h fun _ => hq⟩ else (h fun k => absurd k hp).elim
theorem and_not_or_not_and_of_not_iff {p q : Prop} [Decidable p] [Decidable q] (h : ¬(p ↔ q)) : p ∧ ¬q ∨ ¬p ∧ q :=
  if hp : p then .inl ⟨hp, fun hq => h ⟨fun _ => hq, fun _ => hp⟩⟩
  else if hq : q then .inr ⟨hp, hq⟩ else (h ⟨fun k => absurd k hp, fun k => absurd k hq⟩).elim
end Decidable
theorem ite_disjunction {α : Type u} {p : Prop} [Decidable p] {a b : α} :
    (p ∧ (if p then a else b) = a) ∨ (¬p ∧ (if p then a else b) = b) :=
  if h : p then .inl ⟨h, ite_eq_left h⟩ else .inr ⟨h, ite_eq_right h⟩
end Lean.Omega

theorem Decidable.not_or_of_imp {a b : Prop} [Decidable a] (h : a → b) : ¬a ∨ b := if ha : a then .inr (h ha) else .inl ha
noncomputable abbrev Exists.choose {α : Sort u} {p : α → Prop} (h : ∃ x, p x) : α := Classical.choose h
theorem Exists.choose_spec {α : Sort u} {p : α → Prop} (h : ∃ x, p x) : p h.choose := Classical.choose_spec h
