// A machine of the fake. `shard_metadata` is kept as it came and never looked into: that is the
// provider's half of the contract, and the suite checks itself against this fake.

import { type HostRef, State, type StateCode } from '@bigfleet/engine';
import { encodeInit, fromMap, MachineSchema } from '@bigfleet/wire';
import type { ReportedMachine } from '../../provider/provider.ts';

/** What a slot offers; set once, price and probability aside. */
export interface FakeSpec {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: 1 | 2 | 3 | 4;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  readonly resources: ReadonlyMap<string, string>;
  readonly allocatable: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
}

export class FakeMachine {
  readonly spec: FakeSpec;
  allocatable: ReadonlyMap<string, string>;
  state: StateCode;
  host: HostRef | undefined;
  cluster = '';
  metadata: ReadonlyMap<string, string> = new Map();
  lastError = '';
  /** Of the last observable change. */
  revision = 0;
  /** Last operation of each kind; never forgotten. */
  readonly operations: Map<OperationKind, string> = new Map();
  #encoded: Uint8Array | undefined;

  constructor(spec: FakeSpec, state: StateCode, host: HostRef | undefined) {
    this.spec = spec;
    this.allocatable = spec.allocatable;
    this.state = state;
    this.host = host;
  }

  /** A copy: later transitions do not change what was answered. */
  snapshot(): ReportedMachine {
    const { spec, state, host, cluster, lastError } = this;
    return {
      ...spec,
      allocatable: new Map(this.allocatable),
      state,
      host,
      cluster,
      lastError,
      shardMetadata: new Map(this.metadata),
    };
  }

  /** As in a List; made once per change, so that a fleet can be listed over and over. */
  encoded(): Uint8Array {
    this.#encoded ??= encodeReported(this.snapshot());
    return this.#encoded;
  }

  /** After every observable change. */
  changed(revision: number): void {
    this.revision = revision;
    this.#encoded = undefined;
  }
}

function encodeReported(machine: ReportedMachine): Uint8Array {
  return encodeInit(MachineSchema, wireInit(machine));
}

type MachineInit = Parameters<typeof encodeInit<typeof MachineSchema>>[1];

export function wireInit(machine: ReportedMachine): MachineInit {
  const { host, resources, allocatable, labels, shardMetadata, ...rest } = machine;
  return {
    ...rest,
    ...(host === undefined ? {} : { host: { ...host } }),
    resources: { resources: fromMap(resources) },
    allocatable: { resources: fromMap(allocatable) },
    labels: fromMap(labels),
    shardMetadata: fromMap(shardMetadata),
  };
}

// The four edges of the contract: where an operation starts, what is seen meanwhile, where it ends.

export type OperationKind = 'create' | 'configure' | 'drain' | 'delete';

export interface Edge {
  readonly from: StateCode;
  readonly via: StateCode;
  readonly to: StateCode;
}

export const edges: Readonly<Record<OperationKind, Edge>> = {
  create: { from: State.Speculative, via: State.Creating, to: State.Idle },
  configure: { from: State.Idle, via: State.Configuring, to: State.Configured },
  drain: { from: State.Configured, via: State.Draining, to: State.Idle },
  delete: { from: State.Idle, via: State.Deleting, to: State.Speculative },
};
