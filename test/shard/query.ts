// What a shard says about its machines, over the real wire.

import { createClient, type MachineView, ShardQuery } from '@bigfleet/wire';
import { HANG_MS, withDeadline } from '../toolkit/index.ts';
import { dialShard } from './shard-process.ts';

/** By id. */
export async function machinesOf(address: string): Promise<ReadonlyMap<string, MachineView>> {
  const channel = dialShard(address);
  try {
    return await withDeadline('list machines', HANG_MS, async (signal) => {
      const found = new Map<string, MachineView>();
      const query = createClient(ShardQuery, channel);
      for await (const { machines } of query.listMachines({}, { signal })) {
        for (const machine of machines) found.set(machine.machineId, machine);
      }
      return found;
    });
  } finally {
    channel.close();
  }
}
