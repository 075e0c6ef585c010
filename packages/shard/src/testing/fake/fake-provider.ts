// A whole capacity provider in memory (provider-contract §15): for tests, simulation and the
// laptop, never deployed. It keeps the full contract — fencing, idempotency, cursors, verbatim
// metadata — because the conformance suite proves itself on it. Every call is one synchronous
// critical section in the order of provider-contract §4: arguments, fence, existence, replay, position, accept.

import { assert, type Runtime } from '@bigfleet/base';
import { State, type StateCode } from '@bigfleet/engine';
import { type FencingToken, negativeToken } from '@bigfleet/wire';
import type { ReportedMachine, TransitionAck } from '../../provider/provider.ts';
import { ChangeLog, Cursors } from './change-log.ts';
import { edges, FakeMachine, type FakeSpec, type OperationKind } from './fake-machine.ts';
import { Listing } from './listing.ts';
import { Pace, type PaceOptions } from './pace.ts';
import { FenceMarks, invalid, notFound, notSupported, outOfPosition } from './refusals.ts';

export interface FakeOptions extends PaceOptions {
  readonly runtime: Runtime;
  /** `HostRef.provider`. */
  readonly label?: string;
  /** Delete is UNIMPLEMENTED, as for bare metal. */
  readonly isFixedCapacity?: boolean;
  /** Refuses negative epochs and sequences of a named shard, as the kit's option does. */
  readonly strictTokens?: boolean;
}

export interface Order {
  readonly machineId: string;
  readonly token: FencingToken;
}

export interface FakeConfigureOrder extends Order {
  readonly clusterId: string;
  readonly shardMetadata: ReadonlyMap<string, string>;
}

export interface FakeDrainOrder extends Order {
  readonly gracePeriodSeconds: bigint;
}

export interface FakeListRequest {
  readonly states: readonly number[];
  readonly maxResults: number;
  readonly sinceRevision: Uint8Array;
}

export interface FakeListAnswer {
  readonly machines: readonly FakeMachine[];
  readonly revision: Uint8Array;
}

export class FakeProvider {
  readonly #runtime: Runtime;
  readonly #label: string;
  readonly #isFixedCapacity: boolean;
  readonly #strictTokens: boolean;
  readonly #machines = new Map<string, FakeMachine>();
  readonly #log: ChangeLog;
  readonly #listing: Listing;
  readonly #marks = new FenceMarks();
  readonly #pace: Pace;
  readonly #cursors: Cursors;
  readonly #failures = new Map<string, Error>();
  #joinFailure: ((machine: ReportedMachine) => string | undefined) | undefined;
  /** Unpredictable, so that no operation id of another life comes back. */
  readonly #life: string;
  #operationCount = 0;
  #hostCount = 0;

  constructor(options: FakeOptions) {
    this.#runtime = options.runtime;
    this.#label = options.label ?? 'fake';
    this.#isFixedCapacity = options.isFixedCapacity ?? false;
    this.#strictTokens = options.strictTokens ?? false;
    this.#log = new ChangeLog((machine) => this.#machines.get(machine.spec.id) === machine);
    this.#listing = new Listing(this.#log);
    this.#pace = new Pace(options.runtime, options);
    const incarnation = options.runtime.entropy.bytes(16);
    this.#cursors = new Cursors(incarnation);
    this.#life = Buffer.from(incarnation).toString('hex');
  }

  // ── seeding ─────────────────────────────────────────────────────────────────────────────

  addSpeculative(spec: FakeSpec): void {
    this.#add(new FakeMachine(spec, State.Speculative, undefined));
  }

  addIdle(spec: FakeSpec): void {
    this.#add(new FakeMachine(spec, State.Idle, this.#newHost()));
  }

  /** `metadata` as a shard encodes it, so that a restarted shard finds its stamps. */
  addConfigured(
    spec: FakeSpec,
    cluster: string,
    metadata: ReadonlyMap<string, string> = new Map(),
  ): void {
    const machine = new FakeMachine(spec, State.Configured, this.#newHost());
    machine.cluster = cluster;
    machine.metadata = new Map(metadata);
    this.#add(machine);
  }

  setAllocatable(machineId: string, allocatable: ReadonlyMap<string, string>): void {
    const machine = this.#find(machineId);
    machine.allocatable = new Map(allocatable);
    this.#record(machine);
  }

  // ── the six calls ───────────────────────────────────────────────────────────────────────

  create(order: Order): TransitionAck {
    return this.#operate('create', order, () => {});
  }

  configure(order: FakeConfigureOrder): TransitionAck {
    return this.#operate('configure', order, (machine) => {
      machine.cluster = order.clusterId;
      machine.metadata = new Map(order.shardMetadata);
    });
  }

  drain(order: FakeDrainOrder): TransitionAck {
    if (order.machineId !== '' && order.gracePeriodSeconds < 0n) {
      throw invalid(`grace period ${order.gracePeriodSeconds} is negative`);
    }
    return this.#operate('drain', order, () => {});
  }

  delete(order: Order): TransitionAck {
    if (order.machineId !== '' && this.#isFixedCapacity) throw notSupported();
    return this.#operate('delete', order, () => {});
  }

  get(machineId: string): ReportedMachine {
    if (machineId === '') throw invalid('the machine id is empty');
    return this.#find(machineId).snapshot();
  }

  list({ states, maxResults, sinceRevision }: FakeListRequest): FakeListAnswer {
    const since = this.#cursors.decode(sinceRevision, this.#log.head);
    const page = this.#listing.list({ states: new Set(states), maxResults, since });
    return { machines: page.machines, revision: this.#cursors.encode(page.revision) };
  }

  // ── hooks ───────────────────────────────────────────────────────────────────────────────

  /** Ends a staged transition; false when the machine has none. */
  completeStaged(machineId: string): boolean {
    return this.#pace.complete(machineId);
  }

  /** The next call of this kind on this machine fails so, once, and changes nothing. */
  failNext(machineId: string, kind: OperationKind, error: Error): void {
    this.#failures.set(failureKey(machineId, kind), error);
  }

  failMachine(machineId: string, reason: string): void {
    assert(reason !== '', 'a failed machine needs a reason');
    const machine = this.#find(machineId);
    this.#pace.forget(machineId);
    machine.state = State.Failed;
    machine.lastError = reason;
    this.#record(machine);
  }

  /** Why the node of a machine never joins; its Configure ends Failed so. Undefined: it joins. */
  failJoins(reasonOf: (machine: ReportedMachine) => string | undefined): void {
    this.#joinFailure = reasonOf;
  }

  /** Hard loss: the record is gone, and no delta says so. */
  removeMachine(machineId: string): void {
    this.#find(machineId);
    this.#pace.forget(machineId);
    this.#machines.delete(machineId);
    this.#log.recordRemoval();
  }

  /** Takes the first ⌊n × fraction⌋ quota slots away, in id order; how many. */
  shedSpeculative(fraction: number): number {
    assert(fraction >= 0 && fraction <= 1, 'a fraction lies in [0, 1]', { fraction });
    const slots = this.#idsIn(State.Speculative).sort();
    const shed = slots.slice(0, Math.floor(slots.length * fraction));
    for (const id of shed) this.removeMachine(id);
    return shed.length;
  }

  get machineCount(): number {
    return this.#machines.size;
  }

  get configuredCount(): number {
    return this.#idsIn(State.Configured).length;
  }

  get speculativeCount(): number {
    return this.#idsIn(State.Speculative).length;
  }

  /** For failure injection; from the runtime's seeded randomness. */
  randomConfiguredMachine(): string | undefined {
    const ids = this.#idsIn(State.Configured);
    return ids.length === 0 ? undefined : ids[this.#runtime.random.below(ids.length)];
  }

  /** Stops every timer; transitions under way stay where they are. */
  close(): void {
    this.#pace.close();
  }

  // ── provider-contract §4, in its order ────────────────────────────────────────────────────────────────────

  #operate(
    kind: OperationKind,
    { machineId, token }: Order,
    atAcceptance: (machine: FakeMachine) => void,
  ): TransitionAck {
    if (machineId === '') throw invalid('the machine id is empty');
    const problem = this.#strictTokens ? negativeToken(token) : undefined;
    if (problem !== undefined) throw invalid(problem);
    this.#marks.pass(token, machineId);
    const machine = this.#find(machineId);
    const replay = this.#replay(kind, machine);
    if (replay !== undefined) return replay;
    this.#failIfAsked(machineId, kind);
    const { from, via } = edges[kind];
    if (machine.state !== from) throw outOfPosition(`${kind} in state ${machine.state}`);
    const operationId = this.#newOperationId();
    machine.operations.set(kind, operationId);
    machine.state = via;
    atAcceptance(machine);
    this.#record(machine);
    this.#pace.start(machineId, kind, () => this.#settle(machine, kind));
    return { operationId, machine: machine.snapshot() };
  }

  #replay(kind: OperationKind, machine: FakeMachine): TransitionAck | undefined {
    const operationId = machine.operations.get(kind);
    const { via, to } = edges[kind];
    const isThere = machine.state === via || machine.state === to;
    if (operationId === undefined || !isThere) return undefined;
    return { operationId, machine: machine.snapshot() };
  }

  #failIfAsked(machineId: string, kind: OperationKind): void {
    const key = failureKey(machineId, kind);
    const error = this.#failures.get(key);
    if (error === undefined) return;
    this.#failures.delete(key);
    throw error;
  }

  /** Whoever takes a machine out of its transition has forgotten the end of it (`pace`). */
  #settle(machine: FakeMachine, kind: OperationKind): void {
    const { via, to } = edges[kind];
    assert(machine.state === via, 'a transition that was given up ends', { id: machine.spec.id });
    const failure = kind === 'configure' ? this.#joinFailure?.(machine.snapshot()) : undefined;
    if (failure !== undefined) return this.failMachine(machine.spec.id, failure);
    machine.state = to;
    if (kind === 'create') machine.host = this.#newHost();
    if (kind === 'delete') machine.host = undefined;
    if (kind === 'drain') {
      machine.cluster = '';
      machine.metadata = new Map();
    }
    this.#record(machine);
  }

  #add(machine: FakeMachine): void {
    const { id } = machine.spec;
    assert(id !== '' && !this.#machines.has(id), 'machine ids are unique', { id });
    this.#machines.set(id, machine);
    this.#record(machine);
  }

  #find(machineId: string): FakeMachine {
    const machine = this.#machines.get(machineId);
    if (machine === undefined) throw notFound(machineId);
    return machine;
  }

  #record(machine: FakeMachine): void {
    this.#log.record(machine, this.#machines.size);
  }

  #newHost(): { provider: string; ref: string } {
    this.#hostCount += 1;
    return { provider: this.#label, ref: `${this.#life.slice(0, 8)}-${this.#hostCount}` };
  }

  #newOperationId(): string {
    this.#operationCount += 1;
    return `fake-${this.#life}-${this.#operationCount}`;
  }

  #idsIn(state: StateCode): string[] {
    const ids: string[] = [];
    for (const [id, machine] of this.#machines) if (machine.state === state) ids.push(id);
    return ids;
  }
}

function failureKey(machineId: string, kind: OperationKind): string {
  return `${kind} ${machineId}`;
}
