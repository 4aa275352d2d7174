prelude
import Prelude.LibraryLogic
import Prelude.LibraryDvd
import Prelude.Lists
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! Lists: the lemmas that a proof quotes by the name they have in Lean's library. -/

namespace List
variable {α : Type u} {β : Type v} {γ : Type w} {a b : α} {l l₁ l₂ : List α}

-- ===== constructors, length =====
theorem cons_ne_nil (a : α) (l : List α) : a :: l ≠ [] := fun h => nomatch h
theorem cons_inj : a :: l₁ = b :: l₂ ↔ a = b ∧ l₁ = l₂ := by simp
theorem length_eq_zero_iff : length l = 0 ↔ l = [] := by cases l <;> simp
theorem eq_nil_of_length_eq_zero (h : length l = 0) : l = [] := length_eq_zero_iff.1 h
theorem length_pos_iff : 0 < length l ↔ l ≠ [] := by cases l <;> simp
theorem ne_nil_of_length_pos (h : 0 < length l) : l ≠ [] := length_pos_iff.1 h
theorem length_pos_of_ne_nil (h : l ≠ []) : 0 < length l := length_pos_iff.2 h
theorem exists_cons_of_ne_nil : {l : List α} → l ≠ [] → ∃ b L, l = b :: L | [], h => absurd rfl h | b :: L, _ => ⟨b, L, rfl⟩
theorem length_singleton (a : α) : length [a] = 1 := rfl

-- ===== append =====
theorem append_eq (as bs : List α) : List.append as bs = as ++ bs := rfl
theorem singleton_append (x : α) (l : List α) : [x] ++ l = x :: l := rfl
@[simp] theorem append_eq_nil_iff : l₁ ++ l₂ = [] ↔ l₁ = [] ∧ l₂ = [] := by cases l₁ <;> simp
theorem append_cancel_left {as bs cs : List α} (h : as ++ bs = as ++ cs) : bs = cs := by
  induction as with
  | nil => exact h
  | cons a as ih => exact ih (cons_inj.1 h).2
@[simp] theorem append_cancel_left_eq (as bs cs : List α) : (as ++ bs = as ++ cs) = (bs = cs) := propext ⟨append_cancel_left, congrArg (as ++ ·)⟩
theorem append_cancel_right {as bs cs : List α} (h : as ++ bs = cs ++ bs) : as = cs := by
  have h' := congrArg reverse h
  rw [reverse_append, reverse_append] at h'
  have := congrArg reverse (append_cancel_left h')
  rw [reverse_reverse, reverse_reverse] at this; exact this
@[simp] theorem append_cancel_right_eq (as bs cs : List α) : (as ++ bs = cs ++ bs) = (as = cs) := propext ⟨append_cancel_right, congrArg (· ++ bs)⟩

-- ===== membership =====
theorem mem_cons_self : a ∈ a :: l := .head l
theorem mem_cons_of_mem (y : α) (h : a ∈ l) : a ∈ y :: l := .tail y h
theorem mem_singleton : a ∈ [b] ↔ a = b := by simp
theorem mem_of_ne_of_mem {y : α} (h₁ : a ≠ y) (h₂ : a ∈ y :: l) : a ∈ l := (mem_cons.1 h₂).resolve_left h₁
theorem ne_nil_of_mem : a ∈ l → l ≠ [] := fun h e => not_mem_nil a (e ▸ h)
theorem eq_nil_iff_forall_not_mem : l = [] ↔ ∀ a, ¬a ∈ l := by
  cases l with
  | nil => simp
  | cons x l => exact ⟨fun h => (nomatch h), fun h => absurd mem_cons_self (h x)⟩
@[simp] theorem mem_append : a ∈ l₁ ++ l₂ ↔ a ∈ l₁ ∨ a ∈ l₂ := by
  induction l₁ with
  | nil => simp
  | cons x l ih => simp [ih, _root_.or_assoc]
theorem mem_append_left (l₂ : List α) (h : a ∈ l₁) : a ∈ l₁ ++ l₂ := mem_append.2 (.inl h)
theorem mem_append_right (l₁ : List α) (h : a ∈ l₂) : a ∈ l₁ ++ l₂ := mem_append.2 (.inr h)
theorem append_of_mem (h : a ∈ l) : ∃ s t, l = s ++ a :: t := by
  induction h with
  | head l => exact ⟨[], l, rfl⟩
  | tail b h ih => obtain ⟨s, t, rfl⟩ := ih; exact ⟨b :: s, t, rfl⟩
@[simp] theorem mem_map {f : α → β} {b : β} : b ∈ map f l ↔ ∃ a, a ∈ l ∧ f a = b := by
  induction l with
  | nil => simp
  | cons x l ih => simp [ih, eq_comm (a := b)]
theorem mem_map_of_mem {f : α → β} (h : a ∈ l) : f a ∈ map f l := mem_map.2 ⟨a, h, rfl⟩
@[simp] theorem mem_reverse : a ∈ reverse l ↔ a ∈ l := by
  induction l with
  | nil => simp
  | cons x l ih => simp [ih, or_comm]
@[simp] theorem mem_filter {p : α → Bool} : a ∈ filter p l ↔ a ∈ l ∧ p a = true := by
  induction l with
  | nil => simp [filter]
  | cons x l ih =>
    unfold filter
    cases h : p x with
    | true =>
      simp only [mem_cons, ih]
      exact ⟨fun k => k.elim (fun e => ⟨.inl e, e ▸ h⟩) fun k => ⟨.inr k.1, k.2⟩, fun ⟨k, hp⟩ => k.imp id fun k => ⟨k, hp⟩⟩
    | false =>
      simp only [mem_cons, ih]
      exact ⟨fun k => ⟨.inr k.1, k.2⟩, fun ⟨k, hp⟩ => ⟨k.resolve_left fun e => by rw [e, h] at hp; exact (nomatch hp), hp⟩⟩
@[simp] theorem mem_replicate {n : Nat} : a ∈ replicate n b ↔ n ≠ 0 ∧ a = b := by
  induction n with
  | zero => simp [replicate]
  | succ n ih => simp only [replicate, mem_cons, ih]; exact ⟨fun h => ⟨Nat.succ_ne_zero n, h.elim id And.right⟩, fun h => .inl h.2⟩
@[simp] theorem mem_range {m n : Nat} : m ∈ range n ↔ m < n := by
  induction n with
  | zero => simp [range]
  | succ n ih => simp only [range, mem_append, ih, mem_cons, not_mem_nil, or_false]; exact (Nat.le_iff_lt_or_eq.symm).trans Nat.lt_succ_iff.symm
@[simp] theorem mem_flatten {L : List (List α)} : a ∈ flatten L ↔ ∃ l, l ∈ L ∧ a ∈ l := by
  induction L with
  | nil => simp [flatten]
  | cons l L ih => simp [flatten, ih]
@[simp] theorem mem_flatMap {f : α → List β} {b : β} : b ∈ flatMap l f ↔ ∃ a, a ∈ l ∧ b ∈ f a := by
  induction l with
  | nil => simp [flatMap, flatten]
  | cons x l ih => unfold flatMap at ih ⊢; simp only [map_cons, flatten, mem_append, ih, mem_cons, exists_eq_or_imp]
theorem forall_mem_cons {p : α → Prop} : (∀ x, x ∈ a :: l → p x) ↔ p a ∧ ∀ x, x ∈ l → p x := by simp
theorem forall_mem_nil (p : α → Prop) : ∀ x, x ∈ ([] : List α) → p x := fun _ h => nomatch h
theorem forall_mem_append {p : α → Prop} : (∀ x, x ∈ l₁ ++ l₂ → p x) ↔ (∀ x, x ∈ l₁ → p x) ∧ ∀ x, x ∈ l₂ → p x := by
  simp only [mem_append]; exact ⟨fun h => ⟨fun x k => h x (.inl k), fun x k => h x (.inr k)⟩, fun h x k => k.elim (h.1 x) (h.2 x)⟩

-- ===== map, filter =====
@[simp] theorem map_append (f : α → β) (l₁ l₂ : List α) : map f (l₁ ++ l₂) = map f l₁ ++ map f l₂ := by
  induction l₁ with
  | nil => rfl
  | cons a l ih => simp [ih]
@[simp] theorem map_map (g : β → γ) (f : α → β) (l : List α) : map g (map f l) = map (g ∘ f) l := by
  induction l with
  | nil => rfl
  | cons a l ih => simp [ih]
@[simp] theorem map_id (l : List α) : map id l = l := by
  induction l with
  | nil => rfl
  | cons a l ih => simp [ih]
@[simp] theorem map_id_fun' : map (fun a : α => a) = id := funext fun l => map_id l
theorem map_congr_left {f g : α → β} (h : ∀ a, a ∈ l → f a = g a) : map f l = map g l := by
  induction l with
  | nil => rfl
  | cons a l ih => rw [map_cons, map_cons, h a mem_cons_self, ih fun x k => h x (mem_cons_of_mem a k)]
@[simp] theorem map_eq_nil_iff {f : α → β} : map f l = [] ↔ l = [] := by cases l <;> simp
@[simp] theorem map_reverse (f : α → β) (l : List α) : map f (reverse l) = reverse (map f l) := by
  induction l with
  | nil => rfl
  | cons a l ih => simp [ih]
@[simp] theorem length_reverse (l : List α) : length (reverse l) = length l := by
  induction l with
  | nil => rfl
  | cons a l ih => simp [ih]
@[simp] theorem reverse_eq_nil_iff : reverse l = [] ↔ l = [] := by cases l <;> simp
theorem reverse_inj : reverse l₁ = reverse l₂ ↔ l₁ = l₂ := ⟨fun h => by rw [← reverse_reverse l₁, h, reverse_reverse], congrArg reverse⟩
theorem reverse_singleton (a : α) : reverse [a] = [a] := rfl
@[simp] theorem filter_nil (p : α → Bool) : filter p [] = [] := rfl
@[simp] theorem filter_cons_of_pos {p : α → Bool} {l : List α} (h : p a = true) : filter p (a :: l) = a :: filter p l := by simp [filter, h]
@[simp] theorem filter_cons_of_neg {p : α → Bool} {l : List α} (h : ¬p a = true) : filter p (a :: l) = filter p l := by
  have h := eq_false_of_ne_true h
  simp [filter, h]
theorem filter_cons {p : α → Bool} {x : α} {xs : List α} : filter p (x :: xs) = if p x = true then x :: filter p xs else filter p xs := by
  by_cases h : p x = true
  · rw [filter_cons_of_pos h, if_pos h]
  · rw [filter_cons_of_neg h, if_neg h]
@[simp] theorem filter_append {p : α → Bool} (l₁ l₂ : List α) : filter p (l₁ ++ l₂) = filter p l₁ ++ filter p l₂ := by
  induction l₁ with
  | nil => rfl
  | cons a l ih => rw [cons_append, filter_cons, filter_cons, ih]; split <;> rfl
theorem length_filter_le (p : α → Bool) (l : List α) : length (filter p l) ≤ length l := by
  induction l with
  | nil => exact Nat.le_refl 0
  | cons a l ih =>
    rw [filter_cons]; split
    · exact Nat.succ_le_succ ih
    · exact Nat.le_succ_of_le ih
theorem filter_eq_self {p : α → Bool} : filter p l = l ↔ ∀ a, a ∈ l → p a = true := by
  constructor
  · intro h a k; rw [← h] at k; exact (mem_filter.1 k).2
  · intro h
    induction l with
    | nil => rfl
    | cons a l ih => rw [filter_cons_of_pos (h a mem_cons_self), ih fun x k => h x (mem_cons_of_mem a k)]
@[simp] theorem filter_filter {p q : α → Bool} (l : List α) : filter p (filter q l) = filter (fun a => p a && q a) l := by
  induction l with
  | nil => rfl
  | cons a l ih => by_cases hq : q a = true <;> by_cases hp : p a = true <;> simp_all

-- ===== folds, any, all, sum =====
@[simp] theorem foldr_nil (f : α → β → β) (b : β) : foldr f b [] = b := rfl
@[simp] theorem foldr_cons (f : α → β → β) (b : β) (a : α) (l : List α) : foldr f b (a :: l) = f a (foldr f b l) := rfl
@[simp] theorem foldl_nil (f : β → α → β) (b : β) : foldl f b [] = b := rfl
@[simp] theorem foldl_cons (f : β → α → β) (b : β) (a : α) (l : List α) : foldl f b (a :: l) = foldl f (f b a) l := rfl
@[simp] theorem foldr_append (f : α → β → β) (b : β) (l l' : List α) : foldr f b (l ++ l') = foldr f (foldr f b l') l := by
  induction l with
  | nil => rfl
  | cons a l ih => simp [ih]
@[simp] theorem foldl_append (f : β → α → β) (b : β) (l l' : List α) : foldl f b (l ++ l') = foldl f (foldl f b l) l' := by
  induction l generalizing b with
  | nil => rfl
  | cons a l ih => simp [ih]
theorem foldl_reverse (l : List α) (f : β → α → β) (b : β) : foldl f b (reverse l) = foldr (fun x y => f y x) b l := by
  induction l with
  | nil => rfl
  | cons a l ih => simp [ih]
theorem foldr_reverse (l : List α) (f : α → β → β) (b : β) : foldr f b (reverse l) = foldl (fun x y => f y x) b l := by
  have := foldl_reverse (reverse l) (fun x y => f y x) b
  rw [reverse_reverse] at this; exact this.symm
theorem foldr_map (f : α → β) (g : β → γ → γ) (l : List α) (init : γ) : foldr g init (map f l) = foldr (fun x y => g (f x) y) init l := by
  induction l with
  | nil => rfl
  | cons a l ih => simp [ih]
theorem foldl_map (f : α → β) (g : γ → β → γ) (l : List α) (init : γ) : foldl g init (map f l) = foldl (fun x y => g x (f y)) init l := by
  induction l generalizing init with
  | nil => rfl
  | cons a l ih => simp [ih]
@[simp] theorem foldr_cons_nil (l : List α) : foldr cons [] l = l := by
  induction l with
  | nil => rfl
  | cons a l ih => simp [ih]
@[simp] theorem any_nil (p : α → Bool) : any [] p = false := rfl
@[simp] theorem any_cons (p : α → Bool) (a : α) (l : List α) : any (a :: l) p = (p a || any l p) := rfl
@[simp] theorem all_nil (p : α → Bool) : all [] p = true := rfl
@[simp] theorem all_cons (p : α → Bool) (a : α) (l : List α) : all (a :: l) p = (p a && all l p) := rfl
theorem any_eq_true {p : α → Bool} : any l p = true ↔ ∃ x, x ∈ l ∧ p x = true := by
  induction l with
  | nil => simp
  | cons a l ih => simp [ih]
theorem all_eq_true {p : α → Bool} : all l p = true ↔ ∀ x, x ∈ l → p x = true := by
  induction l with
  | nil => simp
  | cons a l ih => simp [ih]
@[simp] theorem sum_nil [Add α] [OfNat α 0] : sum ([] : List α) = 0 := rfl
@[simp] theorem sum_cons [Add α] [OfNat α 0] {a : α} {l : List α} : sum (a :: l) = a + sum l := rfl
theorem sum_append_nat (l₁ l₂ : List Nat) : sum (l₁ ++ l₂) = sum l₁ + sum l₂ := by
  induction l₁ with
  | nil => simp
  | cons a l ih => simp [ih, Nat.add_assoc]
@[simp] theorem elem_nil [BEq α] : elem a [] = false := rfl
theorem elem_eq_true_of_mem [BEq α] [LawfulBEq α] (h : a ∈ l) : elem a l = true := by
  induction h with
  | head l => simp [elem]
  | tail b h ih => unfold elem; split <;> simp_all
theorem mem_of_elem_eq_true [BEq α] [LawfulBEq α] {a : α} : {l : List α} → elem a l = true → a ∈ l
  | b :: l, h => by
    unfold elem at h
    cases k : a == b with
    | true => rw [eq_of_beq k]; exact mem_cons_self
    | false => rw [k] at h; exact mem_cons_of_mem b (mem_of_elem_eq_true h)
@[simp] theorem elem_iff [BEq α] [LawfulBEq α] {a : α} {l : List α} : elem a l = true ↔ a ∈ l := ⟨mem_of_elem_eq_true, elem_eq_true_of_mem⟩
@[simp] theorem isEmpty_iff : isEmpty l = true ↔ l = [] := by cases l <;> simp [isEmpty]

-- ===== head, tail, take, drop =====
@[simp] theorem head?_nil : head? ([] : List α) = none := rfl
@[simp] theorem head?_cons (a : α) (l : List α) : head? (a :: l) = some a := rfl
@[simp] theorem head_cons (a : α) (l : List α) (h : a :: l ≠ []) : head (a :: l) h = a := rfl
@[simp] theorem tail_nil : tail ([] : List α) = [] := rfl
@[simp] theorem tail_cons (a : α) (l : List α) : tail (a :: l) = l := rfl
@[simp] theorem length_tail (l : List α) : length (tail l) = length l - 1 := by cases l <;> rfl
@[simp] theorem take_nil (n : Nat) : take n ([] : List α) = [] := by cases n <;> rfl
@[simp] theorem take_zero (l : List α) : take 0 l = [] := rfl
@[simp] theorem take_succ_cons (n : Nat) (a : α) (l : List α) : take (n + 1) (a :: l) = a :: take n l := rfl
@[simp] theorem drop_nil (n : Nat) : drop n ([] : List α) = [] := by cases n <;> rfl
@[simp] theorem drop_zero (l : List α) : drop 0 l = l := rfl
@[simp] theorem drop_succ_cons (n : Nat) (a : α) (l : List α) : drop (n + 1) (a :: l) = drop n l := rfl
@[simp] theorem take_append_drop (n : Nat) (l : List α) : take n l ++ drop n l = l := by
  induction n generalizing l with
  | zero => rfl
  | succ n ih => cases l with
    | nil => rfl
    | cons a l => simp [ih]
@[simp] theorem length_take (n : Nat) (l : List α) : length (take n l) = min n (length l) := by
  induction n generalizing l with
  | zero => simp; exact (Nat.min_eq_left (Nat.zero_le _)).symm
  | succ n ih => cases l with
    | nil => simp; exact (Nat.min_eq_right (Nat.zero_le _)).symm
    | cons a l => simp [ih]; omega
@[simp] theorem length_drop (n : Nat) (l : List α) : length (drop n l) = length l - n := by
  induction n generalizing l with
  | zero => rfl
  | succ n ih => cases l with
    | nil => simp
    | cons a l => simp [ih]
theorem drop_append_of_le_length {n : Nat} (h : n ≤ length l₁) : drop n (l₁ ++ l₂) = drop n l₁ ++ l₂ := by
  induction n generalizing l₁ with
  | zero => rfl
  | succ n ih => cases l₁ with
    | nil => exact absurd h (Nat.not_succ_le_zero n)
    | cons a l => exact ih (Nat.le_of_succ_le_succ h)
theorem drop_length (l : List α) : drop (length l) l = [] := by
  induction l with
  | nil => rfl
  | cons a l ih => exact ih
theorem take_length (l : List α) : take (length l) l = l := by
  induction l with
  | nil => rfl
  | cons a l ih => simp [ih]

-- ===== replicate, range, zip, flatten =====
@[simp] theorem replicate_zero (a : α) : replicate 0 a = [] := rfl
theorem replicate_succ (n : Nat) (a : α) : replicate (n + 1) a = a :: replicate n a := rfl
@[simp] theorem length_replicate (n : Nat) (a : α) : length (replicate n a) = n := by
  induction n with
  | zero => rfl
  | succ n ih => simp [replicate, ih]
theorem eq_of_mem_replicate {n : Nat} (h : b ∈ replicate n a) : b = a := (mem_replicate.1 h).2
@[simp] theorem map_replicate (n : Nat) (a : α) (f : α → β) : map f (replicate n a) = replicate n (f a) := by
  induction n with
  | zero => rfl
  | succ n ih => simp [replicate, ih]
theorem replicate_add (m n : Nat) (a : α) : replicate (m + n) a = replicate m a ++ replicate n a := by
  induction m with
  | zero => simp
  | succ m ih => rw [Nat.add_right_comm, replicate_succ, ih, replicate_succ, cons_append]
theorem range_succ (n : Nat) : range (n + 1) = range n ++ [n] := rfl
@[simp] theorem range_zero : range 0 = [] := rfl
@[simp] theorem length_range (n : Nat) : length (range n) = n := by
  induction n with
  | zero => rfl
  | succ n ih => simp [range, ih]
@[simp] theorem zipWith_nil_left (f : α → β → γ) (l : List β) : zipWith f [] l = [] := by cases l <;> rfl
@[simp] theorem zipWith_nil_right (f : α → β → γ) (l : List α) : zipWith f l [] = [] := by cases l <;> rfl
@[simp] theorem zipWith_cons_cons (f : α → β → γ) (a : α) (as : List α) (b : β) (bs : List β) :
    zipWith f (a :: as) (b :: bs) = f a b :: zipWith f as bs := rfl
@[simp] theorem length_zipWith (f : α → β → γ) (l₁ : List α) (l₂ : List β) : length (zipWith f l₁ l₂) = min (length l₁) (length l₂) := by
  induction l₁ generalizing l₂ with
  | nil => simp; exact (Nat.min_eq_left (Nat.zero_le _)).symm
  | cons a l ih => cases l₂ with
    | nil => simp; exact (Nat.min_eq_right (Nat.zero_le _)).symm
    | cons b l₂ => simp [ih]; omega
@[simp] theorem zip_cons_cons (a : α) (as : List α) (b : β) (bs : List β) : zip (a :: as) (b :: bs) = (a, b) :: zip as bs := rfl
@[simp] theorem zip_nil_left (l : List β) : zip ([] : List α) l = [] := zipWith_nil_left _ l
@[simp] theorem zip_nil_right (l : List α) : zip l ([] : List β) = [] := zipWith_nil_right _ l
@[simp] theorem length_zip (l₁ : List α) (l₂ : List β) : length (zip l₁ l₂) = min (length l₁) (length l₂) := length_zipWith _ _ _
@[simp] theorem flatten_nil : flatten ([] : List (List α)) = [] := rfl
@[simp] theorem flatten_cons (l : List α) (L : List (List α)) : flatten (l :: L) = l ++ flatten L := rfl
@[simp] theorem flatten_append (L₁ L₂ : List (List α)) : flatten (L₁ ++ L₂) = flatten L₁ ++ flatten L₂ := by
  induction L₁ with
  | nil => rfl
  | cons l L ih => simp [ih]
@[simp] theorem flatMap_nil (f : α → List β) : flatMap [] f = [] := rfl
@[simp] theorem flatMap_cons (a : α) (l : List α) (f : α → List β) : flatMap (a :: l) f = f a ++ flatMap l f := rfl

-- ===== Pairwise, Nodup =====
@[simp] theorem pairwise_cons {R : α → α → Prop} : Pairwise R (a :: l) ↔ (∀ b, b ∈ l → R a b) ∧ Pairwise R l :=
  ⟨fun h => match h with | .cons h k => ⟨h, k⟩, fun h => .cons h.1 h.2⟩
@[simp] theorem nodup_nil : Nodup ([] : List α) := .nil
@[simp] theorem nodup_cons : Nodup (a :: l) ↔ ¬a ∈ l ∧ Nodup l := by
  unfold Nodup
  rw [pairwise_cons]
  exact and_congr ⟨fun h k => h a k rfl, fun h b k e => h (e ▸ k)⟩ Iff.rfl
end List
