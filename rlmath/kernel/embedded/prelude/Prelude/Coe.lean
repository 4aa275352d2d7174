prelude
import Prelude.Lemmas
set_option autoImplicit false
set_option linter.unusedVariables false
universe u v w

/-! Coercions: the classes through which the elaborator searches for `↑x`, and how they chain (head, then any number of links, then tail). -/

class Coe (α : semiOutParam (Sort u)) (β : Sort v) where coe : α → β
class CoeTC (α : Sort u) (β : Sort v) where coe : α → β
class CoeOut (α : Sort u) (β : semiOutParam (Sort v)) where coe : α → β
class CoeOTC (α : Sort u) (β : Sort v) where coe : α → β
class CoeHead (α : Sort u) (β : semiOutParam (Sort v)) where coe : α → β
class CoeHTC (α : Sort u) (β : Sort v) where coe : α → β
class CoeTail (α : semiOutParam (Sort u)) (β : Sort v) where coe : α → β
class CoeHTCT (α : Sort u) (β : Sort v) where coe : α → β
class CoeDep (α : Sort u) (_ : α) (β : Sort v) where coe : β
class CoeT (α : Sort u) (_ : α) (β : Sort v) where coe : β
class CoeFun (α : Sort u) (γ : outParam (α → Sort v)) where coe : (f : α) → γ f
class CoeSort (α : Sort u) (β : outParam (Sort v)) where coe : α → β
attribute [coe_decl] Coe.coe CoeTC.coe CoeOut.coe CoeOTC.coe CoeHead.coe CoeHTC.coe CoeTail.coe CoeHTCT.coe CoeDep.coe CoeT.coe CoeFun.coe CoeSort.coe
variable {α : Sort u} {β : Sort v} {γ : Sort w}
instance [Coe β γ] [CoeTC α β] : CoeTC α γ := ⟨fun a => Coe.coe (CoeTC.coe a : β)⟩
instance [Coe α β] : CoeTC α β := ⟨fun a => Coe.coe a⟩
instance : CoeTC α α := ⟨fun a => a⟩
instance [CoeOut α β] [CoeOTC β γ] : CoeOTC α γ := ⟨fun a => CoeOTC.coe (CoeOut.coe a : β)⟩
instance [CoeTC α β] : CoeOTC α β := ⟨fun a => CoeTC.coe a⟩
instance : CoeOTC α α := ⟨fun a => a⟩
instance [CoeHead α β] [CoeOTC β γ] : CoeHTC α γ := ⟨fun a => CoeOTC.coe (CoeHead.coe a : β)⟩
instance [CoeOTC α β] : CoeHTC α β := ⟨fun a => CoeOTC.coe a⟩
instance : CoeHTC α α := ⟨fun a => a⟩
instance [CoeTail β γ] [CoeHTC α β] : CoeHTCT α γ := ⟨fun a => CoeTail.coe (CoeHTC.coe a : β)⟩
instance [CoeHTC α β] : CoeHTCT α β := ⟨fun a => CoeHTC.coe a⟩
instance : CoeHTCT α α := ⟨fun a => a⟩
instance {a : α} [CoeHTCT α β] : CoeT α a β := ⟨CoeHTCT.coe a⟩
instance {a : α} [CoeDep α a β] : CoeT α a β := ⟨CoeDep.coe a⟩
instance {a : α} : CoeT α a α := ⟨a⟩
instance boolToProp : Coe Bool Prop := ⟨fun b => b = true⟩
instance boolToSort : CoeSort Bool Prop := ⟨fun b => b = true⟩
instance subtypeCoe {α : Sort v} {p : α → Prop} : CoeOut (Subtype p) α := ⟨fun v => v.1⟩
