// etcd's JSON gateway for what an outsider does to our keys in these tests: edit, delete, compact,
// revoke, raise an alarm. Not through our own client: one bug must not hide another.

import assert from 'node:assert/strict';
import { type EtcdEndpoint, http } from '../toolkit/index.ts';

type Json = Readonly<Record<string, unknown>>;

export interface StoredKey {
  readonly value: string;
  readonly modRevision: bigint;
  readonly lease: string;
}

export async function gateway(endpoint: EtcdEndpoint, path: string, json: Json): Promise<Json> {
  const { url, tls } = endpoint;
  const answer = await http({ url: `${url}/v3/${path}`, json, tls });
  assert.equal(answer.status, 200, `${path}: ${answer.body}`);
  const parsed: unknown = JSON.parse(answer.body);
  assert.ok(typeof parsed === 'object' && parsed !== null, answer.body);
  return { ...parsed };
}

export async function outsiderPut(at: EtcdEndpoint, key: string, value: string): Promise<void> {
  await gateway(at, 'kv/put', { key: base64(key), value: base64(value) });
}

export async function outsiderDelete(at: EtcdEndpoint, key: string): Promise<void> {
  await gateway(at, 'kv/deleterange', { key: base64(key) });
}

export async function outsiderGet(at: EtcdEndpoint, key: string): Promise<StoredKey | undefined> {
  const { kvs } = await gateway(at, 'kv/range', { key: base64(key) });
  if (!Array.isArray(kvs) || kvs.length === 0) return undefined;
  const found: unknown = kvs[0];
  assert.ok(typeof found === 'object' && found !== null);
  const field = (name: string): string => {
    const value: unknown = Object.entries(found).find(([key]) => key === name)?.[1];
    // The gateway leaves out what is empty or zero.
    return typeof value === 'string' ? value : '';
  };
  return {
    value: Buffer.from(field('value'), 'base64').toString('utf8'),
    modRevision: BigInt(field('mod_revision')),
    lease: field('lease'),
  };
}

export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
