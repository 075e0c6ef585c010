// Proves that `decide` and the indexed state agree with the naive model on random command streams,
// and that the state loaded back from its rows is the same state, dead rows included.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeLogical } from '../../store/logical-snapshot.ts';
import { FleetState, type FleetView } from '../fleet-state.ts';
import { arbitraryCommand } from '../testing/arbitrary-commands.ts';
import { NaiveModel } from '../testing/naive-model.ts';
import { StateMachine } from '../testing/state-machine.ts';

const RUNS = 300;
const HOUR_MS = 3_600_000;

/** What both can say, in one shape. */
function pictureOf(view: FleetView): unknown {
  return {
    shards: view.shards().map(({ id, maxEpoch }) => [id, maxEpoch]),
    clusters: view.clusters().map(({ clusterId, shardId }) => [clusterId, shardId]),
    domains: view.domains().map((row) => [row.key, row.value, row.shardId, row.state]),
    quotas: view
      .quotas()
      .map((row) => [row.provider, row.region, row.slices.map((s) => [s.shardId, s.slice])]),
    providers: view.providers().map(({ name, declaredQuota }) => [name, declaredQuota]),
    homes: view.homes().map((row) => [row.providerAddress, row.shardId]),
    transfers: view.transfers().map((row) => [row.id, row.phase, row.machineIds, row.quota?.step]),
    open: view.openTransfers().map(({ id }) => id),
    overrides: view.overrides().map(({ machineId, owner }) => [machineId, owner]),
    byOwner: view
      .shards()
      .flatMap(({ id }) => [
        view.domainsOf(id).map(({ key, value }) => [id, key, value]),
        view.overridesOwnedBy(id).map(({ machineId }) => [id, machineId]),
      ]),
    overrideCount: view.overrideCount(),
  };
}

function pictureOfModel(model: NaiveModel): unknown {
  const sorted = <T>(items: Iterable<T>): T[] => [...items].sort(byFirstTexts);
  const domains = sorted(
    [...model.domains].map(([key, { shard, state }]) => [...split(key), shard, state]),
  );
  const overrides = sorted(model.overrides);
  const shards = sorted(model.shards);
  const transfers = sorted(model.transfers);
  const isOpen = (phase: string): boolean => phase === 'PREPARING' || phase === 'COMMITTED';
  return {
    shards,
    clusters: sorted(model.clusters),
    domains,
    quotas: sorted([...model.quotas].map(([key, slices]) => [...split(key), sorted(slices)])),
    providers: sorted(model.declared),
    homes: sorted(model.homes),
    transfers: transfers.map(([id, row]) => [id, row.phase, row.machineIds, row.move?.step]),
    open: transfers.filter(([, { phase }]) => isOpen(phase)).map(([id]) => id),
    overrides,
    byOwner: shards.flatMap(([id]) => [
      domains.filter((row) => row[2] === id).map(([key, value]) => [id, key, value]),
      overrides.filter(([, owner]) => owner === id).map(([machine]) => [id, machine]),
    ]),
    overrideCount: model.overrides.size,
  };
}

const split = (key: string): string[] => JSON.parse(key) as string[];

/** Rows compared by their first two texts, by bytes. */
function byFirstTexts(a: unknown, b: unknown): number {
  const [first, second] = [a, b].map((row) => (row as unknown[]).slice(0, 2).map(String));
  for (let at = 0; at < 2; at++) {
    const order = Buffer.compare(Buffer.from(first?.[at] ?? ''), Buffer.from(second?.[at] ?? ''));
    if (order !== 0) return order;
  }
  return 0;
}

test('decide and the naive model agree, and rows load back to the same state', () => {
  const counts = { applied: 0, unchanged: 0, refused: 0 };
  const streams = fc.array(fc.tuple(arbitraryCommand, fc.constantFrom(0, 1, 7 * HOUR_MS)), {
    minLength: 20,
    maxLength: 120,
  });
  fc.assert(
    fc.property(streams, (stream) => {
      const machine = new StateMachine();
      const model = new NaiveModel();
      for (const [body, stepMs] of stream) {
        machine.nowMs += stepMs;
        const { kind } = machine.apply(body);
        const expected = model.apply(body, machine.nowMs);
        assert.equal(kind, expected, body.kind);
        counts[expected]++;
        assert.deepEqual(pictureOf(machine.state), pictureOfModel(model), body.kind);
      }
      const again = new FleetState(machine.loaded());
      assert.equal(encodeLogical(again), encodeLogical(machine.state));
      assert.deepEqual(again.dangling().sort(), machine.state.dangling().sort());
    }),
    { numRuns: RUNS },
  );
  for (const [outcome, count] of Object.entries(counts))
    assert.ok(count > RUNS, `${outcome} was hardly tried: ${count}`);
});
