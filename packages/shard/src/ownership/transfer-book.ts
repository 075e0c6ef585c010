// Every transfer that this shard takes part in (coordinator §9.6), as one immutable value: what
// `transfers.json` holds. A step gives a new book, which the caller makes durable before it acts on it or
// acknowledges it. Pure.
//
// A freeze has no time limit: the commit may have happened on the other side of a partition, so
// only CANCEL and RELEASE end it. Nothing here forgets a frozen transfer.

import { compareText } from '@bigfleet/base';
import type { MachineOverride, StoredAssignment } from './assignment.ts';

export type TransferState = 'frozen' | 'released' | 'claimed';

export interface TransferStep {
  readonly transferId: string;
  /** Recipient of what is frozen or released, donor of what is claimed. */
  readonly peerShardId: string;
  readonly machineIds: readonly string[];
  /** What the frozen machines provide, as quantities; repeated in every acknowledgement. */
  readonly covered?: ReadonlyMap<string, string>;
}

export interface TransferRecord extends Required<TransferStep> {
  readonly state: TransferState;
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

/**
 * Our own step of a transfer, before the next assignment says the same; or says something else,
 * because more has happened since (a recipient removed, a machine gone). So the assignment counts as a
 * little older than it is: the ledger then sends it again, also when nothing in it has changed.
 */
export function foldRecord(stored: StoredAssignment, record: TransferRecord): StoredAssignment {
  const { transferId, peerShardId, machineIds, order } = record;
  const ids = new Set(machineIds);
  const keep = ({ machineId }: MachineOverride): boolean => !ids.has(machineId);
  const moved = machineIds.map((machineId) => ({ machineId, transferId, peerShardId }));
  const isOurs = record.state === 'claimed';
  return {
    ...stored,
    adopted: [...stored.adopted.filter(keep), ...(isOurs ? moved : [])],
    released: [...stored.released.filter(keep), ...(isOurs ? [] : moved)],
    foldedOrder: Math.max(stored.foldedOrder, order),
    revision: stored.revision > 0n ? stored.revision - 1n : 0n,
  };
}

/** By transfer. */
export function stepsOf(overrides: Iterable<MachineOverride>): readonly TransferStep[] {
  const steps = Map.groupBy(overrides, ({ transferId }) => transferId);
  return [...steps].map(([transferId, moved]) => ({
    transferId,
    peerShardId: moved[0]?.peerShardId ?? '',
    machineIds: moved.map(({ machineId }) => machineId),
  }));
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

export interface TransferReport extends Omit<TransferStep, 'covered'> {
  readonly role: 'donor' | 'recipient';
  readonly state: TransferState | 'gone';
}

/** For the next report; gone machines as entries of their own. Sorted: equal books, equal bytes. */
export function reportTransfers(book: TransferBook): readonly TransferReport[] {
  const reports: TransferReport[] = [];
  for (const { transferId, state, peerShardId, machineIds } of book.records.values()) {
    const role = state === 'claimed' ? 'recipient' : 'donor';
    const left = machineIds.filter((id) => state !== 'claimed' || !book.gone.has(id));
    if (left.length > 0) reports.push({ transferId, role, state, peerShardId, machineIds: left });
  }
  for (const step of stepsOf(book.gone.values())) {
    const machineIds = step.machineIds.toSorted();
    reports.push({ ...step, role: 'recipient', state: 'gone', machineIds });
  }
  return reports.sort(
    (a, b) => compareText(a.transferId, b.transferId) || compareText(a.state, b.state),
  );
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
