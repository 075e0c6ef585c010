// What a bench file exports: named shapes, and ratios between two of them. Names are stable
// identifiers (baseline.json and docs refer to them), start with the file's folder under bench/,
// and never carry a size that the shape does not state.
//
// A shape says what it claims to build (`shape`) and counts what it really built (`observe`); the
// harness refuses to time a shape whose two answers differ. Earlier micro-benchmarks timed an
// empty inventory because a build step had failed silently.

export type ShapeValue = number | string;
/** A stated cardinality: exact, or a range where the generator decides ("at least 260K Needs"). */
export type ShapeRule = ShapeValue | { readonly min?: number; readonly max?: number };
export type Shape = Readonly<Record<string, ShapeValue>>;
export type ExtraValue = number | string | boolean | null;
export type Extra = Readonly<Record<string, ExtraValue>>;

/** Bounds on one value of a result; a value that is missing or not a number breaks its bar. */
export interface Bar {
  readonly min?: number;
  readonly max?: number;
}

/** Keys are paths into a result: 'perK.p50', 'p99Ms', 'allocBytesPerOp', 'extra.ratio'. */
export type Bars = Readonly<Record<string, Bar>>;

export interface BenchContext {
  readonly seed: number;
}

/** Returned by an iteration that must not count as one, such as a scheduled safety pass. */
export interface Apart {
  /** Its p50, maximum and count appear as `extra.<apart>`, `extra.<apart>Max`, `…Count`. */
  readonly apart: string;
}

export interface Timing {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly totalMs: number;
  /** Milliseconds per iteration, in order. */
  readonly samples: Float64Array;
}

export interface Bench<State> {
  readonly name: string;
  readonly shape: Readonly<Record<string, ShapeRule>>;
  readonly warmup: number;
  readonly iterations: number;
  /** Operations inside one iteration, for work too short to time alone. 1 when absent. */
  readonly opsPerIteration?: number;
  readonly seed?: number;
  readonly bars?: Bars;
  /** false where a heap reading means nothing, such as a shape of 5,000 open sockets. */
  readonly measureAllocations?: boolean;
  readonly nodeFlags?: readonly string[];
  readonly timeoutMs?: number;
  setup(context: BenchContext): State | Promise<State>;
  /** Counts what setup built, by walking it, never by repeating the constants of `shape`. */
  observe(state: State): Shape;
  /** Untimed, before each iteration: restore state, draw the next changes. */
  prepare?(state: State, index: number): void | Promise<void>;
  iteration(state: State, index: number): void | Apart | Promise<void | Apart>;
  /** After the timed iterations: checks outcomes (throws) and returns further measurements. */
  extras?(state: State, timing: Timing): Extra | Promise<Extra>;
  teardown?(state: State): void | Promise<void>;
}

/** `of` ÷ `over` for one metric, stored in `of`'s `extra.<as>`; running one runs the other. */
export interface Ratio {
  readonly of: string;
  readonly over: string;
  readonly metric: 'p50Ms' | 'p95Ms' | 'p99Ms' | 'maxMs';
  readonly as: string;
  readonly bar?: Bar;
}

export type BenchEntry =
  | { readonly kind: 'bench'; readonly bench: Bench<unknown> }
  | { readonly kind: 'ratio'; readonly ratio: Ratio };

export const DEFAULT_SEED = 0x00c0_ffee;
export const DEFAULT_TIMEOUT_MS = 600_000;
const MAX_ITERATIONS = 10_000_000;
const NAME = /^[a-z0-9]+(-[a-z0-9]+)*(\/[a-z0-9]+(-[a-z0-9]+)*)+$/;

export function defineBench<State>(bench: Bench<State>): BenchEntry {
  refuseUnless(NAME.test(bench.name), bench.name, 'name must look like area/shape, in kebab-case');
  refuseUnless(isCount(bench.warmup, 0), bench.name, 'warmup must be a whole number, 0 or more');
  refuseUnless(isCount(bench.iterations, 1), bench.name, 'iterations must be 1 to 10,000,000');
  refuseUnless(isCount(bench.opsPerIteration ?? 1, 1), bench.name, 'opsPerIteration must be 1+');
  refuseUnless(Object.keys(bench.shape).length > 0, bench.name, 'shape must state a cardinality');
  for (const [path, bar] of Object.entries(bench.bars ?? {})) refuseEmptyBar(bench.name, path, bar);
  return { kind: 'bench', bench };
}

export function defineRatio(ratio: Ratio): BenchEntry {
  refuseUnless(ratio.of !== ratio.over, ratio.of, 'a ratio needs two different benches');
  if (ratio.bar !== undefined) refuseEmptyBar(ratio.of, `extra.${ratio.as}`, ratio.bar);
  return { kind: 'ratio', ratio };
}

const sink: { value: unknown } = { value: undefined };

/** Uses a value, so that the optimiser cannot remove the work that made it. */
export function keep(value: unknown): void {
  sink.value = value;
}

function refuseEmptyBar(name: string, path: string, bar: Bar): void {
  const bounded = Number.isFinite(bar.min ?? bar.max);
  refuseUnless(bounded, name, `bar ${path} has neither min nor max: it could not fail`);
}

function isCount(value: number, least: number): boolean {
  return Number.isInteger(value) && value >= least && value <= MAX_ITERATIONS;
}

function refuseUnless(holds: boolean, name: string, problem: string): void {
  if (!holds) throw new Error(`bench ${name}: ${problem}`);
}
