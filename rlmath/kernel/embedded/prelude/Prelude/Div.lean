prelude
import Prelude.Int
set_option autoImplicit false
set_option linter.unusedVariables false

/-! Division, remainder, divisibility and gcd on `Nat` and `Int`.

`omega` rests on these facts, so nothing here may use `omega`. -/

-- ===== Nat =====
namespace Nat
protected theorem sub_add_cancel {n m : Nat} (h : m ≤ n) : n - m + m = n := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  rw [Nat.add_sub_cancel_left, Nat.add_comm]

theorem divFuel_le (f x y : Nat) : y * divFuel f x y ≤ x := by
  induction f generalizing x with
  | zero => exact zero_le x
  | succ f ih =>
    unfold divFuel
    by_cases h : 0 < y ∧ y ≤ x
    · rw [ite_eq_left h, Nat.mul_add, Nat.mul_one]
      have := Nat.add_le_add_right (ih (x - y)) y
      rw [Nat.sub_add_cancel h.2] at this
      exact this
    · rw [ite_eq_right h]; exact zero_le x

theorem lt_divFuel (f x y : Nat) (hf : x ≤ f) (hy : 0 < y) : x < y * divFuel f x y + y := by
  induction f generalizing x with
  | zero =>
    have hx : x = 0 := Nat.le_antisymm hf (zero_le x)
    rw [hx]; exact Nat.lt_of_lt_of_le hy (le_add_left y _)
  | succ f ih =>
    unfold divFuel
    by_cases h : 0 < y ∧ y ≤ x
    · rw [ite_eq_left h, Nat.mul_add, Nat.mul_one]
      have hlt : x - y < x := by
        obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h.2
        rw [Nat.add_sub_cancel_left]
        have := Nat.add_le_add_left h.1 k
        rw [Nat.add_comm y k]; exact this
      have := Nat.add_le_add_right (ih (x - y) (le_of_lt_succ (Nat.lt_of_lt_of_le hlt hf))) y
      rw [Nat.succ_add, Nat.sub_add_cancel h.2] at this
      exact this
    · rw [ite_eq_right h]
      exact (Nat.lt_or_ge x y).elim (fun l => Nat.lt_of_lt_of_le l (le_add_left y _)) (fun l => absurd ⟨hy, l⟩ h)

theorem mul_div_le (m n : Nat) : n * (m / n) ≤ m := divFuel_le m m n
theorem lt_mul_div_succ (m : Nat) {n : Nat} (h : 0 < n) : m < n * (m / n) + n := lt_divFuel m m n (Nat.le_refl m) h
theorem mod_def (m k : Nat) : m % k = m - k * (m / k) := rfl
theorem div_add_mod (m n : Nat) : n * (m / n) + m % n = m := by
  rw [mod_def, Nat.add_comm]; exact Nat.sub_add_cancel (mul_div_le m n)
theorem mod_add_div (m k : Nat) : m % k + k * (m / k) = m := by rw [Nat.add_comm]; exact div_add_mod m k
theorem mod_lt (x : Nat) {y : Nat} (h : y > 0) : x % y < y := by
  apply Nat.le_of_add_le_add_right (c := y * (x / y))
  rw [Nat.succ_add, mod_add_div, Nat.add_comm]; exact lt_mul_div_succ x h

/-- Uniqueness of quotient and remainder. -/
theorem div_mod_unique {b q r q' r' : Nat} (h : b * q + r = b * q' + r') (hr : r < b) (hr' : r' < b) : q = q' ∧ r = r' := by
  have key : ∀ {q r q' r' : Nat}, b * q + r = b * q' + r' → r < b → q ≤ q' → r' < b → q = q' := by
    intro q r q' r' h hr hq hr'
    obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le hq
    rw [Nat.mul_add, Nat.add_assoc] at h
    have h := Nat.add_left_cancel h
    cases k with
    | zero => rfl
    | succ k =>
      rw [Nat.mul_succ, Nat.add_right_comm] at h
      exact absurd (h ▸ hr) (Nat.not_lt.2 (le_add_left b _))
  have hq : q = q' := (Nat.le_total q q').elim (fun l => key h hr l hr') (fun l => (key h.symm hr' l hr).symm)
  subst hq
  exact ⟨rfl, Nat.add_left_cancel h⟩

theorem mod_eq_of_lt {a b : Nat} (h : a < b) : a % b = a :=
  (div_mod_unique (q' := 0) (div_add_mod a b |>.trans (by rw [Nat.mul_zero, Nat.zero_add])) (mod_lt a (Nat.lt_of_le_of_lt (zero_le a) h)) h).2
theorem div_eq_of_lt {a b : Nat} (h : a < b) : a / b = 0 :=
  (div_mod_unique (q' := 0) (div_add_mod a b |>.trans (by rw [Nat.mul_zero, Nat.zero_add])) (mod_lt a (Nat.lt_of_le_of_lt (zero_le a) h)) h).1
@[simp] protected theorem div_zero (b : Nat) : b / 0 = 0 := by
  show divFuel b b 0 = 0
  cases b with
  | zero => rfl
  | succ b => unfold divFuel; exact ite_eq_right fun h => Nat.lt_irrefl 0 h.1
@[simp] theorem mod_zero (a : Nat) : a % 0 = a := by rw [mod_def, Nat.zero_mul, Nat.sub_zero]

-- divisibility
theorem mod_eq_zero_of_dvd {a b : Nat} : a ∣ b → b % a = 0
  | ⟨c, e⟩ => by
    cases a with
    | zero => rw [e, Nat.zero_mul]
    | succ a => exact (div_mod_unique ((div_add_mod b _).trans e) (mod_lt b (zero_lt_succ a)) (zero_lt_succ a)).2
theorem dvd_of_mod_eq_zero {k n : Nat} (h : n % k = 0) : k ∣ n :=
  ⟨n / k, by have := div_add_mod n k; rw [h] at this; exact this.symm⟩
theorem dvd_iff_mod_eq_zero {k n : Nat} : k ∣ n ↔ n % k = 0 := ⟨mod_eq_zero_of_dvd, dvd_of_mod_eq_zero⟩
theorem emod_pos_of_not_dvd {a b : Nat} (h : ¬a ∣ b) : b % a > 0 :=
  (Nat.eq_or_lt_of_le (zero_le (b % a))).elim (fun k => absurd (dvd_of_mod_eq_zero k.symm) h) id
instance decidable_dvd : (a b : Nat) → Decidable (a ∣ b) := fun a b =>
  if h : b % a = 0 then isTrue (dvd_of_mod_eq_zero h) else isFalse (fun k => h (mod_eq_zero_of_dvd k))

-- gcd
theorem gcdFuel_dvd (f m n : Nat) (hf : m ≤ f) : gcdFuel f m n ∣ m ∧ gcdFuel f m n ∣ n := by
  induction f generalizing m n with
  | zero =>
    have hm : m = 0 := Nat.le_antisymm hf (zero_le m)
    rw [hm]; exact ⟨⟨0, rfl⟩, dvd_refl n⟩
  | succ f ih =>
    unfold gcdFuel
    by_cases hm : m = 0
    · rw [ite_eq_left hm, hm]; exact ⟨⟨0, rfl⟩, dvd_refl n⟩
    · rw [ite_eq_right hm]
      have hpos : 0 < m := (Nat.eq_or_lt_of_le (zero_le m)).elim (fun e => absurd e.symm hm) id
      obtain ⟨h1, h2⟩ := ih (n % m) m (le_of_lt_succ (Nat.lt_of_lt_of_le (mod_lt n hpos) hf))
      refine ⟨h2, ?_⟩
      have h3 := dvd_add (dvd_trans h2 (dvd_mul_right m (n / m))) h1
      rw [div_add_mod] at h3
      exact h3
theorem gcd_dvd_left (m n : Nat) : gcd m n ∣ m := (gcdFuel_dvd m m n (Nat.le_refl m)).1
theorem gcd_dvd_right (m n : Nat) : gcd m n ∣ n := (gcdFuel_dvd m m n (Nat.le_refl m)).2
theorem eq_zero_of_zero_dvd {a : Nat} : 0 ∣ a → a = 0 | ⟨c, e⟩ => by rw [e, Nat.zero_mul]

theorem le_mul_of_pos (a : Nat) {p : Nat} (h : 0 < p) : a ≤ a * p := by
  cases p with
  | zero => exact absurd h (Nat.lt_irrefl 0)
  | succ p => rw [Nat.mul_succ]; exact le_add_left a _
theorem pow_pos {p n : Nat} (h : 0 < p) : 0 < p ^ n := by
  induction n with
  | zero => exact zero_lt_succ 0
  | succ n ih => exact Nat.lt_of_lt_of_le ih (le_mul_of_pos (p ^ n) h)
end Nat

-- ===== Int =====
namespace Int
/-- Division rounding so that the remainder is never negative; `x / 0 = 0`. -/
@[extern "lean_int_ediv"] def ediv : Int → Int → Int
  | ofNat m, ofNat n => ofNat (m / n)
  | ofNat m, negSucc n => -ofNat (m / Nat.succ n)
  | negSucc _, ofNat 0 => 0
  | negSucc m, ofNat (Nat.succ n) => negSucc (m / Nat.succ n)
  | negSucc m, negSucc n => ofNat (Nat.succ (m / Nat.succ n))
instance instDiv : Div Int := ⟨ediv⟩
@[extern "lean_int_emod"] def emod (a b : Int) : Int := a - b * (a / b)
instance instMod : Mod Int := ⟨emod⟩
instance instDvd : Dvd Int := ⟨fun a b => ∃ c, b = a * c⟩
protected def pow (m : Int) : Nat → Int
  | 0 => 1
  | n + 1 => Int.pow m n * m
instance instNatPow : NatPow Int := ⟨Int.pow⟩
/-- Balanced remainder: the one in `[-m/2, m/2)`. -/
def bmod (x : Int) (m : Nat) : Int := if x % m < (m + 1) / 2 then x % m else x % m - m

theorem pow_succ (b : Int) (e : Nat) : b ^ (e + 1) = b ^ e * b := rfl
theorem emod_def (a b : Int) : a % b = a - b * (a / b) := rfl
theorem natCast_ediv (m n : Nat) : ((m / n : Nat) : Int) = (m : Int) / (n : Int) := rfl
theorem ofNat_le {m n : Nat} : (m : Int) ≤ (n : Int) ↔ m ≤ n := ofNat_le'
@[simp] protected theorem ediv_zero (a : Int) : a / 0 = 0 := by
  cases a with
  | ofNat m => exact congrArg ofNat (Nat.div_zero m)
  | negSucc m => rfl

-- rearrangements, by hand
protected theorem add_neg_cancel_right (a b : Int) : a + b + -b = a := by rw [Int.add_assoc, Int.add_right_neg, Int.add_zero]
protected theorem neg_add_cancel_right (a b : Int) : a + -b + b = a := by
  rw [Int.add_assoc, Int.add_comm (-b), Int.add_right_neg, Int.add_zero]
protected theorem sub_add_cancel (a b : Int) : a - b + b = a := Int.neg_add_cancel_right a b
protected theorem add_sub_cancel (a b : Int) : a + b - b = a := Int.add_neg_cancel_right a b
protected theorem add_le_add_left {a b : Int} (h : a ≤ b) (c : Int) : c + a ≤ c + b := Int.add_le_add (Int.le_refl c) h
protected theorem le_of_add_le_add_right {a b c : Int} (h : a + b ≤ c + b) : a ≤ c := by
  have := Int.add_le_add_right h (-b)
  rw [Int.add_neg_cancel_right, Int.add_neg_cancel_right] at this; exact this
protected theorem mul_sub (a b c : Int) : a * (b - c) = a * b - a * c := by
  rw [Int.sub_eq_add_neg, Int.sub_eq_add_neg, Int.mul_add, Int.mul_neg]
protected theorem lt_of_le_of_lt {a b c : Int} (h₁ : a ≤ b) (h₂ : b < c) : a < c :=
  Int.le_trans (Int.add_le_add_right h₁ 1) h₂
protected theorem lt_of_lt_of_le {a b c : Int} (h₁ : a < b) (h₂ : b ≤ c) : a < c := Int.le_trans h₁ h₂
protected theorem lt_irrefl (a : Int) : ¬a < a := fun h => Int.not_le_of_lt h (Int.le_refl a)
protected theorem ne_of_gt {a b : Int} (h : b < a) : a ≠ b := fun e => Int.lt_irrefl b (e ▸ h)
protected theorem ne_of_lt {a b : Int} (h : a < b) : a ≠ b := fun e => Int.lt_irrefl b (e ▸ h)
theorem le_of_lt_add_one {a b : Int} (h : a < b + 1) : a ≤ b := Int.le_of_add_le_add_right h
theorem lt_of_mul_lt_mul_left {a b c : Int} (h : c * a < c * b) (hc : 0 ≤ c) : a < b :=
  (Int.lt_or_ge a b).elim id fun l => (Int.not_le_of_lt h (mul_le_mul_of_nonneg_left l hc)).elim

theorem natCast_emod (m n : Nat) : ((m % n : Nat) : Int) = (m : Int) % (n : Int) := by
  have h : ((n * (m / n) + m % n : Nat) : Int) = (m : Int) := by rw [Nat.div_add_mod]
  rw [emod_def, ← natCast_ediv, ← natCast_mul, ← h, natCast_add, Int.add_comm, Int.add_sub_cancel]

theorem mul_ediv_self_le {x k : Int} (h : k ≠ 0) : k * (x / k) ≤ x := by
  have key : ∀ m n : Nat, negSucc n * ofNat (Nat.succ (m / Nat.succ n)) ≤ negSucc m := fun m n => by
    have h1 : (Nat.succ m : Int) ≤ ((Nat.succ n * Nat.succ (m / Nat.succ n) : Nat) : Int) :=
      ofNat_le.2 (by rw [Nat.mul_succ]; exact Nat.lt_mul_div_succ m (Nat.zero_lt_succ n))
    have h2 := neg_le_neg h1
    rw [natCast_mul, ← Int.neg_mul] at h2
    exact h2
  match x, k, h with
  | ofNat m, ofNat n, _ => exact ofNat_le.2 (Nat.mul_div_le m n)
  | ofNat m, negSucc n, _ =>
    show negSucc n * -ofNat (m / Nat.succ n) ≤ ofNat m
    rw [Int.mul_neg, ← Int.neg_mul]
    exact ofNat_le.2 (Nat.mul_div_le m (Nat.succ n))
  | negSucc m, ofNat 0, h => exact absurd rfl h
  | negSucc m, ofNat (Nat.succ n), _ => exact key m n
  | negSucc m, negSucc n, _ => exact key m n

theorem lt_mul_ediv_self_add {x k : Int} (h : 0 < k) : x < k * (x / k) + k := by
  match x, k, h with
  | _, negSucc n, h => nomatch h
  | _, ofNat 0, h => exact absurd h not_one_le_zero
  | ofNat m, ofNat (Nat.succ n), _ => exact ofNat_le.2 (Nat.lt_mul_div_succ m (Nat.zero_lt_succ n))
  | negSucc m, ofNat (Nat.succ n), _ =>
    have h1 := neg_le_neg (ofNat_le.2 (Nat.mul_div_le m (Nat.succ n)))
    have e : ofNat (Nat.succ n) * negSucc (m / Nat.succ n) + ofNat (Nat.succ n)
        = -((Nat.succ n * (m / Nat.succ n) : Nat) : Int) := by
      show -(((Nat.succ n * (m / Nat.succ n) : Nat) : Int) + (Nat.succ n : Int)) + _ = _
      rw [Int.neg_add, Int.add_assoc, Int.add_comm (-(Nat.succ n : Int))]
      exact (congrArg _ (Int.add_right_neg _)).trans (Int.add_zero _)
    show negSucc m + 1 ≤ ofNat (Nat.succ n) * negSucc (m / Nat.succ n) + ofNat (Nat.succ n)
    rw [e, negSucc_eq, Int.neg_add, Int.add_assoc, show (-1 : Int) + 1 = 0 from rfl, Int.add_zero]
    exact h1

theorem emod_nonneg (a : Int) {b : Int} (h : b ≠ 0) : 0 ≤ a % b := Int.sub_nonneg_of_le (mul_ediv_self_le h)
theorem emod_lt_of_pos (a : Int) {b : Int} (h : 0 < b) : a % b < b := by
  apply Int.le_of_add_le_add_right (b := b * (a / b))
  rw [Int.add_assoc, Int.add_comm 1, ← Int.add_assoc, emod_def, Int.sub_add_cancel, Int.add_comm b]
  exact lt_mul_ediv_self_add h
theorem emod_ofNat_nonneg {x : Nat} {y : Int} : 0 ≤ (x : Int) % y := by
  by_cases h : y = 0
  · rw [h, emod_def, Int.zero_mul]; exact natCast_nonneg x
  · exact emod_nonneg _ h
theorem ediv_add_emod (a b : Int) : b * (a / b) + a % b = a := by rw [Int.add_comm]; exact Int.sub_add_cancel _ _
theorem emod_add_ediv (a b : Int) : a % b + b * (a / b) = a := Int.sub_add_cancel _ _

/-- An integer whose product with a positive `k` lies in `[0, k)` is zero. -/
theorem eq_zero_of_mul_lt {k d : Int} (hk : 0 < k) (h0 : 0 ≤ k * d) (h1 : k * d < k) : d = 0 := by
  have hk' := Int.le_of_lt hk
  apply Int.le_antisymm
  · exact le_of_lt_add_one (lt_of_mul_lt_mul_left (by rw [Int.zero_add, Int.mul_one]; exact h1) hk')
  · refine le_of_lt_add_one (lt_of_mul_lt_mul_left ?_ hk')
    rw [Int.mul_zero, Int.mul_add, Int.mul_one]
    exact Int.lt_of_lt_of_le hk (by have := Int.add_le_add_right h0 k; rw [Int.zero_add] at this; exact this)
theorem mul_ediv_cancel_of_pos {a : Int} (b : Int) (h : 0 < a) : a * b / a = b := by
  have h1 := Int.sub_nonneg_of_le (mul_ediv_self_le (x := a * b) (Int.ne_of_gt h))
  have h2 : a * b - a * (a * b / a) < a := emod_lt_of_pos (a * b) h
  rw [← Int.mul_sub] at h1 h2
  have h3 := eq_zero_of_mul_lt h h1 h2
  have h4 := Int.sub_add_cancel b (a * b / a)
  rw [h3, Int.zero_add] at h4
  exact h4

theorem exists_eq_mul_of_natAbs_dvd {g : Nat} {x : Int} (h : g ∣ natAbs x) : ∃ c : Int, x = g * c := by
  obtain ⟨c, e⟩ := h
  match x, e with
  | ofNat m, e => exact ⟨c, congrArg ofNat e⟩
  | negSucc m, e => exact ⟨-c, by rw [Int.mul_neg]; exact congrArg (fun k : Nat => -(k : Int)) e⟩
/-- What a balanced remainder takes away is a multiple of the modulus. -/
theorem exists_bmod_eq (x : Int) (m : Nat) : ∃ q : Int, bmod x m = x - m * q := by
  unfold bmod
  by_cases h : x % m < (m + 1) / 2
  · rw [ite_eq_left h]; exact ⟨x / m, rfl⟩
  · rw [ite_eq_right h]
    refine ⟨x / m + 1, ?_⟩
    rw [Int.mul_add, Int.mul_one, emod_def, Int.sub_eq_add_neg, Int.sub_eq_add_neg, Int.sub_eq_add_neg, Int.neg_add, Int.add_assoc]
end Int
