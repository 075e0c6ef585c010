// What-if over recorded demand, as a closed loop: the production engine decides over a model of supply that
// starts from the recorded machines and then follows the engine's own actions, once as recorded (the
// baseline) and once with the changes. Both sides share the model and its errors, so their difference is
// what the changes do; how far the baseline is from the recording is said beside it.
//
// Two passes: the first measures, the second runs both sides in step. Memory holds three fleets and one
// trace, whatever the length of the recording. No clock, no I/O, no randomness but the seed's: the same
// recording, changes and seed give the same bytes.

import { err, ok, type PriorityClass, type Result } from '@bigfleet/base';
import { deployedRails, type Rails } from '../actions/rails.ts';
import { actionHash } from '../trace/action-hash.ts';
import { describeAction, differenceOf } from '../trace/action-difference.ts';
import {
  type Break,
  type CycleDecisions,
  type Fidelity,
  MAX_POINTS,
  MAX_SHOWN_ACTIONS,
  MAX_SHOWN_DIFFERENCES,
  type WhatIfAnswer,
  type WhatIfProblem,
} from './answer.ts';
import { Assumptions, subjectProblem } from './assumptions.ts';
import { type Change, describeChange } from './change.ts';
import { noSpan, rounded, type Span, spanOf } from './meter.ts';
import { type ReadTrace, type RecordedEvent, type RecordedTrace, Recording } from './recording.ts';
import { Survey } from './survey.ts';
import { TIERS } from './unmet.ts';
import { World } from './world.ts';

/** Cycles between two looks at the signal. */
const BREATHE_EVERY_CYCLES = 64;
const DEFAULT_BREAK_AFTER_MS = 300_000;
const DEFAULT_SEED = '1';

export interface WhatIfOptions {
  readonly seed?: string;
  /** Default: the deployed rails. A trace does not say which were on. */
  readonly rails?: Rails;
  /** For how long a row must be unmet to count as broken. */
  readonly breakAfterMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: WhatIfProgress) => void;
  /** Awaited now and then, so that the caller's event loop gets a turn; nothing without it. */
  readonly breathe?: () => Promise<void>;
}

export interface WhatIfProgress {
  readonly pass: 'measure' | 'run';
  readonly trace: string;
  /** In this pass so far. */
  readonly cycleCount: number;
  /** 0 until it is known. */
  readonly totalCycleCount: number;
}

/** Rejects with the signal's reason when it is aborted, and with what `open` rejects with. */
export async function whatIf(
  traces: readonly RecordedTrace[],
  changes: readonly Change[],
  options: WhatIfOptions = {},
): Promise<Result<WhatIfAnswer, WhatIfProblem>> {
  if (traces.length === 0) return err({ code: 'no_trace', text: 'there is no trace' });
  const survey = new Survey(changes);
  const measured = new Recording(noSpan);
  const read = await readAll(
    traces,
    measured,
    options,
    { pass: 'measure', totalCycleCount: 0 },
    (event) => survey.take(event, measured.atMs),
  );
  const { cycleCount } = survey;
  if (cycleCount === 0) {
    const ends = read.map(({ name, end }) => `${name}: ${end}`).join('; ');
    return err({ code: 'no_cycle', text: `no cycle can be read (${ends})` });
  }
  const problem = subjectProblem(changes, survey);
  if (problem !== undefined) return err(problem);
  const run = new Run(survey, changes, options);
  const progress = { pass: 'run', totalCycleCount: cycleCount } as const;
  await readAll(traces, run.recording, options, progress, (event) => run.take(event));
  return ok(run.answer(read));
}

async function readAll(
  traces: readonly RecordedTrace[],
  recording: Recording,
  { signal, onProgress, breathe }: WhatIfOptions,
  progress: Pick<WhatIfProgress, 'pass' | 'totalCycleCount'>,
  take: (event: RecordedEvent) => void,
): Promise<ReadTrace[]> {
  const read: ReadTrace[] = [];
  let cycleCount = 0;
  for (const trace of traces) {
    const tell = async (): Promise<void> => {
      onProgress?.({ ...progress, trace: trace.name, cycleCount });
      await breathe?.();
      signal?.throwIfAborted();
    };
    await tell();
    const events = recording.read(trace, await trace.open());
    let step = events.next();
    for (; step.done !== true; step = events.next()) {
      take(step.value);
      if (step.value.kind !== 'cycle') continue;
      cycleCount += 1;
      if (cycleCount % BREATHE_EVERY_CYCLES === 0) await tell();
    }
    read.push(step.value);
  }
  return read;
}

class Run {
  readonly recording: Recording;
  readonly #survey: Survey;
  readonly #changes: readonly Change[];
  readonly #options: WhatIfOptions;
  readonly #span: Span;
  readonly #baseline: World;
  readonly #changed: World;
  readonly #breaks = new Map<PriorityClass, Break>();
  readonly #differences: CycleDecisions[] = [];
  #cycleCount = 0;
  #differingCount = 0;

  constructor(survey: Survey, changes: readonly Change[], options: WhatIfOptions) {
    const { startMs, endMs, cycleCount } = survey;
    this.#span = spanOf(startMs, endMs, Math.min(MAX_POINTS, Math.max(1, cycleCount - 1)));
    this.#survey = survey;
    this.#changes = changes;
    this.#options = options;
    this.recording = new Recording(this.#span);
    this.#baseline = this.#world([]);
    this.#changed = this.#world(changes);
  }

  #world(changes: readonly Change[]): World {
    const { seed = DEFAULT_SEED, rails = deployedRails } = this.#options;
    const assumptions = new Assumptions(changes, this.#survey, seed);
    return new World({ span: this.#span, assumptions, dwells: this.#survey.dwells(), rails });
  }

  get #breakAfterMs(): number {
    return this.#options.breakAfterMs ?? DEFAULT_BREAK_AFTER_MS;
  }

  take(event: RecordedEvent): void {
    const { atMs } = this.recording;
    if (event.kind !== 'cycle') {
      this.#baseline.apply(event, atMs);
      this.#changed.apply(event, atMs);
      return;
    }
    this.#cycleCount += 1;
    this.#baseline.cycle(atMs, event.slices);
    this.#changed.cycle(atMs, event.slices);
    this.#compareDecisions(atMs);
    this.#findBreaks(atMs);
  }

  #compareDecisions(atMs: number): void {
    if (actionHash(this.#baseline.engine) === actionHash(this.#changed.engine)) return;
    this.#differingCount += 1;
    if (this.#differences.length >= MAX_SHOWN_DIFFERENCES) return;
    const difference = differenceOf(this.#baseline.decided(), this.#changed.decided());
    const { onlyA, onlyB, onlyACount, onlyBCount } = difference;
    this.#differences.push({
      cycle: this.#cycleCount,
      atMs: atMs - this.#span.startMs,
      onlyBaselineCount: onlyACount,
      onlyChangedCount: onlyBCount,
      onlyBaseline: onlyA.slice(0, MAX_SHOWN_ACTIONS).map(describeAction),
      onlyChanged: onlyB.slice(0, MAX_SHOWN_ACTIONS).map(describeAction),
    });
  }

  /** A tier above batch that is unmet for too long here, and in the baseline not. */
  #findBreaks(atMs: number): void {
    if (this.#breaks.size === TIERS.length - 1) return;
    const after = this.#breakAfterMs;
    for (const [key, row] of this.#changed.unmet.rows) {
      const { tier, cluster, fingerprint, reasonCode, sinceMs } = row;
      if (tier === 'batch' || this.#breaks.has(tier) || atMs - sinceMs < after) continue;
      const base = this.#baseline.unmet.rows.get(key);
      if (base !== undefined && atMs - base.sinceMs >= after) continue;
      const { startMs } = this.#span;
      const unmetSinceMs = sinceMs - startMs;
      const when = { atMs: atMs - startMs, unmetSinceMs };
      this.#breaks.set(tier, { tier, ...when, cluster, fingerprint, reasonCode });
    }
  }

  answer(traces: readonly ReadTrace[]): WhatIfAnswer {
    const { seed = DEFAULT_SEED, rails = deployedRails } = this.#options;
    const { startMs, endMs, cycleCount } = this.#survey;
    const breaks = [...this.#breaks.values()];
    breaks.sort((a, b) => a.atMs - b.atMs || TIERS.indexOf(a.tier) - TIERS.indexOf(b.tier));
    return {
      changes: this.#changes.map(describeChange),
      seed,
      durationMs: endMs - startMs,
      cycleCount,
      traces,
      model: { dwells: this.#survey.dwells(), rails, breakAfterMs: this.#breakAfterMs },
      fidelity: this.#fidelity(),
      baseline: this.#baseline.answer(),
      changed: this.#changed.answer(),
      breaks,
      differingCycleCount: this.#differingCount,
      differences: this.#differences,
    };
  }

  #fidelity(): Fidelity {
    const recorded = this.recording.mirror.meter;
    const { meter } = this.#baseline.fleet;
    let bound = 0;
    let dollars = 0;
    const { pointCount } = this.#span;
    for (let point = 0; point < pointCount; point++) {
      bound += Math.abs(recorded.pointBoundCount(point) - meter.pointBoundCount(point));
      dollars += Math.abs(recorded.pointDollarsPerHour(point) - meter.pointDollarsPerHour(point));
    }
    const average = (of: typeof meter): Fidelity['recorded'] => ({
      boundCount: of.averageBoundCount(),
      dollarsPerHour: of.money().averagePerHour,
    });
    return {
      recorded: average(recorded),
      baseline: average(meter),
      boundDistance: rounded(bound / pointCount),
      dollarsPerHourDistance: rounded(dollars / pointCount),
      skippedEventCount: this.#baseline.skippedCount,
    };
  }
}
