-- Lists: the functions that an introduction meets, and their lemmas with `simp`.

theorem length_of_append (xs ys : List Nat) : (xs ++ ys).length = xs.length + ys.length := List.length_append xs ys

theorem length_of_append_comm (xs ys : List Nat) : (xs ++ ys).length = (ys ++ xs).length := by simp [Nat.add_comm]

theorem append_associative (xs ys zs : List Nat) : xs ++ ys ++ zs = xs ++ (ys ++ zs) := List.append_assoc xs ys zs

theorem append_nil_simp (xs : List Nat) : xs ++ [] = xs := by simp

theorem append_cancel (xs ys zs : List Nat) (h : xs ++ ys = xs ++ zs) : ys = zs := by simpa using h

theorem append_is_nil (xs ys : List Nat) : xs ++ ys = [] ↔ xs = [] ∧ ys = [] := by simp

theorem reverse_twice (xs : List Nat) : xs.reverse.reverse = xs := List.reverse_reverse xs

theorem reverse_of_append (xs ys : List Nat) : (xs ++ ys).reverse = ys.reverse ++ xs.reverse := by simp

theorem reverse_length (xs : List Nat) : xs.reverse.length = xs.length := by simp

theorem map_length (f : Nat → Nat) (xs : List Nat) : (xs.map f).length = xs.length := List.length_map f xs

theorem map_of_map (f g : Nat → Nat) (xs : List Nat) : (xs.map f).map g = xs.map (g ∘ f) := List.map_map g f xs

theorem map_of_append (f : Nat → Nat) (xs ys : List Nat) : (xs ++ ys).map f = xs.map f ++ ys.map f := by simp

theorem map_of_reverse (f : Nat → Nat) (xs : List Nat) : xs.reverse.map f = (xs.map f).reverse := by simp

theorem map_identity (xs : List Nat) : xs.map id = xs := by simp

theorem map_computed : [1, 2, 3].map (· + 1) = [2, 3, 4] := by decide

theorem map_congruence (f g : Nat → Nat) (xs : List Nat) (h : ∀ x, x ∈ xs → f x = g x) : xs.map f = xs.map g :=
  List.map_congr_left h

theorem mem_of_cons (a : Nat) (xs : List Nat) : a ∈ a :: xs := by simp

theorem mem_cons_iff (a b : Nat) (xs : List Nat) : a ∈ b :: xs ↔ a = b ∨ a ∈ xs := List.mem_cons

theorem mem_append_iff (a : Nat) (xs ys : List Nat) : a ∈ xs ++ ys ↔ a ∈ xs ∨ a ∈ ys := List.mem_append

theorem mem_literal : 2 ∈ [1, 2, 3] := by simp

theorem mem_decided : 2 ∈ [1, 2, 3] ∧ 5 ∉ [1, 2, 3] := by decide

theorem mem_map_iff (f : Nat → Nat) (xs : List Nat) (b : Nat) : b ∈ xs.map f ↔ ∃ a, a ∈ xs ∧ f a = b := by simp

theorem mem_reverse_iff (a : Nat) (xs : List Nat) : a ∈ xs.reverse ↔ a ∈ xs := by simp

theorem mem_filter_iff (p : Nat → Bool) (xs : List Nat) (a : Nat) : a ∈ xs.filter p ↔ a ∈ xs ∧ p a = true := by simp

theorem mem_split (a : Nat) (xs : List Nat) (h : a ∈ xs) : ∃ s t, xs = s ++ a :: t := List.append_of_mem h

theorem filter_computed : [1, 2, 3, 4].filter (· % 2 == 0) = [2, 4] := by decide

theorem filter_shorter (p : Nat → Bool) (xs : List Nat) : (xs.filter p).length ≤ xs.length := List.length_filter_le p xs

theorem filter_of_append (p : Nat → Bool) (xs ys : List Nat) : (xs ++ ys).filter p = xs.filter p ++ ys.filter p := by simp

theorem foldr_of_append (xs ys : List Nat) (b : Nat) : (xs ++ ys).foldr (· + ·) b = xs.foldr (· + ·) (ys.foldr (· + ·) b) := by
  simp

theorem foldl_computed : [1, 2, 3, 4].foldl (· + ·) 0 = 10 := by decide

theorem foldl_as_foldr (xs : List Nat) (b : Nat) : xs.foldl (· + ·) b = xs.foldr (· + ·) 0 + b := by
  induction xs generalizing b with
  | nil => simp
  | cons x xs ih =>
    simp [ih]
    omega

theorem sum_of_append (xs ys : List Nat) : (xs ++ ys).sum = xs.sum + ys.sum := List.sum_append_nat xs ys

theorem any_iff (p : Nat → Bool) (xs : List Nat) : xs.any p = true ↔ ∃ x, x ∈ xs ∧ p x = true := List.any_eq_true

theorem all_decided : [2, 4, 6].all (· % 2 == 0) = true := by decide

theorem take_drop (n : Nat) (xs : List Nat) : xs.take n ++ xs.drop n = xs := by simp

theorem drop_length (n : Nat) (xs : List Nat) : (xs.drop n).length = xs.length - n := by simp

theorem replicate_length (n a : Nat) : (List.replicate n a).length = n := by simp

theorem range_members (n m : Nat) : m ∈ List.range n ↔ m < n := by simp

theorem zip_length (xs : List Nat) (ys : List Bool) : (xs.zip ys).length = min xs.length ys.length := by simp

theorem flatten_computed : [[1], [2, 3], []].flatten = [1, 2, 3] := by decide

theorem head_of_cons (a : Nat) (xs : List Nat) : (a :: xs).head? = some a := by simp

theorem cons_injective (a b : Nat) (xs ys : List Nat) (h : a :: xs = b :: ys) : a = b ∧ xs = ys := by simpa using h

theorem nil_or_cons (xs : List Nat) : xs = [] ∨ ∃ a ys, xs = a :: ys := by
  cases xs with
  | nil => exact Or.inl rfl
  | cons a ys => exact Or.inr ⟨a, ys, rfl⟩

theorem empty_by_length (xs : List Nat) (h : xs.length = 0) : xs = [] := List.eq_nil_of_length_eq_zero h

theorem forall_members (xs : List Nat) (h : ∀ x, x ∈ xs → x = 0) : xs.sum = 0 := by
  induction xs with
  | nil => rfl
  | cons x xs ih =>
    have hx : x = 0 := h x (by simp)
    have hs : xs.sum = 0 := ih fun y hy => h y (by simp [hy])
    simp [hx, hs]

theorem bounded_member : ∀ x ∈ [1, 2, 3], x < 4 := by decide

theorem some_member : ∃ x ∈ [1, 2, 3], x * x = 9 := by decide

theorem index_zero (a : Nat) (xs : List Nat) : (a :: xs)[0] = a := rfl

theorem index_option (xs : List Nat) (i : Nat) (h : i < xs.length) : xs[i]? = some xs[i] := List.getElem?_eq_getElem h

theorem index_member (xs : List Nat) (i : Nat) (h : i < xs.length) : xs[i] ∈ xs := List.getElem_mem h

theorem index_of_map (f : Nat → Nat) (xs : List Nat) (i : Nat) (h : i < (xs.map f).length) : (xs.map f)[i] = f (xs[i]'(by simpa using h)) := by
  simp

theorem no_duplicates : [1, 2, 3].Nodup ∧ ¬[1, 2, 1].Nodup := by decide

theorem option_list_equality : [some 1, none] ≠ [some 1, some 2] := by decide

theorem wrong_length (xs : List Nat) : (0 :: xs).length = xs.length := by simp -- error: unsolved goals

theorem wrong_membership : 5 ∈ [1, 2, 3] := by decide -- error: is false
