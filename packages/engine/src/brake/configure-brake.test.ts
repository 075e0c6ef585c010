// Proves who is braked and for how long: three failures in a row, doubling pauses with one probe
// each, one success that clears, and that nobody is braked for what another cluster does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldOffKey } from '../model/cycle.ts';
import type { Machine } from '../model/machine.ts';
import { State } from '../model/state.ts';
import { machine, need, cores } from '../testing/build.ts';
import { machineTypeKey } from '../model/brakes.ts';
import { type BrakedNeed, type BrakedType, ConfigureBrake } from './configure-brake.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

class Lab {
  readonly told: string[] = [];
  readonly brake = new ConfigureBrake({
    onHeld: ({ subject, failureCount, pauseMs }) =>
      this.told.push(`${nameOf(subject)} held after ${failureCount} for ${pauseMs / MINUTE} min`),
    onCleared: ({ subject }, by) => this.told.push(`${nameOf(subject)} cleared: ${by}`),
  });
  nowMs = 0;
  #count = 0;
  readonly underWay = new Set<string>();

  /** A machine that is bought for the cluster's need and configured. */
  tries(cluster: string, type = 'small'): Machine {
    const serves = need({ cluster, wants: cores(1) });
    const id = `m${this.#count++}`;
    const slot = machine({ id, state: 'Speculative', type });
    this.brake.began(slot, { cluster, fingerprint: serves.profile.fingerprint }, this.nowMs);
    const configuring = machine({ id, state: 'Configuring', type, serves });
    this.brake.changed(configuring, State.Speculative, false, this.nowMs);
    this.underWay.add(id);
    return configuring;
  }

  ends(tried: Machine, state: 'Failed' | 'Configured' | 'Idle'): void {
    this.underWay.delete(tried.id);
    const { id, instanceType: type } = tried;
    const after =
      state === 'Configured'
        ? machine({ id, state, type, serves: need({ cluster: tried.cluster, wants: cores(1) }) })
        : machine({ id, state, type });
    this.brake.changed(after, State.Configuring, false, this.nowMs);
  }

  fails(cluster: string, type?: string): void {
    this.ends(this.tries(cluster, type), 'Failed');
  }

  /** Undefined is unlimited. */
  allowed(cluster: string): number | undefined {
    const { fingerprint } = need({ cluster, wants: cores(1) }).profile;
    return this.#brakes().needs.get(heldOffKey(cluster, fingerprint));
  }

  buyable(type: string): number | undefined {
    return this.#brakes().types.get(machineTypeKey('provider', type));
  }

  #brakes(): ReturnType<ConfigureBrake['brakes']> {
    return this.brake.brakes(this.nowMs, (id) => this.underWay.has(id));
  }
}

function nameOf(subject: BrakedNeed | BrakedType): string {
  return 'cluster' in subject ? subject.cluster : subject.instanceType;
}

test('no fourth machine is tried before one of three has joined', () => {
  const lab = new Lab();
  const first = lab.tries('a');
  const second = lab.tries('a');
  assert.equal(lab.allowed('a'), undefined, 'nothing failed: no limit');
  lab.ends(first, 'Failed');
  assert.equal(lab.allowed('a'), 1, 'one failed, one is under way');
  const third = lab.tries('a');
  assert.equal(lab.allowed('a'), 0);
  lab.ends(second, 'Failed');
  lab.ends(third, 'Failed');
  assert.equal(lab.allowed('a'), 0, 'held off');
});

test('pauses double from a minute to an hour, with one probe each', () => {
  const lab = new Lab();
  for (let strike = 0; strike < 3; strike++) lab.fails('a');
  for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
    lab.nowMs += minutes * MINUTE - 1;
    assert.equal(lab.allowed('a'), 0, `a pause of ${minutes} min`);
    lab.nowMs += 1;
    assert.equal(lab.allowed('a'), 1, `the probe after ${minutes} min`);
    const probe = lab.tries('a');
    assert.equal(lab.allowed('a'), 0, 'the probe is under way');
    lab.ends(probe, 'Failed');
  }
});

test('one machine that joins clears its need, whatever failed before', () => {
  for (const failures of [1, 2, 3, 7]) {
    const lab = new Lab();
    const joining = lab.tries('a');
    for (let strike = 0; strike < failures; strike++) lab.fails('a');
    lab.ends(joining, 'Configured');
    assert.equal(lab.allowed('a'), undefined, `${failures} failures`);
  }
});

test('failures of before a pause do not lengthen it', () => {
  const lab = new Lab();
  const burst = Array.from({ length: 10 }, () => lab.tries('a'));
  for (const tried of burst) lab.ends(tried, 'Failed');
  lab.nowMs += MINUTE;
  assert.equal(lab.allowed('a'), 1);
});

test('a try that ends without a verdict is no failure and may be repeated', () => {
  const lab = new Lab();
  lab.fails('a');
  lab.fails('a');
  lab.ends(lab.tries('a'), 'Idle');
  assert.equal(lab.allowed('a'), 1);
  // An order that was dropped from its queue moves no machine.
  lab.underWay.delete(lab.tries('a').id);
  assert.equal(lab.allowed('a'), 1);
});

test('a change that moves no machine says nothing', () => {
  const lab = new Lab();
  for (let strike = 0; strike < 3; strike++) lab.fails('a');
  lab.nowMs += MINUTE;
  const victim = machine({ id: 'v', state: 'Configured', cluster: 'b' });
  const { fingerprint } = need({ cluster: 'a', wants: cores(1) }).profile;
  lab.brake.began(victim, { cluster: 'a', fingerprint }, lab.nowMs);
  lab.underWay.add('v');
  lab.brake.changed(victim, State.Configured, false, lab.nowMs);
  assert.equal(lab.allowed('a'), 0, 'the machine that is to be drained for it is its probe');
});

test('a Create that fails is not a Configure', () => {
  const lab = new Lab();
  for (let strike = 0; strike < 5; strike++) {
    const { id } = lab.tries('a');
    lab.underWay.delete(id);
    lab.brake.changed(machine({ id, state: 'Failed' }), State.Creating, false, lab.nowMs);
  }
  assert.equal(lab.allowed('a'), undefined);
});

test('a need of another cluster or profile is another need', () => {
  const lab = new Lab();
  for (let strike = 0; strike < 3; strike++) lab.fails('a');
  assert.equal(lab.allowed('b'), undefined);
});

test('one broken cluster takes no type from the others; two do, until one machine joins', () => {
  const lab = new Lab();
  for (let strike = 0; strike < 3; strike++) lab.fails('a', 'gpu');
  lab.nowMs += MINUTE;
  lab.fails('a', 'gpu');
  assert.equal(lab.buyable('gpu'), undefined, 'the probes of a are no evidence');
  lab.fails('b', 'gpu');
  assert.equal(lab.buyable('gpu'), 0);
  assert.equal(lab.buyable('small'), undefined);
  lab.nowMs += MINUTE;
  assert.equal(lab.buyable('gpu'), 1);
  const probe = lab.tries('c', 'gpu');
  assert.equal(lab.buyable('gpu'), 0, 'the probe is under way');
  lab.nowMs += 10 * MINUTE;
  assert.equal(lab.buyable('gpu'), 0, 'still');
  lab.ends(probe, 'Configured');
  assert.equal(lab.buyable('gpu'), undefined);
});

test('a bought probe that nobody configures is one per pause', () => {
  const lab = new Lab();
  for (const cluster of ['a', 'b', 'c']) lab.fails(cluster, 'gpu');
  lab.nowMs += MINUTE;
  const probe = lab.tries('d', 'gpu');
  lab.ends(probe, 'Idle');
  assert.equal(lab.buyable('gpu'), 0);
  lab.nowMs += MINUTE;
  assert.equal(lab.buyable('gpu'), 1);
});

test('what is old is forgotten, but not while something is under way', () => {
  const lab = new Lab();
  lab.fails('a');
  for (let strike = 0; strike < 3; strike++) lab.fails('b');
  lab.fails('c');
  lab.tries('c');
  lab.nowMs += HOUR - 1;
  assert.deepEqual([lab.allowed('a'), lab.allowed('b'), lab.allowed('c')], [2, 1, 1]);
  lab.nowMs += 1 + MINUTE;
  assert.deepEqual(
    [lab.allowed('a'), lab.allowed('b'), lab.allowed('c')],
    [undefined, undefined, 1],
  );
});

test('an administrator clears what the selection names', () => {
  const lab = new Lab();
  for (const cluster of ['a', 'b']) for (let strike = 0; strike < 3; strike++) lab.fails(cluster);
  assert.equal(
    lab.brake.clear((subject) => 'cluster' in subject && subject.cluster === 'a'),
    1,
  );
  assert.deepEqual([lab.allowed('a'), lab.allowed('b')], [undefined, 0]);
  assert.equal(lab.buyable('small'), 0);
  assert.equal(
    lab.brake.clear(() => true),
    2,
  );
  assert.deepEqual([lab.allowed('b'), lab.buyable('small')], [undefined, undefined]);
});

test('the oldest of too many failing needs is forgotten', () => {
  const lab = new Lab();
  for (let at = 0; at <= 10_000; at++) lab.fails(`cluster-${at}`, `type-${at}`);
  assert.equal([...lab.brake.needs()].length, 10_000);
  assert.equal([...lab.brake.types()].length, 10_000);
  assert.equal(lab.allowed('cluster-0'), undefined);
  assert.equal(lab.allowed('cluster-10000'), 2);
});

test('told once per pause, and once when it is over, whoever ended it', () => {
  const lab = new Lab();
  lab.fails('a', 'gpu');
  lab.fails('a', 'gpu');
  lab.ends(lab.tries('a', 'gpu'), 'Configured');
  assert.deepEqual(lab.told, [], 'two failures hold nothing off');
  const burst = Array.from({ length: 5 }, () => lab.tries('a', 'gpu'));
  for (const tried of burst) lab.ends(tried, 'Failed');
  lab.nowMs += MINUTE;
  lab.fails('a', 'gpu');
  assert.deepEqual(lab.told.splice(0), ['a held after 3 for 1 min', 'a held after 6 for 2 min']);
  assert.deepEqual([lab.brake.heldNeedCount, lab.brake.heldTypeCount], [1, 0]);
  lab.fails('b', 'gpu');
  assert.deepEqual(lab.told.splice(0), ['gpu held after 4 for 1 min']);
  assert.deepEqual([lab.brake.heldNeedCount, lab.brake.heldTypeCount], [1, 1]);
  lab.ends(lab.tries('c', 'gpu'), 'Configured');
  assert.deepEqual(lab.told.splice(0), ['gpu cleared: joined']);
  lab.brake.clear(() => true);
  assert.deepEqual(lab.told.splice(0), ['a cleared: administrator']);
  for (let strike = 0; strike < 3; strike++) lab.fails('a');
  lab.nowMs += HOUR + MINUTE;
  assert.equal(lab.allowed('a'), undefined);
  assert.deepEqual(lab.told, ['a held after 3 for 1 min', 'a cleared: old']);
  assert.deepEqual([lab.brake.heldNeedCount, lab.brake.heldTypeCount], [0, 0]);
});
