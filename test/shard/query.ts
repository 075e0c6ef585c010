// What a shard says about its machines and needs, over the real wire.

import {
  type Channel,
  createClient,
  type MachineView,
  type NeedView,
  ShardQuery,
  ShardRead,
} from '@bigfleet/wire';
import { HANG_MS, withDeadline } from '../toolkit/index.ts';
import { dialShard } from './shard-process.ts';

/** By id. */
export function machinesOf(address: string): Promise<ReadonlyMap<string, MachineView>> {
  return ask(address, 'list machines', async (channel, signal) => {
    const found = new Map<string, MachineView>();
    const query = createClient(ShardQuery, channel);
    for await (const { machines } of query.listMachines({}, { signal })) {
      for (const machine of machines) found.set(machine.machineId, machine);
    }
    return found;
  });
}

/** As the last cycle saw them; undefined before the first. */
export function needsOf(
  address: string,
  clusterId: string,
): Promise<readonly NeedView[] | undefined> {
  return ask(address, 'inspect needs', async (channel, signal) => {
    const found: NeedView[] = [];
    let cycle = 0n;
    const read = createClient(ShardRead, channel);
    for await (const { frame } of read.inspectNeeds({ clusterId }, { signal })) {
      if (frame.case === 'header') cycle = frame.value.cycle;
      if (frame.case === 'need') found.push(frame.value);
    }
    return cycle === 0n ? undefined : found;
  });
}

/** Of the last cycle; 0 before the first. */
export function cycleOf(address: string): Promise<number> {
  return ask(address, 'number of the cycle', async (channel, signal) => {
    const read = createClient(ShardRead, channel);
    for await (const { frame } of read.inspectNeeds({}, { signal })) {
      if (frame.case === 'header') return Number(frame.value.cycle);
    }
    throw new Error('no header');
  });
}

async function ask<T>(
  address: string,
  what: string,
  work: (channel: Channel, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const channel = dialShard(address);
  try {
    return await withDeadline(what, HANG_MS, (signal) => work(channel, signal));
  } finally {
    channel.close();
  }
}
