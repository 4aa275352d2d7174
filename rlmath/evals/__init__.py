"""Batch evaluation: a config file in, a file of results and a report out.

A row of the results file is one JSON object:

    id                    of the completion; `<goal id>#<number>` for a policy's sample
    goal_id
    status                one of `rlmath.types.Status`
    reward                1.0 or 0.0; null when the status is no evidence
    detail                the offending lemma, token or Lean message
    leaf_attempts_used    attempts charged
    lemma_outcomes        for each lemma: name, prop, status, attempts_used, winner, detail
    plan_stats            shape of the plan (`rlmath.detectors`)
    kernel                kernel, lean_version and environment of the verdict; null when no kernel was asked
    timings               seconds by stage, and total_s
    stages                for each stage of the pipeline: stage, status, detail
    axioms                what the accepted theorem rests on; null unless verified
    artifact              the composed theorem that was judged last; holds proof text, never to be shown to a policy
    attempts_speculated   leaf attempts begun ahead of need, not charged
    sample                only with a policy: finish_reason, prompt_tokens, completion_tokens
"""
