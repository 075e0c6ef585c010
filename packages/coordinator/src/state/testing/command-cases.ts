// The rows of the command table (coordinator §2.4) that change nothing: commands in a few words, and the
// tests of what is refused, with which words, and of what is already so.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CommandBody } from '../commands.ts';
import type { RefusalCode } from '../decide/decision.ts';
import type { Domain, ProviderRow } from '../rows.ts';
import { StateMachine, type StepResult } from './state-machine.ts';

export const DOMAIN: Domain = { key: 'rack', value: 'r1' };
const PROVIDER: ProviderRow = {
  name: 'aws',
  address: 'aws:9000',
  region: 'eu',
  declaredQuota: 10,
  shards: [],
};

export const addShard = (id: string): CommandBody => ({
  kind: 'AddShard',
  id,
  address: `${id}:7780`,
  registeredAtMs: 5,
});
export const upsert = (entry: Partial<ProviderRow>): CommandBody => ({
  kind: 'UpsertProvider',
  entry: { ...PROVIDER, ...entry },
});
export const setQuota = (
  perShard: Readonly<Record<string, number>>,
  region = 'eu',
): CommandBody => ({
  kind: 'SetQuota',
  provider: 'aws',
  region,
  perShard: new Map(Object.entries(perShard)),
});
export const begin = (id: string, from = 'a', to = 'b', tier: 1 | 2 = 1): CommandBody => ({
  kind: 'BeginTransfer',
  id,
  from,
  to,
  tier,
  providerAddress: 'aws:9000',
  reasonCode: 'shortfall',
  selector: null,
});
export const commit = (
  id: string,
  machineIds: readonly string[],
  maxOverrides = 100,
): CommandBody => ({
  kind: 'CommitTransfer',
  id,
  machineIds,
  maxOverrides,
});
export const move = (step: 'SHRINK' | 'GROW' | 'RESTORE', count = 2): CommandBody => ({
  kind: 'MoveQuota',
  id: 't1',
  provider: 'aws',
  region: 'eu',
  from: 'a',
  to: 'b',
  count,
  step,
});
export const restored = (
  id: string,
  from: string,
  to: string,
  ids: readonly string[],
): CommandBody => ({
  kind: 'RestoreTransfer',
  transfer: { id, from, to, providerAddress: 'aws:9000', machineIds: ids },
});
export const assign = (shard: string): CommandBody => ({
  kind: 'AssignDomain',
  domain: DOMAIN,
  shard,
});
export const unassign: CommandBody = { kind: 'UnassignDomain', domain: DOMAIN };
export const bind = (shard: string, force = false): CommandBody => ({
  kind: 'BindCluster',
  cluster: 'c1',
  shard,
  force,
});

export const AB: readonly CommandBody[] = [addShard('a'), addShard('b')];
export const ABC: readonly CommandBody[] = [...AB, addShard('c')];
export const MOVED: readonly CommandBody[] = [...ABC, begin('t1'), commit('t1', ['m1'])];
export const SHRUNK: readonly CommandBody[] = [
  ...AB,
  upsert({}),
  setQuota({ a: 4, b: 6 }),
  begin('t1', 'a', 'b', 2),
  move('SHRINK'),
];
export const long: string = 'x'.repeat(2_000);

export interface RefusedCase {
  readonly name: string;
  readonly given: readonly CommandBody[];
  readonly command: CommandBody;
  readonly code: RefusalCode;
  readonly message: RegExp | string;
}

export interface UnchangedCase {
  readonly name: string;
  readonly given: readonly CommandBody[];
  readonly command: CommandBody;
}

export function testRefused(cases: readonly RefusedCase[]): void {
  for (const { name, given, command, code, message } of cases) {
    test(`refused: ${name}`, () => {
      const machine = machineAfter(given);
      const before = machine.state.meta;
      const refusal = refusalOf(machine.apply(command));
      assert.equal(refusal.code, code);
      if (typeof message === 'string') assert.equal(refusal.message, message);
      else assert.match(refusal.message, message);
      assert.equal(machine.state.meta, before);
    });
  }
}

export function testUnchanged(cases: readonly UnchangedCase[]): void {
  for (const { name, given, command } of cases) {
    test(`already so: ${name}`, () => {
      assert.deepEqual(machineAfter(given).apply(command), { kind: 'unchanged' });
    });
  }
}

function machineAfter(given: readonly CommandBody[]): StateMachine {
  const machine = new StateMachine();
  for (const body of given)
    assert.equal(machine.apply(body).kind, 'applied', JSON.stringify(body, text));
  return machine;
}

const text = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? value.toString() : value;

function refusalOf(result: StepResult): { readonly code: string; readonly message: string } {
  assert.equal(result.kind, 'refused');
  return result.kind === 'refused' ? result.refusal : assert.fail();
}
