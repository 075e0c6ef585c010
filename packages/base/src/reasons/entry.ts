// The shape shared by all reason tables. Engine, logs, metrics, audit, CLI and UI print the same
// codes, and their texts are generated from these tables (engine §15). A code is a stable string,
// never renamed or reused; a new one is appended to the specification first.

export interface ReasonEntry {
  /** What the code says, as a sentence. */
  readonly meaning: string;
  /** What the operator should do; often nothing. */
  readonly action: string;
}
