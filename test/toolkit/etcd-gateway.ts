// The few etcd calls that tests need, over its JSON gateway (v3.4: prefix /v3): health, status,
// put, get. For checks from the outside only; the product has its own gRPC client, and testing
// that client with itself would let one bug hide another.

import { http, type HttpTls } from './http.ts';
import { ATTEMPT_MS, HANG_MS } from './real-time.ts';

export interface EtcdEndpoint {
  readonly url: string;
  readonly tls?: HttpTls | undefined;
}

export interface EtcdStatus {
  readonly memberId: string;
  /** '0' while there is no leader. */
  readonly leaderId: string;
  readonly raftTerm: bigint;
}

export async function etcdHealthy(endpoint: EtcdEndpoint): Promise<boolean> {
  const answer = await http({
    url: `${endpoint.url}/health`,
    tls: endpoint.tls,
    withinMs: ATTEMPT_MS,
  });
  return answer.status === 200 && field(parseObject(answer.body), 'health') === 'true';
}

export async function etcdStatus(endpoint: EtcdEndpoint): Promise<EtcdStatus> {
  const answer = await call(endpoint, '/v3/maintenance/status', {}, ATTEMPT_MS);
  const header = object(field(answer, 'header'));
  return {
    memberId: text(field(header, 'member_id')),
    leaderId: text(field(answer, 'leader') ?? '0'),
    raftTerm: BigInt(text(field(header, 'raft_term') ?? '0')),
  };
}

/** Linearisable: resolves when a quorum has it. Returns the store's revision. */
export async function etcdPut(
  endpoint: EtcdEndpoint,
  key: string,
  value: string,
  withinMs?: number,
): Promise<bigint> {
  const body = { key: base64(key), value: base64(value) };
  const answer = await call(endpoint, '/v3/kv/put', body, withinMs);
  return BigInt(text(field(object(field(answer, 'header')), 'revision')));
}

/** Linearisable read; `undefined` when the key does not exist. */
export async function etcdGet(
  endpoint: EtcdEndpoint,
  key: string,
  withinMs?: number,
): Promise<string | undefined> {
  const answer = await call(endpoint, '/v3/kv/range', { key: base64(key) }, withinMs);
  const found: unknown = field(answer, 'kvs');
  if (!Array.isArray(found) || found.length === 0) return undefined;
  // The gateway leaves an empty value out.
  const value = field(object(found[0]), 'value') ?? '';
  return Buffer.from(text(value), 'base64').toString('utf8');
}

type Json = Readonly<Record<string, unknown>>;

async function call(
  endpoint: EtcdEndpoint,
  path: string,
  json: Json,
  withinMs: number = HANG_MS,
): Promise<Json> {
  const answer = await http({ url: endpoint.url + path, json, tls: endpoint.tls, withinMs });
  if (answer.status !== 200) {
    throw new Error(`etcd ${endpoint.url}${path}: HTTP ${answer.status} ${answer.body}`);
  }
  return parseObject(answer.body);
}

function parseObject(body: string): Json {
  return object(JSON.parse(body));
}

function object(value: unknown): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`etcd: expected an object, got ${JSON.stringify(value)}`);
  }
  return { ...value };
}

function field(value: Json, name: string): unknown {
  return value[name];
}

function text(value: unknown): string {
  if (typeof value !== 'string') {
    throw new Error(`etcd: expected a string, got ${JSON.stringify(value)}`);
  }
  return value;
}

function base64(value: string): string {
  return Buffer.from(value, 'utf8').toString('base64');
}
