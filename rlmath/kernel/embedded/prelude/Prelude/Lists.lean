prelude
import Prelude.SimpArith
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! The functions on lists beyond `append`, `length`, `map`, `reverse` and membership; `Prelude.LibraryList` has their lemmas. -/

deriving instance SizeOf for Option
deriving instance SizeOf for List
deriving instance SizeOf for Prod

namespace List
variable {α : Type u} {β : Type v} {γ : Type w}

-- ===== definitions =====
def filter (p : α → Bool) : List α → List α
  | [] => []
  | a :: as => match p a with
    | true => a :: filter p as
    | false => filter p as
def foldr (f : α → β → β) (init : β) : List α → β
  | [] => init
  | a :: as => f a (foldr f init as)
def foldl (f : β → α → β) : β → List α → β
  | b, [] => b
  | b, a :: as => foldl f (f b a) as
def any : List α → (α → Bool) → Bool
  | [], _ => false
  | a :: as, p => p a || any as p
def all : List α → (α → Bool) → Bool
  | [], _ => true
  | a :: as, p => p a && all as p
def elem [BEq α] (a : α) : List α → Bool
  | [] => false
  | b :: bs => match a == b with
    | true => true
    | false => elem a bs
abbrev contains [BEq α] (as : List α) (a : α) : Bool := elem a as
def isEmpty : List α → Bool
  | [] => true
  | _ :: _ => false
def head? : List α → Option α
  | [] => none
  | a :: _ => some a
def headD (as : List α) (fallback : α) : α := match as with | [] => fallback | a :: _ => a
def head : (as : List α) → as ≠ [] → α
  | [], h => absurd rfl h
  | a :: _, _ => a
def tail : List α → List α
  | [] => []
  | _ :: as => as
def getLast? : List α → Option α
  | [] => none
  | [a] => some a
  | _ :: b :: as => getLast? (b :: as)
def take : Nat → List α → List α
  | 0, _ => []
  | _ + 1, [] => []
  | n + 1, a :: as => a :: take n as
def drop : Nat → List α → List α
  | 0, as => as
  | _ + 1, [] => []
  | n + 1, _ :: as => drop n as
def replicate : Nat → α → List α
  | 0, _ => []
  | n + 1, a => a :: replicate n a
/-- `[0, 1, …, n - 1]`. -/
def range : Nat → List Nat
  | 0 => []
  | n + 1 => range n ++ [n]
def flatten : List (List α) → List α
  | [] => []
  | l :: L => l ++ flatten L
def flatMap (l : List α) (f : α → List β) : List β := flatten (map f l)
def filterMap (f : α → Option β) : List α → List β
  | [] => []
  | a :: as => match f a with
    | none => filterMap f as
    | some b => b :: filterMap f as
def zipWith (f : α → β → γ) : List α → List β → List γ
  | x :: xs, y :: ys => f x y :: zipWith f xs ys
  | [], _ => []
  | _ :: _, [] => []
def zip (as : List α) (bs : List β) : List (α × β) := zipWith Prod.mk as bs
def find? (p : α → Bool) : List α → Option α
  | [] => none
  | a :: as => match p a with
    | true => some a
    | false => find? p as
def sum [Add α] [OfNat α 0] : List α → α := foldr (· + ·) 0
def countP (p : α → Bool) (l : List α) : Nat := length (filter p l)
def count [BEq α] (a : α) : List α → Nat := countP (· == a)
/-- `R` holds from each element to every later one. -/
inductive Pairwise (R : α → α → Prop) : List α → Prop
  | nil : Pairwise R []
  | cons {a : α} {l : List α} : (∀ b, b ∈ l → R a b) → Pairwise R l → Pairwise R (a :: l)
def Nodup : List α → Prop := Pairwise (· ≠ ·)
end List
