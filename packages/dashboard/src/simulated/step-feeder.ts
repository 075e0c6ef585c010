// A simulated shard as its feed would tell it: the step of a simulation becomes the frames that a real
// shard sends, record and dispositions included. The playground and the synthetic fleets of tests feed the
// model through this, so they show what the engine recorded and nothing else.

import {
  type Action,
  actionKindName,
  type CycleOutput,
  type DispositionCode,
  type DispositionRun,
  encodeDispositions,
  ESCALATE_AFTER_CYCLES,
  type Machine,
  Operator,
  printResources,
  type RailedActions,
  type Rails,
  type Requirement,
  type Resources,
  type StateCode,
  State,
  type Verdict,
} from '@bigfleet/engine';
import type { NeedRef } from '../api/index.ts';
import type { MachineFacts, NeedFacts, ShardFeed } from '../facts.ts';
import { isBilled } from '../mirror/money.ts';

const REGION_KEY = 'topology.kubernetes.io/region';

export interface SimulatedStep {
  readonly cycle: number;
  readonly atMs: number;
  /** After what was decided has been carried out. */
  readonly machines: readonly Machine[];
  readonly output: CycleOutput;
  readonly railed: RailedActions<Action>;
  readonly rails: Rails;
  readonly record: Uint8Array;
  readonly actionHash: string;
}

export interface StepFeederOptions {
  readonly feed: ShardFeed;
  readonly epoch: bigint;
  readonly rackKey: string;
}

interface KnownMachine {
  readonly machine: Machine;
  readonly state: StateCode;
  readonly sinceMs: number;
}

export class StepFeeder {
  readonly #options: StepFeederOptions;
  readonly #machines = new Map<string, KnownMachine>();
  readonly #needs = new Map<string, NeedFacts>();

  constructor(options: StepFeederOptions) {
    this.#options = options;
  }

  /** Before the first step. */
  begin(machines: readonly Machine[], atMs: number): void {
    const { feed, epoch } = this.#options;
    feed.begin({ epoch, cycle: 0, isResumed: false });
    feed.snapshotPart(
      machines.map((machine) => this.#take(machine, atMs)),
      [],
    );
    feed.snapshotEnd({ machines: machines.length, needs: 0, atMs });
    feed.source('live', '');
  }

  step(step: SimulatedStep): void {
    const { feed, epoch } = this.#options;
    const { cycle, atMs, record, actionHash } = step;
    const frame = { epoch, cycle, atMs, actionHash };
    // The engine reuses its buffer in the next cycle.
    feed.record({ ...frame, payload: record.slice() });
    feed.record({ ...frame, payload: dispositionsOf(step) });
    const needs = needFacts(step.output);
    feed.cycle({
      cycle,
      atMs,
      machinesChanged: this.#changed(step.machines, atMs),
      machinesRemoved: this.#removed(step.machines),
      needsChanged: [...needs].flatMap(([key, facts]) =>
        this.#isKnown(key, facts) ? [] : [facts],
      ),
      needsRemoved: this.#goneNeeds(needs),
      actions: countsOf(step.railed.kept),
      shortfalls: step.output.memory.shortfalls.size,
      dollarsPerHour: dollarsPerHour(step.machines),
    });
  }

  #changed(machines: readonly Machine[], atMs: number): MachineFacts[] {
    const changed: MachineFacts[] = [];
    for (const machine of machines) {
      // A provider hands out the same record while nothing about it changes.
      if (this.#machines.get(machine.id)?.machine === machine) continue;
      changed.push(this.#take(machine, atMs));
    }
    return changed;
  }

  #take(machine: Machine, atMs: number): MachineFacts {
    const known = this.#machines.get(machine.id);
    const sinceMs = known?.state === machine.state ? known.sinceMs : atMs;
    this.#machines.set(machine.id, { machine, state: machine.state, sinceMs });
    return machineFacts(machine, sinceMs, this.#options.rackKey);
  }

  #removed(machines: readonly Machine[]): string[] {
    if (machines.length === this.#machines.size) return [];
    const present = new Set(machines.map(({ id }) => id));
    const gone = [...this.#machines.keys()].filter((id) => !present.has(id));
    for (const id of gone) this.#machines.delete(id);
    return gone;
  }

  #isKnown(key: string, facts: NeedFacts): boolean {
    const known = this.#needs.get(key);
    const isSame = known !== undefined && JSON.stringify(known) === JSON.stringify(facts);
    if (!isSame) this.#needs.set(key, facts);
    return isSame;
  }

  #goneNeeds(needs: ReadonlyMap<string, NeedFacts>): NeedRef[] {
    const gone: NeedRef[] = [];
    for (const [key, { cluster, fingerprint, group }] of this.#needs) {
      if (needs.has(key)) continue;
      this.#needs.delete(key);
      gone.push({ cluster, fingerprint, group });
    }
    return gone;
  }
}

function machineFacts(machine: Machine, sinceMs: number, rackKey: string): MachineFacts {
  const { assigned, labels } = machine;
  return {
    machine: machine.id,
    state: machine.state,
    cluster: machine.cluster,
    provider: machine.provider,
    instanceType: machine.instanceType,
    region: labels.get(REGION_KEY) ?? '',
    zone: machine.zone,
    rack: labels.get(rackKey) ?? '',
    capacityType: machine.capacityType,
    dollarsPerHour: machine.pricePerHour,
    interruptionProbability: machine.interruptionProbability,
    priority: assigned.priority,
    interruptionPenaltyBucket: assigned.interruptionBucket,
    reclamationPenaltyBucket: assigned.reclamationBucket,
    node: machine.state === State.Configured ? `node-${machine.id}` : '',
    sinceMs,
    pendingAction: '',
    lastError: machine.lastError,
    need: assigned.needFingerprint,
    group: assigned.group,
  };
}

/** As a shard counts it: what its providers bill. */
function dollarsPerHour(machines: readonly Machine[]): number {
  let dollars = 0;
  for (const { state, pricePerHour } of machines) if (isBilled(state)) dollars += pricePerHour;
  return dollars;
}

/** One per identity, as the feed names them. */
function needFacts({ verdicts, memory }: CycleOutput): Map<string, NeedFacts> {
  const facts = new Map<string, NeedFacts>();
  for (const verdict of verdicts) {
    const need = needOf(
      verdict,
      memory.shortfalls.get(verdict.need.profile.fingerprint)?.ageCycles,
    );
    facts.set(JSON.stringify([need.cluster, need.fingerprint, need.group]), need);
  }
  return facts;
}

function needOf(verdict: Verdict, ageCycles: number | undefined): NeedFacts {
  const { need, satisfied } = verdict;
  const { profile } = need;
  const age = satisfied ? 0 : (ageCycles ?? 0);
  return {
    cluster: need.cluster,
    fingerprint: profile.fingerprint,
    group: need.group,
    priority: profile.priority,
    interruptionPenaltyBucket: profile.interruptionBucket,
    reclamationPenaltyBucket: profile.reclamationBucket,
    requirements: profile.requirements.map(requirementText),
    resources: quantities(need.aggregate),
    isSatisfied: satisfied,
    deficit: quantities(verdict.deficit),
    reason: satisfied ? '' : verdict.reasonCode,
    claimed: verdict.claimedCount,
    ageCyclesUnmet: age,
    isEscalated: age > ESCALATE_AFTER_CYCLES,
    isParked: verdict.parked,
    domain: verdict.sameDomain ?? '',
    matching: verdict.matchingSupply ?? { idle: 0, configured: 0, speculative: 0 },
    awaitingDrain: verdict.awaitingDrainCount,
  };
}

function quantities(resources: Resources): Record<string, string> {
  return Object.fromEntries(printResources(resources));
}

const OPERATORS: ReadonlyMap<number, string> = new Map(
  Object.entries(Operator).map(([name, code]) => [code, name]),
);

function requirementText({ key, operator, values }: Requirement): string {
  const name = OPERATORS.get(operator) ?? String(operator);
  return values.length === 0 ? `${key} ${name}` : `${key} ${name} [${values.join(', ')}]`;
}

function dispositionsOf({ cycle, output, railed, rails }: SimulatedStep): Uint8Array {
  const fates = new Map<Action, DispositionCode>();
  for (const action of railed.deferredByReclaimCap) fates.set(action, 'deferred_reclaim_cap');
  for (const action of railed.deferredByMaxActions) fates.set(action, 'deferred_max_actions');
  const counts = new Map<DispositionCode, number>();
  const runs: DispositionRun[] = [];
  output.actions.forEach((action, place) => {
    const code = fates.get(action);
    if (code === undefined) return;
    counts.set(code, (counts.get(code) ?? 0) + 1);
    const last = runs.at(-1);
    if (last?.code === code && last.first + last.count === place) {
      runs[runs.length - 1] = { ...last, count: last.count + 1 };
    } else runs.push({ first: place, count: 1, code });
  });
  return encodeDispositions({
    cycle,
    ...rails,
    actionCount: output.actions.length,
    counts,
    runs,
    rollups: [],
    unnamedRollupCount: 0,
  });
}

function countsOf(actions: readonly Action[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of actions) {
    const name = actionKindName(kind);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
