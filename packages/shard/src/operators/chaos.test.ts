// Proves the session layer against random operators: they come, go, crash, stall, answer late, twice
// or for others. One seed is one history. Always: one session per cluster and it is open, the outbox
// gauge is the sum of the outboxes, a cluster's phantom machines are its own, every pull ends once, no drain fires twice, nothing breaks; and
// after a stop no timer is left.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Random } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { State } from '@bigfleet/engine';
import { NodeDrainOutcome, ReclaimPhase } from '@bigfleet/wire';
import { ALL, rollup, Stage } from './testing/stage.ts';
import { TestOperator } from '../session/testing/test-operator.ts';

const SEED_COUNT = 40;
const STEP_COUNT = 120;
const CLUSTERS = ['blue', 'green', 'red'];

class Chaos {
  readonly stage: Stage;
  readonly random: Random;
  /** Everybody who ever dialled: what the gone ones heard can still be repeated. */
  readonly all: TestOperator[] = [];
  pullCount = 0;
  endedCount = 0;
  drainCount = 0;
  #connections = 0;

  constructor(seed: string) {
    this.stage = new Stage(seed, { options: { maxSessions: 2 } });
    this.random = this.stage.time.runtime.random.stream('chaos');
    for (const cluster of CLUSTERS) {
      for (let i = 0; i < 30; i++) this.stage.machines.put(`${cluster}-${i}`, { cluster });
    }
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.random.below(Math.max(1, items.length))];
  }

  step(): void {
    const cluster = this.pick(CLUSTERS) ?? 'blue';
    const operator = this.pick(this.all.filter(({ ending }) => ending === undefined));
    switch (this.random.below(12)) {
      case 0:
      case 1:
        return this.connect(cluster);
      case 2:
        return operator?.leave();
      case 3:
        this.stage.network.apply({ kind: 'reset', a: 'shard', b: `host-${this.#connections}` });
        return;
      case 4:
        return this.random.below(2) === 0 ? operator?.stopReading() : operator?.resumeReading();
      case 5:
        return this.report(operator, cluster);
      case 6:
        return this.pull(cluster);
      case 7:
        return this.drain(cluster);
      case 8:
      case 9:
        return this.answer(operator);
      case 10:
        return this.change(cluster);
      default:
        return this.identify(operator, cluster);
    }
  }

  connect(cluster: string): void {
    this.#connections++;
    const extensions = this.random.below(3) === 0 ? [] : ALL;
    const channel = this.stage.channel(`host-${this.#connections}`);
    this.all.push(new TestOperator(channel).hello(cluster, extensions));
  }

  report(operator: TestOperator | undefined, clusterId: string): void {
    const needCount = this.random.below(4);
    operator?.send({ case: 'rollup', value: rollup({ clusterId, needCount }) });
  }

  pull(cluster: string): void {
    this.pullCount++;
    const { signal } = new AbortController();
    const fingerprint = `f${this.random.below(3)}`;
    const pull = { cluster, machineId: 'm', fingerprint, requirements: [], signal };
    this.stage.operators.bootstrap.pull(pull).then(
      () => this.endedCount++,
      (error: unknown) => this.stage.bugs.push(error),
    );
  }

  drain(cluster: string): void {
    const { drains } = this.stage.operators;
    const machineId = `${cluster}-${this.random.below(5)}`;
    if (!drains.isWaiting(machineId)) this.drainCount++;
    drains.begin({
      kind: 'Reclaim',
      machineId,
      cluster,
      graceSeconds: 1 + this.random.below(90),
      preemptorPriority: 0,
      reasonCode: 'phase3.excess',
    });
  }

  /** To its own requests, or with what it overheard from another cluster. */
  answer(operator: TestOperator | undefined): void {
    const heard = this.random.below(2) === 0 ? this.pick(this.all) : operator;
    const request = heard?.all('bootstrapRequest').at(-1);
    const error = this.random.below(3) === 0 ? 'no' : '';
    if (request !== undefined) {
      const { requestId } = request;
      operator?.send({ case: 'bootstrapResponse', value: { requestId, error } });
    }
    const instruction = heard?.all('reclaimInstruction').at(-1);
    if (instruction === undefined) return;
    const { instructionId, machineIds } = instruction;
    const results = machineIds.map((machineId) => ({ machineId, outcome: NodeDrainOutcome.EMPTY }));
    const phase = this.random.below(2) === 0 ? ReclaimPhase.STARTED : ReclaimPhase.FINISHED;
    operator?.send({ case: 'reclaimAck', value: { instructionId, phase, results } });
  }

  change(cluster: string): void {
    const id = `${cluster}-${this.random.below(30)}`;
    const state = this.random.below(2) === 0 ? State.Draining : State.Configured;
    this.stage.operators.nodeStates.changed(this.stage.machines.move(id, state, cluster), cluster);
  }

  identify(operator: TestOperator | undefined, cluster: string): void {
    const nodes = [{ machineId: `${cluster}-1`, nodeName: `node-${this.random.below(9)}` }];
    // Its own machines, another cluster's, nobody's, nothing, and once in a while too many.
    const count = this.random.below(20) === 0 ? 2_001 : this.random.below(5);
    const phantomMachineIds = Array.from({ length: count }, () => {
      const owner = this.pick([...CLUSTERS, 'nobody', '']) ?? '';
      return owner === '' ? '' : `${owner}-${this.random.below(30)}`;
    });
    operator?.send({
      case: 'nodeIdentity',
      value: { nodes, complete: this.random.below(2) === 0, phantomMachineIds },
    });
  }

  async check(): Promise<void> {
    // A reset is noticed in microtasks; the values below are read one after another.
    await drainMicrotasks();
    const { operators } = this.stage;
    const sessions = Array.from(operators.sessions.all());
    assert.ok(sessions.length <= 2);
    assert.ok(sessions.every((session) => session.isOpen));
    assert.equal(new Set(sessions.map(({ cluster }) => cluster)).size, sessions.length);
    const waiting = sessions.reduce((sum, session) => sum + session.outboxFrameCount, 0);
    assert.equal(await this.stage.metric('outbox_frames'), waiting);
    assert.equal(await this.stage.metric('active_sessions'), sessions.length);
    for (const { session, phantomMachineIds } of operators.summaries()) {
      for (const id of phantomMachineIds()) {
        assert.ok(this.stage.machines.isBoundTo(id, session.cluster), `${session.cluster} ${id}`);
        shownPhantomCount++;
      }
    }
    assert.ok(this.stage.fired.length <= this.drainCount);
    this.stage.assertNoBugs();
  }
}

/** Summed over all seeds: what happened at all. */
const totals = new Map<string, number>();
let shownPhantomCount = 0;
const MUST_HAPPEN: readonly [string, string][] = [
  ['session_lifecycle_total', 'event="replaced"'],
  ['session_lifecycle_total', 'event="removed"'],
  ['bootstrap_reissued_total', ''],
  ['session_frames_dropped_total', 'reason="foreign_bootstrap_response"'],
  ['session_frames_dropped_total', 'reason="foreign_reclaim_ack"'],
  ['session_frames_dropped_total', 'reason="foreign_node_identity"'],
  ['session_frames_dropped_total', 'reason="oversized_node_identity"'],
  ['drain_operator_outcomes_total', 'outcome="empty"'],
  ['drain_operator_outcomes_total', 'outcome="grace_expired"'],
  ['drain_operator_outcomes_total', 'outcome="no_session"'],
  ['rollups_total', 'outcome="applied"'],
  ['rollups_total', 'outcome="unchanged"'],
  ['rollups_total', 'outcome="rejected"'],
];

async function addTotals(stage: Stage): Promise<void> {
  for (const [name, labels] of MUST_HAPPEN) {
    const key = `${name} ${labels}`;
    totals.set(key, (totals.get(key) ?? 0) + (await stage.metric(name, labels)));
  }
}

for (let seed = 0; seed < SEED_COUNT; seed++) {
  test(`seed ${seed}`, async () => {
    const chaos = new Chaos(`chaos-${seed}`);
    for (let step = 0; step < STEP_COUNT; step++) {
      chaos.step();
      if (chaos.random.below(3) > 0) await chaos.stage.time.runFor(chaos.random.below(4_000));
      if (step % 10 === 0) await chaos.check();
    }
    await chaos.stage.time.runFor(120_000);
    await chaos.check();
    assert.equal(chaos.endedCount, chaos.pullCount, 'every pull ends');
    assert.equal(chaos.stage.operators.drains.size, 0, 'every grace runs out');
    await addTotals(chaos.stage);
    chaos.stage.operators.stop();
    chaos.stage.network.close();
    await chaos.stage.time.runFor(0);
    assert.equal(chaos.stage.time.pendingTimers, 0);
    assert.equal(await chaos.stage.metric('outbox_frames'), 0);
    chaos.stage.assertNoBugs();
  });
}

test('the seeds were wild enough to prove something', () => {
  for (const [event, count] of totals) assert.ok(count > 0, `${event} never happened`);
  assert.equal(totals.size, MUST_HAPPEN.length);
  assert.ok(shownPhantomCount > 0, 'no phantom machine was ever shown');
});
