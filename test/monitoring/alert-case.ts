// What an alert has to prove: a world in which it fires, the first instant at which it does, what the
// reader is told then, and worlds in which it stays silent. Values are in the notation of promtool.

/** Series with their values, one per interval of the case. */
export type World = Readonly<Record<string, string>>;

export interface Firing {
  readonly severity: 'page' | 'ticket' | 'warn' | 'info';
  /** Besides alertname and severity. */
  readonly labels: Readonly<Record<string, string>>;
  /** Rendered. */
  readonly summary: string;
}

export interface AlertCase {
  readonly alert: string;
  /** Between samples; a minute unless told. */
  readonly interval?: string;
  /** Between evaluations of the rules; 30 s unless told. */
  readonly evaluation?: string;
  readonly world: World;
  /** The last instant of silence, and the first at which it fires: its `for` apart from the cause. */
  readonly silentUntil: string;
  readonly firesAt: string;
  readonly fires: readonly Firing[];
  /** By what is different: each stays silent at `firesAt` and long after. */
  readonly silent: Readonly<Record<string, World>>;
}

/** Long enough for every `for`. */
const STEPS = 150;

export function constant(value: number): string {
  return `${value}+0x${STEPS}`;
}

/** A counter that begins at 0. */
export function rising(perStep: number): string {
  return `0+${perStep}x${STEPS}`;
}

/** 0 for some steps, then the value. */
export function stepTo(value: number, afterSteps: number): string {
  return `0+0x${afterSteps - 1} ${value}+0x${STEPS}`;
}
