// The four steps of a transfer as this shard carries them out (coordinator §9.6): PREPARE and RELEASE
// and CANCEL as the donor, CLAIM as the recipient. Each is idempotent by transfer id: what the book
// already says is answered again and not done again.
//
// Nothing is drained for a transfer: only machines that are idle and unbound are chosen.
//
// CLAIM, and RELEASE after a commit, come from a coordinator of an older build: today the assignment says
// both (ownership-store.ts).

import { withDeadline } from '@bigfleet/base';
import { printResources, State } from '@bigfleet/engine';
import { machineOfNewReport } from '../execute/adopt.ts';
import type { Provider, ReportedMachine } from '../provider/provider.ts';
import { ProviderError } from '../provider/provider-error.ts';
import type { ControlParts } from './open-ownership.ts';
import { giveCandidates, resolveTransfer } from './selection.ts';
import {
  accepted,
  failed,
  rejected,
  type OrderOutcome,
  type PrepareOrder,
  type TransferOrder,
} from './shard-control.ts';
import { cancelledIn, type TransferRecord } from './transfer-book.ts';

/** For all Gets of one CLAIM: the instruction worker must come back. */
const GET_DEADLINE_MS = 10_000;
const GETS_AT_ONCE = 10;

export async function prepareTransfer(
  parts: ControlParts,
  { transferId, toShardId, selector }: PrepareOrder,
): Promise<OrderOutcome> {
  const { store, reservations } = parts;
  const known = store.book.records.get(transferId);
  if (known !== undefined && known.state !== 'claimed') return again(known);
  const idle = giveCandidates(parts, { state: State.Idle, selector, toShardId });
  if (idle === undefined) {
    return rejected('no_eligible_machines', 'the provider is not one that this shard shares');
  }
  const isReserved = (id: string): boolean => reservations.recipientOf(id) === toShardId;
  const { machineIds, covered } = resolveTransfer(idle, selector, isReserved);
  if (machineIds.length === 0) {
    return rejected('no_eligible_machines', 'no idle machine of this shard would serve');
  }
  const quantities = printResources(covered);
  await store.freeze({ transferId, peerShardId: toShardId, machineIds, covered: quantities });
  return { kind: 'accepted', machineIds, covered: quantities };
}

/** Durable, then out of the inventory: the store's listeners drop the machines. */
export async function releaseTransfer(
  { store }: ControlParts,
  { transferId, peerShardId, machineIds }: TransferOrder,
): Promise<OrderOutcome> {
  const known = store.book.records.get(transferId);
  if (known?.state === 'released') return again(known);
  if (known?.state === 'claimed') {
    return rejected('unknown_transfer', 'this shard is its recipient');
  }
  // Without a freeze the ids are the ledger's word that they were committed away.
  const ids = known?.machineIds ?? machineIds;
  if (ids.length === 0) return rejected('unknown_transfer', 'nothing is frozen for it');
  const peer = known?.peerShardId ?? peerShardId;
  await store.release({ transferId, peerShardId: peer, machineIds: ids });
  return { kind: 'accepted', machineIds: ids };
}

export async function cancelTransfer(
  { store }: ControlParts,
  transferId: string,
): Promise<OrderOutcome> {
  const known = store.book.records.get(transferId);
  if (known?.state !== 'frozen') {
    return rejected('unknown_transfer', 'nothing is frozen for it');
  }
  await store.note((book) => cancelledIn(book, transferId), known.machineIds);
  return accepted;
}

/** Ours once it is durable; then each machine enters in the state that its provider reports. */
export async function claimTransfer(
  parts: ControlParts,
  { transferId, peerShardId, machineIds }: TransferOrder,
): Promise<OrderOutcome> {
  const { store } = parts;
  const known = store.book.records.get(transferId);
  if (known !== undefined && known.state !== 'claimed') {
    return rejected('unknown_transfer', 'this shard is its donor');
  }
  const assigned = store.assignment.adopted
    .filter((override) => override.transferId === transferId)
    .map((override) => override.machineId);
  const ids = known?.machineIds ?? (machineIds.length > 0 ? machineIds : assigned);
  if (ids.length === 0) return rejected('unknown_transfer', 'no machine is named for it');
  if (known === undefined) await store.claim({ transferId, peerShardId, machineIds: ids });
  return fetchClaimed(parts, ids);
}

/** Claimed machines enter the fleet in the state that their provider reports, without waiting for a List. */
export async function fetchClaimed(
  { core, runtime, providers, directory, store, logger }: ControlParts,
  machineIds: readonly string[],
): Promise<OrderOutcome> {
  const { fleet } = core;
  const shared = [...providers].filter(({ name }) => directory.get(name)?.isShared === true);
  const missing = machineIds.filter(
    (id) => fleet.inventory.slotOf(id) < 0 && !store.book.gone.has(id),
  );
  let unreachable = '';
  const deadline = withDeadline(runtime, GET_DEADLINE_MS);
  try {
    for (let from = 0; from < missing.length; from += GETS_AT_ONCE) {
      const ids = missing.slice(from, from + GETS_AT_ONCE);
      await Promise.all(
        ids.map(async (id) => {
          const found = await findMachine(shared, id, deadline.signal);
          if (found.kind === 'unreachable') unreachable = found.detail;
          if (found.kind !== 'found' || fleet.inventory.slotOf(id) >= 0) return;
          const machine = machineOfNewReport(found.reported, found.provider);
          if (machine.ok) fleet.observe(machine.value);
          else logger.warn('a claimed machine is rejected', { machine: id, err: machine.error });
        }),
      );
    }
  } finally {
    deadline.dispose();
  }
  core.wake();
  // Listed before they were ours: the next List is to look at their rows again.
  for (const source of shared) source.lookAgain();
  if (unreachable !== '') return failed('provider_unreachable', unreachable);
  return { kind: 'accepted', machineIds };
}

type Found =
  | { readonly kind: 'found'; readonly reported: ReportedMachine; readonly provider: string }
  /** No provider knows it: it is ours all the same, and its absence is reported in time. */
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreachable'; readonly detail: string };

async function findMachine(
  sources: readonly { readonly name: string; readonly provider: Provider }[],
  id: string,
  signal: AbortSignal,
): Promise<Found> {
  let unreachable: Found | undefined;
  for (const { name, provider } of sources) {
    try {
      const reported = await provider.get(id, { signal });
      return { kind: 'found', reported, provider: name };
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (error.failure !== 'not_found') {
        unreachable = { kind: 'unreachable', detail: `${name}: ${error.message}` };
      }
    }
  }
  return unreachable ?? { kind: 'absent' };
}

function again({ machineIds, covered }: TransferRecord): OrderOutcome {
  return { kind: 'accepted', machineIds, covered };
}
