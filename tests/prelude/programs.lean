-- Small programs and their proofs, as an introduction to verification has them.

theorem foldr_cons_rebuilds (l : List Nat) : l.foldr (fun x acc => x :: acc) [] = l := by
  induction l with
  | nil => rfl
  | cons x xs ih => rw [List.foldr_cons, ih]

theorem foldr_cons_simp (l : List Nat) : l.foldr (fun x acc => x :: acc) [] = l := by simp

def insertSorted (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: ys => if x ≤ y then x :: y :: ys else y :: insertSorted x ys

def isort : List Nat → List Nat
  | [] => []
  | x :: xs => insertSorted x (isort xs)

def Sorted : List Nat → Prop
  | [] => True
  | [_] => True
  | x :: y :: ys => x ≤ y ∧ Sorted (y :: ys)

theorem insertSorted_length (x : Nat) (l : List Nat) : (insertSorted x l).length = l.length + 1 := by
  induction l with
  | nil => rfl
  | cons y ys ih =>
    unfold insertSorted
    split
    · simp
    · simp [ih]

theorem isort_length (l : List Nat) : (isort l).length = l.length := by
  induction l with
  | nil => rfl
  | cons x xs ih => simp [isort, insertSorted_length, ih]

theorem insertSorted_sorted (x : Nat) (l : List Nat) (h : Sorted l) : Sorted (insertSorted x l) := by
  induction l with
  | nil => simp [insertSorted, Sorted]
  | cons y ys ih =>
    unfold insertSorted
    split
    · exact ⟨by assumption, h⟩
    · rename_i hxy
      cases ys with
      | nil => simp [insertSorted, Sorted]; omega
      | cons z zs =>
        have h' := ih h.2
        unfold insertSorted at h' ⊢
        split at h' <;> simp_all [Sorted] <;> omega

def mySum (l : List Nat) : Nat := l.foldl (· + ·) 0

theorem mySum_rfl : mySum [1,2,3] = 6 := rfl

theorem mySum_simp : mySum [1,2,3] = 6 := by simp [mySum]

inductive Expr' where
  | num (n : Int) | add (a b : Expr') | mul (a b : Expr') | neg (a : Expr')

def Expr'.eval : Expr' → Int
  | num n => n
  | add a b => a.eval + b.eval
  | mul a b => a.eval * b.eval
  | neg a => - a.eval

def Expr'.opt : Expr' → Expr'
  | num n => num n
  | neg (neg a) => a.opt
  | neg a => neg a.opt
  | add a b => match a.opt, b.opt with
    | num x, num y => num (x + y)
    | a', b' => add a' b'
  | mul a b => mul a.opt b.opt

theorem opt_correct (e : Expr') : e.opt.eval = e.eval := by
  fun_induction Expr'.opt e <;> simp_all [Expr'.eval]

theorem neg_neg_eval (e : Expr') : (Expr'.neg (.neg e)).eval = e.eval := by simp [Expr'.eval]

inductive Term' : Type where
  | var (i : Nat) | app (f : Nat) (args : List Term')

theorem nested_constructors_differ (i : Nat) (f : Nat) (a : List Term') : Term'.var i ≠ Term'.app f a := by simp

def Stream' (α : Type) := Nat → α

def Stream'.head {α : Type} (s : Stream' α) := s 0

theorem head_is_first {α : Type} (s : Stream' α) : s.head = s 0 := rfl

abbrev Rel (α : Type) := α → α → Prop

inductive Star {α : Type} (r : Rel α) : α → α → Prop
  | refl {a : α} : Star r a a
  | step {a b c : α} : r a b → Star r b c → Star r a c

theorem Star.trans {α : Type} {r : Rel α} {a b c : α} (h1 : Star r a b) (h2 : Star r b c) : Star r a c := by
  induction h1 with
  | refl => exact h2
  | step hab _ ih => exact .step hab (ih h2)

theorem star_single {α : Type} {r : Rel α} {a b : α} (h : r a b) : Star r a b := .step h .refl

structure Group' where
  carrier : Type
  mul : carrier → carrier → carrier
  one : carrier
  inv : carrier → carrier
  mul_assoc : ∀ a b c, mul (mul a b) c = mul a (mul b c)
  one_mul : ∀ a, mul one a = a
  inv_mul : ∀ a, mul (inv a) a = one

theorem Group'.left_cancel (G : Group') (a b c : G.carrier) (h : G.mul a b = G.mul a c) : b = c := by
  have h' := congrArg (G.mul (G.inv a)) h
  rw [← G.mul_assoc, ← G.mul_assoc, G.inv_mul, G.one_mul, G.one_mul] at h'
  exact h'

def pow' (b : Nat) : Nat → Nat
  | 0 => 1
  | n+1 => b * pow' b n

theorem pow_agrees (b n : Nat) : pow' b n = b ^ n := by
  induction n with
  | zero => rfl
  | succ n ih => rw [pow', ih, Nat.pow_succ, Nat.mul_comm]

def collatz (n : Nat) : Nat := if n % 2 = 0 then n / 2 else 3 * n + 1

theorem collatz_decide : collatz 7 = 22 := by decide

theorem collatz_rfl : collatz 7 = 22 := rfl

theorem collatz_simp : collatz 7 = 22 := by simp [collatz]

theorem collatz_even (n : Nat) (h : n % 2 = 0) : collatz n = n / 2 := by simp [collatz, h]

theorem collatz_odd (n : Nat) (h : n % 2 = 1) : collatz n = 3*n+1 := by unfold collatz; rw [if_neg (by omega)]

instance : Add (Nat × Nat) := ⟨fun a b => (a.1 + b.1, a.2 + b.2)⟩

theorem componentwise_comm (a b : Nat × Nat) : a + b = b + a := by
  show (_, _) = (_, _)
  simp [Nat.add_comm]

theorem predicates_equal (s t : Nat → Prop) (h : ∀ x, s x ↔ t x) : s = t := by
  funext x
  exact propext (h x)

theorem bool_de_morgan_cases (a b : Bool) : (!(a && b)) = (!a || !b) := by cases a <;> cases b <;> rfl

theorem bool_de_morgan_decide : ∀ a b : Bool, (!(a && b)) = (!a || !b) := by decide

theorem bool_de_morgan_simp (a b : Bool) : (!(a && b)) = (!a || !b) := by simp

theorem nil_by_length (xs ys : List Nat) (h : xs.length = ys.length) (hx : xs = []) : ys = [] := by
  subst hx
  exact List.eq_nil_of_length_eq_zero h.symm

theorem member_not_nil (xs : List Nat) (n : Nat) (h : n ∈ xs) : xs ≠ [] := by
  rintro rfl
  simp at h

theorem member_below_maximum (xs : List Nat) (n : Nat) (h : n ∈ xs) : n ≤ xs.foldr max 0 := by
  induction xs with
  | nil => simp at h
  | cons x xs ih =>
    simp at h
    simp only [List.foldr_cons]
    rcases h with rfl | h
    · omega
    · have := ih h; omega

theorem insertion_sort_sorts (l : List Nat) : Sorted (isort l) := by
  induction l with
  | nil => trivial
  | cons x xs ih => exact insertSorted_sorted x (isort xs) ih

theorem insertion_sort_keeps (a : Nat) (l : List Nat) : a ∈ isort l ↔ a ∈ l := by
  have step : ∀ (x : Nat) (l : List Nat), a ∈ insertSorted x l ↔ a = x ∨ a ∈ l := by
    intro x l
    induction l with
    | nil => simp [insertSorted]
    | cons y ys ih =>
      unfold insertSorted
      split
      · simp
      · simp only [List.mem_cons, ih]
        constructor
        · rintro (h | h | h)
          · exact Or.inr (Or.inl h)
          · exact Or.inl h
          · exact Or.inr (Or.inr h)
        · rintro (h | h | h)
          · exact Or.inr (Or.inl h)
          · exact Or.inl h
          · exact Or.inr (Or.inr h)
  induction l with
  | nil => rfl
  | cons x xs ih => simp [isort, step, ih]

def merge : List Nat → List Nat → List Nat
  | [], ys => ys
  | xs, [] => xs
  | x :: xs, y :: ys => if x ≤ y then x :: merge xs (y :: ys) else y :: merge (x :: xs) ys

theorem merge_length (xs ys : List Nat) : (merge xs ys).length = xs.length + ys.length := by
  fun_induction merge xs ys <;> simp_all <;> omega

def digits (n : Nat) : List Nat := if n < 10 then [n] else digits (n / 10) ++ [n % 10]

theorem digits_computed : digits 123 = [1, 2, 3] := by simp [digits]

def evenBool (n : Nat) : Bool := match n with
  | 0 => true
  | 1 => false
  | n + 2 => evenBool n

theorem evenBool_spec (n : Nat) : evenBool n = (n % 2 == 0) := by
  fun_induction evenBool n with
  | case1 => rfl
  | case2 => rfl
  | case3 n ih =>
    have : (n + 2) % 2 = n % 2 := by omega
    rw [ih, ← this]

def binarySearch (a : Nat → Nat) (x lo hi : Nat) : Nat :=
  if lo < hi then
    let mid := (lo + hi) / 2
    if a mid < x then binarySearch a x (mid + 1) hi else binarySearch a x lo mid
  else lo
termination_by hi - lo

theorem binarySearch_empty (a : Nat → Nat) (x n : Nat) : binarySearch a x n n = n := by
  rw [binarySearch]
  simp

inductive RoseTree where
  | node (value : Nat) (children : List RoseTree)

mutual
def RoseTree.sum : RoseTree → Nat
  | .node n cs => n + RoseTree.sumAll cs
def RoseTree.sumAll : List RoseTree → Nat
  | [] => 0
  | c :: cs => c.sum + RoseTree.sumAll cs
end

theorem rose_sum : (RoseTree.node 1 [.node 2 [], .node 3 []]).sum = 6 := by simp [RoseTree.sum, RoseTree.sumAll]

theorem boolean_to_nat (b : Bool) : b.toNat ≤ 1 := by
  cases b <;> simp

theorem calc_descending (n : Nat) (h : n > 1) : n * n > n := by
  calc n * n ≥ n * 2 := Nat.mul_le_mul_left n h
    _ > n := by omega

theorem wrong_program : collatz 7 = 21 := by decide -- error: is false
