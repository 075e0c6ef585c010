// What a view may be asked with. Every parameter is text in a URL: it is read strictly, and a wrong one is
// refused with its name and what it may be.

import { z } from 'zod';
import { CAPACITY_NAMES, KIND_NAMES, ROW_LIMIT, STATE_NAMES, TIER_NAMES } from '../words.ts';

const MAX_TEXT = 4_096;

const text = z.string().max(MAX_TEXT).default('').describe('empty is any');
const time = z.coerce.number().int().min(0).max(8.64e15);
const flag = z.enum(['0', '1']).default('0').describe('1 is yes');

const moment = {
  at: time.default(0).describe('milliseconds since 1970; 0 is now'),
};
const rows = { limit: z.coerce.number().int().min(1).max(ROW_LIMIT).default(500) };

/** Which machines: the filters of map, machines, cost and lifecycle. */
const machineFilter = {
  shard: text,
  cluster: text,
  team: text.describe('as --team names it'),
  provider: text,
  zone: text,
  state: z.enum(['', ...STATE_NAMES]).default(''),
  capacity: z.enum(['', ...CAPACITY_NAMES]).default(''),
  q: text.describe('a part of the machine’s id, type or node'),
};

export const params = {
  now: z.strictObject({ ...moment }),
  map: z.strictObject({
    ...moment,
    ...machineFilter,
    by: z.enum(['place', 'cluster', 'provider']).default('place'),
  }),
  machines: z.strictObject({
    ...moment,
    ...machineFilter,
    ...rows,
    sort: z.enum(['machine', 'state', 'cluster', 'cost', 'risk', 'age']).default('machine'),
  }),
  needs: z.strictObject({
    ...moment,
    ...rows,
    shard: text,
    cluster: text,
    tier: z.enum(['', ...TIER_NAMES]).default(''),
    unmet: flag,
    q: text,
  }),
  decisions: z.strictObject({
    ...moment,
    ...rows,
    from: time.default(0).describe('0 is as far back as is kept'),
    to: time.default(0).describe('0 is `at`'),
    shard: text,
    cluster: text,
    machine: text,
    kind: z.enum(['', ...KIND_NAMES]).default(''),
    reason: text,
  }),
  record: z.strictObject({
    shard: z.string().min(1).max(MAX_TEXT),
    epoch: z.string().regex(/^-?\d{1,19}$/),
    cycle: z.coerce.number().int().min(0),
  }),
  explain: z.strictObject({
    ...moment,
    machine: text,
    cluster: text,
    fingerprint: text,
    group: text,
    pod: text.describe('namespace/name, with `cluster`'),
    cycle: z.coerce.number().int().min(0).default(0).describe('0 is the newest that mentions it'),
    counterfactuals: flag,
  }),
  cost: z.strictObject({ ...moment, ...machineFilter }),
  triage: z.strictObject({ ...moment, ...rows, shard: text, cluster: text }),
  lifecycle: z.strictObject({ ...moment, ...machineFilter }),
  providers: z.strictObject({ ...moment }),
  clusters: z.strictObject({ ...moment, q: text }),
  shards: z.strictObject({ ...moment }),
  coordinator: z.strictObject({}),
  whatif: z.strictObject({
    shard: text,
    set: z
      .string()
      .max(MAX_TEXT)
      .default('')
      .describe('changes, one per line, as `bigfleet what-if --set`'),
    seed: z.coerce
      .number()
      .int()
      .min(0)
      .max(2 ** 32)
      .default(1),
  }),
} as const;

export type ViewName = keyof typeof params;
export type Params<V extends ViewName> = z.infer<(typeof params)[V]>;
