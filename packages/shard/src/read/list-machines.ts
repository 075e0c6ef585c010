// ListMachines: what matches, in batches, from the live fleet. Matches are counted before the first
// batch; a machine that leaves between is left out. Lets I/O in every few thousand machines.

import type { ListMachinesRequest, MachineBatchSchema } from '@bigfleet/wire';
import type { MachineHandle } from '../fleet/fleet.ts';
import { MachineFilter } from './machine-filter.ts';
import type { ReadSources } from './read-sources.ts';
import { limitOf } from './requests.ts';
import type { Init } from './wire-init.ts';

const SCANNED_PER_TURN = 5_000;
const ROWS_PER_BATCH = 250;

/** At least one batch: an empty answer still says its cycle and total. */
export async function* listMachines(
  sources: ReadSources,
  request: ListMachinesRequest,
): AsyncGenerator<Init<typeof MachineBatchSchema>, void> {
  const { fleet, reading, runtime } = sources;
  const { views, cycles } = reading;
  const limit = limitOf(request.limit);
  const handles = await matching(sources, request);
  const total = handles.length;
  for (let at = 0; at === 0 || at < Math.min(total, limit); at += ROWS_PER_BATCH) {
    const batch = handles.slice(at, Math.min(at + ROWS_PER_BATCH, limit));
    const present = batch.filter((handle) => fleet.isSame(handle));
    const cycle = BigInt(cycles.newestCycle);
    yield { cycle, total, machines: present.map(({ slot }) => views.viewOf(slot)) };
    await runtime.timers.turn();
  }
}

async function matching(
  { fleet, runtime }: ReadSources,
  request: ListMachinesRequest,
): Promise<MachineHandle[]> {
  const filter = new MachineFilter(fleet, request);
  const { inventory } = fleet;
  const { machineIds } = request;
  const isNamed = machineIds.length > 0;
  const named = new Set(machineIds.map((id) => inventory.slotOf(id)));
  const slots = isNamed ? [...named].filter((slot) => slot >= 0) : undefined;
  const count = slots?.length ?? inventory.slotCount;
  const handles: MachineHandle[] = [];
  for (let at = 0; at < count; at++) {
    if (at % SCANNED_PER_TURN === SCANNED_PER_TURN - 1) await runtime.timers.turn();
    const slot = slots?.[at] ?? at;
    if ((inventory.ids[slot] ?? '') === '') continue;
    if (filter.accepts(slot)) handles.push(fleet.handleOf(slot));
  }
  return handles;
}
