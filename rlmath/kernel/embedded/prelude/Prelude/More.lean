prelude
import Prelude.Coe
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w u₁ u₂ u₃

/-! What `calc`, recursion and `ac_rfl` stand on (transitivity, well-founded relations, associativity and commutativity classes), and lists. -/

-- ===== calc =====
class Trans {α : Sort u₁} {β : Sort u₂} {γ : Sort u₃} (r : α → β → Sort u) (s : β → γ → Sort v) (t : outParam (α → γ → Sort w)) where
  trans {a : α} {b : β} {c : γ} : r a b → s b c → t a c
export Trans (trans)
instance instTransEq {α : Sort u} {γ : Sort v} (r : α → γ → Sort w) : Trans Eq r r := ⟨fun h k => h.symm.rec (motive := fun x _ => r x _) k⟩
instance instTransEq_1 {α : Sort u} {β : Sort v} (r : α → β → Sort w) : Trans r Eq r := ⟨fun h k => k.rec (motive := fun x _ => r _ x) h⟩
instance : @Trans Nat Nat Nat LE.le LE.le LE.le := ⟨Nat.le_trans⟩
instance : @Trans Nat Nat Nat LT.lt LT.lt LT.lt := ⟨Nat.lt_trans⟩
instance : @Trans Nat Nat Nat LE.le LT.lt LT.lt := ⟨Nat.lt_of_le_of_lt⟩
instance : @Trans Nat Nat Nat LT.lt LE.le LT.lt := ⟨Nat.lt_of_lt_of_le⟩
instance : Trans Iff Iff Iff := ⟨Iff.trans⟩

-- ===== well-founded recursion =====
inductive Acc {α : Sort u} (r : α → α → Prop) : α → Prop where
  | intro (x : α) (h : (y : α) → r y x → Acc r y) : Acc r x
theorem Acc.inv {α : Sort u} {r : α → α → Prop} {x y : α} (h₁ : Acc r x) (h₂ : r y x) : Acc r y := h₁.recOn (fun _ ac₁ _ h₂ => ac₁ y h₂) h₂
inductive WellFounded {α : Sort u} (r : α → α → Prop) : Prop where
  | intro (h : ∀ a, Acc r a) : WellFounded r
class WellFoundedRelation (α : Sort u) where
  rel : α → α → Prop
  wf : WellFounded rel
namespace WellFounded
theorem apply {α : Sort u} {r : α → α → Prop} (wf : WellFounded r) (a : α) : Acc r a := wf.recOn (fun p => p) a
theorem induction {α : Sort u} {r : α → α → Prop} (hwf : WellFounded r) {C : α → Prop} (a : α) (h : ∀ x, (∀ y, r y x → C y) → C x) : C a := by
  induction hwf.apply a with
  | intro x _ ih => exact h x ih
noncomputable def fixF {α : Sort u} {r : α → α → Prop} {C : α → Sort v} (F : ∀ x, (∀ y, r y x → C y) → C x) (x : α) (a : Acc r x) : C x := by
  induction a with
  | intro x₁ _ ih => exact F x₁ ih
theorem fixF_eq {α : Sort u} {r : α → α → Prop} {C : α → Sort v} (F : ∀ x, (∀ y, r y x → C y) → C x) (x : α) (acx : Acc r x) :
    fixF F x acx = F x (fun y p => fixF F y (Acc.inv acx p)) := by
  induction acx with
  | intro x r _ => exact rfl
noncomputable def fix {α : Sort u} {C : α → Sort v} {r : α → α → Prop} (hwf : WellFounded r) (F : ∀ x, (∀ y, r y x → C y) → C x) (x : α) : C x := fixF F x (hwf.apply x)
theorem fix_eq {α : Sort u} {C : α → Sort v} {r : α → α → Prop} (hwf : WellFounded r) (F : ∀ x, (∀ y, r y x → C y) → C x) (x : α) : fix hwf F x = F x (fun y _ => fix hwf F y) := fixF_eq F x (hwf.apply x)
end WellFounded
theorem InvImage.acc {α : Sort u} {β : Sort v} {r : β → β → Prop} (f : α → β) : ∀ (b : β), Acc r b → ∀ a, f a = b → Acc (fun x y => r (f x) (f y)) a := by
  intro b hb
  induction hb with
  | intro x _ ih => intro a e; subst e; exact ⟨_, fun y hy => ih _ hy y rfl⟩
def InvImage {α : Sort u} {β : Sort v} (r : β → β → Prop) (f : α → β) : α → α → Prop := fun a₁ a₂ => r (f a₁) (f a₂)
theorem InvImage.wf {α : Sort u} {β : Sort v} {r : β → β → Prop} (f : α → β) (h : WellFounded r) : WellFounded (InvImage r f) := ⟨fun a => InvImage.acc f (f a) (h.apply _) a rfl⟩
@[reducible] def invImage {α : Sort u} {β : Sort v} (f : α → β) (h : WellFoundedRelation β) : WellFoundedRelation α := ⟨InvImage h.rel f, InvImage.wf f h.wf⟩
theorem Nat.lt_wfRel_acc (n : Nat) : Acc (fun a b : Nat => a < b) n := by
  induction n with
  | zero => exact ⟨_, fun y h => absurd h (Nat.not_lt_zero y)⟩
  | succ n ih =>
    refine ⟨_, fun m h => ?_⟩
    cases Nat.eq_or_lt_of_le (Nat.le_of_lt_succ h) with
    | inl e => rw [e]; exact ih
    | inr e => exact Acc.inv ih e
@[reducible] def Nat.lt_wfRel : WellFoundedRelation Nat := ⟨fun a b => a < b, ⟨Nat.lt_wfRel_acc⟩⟩
instance (priority := low) instWellFoundedRelationNat : WellFoundedRelation Nat := Nat.lt_wfRel
@[elab_as_elim] protected noncomputable def Nat.strongRecOn {motive : Nat → Sort u} (n : Nat) (ind : ∀ n, (∀ m, m < n → motive m) → motive n) : motive n :=
  Nat.lt_wfRel.wf.fix ind n
noncomputable def WellFounded.Nat.fix {α : Sort u} {motive : α → Sort v} (h : α → Nat) (F : (x : α) → ((y : α) → InvImage (fun a b => a < b) h y x → motive y) → motive x) (x : α) : motive x :=
  WellFounded.fix (InvImage.wf h Nat.lt_wfRel.wf) F x
theorem WellFounded.Nat.fix_eq {α : Sort u} {motive : α → Sort v} (h : α → Nat) (F : (x : α) → ((y : α) → InvImage (fun a b => a < b) h y x → motive y) → motive x) (x : α) :
    WellFounded.Nat.fix h F x = F x (fun y _ => WellFounded.Nat.fix h F y) := WellFounded.fix_eq (InvImage.wf h Nat.lt_wfRel.wf) F x
@[reducible] def measure {α : Sort u} (f : α → Nat) : WellFoundedRelation α := invImage f Nat.lt_wfRel
inductive Prod.Lex {α : Type u} {β : Type v} (ra : α → α → Prop) (rb : β → β → Prop) : α × β → α × β → Prop where
  | left {a₁ : α} (b₁ : β) {a₂ : α} (b₂ : β) (h : ra a₁ a₂) : Prod.Lex ra rb (a₁, b₁) (a₂, b₂)
  | right (a : α) {b₁ b₂ : β} (h : rb b₁ b₂) : Prod.Lex ra rb (a, b₁) (a, b₂)
theorem Prod.lexAcc {α : Type u} {β : Type v} {ra : α → α → Prop} {rb : β → β → Prop} {a : α} (ha : Acc ra a) (hb : ∀ b, Acc rb b) (b : β) : Acc (Prod.Lex ra rb) (a, b) := by
  induction ha generalizing b with
  | intro a _ ih =>
    induction hb b with
    | intro b _ ihb =>
      refine ⟨_, fun p hp => ?_⟩
      cases hp with
      | left b₁ _ h => exact ih _ h b₁
      | right _ h => exact ihb _ h
@[reducible] def Prod.lex {α : Type u} {β : Type v} (ha : WellFoundedRelation α) (hb : WellFoundedRelation β) : WellFoundedRelation (α × β) :=
  ⟨Prod.Lex ha.rel hb.rel, ⟨fun p => Prod.lexAcc (ha.wf.apply p.1) (fun b => hb.wf.apply b) p.2⟩⟩
instance {α : Type u} {β : Type v} [ha : WellFoundedRelation α] [hb : WellFoundedRelation β] : WellFoundedRelation (α × β) := Prod.lex ha hb
opaque Lean.opaqueId {α : Sort u} (x : α) : α := x
class SizeOf (α : Sort u) where
  sizeOf : α → Nat
export SizeOf (sizeOf)
instance (priority := low) instSizeOfDefault (α : Sort u) : SizeOf α := ⟨fun _ => 0⟩
instance instSizeOfNat : SizeOf Nat := ⟨fun n => n⟩
@[reducible] def sizeOfWFRel {α : Sort u} [SizeOf α] : WellFoundedRelation α := measure sizeOf
instance (priority := low) {α : Sort u} [SizeOf α] : WellFoundedRelation α := sizeOfWFRel
@[simp] theorem sizeOf_nat (n : Nat) : sizeOf n = n := rfl
@[implicit_reducible] def wfParam {α : Sort u} (a : α) : α := a

-- ===== algebra hooks for ac_rfl =====
namespace Std
class Associative {α : Sort u} (op : α → α → α) : Prop where
  assoc : (a b c : α) → op (op a b) c = op a (op b c)
class Commutative {α : Sort u} (op : α → α → α) : Prop where
  comm : (a b : α) → op a b = op b a
class IdempotentOp {α : Sort u} (op : α → α → α) : Prop where
  idempotent : (x : α) → op x x = x
end Std
instance : Std.Associative (α := Nat) (· + ·) := ⟨Nat.add_assoc⟩
instance : Std.Commutative (α := Nat) (· + ·) := ⟨Nat.add_comm⟩
instance : Std.Associative (α := Nat) (· * ·) := ⟨Nat.mul_assoc⟩
instance : Std.Commutative (α := Nat) (· * ·) := ⟨Nat.mul_comm⟩

-- ===== List =====
namespace List
protected def append {α : Type u} : List α → List α → List α
  | [], bs => bs
  | a :: as, bs => a :: List.append as bs
instance {α : Type u} : Append (List α) := ⟨List.append⟩
@[simp] theorem nil_append {α : Type u} (as : List α) : [] ++ as = as := rfl
@[simp] theorem cons_append {α : Type u} (a : α) (as bs : List α) : a :: as ++ bs = a :: (as ++ bs) := rfl
@[simp] theorem append_nil {α : Type u} (as : List α) : as ++ [] = as := by
  induction as with
  | nil => rfl
  | cons a as ih => simp [ih]
@[simp] theorem append_assoc {α : Type u} (as bs cs : List α) : as ++ bs ++ cs = as ++ (bs ++ cs) := by
  induction as with
  | nil => rfl
  | cons a as ih => simp [ih]
def length {α : Type u} : List α → Nat
  | [] => 0
  | _ :: as => length as + 1
@[simp] theorem length_nil {α : Type u} : length ([] : List α) = 0 := rfl
@[simp] theorem length_cons {α : Type u} (a : α) (as : List α) : length (a :: as) = length as + 1 := rfl
@[simp] theorem length_append {α : Type u} (as bs : List α) : length (as ++ bs) = length as + length bs := by
  induction as with
  | nil => simp
  | cons a as ih => simp [ih, Nat.add_right_comm]
def map {α : Type u} {β : Type v} (f : α → β) : List α → List β
  | [] => []
  | a :: as => f a :: map f as
@[simp] theorem map_nil {α : Type u} {β : Type v} (f : α → β) : map f [] = [] := rfl
@[simp] theorem map_cons {α : Type u} {β : Type v} (f : α → β) (a : α) (as : List α) : map f (a :: as) = f a :: map f as := rfl
@[simp] theorem length_map {α : Type u} {β : Type v} (f : α → β) (as : List α) : length (map f as) = length as := by
  induction as with
  | nil => rfl
  | cons a as ih => simp [ih]
def reverse {α : Type u} : List α → List α
  | [] => []
  | a :: as => reverse as ++ [a]
@[simp] theorem reverse_nil {α : Type u} : reverse ([] : List α) = [] := rfl
@[simp] theorem reverse_cons {α : Type u} (a : α) (as : List α) : reverse (a :: as) = reverse as ++ [a] := rfl
@[simp] theorem reverse_append {α : Type u} (as bs : List α) : reverse (as ++ bs) = reverse bs ++ reverse as := by
  induction as with
  | nil => simp
  | cons a as ih => simp [ih]
@[simp] theorem reverse_reverse {α : Type u} (as : List α) : reverse (reverse as) = as := by
  induction as with
  | nil => rfl
  | cons a as ih => simp [ih]
inductive Mem {α : Type u} (a : α) : List α → Prop where
  | head (as : List α) : Mem a (a :: as)
  | tail (b : α) {as : List α} : Mem a as → Mem a (b :: as)
instance {α : Type u} : Membership α (List α) := ⟨fun l a => Mem a l⟩
@[simp] theorem not_mem_nil {α : Type u} (a : α) : ¬ a ∈ ([] : List α) := fun h => nomatch h
@[simp] theorem mem_cons {α : Type u} {a b : α} {l : List α} : a ∈ b :: l ↔ a = b ∨ a ∈ l :=
  ⟨fun h => match h with | .head _ => .inl rfl | .tail _ h => .inr h, fun h => match h with | .inl rfl => .head _ | .inr h => .tail _ h⟩
end List
