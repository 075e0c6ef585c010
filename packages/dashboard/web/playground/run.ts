// One run of a scenario: the real engine over simulated supply and demand, feeding the dashboard's own
// model. No clock, no worker, no page: the worker drives it in a browser, and Node drives it in tests, and
// both must decide the same bytes.

import { err, ok, type Result, textDigest } from '@bigfleet/base';
import {
  counterfactual,
  type CounterfactualAnswer,
  type CycleInput,
  decodeRecord,
  type ExplainSubject,
} from '@bigfleet/engine';
import {
  asWritten,
  IncrementalEngine,
  RACK_KEY,
  type WatchedScenario,
  watchedScenarios,
  type WatchedWorld,
  type WatchSettings,
} from '@bigfleet/sim';
import type { Problem } from '../../src/api/index.ts';
import type { ExplainFacts, ExplainQuestion, Fleet, Outside } from '../../src/facts.ts';
import { createFleet, explainRecord } from '../../src/model/index.ts';
import { StepFeeder } from '../../src/simulated/step-feeder.ts';

const SHARD = 'playground';
const EPOCH = 1n;
/** Inputs are kept for counterfactuals: lists of shared records, a few kilobytes each. */
const KEPT_CYCLES = 720;
/** A visitor waits for the answer in a tab: fewer trials than a shard makes. */
const MAX_RUNS = 32;

interface KeptCycle {
  readonly cycle: number;
  readonly atMs: number;
  readonly record: Uint8Array;
  readonly input: CycleInput;
}

export interface RunOptions {
  readonly scenario: string;
  readonly seed: string;
  readonly settings: WatchSettings;
}

export class PlaygroundRun {
  readonly options: RunOptions;
  readonly scenario: WatchedScenario;
  readonly fleet: Fleet;
  readonly #engine = new IncrementalEngine();
  readonly #world: WatchedWorld;
  readonly #feeder: StepFeeder;
  readonly #kept: KeptCycle[] = [];
  #settings: WatchSettings;
  #cycle = 0;
  #isOver = false;
  #actionHash = '';
  #chain = '';

  /** By `open`, which refuses what is not there. */
  constructor(scenario: WatchedScenario, options: RunOptions) {
    this.scenario = scenario;
    this.options = options;
    this.#settings = options.settings;
    this.#world = scenario.open({
      decide: this.#engine.decide,
      seed: seedOf(options.seed),
      settings: options.settings,
    });
    this.fleet = createFleet({
      nowMs: () => this.#world.nowMs,
      isSimulated: true,
      outside: this.#outside(),
    });
    const feed = this.fleet.shard(SHARD, 'this tab');
    this.#feeder = new StepFeeder({ feed, epoch: EPOCH, rackKey: RACK_KEY });
    this.#feeder.begin(this.#world.machines(), this.#world.nowMs);
    this.#tellStatus();
  }

  static open(options: RunOptions): Result<PlaygroundRun, Problem> {
    const scenario = watchedScenarios.find(({ id }) => id === options.scenario);
    if (scenario === undefined) {
      const known = watchedScenarios.map(({ id }) => id).join(', ');
      const message = `there is no scenario ${options.scenario}; there are ${known}`;
      return err({ code: 'scenario_unknown', message });
    }
    return ok(new PlaygroundRun(scenario, options));
  }

  /** Cycles so far. */
  get cycle(): number {
    return this.#cycle;
  }

  get nowMs(): number {
    return this.#world.nowMs;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get settings(): WatchSettings {
    return this.#settings;
  }

  get actionHash(): string {
    return this.#actionHash;
  }

  get chain(): string {
    return this.#chain;
  }

  /** False when the story is over. */
  step(): boolean {
    if (this.#isOver) return false;
    const atMs = this.#world.nowMs;
    const step = this.#world.step();
    if (step === undefined) {
      this.#isOver = true;
      return false;
    }
    this.#cycle += 1;
    const { record, actionHash } = this.#engine;
    this.#actionHash = actionHash;
    this.#chain = chained(this.#chain, actionHash);
    this.#keep({ cycle: this.#cycle, atMs, record: record.slice(), input: step.input });
    this.#feeder.step({
      cycle: this.#cycle,
      atMs,
      machines: this.#world.machines(),
      output: step.output,
      railed: step.railed,
      rails: this.#world.rails,
      record,
      actionHash,
    });
    this.#tellStatus();
    this.#isOver = this.#cycle >= this.scenario.lastCycle;
    return true;
  }

  set(settings: WatchSettings): void {
    this.#settings = settings;
    this.#world.set(settings);
  }

  violations(): readonly string[] {
    return this.#world.violations();
  }

  #keep(kept: KeptCycle): void {
    this.#kept.push(kept);
    if (this.#kept.length > KEPT_CYCLES) this.#kept.shift();
  }

  #tellStatus(): void {
    const clusters = new Set<string>();
    const input = this.#kept.at(-1)?.input;
    for (const cluster of input?.reportedClusters ?? []) clusters.add(cluster);
    const { nowMs } = this.#world;
    this.fleet.shard(SHARD, 'this tab').status({
      epoch: EPOCH,
      startedMs: this.#kept[0]?.atMs ?? nowMs,
      isReady: true,
      isPaused: false,
      isDryRun: false,
      rails: [],
      version: 'playground',
      providers: [
        {
          name: 'fake',
          address: 'this tab',
          source: 'simulation',
          isShared: false,
          isHealthy: true,
          lastListMs: nowMs,
        },
      ],
      sessions: [...clusters].sort().map((cluster) => ({
        cluster,
        isConnected: true,
        sinceMs: this.#kept[0]?.atMs ?? nowMs,
        lastRollupMs: nowMs,
        quarantinedRollups: 0,
        identity: 'simulated',
        // No operator stands between the simulation and the engine.
        tellsNodes: false,
        phantoms: [],
      })),
      brakes: [],
      // A cycle is timed by a shard, and here is none: the time of this tab would say nothing.
      phases: [],
    });
  }

  #outside(): Outside {
    const missing = (what: string): Promise<Result<never, Problem>> =>
      Promise.resolve(err({ code: 'source_absent', message: `the playground has no ${what}` }));
    return {
      explain: (question) => Promise.resolve(this.#explain(question)),
      record: (_, __, cycle) => {
        const kept = this.#kept.find((found) => found.cycle === cycle);
        if (kept === undefined) {
          return Promise.resolve(err({ code: 'record_not_found', message: `no cycle ${cycle}` }));
        }
        const { atMs, record } = kept;
        const facts = { epoch: EPOCH, cycle, atMs, payload: record, actionHash: '' };
        return Promise.resolve(ok(facts));
      },
      whatIf: () => missing('recorded week to run again; use a shard with --records-dir'),
      needOfPod: () => missing('cluster to look Pods up in'),
    };
  }

  #explain(question: ExplainQuestion): Result<ExplainFacts, Problem> {
    const { subject, cycle, withCounterfactuals } = question;
    const asked: ExplainSubject =
      'machine' in subject ? { machineId: subject.machine } : { need: subject.need };
    const found = cycle > 0 ? this.#at(cycle, asked) : this.#newest(asked);
    if (found === undefined) {
      return err({ code: 'record_not_found', message: 'no record of this run mentions it' });
    }
    if (!withCounterfactuals || !('need' in subject)) return ok(found.facts);
    const answer = counterfactual(found.kept.input, subject.need, { maxRuns: MAX_RUNS });
    return ok(withAnswer(found.facts, answer));
  }

  #newest(subject: ExplainSubject): { kept: KeptCycle; facts: ExplainFacts } | undefined {
    let spared: { kept: KeptCycle; facts: ExplainFacts } | undefined;
    for (let at = this.#kept.length - 1; at >= 0; at--) {
      const kept = this.#kept[at] as KeptCycle;
      const facts = explained(kept, subject);
      if (facts.kind === 'explained') return { kept, facts };
      // Looked at and left alone: what was decided about it is further back, if anything was.
      if (facts.kind === 'spared') spared ??= { kept, facts };
    }
    return spared;
  }

  #at(
    cycle: number,
    subject: ExplainSubject,
  ): { kept: KeptCycle; facts: ExplainFacts } | undefined {
    const kept = this.#kept.find((found) => found.cycle === cycle);
    return kept === undefined ? undefined : { kept, facts: explained(kept, subject) };
  }
}

function explained({ cycle, atMs, record }: KeptCycle, subject: ExplainSubject): ExplainFacts {
  const decoded = decodeRecord(record);
  if (!decoded.ok) throw decoded.error;
  return explainRecord({ epoch: EPOCH, cycle, atMs }, decoded.value, undefined, subject);
}

function withAnswer(facts: ExplainFacts, answer: CounterfactualAnswer): ExplainFacts {
  if (answer.kind !== 'changes') return { ...facts, text: `${facts.text} ${answer.text}` };
  return {
    ...facts,
    isTruncated: facts.isTruncated || answer.truncated,
    counterfactuals: answer.changes.map(({ reasonCode, text, dollarsPerHour, verified }) => ({
      reason: reasonCode,
      text,
      dollarsPerHour,
      isVerified: verified,
    })),
  };
}

/** Any text is a seed. */
function seedOf(text: string): bigint {
  const { low, high } = textDigest(text);
  return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

function chained(chain: string, actionHash: string): string {
  const { low, high } = textDigest(`${chain} ${actionHash}`);
  const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0');
  return hex(high) + hex(low);
}

export interface HeadlessRun {
  readonly chain: string;
  /** One per cycle. */
  readonly actionHashes: readonly string[];
  readonly violations: readonly string[];
}

/** The whole story without a page, for comparing one engine of JavaScript with another. */
export function runHeadless(
  scenario: string,
  seed = '1',
  settings: WatchSettings = asWritten,
): Result<HeadlessRun, Problem> {
  const opened = PlaygroundRun.open({ scenario, seed, settings });
  if (!opened.ok) return opened;
  const run = opened.value;
  const actionHashes: string[] = [];
  while (run.step()) actionHashes.push(run.actionHash);
  return ok({ chain: run.chain, actionHashes, violations: run.violations() });
}
