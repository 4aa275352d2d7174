prelude
import Prelude.NatOrder
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! What compiled tactics quote beyond `omega`: the shapes `induction` and `cases` show for `Nat`, the lemmas of `subst`, `split` and `rw_if`, of
the arithmetic simprocs and of the termination prover. Then the default simp set. -/

-- ===== shapes `induction` and `cases` show for Nat =====
@[elab_as_elim, induction_eliminator, reducible]
protected noncomputable def Nat.recAux {motive : Nat → Sort u} (zero : motive 0) (succ : ∀ n, motive n → motive (n + 1)) (t : Nat) : motive t :=
  Nat.rec zero succ t
@[elab_as_elim, cases_eliminator, reducible]
protected def Nat.casesAuxOn {motive : Nat → Sort u} (t : Nat) (zero : motive 0) (succ : ∀ n, motive (n + 1)) : motive t :=
  match t with
  | 0 => zero
  | n + 1 => succ n
abbrev Nat.hasNotBit (mask n : Nat) : Prop := Nat.land 1 (Nat.shiftRight mask n) ≠ 1
abbrev Nat.Internal.elimOffset {α : Sort u} (a b k : Nat) (h₁ : a + k = b + k) (h₂ : a = b → α) : α := h₂ (Nat.add_right_cancel h₁)

-- ===== subst, split, congr =====
abbrev Eq.ndrecOn {α : Sort v} {a : α} {motive : α → Sort u} {b : α} (h : a = b) (m : motive a) : motive b := h.ndrec m
abbrev Eq.ndrec_symm {α : Sort v} {a : α} {motive : α → Sort u} (m : motive a) {b : α} (h : b = a) : motive b := h.symm.ndrec m
abbrev HEq.homo_ndrec {α : Sort v} {a : α} {motive : α → Sort u} (m : motive a) {b : α} (h : HEq a b) : motive b := (eq_of_heq h).ndrec m
abbrev HEq.homo_ndrec_symm {α : Sort v} {a : α} {motive : α → Sort u} (m : motive a) {b : α} (h : HEq b a) : motive b := (eq_of_heq h).symm.ndrec m
theorem Eq.substr {α : Sort u} {p : α → Prop} {a b : α} (h₁ : b = a) (h₂ : p a) : p b := h₁ ▸ h₂
theorem Eq.mpr_prop {p q : Prop} (h₁ : p = q) (h₂ : q) : p := h₁ ▸ h₂
theorem Eq.mpr_not {p q : Prop} (h₁ : p = q) (h₂ : ¬q) : ¬p := h₁ ▸ h₂
theorem ite_cond_congr {α : Sort u} {b c : Prop} {s : Decidable b} [Decidable c] {x y : α} (h : b = c) : ite b x y = ite c x y :=
  ite_congr h (fun _ => rfl) (fun _ => rfl)
theorem dite_cond_congr {α : Sort u} {b c : Prop} {s : Decidable b} [Decidable c] {x : b → α} {y : ¬b → α} (h : b = c) :
    dite b x y = dite c (fun k => x (h.mpr_prop k)) (fun k => y (h.mpr_not k)) := dite_congr h (fun _ => rfl) (fun _ => rfl)
theorem dite_eq_ite {α : Sort u} {c : Prop} {_ : Decidable c} {a b : α} : (dite c (fun _ => a) (fun _ => b)) = ite c a b := by
  cases Decidable.em c with
  | inl h => rw [ite_eq_left h]; exact dite_eq_left h
  | inr h => rw [ite_eq_right h]; exact dite_eq_right h
theorem Bool.cond_pos {α : Sort u} {b : Bool} {x y : α} (h : b = true) : cond b x y = x := by subst h; rfl
theorem Bool.cond_neg {α : Sort u} {b : Bool} {x y : α} (h : b = false) : cond b x y = y := by subst h; rfl
theorem proof_irrel_heq {p q : Prop} (hp : p) (hq : q) : HEq hp hq := by
  have h : p = q := propext ⟨fun _ => hq, fun _ => hp⟩
  subst h; exact HEq.rfl
noncomputable def Classical.ofNonempty {α : Sort u} [Nonempty α] : α := Classical.choice inferInstance

-- ===== constructors are injective (types declared before the elaborator could say so) =====
gen_injective_theorems% Nat
gen_injective_theorems% Option
gen_injective_theorems% List
gen_injective_theorems% Prod
gen_injective_theorems% Sum
gen_injective_theorems% Subtype
gen_injective_theorems% Sigma
gen_injective_theorems% PSigma
gen_injective_theorems% Fin
gen_injective_theorems% String

-- ===== Boolean equality =====
@[inline] def bne {α : Type u} [BEq α] (a b : α) : Bool := !(BEq.beq a b)
class ReflBEq (α : Type u) [BEq α] : Prop where
  protected rfl {a : α} : (a == a) = true
class LawfulBEq (α : Type u) [BEq α] : Prop extends ReflBEq α where
  eq_of_beq {a b : α} : (a == b) = true → a = b
export LawfulBEq (eq_of_beq)
protected theorem BEq.rfl {α : Type u} [BEq α] [ReflBEq α] {a : α} : (a == a) = true := ReflBEq.rfl
protected theorem BEq.refl {α : Type u} [BEq α] [ReflBEq α] (a : α) : (a == a) = true := ReflBEq.rfl
instance {α : Type u} [DecidableEq α] : LawfulBEq α where
  rfl := decide_eq_true rfl
  eq_of_beq := of_decide_eq_true
@[simp] theorem beq_iff_eq {α : Type u} [BEq α] [LawfulBEq α] {a b : α} : (a == b) = true ↔ a = b := ⟨eq_of_beq, fun h => h ▸ BEq.rfl⟩
@[simp] theorem beq_self_eq_true {α : Type u} [BEq α] [ReflBEq α] (a : α) : (a == a) = true := BEq.rfl
@[simp] theorem beq_eq_false_iff_ne {α : Type u} [BEq α] [LawfulBEq α] {a b : α} : (a == b) = false ↔ a ≠ b := by
  cases h : a == b with
  | true => exact ⟨fun k => (nomatch k), fun k => absurd (eq_of_beq h) k⟩
  | false => exact ⟨fun _ e => by rw [e, BEq.refl] at h; exact (nomatch h), fun _ => rfl⟩
@[simp] theorem bne_iff_ne {α : Type u} [BEq α] [LawfulBEq α] {a b : α} : (a != b) = true ↔ a ≠ b := by
  show (!(a == b)) = true ↔ _
  cases h : a == b with
  | true => exact ⟨fun k => (nomatch k), fun k => absurd (eq_of_beq h) k⟩
  | false => exact ⟨fun _ e => by rw [e, BEq.refl] at h; exact (nomatch h), fun _ => rfl⟩
theorem Bool.of_not_eq_true : {b : Bool} → ¬b = true → b = false := eq_false_of_ne_true
theorem Bool.of_not_eq_false : {b : Bool} → ¬b = false → b = true := eq_true_of_ne_false
@[simp] theorem Bool.not_eq_true (b : Bool) : (¬b = true) = (b = false) := by cases b <;> decide
@[simp] theorem Bool.not_eq_false (b : Bool) : (¬b = false) = (b = true) := by cases b <;> decide

-- ===== the arithmetic simprocs =====
namespace Nat.Simproc
-- Compiled code applies these by position: the order of the arguments, implicit ones too, is its own.
protected theorem add_eq_gt (a : Nat) {b c : Nat} (h : b > c) : (a + b = c) = False := eq_false fun e => Nat.not_le.2 h (e ▸ le_add_left b a)
protected theorem eq_add_gt (a : Nat) {b c : Nat} (h : c > a) : (a = b + c) = False := eq_false fun e => Nat.not_le.2 h (e ▸ le_add_left c b)
protected theorem add_eq_le (a : Nat) {b c : Nat} (h : b ≤ c) : (a + b = c) = (a = c - b) :=
  propext ⟨Nat.eq_sub_of_add_eq, fun e => by rw [e, Nat.sub_add_cancel h]⟩
protected theorem eq_add_le (a : Nat) {b c : Nat} (h : c ≤ a) : (a = b + c) = (b = a - c) :=
  propext (eq_comm.trans (iff_of_eq (Nat.Simproc.add_eq_le b h)))
protected theorem add_eq_add_le (a c : Nat) {b d : Nat} (h : b ≤ d) : (a + b = c + d) = (a = c + (d - b)) := by
  rw [← Nat.add_sub_assoc h]; exact Nat.Simproc.add_eq_le a (Nat.le_trans h (le_add_left d c))
protected theorem add_eq_add_ge (a c : Nat) {b d : Nat} (h : b ≥ d) : (a + b = c + d) = (a + (b - d) = c) :=
  propext (eq_comm.trans ((iff_of_eq (Nat.Simproc.add_eq_add_le c a h)).trans eq_comm))
protected theorem add_le_le (a : Nat) {b c : Nat} (h : b ≤ c) : (a + b ≤ c) = (a ≤ c - b) := propext (le_sub_iff_add_le h).symm
protected theorem add_le_gt (a : Nat) {b c : Nat} (h : b > c) : (a + b ≤ c) = False := eq_false fun e => Nat.not_le.2 h (le_of_add_left_le e)
protected theorem le_add_le (a : Nat) {b c : Nat} (h : a ≤ c) : (a ≤ b + c) = True := eq_true (Nat.le_add_left_of_le h)
protected theorem le_add_ge (a : Nat) {b c : Nat} (h : a ≥ c) : (a ≤ b + c) = (a - c ≤ b) := propext sub_le_iff_le_add.symm
protected theorem add_le_add_le (a c : Nat) {b d : Nat} (h : b ≤ d) : (a + b ≤ c + d) = (a ≤ c + (d - b)) := by
  rw [← Nat.add_sub_assoc h]; exact Nat.Simproc.add_le_le a (Nat.le_trans h (le_add_left d c))
protected theorem add_le_add_ge (a c : Nat) {b d : Nat} (h : b ≥ d) : (a + b ≤ c + d) = (a + (b - d) ≤ c) := by
  rw [← Nat.add_sub_assoc h]; exact propext sub_le_iff_le_add.symm
protected theorem add_sub_add_le (a c : Nat) {b d : Nat} (h : b ≤ d) : a + b - (c + d) = a - (c + (d - b)) := by
  rw [← Nat.add_sub_assoc h, ← Nat.add_sub_add_right a b, Nat.sub_add_cancel (Nat.le_trans h (le_add_left d c))]
protected theorem add_sub_add_ge (a c : Nat) {b d : Nat} (h : b ≥ d) : a + b - (c + d) = a + (b - d) - c := by
  rw [← Nat.add_sub_assoc h, Nat.add_comm c d, Nat.sub_sub]
protected theorem add_sub_le (a : Nat) {b c : Nat} (h : b ≤ c) : a + b - c = a - (c - b) := by rw [← Nat.add_sub_add_right a b, Nat.sub_add_cancel h]
protected theorem sub_add_eq_comm (a b c : Nat) : a - (b + c) = a - c - b := by rw [Nat.add_comm, Nat.sub_add_eq]
theorem beqEqOfEqEq {a b c d : Nat} (h : (a = b) = (c = d)) : (a == b) = (c == d) := by
  cases k : c == d with
  | true => exact beq_iff_eq.2 (h ▸ beq_iff_eq.1 k)
  | false => exact beq_eq_false_iff_ne.2 (fun e => beq_eq_false_iff_ne.1 k (h ▸ e))
theorem beqFalseOfEqFalse {a b : Nat} (h : (a = b) = False) : (a == b) = false := beq_eq_false_iff_ne.2 (of_eq_false h)
theorem bneEqOfEqEq {a b c d : Nat} (h : (a = b) = (c = d)) : (a != b) = (c != d) := congrArg (!·) (beqEqOfEqEq h)
theorem bneTrueOfEqFalse {a b : Nat} (h : (a = b) = False) : (a != b) = true := bne_iff_ne.2 (of_eq_false h)
end Nat.Simproc
namespace Nat
theorem not_le_eq (a b : Nat) : (¬a ≤ b) = (b + 1 ≤ a) := propext Nat.not_le
theorem not_ge_eq (a b : Nat) : (¬a ≥ b) = (a + 1 ≤ b) := propext Nat.not_le
theorem not_lt_eq (a b : Nat) : (¬a < b) = (b ≤ a) := propext Nat.not_lt
theorem not_gt_eq (a b : Nat) : (¬a > b) = (a ≤ b) := propext Nat.not_lt
theorem dvd_eq_true_of_mod_eq_zero {m n : Nat} (h : (n % m == 0) = true) : (m ∣ n) = True := eq_true (dvd_of_mod_eq_zero (beq_iff_eq.1 h))
theorem dvd_eq_false_of_mod_ne_zero {m n : Nat} (h : (n % m != 0) = true) : (m ∣ n) = False :=
  eq_false fun k => bne_iff_ne.1 h (mod_eq_zero_of_dvd k)
theorem lt_of_lt_of_eq {n m k : Nat} (h₁ : n < m) (h₂ : m = k) : n < k := h₂ ▸ h₁
end Nat
namespace Int
theorem not_le_eq (a b : Int) : (¬a ≤ b) = (b + 1 ≤ a) := propext Int.not_le
theorem not_ge_eq (a b : Int) : (¬a ≥ b) = (a + 1 ≤ b) := propext Int.not_le
theorem not_lt_eq (a b : Int) : (¬a < b) = (b ≤ a) := propext Int.not_lt
theorem not_gt_eq (a b : Int) : (¬a > b) = (a ≤ b) := propext Int.not_lt
theorem dvd_eq_true_of_mod_eq_zero {a b : Int} (h : (b % a == 0) = true) : (a ∣ b) = True := eq_true (dvd_of_emod_eq_zero (beq_iff_eq.1 h))
theorem dvd_eq_false_of_mod_ne_zero {a b : Int} (h : (b % a != 0) = true) : (a ∣ b) = False :=
  eq_false fun k => bne_iff_ne.1 h (emod_eq_zero_of_dvd k)
end Int

-- ===== termination =====
@[wf_preprocess] theorem ite_eq_dite {α : Sort u} {c : Prop} [Decidable c] {a b : α} : ite c a b = dite c (fun _ => a) (fun _ => b) :=
  dite_eq_ite.symm

-- ===== the default simp set =====
attribute [simp] Nat.le_refl Nat.lt_irrefl Nat.succ_ne_zero Nat.le_add_right Nat.le_add_left Nat.dvd_refl
attribute [simp] Int.add_zero Int.zero_add Int.mul_one Int.one_mul Int.mul_zero Int.zero_mul Int.sub_self Int.neg_neg Int.le_refl Int.lt_irrefl
attribute [simp] Nat.lt_add_one Nat.zero_lt_add_one Nat.add_one_ne_zero Nat.add_left_cancel_iff Nat.add_right_cancel_iff Nat.add_le_add_iff_left
  Nat.add_le_add_iff_right Nat.add_lt_add_iff_left Nat.add_lt_add_iff_right Nat.add_sub_cancel Nat.add_sub_cancel_left Nat.zero_sub Nat.lt_one_iff
  Nat.pos_of_lt_add_right Nat.succ_eq_add_one Nat.pred_zero Nat.pred_succ Nat.max_self Nat.min_self Nat.max_zero Nat.zero_max Nat.add_eq_zero_iff Nat.add_eq_left
  Nat.add_eq_right Nat.left_eq_add Nat.right_eq_add Nat.add_one_sub_one
@[simp] theorem ite_self {α : Sort u} {c : Prop} {_ : Decidable c} (a : α) : (if c then a else a) = a := by split <;> rfl
@[simp] theorem exists_prop {a b : Prop} : (∃ _h : a, b) ↔ a ∧ b := ⟨fun ⟨h, k⟩ => ⟨h, k⟩, fun ⟨h, k⟩ => ⟨h, k⟩⟩
@[simp] theorem exists_false {α : Sort u} : ¬(∃ _a : α, False) := fun ⟨_, h⟩ => h
@[simp] theorem exists_const {α : Sort u} [Nonempty α] {b : Prop} : (∃ _ : α, b) ↔ b :=
  ⟨fun ⟨_, h⟩ => h, fun h => ⟨Classical.ofNonempty, h⟩⟩
@[simp] theorem forall_const {α : Sort u} [Nonempty α] {b : Prop} : (α → b) ↔ b := ⟨fun h => h Classical.ofNonempty, fun h _ => h⟩
@[simp] theorem forall_eq {α : Sort u} {p : α → Prop} {a' : α} : (∀ a, a = a' → p a) ↔ p a' := ⟨fun h => h a' rfl, fun h a e => e ▸ h⟩
@[simp] theorem forall_eq' {α : Sort u} {p : α → Prop} {a' : α} : (∀ a, a' = a → p a) ↔ p a' := ⟨fun h => h a' rfl, fun h a e => e ▸ h⟩
@[simp] theorem exists_eq_left {α : Sort u} {p : α → Prop} {a' : α} : (∃ a, a = a' ∧ p a) ↔ p a' :=
  ⟨fun ⟨_, e, h⟩ => e ▸ h, fun h => ⟨a', rfl, h⟩⟩
@[simp] theorem exists_eq_left' {α : Sort u} {p : α → Prop} {a' : α} : (∃ a, a' = a ∧ p a) ↔ p a' :=
  ⟨fun ⟨_, e, h⟩ => e ▸ h, fun h => ⟨a', rfl, h⟩⟩
@[simp] theorem exists_eq_right {α : Sort u} {p : α → Prop} {a' : α} : (∃ a, p a ∧ a = a') ↔ p a' :=
  ⟨fun ⟨_, h, e⟩ => e ▸ h, fun h => ⟨a', h, rfl⟩⟩
@[simp] theorem and_imp {a b c : Prop} : (a ∧ b → c) ↔ (a → b → c) := ⟨fun h x y => h ⟨x, y⟩, fun h ⟨x, y⟩ => h x y⟩
@[simp] theorem gt_iff_lt {α : Type u} [LT α] {x y : α} : x > y ↔ y < x := Iff.rfl
@[simp] theorem ge_iff_le {α : Type u} [LE α] {x y : α} : x ≥ y ↔ y ≤ x := Iff.rfl
@[simp] theorem not_imp {a b : Prop} : ¬(a → b) ↔ a ∧ ¬b := Classical.not_imp
@[simp] theorem not_forall {α : Sort u} {p : α → Prop} : (¬∀ x, p x) ↔ ∃ x, ¬p x := Classical.not_forall
attribute [symm] Eq.symm Iff.symm HEq.symm Ne.symm
attribute [refl] Nat.le_refl Iff.refl Int.le_refl
attribute [ext] funext
