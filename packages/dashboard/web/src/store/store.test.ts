// Proves that the store asks only for what is watched, tells at most once per frame, and keeps nothing
// without bound.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { err, ok, type Result, VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { Problem } from '../../../src/api/stream.ts';
import { type DataSource, type LiveEvent, viewText, type Want } from './source.ts';
import { Store } from './store.ts';

type Asked = {
  readonly text: string;
  readonly signal: AbortSignal;
  readonly answer: (result: Result<unknown, Problem>) => void;
};

function start() {
  const time = new VirtualRuntime({ seed: 'store', drain: drainMicrotasks });
  const frames: (() => void)[] = [];
  const asked: Asked[] = [];
  let want: Want = { views: [], cells: false };
  let tell: (event: LiveEvent) => void = () => undefined;
  const source: DataSource = {
    ask: (text, signal) =>
      new Promise((answer) => {
        asked.push({ text, signal, answer });
      }),
    open: (listener) => {
      tell = listener;
      return {
        want: (next) => void (want = next),
        rest: () => undefined,
        wake: () => undefined,
        close: () => undefined,
      };
    },
  };
  const store = new Store({
    source,
    runtime: time.runtime,
    nextFrame: (draw) => frames.push(draw),
  });
  return {
    time,
    store,
    asked,
    tell: (event: LiveEvent) => tell(event),
    want: () => want,
    /** Runs what waits for the next frame. */
    paint: () => {
      for (const draw of frames.splice(0)) draw();
    },
    frames,
  };
}

function decision(id: string): LiveEvent {
  return { name: 'decision', data: { id } } as LiveEvent;
}

test('a view is wanted while somebody watches it', () => {
  const { store, want } = start();
  const first = store.watchView('now', true, () => undefined);
  const second = store.watchView('now', true, () => undefined);
  const other = store.watchView('cost', true, () => undefined);
  assert.deepEqual(want().views, ['now', 'cost']);
  first();
  assert.deepEqual(want().views, ['now', 'cost']);
  second();
  other();
  assert.deepEqual(want().views, []);
});

test('many answers within one frame are one notice, with the newest', () => {
  const { store, tell, paint, frames } = start();
  let notices = 0;
  store.watchView('now', true, () => {
    notices += 1;
  });
  for (let n = 0; n < 50; n += 1) tell({ name: 'view', data: { view: 'now', answer: n } });
  assert.equal(notices, 0);
  assert.equal(frames.length, 1);
  paint();
  assert.equal(notices, 1);
  assert.equal(store.viewState('now').answer, 49);
});

test('a refusal keeps the answer of before beside its problem', () => {
  const { store, tell } = start();
  store.watchView('now', true, () => undefined);
  tell({ name: 'view', data: { view: 'now', answer: 'old' } });
  tell({ name: 'refused', data: { view: 'now', code: 'x', message: 'why' } });
  assert.deepEqual(store.viewState('now'), {
    answer: 'old',
    problem: { code: 'x', message: 'why' },
  });
});

test('a recorded moment is asked once, and what nobody waits for is ended', async () => {
  const { store, asked } = start();
  const leave = store.watchView('now?at=5', false, () => undefined);
  assert.equal(asked.length, 1);
  leave();
  assert.equal(asked[0]?.signal.aborted, true);
  asked[0]?.answer(ok('late'));
  await drainMicrotasks();
  assert.equal(store.viewState('now?at=5').answer, undefined);
});

test('an unreachable server is asked again, a refusal is not', async () => {
  const { store, asked, time } = start();
  store.watchView('now?at=5', false, () => undefined);
  asked[0]?.answer(err({ code: 'unreachable', message: '' }));
  await time.runFor(2_001);
  assert.equal(asked.length, 2);
  asked[1]?.answer(err({ code: 'moment_not_kept', message: '' }));
  await time.runFor(60_000);
  assert.equal(asked.length, 2);
  assert.equal(store.viewState('now?at=5').problem?.code, 'moment_not_kept');
});

test('decisions come newest first, each once, in a ring that stays bounded', async () => {
  const { store, tell, time } = start();
  for (let n = 0; n < 10_000; n += 1) {
    tell(decision(`d${n}`));
    tell(decision(`d${n}`));
    if (n % 100 === 99) await time.runFor(300);
  }
  const kept = store.decisions();
  assert.equal(kept.length, 2_000);
  assert.equal(kept[0]?.id, 'd9999');
  assert.equal(new Set(kept.map((item) => item.id)).size, kept.length);
});

test('the first decision is told in the next frame, those after it four times a second', async () => {
  const { store, tell, paint, time } = start();
  const lengths: number[] = [];
  store.watchEvents(() => lengths.push(store.decisions().length));
  for (let n = 0; n < 100; n += 1) {
    tell(decision(`d${n}`));
    paint();
    await time.runFor(10);
    paint();
  }
  assert.deepEqual(lengths, [1, 25, 50, 75, 100]);
});

test('a reset forgets events, so that nothing is shown twice after them', async () => {
  const { store, tell, time } = start();
  tell(decision('a'));
  tell({ name: 'reset' });
  tell(decision('a'));
  await time.runFor(250);
  assert.deepEqual(
    store.decisions().map((item) => item.id),
    ['a'],
  );
  assert.equal(store.connection().resets, 1);
});

test('answers of pages that were left are few', () => {
  const { store, tell } = start();
  for (let n = 0; n < 100; n += 1) {
    const text = `machines?q=${n}`;
    const leave = store.watchView(text, true, () => undefined);
    tell({ name: 'view', data: { view: text, answer: n } });
    leave();
  }
  const kept = Array.from({ length: 100 }, (_, n) => store.viewState(`machines?q=${n}`)).filter(
    (state) => state.answer !== undefined,
  );
  assert.equal(kept.length, 8);
});

test('the clock is the server’s', () => {
  const { store, tell } = start();
  tell({ name: 'time', data: { nowMs: 1_000_000 } });
  assert.equal(store.nowMs(), 1_000_000);
});

test('a server’s time that differs from the one shown is told in the next frame, a beat is not', () => {
  const { store, tell, paint } = start();
  let notices = 0;
  store.watchTick(() => {
    notices += 1;
  });
  tell({ name: 'time', data: { nowMs: store.nowMs() + 60_000 } });
  paint();
  assert.equal(notices, 1);
  tell({ name: 'time', data: { nowMs: store.nowMs() + 20 } });
  paint();
  assert.equal(notices, 1, 'what the network adds is no other time');
});

test('the first answer of all tells its frame together with itself, a past one too', async () => {
  const { store, asked, paint, tell } = start();
  const seen: unknown[] = [];
  const see = (): void => void seen.push([store.viewState('map?at=5').answer, store.firstFrame()]);
  store.watchConnection(() => see());
  store.watchView('map?at=5', false, () => see());
  const frame = { atMs: 5, isPast: true, isSimulated: true, oldestMs: 1, sources: [] };
  asked[0]?.answer(ok({ frame }));
  await drainMicrotasks();
  paint();
  assert.deepEqual(seen, [
    [{ frame }, frame],
    [{ frame }, frame],
  ]);
  store.watchView('now', true, () => undefined);
  tell({ name: 'view', data: { view: 'now', answer: { frame: { ...frame, oldestMs: 2 } } } });
  assert.equal(store.firstFrame(), frame, 'later ones are read from their answers');
});

test('equal questions have equal texts', () => {
  assert.equal(viewText('map', { by: 'place', at: 0, q: '' }), 'map?by=place');
  assert.equal(
    viewText('map', { q: 'a b', by: 'place' }),
    viewText('map', { by: 'place', q: 'a b' }),
  );
  assert.equal(viewText('now', { at: 7 }), 'now?at=7');
  assert.equal(viewText('now', {}), 'now');
});
