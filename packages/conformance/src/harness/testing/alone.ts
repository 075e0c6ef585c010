// A context over a scripted endpoint, for testing primitives without any provider.

import { createRandom, type VirtualRuntime } from '@bigfleet/base';
import type { CheckContext } from '../check.ts';
import { scripted } from './scripted.ts';
import type { Rpcs } from './tamper.ts';
import { createTime, runToEnd } from './world.ts';

export interface Alone {
  readonly context: CheckContext;
  readonly time: VirtualRuntime;
  readonly notes: readonly string[];
  /** Virtual time runs until the body is done. */
  run<T>(body: () => Promise<T>): Promise<T>;
}

export function alone(rpcs: Partial<Rpcs>, changes: Partial<CheckContext> = {}): Alone {
  const time = createTime();
  const endpoint = scripted(rpcs);
  const notes: string[] = [];
  const context: CheckContext = {
    runtime: time.runtime,
    random: createRandom(1n),
    endpoint,
    secondConnection: async () => endpoint,
    capabilities: { delete: true, sinceRevision: true },
    timeScale: 1,
    scale: { seedCount: 10, soakMs: 100 },
    faultTimeoutMs: 2_000,
    signal: new AbortController().signal,
    note: (text) => {
      notes.push(text);
    },
    ...changes,
  };
  return { context, time, notes, run: (body) => runToEnd(time, body) };
}
