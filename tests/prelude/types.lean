-- Types of the goal's own context: enumerations, recursive and mutual types, structures, classes, recursion.

inductive Color where
  | red
  | green
  | blue
  deriving DecidableEq

theorem color_distinct : Color.red ≠ Color.blue := by decide

theorem color_cases (c : Color) : c = .red ∨ c = .green ∨ c = .blue := by
  cases c <;> simp

def Color.next : Color → Color
  | .red => .green
  | .green => .blue
  | .blue => .red

theorem color_cycle (c : Color) : c.next.next.next = c := by
  cases c <;> rfl

def Color.warm : Color → Bool
  | .red => true
  | _ => false

theorem color_wildcard (c : Color) (h : c ≠ .red) : c.warm = false := by
  cases c <;> simp_all [Color.warm]

inductive Tree (α : Type) where
  | leaf : Tree α
  | node (left : Tree α) (value : α) (right : Tree α) : Tree α

namespace Tree

def mirror {α : Type} : Tree α → Tree α
  | .leaf => .leaf
  | .node l x r => .node r.mirror x l.mirror

def size {α : Type} : Tree α → Nat
  | .leaf => 0
  | .node l _ r => l.size + 1 + r.size

theorem mirror_mirror {α : Type} (t : Tree α) : t.mirror.mirror = t := by
  induction t with
  | leaf => rfl
  | node l x r ihl ihr => simp [mirror, ihl, ihr]

theorem size_mirror {α : Type} (t : Tree α) : t.mirror.size = t.size := by
  induction t with
  | leaf => rfl
  | node l x r ihl ihr =>
    simp only [mirror, size, ihl, ihr]
    omega

theorem node_injective {α : Type} (l l' r r' : Tree α) (x y : α) (h : node l x r = node l' y r') : x = y := by
  injection h

theorem node_ne_leaf {α : Type} (l r : Tree α) (x : α) : node l x r ≠ leaf := by simp

end Tree

structure Point where
  x : Int
  y : Int
  deriving DecidableEq

theorem point_eta (p : Point) : Point.mk p.x p.y = p := rfl

theorem point_decided : ({ x := 1, y := 2 } : Point) ≠ { x := 2, y := 1 } := by decide

theorem point_equation (p q : Point) (hx : p.x = q.x) (hy : p.y = q.y) : p = q := by
  cases p
  cases q
  simp_all

@[ext] structure Complex where
  re : Int
  im : Int

def Complex.mul (a b : Complex) : Complex := ⟨a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re⟩

theorem complex_mul_comm (a b : Complex) : a.mul b = b.mul a := by
  ext
  · simp [Complex.mul, Int.mul_comm]
  · simp [Complex.mul, Int.mul_comm, Int.add_comm]

theorem structure_update (p : Point) : { p with x := 0 }.y = p.y := rfl

class Monoid' (M : Type) where
  op : M → M → M
  unit : M
  assoc : ∀ a b c, op (op a b) c = op a (op b c)
  unit_op : ∀ a, op unit a = a
  op_unit : ∀ a, op a unit = a

instance : Monoid' Nat where
  op := (· + ·)
  unit := 0
  assoc := Nat.add_assoc
  unit_op := Nat.zero_add
  op_unit := Nat.add_zero

theorem unit_unique {M : Type} [Monoid' M] (e : M) (h : ∀ a : M, Monoid'.op e a = a) : e = Monoid'.unit := by
  have := h Monoid'.unit
  rw [Monoid'.op_unit] at this
  exact this

theorem instance_found : Monoid'.op 2 3 = 5 := by decide

inductive Even : Nat → Prop
  | zero : Even 0
  | step {n : Nat} : Even n → Even (n + 2)

theorem even_double (n : Nat) : Even (2 * n) := by
  induction n with
  | zero => exact Even.zero
  | succ n ih => exact Even.step ih

theorem even_inversion (n : Nat) (h : Even (n + 2)) : Even n := by
  cases h with
  | step h => exact h

theorem even_rule_induction (n : Nat) (h : Even n) : n % 2 = 0 := by
  induction h with
  | zero => rfl
  | step _ ih => omega

theorem one_not_even : ¬Even 1 := by
  intro h
  cases h

inductive Vec (α : Type) : Nat → Type
  | nil : Vec α 0
  | cons {n : Nat} : α → Vec α n → Vec α (n + 1)

def Vec.toList {α : Type} {n : Nat} : Vec α n → List α
  | .nil => []
  | .cons a v => a :: v.toList

theorem vec_length {α : Type} {n : Nat} (v : Vec α n) : v.toList.length = n := by
  induction v with
  | nil => rfl
  | cons a v ih => simp [Vec.toList, ih]

def Vec.head {α : Type} {n : Nat} : Vec α (n + 1) → α
  | .cons a _ => a

theorem vec_head {α : Type} {n : Nat} (a : α) (v : Vec α n) : (Vec.cons a v).head = a := rfl

mutual
inductive Rose (α : Type) where
  | node (value : α) (children : Forest α) : Rose α
inductive Forest (α : Type) where
  | nil : Forest α
  | cons (head : Rose α) (tail : Forest α) : Forest α
end

mutual
def Rose.count {α : Type} : Rose α → Nat
  | .node _ f => f.count + 1
def Forest.count {α : Type} : Forest α → Nat
  | .nil => 0
  | .cons t f => t.count + f.count
end

theorem rose_positive {α : Type} (t : Rose α) : 0 < t.count := by
  cases t with
  | node x f => simp [Rose.count]

mutual
def isEven : Nat → Bool
  | 0 => true
  | n + 1 => isOdd n
def isOdd : Nat → Bool
  | 0 => false
  | n + 1 => isEven n
end

theorem mutual_computed : isEven 10 = true ∧ isOdd 7 = true := by decide

theorem mutual_opposite (n : Nat) : isOdd n = !isEven n := by
  induction n with
  | zero => rfl
  | succ n ih => simp [isEven, isOdd, ih]

def factorial : Nat → Nat
  | 0 => 1
  | n + 1 => (n + 1) * factorial n

theorem factorial_five : factorial 5 = 120 := by decide

theorem factorial_step (n : Nat) : factorial (n + 1) = (n + 1) * factorial n := by rw [factorial]

theorem factorial_positive (n : Nat) : 0 < factorial n := by
  induction n with
  | zero => decide
  | succ n ih => exact Nat.mul_pos (Nat.zero_lt_succ n) ih

def sumTo : Nat → Nat
  | 0 => 0
  | n + 1 => (n + 1) + sumTo n

theorem gauss (n : Nat) : 2 * sumTo n = n * (n + 1) := by
  induction n with
  | zero => rfl
  | succ n ih =>
    rw [sumTo, Nat.mul_add, ih]
    simp only [Nat.mul_add, Nat.add_mul]
    omega

def fib : Nat → Nat
  | 0 => 0
  | 1 => 1
  | n + 2 => fib n + fib (n + 1)

theorem fib_twenty : fib 20 = 6765 := by decide

theorem fib_positive (n : Nat) (h : 0 < n) : 0 < fib n := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    match n, h with
    | 1, _ => decide
    | n + 2, _ =>
      have := ih (n + 1) (by omega) (by omega)
      rw [fib]
      omega

def log2 (n : Nat) : Nat := if n < 2 then 0 else log2 (n / 2) + 1
termination_by n

theorem log2_small (n : Nat) (h : n < 2) : log2 n = 0 := by
  rw [log2]
  simp [h]

def gcd' (a b : Nat) : Nat := if h : b = 0 then a else gcd' b (a % b)
termination_by b
decreasing_by exact Nat.mod_lt _ (Nat.pos_of_ne_zero h)

theorem gcd'_zero (a : Nat) : gcd' a 0 = a := by
  rw [gcd']
  simp

def ack : Nat → Nat → Nat
  | 0, n => n + 1
  | m + 1, 0 => ack m 1
  | m + 1, n + 1 => ack m (ack (m + 1) n)
termination_by m n => (m, n)

theorem ack_one (n : Nat) : ack 1 n = n + 2 := by
  induction n with
  | zero => simp [ack]
  | succ n ih => simp [ack, ih]

def half (n : Nat) : Nat := if n < 2 then 0 else half (n - 2) + 1

theorem half_spec (n : Nat) : half n = n / 2 := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    rw [half]
    split
    · omega
    · rw [ih (n - 2) (by omega)]
      omega

def interleave {α : Type} : List α → List α → List α
  | [], ys => ys
  | x :: xs, ys => x :: interleave ys xs
termination_by xs ys => xs.length + ys.length

theorem interleave_length {α : Type} (xs ys : List α) : (interleave xs ys).length = xs.length + ys.length := by
  induction xs, ys using interleave.induct with
  | case1 ys => simp [interleave]
  | case2 x xs ys ih =>
    simp [interleave, ih]
    omega

theorem functional_induction (n : Nat) : fib n ≤ fib (n + 1) := by
  fun_induction fib n with
  | case1 => decide
  | case2 => decide
  | case3 n ih₁ ih₂ =>
    rw [fib]
    omega

theorem missing_case (c : Color) : c.next ≠ .red := by
  cases c with -- error: Alternative `blue` has not been provided
  | red => decide
  | green => decide

theorem wrong_value : factorial 3 = 7 := by decide -- error: is false

theorem not_structural : ∀ n : Nat, n < fib n := by
  intro n
  induction n with
  | zero => decide -- error: is false
  | succ n ih => omega
