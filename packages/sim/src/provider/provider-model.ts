// A small staged provider: machine records, and the four operations that walk them through their
// states. With a dwell of 0 an operation completes inside the call; with a dwell of N the machine
// is seen in its transitional state by exactly N shard steps. A synchronous world hides every
// oscillation driver, so tests vary the dwell.
//
// Operations obey the transition table; an illegal one is a bug of the caller and trips an
// assertion. What a provider merely observes (a lost host, a vanished machine) is not bound by it.
// Stamps follow the executors: cluster, fingerprint and group when Configuring begins, priority
// and penalties at Configured, everything cleared when a machine is Idle or Speculative again.

import { assert, compareText } from '@bigfleet/base';
import {
  type Assignment,
  CapacityType,
  isLegalTransition,
  type Machine,
  machineProblem,
  noAssignment,
  State,
  type StateCode,
  stateName,
} from '@bigfleet/engine';

/** Shard steps that each operation stays in flight. */
export interface Dwell {
  readonly createCycles: number;
  readonly configureCycles: number;
  readonly drainCycles: number;
  readonly deleteCycles: number;
}

export const instant: Dwell = {
  createCycles: 0,
  configureCycles: 0,
  drainCycles: 0,
  deleteCycles: 0,
};

/** For whom a machine is created. */
export interface Attribution {
  readonly cluster: string;
  readonly fingerprint: string;
  readonly group: string;
}

/** What a machine is configured for. */
export interface Binding {
  readonly cluster: string;
  readonly assigned: Assignment;
}

interface InFlight {
  readonly remainingCycles: number;
  /** The record as it will be when nothing fails. */
  readonly done: Machine;
}

type Target = typeof State.Speculative | typeof State.Idle | typeof State.Configured;

export class ProviderModel {
  readonly #dwell: Dwell;
  readonly #machines = new Map<string, Machine>();
  readonly #inFlight = new Map<string, InFlight>();
  /** Told of every change of state, with the state of before. */
  onChange: ((machine: Machine, from: StateCode) => void) | undefined;
  /** Why a machine that is being configured never joins; undefined: it does. */
  joinError: ((machine: Machine) => string | undefined) | undefined;
  /** One-shot failures by machine and target state; each key holds one error. */
  readonly #failures = new Map<string, string>();

  constructor(dwell: Dwell = instant) {
    this.#dwell = dwell;
  }

  get size(): number {
    return this.#machines.size;
  }

  /** By id, ascending: a List never shows in which order machines were added. */
  list(): readonly Machine[] {
    return [...this.#machines.values()].sort((a, b) => compareText(a.id, b.id));
  }

  get(id: string): Machine {
    const machine = this.#machines.get(id);
    assert(machine !== undefined, 'unknown machine', { id });
    return machine;
  }

  has(id: string): boolean {
    return this.#machines.has(id);
  }

  add(machine: Machine): void {
    assert(!this.#machines.has(machine.id), 'machine added twice', { id: machine.id });
    this.#write(machine);
  }

  /** The next transition of the machine towards `target` fails with this error, once. */
  failNext(id: string, target: Target, error: string): void {
    assert(error !== '', 'a failure needs an error text', { id });
    this.#failures.set(failureKey(id, target), error);
  }

  /** A host is lost: Configured to Failed, unsolicited. */
  failMachine(id: string, error = 'no sign of it in two complete describes'): void {
    const machine = this.get(id);
    assert(machine.state === State.Configured, 'only a Configured host is lost here', {
      id,
      state: stateName(machine.state),
    });
    this.#write({ ...machine, state: State.Failed, lastError: `host lost: ${error}` });
  }

  /** The machine vanishes from List, whatever it was doing. */
  removeMachine(id: string): void {
    assert(this.#machines.delete(id), 'unknown machine', { id });
    this.#inFlight.delete(id);
  }

  create(id: string, { cluster, fingerprint, group }: Attribution): void {
    const machine = this.get(id);
    const creating: Machine = {
      ...machine,
      state: State.Creating,
      intendedCluster: cluster,
      assigned: { ...noAssignment, needFingerprint: fingerprint, group },
    };
    this.#start(creating, unbound(machine, State.Idle), this.#dwell.createCycles);
  }

  configure(id: string, { cluster, assigned }: Binding): void {
    const { needFingerprint, group } = assigned;
    const configuring: Machine = {
      ...this.get(id),
      state: State.Configuring,
      cluster,
      assigned: { ...noAssignment, needFingerprint, group },
    };
    const done: Machine = { ...configuring, state: State.Configured, assigned };
    this.#start(configuring, done, this.#dwell.configureCycles);
  }

  drain(id: string): void {
    const machine = this.get(id);
    // Still bound while Draining: clearing early made every asynchronous drain fail.
    const draining: Machine = { ...machine, state: State.Draining };
    this.#start(draining, unbound(machine, State.Idle), this.#dwell.drainCycles);
  }

  /** Owned and committed capacity cannot be given back: asking for it fails the machine. */
  delete(id: string): void {
    const machine = this.get(id);
    const isElastic =
      machine.capacityType === CapacityType.OnDemand || machine.capacityType === CapacityType.Spot;
    if (!isElastic) this.failNext(id, State.Speculative, 'delete: not supported');
    const deleting: Machine = { ...machine, state: State.Deleting };
    this.#start(deleting, unbound(machine, State.Speculative), this.#dwell.deleteCycles);
  }

  /** Overwrites what a seeded machine says it serves; its state stays. */
  stamp(id: string, assigned: Partial<Assignment>): void {
    const machine = this.get(id);
    this.#write({ ...machine, assigned: { ...machine.assigned, ...assigned } });
  }

  /** Publishes another price or risk, whatever the machine is doing. */
  republish(
    id: string,
    terms: Partial<Pick<Machine, 'pricePerHour' | 'interruptionProbability'>>,
  ): void {
    const operation = this.#inFlight.get(id);
    if (operation !== undefined) {
      this.#inFlight.set(id, { ...operation, done: { ...operation.done, ...terms } });
    }
    this.#write({ ...this.get(id), ...terms });
  }

  /** One cycle passes: operations age, and matured ones complete in id order. */
  advance(): void {
    const matured: string[] = [];
    for (const [id, { remainingCycles, done }] of this.#inFlight) {
      if (remainingCycles === 0) matured.push(id);
      else this.#inFlight.set(id, { remainingCycles: remainingCycles - 1, done });
    }
    for (const id of matured.sort(compareText)) this.complete(id);
  }

  /** Ends the machine's operation now: by success, or by the failure that waits for it. */
  complete(id: string): void {
    const operation = this.#inFlight.get(id);
    assert(operation !== undefined, 'nothing in flight', { id });
    this.#inFlight.delete(id);
    const { done } = operation;
    const key = failureKey(id, done.state);
    const neverJoins = done.state === State.Configured ? this.joinError?.(done) : undefined;
    const error = this.#failures.get(key) ?? neverJoins;
    if (error === undefined) {
      this.#transition(done);
      return;
    }
    this.#failures.delete(key);
    this.#transition({ ...this.get(id), state: State.Failed, lastError: error });
  }

  #start(begun: Machine, done: Machine, dwellCycles: number): void {
    this.#transition(begun);
    // Completed at the start of the cycle after the last one that was to see it in flight.
    this.#inFlight.set(begun.id, { remainingCycles: dwellCycles, done });
    if (dwellCycles === 0) this.complete(begun.id);
  }

  #transition(next: Machine): void {
    const { state } = this.get(next.id);
    assert(state !== next.state && isLegalTransition(state, next.state), 'illegal transition', {
      id: next.id,
      from: stateName(state),
      to: stateName(next.state),
    });
    this.#write(next);
    this.onChange?.(next, state);
  }

  #write(machine: Machine): void {
    const problem = machineProblem(machine);
    assert(problem === undefined, 'invalid machine record', {
      id: machine.id,
      problem: problem ?? '',
    });
    this.#machines.set(machine.id, machine);
  }
}

function failureKey(id: string, target: StateCode): string {
  return `${id}\u0000${target}`;
}

/** No cluster, no stamps; a host exactly when the state has one. */
function unbound(machine: Machine, state: StateCode): Machine {
  const host = machine.host ?? { provider: machine.provider, ref: `host-${machine.id}` };
  return {
    ...machine,
    state,
    host: state === State.Speculative ? undefined : host,
    cluster: '',
    intendedCluster: '',
    assigned: noAssignment,
  };
}
