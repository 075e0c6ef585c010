// Why a recorder gave up. A trace with a hole would replay to something else, and a run must not
// suffer because it is recorded: so the trace ends here, says why, and the run goes on.

export type RecordingProblem =
  | 'number_is_nan'
  | 'text_too_long'
  | 'resource_out_of_range'
  | 'priority_out_of_range'
  | 'arrival_out_of_range'
  | 'profile_not_canonical'
  | 'too_many_rows'
  | 'entry_too_large'
  | 'cycle_threw'
  | 'sink_failed';
