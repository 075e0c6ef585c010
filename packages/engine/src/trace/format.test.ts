// Proves that a version stays what it is: the bytes of a fixed trace never change and always
// read as the same entries, and snapshots and cycles stay as small as they are meant to be.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { State } from '../model/state.ts';
import { cores, fleet, machine, need } from '../testing/build.ts';
import { RecordedEngine } from './recorded-engine.ts';
import { replay } from './replay.ts';
import { Chunks } from './testing/random-run.ts';
import { sampleEntries } from './testing/sample-entries.ts';
import { TraceReader } from './trace-reader.ts';
import { TraceWriter } from './trace-writer.ts';

/** Written by a build of version 1. */
const GOLDEN_1 = `
424654524143450a01000000488e5a532f02000009b8ba3818819f4900000000000000e03f01036370750201e8070101
0870726f766964657201087374616e6461726401027a310302030403000103011000096d616368696e652d3181a0d5ed
ee664301020e686f73742d6d616368696e652d31010f016578616d706c652e636f6d2f7261636b010272310302030403
01050601009a9999999999b93f00000000000000e03f010161010f44703d2d357c6970623d32377c7270623d317c7265
71733d6578616d706c652e636f6d2f7261636b3a353a72312c72327c7370723d746f706f6c6f67792e6b756265726e65
7465732e696f2f7a6f6e653a323a31010467eda08004091b0108091000813280a0d5edee66d50202d132070000010500
01010000060701000101b8170101027232010f0c746f706f6c6f67792e6b756265726e657465732e696f2f7a6f6e6505
091b0101050502060a010b050301066d656d6f7279060702090002a01f0181808080200c20070202018080d0dfbd94b9
8631008180d0dfbd94b98631001607010f0d6100703d307c6970623d317c7270623d317c726571733d7c7370723d1701
0d01520067210e13010f07746f706f6c6f67795f756e7361746973666961626c6501016222080201010f0207100d2302
02010f0b703d307c6970623d317c7270623d317c726571733d7c7370723d0400011b1100120195a0d5edee66040a0702
130200140100000000000000f83f15070202018080d0dfbd94b9863100ffffcfdfbd94b9863100198d9c010a01020000
0000000000f07f9e0f70d225000000e6d2f0711aa1c64e019d0a3681d2b6889ac97eaffd010104020700003cfeffffff
0f110219a19c01000d4db2f915000000497df8841a000000000000000000000000000000000000300057e69cef
`;

const GOLDEN_2 = `
424654524143450a02000000710778319f020000e9531f8f18819f4900000000000000e03f01036370750201e8070101
0870726f766964657201087374616e6461726401027a310302030403000103011000096d616368696e652d3181a0d5ed
ee664301020e686f73742d6d616368696e652d31010f016578616d706c652e636f6d2f7261636b010272310302030403
01050601009a9999999999b93f00000000000000e03f010161010f44703d2d357c6970623d32377c7270623d317c7265
71733d6578616d706c652e636f6d2f7261636b3a353a72312c72327c7370723d746f706f6c6f67792e6b756265726e65
7465732e696f2f7a6f6e653a323a31010467eda08004091b0108091000813280a0d5edee66d50202d132070000010500
01010000060701000101b8170101027232010f0c746f706f6c6f67792e6b756265726e657465732e696f2f7a6f6e6505
091b0101050502060a010b050301066d656d6f7279060702090002a01f0181808080200c20070202018080d0dfbd94b9
8631008180d0dfbd94b98631001607010f0d6100703d307c6970623d317c7270623d317c726571733d7c7370723d1701
0d014f422d357c6970623d32377c7270623d317c726571733d6578616d706c652e636f6d2f7261636b3a353a72312c72
327c7370723d746f706f6c6f67792e6b756265726e657465732e696f2f7a6f6e653a323a31010e70726f766964657200
6c617267651b010e03010f0101076100703d300067211013010f07746f706f6c6f67795f756e7361746973666961626c
650101622208020101110207120d230202010f0b703d307c6970623d317c7270623d317c726571733d7c7370723d0400
011b1300120195a0d5edee66040a0702130200140100000000000000f83f15070202018080d0dfbd94b9863100ffffcf
dfbd94b9863100198d9c010a010200000000000000f07fb7345fb5250000006d69b3e31aa1c64e019d0a3681d2b6889a
c97eaffd010104020700003cfeffffff0f110219a19c01006d8e32941500000084243a7b1a0000000000000000000000
00000000000000300039f39c76
`;

test('the sample has every kind of entry', () => {
  assert.equal(new Set(sampleEntries.map(({ kind }) => kind)).size, 16);
});

test('a version 2 trace has these bytes: a change needs a new version', () => {
  const chunks = new Chunks();
  const writer = new TraceWriter(chunks.sink);
  for (const entry of sampleEntries) writer.write(entry);
  writer.close();
  assert.equal(hexLines(chunks.join()), GOLDEN_2);
});

test('a trace of either version reads as it always did', () => {
  const withoutBrakes = sampleEntries.filter(({ kind }) => kind !== 'brakes');
  for (const [golden, entries] of [
    [GOLDEN_1, withoutBrakes],
    [GOLDEN_2, sampleEntries],
  ] as const) {
    const reader = new TraceReader(bytesOf(golden));
    assert.deepEqual([...reader], entries);
    assert.deepEqual(reader.end, { kind: 'closed' });
  }
});

function bytesOf(golden: string): Uint8Array {
  return Uint8Array.from(golden.match(/[0-9a-f]{2}/g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function hexLines(bytes: Uint8Array): string {
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `\n${(hex.match(/.{1,96}/g) ?? []).join('\n')}\n`;
}

const MACHINES = 5000;
const CLUSTERS = 10;
const ROWS = 100;

/** A converged fleet, two machines per row, with ids and hosts as clouds give them. */
test('bytes per machine of a snapshot and bytes per cycle stay small', (t) => {
  const rowsOf = (cluster: string): Need[] =>
    Array.from({ length: ROWS }, (_, at) =>
      need({
        cluster,
        wants: cores(2),
        unit: cores(1),
        priority: 1000 + at,
        group: at % 5 === 0 ? `g${at}` : '',
      }),
    );
  const clusters = Array.from({ length: CLUSTERS }, (_, at) => `cluster-${at}`);
  const needs = clusters.flatMap(rowsOf);
  const random = createRandom('sizes');
  const input = fleet({
    machines: Array.from({ length: MACHINES }, (_, at) => sized(at, needs)),
    needs,
  });
  const chunks = new Chunks();
  const engine = new RecordedEngine(input, chunks.sink);
  const perMachine = chunks.join().length / MACHINES;
  let nowMs = input.nowMs;
  engine.cycle({ nowMs });
  const start = chunks.join().length;
  const cycleCount = 20;
  for (let cycle = 0; cycle < cycleCount; cycle++) {
    nowMs += 10_000;
    drainSome(engine, random.below(MACHINES), nowMs);
    const cluster = clusters[cycle % CLUSTERS]!;
    const rows = rowsOf(cluster);
    rows[random.below(ROWS)] = need({ cluster, wants: cores(3 + cycle), priority: 1 });
    engine.applyRollup(
      cluster,
      rows.map((row) => ({ ...row, arrivalUnixNanos: BigInt(nowMs) })),
    );
    engine.cycle({ nowMs });
  }
  const perCycle = (chunks.join().length - start) / cycleCount;
  engine.close();
  t.diagnostic(
    `${perMachine.toFixed(1)} bytes per machine, ${perCycle.toFixed(0)} bytes per cycle`,
  );
  assert.equal(replay(chunks.join()).outcome, 'identical');
  assert.ok(perMachine < 40, `${perMachine} bytes per machine`);
  assert.ok(perCycle < 1500, `${perCycle} bytes per cycle`);
});

function sized(at: number, needs: readonly Need[]): Machine {
  const serves = needs[at % needs.length] as Need;
  const isBound = at < needs.length * 2;
  const made = machine({
    id: `m-us-east-1-${String(at).padStart(7, '0')}`,
    type: `m5.${at % 5}xlarge`,
    zone: `us-east-1${'abc'[at % 3]}`,
    rack: `rack-${at % 40}`,
    price: 0.096 * (1 + (at % 5)),
    ...(isBound ? { state: 'Configured', serves } : {}),
  });
  return {
    ...made,
    host: { provider: 'aws', ref: `i-0${(at * 2_654_435_761).toString(16).padStart(16, '0')}` },
  };
}

/** Ten transitions from `first` on. */
function drainSome(engine: RecordedEngine, first: number, nowMs: number): void {
  const { columns } = engine.view.inventory;
  for (let at = 0; at < 10; at++) {
    const slot = (first + at) % MACHINES;
    if (columns.state[slot] === State.Configured) {
      engine.inventory.move(slot, State.Draining, {}, nowMs);
    } else if (columns.state[slot] === State.Draining) {
      engine.inventory.move(slot, State.Idle, {}, nowMs);
    }
  }
}
