// Golden traces: JSON Lines, one event per line, made to be read in a diff. A golden freezes the
// observable actions: a change that keeps every assertion and alters an action shows up here, and
// its author accepts it by recording again or finds a bug. Keys are written in one fixed order and
// counts of zero are left out, so equal runs are equal bytes.

import { compareText } from '@bigfleet/base';
import { type Action, actionKindName, type Machine, State, stateName } from '@bigfleet/engine';

export type TraceKind = 'scenario_start' | 'rollup' | 'cycle' | 'scenario_end';

interface TracedAction {
  readonly kind: string;
  readonly machine_id: string;
  readonly cluster?: string;
}

interface TracedState {
  readonly total: number;
  readonly by_state: Readonly<Record<string, number>>;
  readonly configured_per_cluster: Readonly<Record<string, number>>;
}

export interface TraceEvent {
  readonly step: number;
  readonly kind: TraceKind;
  readonly cluster?: string;
  readonly actions?: readonly TracedAction[];
  readonly state?: TracedState;
  readonly notes?: string;
}

export class Trace {
  readonly #events: TraceEvent[] = [];

  get events(): readonly TraceEvent[] {
    return this.#events;
  }

  start(name: string, machines: readonly Machine[]): void {
    this.#add({ kind: 'scenario_start', state: tracedState(machines), notes: name });
  }

  rollup(cluster: string, needCount: number): void {
    this.#add({ kind: 'rollup', cluster, notes: `needs=${needCount}` });
  }

  cycle(actions: readonly Action[], machines: readonly Machine[]): void {
    this.#add({ kind: 'cycle', actions: tracedActions(actions), state: tracedState(machines) });
  }

  end(name: string, machines: readonly Machine[]): void {
    this.#add({ kind: 'scenario_end', state: tracedState(machines), notes: name });
  }

  /** The bytes of the golden file. */
  toJsonLines(): string {
    return this.#events.map((event) => `${JSON.stringify(event)}\n`).join('');
  }

  #add(event: Omit<TraceEvent, 'step'>): void {
    this.#events.push({ step: this.#events.length, ...event });
  }
}

function tracedActions(actions: readonly Action[]): TracedAction[] {
  return actions
    .map(({ kind, machineId, cluster }) => ({
      kind: actionKindName(kind),
      machine_id: machineId,
      ...(cluster === '' ? {} : { cluster }),
    }))
    .sort((a, b) => compareText(a.kind, b.kind) || compareText(a.machine_id, b.machine_id));
}

function tracedState(machines: readonly Machine[]): TracedState {
  return {
    total: machines.length,
    by_state: countBy(machines.map(({ state }) => stateName(state))),
    configured_per_cluster: countBy(
      machines.filter(({ state }) => state === State.Configured).map(({ cluster }) => cluster),
    ),
  };
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => compareText(a, b)));
}
