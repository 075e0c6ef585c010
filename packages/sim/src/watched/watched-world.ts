// A world that somebody watches, cycle by cycle: a scripted scenario or a closed loop behind one face.

import { createRandom, type Random } from '@bigfleet/base';
import { CapacityType, type Machine, type Rails, railsOff, State } from '@bigfleet/engine';
import { ClosedLoop, type LoopPlan } from '../closed-loop/closed-loop.ts';
import { cycleCountOf, type Scenario, ScriptedRun } from '../scenarios/scenario.ts';
import { CYCLE_PERIOD_MS, type Decide, type StepResult } from '../step.ts';
import { asWritten, riskOf, type WatchSettings, withSettings } from './settings.ts';

export interface WatchedWorld {
  readonly rails: Rails;
  readonly nowMs: number;
  machines(): readonly Machine[];
  /** Undefined when the story is over. */
  step(): StepResult | undefined;
  /** Turns what can be turned while it runs: prices, risks, demand. */
  set(settings: WatchSettings): void;
  /** What is not as the story says it ends, in words. */
  violations(): readonly string[];
}

export interface WatchedScenario {
  readonly id: string;
  readonly title: string;
  readonly question: string;
  /** What to watch for. */
  readonly story: string;
  /** How it ends, as written; checked. */
  readonly endState: string;
  readonly lastCycle: number;
  open(options: OpenOptions): WatchedWorld;
}

export interface OpenOptions {
  readonly decide: Decide;
  readonly seed: bigint;
  readonly settings: WatchSettings;
}

export type ScenarioWords = Pick<WatchedScenario, 'title' | 'question' | 'story' | 'endState'>;

export function watchedScript(scenario: Scenario, words: ScenarioWords): WatchedScenario {
  return {
    id: scenario.name,
    ...words,
    lastCycle: cycleCountOf(scenario),
    open: ({ decide, seed }) => {
      const run = new ScriptedRun(scenario, { decide, seed });
      return {
        rails: railsOff,
        get nowMs() {
          return run.shard.nowMs;
        },
        machines: () => run.provider.list(),
        step: () => run.runCycle(),
        // Its machines and roll-ups are written down one by one.
        set: () => undefined,
        violations: () => scenario.violations(run.end()),
      };
    },
  };
}

export interface WatchedPlan extends ScenarioWords {
  readonly plan: LoopPlan;
  readonly lastCycle: number;
  /** What happens to the world beside its plan. */
  readonly beforeCycle?: (moment: WatchMoment) => void;
  readonly violations: (loop: ClosedLoop) => readonly string[];
  /** Machines on Spot are lost as often as they are declared to be, and offered again later. */
  readonly hasInterruptions?: boolean;
}

export interface WatchMoment {
  readonly loop: ClosedLoop;
  readonly cycle: number;
  readonly random: Random;
  readonly settings: WatchSettings;
}

export function watchedLoop(watched: WatchedPlan): WatchedScenario {
  const { plan, title, question, story, endState, lastCycle } = watched;
  return {
    id: plan.name,
    title,
    question,
    story,
    endState,
    lastCycle,
    open: (options) => new LoopWorld(watched, options),
  };
}

const OFFERED_AGAIN_CYCLES = 12;
const CYCLES_PER_HOUR = 3_600_000 / CYCLE_PERIOD_MS;

class LoopWorld implements WatchedWorld {
  readonly rails: Rails;
  readonly #watched: WatchedPlan;
  readonly #loop: ClosedLoop;
  readonly #random: Random;
  readonly #written: ReadonlyMap<string, Machine>;
  readonly #lost: { readonly cycle: number; readonly id: string }[] = [];
  #settings: WatchSettings;

  constructor(watched: WatchedPlan, { decide, seed, settings }: OpenOptions) {
    const { plan } = watched;
    this.#watched = watched;
    this.#settings = settings;
    this.rails = plan.rails ?? railsOff;
    this.#loop = new ClosedLoop(withSettings(plan, settings), { decide, seed });
    this.#random = createRandom(seed).stream(plan.name).stream('watched');
    // What the plan says of each machine, for factors that change later.
    const written = new ClosedLoop(withSettings(plan, { ...settings, ...untouchedTerms }), {
      seed,
    });
    this.#written = new Map(written.provider.list().map((machine) => [machine.id, machine]));
  }

  get nowMs(): number {
    return this.#loop.nowMs;
  }

  machines(): readonly Machine[] {
    return this.#loop.provider.list();
  }

  step(): StepResult | undefined {
    const loop = this.#loop;
    const { cycle } = loop;
    if (cycle >= this.#watched.lastCycle) return undefined;
    const moment = { loop, cycle, random: this.#random, settings: this.#settings };
    this.#watched.beforeCycle?.(moment);
    if (this.#watched.hasInterruptions === true) this.#interrupt(cycle);
    loop.runCycle();
    return loop.lastStep;
  }

  set(settings: WatchSettings): void {
    const before = this.#settings;
    this.#settings = settings;
    const { provider } = this.#loop;
    for (const { id, capacityType } of provider.list()) {
      const written = this.#written.get(id);
      if (capacityType !== CapacityType.Spot || written === undefined) continue;
      provider.republish(id, {
        pricePerHour: written.pricePerHour * settings.spotPrice,
        interruptionProbability: riskOf(written.interruptionProbability, settings),
      });
    }
    if (settings.demand !== before.demand) this.#scale(settings.demand);
  }

  violations(): readonly string[] {
    return this.#watched.violations(this.#loop);
  }

  #scale(demand: number): void {
    for (const { id, workloads } of this.#watched.plan.clusters) {
      const cluster = this.#loop.clusters.find((found) => found.id === id);
      for (const { shape, replicas } of workloads) {
        if (shape.same === undefined) cluster?.scale(shape.name, Math.round(replicas * demand));
      }
    }
  }

  #interrupt(cycle: number): void {
    const { provider } = this.#loop;
    while ((this.#lost[0]?.cycle ?? cycle) + OFFERED_AGAIN_CYCLES < cycle) {
      this.#offerAgain(this.#lost.shift()?.id ?? '');
    }
    for (const { id, state, interruptionProbability } of provider.list()) {
      if (state !== State.Configured || interruptionProbability === 0) continue;
      const perCycle = 1 - (1 - interruptionProbability) ** (1 / CYCLES_PER_HOUR);
      if (this.#random.float() >= perCycle) continue;
      provider.failMachine(id, 'interrupted by the provider');
      this.#lost.push({ cycle, id });
    }
  }

  #offerAgain(id: string): void {
    const { provider } = this.#loop;
    if (!provider.has(id) || provider.get(id).state !== State.Failed) return;
    const written = this.#written.get(id);
    const { pricePerHour, interruptionProbability } = provider.get(id);
    provider.removeMachine(id);
    if (written === undefined) return;
    provider.add({ ...written, pricePerHour, interruptionProbability });
  }
}

/** As the plan has them. */
const untouchedTerms: Pick<WatchSettings, 'spotPrice' | 'interruption'> = {
  spotPrice: asWritten.spotPrice,
  interruption: asWritten.interruption,
};
