// One structured line per mutating call (security §6): who, from where, what, with which outcome,
// under which term, at which index. It is the change log that a restore is repaired from by hand, so
// refusals are in it too. Identity is the SAN at most; arguments hold names and numbers, no secrets.

import type { Logger } from '@bigfleet/telemetry';
import type { CallContext } from '@bigfleet/wire';
import type { Outcome } from '../ledger/outcome.ts';

export type AuditArguments = Readonly<Record<string, string | number | boolean>>;

export interface AuditEntry {
  readonly call: CallContext;
  readonly arguments: AuditArguments;
  readonly outcome: Outcome;
  readonly term: bigint;
}

export function writeAudit(logger: Logger, { call, outcome, term, ...entry }: AuditEntry): void {
  const { identity, address } = call.peer;
  logger.info('admin call', {
    rpc: call.path,
    identity: identity.kind === 'verified' ? identity.san : 'unauthenticated',
    peer: address,
    arguments: JSON.stringify(entry.arguments),
    outcome: outcome.kind === 'done' ? 'ok' : `${outcome.status}: ${outcome.message}`,
    term: String(term),
    index: outcome.kind === 'done' ? (outcome.index ?? 'unchanged') : 'none',
  });
}
