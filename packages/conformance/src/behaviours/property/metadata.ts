// B1202: random maps come back exactly, on Get and List, and leave nothing behind.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { ensure } from '../../harness/expect.ts';
import { listed } from '../../harness/inventory.ts';
import { ensureCluster, ensureMetadata, ensureUnbound } from '../../harness/metadata.ts';
import { read } from '../../harness/reach.ts';
import { configureTo, drainToIdle, release, walkToIdle } from '../../harness/walk.ts';
import { randomMap } from './random-map.ts';

const MAPS = 20;

async function roundTrip(context: CheckContext): Promise<void> {
  const machineId = await walkToIdle(context);
  for (let at = 1; at <= MAPS; at++) {
    const metadata = randomMap(context.random);
    const clusterId = `conf-random-${at}`;
    await configureTo(context, machineId, { clusterId, metadata });
    const { machines } = await listed(context, { states: ['CONFIGURED'] });
    const record = machines.find(({ id }) => id === machineId);
    ensure(record !== undefined, () => `List(CONFIGURED), map ${at}: ${machineId} is missing`);
    for (const [machine, where] of [
      [await read(context, machineId), `Get, map ${at}`],
      [record, `List(CONFIGURED), map ${at}`],
    ] as const) {
      ensureCluster(machine, clusterId, where);
      ensureMetadata(machine, metadata, where);
    }
    await drainToIdle(context, machineId, 0n);
    ensureUnbound(await read(context, machineId), `after Drain, map ${at}`);
  }
  await release(context, machineId);
}

export const metadataPropertyChecks: readonly Check[] = [
  defineCheck('B1202', 'Binding and metadata', roundTrip),
];
