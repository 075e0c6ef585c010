// The smallest provider that keeps the contract: instant transitions, one map of machines, state
// as one JSON file that is rewritten before each acknowledgement. It gives the frame's tests a
// subject that boots in no time and can be told to misbehave; certification of real code is the
// business of `make conformance-self`.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import {
  type CapacityProvider,
  CapacityType,
  checkFence,
  type FencingToken,
  type Handlers,
  MachineState,
  RpcError,
  fromMap,
} from '@bigfleet/wire';

export interface TinyOptions {
  readonly seedCount: number;
  readonly statePath?: string | undefined;
  /** Without: Delete is UNIMPLEMENTED, as on bare metal. */
  readonly hasDelete?: boolean;
}

interface Record {
  readonly id: string;
  state: MachineState;
  cluster: string;
  metadata: [string, string][];
  changed: number;
  /** Operation ids by kind. */
  ops: { [kind: string]: string };
}

interface Image {
  records: Record[];
  marks: [string, string, string][];
  revision: number;
  incarnation: string;
}

interface Edge {
  readonly kind: 'create' | 'configure' | 'drain' | 'delete';
  readonly from: MachineState;
  readonly to: MachineState;
}

const EDGES = {
  create: { kind: 'create', from: MachineState.SPECULATIVE, to: MachineState.IDLE },
  configure: { kind: 'configure', from: MachineState.IDLE, to: MachineState.CONFIGURED },
  drain: { kind: 'drain', from: MachineState.CONFIGURED, to: MachineState.IDLE },
  delete: { kind: 'delete', from: MachineState.IDLE, to: MachineState.SPECULATIVE },
} as const satisfies { readonly [kind: string]: Edge };

export class TinyProvider {
  readonly handlers: Handlers<typeof CapacityProvider>;
  readonly #options: TinyOptions;
  readonly #records = new Map<string, Record>();
  readonly #marks = new Map<string, { shardEpoch: bigint; sequenceNumber: bigint }>();
  #revision = 1;
  #incarnation: string;
  #rotation = 0;

  constructor(options: TinyOptions) {
    this.#options = options;
    this.#incarnation = `${process.pid}`;
    this.#load();
    this.handlers = {
      create: async (call) => this.#mutate(EDGES.create, call),
      configure: async (call) =>
        this.#mutate(EDGES.configure, call, (record) => {
          record.cluster = call.clusterId;
          record.metadata = Object.entries(call.shardMetadata);
        }),
      drain: async (call) => {
        if (call.gracePeriodSeconds < 0n) throw invalid('grace_period_seconds is negative');
        return this.#mutate(EDGES.drain, call, (record) => {
          record.cluster = '';
          record.metadata = [];
        });
      },
      delete: async (call) => {
        if (options.hasDelete === false) throw new RpcError('UNIMPLEMENTED', 'no Delete here');
        return this.#mutate(EDGES.delete, call);
      },
      get: async ({ id }) => view(this.#find(id)),
      list: async (filter) => this.#list(filter),
    };
  }

  #mutate(
    edge: Edge,
    call: FencingToken & { readonly machineId: string },
    apply: (record: Record) => void = () => {},
  ): { operationId: string; machine: ReturnType<typeof view> } {
    if (call.machineId === '') throw invalid('machine_id is empty');
    this.#fence(call);
    const record = this.#find(call.machineId);
    const known = record.ops[edge.kind];
    if (known !== undefined && record.state === edge.to) {
      return { operationId: known, machine: view(record) };
    }
    if (record.state !== edge.from) throw new RpcError('INTERNAL', `not from ${record.state}`);
    this.#revision += 1;
    const operationId = `op-${this.#incarnation}-${this.#revision}`;
    record.ops[edge.kind] = operationId;
    record.state = edge.to;
    record.changed = this.#revision;
    apply(record);
    this.#save();
    return { operationId, machine: view(record) };
  }

  #fence(call: FencingToken & { readonly machineId: string }): void {
    if (call.shardId !== '' && (call.shardEpoch < 0n || call.sequenceNumber < 0n)) {
      throw invalid('the token is negative');
    }
    const key = JSON.stringify([call.shardId, call.machineId]);
    const verdict = checkFence(call, this.#marks.get(key));
    if (verdict.kind === 'stale') throw new RpcError('FAILED_PRECONDITION', 'fenced');
    if (verdict.kind === 'absent') return;
    this.#marks.set(key, verdict.mark);
    this.#save();
  }

  #find(id: string): Record {
    if (id === '') throw invalid('the id is empty');
    const record = this.#records.get(id);
    if (record === undefined) throw new RpcError('NOT_FOUND', `no machine ${id}`);
    return record;
  }

  /** In the order of change; a page that was cut ends with the cursor of its last record. */
  #list(filter: { states: MachineState[]; maxResults: number; sinceRevision: Uint8Array }): {
    machines: ReturnType<typeof view>[];
    revision: Uint8Array;
  } {
    const since = this.#cursor(filter.sinceRevision);
    const wanted = new Set(filter.states);
    const all = [...this.#records.values()]
      .filter((record) => record.changed > since)
      .filter((record) => wanted.size === 0 || wanted.has(record.state))
      .sort((a, b) => a.changed - b.changed);
    const cap = filter.maxResults > 0 ? filter.maxResults : all.length;
    if (cap >= all.length) return { machines: all.map(view), revision: this.#at(this.#revision) };
    if (wanted.size > 0 && since === 0) {
      // A sample: another one each time, so that two samples are two machines.
      this.#rotation += cap;
      const start = this.#rotation % all.length;
      const rotated = [...all.slice(start), ...all.slice(0, start)].slice(0, cap);
      return { machines: rotated.map(view), revision: this.#at(0) };
    }
    const page = all.slice(0, cap);
    return { machines: page.map(view), revision: this.#at(page.at(-1)?.changed ?? since) };
  }

  #at(revision: number): Uint8Array {
    return new TextEncoder().encode(`${this.#incarnation}/${revision}`);
  }

  #cursor(bytes: Uint8Array): number {
    const text = new TextDecoder('latin1').decode(bytes);
    const match = /^([^/]+)\/(0|[1-9]\d{0,12})$/.exec(text);
    const revision = Number(match?.[2]);
    return match?.[1] === this.#incarnation && revision <= this.#revision ? revision : 0;
  }

  #load(): void {
    const { statePath, seedCount } = this.#options;
    if (statePath !== undefined && existsSync(statePath)) {
      const image = JSON.parse(readFileSync(statePath, 'utf8')) as Image;
      for (const record of image.records) this.#records.set(record.id, record);
      for (const [key, epoch, sequence] of image.marks) {
        this.#marks.set(key, { shardEpoch: BigInt(epoch), sequenceNumber: BigInt(sequence) });
      }
      this.#revision = image.revision;
      this.#incarnation = image.incarnation;
      return;
    }
    for (let at = 0; at < seedCount; at += 1) {
      const id = `tiny/${at}`;
      this.#revision += 1;
      this.#records.set(id, {
        id,
        state: MachineState.SPECULATIVE,
        cluster: '',
        metadata: [],
        changed: this.#revision,
        ops: {},
      });
    }
    this.#save();
  }

  #save(): void {
    const { statePath } = this.#options;
    if (statePath === undefined) return;
    const image: Image = {
      records: [...this.#records.values()],
      marks: [...this.#marks].map(([key, mark]) => [
        key,
        String(mark.shardEpoch),
        String(mark.sequenceNumber),
      ]),
      revision: this.#revision,
      incarnation: this.#incarnation,
    };
    writeFileSync(`${statePath}.next`, JSON.stringify(image));
    renameSync(`${statePath}.next`, statePath);
  }
}

function invalid(message: string): RpcError {
  return new RpcError('INVALID_ARGUMENT', message);
}

function view(record: Record) {
  const hasHost = record.state !== MachineState.SPECULATIVE;
  return {
    id: record.id,
    state: record.state,
    ...(hasHost ? { host: { provider: 'tiny', ref: `host-of-${record.id}` } } : {}),
    instanceType: 'tiny-1',
    zone: 'tiny-a',
    capacityType: CapacityType.ON_DEMAND,
    pricePerHour: 0.1,
    interruptionProbability: 0,
    resources: { resources: { cpu: '1', memory: '2Gi' } },
    cluster: record.cluster,
    shardMetadata: fromMap(new Map(record.metadata)),
  };
}
