// The least that commits the same bytes to etcd under the same guards: the generated service on a
// plain channel, no deadline, no failover, no decision, nothing kept but the last revision.

import type { Runtime } from '@bigfleet/base';
import { type Channel, type Client, createClient, createGrpcChannel } from '@bigfleet/wire';
import { Compare_CompareTarget as Target, KV } from '@bigfleet/wire/etcd';

const bytes = (text: string): Uint8Array => Buffer.from(text);

export class BareEtcd {
  readonly #channel: Channel;
  readonly #kv: Client<typeof KV>;
  readonly #prefix: string;
  #index = 0;
  #revision = 0n;
  #leaderRevision = 0n;

  constructor(runtime: Runtime, url: string, prefix: string) {
    this.#channel = createGrpcChannel({ runtime, target: new URL(url).host });
    this.#kv = createClient(KV, this.#channel);
    this.#prefix = prefix;
  }

  async start(): Promise<void> {
    const leader = { key: bytes(`${this.#prefix}leader`), value: bytes('bench') };
    this.#leaderRevision = (await this.#kv.put(leader)).header?.revision ?? 0n;
  }

  async apply(count: number): Promise<void> {
    for (let op = 0; op < count; op += 1) await this.#applyOne(++this.#index);
  }

  close(): void {
    this.#channel.close();
  }

  async #applyOne(index: number): Promise<void> {
    const row = bytes(`${this.#prefix}domains/topology.kubernetes.io%2Frack/rack-${index}`);
    const apply = bytes(`${this.#prefix}meta/apply`);
    const leader = bytes(`${this.#prefix}leader`);
    const shard = bytes(`${this.#prefix}shards/shard-0`);
    const answer = await this.#kv.txn({
      compare: [
        guard(leader, Target.CREATE, 'createRevision', this.#leaderRevision),
        guard(leader, Target.LEASE, 'lease', 0n),
        guard(apply, Target.MOD, 'modRevision', this.#revision),
        guard(row, Target.CREATE, 'createRevision', 0n),
        guard(shard, Target.MOD, 'modRevision', 0n),
      ],
      success: [put(row, rowValue(index)), put(apply, applyValue(index))],
      failure: [get(leader), get(apply)],
    });
    if (!answer.succeeded) throw new Error('the bare transaction was refused');
    this.#revision = answer.header?.revision ?? 0n;
  }
}

function rowValue(index: number): string {
  return `{"key":"topology.kubernetes.io/rack","value":"rack-${index}","shard_id":"shard-0","shard_uid":1,"state":"ASSIGNED","revision":${index}}`;
}

function applyValue(index: number): string {
  return `{"index":${index},"last_command_id":"0123456789abcdef0123456789abcdef","assignment_revision":${index},"ledger_generation":0}`;
}

function guard(
  key: Uint8Array,
  target: Target,
  name: 'createRevision' | 'modRevision' | 'lease',
  value: bigint,
) {
  return { target, key, targetUnion: { case: name, value } };
}

function put(key: Uint8Array, value: string) {
  return { request: { case: 'requestPut' as const, value: { key, value: bytes(value) } } };
}

function get(key: Uint8Array) {
  return { request: { case: 'requestRange' as const, value: { key } } };
}
