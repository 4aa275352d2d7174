"""Who says `verified`: a theorem counts only after a clean process has rebuilt it and passed it through the kernel.

Three processes, all forked by the same warm image, with only bytes between them:

- **A**, untrusted, elaborates the submission and exports the constants that came of it (`export`).
- **C**, the reference, elaborates the goal's context and `theorem NAME : PROP := sorry`, which the goal's author wrote,
  and exports the same way; its bytes are kept for the goal's next submission.
- **B**, the judge, never runs submitted code. It decodes both (`blob`), compares the statement and all it rests on, and
  sends every new constant through the kernel of a clean environment (`judge`), built anew through Lean's own
  constructors (`terms`). Only its word is an acceptance.
"""
