// Proves how the durations of cycles and the phantom machines of sessions are shown: measured ones, those of
// a shard that has measured none yet, and those of an older shard, which has no such fields.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openGate, Router, RpcError, ShardQuery, type ShardStatus } from '@bigfleet/wire';
import { RealShards } from './testing/real-shard.ts';

type Told = Pick<ShardStatus, 'phases'>['phases'][number];

function timing(phase: string, seconds: readonly [number, number, number], cycles: number): Told {
  const [p50Seconds, p99Seconds, maxSeconds] = seconds;
  const $typeName = 'bigfleet.ext.v1alpha1.PhaseTiming';
  return { $typeName, phase, p50Seconds, p99Seconds, maxSeconds, cycles };
}

const world = new RealShards();
world.startCoordinator([]);
after(() => world.stop());

/** A shard that says exactly this about itself, and that many machines are phantoms. */
function standIn(shardId: string, phases: readonly Told[], phantomCount: number): void {
  const refuse = async (): Promise<never> => {
    throw new RpcError('UNIMPLEMENTED', 'not in this test');
  };
  const refuseStream = async function* (): AsyncGenerator<never> {
    yield await refuse();
  };
  const router = new Router({ gate: openGate });
  router.add(ShardQuery, {
    getShardStatus: async () => ({ shardId, ready: true, phases: [...phases] }),
    listSessions: async function* () {
      const phantomMachineIds = Array.from({ length: phantomCount }, (_, at) => `m${at}`);
      yield { clusterId: `of-${shardId}`, connected: true, phantomMachineIds };
    },
    listMachines: refuseStream,
    listShortfalls: refuseStream,
    watch: refuseStream,
    listRecords: refuseStream,
    listBrakes: refuseStream,
    explain: refuse,
  });
  const address = `${shardId}:7780`;
  world.memory.listen(address, router);
  world.registered.push({ shardId, address });
}

const phases = [
  timing('reconcile', [0.0123456, 0.2, 1.5], 256),
  timing('emit', [0, 0, 0], 0),
  timing('cycle', [0.25, 1.256, 12.5], 256),
];
standIn('new', phases, 7);
standIn(
  'young',
  phases.map((each) => ({ ...each, cycles: 0 })),
  0,
);
standIn('old', [], 0);

async function linesOf(command: string): Promise<string[]> {
  const { code, output, error } = await world.run(command.split(' '));
  assert.equal(code, 0, error);
  return output.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '));
}

/** The cells of the columns, by the first one. */
async function cells(command: string, titles: readonly string[]): Promise<string[][]> {
  const [header = '', ...rows] = (await linesOf(command)).filter((line) => line !== '');
  const at = titles.map((title) => header.split(' | ').indexOf(title));
  assert.ok(!at.includes(-1), header);
  return rows.map((row) => at.map((column) => row.split(' | ')[column] ?? ''));
}

test('get shards -o wide has the median and the slowest hundredth of whole cycles', async () => {
  const shown = await cells('get shards -o wide', ['SHARD', 'CYCLE_P50', 'CYCLE_P99']);
  assert.deepEqual(shown, [
    ['new', '250ms', '1.26s'],
    ['young', '—', '—'],
    ['old', '—', '—'],
  ]);
});

test('describe shard has a table of the parts, and none for a shard that does not tell', async () => {
  const lines = await linesOf('describe shard new');
  assert.deepEqual(lines.slice(lines.indexOf('Parts of the last cycles:')), [
    'Parts of the last cycles:',
    'PHASE | P50 | P99 | MAX | CYCLES',
    'reconcile | 12.3ms | 200ms | 1.5s | 256',
    'emit | — | — | — | 0',
    'cycle | 250ms | 1.26s | 12.5s | 256',
    '',
  ]);
  assert.ok(!lines.some((line) => line.startsWith('Phases')), 'told once');
  const old = await linesOf('describe shard old');
  assert.ok(!old.includes('Parts of the last cycles:'), old.join('\n'));
  const { output } = await world.run(['describe', 'shard', 'new', '-o', 'json']);
  const [document] = JSON.parse(output) as { status: { phases: { cycles: number }[] } }[];
  assert.deepEqual(
    document?.status.phases.map(({ cycles }) => cycles),
    [256, 0, 256],
  );
});

test('get sessions counts phantom machines, and its wide form names the first ones', async () => {
  const shown = await cells('get sessions -o wide', ['SHARD', 'PHANTOM', 'PHANTOM_MACHINES']);
  assert.deepEqual(shown, [
    ['new', '7', 'm0,m1,m2,m3,m4 and 2 more'],
    ['young', '—', '—'],
    ['old', '—', '—'],
  ]);
});
