// Where answers come from: the dashboard's process over HTTP, or the playground's worker. The store and
// every page know only this.

import type { Result } from '@bigfleet/base';
import type { Params, ViewName } from '../../../src/api/params.ts';
import type { Problem, StreamEvent } from '../../../src/api/stream.ts';

/** What a stream tells, after it has been freed of doubles. */
export type LiveEvent =
  | { readonly name: 'view'; readonly data: StreamEvent<'view'> }
  | { readonly name: 'refused'; readonly data: StreamEvent<'refused'> }
  | { readonly name: 'decision'; readonly data: StreamEvent<'decision'> }
  | { readonly name: 'cycle'; readonly data: StreamEvent<'cycle'> }
  | { readonly name: 'cells'; readonly data: StreamEvent<'cells'> }
  | { readonly name: 'source'; readonly data: StreamEvent<'source'> }
  /** Events were missed: what was shown from them is to be read again. */
  | { readonly name: 'reset' }
  | { readonly name: 'time'; readonly data: { readonly nowMs: number } }
  | { readonly name: 'state'; readonly data: StreamState };

/** `stale`: nothing came for three seconds. */
export type StreamState = 'connecting' | 'live' | 'stale';

export interface Want {
  /** View texts, at most eight. */
  readonly views: readonly string[];
  readonly cells: boolean;
}

export interface LiveStream {
  /** Replaces what was wanted before. */
  want(want: Want): void;
  /** The page is put aside and may come back: nothing stays open meanwhile. */
  rest(): void;
  /** The page is back, the tab is looked at again, or the network has returned. */
  wake(): void;
  close(): void;
}

export interface DataSource {
  /** The source's own clock, where time is not the wall's: a simulation stands while it is paused. */
  nowMs?(): number;
  ask(viewText: string, signal: AbortSignal): Promise<Result<unknown, Problem>>;
  open(listener: (event: LiveEvent) => void): LiveStream;
}

/** `name?parameters` in one fixed order, without those that say nothing: equal questions, equal text. */
export function viewText<V extends ViewName>(view: V, params: Partial<Params<V>>): string {
  const query = new URLSearchParams();
  for (const name of Object.keys(params).sort()) {
    const value = params[name as keyof Params<V>] as string | number | undefined;
    if (value === undefined || value === '' || (name === 'at' && value === 0)) continue;
    query.set(name, String(value));
  }
  const text = query.toString();
  return text === '' ? view : `${view}?${text}`;
}
