// Proves the fake's List: exact filters, ceilings, cursors that can be threaded, and cursors of
// another life or no meaning answered in full.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import fc from 'fast-check';
import { State } from '@bigfleet/engine';
import { decode, MachineListSchema } from '@bigfleet/wire';
import { encodeList } from './encode-list.ts';
import { FakeProvider } from './fake-provider.ts';
import { seedSpecs } from './seed.ts';

const nothing: Uint8Array = new Uint8Array(0);
const unfenced = { shardId: '', shardEpoch: 0n, sequenceNumber: 0n };

interface Query {
  readonly states?: readonly number[];
  readonly max?: number;
  readonly since?: Uint8Array;
}

class Fleet {
  readonly fake: FakeProvider;
  readonly ids: readonly string[];

  constructor(count: number, seed = 'listing') {
    const { runtime } = createVirtualRuntime({ seed, drain: drainMicrotasks });
    this.fake = new FakeProvider({ runtime, instantTransitions: true });
    const specs = [...seedSpecs({ provider: 'p', count })];
    for (const spec of specs) this.fake.addSpeculative(spec);
    this.ids = specs.map(({ id }) => id);
  }

  create(...indexes: readonly number[]): void {
    for (const index of indexes) {
      this.fake.create({ machineId: this.ids[index] ?? '', token: unfenced });
    }
  }

  list({ states = [], max = 0, since = nothing }: Query = {}): {
    ids: string[];
    revision: Uint8Array;
  } {
    const answer = this.fake.list({ states, maxResults: max, sinceRevision: since });
    return { ids: answer.machines.map(({ spec }) => spec.id), revision: answer.revision };
  }

  names(...indexes: readonly number[]): string[] {
    return indexes.map((index) => this.ids[index] ?? '');
  }
}

test('filters are an exact union, and a state that nobody has matches nothing', () => {
  const fleet = new Fleet(6);
  fleet.create(1, 3);
  fleet.fake.failMachine(fleet.ids[5] ?? '', 'broken');
  assert.deepEqual(fleet.list({ states: [State.Idle] }).ids.sort(), fleet.names(1, 3).sort());
  const union = fleet.list({ states: [State.Idle, State.Failed] }).ids.sort();
  assert.deepEqual(union, fleet.names(1, 3, 5).sort());
  assert.deepEqual(fleet.list({ states: [99, -1] }).ids, []);
  assert.equal(fleet.list({ max: -5 }).ids.length, 6);
});

test('a delta holds exactly what changed since', () => {
  const fleet = new Fleet(6);
  const { revision } = fleet.list();
  assert.deepEqual(fleet.list({ since: revision }).ids, []);
  assert.deepEqual(fleet.list({ since: revision }).revision, revision);
  fleet.create(4, 2);
  const delta = fleet.list({ since: revision });
  assert.deepEqual(delta.ids, fleet.names(4, 2));
  assert.notDeepEqual(delta.revision, revision);
  assert.deepEqual(fleet.list({ since: delta.revision }).ids, []);
  // Refused and fenced calls are no change.
  assert.throws(() => fleet.create(-1));
  assert.deepEqual(fleet.list({ since: delta.revision }).ids, []);
});

test('pages thread to the end, also while machines change', () => {
  const fleet = new Fleet(10);
  const seen: string[] = [];
  let since = nothing;
  for (let page = 0; page < 20; page++) {
    const { ids, revision } = fleet.list({ max: 3, since });
    if (ids.length === 0) break;
    assert.ok(ids.length <= 3);
    seen.push(...ids);
    since = revision;
    if (page === 0) fleet.create(0, 9);
  }
  assert.deepEqual(new Set(seen), new Set(fleet.ids));
  assert.equal(seen.filter((id) => id === fleet.ids[0]).length, 2, 'listed again after its change');
});

test('a capped sample without cursor varies, and its cursor hides nothing', () => {
  const fleet = new Fleet(3);
  const query = { states: [State.Speculative], max: 1 };
  const samples = [1, 2, 3, 4].map(() => fleet.list(query).ids[0]);
  assert.equal(new Set(samples.slice(0, 3)).size, 3);
  assert.equal(samples[3], samples[0]);
  assert.equal(fleet.list({ since: fleet.list(query).revision }).ids.length, 3);
});

test('no cursor of ours: the full list and no error', () => {
  const fleet = new Fleet(4);
  const { revision } = fleet.list();
  const foreign = new Fleet(4, 'another life').list().revision;
  const future = Uint8Array.from(revision);
  future[future.length - 1] = 0xff;
  const odd = [
    nothing,
    Buffer.from('text'),
    revision.subarray(1),
    Buffer.concat([revision, Buffer.of(0)]),
  ];
  for (const since of [...odd, new Uint8Array(4_096).fill(0xde), foreign, future]) {
    assert.equal(fleet.list({ since }).ids.length, 4, Buffer.from(since).toString('hex'));
  }
});

test('the bytes of a List are what its decoder expects, before and after a change', () => {
  const fleet = new Fleet(3);
  for (const round of [1, 2]) {
    const answer = fleet.fake.list({ states: [], maxResults: 0, sinceRevision: nothing });
    const decoded = decode(MachineListSchema, encodeList(answer), 'INTERNAL');
    const states = decoded.machines.map(({ id, state }) => [id, state]);
    const expected = answer.machines.map(({ spec, state }) => [spec.id, state]);
    assert.deepEqual(states, expected, `round ${round}`);
    assert.deepEqual(Buffer.from(decoded.revision), Buffer.from(answer.revision));
    fleet.create(round);
  }
});

test('thousands of changes later, a full list still holds every machine once', () => {
  const fleet = new Fleet(10);
  const [busy = ''] = fleet.ids;
  for (let round = 0; round < 4_000; round++) fleet.fake.failMachine(busy, `round ${round}`);
  assert.deepEqual(fleet.list().ids.toSorted(), fleet.ids.toSorted());
});

type Step = 'create' | 'fail' | 'remove' | 'add' | 'read';

test('property: threading deltas follows the fleet through any history', () => {
  const kind = fc.constantFrom<Step>('create', 'fail', 'remove', 'add', 'read');
  fc.assert(
    fc.property(fc.array(fc.tuple(kind, fc.nat({ max: 9 })), { maxLength: 200 }), (steps) => {
      const fleet = new Fleet(8);
      const present = new Set(fleet.ids);
      const spare = [...seedSpecs({ provider: 'q', count: 10 })];
      const mirror = new Map<string, number>();
      let since = nothing;
      const read = (): void => {
        const answer = fleet.fake.list({ states: [], maxResults: 0, sinceRevision: since });
        for (const machine of answer.machines) mirror.set(machine.spec.id, machine.state);
        since = answer.revision;
      };
      for (const [step, index] of steps) {
        const id = [...present][index];
        if (step === 'read') read();
        else if (step === 'add') {
          const spec = spare.pop();
          if (spec === undefined) continue;
          fleet.fake.addIdle(spec);
          present.add(spec.id);
        } else if (id !== undefined) change(fleet.fake, step, id);
        if (step === 'remove' && id !== undefined) {
          present.delete(id);
          // No delta says so.
          mirror.delete(id);
        }
      }
      read();
      const now = [...present].map((id) => [id, fleet.fake.get(id).state] as const);
      assert.deepEqual(mirror, new Map(now));
      assert.deepEqual(new Set(fleet.list().ids), present);
    }),
    { numRuns: 200 },
  );
});

function change(fake: FakeProvider, step: 'create' | 'fail' | 'remove', id: string): void {
  if (step === 'fail') fake.failMachine(id, 'broken');
  else if (step === 'remove') fake.removeMachine(id);
  else if (fake.get(id).state === State.Speculative) {
    fake.create({ machineId: id, token: unfenced });
  }
}
