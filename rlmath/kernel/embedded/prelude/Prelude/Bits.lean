prelude
import Prelude.Simp
set_option autoImplicit false

/-! The recursions of `gcd`, `log2` and the bitwise functions, as equations that hold for all arguments.

With those of `Prelude.Core` and `Prelude.Div` they pin each function down, so that what the kernel computes on literals can be held against
them: see the note in `Prelude.Arith`. -/

namespace Nat
theorem gcdFuel_eq (f g m n : Nat) (hf : m ≤ f) (hg : m ≤ g) : gcdFuel f m n = gcdFuel g m n := by
  induction f generalizing g m n with
  | zero =>
    have : m = 0 := by omega
    subst this
    cases g <;> simp [gcdFuel]
  | succ f ih =>
    cases g with
    | zero =>
      have : m = 0 := by omega
      subst this
      simp [gcdFuel]
    | succ g =>
      simp only [gcdFuel]
      split
      · rfl
      · have h := Nat.mod_lt n (y := m) (by omega)
        exact ih g (n % m) m (by omega) (by omega)
@[simp] theorem gcd_zero_left (n : Nat) : gcd 0 n = n := rfl
theorem gcd_succ (m n : Nat) : gcd (m + 1) n = gcd (n % (m + 1)) (m + 1) := by
  have h := Nat.mod_lt n (y := m + 1) (by omega)
  show gcdFuel m (n % (m + 1)) (m + 1) = gcdFuel (n % (m + 1)) (n % (m + 1)) (m + 1)
  exact gcdFuel_eq _ _ _ _ (by omega) (Nat.le_refl _)
theorem log2Fuel_eq (f g n : Nat) (hf : n ≤ f) (hg : n ≤ g) : log2Fuel f n = log2Fuel g n := by
  induction f generalizing g n with
  | zero =>
    have : n = 0 := by omega
    subst this
    cases g <;> rfl
  | succ f ih =>
    cases g with
    | zero =>
      have : n = 0 := by omega
      subst this
      rfl
    | succ g =>
      simp only [log2Fuel]
      split
      · rw [ih g (n / 2) (by omega) (by omega)]
      · rfl
theorem log2_of_lt {n : Nat} (h : n < 2) : log2 n = 0 := by
  match n, h with
  | 0, _ => rfl
  | 1, _ => rfl
theorem log2_of_le {n : Nat} (h : 2 ≤ n) : log2 n = log2 (n / 2) + 1 := by
  match n, h with
  | n + 1, h =>
    show (if 2 ≤ n + 1 then log2Fuel n ((n + 1) / 2) + 1 else 0) = _
    rw [if_pos h, log2Fuel_eq n _ _ (by omega) (Nat.le_refl _)]; rfl
theorem bitwiseFuel_eq (op : Bool → Bool → Bool) (f g n m : Nat) (hf : n < f) (hg : n < g) :
    bitwiseFuel op f n m = bitwiseFuel op g n m := by
  induction f generalizing g n m with
  | zero => omega
  | succ f ih =>
    cases g with
    | zero => omega
    | succ g =>
      simp only [bitwiseFuel]
      split
      · rfl
      · rw [ih g (n / 2) (m / 2) (by omega) (by omega)]
theorem bitwise_zero_left (op : Bool → Bool → Bool) (m : Nat) : bitwise op 0 m = if op false true then m else 0 := rfl
theorem bitwise_zero_right (op : Bool → Bool → Bool) (n : Nat) : bitwise op n 0 = if op true false then n else 0 := by
  cases n with
  | zero => show (if _ then 0 else 0) = if _ then 0 else 0; split <;> split <;> rfl
  | succ n => rfl
theorem bitwise_of_pos (op : Bool → Bool → Bool) {n m : Nat} (hn : 0 < n) (hm : 0 < m) :
    bitwise op n m = 2 * bitwise op (n / 2) (m / 2) + if op (decide (n % 2 = 1)) (decide (m % 2 = 1)) then 1 else 0 := by
  show bitwiseFuel op (n + 1) n m = 2 * bitwiseFuel op (n / 2 + 1) (n / 2) (m / 2) + _
  rw [bitwiseFuel, if_neg (by omega), if_neg (by omega), bitwiseFuel_eq op n (n / 2 + 1) _ _ (by omega) (by omega)]
  split <;> simp only [] <;> omega
end Nat
