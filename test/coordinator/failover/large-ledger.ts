// The ledger of the largest fleet, 120,000 rows, behind a running stage: what a new leader has to load
// before it serves. Commands go in one at a time, so 120,000 of them would take minutes; instead one
// row of each kind goes in as a command, and an outsider copies what the coordinator stored under
// other names. Whoever leads meanwhile does not know the copies: the next leader does.
//
// No cluster bindings among them: the load beside a drill lists all bindings all the time, and would
// measure that.

import assert from 'node:assert/strict';
import { base64, gateway, outsiderGet } from '../../etcd/gateway.ts';
import type { EtcdEndpoint } from '../../toolkit/index.ts';
import type { CoordinatorProcess } from './coordinator-process.ts';
import { VALUES } from './register-load.ts';
import type { FailoverStage } from './stage.ts';

const DOMAINS = 100_000;
const QUOTAS = 20_000;
export const LARGE_ROWS: number = DOMAINS + QUOTAS;

const RACK = 'large-rack';
const REGION = 'large';
/** etcd takes 128 operations in one transaction. */
const PUTS_PER_TRANSACTION = 100;
const WRITERS = 4;

interface Row {
  readonly key: string;
  readonly value: string;
}

export async function enlargeLedger(stage: FailoverStage): Promise<void> {
  const { replica } = await stage.leader();
  const { endpoint } = stage.etcd.member(0);
  const owner = VALUES[0] ?? '';
  await replica.coordinator.assignDomain({
    topologyKey: RACK,
    topologyValue: nameAt(0),
    shardId: owner,
  });
  await replica.admin.setQuota({ provider: nameAt(0), region: REGION, perShard: { [owner]: 1 } });
  const domain = await stored(endpoint, `/bigfleet/domains/${RACK}/${nameAt(0)}`);
  const quota = await stored(endpoint, `/bigfleet/quotas/${nameAt(0)}/${REGION}`);
  const batches = batched([...copies(domain, DOMAINS), ...copies(quota, QUOTAS)]);
  const writers = Array.from({ length: WRITERS }, async () => {
    for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
      await putAll(endpoint, batch);
    }
  });
  await Promise.all(writers);
}

/** A leader that serves without having loaded them has a short gap and no ledger. */
export async function assertLarge({ coordinator }: CoordinatorProcess): Promise<void> {
  const { assignments } = await coordinator.listDomainAssignments({});
  const { allocations } = await coordinator.listQuotas({});
  const domains = assignments.filter(({ topologyKey }) => topologyKey === RACK);
  const quotas = allocations.filter(({ region }) => region === REGION);
  assert.deepEqual([domains.length, quotas.length], [DOMAINS, QUOTAS]);
}

/** All of one length, and nothing else in a row looks like it. */
function nameAt(at: number): string {
  return `copy-${String(at).padStart(6, '0')}`;
}

async function stored(endpoint: EtcdEndpoint, key: string): Promise<Row> {
  const found = await outsiderGet(endpoint, key);
  assert.ok(found !== undefined, key);
  return { key, value: found.value };
}

/** Without the first one, which is there. */
function copies({ key, value }: Row, count: number): readonly Row[] {
  const first = nameAt(0);
  return Array.from({ length: count - 1 }, (_, at) => {
    const name = nameAt(at + 1);
    return { key: key.replace(first, name), value: value.replaceAll(first, name) };
  });
}

function batched(rows: readonly Row[]): (readonly Row[])[] {
  const batches: (readonly Row[])[] = [];
  for (let from = 0; from < rows.length; from += PUTS_PER_TRANSACTION) {
    batches.push(rows.slice(from, from + PUTS_PER_TRANSACTION));
  }
  return batches;
}

async function putAll(endpoint: EtcdEndpoint, rows: readonly Row[]): Promise<void> {
  const success = rows.map(({ key, value }) => ({
    requestPut: { key: base64(key), value: base64(value) },
  }));
  await gateway(endpoint, 'kv/txn', { success });
}

/**
 * How long a new leader took from winning the election to serving: from the time it left in etcd
 * with its key to its own log line. Both are of one process and its clock.
 */
export async function stateLoadMs(stage: FailoverStage): Promise<number> {
  const { replica, term } = await stage.leader();
  const held = await outsiderGet(stage.etcd.member(0).endpoint, '/bigfleet/leader');
  assert.ok(held !== undefined, 'nobody leads');
  const leader = JSON.parse(held.value) as { acquired_at: string; node_id: string };
  assert.equal(leader.node_id, replica.nodeId, 'the leadership changed meanwhile');
  const won = new RegExp(`time=(\\S+) .*msg="leadership won".* term=${term}\\b`);
  const [, servedAt = ''] = await replica.process.waitForLine(won);
  const tookMs = Date.parse(servedAt) - Date.parse(leader.acquired_at);
  assert.ok(tookMs >= 0, `${leader.acquired_at} to ${servedAt}`);
  return tookMs;
}
