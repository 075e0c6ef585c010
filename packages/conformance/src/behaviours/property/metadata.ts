// B1202: random maps come back exactly, on Get and List, and leave nothing behind. They hold any text
// that UTF-8 can carry, control characters and both ends of the code space included, and now and then
// a key that a plain object would swallow.

import type { Random } from '@bigfleet/base';
import { type Check, type CheckContext, defineCheck } from '../../harness/check.ts';
import { listedRecord } from '../../harness/inventory.ts';
import { ensureCluster, ensureMetadata, ensureUnbound } from '../../harness/metadata.ts';
import { read } from '../../harness/reach.ts';
import { configureTo, drainToIdle, onIdle } from '../../harness/walk.ts';

const MAX_ENTRIES = 11;
const MAX_CODE_POINTS = 23;
const trickyKeys = ['__proto__', 'constructor', 'toString', '0', ''];

/** [first, last] of ASCII, controls, Latin, CJK, and beyond the basic plane. */
const alphabets: readonly (readonly [number, number])[] = [
  [0x20, 0x7e],
  [0x00, 0x1f],
  [0xa0, 0x24f],
  [0x4e00, 0x9fff],
  [0x10000, 0x10ffff],
];

export function randomMap(random: Random): ReadonlyMap<string, string> {
  const map = new Map<string, string>();
  const size = random.below(MAX_ENTRIES + 1);
  for (let at = 0; at < size; at++) map.set(randomKey(random, at), randomText(random));
  return map;
}

/** Distinct by the index in most keys; a tricky one may repeat and replace. */
function randomKey(random: Random, at: number): string {
  const tricky = trickyKeys[random.below(10)];
  return tricky ?? `${at}/${randomText(random)}`;
}

function randomText(random: Random): string {
  let text = '';
  for (let left = random.below(MAX_CODE_POINTS + 1); left > 0; left--) {
    const [first, last] = alphabets[random.below(alphabets.length)] ?? [0x20, 0x7e];
    text += String.fromCodePoint(first + random.below(last - first + 1));
  }
  return text;
}

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
