// The playground in a web worker: its port and its clock, and nothing else.

import type { FromWorker, ToWorker } from './protocol.ts';
import { browserRuntime, every } from '../src/browser.ts';
import { createPlayground } from './playground.ts';

const TICK_MS = 20;

const port = globalThis as unknown as {
  postMessage(message: FromWorker): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
};
const playground = createPlayground((message) => port.postMessage(message));

// One after another: a command must not overtake the answer before it.
let last: Promise<void> = Promise.resolve();
function inTurn(work: () => Promise<void>): void {
  last = last.then(work).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    port.postMessage({ type: 'problem', code: 'playground_failed', message });
  });
}

port.onmessage = ({ data }) => inTurn(() => playground.take(data));
every(TICK_MS, () => inTurn(() => playground.tick(browserRuntime.clock.monotonicMs())));
