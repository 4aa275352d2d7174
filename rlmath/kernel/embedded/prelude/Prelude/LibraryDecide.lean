prelude
import Prelude.LibraryList
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v

/-! Decision procedures by instance: equality of lists, options and sums, membership, quantifiers over a list or below a bound. -/

instance List.hasDecEq {α : Type u} [DecidableEq α] : DecidableEq (List α)
  | [], [] => isTrue rfl
  | [], _ :: _ => isFalse fun h => nomatch h
  | _ :: _, [] => isFalse fun h => nomatch h
  | a :: as, b :: bs =>
    if h : a = b then match List.hasDecEq as bs with
      | isTrue k => isTrue (by rw [h, k])
      | isFalse k => isFalse fun e => k (List.cons.inj e).2
    else isFalse fun e => h (List.cons.inj e).1
instance {α : Type u} [DecidableEq α] : DecidableEq (Option α)
  | none, none => isTrue rfl
  | none, some _ => isFalse fun h => nomatch h
  | some _, none => isFalse fun h => nomatch h
  | some a, some b => if h : a = b then isTrue (by rw [h]) else isFalse fun e => h (Option.some.inj e)
instance {α : Type u} {β : Type v} [DecidableEq α] [DecidableEq β] : DecidableEq (Sum α β)
  | .inl a, .inl b => if h : a = b then isTrue (by rw [h]) else isFalse fun e => h (Sum.inl.inj e)
  | .inr a, .inr b => if h : a = b then isTrue (by rw [h]) else isFalse fun e => h (Sum.inr.inj e)
  | .inl _, .inr _ => isFalse fun h => nomatch h
  | .inr _, .inl _ => isFalse fun h => nomatch h
instance {α : Type u} {p : α → Prop} [DecidableEq α] : DecidableEq {x // p x}
  | ⟨a, _⟩, ⟨b, _⟩ => if h : a = b then isTrue (Subtype.ext h) else isFalse fun e => h (congrArg Subtype.val e)
instance : DecidableEq PUnit.{u + 1} := fun _ _ => isTrue rfl
@[extern "lean_uint32_to_nat"] def Char.toNat (c : Char) : Nat := c.val.toBitVec.toFin.val
theorem Char.toNat_inj : {a b : Char} → a.toNat = b.toNat → a = b | ⟨⟨⟨⟨_, _⟩⟩⟩, _⟩, ⟨⟨⟨⟨_, _⟩⟩⟩, _⟩, rfl => rfl
instance : DecidableEq Char := fun a b => decidable_of_decidable_of_iff ⟨Char.toNat_inj, congrArg Char.toNat⟩
instance Char.instInhabited : Inhabited Char := ⟨Char.ofNat 65⟩
/-- What `simp` compares string literals by. -/
def List.get!Internal {α : Type u} [Inhabited α] : List α → Nat → α
  | [], _ => default
  | a :: _, 0 => a
  | _ :: as, i + 1 => get!Internal as i
theorem String.ofList_injective {a b : List Char} (h : String.ofList a = String.ofList b) : a = b := String.ofList.inj h
@[extern "lean_string_dec_eq"] def String.decEq (a b : String) : Decidable (a = b) :=
  decidable_of_decidable_of_iff (p := a.toList = b.toList) ⟨congrArg String.ofList, congrArg String.toList⟩
instance : DecidableEq String := String.decEq

-- ===== lists =====
namespace List
variable {α : Type u}
instance decidableMem [DecidableEq α] (a : α) (l : List α) : Decidable (a ∈ l) := decidable_of_decidable_of_iff (elem_iff (a := a))
instance decidableBAll (p : α → Prop) [DecidablePred p] (l : List α) : Decidable (∀ x, x ∈ l → p x) :=
  decidable_of_decidable_of_iff (p := all l (fun x => decide (p x)) = true) (by simp only [all_eq_true, decide_eq_true_iff])
instance decidableBEx (p : α → Prop) [DecidablePred p] (l : List α) : Decidable (∃ x, x ∈ l ∧ p x) :=
  decidable_of_decidable_of_iff (p := any l (fun x => decide (p x)) = true) (by simp only [any_eq_true, decide_eq_true_iff])
instance decidablePairwise {R : α → α → Prop} [DecidableRel R] : (l : List α) → Decidable (Pairwise R l)
  | [] => isTrue .nil
  | a :: l => match decidableBAll (R a) l with
    | isFalse h => isFalse fun k => h (pairwise_cons.1 k).1
    | isTrue h => match decidablePairwise l with
      | isTrue k => isTrue (.cons h k)
      | isFalse k => isFalse fun m => k (pairwise_cons.1 m).2
instance decidableNodup [DecidableEq α] (l : List α) : Decidable (Nodup l) := decidablePairwise l
end List

-- ===== below a bound =====
namespace Nat
instance decidableBallLT : (n : Nat) → (P : (k : Nat) → k < n → Prop) → [∀ n h, Decidable (P n h)] → Decidable (∀ n h, P n h)
  | 0, P, _ => isTrue fun n h => absurd h (not_lt_zero n)
  | n + 1, P, H => match decidableBallLT n fun k h => P k (lt_succ_of_lt h) with
    | isFalse h => isFalse fun k => h fun _ _ => k _ _
    | isTrue h =>
      if p : P n (lt_succ_self n) then
        isTrue fun m h' => if e : m = n then by subst e; exact p else h m (Nat.lt_of_le_of_ne (le_of_lt_succ h') e)
      else isFalse fun k => p (k _ _)
instance decidableBallLE (n : Nat) (P : (k : Nat) → k ≤ n → Prop) [∀ n h, Decidable (P n h)] : Decidable (∀ n h, P n h) :=
  decidable_of_decidable_of_iff (p := ∀ k (h : k < n + 1), P k (le_of_lt_succ h)) ⟨fun h k hk => h k (lt_succ_of_le hk), fun h k hk => h k _⟩
instance decidableExistsLT (P : Nat → Prop) [DecidablePred P] : (n : Nat) → Decidable (∃ m, m < n ∧ P m)
  | 0 => isFalse fun ⟨m, h, _⟩ => not_lt_zero m h
  | n + 1 => if p : P n then isTrue ⟨n, lt_succ_self n, p⟩ else match decidableExistsLT P n with
    | isTrue h => isTrue (let ⟨m, l, k⟩ := h; ⟨m, lt_succ_of_lt l, k⟩)
    | isFalse h => isFalse fun ⟨m, l, k⟩ => h ⟨m, Nat.lt_of_le_of_ne (le_of_lt_succ l) fun e => p (e ▸ k), k⟩
instance decidableExistsLE (P : Nat → Prop) [DecidablePred P] (n : Nat) : Decidable (∃ m, m ≤ n ∧ P m) :=
  decidable_of_decidable_of_iff (p := ∃ m, m < n + 1 ∧ P m) (exists_congr fun _ => and_congr lt_succ_iff Iff.rfl)
instance decidableLoHi (lo hi : Nat) (P : Nat → Prop) [DecidablePred P] : Decidable (∀ x, lo ≤ x → x < hi → P x) :=
  decidable_of_decidable_of_iff (p := ∀ x, x < hi → lo ≤ x → P x) ⟨fun h x a b => h x b a, fun h x b a => h x a b⟩
instance decidableLoHiLe (lo hi : Nat) (P : Nat → Prop) [DecidablePred P] : Decidable (∀ x, lo ≤ x → x ≤ hi → P x) :=
  decidable_of_decidable_of_iff (p := ∀ x, x ≤ hi → lo ≤ x → P x) ⟨fun h x a b => h x b a, fun h x b a => h x a b⟩
end Nat
