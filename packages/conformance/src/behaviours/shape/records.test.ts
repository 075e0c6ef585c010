// Proves that each rule on a single record refuses what the contract refuses, and names it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MachineView } from '../../harness/machine.ts';
import { machineView } from '../../harness/testing/scripted.ts';
import {
  costFinding,
  densityFinding,
  hostAndClusterFinding,
  identityFinding,
  placementFinding,
} from './records.ts';

const host = { provider: 'p', ref: 'r' };
type Case = readonly [Partial<MachineView>, RegExp | undefined];

function judge(
  finding: (machine: MachineView) => string | undefined,
  cases: readonly Case[],
): void {
  for (const [changes, expected] of cases) {
    const found = finding(machineView(changes));
    if (expected === undefined) assert.equal(found, undefined);
    else assert.match(found ?? 'no finding', expected);
  }
}

test('identity and leaked labels', () => {
  judge(identityFinding, [
    [{}, undefined],
    [{ id: '' }, /no id/],
    [{ state: 'UNSPECIFIED' }, /m-1: state is UNSPECIFIED/],
    [{ state: 'UNRECOGNISED' }, /UNRECOGNISED/],
    [{ instanceType: '' }, /instance_type is empty/],
    [{ labels: new Map([['pool', 'a']]) }, undefined],
    ...['instance-type', 'instance_type', 'instanceType', 'zone', 'availability-zone'].map(leak),
    ...['availability_zone', 'capacity-type', 'capacity_type', 'capacityType'].map(leak),
  ]);
});

function leak(label: string): Case {
  return [{ labels: new Map([[label, 'x']]) }, new RegExp(`label ${label} repeats`)];
}

test('cost bounds', () => {
  judge(costFinding, [
    [{ pricePerHour: 0 }, undefined],
    [{ pricePerHour: -0.01 }, /price_per_hour is -0.01/],
    [{ pricePerHour: Number.NaN }, /price_per_hour is NaN/],
    [{ pricePerHour: Number.POSITIVE_INFINITY }, /price_per_hour is Infinity/],
    [{ interruptionProbability: 1 }, undefined],
    [{ interruptionProbability: 1.01 }, /interruption_probability is 1.01/],
    [{ interruptionProbability: Number.NaN }, /interruption_probability is NaN/],
    [{ interruptionProbability: -0.1 }, /interruption_probability/],
    [{ capacityType: 'SPOT', interruptionProbability: 0 }, /SPOT machine is 0/],
    [{ capacityType: 'SPOT', interruptionProbability: 0.05 }, undefined],
  ]);
});

test('host and cluster by state', () => {
  judge(hostAndClusterFinding, [
    [{ state: 'SPECULATIVE' }, undefined],
    [{ state: 'SPECULATIVE', host }, /has a host/],
    [{ state: 'SPECULATIVE', cluster: 'c' }, /cluster is "c"/],
    [{ state: 'IDLE', host }, undefined],
    [{ state: 'IDLE' }, /has no host/],
    [{ state: 'IDLE', host, cluster: 'c' }, /cluster is "c"/],
    [{ state: 'CONFIGURED', host, cluster: 'c' }, undefined],
    [{ state: 'CONFIGURED', host }, /cluster is ""/],
    [{ state: 'CONFIGURED', cluster: 'c' }, /has no host/],
    [{ state: 'FAILED' }, undefined],
  ]);
});

test('placement', () => {
  judge(placementFinding, [
    [{}, undefined],
    [{ zone: '' }, /zone is empty/],
    [{ capacityType: 'UNSPECIFIED' }, /capacity_type is UNSPECIFIED/],
    [{ capacityType: 'UNRECOGNISED' }, /capacity_type is UNRECOGNISED/],
  ]);
});

test('density: every shared dimension parses, resources above zero, allocatable not below', () => {
  const shape = (resources: string, allocatable: string): Partial<MachineView> => ({
    resources: new Map([['cpu', resources]]),
    allocatable: new Map([['cpu', allocatable]]),
  });
  judge(densityFinding, [
    ...['1', '500m', '2k', '3M', '4G', '5Ki', '6Mi', '7Gi', '1.5'].map(
      (text): Case => [shape(text, text), undefined],
    ),
    [shape('1', '0'), undefined],
    [shape('0', '1'), /cpu is "0", expected above 0/],
    [shape('-1', '1'), /cpu is "-1", expected above 0/],
    [shape('1', '-1'), /cpu is "-1", expected not negative/],
    [shape('four', '1'), /cpu is "four", which is no quantity/],
    [shape('1', '16GiB'), /cpu is "16GiB", which is no quantity/],
    [shape('', '1'), /which is no quantity/],
    [{ resources: undefined }, undefined],
    [{ allocatable: undefined }, undefined],
    [{ resources: new Map([['gpu', 'odd']]) }, undefined],
  ]);
});
