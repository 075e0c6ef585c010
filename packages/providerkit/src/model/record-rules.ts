// The shape that every emitted record has (provider-contract §3 and §8). The kit asserts it before a record
// is stored: a shard refuses a record outside this grid and keeps what it knew, so a violation
// would hide a machine instead of failing loudly. Input of backends is checked by instance-rules;
// what reaches this file wrong is a bug of the kit.

import type { MachineRecord, MachineStateName } from './machine.ts';

type Presence = 'set' | 'empty' | 'any';

const grid: Readonly<
  Record<MachineStateName, { readonly host: Presence; readonly cluster: Presence }>
> = {
  Speculative: { host: 'empty', cluster: 'empty' },
  Creating: { host: 'empty', cluster: 'empty' },
  Idle: { host: 'set', cluster: 'empty' },
  Configuring: { host: 'set', cluster: 'set' },
  Configured: { host: 'set', cluster: 'set' },
  Draining: { host: 'set', cluster: 'set' },
  Deleting: { host: 'set', cluster: 'empty' },
  Failed: { host: 'any', cluster: 'any' },
};

/** Undefined when the record may be emitted, otherwise the rule that it breaks. */
export function recordProblem(record: MachineRecord): string | undefined {
  const cell = grid[record.state];
  const { host } = record;
  if (host !== undefined && (host.provider === '' || host.ref === '')) return 'half a host';
  if (!matches(cell.host, host !== undefined)) return `host must be ${cell.host}`;
  if (!matches(cell.cluster, record.cluster !== '')) return `cluster must be ${cell.cluster}`;
  if (record.cluster === '' && record.shardMetadata.size > 0) return 'metadata without binding';
  if ((record.lastError !== '') !== (record.state === 'Failed')) return 'last_error iff Failed';
  if (record.id === '' || record.instanceType === '') return 'id or instance_type is empty';
  return costProblem(record);
}

function matches(wanted: Presence, isSet: boolean): boolean {
  return wanted === 'any' || (wanted === 'set') === isSet;
}

type CostFields = Pick<MachineRecord, 'capacityType' | 'pricePerHour' | 'interruptionProbability'>;

/** A bad number here poisons the ranking of the whole fleet. */
export function costProblem(fields: CostFields): string | undefined {
  const { pricePerHour: price, interruptionProbability: probability } = fields;
  if (!Number.isFinite(price) || price < 0) return 'price_per_hour must be finite and not negative';
  if (!(probability >= 0 && probability <= 1)) return 'interruption_probability must be in [0, 1]';
  if (fields.capacityType === 'Spot' && probability === 0) {
    return 'interruption_probability of spot capacity must be above 0';
  }
  return undefined;
}
