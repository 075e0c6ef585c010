// Proves the closed loop on small worlds whose answer is known by hand, that it gives back a recording it
// should give back, and that without a change both sides are the same bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { CapacityType } from '../model/capacity-type.ts';
import { State } from '../model/state.ts';
import { cores, machine, machines, need } from '../testing/build.ts';
import { randomFleet } from '../testing/generate.ts';
import type { WhatIfAnswer } from './answer.ts';
import { type Change, parseChange } from './change.ts';
import { describeWhatIf } from './describe.ts';
import type { RecordedTrace } from './recording.ts';
import { CYCLE_MS, RecordedWorld, type Script, tracesOf } from './testing/recorded-world.ts';
import { whatIf, type WhatIfOptions } from './what-if.ts';

const SERVICE = 1_000;
const HOUR = 3_600_000;

function changes(...texts: readonly string[]): Change[] {
  return texts.map((text) => {
    const change = parseChange(text);
    assert.ok(change.ok, `${text}: ${change.ok ? '' : change.error}`);
    return change.value;
  });
}

async function answerOf(
  traces: readonly RecordedTrace[],
  texts: readonly string[] = [],
  options: WhatIfOptions = {},
): Promise<WhatIfAnswer> {
  const answer = await whatIf(traces, changes(...texts), options);
  assert.ok(answer.ok, answer.ok ? '' : answer.error.text);
  return answer.value;
}

const serviceNeed = (count: number, init: Partial<Parameters<typeof need>[0]> = {}) =>
  need({ wants: cores(count), unit: cores(1), priority: SERVICE, ...init });

/** Four machines bound in z1, as many that could be bought in z2 and z1 at two dollars. */
function twoZones(cycleCount = 91): RecordedTrace[] {
  const served = serviceNeed(4);
  const world = new RecordedWorld({
    machines: [
      ...machines(4, 'bound', { state: 'Configured', serves: served, zone: 'z1' }),
      ...machines(2, 'near', { state: 'Speculative', zone: 'z1', price: 2 }),
      ...machines(6, 'far', { state: 'Speculative', zone: 'z2', price: 2 }),
    ],
  });
  world.run(cycleCount, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
  });
  return tracesOf(world.close());
}

test('a lost zone: exactly its machines are gone, and bought again elsewhere', async () => {
  const { changed, baseline } = await answerOf(twoZones(), ['lose-zone=z1@5m']);
  assert.equal(baseline.churn.removedCount, 0);
  assert.deepEqual(baseline.churn.actionsByKind, {
    Bootstrap: 0,
    Provision: 0,
    Reclaim: 0,
    Preempt: 0,
    Delete: 0,
  });
  assert.equal(changed.churn.removedCount, 6);
  assert.equal(changed.churn.actionsByKind['Provision'], 4);
  assert.equal(changed.churn.actionsByKind['Bootstrap'], 4);
  // $4/h for 5 min; nothing while four machines are created (2 min, no create was ever seen); then $8/h.
  const { dollars } = changed.money;
  assert.equal(baseline.money.dollars, 4 * ((90 * CYCLE_MS) / HOUR));
  assert.equal(dollars, roundedMicros(4 * (300_000 / HOUR) + 8 * ((900_000 - 420_000) / HOUR)));
  const bound = changed.series.boundCount;
  assert.deepEqual([bound[0], bound[29], bound[30], bound[89]], [4, 4, 0, 4]);
});

test('a lost zone with nothing elsewhere breaks when the time is up, with the need and the reason', async () => {
  const served = serviceNeed(2);
  const world = new RecordedWorld({
    machines: [
      ...machines(2, 'bound', { state: 'Configured', serves: served, zone: 'z1' }),
      machine({ id: 'small', state: 'Speculative', zone: 'z2', has: new Map([['memory', 1]]) }),
    ],
  });
  world.run(61, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
  });
  const options = { breakAfterMs: 60_000 };
  const { breaks, changed } = await answerOf(tracesOf(world.close()), ['lose-zone=z1@2m'], options);
  assert.deepEqual(breaks, [
    {
      tier: 'service',
      atMs: 180_000,
      unmetSinceMs: 120_000,
      cluster: 'a',
      fingerprint: served.profile.fingerprint,
      reasonCode: 'min_unit_too_large',
    },
  ]);
  const { service, critical } = changed.shortfalls;
  assert.deepEqual(service, { unmetSeconds: 480, rowCount: 1, longestMs: 480_000 });
  assert.deepEqual(critical, { unmetSeconds: 0, rowCount: 0, longestMs: 0 });
});

test('a price × 1.4 raises the bill by exactly that on machines that are kept', async () => {
  const { baseline, changed } = await answerOf(twoZones(), ['price:standard=×1.4']);
  assert.equal(changed.money.dollars, roundedMicros(baseline.money.dollars * 1.4));
  assert.equal(changed.money.highestPerHour, 5.6);
  assert.deepEqual(changed.churn, baseline.churn);
});

test('a dearer type is passed over for a cheaper one', async () => {
  const world = new RecordedWorld({
    machines: [
      ...machines(3, 'cheap', { state: 'Speculative', type: 'cheap', price: 1 }),
      ...machines(3, 'other', { state: 'Speculative', type: 'other', price: 2 }),
    ],
  });
  world.run(31, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [serviceNeed(3)]);
  });
  const traces = tracesOf(world.close());
  const { baseline, changed, differences, fidelity } = await answerOf(traces, ['price:cheap=3']);
  assert.equal(baseline.money.highestPerHour, 3);
  assert.equal(changed.money.highestPerHour, 6);
  assert.equal(differences[0]?.cycle, 1);
  assert.match(differences[0]?.onlyBaseline[0] ?? '', /^Provision "cheap1"/);
  assert.match(differences[0]?.onlyChanged[0] ?? '', /^Provision "other1"/);
  assert.deepEqual([fidelity.boundDistance, fidelity.dollarsPerHourDistance], [0, 0]);
});

test('without its reserved machines the service tier breaks from the start', async () => {
  const served = serviceNeed(5);
  const world = new RecordedWorld({
    machines: machines(5, 'own', {
      state: 'Configured',
      serves: served,
      capacityType: CapacityType.Reserved,
    }),
  });
  world.run(61, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
  });
  const traces = tracesOf(world.close());
  const none = await answerOf(traces, ['reserved=-100%']);
  assert.deepEqual(
    none.breaks.map(({ tier, atMs, reasonCode }) => [tier, atMs, reasonCode]),
    [['service', 300_000, 'no_matching_supply']],
  );
  assert.equal(none.changed.money.dollars, 0);
  assert.equal(none.changed.churn.removedCount, 5);
  for (const [text, removedCount] of [
    ['reserved=-40%', 2],
    ['reserved=-3', 3],
    ['reserved=-99', 5],
  ] as const) {
    const fewer = await answerOf(traces, [text]);
    assert.equal(fewer.changed.churn.removedCount, removedCount, text);
    assert.equal(fewer.changed.money.highestPerHour, 5 - removedCount, text);
  }
  const more = await answerOf(traces, ['reserved=+40%']);
  assert.equal(more.changed.money.highestPerHour, 7, 'two more stand idle and are paid for');
  assert.deepEqual(more.breaks, []);
});

test('more clusters: copies of recorded ones, a few cycles behind, served like them', async () => {
  const world = new RecordedWorld({ machines: machines(12, 'm', { state: 'Speculative' }) });
  world.run(100, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [serviceNeed(1)]);
    if (cycle === 1) self.rollup('b', [serviceNeed(1, { cluster: 'b' })]);
  });
  const traces = tracesOf(world.close());
  const { baseline, changed } = await answerOf(traces, ['clusters=+3']);
  assert.equal(baseline.churn.actionsByKind['Bootstrap'], 2);
  assert.equal(changed.churn.actionsByKind['Bootstrap'], 5);
  assert.equal(changed.series.boundCount.at(-1), 5);
  const other = await answerOf(traces, ['clusters=+3'], { seed: 'other' });
  assert.notDeepEqual(other.changed.series, changed.series, 'the shift comes from the seed');
});

test('demand × 1.5 is rounded up to units; × 0 is none', async () => {
  const world = new RecordedWorld({ machines: machines(9, 'm', { state: 'Speculative' }) });
  world.run(60, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [serviceNeed(3)]);
    if (cycle === 0) self.rollup('b', [serviceNeed(1, { cluster: 'b' })]);
  });
  const traces = tracesOf(world.close());
  const bought = async (...texts: string[]): Promise<number | undefined> =>
    (await answerOf(traces, texts)).changed.churn.actionsByKind['Provision'];
  assert.equal(await bought('demand=×1.5'), 5 + 2);
  assert.equal(await bought('demand:a=×2'), 6 + 1);
  assert.equal(await bought('demand:b=×0.1'), 3 + 1);
  assert.equal(await bought('demand=×0'), 0);
});

test('a shorter hold releases earlier', async () => {
  const served = serviceNeed(2);
  const world = new RecordedWorld({
    machines: machines(2, 'm', { state: 'Configured', serves: served }),
  });
  world.run(90, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
    if (cycle === 1) self.rollup('a', []);
  });
  const traces = tracesOf(world.close());
  const { baseline, changed } = await answerOf(traces, ['on-demand-hold=1m']);
  assert.equal(changed.churn.actionsByKind['Delete'], 2);
  assert.ok(changed.money.dollars < baseline.money.dollars);
});

test('quota of a provider bounds what the loop buys, as it bounded the recorded run', async () => {
  const world = new RecordedWorld({
    machines: machines(9, 'm', { state: 'Speculative' }),
    quota: new Map([['provider', 2]]),
  });
  world.run(60, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [serviceNeed(1)]);
  });
  const { changed, breaks } = await answerOf(tracesOf(world.close()), ['demand=×4']);
  assert.equal(changed.churn.actionsByKind['Provision'], 2);
  assert.equal(breaks[0]?.reasonCode, 'quota_exhausted');
});

test('a host that the recording loses is lost in the loop, and a mended slot can be bought again', async () => {
  const served = serviceNeed(1);
  const world = new RecordedWorld({
    machines: [machine({ id: 'm', state: 'Configured', serves: served })],
  });
  world.run(60, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
    if (cycle === 6) {
      const lost = { state: State.Failed, host: undefined, lastError: 'host lost: gone' };
      self.engine.inventory.remove('m');
      self.put({ ...machine({ id: 'm', state: 'Failed' }), ...lost });
    }
    if (cycle === 12) self.put(machine({ id: 'm', state: 'Speculative' }));
  });
  const { baseline, fidelity } = await answerOf(tracesOf(world.close()));
  assert.equal(fidelity.boundDistance, 0);
  assert.equal(fidelity.skippedEventCount, 0);
  assert.equal(baseline.churn.actionsByKind['Provision'], 1);
  assert.equal(baseline.shortfalls.service.unmetSeconds, 60);
});

test('a price that moves in the recording moves in the loop, times the factor', async () => {
  const served = serviceNeed(1);
  const world = new RecordedWorld({
    machines: [machine({ id: 'm', state: 'Configured', serves: served, price: 1 })],
  });
  world.run(61, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
    if (cycle === 30) self.put({ ...self.read('m'), pricePerHour: 3 });
  });
  const { baseline, changed } = await answerOf(tracesOf(world.close()), ['price:on-demand=×2']);
  assert.equal(baseline.money.dollars, roundedMicros((1 + 3) * (300_000 / HOUR)));
  assert.equal(changed.money.dollars, roundedMicros(baseline.money.dollars * 2));
  assert.equal(changed.money.medianPerHour, 2);
});

/** Random machines and demand, decided and carried out as a shard would, without faults. */
function randomTrace(seed: string, cycleCount: number): Uint8Array {
  const random = createRandom(seed);
  const { machines: all } = randomFleet(random.stream('fleet'), { maxMachines: 30 });
  const stable = all
    .filter(({ state }) => state === State.Idle || state === State.Speculative)
    .map((each) => ({ ...each, provider: 'provider', withheld: undefined }));
  const script: Script = (self, cycle) => {
    if (cycle % 4 !== 0) return;
    const { needs } = randomFleet(random.stream(`demand-${cycle}`), { maxNeeds: 8 });
    for (const [cluster, rows] of Map.groupBy(needs, (row) => row.cluster)) {
      self.rollup(cluster, random.below(5) === 0 ? [] : rows);
    }
  };
  return new RecordedWorld({ machines: stable }).run(cycleCount, script).close();
}

test('a recorded run without faults comes out of the model as it was', async () => {
  let acted = 0;
  for (let seed = 1; seed <= 30; seed++) {
    const { fidelity, baseline } = await answerOf(tracesOf(randomTrace(`same ${seed}`, 60)));
    assert.equal(fidelity.boundDistance, 0, `seed ${seed}`);
    assert.equal(fidelity.dollarsPerHourDistance, 0, `seed ${seed}`);
    assert.deepEqual(fidelity.baseline, fidelity.recorded, `seed ${seed}`);
    acted += Object.values(baseline.churn.actionsByKind).reduce((sum, count) => sum + count, 0);
  }
  assert.ok(acted > 200, `only ${acted} actions`);
});

test('without a change both sides are the same bytes, and a second run gives them again', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const traces = tracesOf(randomTrace(`identity ${seed}`, 40));
    const answer = await answerOf(traces);
    assert.equal(JSON.stringify(answer.changed), JSON.stringify(answer.baseline));
    assert.deepEqual([answer.differingCycleCount, answer.differences, answer.breaks], [0, [], []]);
    const texts = ['clusters=+2', 'demand=×1.3', 'price:spot=×1.4', 'spot=-50%'];
    const known = await whatIf(traces, changes(...texts));
    const again = await whatIf(traces, changes(...texts));
    assert.equal(JSON.stringify(again), JSON.stringify(known), `seed ${seed}`);
  }
});

test('a recording in several traces is one recording', async () => {
  const served = serviceNeed(2);
  const run = (): RecordedWorld =>
    new RecordedWorld({ machines: machines(4, 'm', { state: 'Speculative' }) });
  const script: Script = (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
    if (cycle === 40) self.rollup('a', [serviceNeed(1)]);
  };
  const whole = await answerOf(tracesOf(run().run(80, script).close()), ['price:standard=2']);
  const parts = run().run(30, script);
  const chunks: Uint8Array[] = [];
  const first = parts.flush();
  parts.engine.rotate((bytes) => void chunks.push(bytes));
  parts.run(50, (self, cycle) => script(self, cycle + 30));
  parts.engine.close();
  const second = Buffer.concat(chunks);
  const both = await answerOf(tracesOf(first, second), ['price:standard=2']);
  assert.deepEqual({ ...both, traces: [] }, { ...whole, traces: [] });
  assert.deepEqual(
    both.traces.map(({ cycleCount }) => cycleCount),
    [30, 50],
  );
});

test('a restarted shard has another clock and no memory: the loop goes on', async () => {
  const served = serviceNeed(2);
  const before = new RecordedWorld({
    machines: machines(2, 'm', { state: 'Configured', serves: served }),
    startMs: 5_000_000,
  });
  before.run(31, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [served]);
  });
  const after = new RecordedWorld({ startMs: 1_000 });
  after.run(30, (self, cycle) => {
    if (cycle === 1) {
      for (const each of machines(2, 'm', { state: 'Configured', serves: served })) self.put(each);
    }
    if (cycle === 2) self.rollup('a', [served]);
  });
  const traces = tracesOf(['1', before.close()], ['2', after.close()]);
  const { baseline, durationMs, cycleCount } = await answerOf(traces);
  assert.deepEqual([cycleCount, durationMs], [61, 60 * CYCLE_MS]);
  assert.equal(
    baseline.series.boundCount.every((bound) => bound === 2),
    true,
  );
  assert.equal(baseline.churn.removedCount, 0);
});

test('a machine that a restarted shard never lists again is gone after ten minutes', async () => {
  const before = new RecordedWorld({ machines: machines(2, 'm', { state: 'Idle' }) });
  const after = new RecordedWorld({ startMs: 1_000 });
  after.run(80, (self, cycle) => {
    if (cycle === 1)
      self.put(machine({ id: 'm1', state: 'Idle', capacityType: CapacityType.Reserved }));
  });
  const traces = tracesOf(['1', before.run(2).close()], ['2', after.close()]);
  const { baseline } = await answerOf(traces, ['on-demand-hold=0']);
  assert.equal(baseline.series.dollarsPerHour.at(-1), 1);
});

test('what the recording does not have is refused before anything is run', async () => {
  const traces = twoZones(2);
  for (const [text, problem] of [
    ['lose-zone=z9', /lose-zone=z9: the recording has no machine in zone "z9"/],
    ['price:m9=×2', /no machine of type "m9"/],
    ['price:spot=×2', /no spot machine/],
    ['interruption:m9=0.5', /no machine of type "m9"/],
    ['reserved=-20%', /no reserved machine/],
    ['demand:zz=×2', /no demand of a cluster "zz"/],
  ] as const) {
    const refused = await whatIf(traces, changes(text));
    assert.ok(!refused.ok, text);
    assert.equal(refused.error.code, 'unknown_subject');
    assert.match(refused.error.text, problem);
  }
  const empty = await whatIf([], changes('demand=×2'));
  assert.deepEqual(empty.ok ? '' : empty.error.code, 'no_trace');
  const quiet = await whatIf(tracesOf(new RecordedWorld({}).close()), changes('demand=×2'));
  assert.deepEqual(quiet.ok ? '' : quiet.error.code, 'no_cycle');
});

test('an interruption that becomes likelier is expected more often, and avoided where it matters', async () => {
  const world = new RecordedWorld({
    machines: [
      ...machines(1, 'spot', {
        state: 'Speculative',
        type: 'risky',
        capacityType: CapacityType.Spot,
        probability: 0.01,
        price: 1,
      }),
      ...machines(1, 'safe', { state: 'Speculative', price: 1.5 }),
    ],
  });
  world.run(30, (self, cycle) => {
    if (cycle === 0) self.rollup('a', [serviceNeed(1, { interruption: 1 })]);
  });
  const traces = tracesOf(world.close());
  const { baseline, changed } = await answerOf(traces, ['interruption:risky=×80']);
  assert.ok(baseline.expectedInterruptions > 0);
  assert.equal(changed.expectedInterruptions, 0);
  assert.equal(changed.money.highestPerHour, 1.5);
});

test('a signal ends it with its reason, and progress tells both passes', async () => {
  const traces = twoZones(200);
  const passes = new Set<string>();
  let last = 0;
  await answerOf(traces, [], {
    onProgress: ({ pass, cycleCount }) => {
      passes.add(pass);
      last = cycleCount;
    },
  });
  assert.deepEqual([[...passes], last], [['measure', 'run'], 192]);
  const stop = new AbortController();
  const reason = new Error('enough');
  const running = whatIf(traces, [], {
    signal: stop.signal,
    breathe: async () => stop.abort(reason),
  });
  await assert.rejects(running, reason);
});

test('words say what was asked, how the model was made, and both sides', async () => {
  const answer = await answerOf(twoZones(), ['lose-zone=z1@5m']);
  const words = describeWhatIf(answer);
  assert.match(
    words,
    /^what if: lose-zone=z1@5m \(seed 1\)\nrecorded: 15m, 91 cycles in 1 trace\n/,
  );
  assert.match(words, /\n {2}create at provider: 2m \(assumed\)\n/);
  assert.match(words, /\n {2}bound machines 4 against 4, apart by 0\n/);
  assert.match(words, /\nactions Provision +0 +4 +\+4\n/);
  assert.match(words, /\nbreaks: no tier above batch is unmet for 5m where the baseline is not\n/);
  assert.doesNotMatch(words, /Reclaim/, 'lines of zeroes are left out');
});

function roundedMicros(dollars: number): number {
  return Math.floor(dollars * 1e6 + 1e-6) / 1e6;
}
