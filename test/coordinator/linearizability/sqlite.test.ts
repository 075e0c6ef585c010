// Proves that what clients of a coordinator on SQLite hear is linearizable, over 500 histories with
// crashes of the process (its memory is gone, the file stays) and new leaderships in the middle.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { type ApplyQueue, openLedger, SqliteStore } from '@bigfleet/coordinator';
import { createLogger } from '@bigfleet/telemetry';
import { History } from './history.ts';
import { judge } from './checker.ts';
import type { Outcome } from './model.ts';
import { prepare, serve } from './serve.ts';
import { runWorkload } from './workload.ts';

const RUNS = 500;
const runtime = realRuntime();
const log = createLogger({ clock: runtime.clock, sink: { write: () => {}, flushSync: () => {} } });
const never = new AbortController().signal;
/** In memory where there is such a place: the order of answers is the subject, not the disk. */
const MEMORY = '/dev/shm';
const folder = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'bigfleet-history-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** One coordinator process after another on one data directory. */
class Process {
  readonly #dataDir: string;
  #store: SqliteStore | undefined;
  #ledger: ApplyQueue | undefined;
  #first: ApplyQueue | undefined;

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  get ledger(): ApplyQueue | undefined {
    return this.#ledger;
  }

  /** Of the first leadership, however long ago: what a mutant reads. */
  get first(): ApplyQueue | undefined {
    return this.#first;
  }

  async start(): Promise<void> {
    const options = { runtime, dataDir: this.#dataDir, nodeId: 'n-0', grpcAddress: 'n-0:1' };
    this.#store = new SqliteStore({ ...options, bootstrap: true });
    await this.#store.open();
    await this.lead();
  }

  /** A new leadership in the same process; the ledger of the old one answers no more. */
  async lead(): Promise<void> {
    const store = this.#store;
    if (store === undefined) return;
    const leadership = await store.campaign(never);
    this.#ledger = await openLedger({ runtime, store, leadership, log });
    this.#first ??= this.#ledger;
  }

  /** Nothing is drained and nobody is told: what was in flight is unknown to its client. */
  async crash(): Promise<void> {
    this.#ledger = undefined;
    await this.#store?.close();
    this.#store = undefined;
  }
}

async function disturb(
  process: Process,
  random: Random,
  operationCount: () => number,
): Promise<void> {
  for (let fault = 0; fault < 2; fault += 1) {
    const at = operationCount() + 3 + random.below(12);
    for (let turn = 0; operationCount() < at && turn < 500; turn += 1) await runtime.timers.turn();
    if (random.below(2) === 0) await process.lead();
    else {
      await process.crash();
      await process.start();
    }
  }
}

type Leader = 'right' | 'reads without confirming';

async function runOnce(seed: string, leader: Leader): Promise<History> {
  const history = new History();
  const process = new Process(join(folder, seed));
  await process.start();
  if (process.ledger !== undefined) await prepare(process.ledger);
  let operations = 0;
  const run = async (
    register: string,
    operation: Parameters<typeof serve>[2],
  ): Promise<Outcome> => {
    operations += 1;
    await runtime.timers.turn();
    const { ledger, first } = process;
    if (ledger === undefined) return { kind: 'none' };
    if (leader !== 'right' && operation.kind === 'read') {
      return { kind: 'value', shard: first?.state.cluster(register)?.shardId ?? null };
    }
    return serve(ledger, register, operation);
  };
  await Promise.all([
    runWorkload({
      seed,
      history,
      clientCount: 4,
      registers: ['r-1', 'r-2'],
      operationsPerClient: 10,
      run: (_client, register, operation) => run(register, operation),
      isOver: () => false,
    }),
    disturb(process, createRandom(seed).stream('faults'), () => operations),
  ]);
  await process.crash();
  return history;
}

test(`${RUNS} histories on SQLite are linearizable`, async (context) => {
  let heard = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const seed = `sqlite-${run}`;
    heard += judge(await runOnce(seed, 'right'), `seed ${seed}`).heardCount;
  }
  assert.ok(heard > RUNS * 20, `only ${heard} operations were answered`);
  context.diagnostic(`${RUNS} runs, ${heard} operations answered`);
});

test('a leader that reads its memory without confirming is found out', async () => {
  const histories: History[] = [];
  for (let run = 0; run < 10; run += 1) {
    histories.push(await runOnce(`mutant-${run}`, 'reads without confirming'));
  }
  assert.throws(() => histories.map((history) => judge(history, 'mutant')), /register r-/);
});
