// Proves that InspectNeeds streams one cycle, page by page, or ends with an error that says so: a
// slow reader never gets a mixture.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError, ZERO_BUCKET } from '@bigfleet/base';
import { createProfile } from '@bigfleet/engine';
import {
  decode,
  encodeInit,
  type InspectNeedsRequest,
  InspectNeedsRequestSchema,
} from '@bigfleet/wire';
import type { EngineHost } from '../engine-host/engine-host.ts';
import { CycleTimes } from './cycle-times.ts';
import { inspectNeeds } from './inspect-needs.ts';

type Verdicts = EngineHost['verdicts'];
type Page = Awaited<ReturnType<Verdicts>>;

const everything: InspectNeedsRequest = decode(
  InspectNeedsRequestSchema,
  encodeInit(InspectNeedsRequestSchema, {}),
  'INTERNAL',
);

function rowOf(at: number): Page['rows'][number] {
  const profile = createProfile({
    requirements: [],
    spread: [],
    priority: -at,
    interruptionBucket: ZERO_BUCKET,
    reclamationBucket: ZERO_BUCKET,
  });
  const need = {
    cluster: 'blue',
    profile,
    aggregate: new Map(),
    minUnit: new Map(),
    group: '',
    arrivalUnixNanos: 0n,
  };
  const verdict = {
    need,
    satisfied: true,
    deficit: new Map(),
    claimedCount: 0,
    bootstrapCount: 0,
    provisionCount: 0,
    sameDomain: undefined,
    sameSatisfiable: false,
    parked: false,
    parkedAgeCycles: 0,
    matchingSupply: undefined,
    sameCandidates: [],
    awaitingDrainCount: 0,
    victimCount: 0,
    freed: new Map(),
    unmetReason: 'UNSPECIFIED',
    reasonCode: 'satisfied',
  } as const;
  return { verdict, ageCyclesUnmet: 0 };
}

const TOTAL = 600;

/** Answers like the engine's thread; from the second page on with the cycle that it is told to. */
function engineOf(asked: Parameters<Verdicts>[0][], laterCycle: number): Verdicts {
  return (query) => {
    asked.push(query);
    const count = Math.max(0, Math.min(query.limit, TOTAL - query.offset));
    const rows = Array.from({ length: count }, (_, at) => rowOf(query.offset + at));
    const cycle = query.offset === 0 ? 5 : laterCycle;
    return Promise.resolve({ cycle, total: TOTAL, rows });
  };
}

function sources(verdicts: Verdicts): Parameters<typeof inspectNeeds>[0] {
  const times = new CycleTimes();
  times.note(5, 55n);
  const timers = { turn: () => Promise.resolve(), after: () => assert.fail('no timer') };
  return { host: { verdicts }, times, timers };
}

test('pages are pulled as they are read, all of the cycle of the first', async () => {
  const asked: Parameters<Verdicts>[0][] = [];
  const stream = inspectNeeds(sources(engineOf(asked, 5)), everything);
  await stream.next();
  assert.equal(asked.length, 1, 'nothing is asked ahead of the reader');
  let count = 0;
  for await (const { frame } of stream) {
    assert.ok(frame?.case === 'need' && frame.value.need?.priority === -count);
    count++;
  }
  assert.equal(count, TOTAL);
  assert.deepEqual(
    asked.map(({ offset, limit, cycle }) => [offset, limit, cycle]),
    [
      [0, 250, undefined],
      [250, 250, 5],
      [500, 250, 5],
    ],
  );
});

test('a limit asks for no more than it shows', async () => {
  const asked: Parameters<Verdicts>[0][] = [];
  let count = -1;
  for await (const _ of inspectNeeds(sources(engineOf(asked, 5)), { ...everything, limit: 300 })) {
    count++;
  }
  assert.equal(count, 300);
  assert.deepEqual(
    asked.map(({ limit }) => limit),
    [250, 50],
  );
});

test('when newer verdicts took over, the stream says so and ends', async () => {
  const stream = inspectNeeds(sources(engineOf([], 9)), everything);
  const read = async (): Promise<void> => {
    for await (const _ of stream) continue;
  };
  await assert.rejects(
    read(),
    (error: unknown) => error instanceof BigFleetError && error.code === 'verdicts_replaced',
  );
});
