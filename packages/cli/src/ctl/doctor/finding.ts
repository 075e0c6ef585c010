// What doctor finds: how bad, where, what, and what to do about it.

export const SEVERITIES = ['ok', 'info', 'warning', 'error'] as const;

export type Severity = (typeof SEVERITIES)[number];

export interface Finding {
  readonly severity: Severity;
  /** Stable name of the check, to be searched for. */
  readonly check: string;
  /** What it is about: a shard, a provider, a replica. */
  readonly subject: string;
  readonly message: string;
  /** What to do; empty when nothing is to be done. */
  readonly fix: string;
}

export function finding(
  severity: Severity,
  check: string,
  subject: string,
  message: string,
  fix = '',
): Finding {
  return { severity, check, subject, message, fix };
}
