// What page and worker say to each other. Views are asked with the text of a URL, exactly as a server is, so
// that pages cannot tell one from the other.

import type { WatchSettings } from '@bigfleet/sim';
import type { Problem, ViewName } from '../../src/api/index.ts';
import type { ModelEvent } from '../../src/facts.ts';

export type Settings = WatchSettings;

export interface ScenarioInfo {
  readonly id: string;
  readonly title: string;
  readonly question: string;
  readonly story: string;
  readonly endState: string;
  readonly lastCycle: number;
}

export interface SliderInfo {
  readonly name: keyof Settings;
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly initial: number;
  /** What is counted, or `× the written …` of a factor. */
  readonly unit: string;
  /** Acts at once; others act when the scenario is loaded again. */
  readonly isLive: boolean;
}

export interface PlaygroundState {
  readonly scenario: string;
  readonly seed: string;
  readonly settings: Settings;
  readonly cycle: number;
  readonly lastCycle: number;
  readonly nowMs: number;
  readonly isPlaying: boolean;
  readonly cyclesPerSecond: number;
  readonly isOver: boolean;
  /** Null before the last cycle. */
  readonly end: {
    readonly text: string;
    readonly isReached: boolean;
    readonly violations: readonly string[];
  } | null;
  /** The end is stated for the sliders as they are written. */
  readonly hasDefaults: boolean;
  readonly needsReload: boolean;
  /** Of the last cycle's actions; empty before the first. */
  readonly actionHash: string;
  /** Over the hashes of all cycles so far: equal to Node's, cycle by cycle. */
  readonly chain: string;
}

export type ToWorker =
  | {
      readonly type: 'ask';
      readonly id: number;
      readonly view: ViewName;
      readonly query: Readonly<Record<string, string>>;
    }
  | { readonly type: 'watch'; readonly views: readonly string[] }
  | {
      readonly type: 'load';
      readonly scenario: string;
      readonly seed: string;
      readonly settings: Partial<Settings>;
    }
  | { readonly type: 'play'; readonly cyclesPerSecond: number }
  | { readonly type: 'pause' }
  | { readonly type: 'step'; readonly cycles: number }
  | { readonly type: 'seek'; readonly cycle: number }
  | { readonly type: 'set'; readonly settings: Partial<Settings> };

export type Told =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Problem };

export type FromWorker =
  | {
      readonly type: 'ready';
      readonly scenarios: readonly ScenarioInfo[];
      readonly sliders: readonly SliderInfo[];
    }
  | { readonly type: 'state'; readonly state: PlaygroundState }
  | { readonly type: 'answer'; readonly id: number; readonly result: Told }
  | { readonly type: 'view'; readonly view: string; readonly answer: unknown }
  | {
      readonly type: 'refused';
      readonly view: string;
      readonly code: string;
      readonly message: string;
    }
  | { readonly type: 'event'; readonly name: ModelEvent['name']; readonly data: unknown }
  | { readonly type: 'reset' }
  | { readonly type: 'problem'; readonly code: string; readonly message: string };
