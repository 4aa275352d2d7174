prelude
import Prelude.Arith
set_option autoImplicit false
set_option linter.unusedVariables false
set_option linter.unusedSimpArgs false
universe u v w

/-! The integers: two constructors, computed on by the code generator as machine and big integers, and their ordered-ring laws.

Every integer is a difference of two naturals (`exists_snn`); each law is proved once on differences, where it is a law of `Nat`. -/

theorem Nat.sub_eq_zero_of_le {n m : Nat} (h : n ≤ m) : n - m = 0 := by
  induction h with
  | refl => exact Nat.sub_self n
  | step _ ih => exact congrArg Nat.pred ih
theorem Nat.add_sub_cancel_left (n m : Nat) : n + m - n = m := by
  induction n with
  | zero => exact Nat.zero_add m
  | succ n ih => rw [Nat.succ_add, Nat.succ_sub_succ]; exact ih
theorem Nat.exists_eq_add_of_le {m n : Nat} (h : m ≤ n) : ∃ k, n = m + k := by
  induction h with
  | refl => exact ⟨0, rfl⟩
  | step _ ih => cases ih with | intro k hk => exact ⟨k + 1, congrArg Nat.succ hk⟩

class NatCast (R : Type u) where natCast : Nat → R
@[coe, reducible, match_pattern] protected def Nat.cast {R : Type u} [NatCast R] : Nat → R := NatCast.natCast
instance {R : Type u} [NatCast R] : CoeTail Nat R := ⟨Nat.cast⟩
instance {R : Type u} [NatCast R] : CoeHTCT Nat R := ⟨Nat.cast⟩
set_option genCtorIdx false in
inductive Int : Type where
  | ofNat : Nat → Int
  | negSucc : Nat → Int
attribute [extern "lean_nat_to_int"] Int.ofNat
attribute [extern "lean_int_neg_succ_of_nat"] Int.negSucc
set_option bootstrap.genMatcherCode false
instance instNatCastInt : NatCast Int := ⟨Int.ofNat⟩
instance instOfNat {n : Nat} : OfNat Int n := ⟨Int.ofNat n⟩
namespace Int
instance : Inhabited Int := ⟨ofNat 0⟩
def negOfNat : Nat → Int
  | 0 => 0
  | .succ m => negSucc m
def subNatNat (m n : Nat) : Int := match (n - m : Nat) with
  | 0 => ofNat (m - n)
  | .succ k => negSucc k
@[extern "lean_int_neg"] protected def neg : Int → Int
  | ofNat n => negOfNat n
  | negSucc n => ofNat (.succ n)
instance instNegInt : Neg Int := ⟨Int.neg⟩
@[extern "lean_int_add"] protected def add : Int → Int → Int
  | ofNat m, ofNat n => ofNat (m + n)
  | ofNat m, negSucc n => subNatNat m (.succ n)
  | negSucc m, ofNat n => subNatNat n (.succ m)
  | negSucc m, negSucc n => negSucc (.succ (m + n))
instance instAdd : Add Int := ⟨Int.add⟩
@[extern "lean_int_mul"] protected def mul : Int → Int → Int
  | ofNat m, ofNat n => ofNat (m * n)
  | ofNat m, negSucc n => negOfNat (m * .succ n)
  | negSucc m, ofNat n => negOfNat (.succ m * n)
  | negSucc m, negSucc n => ofNat (.succ m * .succ n)
instance instMul : Mul Int := ⟨Int.mul⟩
@[extern "lean_int_sub"] protected def sub (m n : Int) : Int := m + -n
instance instSub : Sub Int := ⟨Int.sub⟩
inductive NonNeg : Int → Prop where
  | mk (n : Nat) : NonNeg (ofNat n)
protected def le (a b : Int) : Prop := NonNeg (b - a)
instance instLEInt : LE Int := ⟨Int.le⟩
protected def lt (a b : Int) : Prop := (a + 1) ≤ b
instance instLTInt : LT Int := ⟨Int.lt⟩
@[extern "lean_nat_abs"] def natAbs : Int → Nat
  | ofNat m => m
  | negSucc m => .succ m
theorem tag_ne {P : Prop} {a b : Nat} (h : ofNat a = negSucc b) : P :=
  (noConfusion_of_Nat (fun x : Int => Int.rec (motive := fun _ => Nat) (fun _ => 0) (fun _ => 1) x) h).elim
theorem not_nonneg_negSucc {n : Nat} (h : NonNeg (negSucc n)) : False :=
  h.rec (motive := fun x _ => Int.rec (motive := fun _ => Prop) (fun _ => True) (fun _ => False) x) (fun _ => trivial)
@[extern "lean_int_dec_eq"] protected def decEq (a b : Int) : Decidable (a = b) :=
  match a, b with
  | ofNat a, ofNat b => if h : a = b then isTrue (h ▸ rfl) else isFalse (fun e => h (congrArg natAbs e))
  | ofNat _, negSucc _ => isFalse (fun h => tag_ne h)
  | negSucc _, ofNat _ => isFalse (fun h => tag_ne h.symm)
  | negSucc a, negSucc b => if h : a = b then isTrue (h ▸ rfl) else isFalse (fun e => h (congrArg Nat.pred (congrArg natAbs e)))
instance instDecidableEq : DecidableEq Int := Int.decEq
@[extern "lean_int_dec_nonneg"] def decNonneg (m : Int) : Decidable (NonNeg m) := match m with
  | ofNat m => isTrue (NonNeg.mk m)
  | negSucc _ => isFalse not_nonneg_negSucc
@[extern "lean_int_dec_le"] instance decLe (a b : Int) : Decidable (a ≤ b) := decNonneg _
@[extern "lean_int_dec_lt"] instance decLt (a b : Int) : Decidable (a < b) := decNonneg _
attribute [gen_constructor_elims] Int
instance instMinInt : Min Int := ⟨fun a b => if a ≤ b then a else b⟩
instance instMaxInt : Max Int := ⟨fun a b => if a ≤ b then b else a⟩
def toNat : Int → Nat
  | ofNat n => n
  | negSucc _ => 0

-- every integer is a difference of naturals; the ring laws follow from those of Nat
theorem snn_add_left (b k : Nat) : subNatNat (b + k) b = ofNat k := by
  unfold subNatNat; rw [Nat.sub_eq_zero_of_le (Nat.le_add_right b k), Nat.add_sub_cancel_left]
theorem snn_add_right (a k : Nat) : subNatNat a (a + Nat.succ k) = negSucc k := by
  unfold subNatNat; rw [Nat.add_sub_cancel_left]
theorem snn_cases (a b : Nat) : (∃ k, a = b + k) ∨ (∃ k, b = a + Nat.succ k) := by
  cases Nat.lt_or_ge a b with
  | inr h => exact .inl (Nat.exists_eq_add_of_le h)
  | inl h => cases Nat.exists_eq_add_of_le h with
    | intro k hk => exact .inr ⟨k, by rw [hk, Nat.succ_add]; rfl⟩
theorem snn_shift (a b k : Nat) : subNatNat (a + k) (b + k) = subNatNat a b := by
  cases snn_cases a b with
  | inl h => obtain ⟨l, h⟩ := h; rw [h, snn_add_left, Nat.add_right_comm, snn_add_left]
  | inr h => obtain ⟨l, h⟩ := h; rw [h, snn_add_right, Nat.add_right_comm, snn_add_right]
theorem snn_eq {a b c d : Nat} (h : a + d = c + b) : subNatNat a b = subNatNat c d := by
  rw [← snn_shift a b d, h, ← snn_shift c d b, Nat.add_comm b d]
theorem exists_snn (x : Int) : ∃ a b, x = subNatNat a b := by
  cases x with
  | ofNat n => exact ⟨n, 0, by have h := snn_add_left 0 n; rw [Nat.zero_add] at h; exact h.symm⟩
  | negSucc n => exact ⟨0, Nat.succ n, by have h := snn_add_right 0 n; rw [Nat.zero_add] at h; exact h.symm⟩
theorem neg_snn (a b : Nat) : -subNatNat a b = subNatNat b a := by
  cases snn_cases a b with
  | inl h =>
    obtain ⟨k, h⟩ := h; rw [h, snn_add_left]
    cases k with
    | zero => exact (snn_add_left b 0).symm
    | succ k => exact (snn_add_right b k).symm
  | inr h => obtain ⟨k, h⟩ := h; rw [h, snn_add_right, snn_add_left]; rfl
theorem add_snn (a b c d : Nat) : subNatNat a b + subNatNat c d = subNatNat (a + c) (b + d) := by
  cases snn_cases a b with
  | inl h =>
    obtain ⟨k, h⟩ := h; subst h; rw [snn_add_left]
    cases snn_cases c d with
    | inl h =>
      obtain ⟨l, h⟩ := h; subst h; rw [snn_add_left]
      have e : b + k + (d + l) = (b + d) + (k + l) := by simp only [Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]
      rw [e, snn_add_left]; rfl
    | inr h =>
      obtain ⟨l, h⟩ := h; subst h; rw [snn_add_right]
      show subNatNat k (Nat.succ l) = _
      exact snn_eq (by simp only [Nat.add_comm, Nat.add_left_comm, Nat.add_assoc])
  | inr h =>
    obtain ⟨k, h⟩ := h; subst h; rw [snn_add_right]
    cases snn_cases c d with
    | inl h =>
      obtain ⟨l, h⟩ := h; subst h; rw [snn_add_left]
      show subNatNat l (Nat.succ k) = _
      exact snn_eq (by simp only [Nat.add_comm, Nat.add_left_comm, Nat.add_assoc])
    | inr h =>
      obtain ⟨l, h⟩ := h; subst h; rw [snn_add_right]
      have e : a + Nat.succ k + (c + Nat.succ l) = (a + c) + Nat.succ (Nat.succ (k + l)) := by
        simp only [Nat.succ_eq_add_one, Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]
      rw [e, snn_add_right]; rfl
theorem negOfNat_snn (n : Nat) : negOfNat n = subNatNat 0 n := by
  cases n with
  | zero => rfl
  | succ n => have h := snn_add_right 0 n; rw [Nat.zero_add] at h; exact h.symm
theorem ofNat_snn (n : Nat) : ofNat n = subNatNat n 0 := by
  have h := snn_add_left 0 n; rw [Nat.zero_add] at h; exact h.symm
theorem mul_snn (a b c d : Nat) : subNatNat a b * subNatNat c d = subNatNat (a * c + b * d) (a * d + b * c) := by
  cases snn_cases a b with
  | inl h =>
    obtain ⟨k, h⟩ := h; subst h; rw [snn_add_left]
    cases snn_cases c d with
    | inl h =>
      obtain ⟨l, h⟩ := h; subst h; rw [snn_add_left]
      show ofNat (k * l) = _
      rw [ofNat_snn]; apply snn_eq; simp only [Nat.add_mul, Nat.mul_add, Nat.add_comm, Nat.add_left_comm, Nat.add_assoc, Nat.zero_add, Nat.add_zero]
    | inr h =>
      obtain ⟨l, h⟩ := h; subst h; rw [snn_add_right]
      show negOfNat (k * Nat.succ l) = _
      rw [negOfNat_snn]; apply snn_eq; simp only [Nat.add_mul, Nat.mul_add, Nat.add_comm, Nat.add_left_comm, Nat.add_assoc, Nat.zero_add, Nat.add_zero]
  | inr h =>
    obtain ⟨k, h⟩ := h; subst h; rw [snn_add_right]
    cases snn_cases c d with
    | inl h =>
      obtain ⟨l, h⟩ := h; subst h; rw [snn_add_left]
      show negOfNat (Nat.succ k * l) = _
      rw [negOfNat_snn]; apply snn_eq; simp only [Nat.add_mul, Nat.mul_add, Nat.add_comm, Nat.add_left_comm, Nat.add_assoc, Nat.zero_add, Nat.add_zero]
    | inr h =>
      obtain ⟨l, h⟩ := h; subst h; rw [snn_add_right]
      show ofNat (Nat.succ k * Nat.succ l) = _
      rw [ofNat_snn]; apply snn_eq; simp only [Nat.add_mul, Nat.mul_add, Nat.add_comm, Nat.add_left_comm, Nat.add_assoc, Nat.zero_add, Nat.add_zero]
theorem nonneg_snn {a b : Nat} : NonNeg (subNatNat a b) ↔ b ≤ a := by
  constructor
  · intro h
    cases snn_cases a b with
    | inl k => obtain ⟨k, e⟩ := k; rw [e]; exact Nat.le_add_right b k
    | inr k => obtain ⟨k, e⟩ := k; rw [e, snn_add_right] at h; nomatch h
  · intro h; obtain ⟨k, e⟩ := Nat.exists_eq_add_of_le h; rw [e, snn_add_left]; exact ⟨k⟩
theorem sub_snn (a b c d : Nat) : subNatNat a b - subNatNat c d = subNatNat (a + d) (b + c) := by
  show subNatNat a b + -subNatNat c d = _
  rw [neg_snn, add_snn]
theorem le_snn {a b c d : Nat} : subNatNat a b ≤ subNatNat c d ↔ a + d ≤ c + b := by
  show NonNeg (subNatNat c d - subNatNat a b) ↔ _
  rw [sub_snn, nonneg_snn, Nat.add_comm d a]

protected theorem add_comm (a b : Int) : a + b = b + a := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b
  rw [add_snn, add_snn, Nat.add_comm a, Nat.add_comm a']
protected theorem add_assoc (a b c : Int) : a + b + c = a + (b + c) := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b; obtain ⟨c, c', rfl⟩ := exists_snn c
  rw [add_snn, add_snn, add_snn, add_snn, Nat.add_assoc, Nat.add_assoc]
protected theorem add_left_comm (a b c : Int) : a + (b + c) = b + (a + c) := by rw [← Int.add_assoc, Int.add_comm a b, Int.add_assoc]
@[simp] protected theorem add_zero (a : Int) : a + 0 = a := by
  obtain ⟨a, a', rfl⟩ := exists_snn a
  show _ + ofNat 0 = _; rw [ofNat_snn, add_snn]; rfl
@[simp] protected theorem zero_add (a : Int) : 0 + a = a := by rw [Int.add_comm, Int.add_zero]
protected theorem sub_eq_add_neg {a b : Int} : a - b = a + -b := rfl
protected theorem add_right_neg (a : Int) : a + -a = 0 := by
  obtain ⟨a, a', rfl⟩ := exists_snn a
  rw [neg_snn, add_snn, Nat.add_comm a' a]; exact snn_add_left (a + a') 0
protected theorem sub_self (a : Int) : a - a = 0 := Int.add_right_neg a
protected theorem neg_neg (a : Int) : - -a = a := by obtain ⟨a, a', rfl⟩ := exists_snn a; rw [neg_snn, neg_snn]
protected theorem neg_add {a b : Int} : -(a + b) = -a + -b := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b; rw [add_snn, neg_snn, neg_snn, neg_snn, add_snn]
@[simp] protected theorem neg_zero : -(0 : Int) = 0 := rfl
protected theorem mul_comm (a b : Int) : a * b = b * a := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b
  rw [mul_snn, mul_snn]; apply snn_eq; simp only [Nat.mul_comm, Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]
protected theorem mul_add (a b c : Int) : a * (b + c) = a * b + a * c := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b; obtain ⟨c, c', rfl⟩ := exists_snn c
  rw [add_snn, mul_snn, mul_snn, mul_snn, add_snn]; apply snn_eq; simp only [Nat.mul_add, Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]
protected theorem add_mul (a b c : Int) : (a + b) * c = a * c + b * c := by rw [Int.mul_comm, Int.mul_add, Int.mul_comm c a, Int.mul_comm c b]
protected theorem mul_assoc (a b c : Int) : a * b * c = a * (b * c) := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b; obtain ⟨c, c', rfl⟩ := exists_snn c
  rw [mul_snn, mul_snn, mul_snn, mul_snn]; apply snn_eq
  simp only [Nat.mul_add, Nat.add_mul, Nat.mul_assoc, Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]
protected theorem mul_zero (a : Int) : a * 0 = 0 := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; show _ * ofNat 0 = _; rw [ofNat_snn, mul_snn]; exact snn_add_left 0 0
protected theorem zero_mul (a : Int) : 0 * a = 0 := by rw [Int.mul_comm, Int.mul_zero]
protected theorem mul_one (a : Int) : a * 1 = a := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; show _ * ofNat 1 = _; rw [ofNat_snn, mul_snn]; apply snn_eq
  simp only [Nat.mul_one, Nat.mul_zero, Nat.add_zero, Nat.zero_add, Nat.add_comm]
protected theorem one_mul (a : Int) : 1 * a = a := by rw [Int.mul_comm, Int.mul_one]
protected theorem mul_neg (a b : Int) : a * -b = -(a * b) := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b; rw [neg_snn, mul_snn, mul_snn, neg_snn]
protected theorem neg_mul (a b : Int) : -a * b = -(a * b) := by rw [Int.mul_comm, Int.mul_neg, Int.mul_comm]
protected theorem le_refl (a : Int) : a ≤ a := by obtain ⟨a, a', rfl⟩ := exists_snn a; rw [le_snn]; exact Nat.le_refl _
protected theorem le_of_eq {a b : Int} (h : a = b) : a ≤ b := h ▸ Int.le_refl a
protected theorem add_le_add_right {a b : Int} (h : a ≤ b) (c : Int) : a + c ≤ b + c := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b; obtain ⟨c, c', rfl⟩ := exists_snn c
  rw [add_snn, add_snn, le_snn]; rw [le_snn] at h
  have h' := Nat.add_le_add_right h (c + c')
  have e1 : a + c + (b' + c') = a + b' + (c + c') := by simp only [Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]
  have e2 : b + c + (a' + c') = b + a' + (c + c') := by simp only [Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]
  rw [e1, e2]; exact h'
theorem _root_.Nat.le_of_add_le_add_right {a b c : Nat} (h : a + c ≤ b + c) : a ≤ b := by
  induction c with
  | zero => exact h
  | succ c ih => exact ih (Nat.le_of_succ_le_succ h)
protected theorem le_trans {a b c : Int} (h₁ : a ≤ b) (h₂ : b ≤ c) : a ≤ c := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b; obtain ⟨c, c', rfl⟩ := exists_snn c
  rw [le_snn] at h₁ h₂ ⊢
  have h := Nat.add_le_add h₁ h₂
  apply Nat.le_of_add_le_add_right (c := b + b')
  have e1 : a + c' + (b + b') = a + b' + (b + c') := by simp only [Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]
  have e2 : c + a' + (b + b') = b + a' + (c + b') := by simp only [Nat.add_comm, Nat.add_left_comm, Nat.add_assoc]
  rw [e1, e2]; exact h
protected theorem le_antisymm {a b : Int} (h₁ : a ≤ b) (h₂ : b ≤ a) : a = b := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b
  rw [le_snn] at h₁ h₂; exact snn_eq (Nat.le_antisymm h₁ h₂)
protected theorem lt_or_ge (a b : Int) : a < b ∨ b ≤ a := by
  obtain ⟨a, a', rfl⟩ := exists_snn a; obtain ⟨b, b', rfl⟩ := exists_snn b
  show subNatNat a a' + ofNat 1 ≤ _ ∨ _
  rw [ofNat_snn, add_snn, le_snn, le_snn]
  have e1 : a + 1 + b' = (a + b') + 1 := Nat.add_right_comm ..
  rw [e1, Nat.add_zero]; exact Nat.lt_or_ge (a + b') (b + a')
protected theorem add_le_add {a b c d : Int} (h₁ : a ≤ b) (h₂ : c ≤ d) : a + c ≤ b + d :=
  Int.le_trans (Int.add_le_add_right h₁ c) (by rw [Int.add_comm b c, Int.add_comm b d]; exact Int.add_le_add_right h₂ b)
theorem add_one_le_of_lt {a b : Int} (H : a < b) : a + 1 ≤ b := H
theorem lt_of_add_one_le {a b : Int} (H : a + 1 ≤ b) : a < b := H
theorem not_one_le_zero : ¬ ((1 : Int) ≤ 0) := by decide
protected theorem sub_nonneg_of_le {a b : Int} (h : b ≤ a) : 0 ≤ a - b := by
  have h' := Int.add_le_add_right h (-b); rw [Int.add_right_neg] at h'; exact h'
protected theorem le_of_sub_nonneg {a b : Int} (h : 0 ≤ a - b) : b ≤ a := by
  have h' := Int.add_le_add_right h b
  rw [Int.zero_add, Int.sub_eq_add_neg, Int.add_assoc, Int.add_comm (-b) b, Int.add_right_neg, Int.add_zero] at h'; exact h'
protected theorem sub_eq_zero_of_eq {a b : Int} (h : a = b) : a - b = 0 := by rw [h, Int.sub_self]
protected theorem not_le_of_lt {a b : Int} (h : a < b) (h' : b ≤ a) : False := by
  have h2 := Int.le_trans h h'
  have h3 := Int.add_le_add_right h2 (-a)
  rw [Int.add_right_neg, Int.add_comm a 1, Int.add_assoc, Int.add_right_neg, Int.add_zero] at h3
  exact not_one_le_zero h3
protected theorem not_le {a b : Int} : ¬a ≤ b ↔ b < a := ⟨fun h => (Int.lt_or_ge b a).resolve_right h, fun h k => Int.not_le_of_lt h k⟩
protected theorem not_lt {a b : Int} : ¬a < b ↔ b ≤ a := ⟨fun h => (Int.lt_or_ge a b).resolve_left h, fun h k => Int.not_le_of_lt k h⟩
protected theorem le_of_lt {a b : Int} (h : a < b) : a ≤ b := (Int.lt_or_ge b a).elim (fun k => (Int.not_le_of_lt h (by
  have : b ≤ b + 1 := by have := Int.add_le_add (Int.le_refl b) (show (0:Int) ≤ 1 by decide); rw [Int.add_zero] at this; exact this
  exact Int.le_trans this k)).elim) id
protected theorem lt_or_gt_of_ne {a b : Int} (h : a ≠ b) : a < b ∨ a > b := by
  cases Int.lt_or_ge a b with
  | inl h => exact .inl h
  | inr k => cases Int.lt_or_ge b a with
    | inl h => exact .inr h
    | inr k' => exact absurd (Int.le_antisymm k' k) h
theorem ofNat_le' {m n : Nat} : ((m : Nat) : Int) ≤ (n : Int) ↔ m ≤ n := by
  show ofNat m ≤ ofNat n ↔ _; rw [ofNat_snn, ofNat_snn, le_snn]; exact Iff.rfl
theorem natCast_nonneg (n : Nat) : (0 : Int) ≤ (n : Int) := ofNat_le'.2 (Nat.zero_le n)
theorem natCast_add (n m : Nat) : ((n + m : Nat) : Int) = (n : Int) + (m : Int) := rfl
theorem natCast_mul (n m : Nat) : ((n * m : Nat) : Int) = (n : Int) * (m : Int) := rfl
theorem natCast_succ (n : Nat) : ((Nat.succ n : Nat) : Int) = (n : Int) + 1 := rfl
theorem negSucc_eq (n : Nat) : negSucc n = -((n : Int) + 1) := rfl
theorem mul_nonneg {a b : Int} (ha : 0 ≤ a) (hb : 0 ≤ b) : 0 ≤ a * b := by
  have key : ∀ x : Int, 0 ≤ x → ∃ n : Nat, x = ofNat n := by
    intro x hx; cases x with
    | ofNat n => exact ⟨n, rfl⟩
    | negSucc n => exact absurd hx (by intro h; have h : NonNeg (negSucc n - 0) := h; rw [show negSucc n - 0 = negSucc n + -0 from rfl, Int.neg_zero, Int.add_zero] at h; nomatch h)
  obtain ⟨n, rfl⟩ := key a ha; obtain ⟨m, rfl⟩ := key b hb; exact natCast_nonneg (n * m)
theorem mul_le_mul_of_nonneg_left {a b c : Int} (h : a ≤ b) (hc : 0 ≤ c) : c * a ≤ c * b := by
  apply Int.le_of_sub_nonneg
  have := mul_nonneg hc (Int.sub_nonneg_of_le h)
  rw [Int.sub_eq_add_neg, Int.mul_add, Int.mul_neg] at this; exact this
theorem neg_le_neg {a b : Int} (h : a ≤ b) : -b ≤ -a := by
  have h' := Int.add_le_add_right h (-a + -b)
  rw [← Int.add_assoc, Int.add_right_neg, Int.zero_add, Int.add_comm (-a) (-b), ← Int.add_assoc, Int.add_right_neg, Int.zero_add] at h'; exact h'
theorem mul_le_mul_of_nonpos_left {a b c : Int} (h : b ≤ a) (hc : c ≤ 0) : c * a ≤ c * b := by
  have := mul_le_mul_of_nonneg_left h (show 0 ≤ -c by have := neg_le_neg hc; exact this)
  rw [Int.neg_mul, Int.neg_mul] at this
  have := neg_le_neg this; rw [Int.neg_neg, Int.neg_neg] at this; exact this
end Int
