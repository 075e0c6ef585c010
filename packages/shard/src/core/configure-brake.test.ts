// Proves the brake in a whole shard, against an asynchronous provider: a cluster whose nodes never join
// burns three machines and one per pause, what it lacks is told as a shortfall with its reason, other
// clusters are served meanwhile, and the first node that joins ends it.

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ConfigureBrake, State } from '@bigfleet/engine';
import { fourCores, type Stage, stage } from './testing/stage.ts';

const SLOTS = 40;
const STEP_MS = 1_000;
const MINUTE_MS = 60_000;

class Lab {
  readonly shard: Stage;
  readonly brake: ConfigureBrake | undefined;
  /** Clusters whose nodes never join. */
  readonly broken: Set<string>;
  burntCount = 0;

  constructor(t: TestContext, broken: readonly string[], isBraked = true) {
    this.broken = new Set(broken);
    this.brake = isBraked ? new ConfigureBrake() : undefined;
    this.shard = stage({
      latencyMs: 5 * STEP_MS,
      brake: this.brake,
    });
    for (let at = 0; at < SLOTS; at++) this.shard.fake.addSpeculative(fourCores(`slot-${at}`));
    this.shard.core.start();
    t.after(() => this.shard.stop());
  }

  async runFor(ms: number): Promise<void> {
    const { shard } = this;
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      await shard.virtual.runFor(STEP_MS);
      for (let at = 0; at < SLOTS; at++) {
        const id = `slot-${at}`;
        if (shard.stateOf(id) !== State.Configuring) continue;
        const slot = shard.core.fleet.inventory.slotOf(id);
        if (!this.broken.has(shard.core.fleet.read(slot).cluster)) continue;
        // The fake has it Configuring too, unless the call is still on its way.
        if (shard.core.fleet.pendingOf(slot) !== 'none') continue;
        shard.fake.failMachine(id, 'the node never joined');
        this.burntCount++;
        await shard.virtual.runFor(0);
        shard.core.wake();
        await shard.virtual.runFor(200);
      }
    }
  }

  boundTo(cluster: string): number {
    return this.shard.core.fleet.configuredCount(cluster);
  }

  get reasons(): readonly string[] {
    const last = this.shard.cycles.at(-1) ?? assert.fail('no cycle');
    return [...last.answer.shortfalls.values()].map(({ reasonCode }) => reasonCode);
  }
}

test('three machines and one per pause, where it was every slot there is', async (t) => {
  const free = new Lab(t, ['broken'], false);
  await free.shard.demand('broken', 8);
  await free.runFor(10 * MINUTE_MS);
  assert.equal(free.burntCount, SLOTS, 'without the brake');
  const lab = new Lab(t, ['broken']);
  await lab.shard.demand('broken', 8);
  await lab.runFor(10 * MINUTE_MS);
  // Pauses of 1, 2 and 4 minutes are over, and a machine takes its time to fail.
  assert.ok(lab.burntCount >= 5 && lab.burntCount <= 6, `${lab.burntCount} burnt`);
  assert.deepEqual(lab.reasons, ['configure_failing']);
  assert.equal(lab.shard.core.load.queuedCount, 0);
});

test('a cluster beside it is served as if nothing were wrong', async (t) => {
  const lab = new Lab(t, ['broken']);
  await lab.shard.demand('broken', 8);
  await lab.shard.demand('blue', 20);
  await lab.runFor(2 * MINUTE_MS);
  assert.equal(lab.boundTo('blue'), 5);
  assert.deepEqual(lab.reasons, ['configure_failing']);
  await lab.shard.demand('green', 12);
  await lab.runFor(MINUTE_MS);
  assert.equal(lab.boundTo('green'), 3);
});

test('the first node that joins ends it, and the rest follows at once', async (t) => {
  const lab = new Lab(t, ['broken']);
  await lab.shard.demand('broken', 40);
  await lab.runFor(3 * MINUTE_MS);
  assert.equal(lab.boundTo('broken'), 0);
  lab.broken.clear();
  await lab.runFor(5 * MINUTE_MS);
  assert.equal(lab.boundTo('broken'), 10);
  assert.deepEqual(lab.reasons, []);
  assert.deepEqual([...(lab.brake?.needs() ?? [])], []);
});

test('an administrator need not wait for the probe', async (t) => {
  const lab = new Lab(t, ['broken']);
  await lab.shard.demand('broken', 8);
  await lab.runFor(8 * MINUTE_MS);
  lab.broken.clear();
  assert.equal(
    lab.brake?.clear(() => true),
    2,
  );
  lab.shard.core.wake();
  await lab.runFor(MINUTE_MS / 2);
  assert.equal(lab.boundTo('broken'), 2);
});
