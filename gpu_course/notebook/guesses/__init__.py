"""What a learner commits to before the answer shows: predictions, forecasts, and a triptych.

`asked` is what both kinds of question have in common, `prediction` asks before a run and `forecast`
for what somebody measured. `forecast_score` says over all lessons how often the intervals held.
`prose_note` shows an answer with what was seen.
"""
