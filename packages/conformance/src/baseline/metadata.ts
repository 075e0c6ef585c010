// shard_metadata: echoed byte for byte, cleared with the binding, never interpreted.

import type { CheckContext } from '../harness/check.ts';
import { ensure } from '../harness/expect.ts';
import { listed } from '../harness/inventory.ts';
import type { TextMap } from '../harness/machine.ts';
import { ensureCluster, ensureMetadata, ensureUnbound } from '../harness/metadata.ts';
import { read } from '../harness/reach.ts';
import { drainToIdle, release } from '../harness/walk.ts';
import {
  type BaselineCheck,
  baselineCluster,
  configuredMachine,
  DRAIN,
  DRAIN_GRACE_SECONDS,
} from './check.ts';

/** A shard joins the parts of a gang's group with NUL: a C string would end there. */
const echoed: TextMap = new Map([
  ['bigfleet.io/priority', '1000'],
  ['bigfleet.io/group', 'team-a\0gang-7'],
  ['bigfleet.io/bound-at', '2026-01-02T03:04:05Z'],
]);

const unknownKeys: TextMap = new Map([
  ['example.com/unheard-of', '  ünïcode \t 漢字 🚀 trailing  '],
  ['example.com/empty', ''],
  ['__proto__', 'an ordinary key'],
]);

export const metadataChecks: readonly BaselineCheck[] = [
  { name: 'MetadataEchoedOnGetAndList', run: (context) => echo(context, echoed) },
  { name: 'MetadataAndBindingClearOnDrain', run: clearOnDrain },
  { name: 'MetadataUnknownKeysPreservedVerbatim', run: (context) => echo(context, unknownKeys) },
];

async function echo(context: CheckContext, stored: TextMap): Promise<void> {
  const machineId = await configuredMachine(context, stored);
  const got = await read(context, machineId);
  ensureCluster(got, baselineCluster, 'Get');
  ensureMetadata(got, stored, 'Get');
  const { machines } = await listed(context, { states: ['CONFIGURED'] });
  const entry = machines.find(({ id }) => id === machineId);
  ensure(entry !== undefined, `List of CONFIGURED lacks ${machineId}, which is CONFIGURED`);
  ensureCluster(entry, baselineCluster, 'List');
  ensureMetadata(entry, stored, 'List');
  await release(context, machineId);
}

async function clearOnDrain(context: CheckContext): Promise<void> {
  const machineId = await configuredMachine(context, echoed);
  await drainToIdle(context, machineId, DRAIN_GRACE_SECONDS, DRAIN);
  ensureUnbound(await read(context, machineId), 'Get after Drain');
  await release(context, machineId);
}
