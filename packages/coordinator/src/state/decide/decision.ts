// What deciding a command gives, and the small words to say it with. Nothing here has effects.

import type { CommandKind, CommandOf } from '../commands.ts';
import type { FleetView } from '../fleet-state.ts';
import { keyOfRow, rowKey } from '../keys.ts';
import type { Table, TableRows, Change, RowKey, Write } from '../rows.ts';

export type Decision =
  | { readonly kind: 'change'; readonly change: Change }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface Refusal {
  readonly code: RefusalCode;
  /** The stable text of coordinator §2.4, with the owner where there is one. */
  readonly message: string;
}

export type RefusalCode =
  | 'invalid'
  | 'shard-exists'
  | 'shard-not-found'
  | 'cluster-bound-elsewhere'
  | 'domain-assigned-elsewhere'
  | 'domain-releasing'
  | 'provider-not-found'
  | 'provider-in-use'
  | 'quota-exceeded'
  | 'transfer-not-found'
  | 'transfer-conflict'
  | 'override-conflict'
  | 'override-limit';

/** What every rule gets beside its own command. */
export interface Situation {
  readonly view: FleetView;
  /** Of this command, if it is committed. */
  readonly applyIndex: number;
  readonly issuedAtMs: number;
}

export type Rule<K extends CommandKind> = (situation: Situation, command: CommandOf<K>) => Decision;

export const UNCHANGED: Decision = { kind: 'unchanged' };

/**
 * Guards per commit, beside the rows written. The index of the ledger already orders commands;
 * these only catch edits made behind its back, and an etcd transaction holds 128 compares.
 */
const MAX_READS = 16;

export interface ChangeParts {
  readonly writes: readonly Write[];
  readonly reads?: readonly RowKey[];
  readonly gc?: readonly RowKey[];
  /** Whether some shard's assignment now differs: what it owns, may hold, or is to dial. */
  readonly movesAssignment: boolean;
}

export function changed(view: FleetView, parts: ChangeParts): Decision {
  const { writes, reads = [], gc = [], movesAssignment } = parts;
  const change: Change = {
    writes,
    reads: reads.slice(0, MAX_READS),
    gc,
    assignmentRevision: movesAssignment ? nextRevision(view) : view.meta.assignmentRevision,
    ledgerGeneration: view.meta.ledgerGeneration,
  };
  return { kind: 'change', change };
}

export function nextRevision(view: FleetView): number {
  return view.meta.assignmentRevision + 1;
}

export function put<T extends Table>(table: T, row: TableRows[T]): Write {
  return { kind: 'put', table, key: keyOfRow(table, row), row } as Write;
}

export function deleted(table: Table, ...segments: readonly string[]): Write {
  return { kind: 'delete', table, key: rowKey(table, ...segments) };
}

export function refused(code: RefusalCode, message: string): Decision {
  return { kind: 'refused', refusal: { code, message } };
}

export function invalid(message: string): Decision {
  return refused('invalid', message);
}

/** The stable texts of coordinator §2.4: clients match on the code, people on these words. */
const TEXT = {
  'shard-exists': 'coordinator: shard already registered',
  'shard-not-found': 'coordinator: shard not found',
  'cluster-bound-elsewhere': 'coordinator: cluster already bound to a different shard',
  'domain-assigned-elsewhere': 'coordinator: domain already assigned to another shard',
  'domain-releasing': 'coordinator: domain is being released by another shard',
  'provider-not-found': 'coordinator: provider not found',
  'transfer-not-found': 'coordinator: transfer not found',
} as const;

export function refusedAs(code: keyof typeof TEXT): Decision {
  return refused(code, TEXT[code]);
}

/** `what` is wanted by both, as shown to people. */
export function refusedTo(
  code: keyof typeof TEXT,
  { what, owner, asked }: Readonly<Record<'what' | 'owner' | 'asked', string>>,
): Decision {
  return refused(code, `${TEXT[code]}: ${what} currently on ${owner}, asked ${asked}`);
}
