// The worker as a source of data: the same answers and events that a dashboard's process gives, and the
// controls that only a simulation has. Its clock is the simulation's: it stands while the run stands.

import type { Result } from '@bigfleet/base';
import type { ViewName } from '../../src/api/params.ts';
import type { Problem } from '../../src/api/stream.ts';
import type { DataSource, LiveEvent, LiveStream } from '../src/store/source.ts';
import { parseQuery } from '../src/url/search.ts';
import type {
  FromWorker,
  PlaygroundState,
  ScenarioInfo,
  SliderInfo,
  ToWorker,
} from './protocol.ts';

/** What a Worker is to us; tests bring two ends of a channel. */
export interface WorkerEnd {
  postMessage(message: ToWorker): void;
  addEventListener(name: 'message', told: (event: { readonly data: unknown }) => void): void;
  addEventListener(name: 'error', told: (event: { readonly message?: string }) => void): void;
}

export interface PlaygroundView {
  readonly scenarios: readonly ScenarioInfo[];
  readonly sliders: readonly SliderInfo[];
  /** Null until the first scenario is loaded. */
  readonly state: PlaygroundState | null;
  readonly problem: Problem | null;
}

export class Playground implements DataSource {
  readonly #worker: WorkerEnd;
  readonly #waiting = new Map<number, (result: Result<unknown, Problem>) => void>();
  readonly #watchers = new Set<() => void>();
  #listener: (event: LiveEvent) => void = () => undefined;
  #view: PlaygroundView = { scenarios: [], sliders: [], state: null, problem: null };
  #lastId = 0;

  constructor(worker: WorkerEnd) {
    this.#worker = worker;
    // Whatever the worker posts, it posts by protocol.ts: both are built from one tree.
    worker.addEventListener('message', ({ data }) => this.#take(data as FromWorker));
    worker.addEventListener('error', (event) => {
      const why = event.message ?? 'it could not be loaded';
      this.#show({
        problem: { code: 'worker_failed', message: `The engine’s worker failed: ${why}` },
      });
    });
  }

  /** The simulation's time; 0 before a scenario is loaded. */
  nowMs(): number {
    return this.#view.state?.nowMs ?? 0;
  }

  send(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  watch(told: () => void): () => void {
    this.#watchers.add(told);
    return () => void this.#watchers.delete(told);
  }

  view(): PlaygroundView {
    return this.#view;
  }

  ask(viewText: string, signal: AbortSignal): Promise<Result<unknown, Problem>> {
    const at = viewText.indexOf('?');
    const view = at < 0 ? viewText : viewText.slice(0, at);
    const query = at < 0 ? {} : { ...parseQuery(viewText.slice(at + 1)) };
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, resolve);
      signal.addEventListener('abort', () => {
        this.#waiting.delete(id);
        reject(signal.reason);
      });
      this.send({ type: 'ask', id, view: view as ViewName, query });
    });
  }

  open(listener: (event: LiveEvent) => void): LiveStream {
    this.#listener = listener;
    return {
      want: ({ views }) => this.send({ type: 'watch', views }),
      // The worker sleeps with its page.
      rest: () => undefined,
      wake: () => undefined,
      close: () => this.send({ type: 'watch', views: [] }),
    };
  }

  #show(change: Partial<PlaygroundView>): void {
    this.#view = { ...this.#view, ...change };
    for (const told of this.#watchers) told();
  }

  #take(message: FromWorker): void {
    switch (message.type) {
      case 'ready': {
        this.#show({ scenarios: message.scenarios, sliders: message.sliders });
        this.#listener({ name: 'state', data: 'live' });
        const [first] = message.scenarios;
        if (first !== undefined) {
          this.send({ type: 'load', scenario: first.id, seed: DEFAULT_SEED, settings: {} });
          this.send({ type: 'play', cyclesPerSecond: DEFAULT_SPEED });
        }
        return;
      }
      case 'state':
        this.#show({ state: message.state, problem: null });
        this.#listener({ name: 'time', data: { nowMs: message.state.nowMs } });
        return;
      case 'answer': {
        const answer = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        answer?.(message.result);
        return;
      }
      case 'view':
        this.#listener({ name: 'view', data: { view: message.view, answer: message.answer } });
        return;
      case 'refused': {
        const { view, code, message: why } = message;
        this.#listener({ name: 'refused', data: { view, code, message: why } });
        return;
      }
      case 'event':
        this.#listener({ name: message.name, data: message.data } as LiveEvent);
        return;
      case 'reset':
        this.#listener({ name: 'reset' });
        return;
      case 'problem':
        this.#show({ problem: { code: message.code, message: message.message } });
        return;
      default:
        message satisfies never;
    }
  }
}

export const DEFAULT_SEED = '1';
const DEFAULT_SPEED = 4;
