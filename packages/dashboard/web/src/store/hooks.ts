// The store as React sees it.

import {
  createContext,
  use,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { Decision, Frame } from '../../../src/api/common.ts';
import type { Params, ViewName } from '../../../src/api/params.ts';
import type { Problem } from '../../../src/api/stream.ts';
import { viewText } from './source.ts';
import { type Connection, type Store, TICK_MS } from './store.ts';

export const StoreContext: React.Context<Store | null> = createContext<Store | null>(null);

export function useStore(): Store {
  const store = use(StoreContext);
  if (store === null) throw new Error('useStore() outside of <StoreContext>');
  return store;
}

export type ViewStatus = 'loading' | 'live' | 'stale' | 'past' | 'refused';

export interface View<V extends ViewName> {
  /** The newest answer; while a new question is on its way, the one before. */
  readonly answer: Answer<V> | undefined;
  readonly status: ViewStatus;
  readonly problem: Problem | null;
  /** The answer belongs to the question before this one. */
  readonly isRefreshing: boolean;
  /** Asks again, for views that do not stream. */
  readonly refresh: () => void;
}

/** Answers that nobody pushes: a record never changes, and an explanation is asked of its shard. */
const ASKED_ONCE: ReadonlySet<ViewName> = new Set<ViewName>(['record', 'explain']);

/**
 * The answer to a question, live or of a recorded moment (`at` in the parameters). Parameters that equal
 * '' or 0 are left out, as the API reads them so. Pass null to ask nothing.
 */
export function useView<V extends ViewName>(view: V, params: Partial<Params<V>> | null): View<V> {
  const store = useStore();
  const text = params === null ? '' : viewText(view, params);
  const isPast = params !== null && 'at' in params && params.at !== undefined && params.at !== 0;
  const isLive = !isPast && !ASKED_ONCE.has(view);
  const subscribe = useCallback(
    (told: () => void) => (text === '' ? () => undefined : store.watchView(text, isLive, told)),
    [store, text, isLive],
  );
  const state = useSyncExternalStore(subscribe, () => store.viewState(text));
  const connection = useConnection();
  const before = useRef<Answer<V> | undefined>(undefined);
  useEffect(() => {
    if (state.answer !== undefined) before.current = state.answer as Answer<V>;
  }, [state]);
  const refresh = useCallback(() => store.refresh(text), [store, text]);
  // The server's tests hold every answer to its schema.
  const fresh = state.answer as Answer<V> | undefined;
  const answer = fresh ?? (state.problem === null ? before.current : undefined);
  return {
    answer,
    status: statusOf(state.problem, fresh, isPast, connection),
    problem: state.problem,
    isRefreshing: fresh === undefined && answer !== undefined,
    refresh,
  };
}

function statusOf(
  problem: Problem | null,
  fresh: unknown,
  isPast: boolean,
  connection: Connection,
): ViewStatus {
  if (problem !== null) return 'refused';
  if (isPast) return fresh === undefined ? 'loading' : 'past';
  if (connection.state !== 'live') return fresh === undefined ? 'loading' : 'stale';
  return fresh === undefined ? 'loading' : 'live';
}

/** Decisions as they are told, newest first, bounded. Older ones are in the answers. */
export function useDecisions(): readonly Decision[] {
  const store = useStore();
  return useSyncExternalStore(
    useCallback((told) => store.watchEvents(told), [store]),
    () => store.decisions(),
  );
}

export function useConnection(): Connection {
  const store = useStore();
  return useSyncExternalStore(
    useCallback((told) => store.watchConnection(told), [store]),
    () => store.connection(),
  );
}

/** Of the first answer that came, whatever it was asked for; undefined until then. */
export function useFirstFrame(): Frame | undefined {
  const store = useStore();
  return useSyncExternalStore(
    useCallback((told) => store.watchConnection(told), [store]),
    () => store.firstFrame(),
  );
}

/** The server's clock, told once a second to whoever shows an age. */
export function useTick(): number {
  const store = useStore();
  const [nowMs, setNowMs] = useState(() => store.nowMs());
  useEffect(() => {
    // The server's time may have come after the first render and before this watch.
    setNowMs((shown) => (Math.abs(store.nowMs() - shown) < TICK_MS ? shown : store.nowMs()));
    return store.watchTick(() => setNowMs(store.nowMs()));
  }, [store]);
  return nowMs;
}
