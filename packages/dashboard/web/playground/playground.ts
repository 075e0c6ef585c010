// The worker without its port: commands in, messages out, time as an argument. Plays, pauses, steps, seeks;
// answers views, and pushes the watched ones when something has changed, never faster than a page can draw.

import { err } from '@bigfleet/base';
import { asWritten, watchedScenarios } from '@bigfleet/sim';
import { params, type ViewName } from '../../src/api/index.ts';
import type {
  FromWorker,
  PlaygroundState,
  ScenarioInfo,
  Settings,
  SliderInfo,
  Told,
  ToWorker,
} from './protocol.ts';
import { PlaygroundRun } from './run.ts';

const PUSH_MS = 250;
/** A tab that slept must not catch up for minutes. */
const MAX_CYCLES_PER_TICK = 50;
const MAX_CYCLES_PER_SECOND = 50;
const MAX_WATCHED = 8;

const SLIDERS: readonly SliderInfo[] = [
  slider('clusters', 'Clusters', [0, 24, 1], 'cluster', false),
  slider('demand', 'Demand', [0, 4, 0.1], '× the written replicas', true),
  slider('spotPrice', 'Spot price', [0.1, 8, 0.1], '× the written price', true),
  slider('interruption', 'Interruption probability', [0, 40, 0.5], '× the written one', true),
  slider('penalty', 'Interruption penalty', [0, 64, 0.5], '× the written dollars', false),
  slider('machines', 'Machines per type', [0, 8, 0.25], '× the written count', false),
];

export interface Playground {
  take(message: ToWorker): Promise<void>;
  /** Time has passed; `nowMs` only ever grows. */
  tick(nowMs: number): Promise<void>;
}

export function createPlayground(send: (message: FromWorker) => void): Playground {
  return new Machinery(send);
}

class Machinery implements Playground {
  readonly #send: (message: FromWorker) => void;
  #run: PlaygroundRun | undefined;
  #unsubscribe: () => void = () => undefined;
  #wanted: Settings = asWritten;
  #watched: readonly string[] = [];
  readonly #pushed = new Map<string, number>();
  #cyclesPerSecond = 2;
  #isPlaying = false;
  #due = 0;
  #lastMs = 0;
  #pushAfterMs = 0;

  constructor(send: (message: FromWorker) => void) {
    this.#send = send;
    send({ type: 'ready', scenarios: watchedScenarios.map(infoOf), sliders: SLIDERS });
    this.#load(watchedScenarios[0]?.id ?? '', '1', asWritten);
  }

  async take(message: ToWorker): Promise<void> {
    switch (message.type) {
      case 'ask':
        this.#send({
          type: 'answer',
          id: message.id,
          result: await this.#answer(message.view, message.query),
        });
        return;
      case 'watch':
        this.#watched = message.views.slice(0, MAX_WATCHED);
        this.#pushed.clear();
        await this.#push();
        return;
      case 'load':
        this.#load(message.scenario, message.seed, bounded(asWritten, message.settings));
        await this.#push();
        return;
      case 'play':
        this.#cyclesPerSecond = clamp(message.cyclesPerSecond, 0.1, MAX_CYCLES_PER_SECOND);
        this.#isPlaying = true;
        break;
      case 'pause':
        this.#isPlaying = false;
        break;
      case 'step':
        this.#isPlaying = false;
        this.#advance(clamp(Math.floor(message.cycles), 1, MAX_CYCLES_PER_TICK));
        break;
      case 'seek':
        this.#seek(Math.floor(message.cycle));
        break;
      case 'set':
        this.#set(bounded(this.#wanted, message.settings));
        break;
    }
    this.#tellState();
    await this.#push();
  }

  async tick(nowMs: number): Promise<void> {
    const passedMs = this.#lastMs === 0 ? 0 : nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    if (this.#isPlaying) {
      this.#due = Math.min(
        this.#due + (passedMs * this.#cyclesPerSecond) / 1_000,
        MAX_CYCLES_PER_TICK,
      );
      const cycles = Math.floor(this.#due);
      this.#due -= cycles;
      if (cycles > 0) {
        this.#advance(cycles);
        this.#tellState();
      }
    }
    if (nowMs < this.#pushAfterMs) return;
    this.#pushAfterMs = nowMs + PUSH_MS;
    await this.#push();
  }

  #load(scenario: string, seed: string, settings: Settings): void {
    const opened = PlaygroundRun.open({ scenario, seed, settings });
    if (!opened.ok) {
      this.#send({ type: 'problem', ...opened.error });
      return;
    }
    this.#unsubscribe();
    this.#run = opened.value;
    this.#wanted = settings;
    this.#isPlaying = false;
    this.#due = 0;
    this.#pushed.clear();
    this.#listen();
    this.#tellState();
    this.#send({ type: 'reset' });
  }

  #listen(): void {
    this.#unsubscribe =
      this.#run?.fleet.subscribe(({ name, data }) => this.#send({ type: 'event', name, data })) ??
      (() => undefined);
  }

  #advance(cycles: number): void {
    for (let left = cycles; left > 0; left--) {
      if (this.#run?.step() === true && !this.#run.isOver) continue;
      this.#isPlaying = false;
      return;
    }
  }

  /** Backwards is from the start: a run is its scenario, its seed and its settings. */
  #seek(cycle: number): void {
    const run = this.#run;
    if (run === undefined) return;
    const goal = clamp(cycle, 0, run.scenario.lastCycle);
    const { scenario, seed } = run.options;
    if (goal < run.cycle) this.#load(scenario, seed, run.options.settings);
    const current = this.#run;
    if (current === undefined) return;
    this.#unsubscribe();
    while (current.cycle < goal && current.step());
    this.#listen();
    this.#isPlaying = false;
    this.#send({ type: 'reset' });
  }

  #set(settings: Settings): void {
    this.#wanted = settings;
    const run = this.#run;
    if (run === undefined) return;
    const live = { ...run.settings };
    for (const { name, isLive } of SLIDERS) if (isLive) live[name] = settings[name];
    run.set(live);
  }

  async #push(): Promise<void> {
    const version = this.#run?.fleet.version ?? -1;
    for (const text of this.#watched) {
      if (this.#pushed.get(text) === version) continue;
      this.#pushed.set(text, version);
      const [view = '', search = ''] = text.split('?', 2);
      const query = Object.fromEntries(new URLSearchParams(search));
      const result = await this.#answer(view, query);
      this.#send(
        result.ok
          ? { type: 'view', view: text, answer: result.value }
          : { type: 'refused', view: text, ...result.error },
      );
    }
  }

  async #answer(view: string, query: Readonly<Record<string, string>>): Promise<Told> {
    if (!isView(view)) return err({ code: 'view_unknown', message: `there is no view ${view}` });
    const parsed = params[view].safeParse(query);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const message = `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'wrong'}`;
      return err({ code: 'parameter_invalid', message });
    }
    if (this.#run === undefined) return err({ code: 'not_loaded', message: 'load a scenario' });
    return await this.#run.fleet.answer(view, parsed.data);
  }

  #tellState(): void {
    const run = this.#run;
    if (run === undefined) return;
    this.#send({ type: 'state', state: this.#stateOf(run) });
  }

  #stateOf(run: PlaygroundRun): PlaygroundState {
    const { scenario, options } = run;
    const violations = run.isOver ? run.violations() : [];
    return {
      scenario: scenario.id,
      seed: options.seed,
      settings: this.#wanted,
      cycle: run.cycle,
      lastCycle: scenario.lastCycle,
      nowMs: run.nowMs,
      isPlaying: this.#isPlaying,
      cyclesPerSecond: this.#cyclesPerSecond,
      isOver: run.isOver,
      end: run.isOver
        ? { text: scenario.endState, isReached: violations.length === 0, violations }
        : null,
      hasDefaults: SLIDERS.every(({ name, initial }) => this.#wanted[name] === initial),
      needsReload: SLIDERS.some(
        ({ name, isLive }) => !isLive && this.#wanted[name] !== run.settings[name],
      ),
      actionHash: run.actionHash,
      chain: run.chain,
    };
  }
}

function infoOf({ id, title, question, story, endState, lastCycle }: ScenarioInfo): ScenarioInfo {
  return { id, title, question, story, endState, lastCycle };
}

function slider(
  name: keyof Settings,
  label: string,
  [min, max, step]: readonly [number, number, number],
  unit: string,
  isLive: boolean,
): SliderInfo {
  return { name, label, min, max, step, initial: asWritten[name], unit, isLive };
}

/** What a page sends is held to the ends of its sliders. */
function bounded(base: Settings, wanted: Partial<Settings>): Settings {
  const settings = { ...base };
  for (const { name, min, max } of SLIDERS) {
    const value = wanted[name];
    if (value !== undefined && Number.isFinite(value)) settings[name] = clamp(value, min, max);
  }
  settings.clusters = Math.round(settings.clusters);
  return settings;
}

function clamp(value: number, min: number, max: number): number {
  return Number.isFinite(value) ? Math.min(max, Math.max(min, value)) : min;
}

function isView(view: string): view is ViewName {
  return Object.hasOwn(params, view);
}
