// Diagnostics for `--debug-endpoints`, off by default: a CPU profile, a heap snapshot, an event-loop
// report. They slow the process down, and a heap snapshot holds every secret in memory, so they are
// for an engineer at an incident, never for a scraper. One profile or snapshot at a time.

import { Session } from 'node:inspector/promises';
import { getHeapSnapshot } from 'node:v8';
import { type Runtime, sleep } from '@bigfleet/base';
import { nodeThreadSource } from '../process/source.ts';
import { type Answer, type Request, textAnswer } from './answer.ts';

export interface DebugEndpoints {
  readonly paths: readonly string[];
  /** Undefined when the path is none of ours. */
  answer(path: string, query: string, request: Request): Promise<Answer | undefined>;
  stop(): void;
}

const CPU_PROFILE = '/debug/cpu-profile';
const HEAP_SNAPSHOT = '/debug/heap-snapshot';
const EVENT_LOOP = '/debug/event-loop';
const JSON_TYPE = 'application/json; charset=utf-8';
const DEFAULT_SECONDS = 10;
const MAX_SECONDS = 60;

export function createDebugEndpoints(runtime: Pick<Runtime, 'timers'>): DebugEndpoints {
  const loop = nodeThreadSource();
  let busy = false;
  const release = (): void => {
    busy = false;
  };
  const alone = async (work: () => Promise<Answer> | Answer): Promise<Answer> => {
    if (busy) return textAnswer(409, 'a profile or snapshot is being taken; try again after it');
    busy = true;
    try {
      const answer = await work();
      if (typeof answer.body === 'string') release();
      else answer.body.once('close', release);
      return answer;
    } catch (error) {
      release();
      throw error;
    }
  };
  return {
    paths: [CPU_PROFILE, HEAP_SNAPSHOT, EVENT_LOOP],
    async answer(path, query, request) {
      if (path === EVENT_LOOP) return jsonAnswer(JSON.stringify(loopReport(loop.takeLoopLag())));
      if (request.method === 'HEAD') return undefined;
      if (path === CPU_PROFILE) return alone(() => cpuProfile(runtime, query, request.signal));
      if (path === HEAP_SNAPSHOT) {
        return alone(() => attachment('heap.heapsnapshot', getHeapSnapshot()));
      }
      return undefined;
    },
    stop: () => loop.stop(),
  };
}

async function cpuProfile(
  runtime: Pick<Runtime, 'timers'>,
  query: string,
  signal: AbortSignal,
): Promise<Answer> {
  const seconds = Number(new URLSearchParams(query).get('seconds') ?? DEFAULT_SECONDS);
  if (!(seconds > 0 && seconds <= MAX_SECONDS)) {
    return textAnswer(400, `seconds must be above 0 and at most ${MAX_SECONDS}`);
  }
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await sleep(runtime, seconds * 1_000, signal);
    const { profile } = await session.post('Profiler.stop');
    return attachment('profile.cpuprofile', JSON.stringify(profile));
  } finally {
    session.disconnect();
  }
}

function loopReport(lag: object): object {
  return {
    lagSinceLastReport: lag,
    activeResources: countByName(process.getActiveResourcesInfo()),
    memory: process.memoryUsage(),
    resourceUsage: process.resourceUsage(),
    uptimeSeconds: process.uptime(),
  };
}

function countByName(names: readonly string[]): Readonly<Record<string, number>> {
  const groups = Map.groupBy(names, (name) => name);
  return Object.fromEntries([...groups].map(([name, group]) => [name, group.length]));
}

function jsonAnswer(body: string): Answer {
  return { status: 200, contentType: JSON_TYPE, body };
}

function attachment(file: string, body: Answer['body']): Answer {
  const headers = { 'content-disposition': `attachment; filename="${file}"` };
  return { status: 200, contentType: JSON_TYPE, headers, body };
}
