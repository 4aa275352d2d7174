prelude
import Prelude.More
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! The rest of the functions on `Nat` that Lean's kernel computes on literals by itself: `div`, `mod`, `gcd`, `log2`, `land`, `lor`, `xor`,
`shiftLeft`, `shiftRight` (`add`, `sub`, `mul`, `pow`, `beq`, `ble` are in `Prelude.Core`).

Each is defined as the function that the kernel computes. One that were left out, or were another function, would let a submission prove
`False` with no axiom reported. Recursion is on a fuel argument that is large enough, so that each also unfolds by definition. -/

def Nat.divFuel : Nat → Nat → Nat → Nat
  | 0, _, _ => 0
  | f+1, x, y => if 0 < y ∧ y ≤ x then Nat.divFuel f (x - y) y + 1 else 0
@[extern "lean_nat_div"] protected def Nat.div (x y : Nat) : Nat := Nat.divFuel x x y
instance Nat.instDiv : Div Nat := ⟨Nat.div⟩
@[extern "lean_nat_mod"] protected def Nat.mod (x y : Nat) : Nat := x - y * (x / y)
instance Nat.instMod : Mod Nat := ⟨Nat.mod⟩
instance Nat.instDvd : Dvd Nat := ⟨fun a b => ∃ c, b = a * c⟩
def Nat.gcdFuel : Nat → Nat → Nat → Nat
  | 0, _, n => n
  | f+1, m, n => if m = 0 then n else Nat.gcdFuel f (n % m) m
@[extern "lean_nat_gcd"] def Nat.gcd (m n : Nat) : Nat := Nat.gcdFuel m m n
def Nat.log2Fuel : Nat → Nat → Nat
  | 0, _ => 0
  | f+1, n => if 2 ≤ n then Nat.log2Fuel f (n / 2) + 1 else 0
@[extern "lean_nat_log2"] def Nat.log2 (n : Nat) : Nat := Nat.log2Fuel n n
def Nat.bitwiseFuel (f : Bool → Bool → Bool) : Nat → Nat → Nat → Nat
  | 0, _, _ => 0
  | k+1, n, m =>
    if n = 0 then (if f false true then m else 0)
    else if m = 0 then (if f true false then n else 0)
    else
      let r := Nat.bitwiseFuel f k (n / 2) (m / 2)
      if f (decide (n % 2 = 1)) (decide (m % 2 = 1)) then r + r + 1 else r + r
def Nat.bitwise (f : Bool → Bool → Bool) (n m : Nat) : Nat := Nat.bitwiseFuel f (n + 1) n m
@[extern "lean_nat_land"] def Nat.land (n m : Nat) : Nat := Nat.bitwise and n m
@[extern "lean_nat_lor"] def Nat.lor (n m : Nat) : Nat := Nat.bitwise or n m
@[extern "lean_nat_lxor"] def Nat.xor (n m : Nat) : Nat := Nat.bitwise (fun a b => Bool.xor a b) n m
@[extern "lean_nat_shiftl"] def Nat.shiftLeft (n m : Nat) : Nat := n * 2 ^ m
@[extern "lean_nat_shiftr"] def Nat.shiftRight (n m : Nat) : Nat := n / 2 ^ m
instance : AndOp Nat := ⟨Nat.land⟩
instance : OrOp Nat := ⟨Nat.lor⟩
instance : XorOp Nat := ⟨Nat.xor⟩
instance : ShiftLeft Nat := ⟨Nat.shiftLeft⟩
instance : ShiftRight Nat := ⟨Nat.shiftRight⟩
@[default_instance] instance {α : Type u} [AndOp α] : HAnd α α α := ⟨AndOp.and⟩
@[default_instance] instance {α : Type u} [OrOp α] : HOr α α α := ⟨OrOp.or⟩
@[default_instance] instance {α : Type u} [XorOp α] : HXor α α α := ⟨XorOp.xor⟩
@[default_instance] instance {α : Type u} [ShiftLeft α] : HShiftLeft α α α := ⟨ShiftLeft.shiftLeft⟩
@[default_instance] instance {α : Type u} [ShiftRight α] : HShiftRight α α α := ⟨ShiftRight.shiftRight⟩
-- string literals unfold to these in the kernel
def Char.ofNatAux (n : Nat) (h : n.isValidChar) : Char := ⟨⟨⟨⟨n, Nat.lt_of_lt_of_le (Nat.lt_of_valid h) (by decide)⟩⟩⟩, h⟩
where Nat.lt_of_valid {n : Nat} (h : n.isValidChar) : n < 0x110000 := h.elim (fun h => Nat.lt_trans h (by decide)) (fun h => h.2)
def Char.ofNat (n : Nat) : Char := if h : n.isValidChar then Char.ofNatAux n h else Char.ofNatAux 0 (.inl (by decide))
instance instDecidableEqProd {α : Type u} {β : Type v} [DecidableEq α] [DecidableEq β] : DecidableEq (α × β)
  | (a, b), (c, d) => if h : a = c ∧ b = d then isTrue (by rw [h.1, h.2]) else isFalse (fun e => h ⟨congrArg Prod.fst e, congrArg Prod.snd e⟩)
theorem Nat.dvd_def (a b : Nat) : (a ∣ b) = ∃ c, b = a * c := rfl
theorem Nat.dvd_mul_right (a b : Nat) : a ∣ a * b := ⟨b, rfl⟩
theorem Nat.dvd_refl (a : Nat) : a ∣ a := ⟨1, (Nat.mul_one a).symm⟩
theorem Nat.dvd_trans {a b c : Nat} : a ∣ b → b ∣ c → a ∣ c
  | ⟨x, hx⟩, ⟨y, hy⟩ => ⟨x * y, by rw [hy, hx, Nat.mul_assoc]⟩
theorem Nat.dvd_add {a b c : Nat} : a ∣ b → a ∣ c → a ∣ b + c
  | ⟨x, hx⟩, ⟨y, hy⟩ => ⟨x + y, by rw [hx, hy, Nat.mul_add]⟩
