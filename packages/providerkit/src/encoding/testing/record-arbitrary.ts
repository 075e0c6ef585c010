// Random records inside the contract's grid, hostile strings included.

import fc from 'fast-check';
import type { CapacityTypeName, MachineRecord, MachineStateName } from '../../model/machine.ts';

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('__proto__', 'constructor', '\0', '\u0085', '😀', ' trailing ', ''),
);
const name = hostile.map((text) => `n${text}`);
const map = fc.array(fc.tuple(hostile, hostile), { maxLength: 5 }).map((pairs) => new Map(pairs));

const states: readonly MachineStateName[] = [
  'Speculative',
  'Creating',
  'Idle',
  'Configuring',
  'Configured',
  'Draining',
  'Deleting',
  'Failed',
];
const capacityTypes: readonly CapacityTypeName[] = ['BareMetal', 'Reserved', 'OnDemand', 'Spot'];

export const recordArbitrary: fc.Arbitrary<MachineRecord> = fc
  .record({
    id: name,
    state: fc.constantFrom(...states),
    host: fc.record({ provider: name, ref: name }),
    instanceType: name,
    zone: hostile,
    capacityType: fc.constantFrom(...capacityTypes),
    pricePerHour: fc.double({ min: 0, max: 1e9, noNaN: true }),
    interruptionProbability: fc.double({ min: 0.001, max: 1, noNaN: true }),
    observedProbability: fc.option(fc.constantFrom(0.5, 0.99), { nil: undefined }),
    resources: map,
    allocatable: fc.option(map, { nil: undefined }),
    labels: map,
    lastError: name,
    cluster: name,
    shardMetadata: map,
  })
  .map(({ host, observedProbability, allocatable, ...record }) => {
    const hasHost = !['Speculative', 'Creating'].includes(record.state);
    const isBound = ['Configuring', 'Configured', 'Draining', 'Failed'].includes(record.state);
    return {
      ...record,
      ...(hasHost ? { host } : {}),
      ...(observedProbability === undefined ? {} : { observedProbability }),
      ...(allocatable === undefined ? {} : { allocatable }),
      lastError: record.state === 'Failed' ? record.lastError : '',
      cluster: isBound ? record.cluster : '',
      shardMetadata: isBound ? record.shardMetadata : new Map<string, string>(),
      modifiedRevision: 0,
    };
  });
