// The dashboard's process as a source: GET for one answer, EventSource for the stream. Nothing else ever
// leaves the page.

import { err, ok, type Result, type Runtime } from '@bigfleet/base';
import type { Problem, StreamEventName } from '../../../src/api/stream.ts';
import type { DataSource, LiveEvent, LiveStream } from './source.ts';
import { type Connect, Stream } from './stream.ts';

const API = '/api/v1';
const EVENTS: readonly StreamEventName[] = [
  'hello',
  'view',
  'refused',
  'decision',
  'cycle',
  'cells',
  'source',
  'reset',
  'beat',
];

export function httpSource(runtime: Runtime): DataSource {
  return {
    ask,
    open: (listener: (event: LiveEvent) => void): LiveStream =>
      new Stream({ runtime, connect, listener }),
  };
}

const connect: Connect = (query, peer) => {
  const events = new EventSource(`${API}/stream${query === '' ? '' : `?${query}`}`);
  let lastId = '';
  for (const name of EVENTS) {
    events.addEventListener(name, (event: MessageEvent<string>) => {
      // The browser repeats the last id on events that carry none.
      const id = event.lastEventId === lastId ? '' : event.lastEventId;
      lastId = event.lastEventId;
      peer.frame({ name, id, data: event.data });
    });
  }
  // The browser's own retry cannot change the query, so every retry is ours.
  events.addEventListener('error', () => {
    events.close();
    peer.lost();
  });
  return { close: () => events.close() };
};

async function ask(viewText: string, signal: AbortSignal): Promise<Result<unknown, Problem>> {
  let response: Response;
  try {
    response = await fetch(`${API}/${viewText}`, { signal });
  } catch (cause) {
    if (signal.aborted) throw cause;
    return err({
      code: 'unreachable',
      message:
        'The dashboard’s process does not answer. Is it running, and can this browser reach it?',
    });
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.ok) return ok(body);
  return err(
    isProblem(body)
      ? body
      : {
          code: `http_${response.status}`,
          message: `The server answered ${response.status} without saying why.`,
        },
  );
}

function isProblem(body: unknown): body is Problem {
  return (
    typeof body === 'object' &&
    body !== null &&
    'code' in body &&
    'message' in body &&
    typeof body.code === 'string' &&
    typeof body.message === 'string'
  );
}
