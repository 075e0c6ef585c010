// Every transfer that this shard takes part in (coordinator §9.6), as one immutable value: what
// `transfers.json` holds. A step gives a new book, which the caller makes durable before it acts on it or
// acknowledges it. Pure.
//
// A freeze has no time limit: the commit may have happened on the other side of a partition, so
// only CANCEL and RELEASE end it. Nothing here forgets a frozen transfer.

import type { MachineOverride } from './assignment.ts';

export type TransferState = 'frozen' | 'released' | 'claimed';

export interface TransferRecord {
  readonly transferId: string;
  readonly state: TransferState;
  /** Recipient of what is frozen or released, donor of what is claimed. */
  readonly peerShardId: string;
  readonly machineIds: readonly string[];
  /** What the frozen machines provide, as quantities; repeated in every acknowledgement. */
  readonly covered: ReadonlyMap<string, string>;
  /** When it came to its state, as a count of this shard's steps. */
  readonly order: number;
}

export interface TransferBook {
  /** By transfer id. */
  readonly records: ReadonlyMap<string, TransferRecord>;
  /** Adopted machines that are no more, by machine id: reported until the ledger clears them. */
  readonly gone: ReadonlyMap<string, MachineOverride>;
  readonly lastOrder: number;
}

export const emptyBook: TransferBook = { records: new Map(), gone: new Map(), lastOrder: 0 };

export interface TransferStep {
  readonly transferId: string;
  readonly peerShardId: string;
  readonly machineIds: readonly string[];
  readonly covered?: ReadonlyMap<string, string>;
}

export function frozenIn(book: TransferBook, step: TransferStep): TransferBook {
  return put(book, step, 'frozen');
}

export function releasedIn(book: TransferBook, step: TransferStep): TransferBook {
  return put(book, step, 'released');
}

export function claimedIn(book: TransferBook, step: TransferStep): TransferBook {
  const next = put(book, step, 'claimed');
  const gone = new Map(next.gone);
  for (const id of step.machineIds) gone.delete(id);
  return { ...next, gone };
}

export function cancelledIn(book: TransferBook, transferId: string): TransferBook {
  return { ...book, records: withoutKeys(book.records, [transferId]) };
}

export function goneIn(book: TransferBook, overrides: readonly MachineOverride[]): TransferBook {
  const gone = new Map(book.gone);
  for (const override of overrides) gone.set(override.machineId, override);
  return { ...book, gone };
}

/** The ledger is done with these; a freeze it does not end. */
export function retiredIn(book: TransferBook, transferIds: readonly string[]): TransferBook {
  const ended = transferIds.filter((id) => {
    const state = book.records.get(id)?.state;
    return state !== undefined && state !== 'frozen';
  });
  return ended.length === 0 ? book : { ...book, records: withoutKeys(book.records, ended) };
}

/** A gone machine is forgotten when the ledger does not give it to us any more. */
export function clearedIn(book: TransferBook, adopted: readonly MachineOverride[]): TransferBook {
  const given = new Set(adopted.map(({ machineId }) => machineId));
  const cleared = [...book.gone.keys()].filter((id) => !given.has(id));
  return cleared.length === 0 ? book : { ...book, gone: withoutKeys(book.gone, cleared) };
}

/**
 * A whole assignment that gives none of its machines away has settled a release: from here on they
 * are judged by domain and home again, and saying RELEASED about them would be false evidence.
 */
export function settledIn(book: TransferBook, released: readonly MachineOverride[]): TransferBook {
  const given = new Set(released.map(({ machineId }) => machineId));
  const settled = [...book.records.values()]
    .filter(({ state }) => state === 'released')
    .filter(({ machineIds }) => !machineIds.some((id) => given.has(id)))
    .map(({ transferId }) => transferId);
  return settled.length === 0 ? book : { ...book, records: withoutKeys(book.records, settled) };
}

export function frozenMachines(book: TransferBook): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { state, machineIds } of book.records.values()) {
    if (state === 'frozen') for (const id of machineIds) ids.add(id);
  }
  return ids;
}

export interface TransferReport {
  readonly transferId: string;
  readonly role: 'donor' | 'recipient';
  readonly state: TransferState | 'gone';
  readonly peerShardId: string;
  readonly machineIds: readonly string[];
}

/** For the next report; gone machines as entries of their own. Sorted: equal books, equal bytes. */
export function reportTransfers(book: TransferBook): readonly TransferReport[] {
  const reports: TransferReport[] = [];
  const goneIds = new Map<string, MachineOverride[]>();
  for (const override of book.gone.values()) {
    const others = goneIds.get(override.transferId);
    if (others === undefined) goneIds.set(override.transferId, [override]);
    else others.push(override);
  }
  for (const { transferId, state, peerShardId, machineIds } of book.records.values()) {
    const role = state === 'claimed' ? 'recipient' : 'donor';
    const left = machineIds.filter((id) => state !== 'claimed' || !book.gone.has(id));
    if (left.length > 0) reports.push({ transferId, role, state, peerShardId, machineIds: left });
  }
  for (const [transferId, overrides] of goneIds) {
    reports.push({
      transferId,
      role: 'recipient',
      state: 'gone',
      peerShardId: overrides[0]?.peerShardId ?? '',
      machineIds: overrides.map(({ machineId }) => machineId).sort(),
    });
  }
  return reports.sort((a, b) => compare(a.transferId, b.transferId) || compare(a.state, b.state));
}

function put(book: TransferBook, step: TransferStep, state: TransferState): TransferBook {
  const { transferId, peerShardId, machineIds, covered = new Map() } = step;
  const order = book.lastOrder + 1;
  const record = { transferId, state, peerShardId, machineIds, covered, order };
  return { ...book, records: new Map(book.records).set(transferId, record), lastOrder: order };
}

function withoutKeys<V>(map: ReadonlyMap<string, V>, keys: readonly string[]): Map<string, V> {
  const rest = new Map(map);
  for (const key of keys) rest.delete(key);
  return rest;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
