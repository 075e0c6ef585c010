// B1202: random maps come back exactly, on Get and List, and leave nothing behind.

import type { Check } from '../../harness/check.ts';
import type { CheckContext } from '../../harness/context.ts';
import { defineCheck } from '../../harness/define.ts';
import { listedRecord } from '../../harness/inventory.ts';
import { ensureCluster, ensureMetadata, ensureUnbound } from '../../harness/metadata.ts';
import { read } from '../../harness/reach.ts';
import { configureTo, drainToIdle, onIdle } from '../../harness/walk.ts';
import { randomMap } from './random-map.ts';

const MAPS = 20;

async function roundTrip(context: CheckContext, machineId: string): Promise<void> {
  for (let at = 1; at <= MAPS; at++) {
    const metadata = randomMap(context.random);
    const clusterId = `conf-random-${at}`;
    await configureTo(context, machineId, { clusterId, metadata });
    const onList = `List(CONFIGURED), map ${at}`;
    for (const [machine, where] of [
      [await read(context, machineId), `Get, map ${at}`],
      [await listedRecord(context, machineId, 'CONFIGURED', onList), onList],
    ] as const) {
      ensureCluster(machine, clusterId, where);
      ensureMetadata(machine, metadata, where);
    }
    await drainToIdle(context, machineId, 0n);
    ensureUnbound(await read(context, machineId), `after Drain, map ${at}`);
  }
}

export const metadataPropertyChecks: readonly Check[] = [
  defineCheck('B1202', 'Binding and metadata', onIdle(roundTrip)),
];
