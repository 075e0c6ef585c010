// B501–B505: what Configure stored comes back byte for byte, from acceptance on, belongs to the
// provider alone, lives and dies with its binding, and is never cut.
//
// The 55-key map of B501 is what a careless codec, store or copy loses: NUL and control characters,
// text outside the basic plane, both spellings of one glyph, blanks at the ends, empty values, and
// keys that a plain object inherits.

import { type Check, type CheckContext, CheckFailed, defineCheck } from '../../harness/check.ts';
import { acknowledged, isCode, shown } from '../../harness/expect.ts';
import { listedRecord } from '../../harness/inventory.ts';
import { ensureCluster, ensureMetadata, ensureUnbound } from '../../harness/metadata.ts';
import { expectState, mustReach, read } from '../../harness/reach.ts';
import { watch } from '../../harness/trace.ts';
import { configureTo, drainToIdle, onIdle, standardBlob } from '../../harness/walk.ts';
import { ensureUntouched } from '../transitions/transitions.ts';

const controls = [...range(0x00, 0x1f), 0x7f, ...range(0x80, 0x87)];

const named: readonly (readonly [string, string])[] = [
  ['hostile/nul\u0000inside-key', 'nul\u0000inside\u0000value'],
  ['hostile/trailing-space ', ' both ends '],
  ['hostile/tab-newline', '\t\r\n'],
  ['hostile/empty', ''],
  ['hostile/emoji-🚀', '👩‍👩‍👧‍👦 𝄞'],
  ['hostile/astral', '\u{10ffff}\u{10000}'],
  ['hostile/rtl', 'שלום\u202eabc'],
  ['hostile/nfc-é', 'caf\u00e9'],
  ['hostile/nfd-e\u0301', 'cafe\u0301'],
  ['hostile/CASE', 'Upper and lower'],
  ['hostile/case', 'lower and Upper'],
  ['__proto__', 'polluted'],
  ['constructor', 'inherited'],
  ['hostile/bom', '\ufeffvalue\ufffd'],
];

/** One key per control character, and the named ones: 55 together. */
export function hostileMap(): ReadonlyMap<string, string> {
  const map = new Map(named);
  for (const code of controls) {
    map.set(`control/${code}`, `<${String.fromCharCode(code)}>`);
  }
  return map;
}

function range(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

const clusterId = 'conf-echo';

async function hostileMapVerbatim(context: CheckContext, machineId: string): Promise<void> {
  const metadata = hostileMap();
  await configureTo(context, machineId, { clusterId, metadata });
  for (let reading = 1; reading <= 4; reading++) {
    ensureMetadata(await read(context, machineId), metadata, `Get number ${reading}`);
  }
  const record = await listedRecord(context, machineId, 'CONFIGURED');
  ensureMetadata(record, metadata, 'List(CONFIGURED)');
}

async function visibleWhileConfiguring(context: CheckContext, machineId: string): Promise<void> {
  const metadata = new Map([
    ['early/a', 'visible'],
    ['early/b', 'from\u0000acceptance'],
  ]);
  const call = { machineId, clusterId, blob: standardBlob, metadata };
  const ack = acknowledged(await context.endpoint.configure(call), `Configure ${machineId}`);
  for (const sample of await watch(context, { machineId, until: 'CONFIGURED', ack })) {
    if (sample.state === 'CONFIGURING') ensureMetadata(sample, metadata, 'at CONFIGURING');
  }
  const machine = await expectState(context, machineId, 'CONFIGURED');
  ensureMetadata(machine, metadata, 'at CONFIGURED');
}

async function noAliasing(context: CheckContext, machineId: string): Promise<void> {
  const metadata = new Map([
    ['alias/changed', 'original'],
    ['alias/deleted', 'original'],
  ]);
  const original = new Map(metadata);
  const call = { machineId, clusterId, blob: standardBlob, metadata };
  acknowledged(await context.endpoint.configure(call), `Configure ${machineId}`);
  await mustReach(context, machineId, 'CONFIGURED');
  metadata.set('alias/changed', 'mutated by the caller');
  metadata.delete('alias/deleted');
  metadata.set('alias/added', 'by the caller');
  for (let reading = 1; reading <= 2; reading++) {
    const machine = await read(context, machineId);
    ensureMetadata(machine, original, `Get ${reading} after the caller changed its own map`);
    ensureCluster(machine, clusterId, `Get ${reading}`);
  }
}

const OVERSIZED_SETTLE_MS = 30_000;
const WINDOW_MS = 300;

async function clearedAndReplaced(context: CheckContext, machineId: string): Promise<void> {
  const first = new Map([
    ['first/a', '1'],
    ['first/b', '2'],
    ['first/c', '3'],
  ]);
  await configureTo(context, machineId, { clusterId: 'conf-first', metadata: first });
  ensureMetadata(await read(context, machineId), first, 'first binding');
  await drainToIdle(context, machineId, 5n);
  ensureUnbound(await expectState(context, machineId, 'IDLE'), 'after Drain');
  const second = new Map([
    ['second/x', '8'],
    ['second/y', '9'],
  ]);
  await configureTo(context, machineId, { clusterId: 'conf-second', metadata: second });
  const machine = await read(context, machineId);
  ensureCluster(machine, 'conf-second', 'second binding');
  ensureMetadata(machine, second, 'second binding');
}

async function oversizedNeverTruncated(context: CheckContext, machineId: string): Promise<void> {
  const metadata = new Map<string, string>();
  for (let at = 0; at < 256; at++) metadata.set(`oversized/${at}`, `${at}:`.padEnd(8192, 'y'));
  const call = { machineId, clusterId: 'conf-oversized', blob: standardBlob, metadata };
  const answer = await context.endpoint.configure(call);
  if (answer.ok) {
    const machine = await mustReach(context, machineId, 'CONFIGURED', OVERSIZED_SETTLE_MS);
    ensureMetadata(machine, metadata, 'after a Configure with 2 MiB of metadata');
    // Every later List would carry these 2 MiB.
    await drainToIdle(context, machineId, 0n);
  } else if (isCode(answer, 'INVALID_ARGUMENT')) {
    await ensureUntouched(context, { machineId, state: 'IDLE', windowMs: WINDOW_MS });
  } else {
    throw new CheckFailed(
      `Configure ${machineId} with 2 MiB of metadata: expected OK or INVALID_ARGUMENT, ` +
        `got ${shown(answer)}`,
    );
  }
}

export const metadataChecks: readonly Check[] = [
  defineCheck('B501', 'Binding and metadata', onIdle(hostileMapVerbatim)),
  defineCheck('B504', 'Binding and metadata', onIdle(visibleWhileConfiguring)),
  defineCheck('B505', 'Binding and metadata', onIdle(noAliasing)),
  defineCheck('B502', 'Binding and metadata', onIdle(clearedAndReplaced)),
  defineCheck('B503', 'Binding and metadata', onIdle(oversizedNeverTruncated)),
];
