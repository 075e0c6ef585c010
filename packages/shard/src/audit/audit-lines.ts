// The lines of the audit log (shard §8.4, security §6), one JSON object each, keys in a fixed order.
// No field ever holds a blob, a token or a certificate: reasons and outcomes are codes, identities
// are the SAN.

import type { ActionKind, ActionReason, ExecuteOutcome, SkippedOutcome } from '@bigfleet/base';

/** What became of one decided action. */
export interface ActionRecord {
  /** The counter when the line is written; it may trail the deciding cycle. */
  readonly cycle: number;
  readonly kind: ActionKind;
  readonly machine: string;
  readonly cluster: string;
  readonly reason: ActionReason;
  readonly graceSeconds: number;
  readonly outcome: ExecuteOutcome | SkippedOutcome;
}

/** A mutating administrative call. */
export interface AdminRecord {
  readonly rpc: string;
  /** The SAN, or `unauthenticated`. */
  readonly identity: string;
  readonly peer: string;
  readonly arguments: Readonly<Record<string, string | number | boolean | undefined>>;
  /** `ok`, or the gRPC status with its text. */
  readonly outcome: string;
  readonly term: bigint;
}

export function actionLine(unixNanos: bigint, record: ActionRecord): string {
  const { cycle, kind, machine, cluster, reason, graceSeconds, outcome } = record;
  return line(unixNanos, 'action', {
    cycle,
    kind,
    machine,
    cluster,
    reason,
    grace_seconds: graceSeconds,
    outcome,
  });
}

export function adminLine(unixNanos: bigint, record: AdminRecord): string {
  const { rpc, identity, peer, outcome, term } = record;
  const given = record.arguments;
  return line(unixNanos, 'admin', {
    rpc,
    identity,
    peer,
    arguments: given,
    outcome,
    term: String(term),
  });
}

function line(unixNanos: bigint, msg: string, fields: Readonly<Record<string, unknown>>): string {
  const time = new Date(Number(unixNanos / 1_000_000n)).toISOString();
  return `${JSON.stringify({ time, level: 'INFO', msg, ...fields })}\n`;
}
