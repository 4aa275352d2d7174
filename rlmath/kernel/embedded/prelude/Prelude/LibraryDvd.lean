prelude
import Prelude.Bits
import Prelude.LibraryNat
set_option autoImplicit false
set_option linter.unusedVariables false

/-! Quotient, remainder, divisibility and gcd of `Nat`: the lemmas that a proof quotes by the name they have in Lean's library. -/

namespace Nat
variable {a b c d k m n : Nat}

-- ===== quotient and remainder =====
theorem mod_two_eq_zero_or_one (n : Nat) : n % 2 = 0 ∨ n % 2 = 1 := by omega
theorem mod_two_ne_zero : ¬n % 2 = 0 ↔ n % 2 = 1 := by omega
theorem mod_two_ne_one : ¬n % 2 = 1 ↔ n % 2 = 0 := by omega
@[simp] protected theorem zero_div (b : Nat) : 0 / b = 0 := by
  cases b with
  | zero => rfl
  | succ b => exact div_eq_of_lt (zero_lt_succ b)
@[simp] theorem zero_mod (b : Nat) : 0 % b = 0 := by rw [mod_def, Nat.zero_div]; rfl
@[simp] protected theorem div_one (n : Nat) : n / 1 = n := by have := div_add_mod n 1; have := mod_lt n Nat.one_pos; omega
@[simp] theorem mod_one (x : Nat) : x % 1 = 0 := by have := mod_lt x Nat.one_pos; omega
theorem add_mul_div_left (x z : Nat) {y : Nat} (H : 0 < y) : (x + y * z) / y = x / y + z := by
  refine (div_mod_unique (r := (x + y * z) % y) (r' := x % y) ?_ (mod_lt _ H) (mod_lt x H)).1
  rw [div_add_mod, Nat.mul_add, Nat.add_right_comm, div_add_mod]
theorem add_mul_div_right (x y : Nat) {z : Nat} (H : 0 < z) : (x + y * z) / z = x / z + y := by rw [Nat.mul_comm, add_mul_div_left _ _ H]
@[simp] theorem add_mul_mod_self_left (x y z : Nat) : (x + y * z) % y = x % y := by
  cases y with
  | zero => rw [Nat.zero_mul]; rfl
  | succ y =>
    refine (div_mod_unique (q := (x + (y + 1) * z) / (y + 1)) (q' := x / (y + 1) + z) ?_ (mod_lt _ (zero_lt_succ y)) (mod_lt x (zero_lt_succ y))).2
    rw [div_add_mod, Nat.mul_add, Nat.add_right_comm, div_add_mod]
@[simp] theorem add_mul_mod_self_right (x y z : Nat) : (x + y * z) % z = x % z := by rw [Nat.mul_comm, add_mul_mod_self_left]
@[simp] theorem add_mod_right (x z : Nat) : (x + z) % z = x % z := by have := add_mul_mod_self_left x z 1; rw [Nat.mul_one] at this; exact this
@[simp] theorem add_mod_left (x z : Nat) : (x + z) % x = z % x := by rw [Nat.add_comm, add_mod_right]
@[simp] theorem add_div_right (x : Nat) {z : Nat} (H : 0 < z) : (x + z) / z = x / z + 1 := by
  have := add_mul_div_left x 1 H; rw [Nat.mul_one] at this; exact this
@[simp] theorem add_div_left (x : Nat) {z : Nat} (H : 0 < z) : (z + x) / z = x / z + 1 := by rw [Nat.add_comm, add_div_right x H]
@[simp] theorem mul_mod_right (x y : Nat) : x * y % x = 0 := by have := add_mul_mod_self_left 0 x y; rw [Nat.zero_add, zero_mod] at this; exact this
@[simp] theorem mul_mod_left (x y : Nat) : x * y % y = 0 := by rw [Nat.mul_comm, mul_mod_right]
@[simp] theorem mod_self (n : Nat) : n % n = 0 := by have := mul_mod_right n 1; rw [Nat.mul_one] at this; exact this
@[simp] protected theorem mul_div_cancel_left (m : Nat) {n : Nat} (H : 0 < n) : n * m / n = m := by
  have := add_mul_div_left 0 m H; rw [Nat.zero_add, Nat.zero_div, Nat.zero_add] at this; exact this
@[simp] protected theorem mul_div_cancel (m : Nat) {n : Nat} (H : 0 < n) : m * n / n = m := by rw [Nat.mul_comm, Nat.mul_div_cancel_left m H]
@[simp] protected theorem div_self (h : 0 < n) : n / n = 1 := by have := Nat.mul_div_cancel_left 1 h; rw [Nat.mul_one] at this; exact this
@[simp] theorem mod_mod (a n : Nat) : a % n % n = a % n := by
  cases n with
  | zero => rw [mod_zero]
  | succ n => exact mod_eq_of_lt (mod_lt a (zero_lt_succ n))
theorem mod_le (x y : Nat) : x % y ≤ x := sub_le x _
theorem div_mul_le_self (m n : Nat) : m / n * n ≤ m := by rw [Nat.mul_comm]; exact mul_div_le m n
theorem div_le_self (n k : Nat) : n / k ≤ n := by
  cases k with
  | zero => rw [Nat.div_zero]; exact zero_le n
  | succ k => exact Nat.le_trans (Nat.le_mul_of_pos_left (n / (k + 1)) (zero_lt_succ k)) (mul_div_le n (k + 1))
theorem le_div_iff_mul_le (k0 : 0 < k) : m ≤ n / k ↔ m * k ≤ n := by
  constructor
  · intro h; exact Nat.le_trans (Nat.mul_le_mul_right k h) (div_mul_le_self n k)
  · intro h
    have := lt_mul_div_succ n k0
    rw [← mul_succ, Nat.mul_comm] at this
    exact le_of_lt_succ (Nat.lt_of_mul_lt_mul_right (Nat.lt_of_le_of_lt h this))
theorem div_lt_iff_lt_mul (Hk : 0 < k) : n / k < m ↔ n < m * k := by rw [← Nat.not_le, le_div_iff_mul_le Hk, Nat.not_le]
theorem div_le_of_le_mul (h : m ≤ k * n) : m / k ≤ n := by
  cases k with
  | zero => rw [Nat.div_zero]; exact zero_le n
  | succ k =>
    refine le_of_lt_succ ((div_lt_iff_lt_mul (zero_lt_succ k)).2 ?_)
    rw [succ_mul, Nat.mul_comm n]; exact Nat.lt_of_le_of_lt h (Nat.lt_add_of_pos_right (zero_lt_succ k))
theorem div_lt_of_lt_mul (h : m < n * k) : m / n < k := by
  cases n with
  | zero => rw [Nat.zero_mul] at h; omega
  | succ n => rw [Nat.mul_comm] at h; exact (div_lt_iff_lt_mul (zero_lt_succ n)).2 h
theorem div_le_div_right (h : a ≤ b) : a / c ≤ b / c := by
  cases c with
  | zero => rw [Nat.div_zero, Nat.div_zero]
  | succ c => exact (le_div_iff_mul_le (zero_lt_succ c)).2 (Nat.le_trans (div_mul_le_self a _) h)
theorem div_lt_self (hLtN : 0 < n) (hLtK : 1 < k) : n / k < n :=
  (div_lt_iff_lt_mul (Nat.lt_of_succ_lt hLtK)).2 (by have := Nat.mul_lt_mul_of_pos_left hLtK hLtN; rw [Nat.mul_one] at this; exact this)
theorem div_pos (hba : b ≤ a) (hb : 0 < b) : 0 < a / b := (le_div_iff_mul_le hb).2 (by show 1 * b ≤ a; rw [Nat.one_mul]; exact hba)
protected theorem div_eq_of_eq_mul_right (H1 : 0 < n) (H2 : m = n * k) : m / n = k := by rw [H2, Nat.mul_div_cancel_left k H1]
protected theorem div_eq_of_eq_mul_left (H1 : 0 < n) (H2 : m = k * n) : m / n = k := by rw [H2, Nat.mul_div_cancel k H1]
theorem div_div_eq_div_mul (m n k : Nat) : m / n / k = m / (n * k) := by
  cases n with
  | zero => rw [Nat.zero_mul, Nat.div_zero, Nat.zero_div]
  | succ n => cases k with
    | zero => rw [Nat.mul_zero, Nat.div_zero, Nat.div_zero]
    | succ k =>
      refine Nat.le_antisymm ?_ ?_
      · refine (le_div_iff_mul_le (Nat.mul_pos (zero_lt_succ n) (zero_lt_succ k))).2 ?_
        rw [Nat.mul_comm (n + 1), ← Nat.mul_assoc]
        exact Nat.le_trans (Nat.mul_le_mul_right _ (div_mul_le_self _ _)) (div_mul_le_self _ _)
      · refine (le_div_iff_mul_le (zero_lt_succ k)).2 ((le_div_iff_mul_le (zero_lt_succ n)).2 ?_)
        rw [Nat.mul_assoc, Nat.mul_comm (k + 1)]
        exact div_mul_le_self _ _
theorem div_eq (x y : Nat) : x / y = if 0 < y ∧ y ≤ x then (x - y) / y + 1 else 0 := by
  split
  · rename_i h
    have := add_div_right (x - y) h.1
    rw [Nat.sub_add_cancel h.2] at this; exact this
  · rename_i h
    cases y with
    | zero => exact Nat.div_zero x
    | succ y => exact div_eq_of_lt (Nat.not_le.1 fun l => h ⟨zero_lt_succ y, l⟩)
theorem mod_eq_sub_mod (h : n ≤ m) : m % n = (m - n) % n := by
  have := add_mod_right (m - n) n
  rw [Nat.sub_add_cancel h] at this; exact this
theorem mod_eq (x y : Nat) : x % y = if 0 < y ∧ y ≤ x then (x - y) % y else x := by
  split
  · rename_i h; exact mod_eq_sub_mod h.2
  · rename_i h
    cases y with
    | zero => exact mod_zero x
    | succ y => exact mod_eq_of_lt (Nat.not_le.1 fun l => h ⟨zero_lt_succ y, l⟩)
theorem mod_add_mod (m n k : Nat) : (m % n + k) % n = (m + k) % n := by
  have := add_mul_mod_self_left (m % n + k) n (m / n)
  rw [Nat.add_right_comm, mod_add_div] at this; exact this.symm
theorem add_mod_mod (m n k : Nat) : (m + n % k) % k = (m + n) % k := by rw [Nat.add_comm, mod_add_mod, Nat.add_comm]
theorem add_mod (a b n : Nat) : (a + b) % n = ((a % n) + (b % n)) % n := by rw [add_mod_mod, mod_add_mod]
theorem mul_mod (a b n : Nat) : a * b % n = (a % n) * (b % n) % n := by
  have key : ∀ x y : Nat, x % n * y % n = x * y % n := fun x y => by
    have := add_mul_mod_self_left (x % n * y) n (x / n * y)
    rw [← Nat.mul_assoc, ← Nat.add_mul, mod_add_div] at this; exact this.symm
  rw [key, Nat.mul_comm a (b % n), key, Nat.mul_comm]
theorem pow_mod (a b n : Nat) : a ^ b % n = (a % n) ^ b % n := by
  induction b with
  | zero => rfl
  | succ b ih => rw [pow_succ, pow_succ, mul_mod, ih, mul_mod ((a % n) ^ b), mod_mod]

-- ===== divisibility =====
@[simp] protected theorem dvd_zero (a : Nat) : a ∣ 0 := ⟨0, rfl⟩
@[simp] protected theorem one_dvd (n : Nat) : 1 ∣ n := ⟨n, (Nat.one_mul n).symm⟩
@[simp] protected theorem zero_dvd : 0 ∣ n ↔ n = 0 := ⟨eq_zero_of_zero_dvd, fun h => h ▸ Nat.dvd_refl 0⟩
attribute [simp] dvd_mul_right
@[simp] protected theorem dvd_mul_left (a b : Nat) : a ∣ b * a := ⟨b, Nat.mul_comm b a⟩
protected theorem dvd_mul_left_of_dvd (h : a ∣ b) (c : Nat) : a ∣ c * b := Nat.dvd_trans h (Nat.dvd_mul_left b c)
protected theorem dvd_mul_right_of_dvd (h : a ∣ b) (c : Nat) : a ∣ b * c := Nat.dvd_trans h (dvd_mul_right b c)
theorem le_of_dvd (h1 : 0 < n) : m ∣ n → m ≤ n
  | ⟨c, e⟩ => by
    cases c with
    | zero => rw [e] at h1; exact absurd h1 (Nat.lt_irrefl 0)
    | succ c => rw [e, mul_succ]; exact le_add_left m _
protected theorem dvd_antisymm : m ∣ n → n ∣ m → m = n := fun h₁ h₂ => by
  cases eq_zero_or_pos n with
  | inl hn => subst hn; exact eq_zero_of_zero_dvd h₂
  | inr hn => cases eq_zero_or_pos m with
    | inl hm => subst hm; exact (eq_zero_of_zero_dvd h₁).symm
    | inr hm => exact Nat.le_antisymm (le_of_dvd hn h₁) (le_of_dvd hm h₂)
theorem pos_of_dvd_of_pos (H1 : m ∣ n) (H2 : 0 < n) : 0 < m := Nat.pos_of_ne_zero fun e => by
  subst e; rw [eq_zero_of_zero_dvd H1] at H2; exact absurd H2 (Nat.lt_irrefl 0)
@[simp] theorem dvd_one : n ∣ 1 ↔ n = 1 :=
  ⟨fun h => Nat.le_antisymm (le_of_dvd Nat.one_pos h) (pos_of_dvd_of_pos h Nat.one_pos), fun h => h ▸ Nat.dvd_refl 1⟩
theorem eq_one_of_dvd_one (H : n ∣ 1) : n = 1 := dvd_one.1 H
theorem eq_zero_of_dvd_of_lt (w : a ∣ b) (h : b < a) : b = 0 := (eq_zero_or_pos b).elim id fun p => absurd (le_of_dvd p w) (Nat.not_le.2 h)
protected theorem dvd_add_right (h : k ∣ m) : k ∣ m + n ↔ k ∣ n := by
  refine ⟨fun ⟨c, e⟩ => ?_, Nat.dvd_add h⟩
  obtain ⟨d, rfl⟩ := h
  exact ⟨c - d, by rw [Nat.mul_sub, ← e, Nat.add_sub_cancel_left]⟩
protected theorem dvd_add_left (h : k ∣ n) : k ∣ m + n ↔ k ∣ m := by rw [Nat.add_comm]; exact Nat.dvd_add_right h
protected theorem dvd_add_iff_right (h : k ∣ m) : k ∣ n ↔ k ∣ m + n := (Nat.dvd_add_right h).symm
protected theorem dvd_add_iff_left (h : k ∣ n) : k ∣ m ↔ k ∣ m + n := (Nat.dvd_add_left h).symm
theorem dvd_sub : k ∣ m → k ∣ n → k ∣ m - n | ⟨x, hx⟩, ⟨y, hy⟩ => ⟨x - y, by rw [Nat.mul_sub, hx, hy]⟩
protected theorem mul_dvd_mul : a ∣ b → c ∣ d → a * c ∣ b * d | ⟨x, hx⟩, ⟨y, hy⟩ => ⟨x * y, by rw [hx, hy, Nat.mul_mul_mul_comm]⟩
protected theorem mul_dvd_mul_left (a : Nat) (h : b ∣ c) : a * b ∣ a * c := Nat.mul_dvd_mul (Nat.dvd_refl a) h
protected theorem mul_dvd_mul_right (h : a ∣ b) (c : Nat) : a * c ∣ b * c := Nat.mul_dvd_mul h (Nat.dvd_refl c)
protected theorem dvd_of_mul_dvd_mul_left (kpos : 0 < k) : k * m ∣ k * n → m ∣ n
  | ⟨c, e⟩ => ⟨c, Nat.eq_of_mul_eq_mul_left kpos (by rw [e, Nat.mul_assoc])⟩
theorem dvd_of_mul_right_dvd (h : a * b ∣ c) : a ∣ c := Nat.dvd_trans (dvd_mul_right a b) h
theorem dvd_of_mul_left_dvd (h : a * b ∣ c) : b ∣ c := Nat.dvd_trans (Nat.dvd_mul_left b a) h
theorem dvd_mod_iff (h : k ∣ n) : k ∣ m % n ↔ k ∣ m := by
  have := Nat.dvd_add_right (n := m % n) (Nat.dvd_mul_right_of_dvd h (m / n))
  rw [div_add_mod] at this; exact this.symm
theorem pow_dvd_pow (a : Nat) (h : m ≤ n) : a ^ m ∣ a ^ n := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  rw [Nat.pow_add]; exact dvd_mul_right _ _
protected theorem mul_div_cancel' (H : n ∣ m) : n * (m / n) = m := by
  have := div_add_mod m n; rw [mod_eq_zero_of_dvd H] at this; exact this
protected theorem div_mul_cancel (H : n ∣ m) : m / n * n = m := by rw [Nat.mul_comm, Nat.mul_div_cancel' H]
protected theorem mul_div_assoc (m : Nat) (H : k ∣ n) : m * n / k = m * (n / k) := by
  cases eq_zero_or_pos k with
  | inl h => subst h; rw [Nat.div_zero, Nat.div_zero]; rfl
  | inr h => obtain ⟨c, rfl⟩ := H; rw [Nat.mul_left_comm, Nat.mul_div_cancel_left _ h, Nat.mul_div_cancel_left _ h]
protected theorem eq_mul_of_div_eq_right (H1 : b ∣ a) (H2 : a / b = c) : a = b * c := by rw [← H2, Nat.mul_div_cancel' H1]
theorem dvd_iff_div_mul_eq (n d : Nat) : d ∣ n ↔ n / d * d = n := ⟨Nat.div_mul_cancel, fun h => ⟨n / d, by rw [Nat.mul_comm, h]⟩⟩

-- ===== gcd =====
theorem gcd_rec (m n : Nat) : gcd m n = gcd (n % m) m := by
  cases m with
  | zero => rw [mod_zero]; exact (gcd_zero_left n).trans (by
      cases n with
      | zero => rfl
      | succ n => rw [gcd_succ, zero_mod, gcd_zero_left])
  | succ m => exact gcd_succ m n
@[simp] theorem gcd_zero_right (n : Nat) : gcd n 0 = n := by rw [gcd_rec, zero_mod, gcd_zero_left]
@[simp] theorem gcd_self (n : Nat) : gcd n n = n := by rw [gcd_rec, mod_self, gcd_zero_left]
theorem dvd_gcd (h₁ : k ∣ m) (h₂ : k ∣ n) : k ∣ gcd m n := by
  induction m using Nat.strongRecOn generalizing n with
  | ind m ih =>
    cases m with
    | zero => rw [gcd_zero_left]; exact h₂
    | succ m => rw [gcd_succ]; exact ih _ (mod_lt n (zero_lt_succ m)) ((dvd_mod_iff h₁).2 h₂) h₁
theorem dvd_gcd_iff : k ∣ gcd m n ↔ k ∣ m ∧ k ∣ n :=
  ⟨fun h => ⟨Nat.dvd_trans h (gcd_dvd_left m n), Nat.dvd_trans h (gcd_dvd_right m n)⟩, fun h => dvd_gcd h.1 h.2⟩
theorem gcd_comm (m n : Nat) : gcd m n = gcd n m :=
  Nat.dvd_antisymm (dvd_gcd (gcd_dvd_right m n) (gcd_dvd_left m n)) (dvd_gcd (gcd_dvd_right n m) (gcd_dvd_left n m))
theorem gcd_assoc (m n k : Nat) : gcd (gcd m n) k = gcd m (gcd n k) :=
  Nat.dvd_antisymm
    (dvd_gcd (Nat.dvd_trans (gcd_dvd_left _ _) (gcd_dvd_left m n))
      (dvd_gcd (Nat.dvd_trans (gcd_dvd_left _ _) (gcd_dvd_right m n)) (gcd_dvd_right _ k)))
    (dvd_gcd (dvd_gcd (gcd_dvd_left m _) (Nat.dvd_trans (gcd_dvd_right m _) (gcd_dvd_left n k)))
      (Nat.dvd_trans (gcd_dvd_right m _) (gcd_dvd_right n k)))
@[simp] theorem gcd_one_left (n : Nat) : gcd 1 n = 1 := dvd_one.1 (gcd_dvd_left 1 n)
@[simp] theorem gcd_one_right (n : Nat) : gcd n 1 = 1 := dvd_one.1 (gcd_dvd_right n 1)
theorem gcd_eq_left (h : m ∣ n) : gcd m n = m := Nat.dvd_antisymm (gcd_dvd_left m n) (dvd_gcd (Nat.dvd_refl m) h)
theorem gcd_eq_right (h : n ∣ m) : gcd m n = n := by rw [gcd_comm]; exact gcd_eq_left h
theorem gcd_le_left (n : Nat) (h : 0 < m) : gcd m n ≤ m := le_of_dvd h (gcd_dvd_left m n)
theorem gcd_pos_of_pos_left (n : Nat) (mpos : 0 < m) : 0 < gcd m n := pos_of_dvd_of_pos (gcd_dvd_left m n) mpos
theorem gcd_mul_left (m n k : Nat) : gcd (m * n) (m * k) = m * gcd n k := by
  cases eq_zero_or_pos m with
  | inl h => subst h; simp
  | inr h =>
    apply Nat.dvd_antisymm
    · obtain ⟨c, hc⟩ := dvd_gcd (dvd_mul_right m n) (dvd_mul_right m k)
      rw [hc]
      refine Nat.mul_dvd_mul_left m (dvd_gcd (Nat.dvd_of_mul_dvd_mul_left h ?_) (Nat.dvd_of_mul_dvd_mul_left h ?_))
      · rw [← hc]; exact gcd_dvd_left _ _
      · rw [← hc]; exact gcd_dvd_right _ _
    · exact dvd_gcd (Nat.mul_dvd_mul_left m (gcd_dvd_left n k)) (Nat.mul_dvd_mul_left m (gcd_dvd_right n k))
theorem gcd_mul_right (m n k : Nat) : gcd (m * n) (k * n) = gcd m k * n := by rw [Nat.mul_comm m, Nat.mul_comm k, gcd_mul_left, Nat.mul_comm]
/-- The two have no common factor. -/
@[reducible] def Coprime (m n : Nat) : Prop := gcd m n = 1
theorem Coprime.symm (h : Coprime n m) : Coprime m n := (gcd_comm m n).trans h
theorem Coprime.dvd_of_dvd_mul_right (H1 : Coprime k n) (H2 : k ∣ m * n) : k ∣ m := by
  have h := dvd_gcd (Nat.dvd_mul_left k m) H2
  rw [gcd_mul_left, H1, Nat.mul_one] at h
  exact h
theorem Coprime.dvd_of_dvd_mul_left (H1 : Coprime k m) (H2 : k ∣ m * n) : k ∣ n := H1.dvd_of_dvd_mul_right (by rw [Nat.mul_comm]; exact H2)
/-- Least common multiple. -/
def lcm (m n : Nat) : Nat := m * n / gcd m n
theorem lcm_comm (m n : Nat) : lcm m n = lcm n m := by unfold lcm; rw [Nat.mul_comm, gcd_comm]
theorem dvd_lcm_left (m n : Nat) : m ∣ lcm m n := ⟨n / gcd m n, Nat.mul_div_assoc m (gcd_dvd_right m n)⟩
theorem dvd_lcm_right (m n : Nat) : n ∣ lcm m n := lcm_comm n m ▸ dvd_lcm_left n m
theorem gcd_mul_lcm (m n : Nat) : gcd m n * lcm m n = m * n := Nat.mul_div_cancel' (Nat.dvd_mul_right_of_dvd (gcd_dvd_left m n) n)
end Nat
