// Proves the law of deltas: nothing that a provider listed and the fleet refused is forgotten. Whatever
// stood in the way (an action, a cool-down, another provider's machine, no room, a List that failed or
// was lost), one refresh after it is gone the fleet knows what the provider says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import {
  decodeShardMetadata,
  isStable,
  isStateCode,
  State,
  type StateCode,
} from '@bigfleet/engine';
import { decode, encodeInit, MachineListSchema, MachineSchema } from '@bigfleet/wire';
import fc from 'fast-check';
import { ProviderError } from './provider-error.ts';
import { ProviderSource, type RefreshOutcome } from './provider-source.ts';
import type { Provider } from './provider.ts';
import type { IngestBatch } from './reconcile/ingest.ts';
import { KnownMachines } from './reconcile/known-machines.ts';
import { FAILED_COOL_DOWN_MS } from './reconcile/merge-row.ts';
import { MAX_WAITING_BYTES, MAX_WAITING_REJECTED } from './reconcile/reconcile-list.ts';
import { listOf, record, type TestRecord, World } from './reconcile/testing/world.ts';
import type { ListAsker } from './scan/list-asker.ts';
import { createInlineScans } from './scan/scanner.ts';
import { reportedFromWire } from './wire-machine.ts';

type Fault = 'none' | 'unavailable' | 'malformed' | 'thread_lost' | 'write_fails' | 'reconnected';

const unused = (): Promise<never> => assert.fail('only List and Get are asked');

/** Room for resource names comes and goes. */
class CrampedView extends KnownMachines {
  hasRoom = true;

  override resourceRoom(): number {
    return this.hasRoom ? super.resourceRoom() : 0;
  }
}

/** A provider whose every change has a revision, and a shard that lists it incrementally. */
class Stage {
  readonly world = new World();
  readonly known = new CrampedView(this.world.inventory, {
    pendingOf: (slot) => this.world.known.pendingOf(slot),
    failedHereAtMs: (slot) => this.world.known.failedHereAtMs(slot),
    isTouched: (slot) => this.world.known.isTouched(slot),
  });
  fault: Fault = 'none';
  rejectedCount = 0;
  /** While an answer is on its way to the shard. */
  meanwhile: () => void = () => {};
  readonly #records = new Map<string, { record: TestRecord; revision: number }>();
  readonly #doubted = new Set<string>();
  #revision = 0;
  #connection = 1;
  #scans = createInlineScans();
  readonly #source: ProviderSource;

  constructor() {
    const provider: Provider = {
      create: unused,
      configure: unused,
      drain: unused,
      delete: unused,
      list: unused,
      get: async (id) => {
        const known = this.#records.get(id);
        if (known === undefined) throw failure('not_found', 'NOT_FOUND');
        const init = known.record as Parameters<typeof encodeInit<typeof MachineSchema>>[1];
        this.meanwhile();
        return reportedFromWire(decode(MachineSchema, encodeInit(MachineSchema, init), 'INTERNAL'));
      },
    };
    const asker: ListAsker = { ask: (order) => this.#ask(order) };
    this.#source = new ProviderSource({ name: 'p', mode: 'incremental', provider, asker });
  }

  change(id: string, changed: TestRecord): void {
    this.#records.set(id, { record: changed, revision: ++this.#revision });
  }

  /** As an action of ours writes the machine, with or without an answer of the provider. */
  write(id: string, state: StateCode, isAnswered: boolean): void {
    const machine = this.world.machine(id);
    if (machine?.provider !== 'p') return;
    const host = { provider: 'p', ref: `host-${id}` };
    const lastError = state === State.Failed ? 'ours' : '';
    const written = { ...machine, state, host, cluster: '', lastError };
    const before = machine;
    this.world.apply({
      changes: [{ kind: 'replaced', machine: written, before, skipped: [] }],
      rejected: [],
    });
    this.world.touched.add(id);
    if (isAnswered) this.change(id, record(id, state));
    else this.#doubted.add(id);
  }

  async refresh(): Promise<RefreshOutcome> {
    this.world.nowMs += 1_000;
    try {
      return await this.#source.refresh({
        known: this.known,
        nowMs: this.world.nowMs,
        readAssignment: decodeShardMetadata,
        apply: (batch) => this.#apply(batch),
        takeWrites: () => {
          const taken = { touched: [...this.world.touched], doubted: [...this.#doubted] };
          this.world.touched.clear();
          this.#doubted.clear();
          return taken;
        },
      });
    } catch (error) {
      assert.ok(error instanceof Error && error.message === 'the disk is full');
      return { kind: 'failed', error: new BigFleetError('cancelled', error.message) };
    }
  }

  /** A machine that we declared Failed is believed in again by a stable report alone. */
  endFailures(): void {
    for (const {
      record: { id, state },
    } of this.#records.values()) {
      if (isStateCode(state) && !isStable(state)) this.world.failedHere.delete(id);
    }
  }

  /** What the provider says and the fleet does not know. */
  missing(): readonly string[] {
    return [...this.#records.values()]
      .filter(({ record: { id, state, zone } }) => {
        const machine = this.world.machine(id);
        return machine?.state !== state || machine.zone !== zone || machine.provider !== 'p';
      })
      .map(({ record: { id } }) => id);
  }

  async #ask({ request, onAnswered, ...order }: Parameters<ListAsker['ask']>[0]) {
    const { fault } = this;
    if (fault === 'unavailable') throw failure('unknown_result', 'UNAVAILABLE');
    if (fault === 'reconnected') this.#connection += 1;
    const since = Number(Buffer.from(request.sinceRevision ?? []).toString() || 0);
    const listed = [...this.#records.values()].filter(({ revision }) => revision > since);
    const machines = listed.map((each) => each.record);
    const init = { machines, revision: Buffer.from(String(this.#revision)) };
    const bytes = encodeInit(MachineListSchema, init as Parameters<typeof encodeInit>[1]);
    this.meanwhile();
    onAnswered();
    if (fault === 'thread_lost') {
      this.#scans = createInlineScans();
      throw new BigFleetError('reconcile_lost', 'gone');
    }
    const read = fault === 'malformed' ? Uint8Array.of(0x0a, 0x7f) : bytes;
    const answer = await this.#scans.scan({ ...order, bytes: read });
    return { ...answer, connection: String(this.#connection) };
  }

  #apply(batch: IngestBatch): void {
    if (this.fault === 'write_fails') throw new Error('the disk is full');
    this.rejectedCount += batch.rejected.length;
    this.world.apply(batch);
    for (const change of batch.changes) {
      const { id } = 'machine' in change ? change.machine : change.before;
      this.world.failedHere.delete(id);
    }
  }
}

function failure(
  kind: ConstructorParameters<typeof ProviderError>[0]['failure'],
  status: ConstructorParameters<typeof ProviderError>[0]['status'],
): ProviderError {
  return new ProviderError({ failure: kind, status, message: 'refused' });
}

const ids = ['a', 'b', 'c'] as const;
const anId = fc.constantFrom(...ids);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('change'), anId, fc.integer({ min: 1, max: 8 })) },
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom('hold', 'hold', 'release', 'fail'), anId) },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constantFrom('answered', 'unanswered', 'write_meanwhile', 'hold_meanwhile'),
      anId,
    ),
  },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('claim', 'unclaim'), anId) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('cramp', 'widen'), fc.constant('')) },
  { weight: 5, arbitrary: fc.tuple(fc.constant('refresh'), fc.constant('none')) },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constant('refresh'),
      fc.constantFrom('unavailable', 'malformed', 'thread_lost', 'write_fails', 'reconnected'),
    ),
  },
);

/** A machine of another provider has the id, as long as the fleet does not know it as ours. */
function claim({ world }: Stage, id: string): void {
  if (world.machine(id) !== undefined) return;
  const others = new World();
  others.reconcile(listOf(record(id, State.Idle)), { provider: 'q' });
  const machine = others.machine(id);
  assert.ok(machine !== undefined);
  world.apply({ changes: [{ kind: 'inserted', machine, skipped: [] }], rejected: [] });
}

function unclaim({ world }: Stage, id: string): void {
  if (world.machine(id)?.provider === 'q') world.inventory.remove(id);
}

function take(stage: Stage, [kind, id = '', number = 0]: readonly (string | number)[]): void {
  const { world, known } = stage;
  const name = String(id);
  switch (kind) {
    case 'change': {
      const resources = { resources: { cpu: '4', [`${name}.example/gpu`]: '1' } };
      const zone = `z${world.nowMs}`;
      return stage.change(name, record(name, Number(number), { resources, zone }));
    }
    case 'hold':
      return void world.pending.set(name, 'in_flight');
    case 'release':
      return void world.pending.delete(name);
    case 'fail':
      if (world.machine(name)?.provider === 'p') world.failedHere.set(name, world.nowMs);
      return stage.write(name, State.Failed, false);
    case 'answered':
    case 'unanswered':
      return stage.write(name, State.Idle, kind === 'answered');
    case 'write_meanwhile':
      stage.meanwhile = () => stage.write(name, State.Idle, true);
      return;
    case 'hold_meanwhile':
      stage.meanwhile = () => world.pending.set(name, 'in_flight');
      return;
    case 'claim':
      return claim(stage, name);
    case 'unclaim':
      return unclaim(stage, name);
    case 'cramp':
    case 'widen':
      known.hasRoom = kind === 'widen';
      return;
    default:
      assert.fail(`an unknown step: ${kind}`);
  }
}

test('law: nothing refused is forgotten', async (context) => {
  let deltas = 0;
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 14, size: 'max' }),
    async (steps) => {
      const stage = new Stage();
      for (const each of steps) {
        if (each[0] !== 'refresh') {
          take(stage, each);
          continue;
        }
        stage.fault = each[1];
        await stage.refresh();
        stage.meanwhile = () => {};
      }
      stage.fault = 'none';
      stage.meanwhile = () => {};
      stage.known.hasRoom = true;
      stage.world.pending.clear();
      for (const id of ids) unclaim(stage, id);
      stage.world.nowMs += FAILED_COOL_DOWN_MS;
      stage.endFailures();
      const outcome = await stage.refresh();
      assert.equal(outcome.kind, 'refreshed');
      if (outcome.kind === 'refreshed' && outcome.list === 'delta') deltas += 1;
      assert.deepEqual(stage.missing(), []);
    },
  );
  const seed = 12_084;
  context.diagnostic(`seed ${seed}`);
  await fc.assert(property, { seed, numRuns: 2_000 });
  assert.ok(deltas > 500, `only ${deltas} runs ended with a delta: full Lists prove nothing here`);
});

test('more than may wait: full Lists until the machines can be taken in again', async () => {
  const stage = new Stage();
  const long = 'x'.repeat(200_000);
  const names = Array.from({ length: MAX_WAITING_BYTES / long.length + 5 }, (_, at) => `m${at}`);
  const list = async (): Promise<string> => {
    const outcome = await stage.refresh();
    return outcome.kind === 'refreshed' ? outcome.list : outcome.kind;
  };
  const change = (state: StateCode): void => {
    for (const id of names) stage.change(id, record(id, state, { labels: { long } }));
  };
  change(State.Idle);
  assert.equal(await list(), 'full');
  for (const id of names) stage.world.pending.set(id, 'in_flight');
  change(State.Speculative);
  assert.equal(await list(), 'delta');
  assert.equal(await list(), 'full', 'some of them wait for it');
  stage.world.pending.clear();
  assert.equal(await list(), 'full');
  assert.deepEqual(stage.missing(), []);
  assert.equal(await list(), 'delta');
});

test('a provider under two names does not have all of its records rejected in every cycle', async () => {
  const stage = new Stage();
  const names = Array.from({ length: 2 * MAX_WAITING_REJECTED }, (_, at) => `m${at}`);
  for (const id of names) {
    stage.change(id, record(id, State.Idle));
    claim(stage, id);
  }
  for (const [list, rejectedCount] of [
    ['full', names.length],
    ['delta', MAX_WAITING_REJECTED],
  ]) {
    stage.rejectedCount = 0;
    const outcome = await stage.refresh();
    assert.ok(outcome.kind === 'refreshed');
    assert.deepEqual([outcome.list, stage.rejectedCount], [list, rejectedCount]);
  }
});
