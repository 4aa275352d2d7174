"""`rlmath repl`: the JSON protocol of leanprover-community/repl over the embedded kernel, for clients that speak it
(LeanInteract, Kimina's server).

- `protocol`: requests and replies.
- `server`: the loop, and the tree of environments; does I/O and no Lean.
- `environment`: the processes that hold Lean, one for each environment, each forked from the one it builds on.
- `goals`: what is to be proved at each `sorry`.
"""
