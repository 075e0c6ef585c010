// Proves what a stream promises: events are neither lost nor doubled however often it breaks, a reader that
// does not read costs nothing and begins again when it does, and views are computed once and not too often.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, createVirtualRuntime, err, ok, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { Problem } from '../../api/index.ts';
import type { ModelEvent } from '../../model/index.ts';
import { ViewAnswers } from '../views/view-answers.ts';
import { RING_LIMITS, type RingLimits } from './event-ring.ts';
import { type OpenStream, type StreamAsk, StreamHub } from './stream-hub.ts';

/** A fleet that tells what it is told to, and answers with its version and how often it was asked. */
class Stage {
  readonly time: VirtualRuntime = createVirtualRuntime({ seed: 'hub', drain: drainMicrotasks });
  readonly hub: StreamHub;
  version = 1;
  askedCount = 0;
  padding = '';
  /** What it says instead of an answer. */
  refusal: Problem | undefined;
  /** Answers wait for it. */
  delay: Promise<unknown> = Promise.resolve();
  #tell: (event: ModelEvent) => void = () => {};

  constructor(ring: RingLimits = RING_LIMITS, maxStreams = 8) {
    const { runtime } = this.time;
    const stage = this;
    const answers = new ViewAnswers({
      clock: runtime.clock,
      fleet: {
        get version() {
          return stage.version;
        },
        answer: async () => {
          stage.askedCount += 1;
          await stage.delay;
          if (stage.refusal !== undefined) return err(stage.refusal);
          return ok({ version: stage.version, padding: stage.padding } as never);
        },
      },
      outsideVersion: () => 0,
      observe: () => {},
    });
    const fleet = {
      subscribe: (listener: (event: ModelEvent) => void) => {
        this.#tell = listener;
        return () => {};
      },
    };
    this.hub = new StreamHub({
      runtime,
      fleet,
      answers,
      version: 'test',
      maxStreams,
      ring,
      onBug: (bug) => assert.fail(String(bug)),
    });
  }

  cycle(number: number): void {
    this.#tell({ name: 'cycle', data: { cycle: number } as never });
  }

  tell(event: ModelEvent): void {
    this.#tell(event);
  }

  settle(): Promise<unknown> {
    return this.time.runFor(0);
  }

  open(ask: Partial<StreamAsk> = {}): Browser {
    return new Browser(this, ask);
  }
}

interface Received {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An EventSource: reads frames, remembers the last id. */
class Browser {
  readonly received: Received[] = [];
  lastId: string | undefined;
  /** As many writes as its socket takes before it is full. */
  room = Number.POSITIVE_INFINITY;
  isEnded = false;
  readonly #stream: OpenStream | undefined;

  constructor(stage: Stage, { views = [], after, hasCells = false }: Partial<StreamAsk>) {
    this.#stream = stage.hub.open(
      { views, after, hasCells },
      {
        write: (text) => {
          assert.equal(this.isEnded, false, 'nothing is written behind the end');
          return this.#take(text);
        },
        end: () => void (this.isEnded = true),
      },
    );
  }

  get isOpen(): boolean {
    return this.#stream !== undefined;
  }

  drain(room = Number.POSITIVE_INFINITY): void {
    this.room = room;
    this.#stream?.drained();
  }

  close(): void {
    this.#stream?.close();
  }

  of(event: string): readonly Received[] {
    return this.received.filter((each) => each.event === event);
  }

  get cycles(): readonly unknown[] {
    return this.of('cycle').map(({ data }) => data['cycle']);
  }

  #take(text: string): boolean {
    for (const frame of text.split('\n\n').filter(Boolean)) {
      const fields = new Map(
        frame.split('\n').map((line) => {
          const at = line.indexOf(': ');
          return [line.slice(0, at), line.slice(at + 2)] as const;
        }),
      );
      const id = fields.get('id');
      if (id !== undefined) this.lastId = id;
      this.received.push({
        id,
        event: fields.get('event') ?? '',
        data: JSON.parse(fields.get('data') ?? '{}') as Record<string, unknown>,
      });
    }
    this.room -= 1;
    return this.room > 0;
  }
}

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
  test(`however often a stream breaks, every event comes once and in order (seed ${seed})`, async () => {
    const random = createRandom(`breaks-${seed}`);
    const stage = new Stage();
    const seen: unknown[] = [];
    let cycle = 0;
    let browser = stage.open({ after: undefined });
    for (let step = 0; step < 300; step++) {
      const count = random.below(4);
      for (let at = 0; at < count; at++) stage.cycle(++cycle);
      if (random.below(3) === 0) await stage.settle();
      if (random.below(4) === 0) browser.room = 1 + random.below(2);
      if (random.below(4) === 0) browser.drain(1 + random.below(5));
      if (random.below(6) !== 0) continue;
      // The connection is lost with whatever had not been written to it.
      browser.close();
      seen.push(...browser.cycles);
      const after: string = browser.lastId ?? assert.fail('a stream begins with an id');
      for (let at = random.below(3); at > 0; at--) stage.cycle(++cycle);
      browser = stage.open({ after });
      assert.equal(browser.of('hello')[0]?.data['isResumed'], true);
      assert.equal(browser.of('reset').length, 0);
    }
    browser.drain();
    await stage.settle();
    seen.push(...browser.cycles);
    assert.deepEqual(
      seen,
      Array.from({ length: cycle }, (_, at) => at + 1),
    );
  });
}

test('a stream that comes back after the ring has moved on is told so, and begins from now', async () => {
  const stage = new Stage({ maxEvents: 10, maxChars: 1e6 });
  const first = stage.open();
  stage.cycle(1);
  await stage.settle();
  first.close();
  for (let cycle = 2; cycle <= 12; cycle++) stage.cycle(cycle);
  const inTime = stage.open({ after: first.lastId });
  assert.equal(inTime.of('hello')[0]?.data['isResumed'], false, 'event 2 is gone');
  assert.deepEqual([inTime.of('reset').length, inTime.cycles.length], [1, 0]);
  assert.equal(inTime.lastId, inTime.of('reset')[0]?.data['id']);
  const late = stage.open({ after: inTime.lastId });
  stage.cycle(13);
  await stage.settle();
  assert.deepEqual([late.of('reset').length, late.cycles], [0, [13]]);
});

test('ids of another process, of the future, and no ids at all resume nothing', () => {
  const stage = new Stage();
  stage.cycle(1);
  const own = stage.open();
  const [incarnation] = (own.lastId ?? '').split('.');
  for (const after of ['0000000000000000.1', `${incarnation}.2`, 'x', `${incarnation}.-1`, '…']) {
    const browser = stage.open({ after });
    assert.equal(browser.of('hello')[0]?.data['isResumed'], false, after);
    assert.equal(browser.of('reset').length, 1, after);
    browser.close();
  }
});

test('the ring is bounded by characters too', () => {
  const stage = new Stage({ maxEvents: 1e6, maxChars: 10_000 });
  for (let cycle = 1; cycle <= 5_000; cycle++) stage.cycle(cycle);
  assert.ok(stage.hub.ringChars <= 10_000 && stage.hub.ringChars > 9_000);
});

test('a reader that does not read is written nothing more, and is reset with whole views', async () => {
  const stage = new Stage({ maxEvents: 100, maxChars: 1e6 });
  const browser = stage.open({ views: ['now'], hasCells: true });
  await stage.settle();
  assert.equal(browser.of('view').length, 1);
  browser.room = 1;
  stage.cycle(1);
  await stage.settle();
  const written = browser.received.length;
  const source = { kind: 'shard', name: 'shard-0', state: 'stale' } as never;
  for (let cycle = 2; cycle <= 1_000; cycle++) {
    stage.version += 1;
    stage.cycle(cycle);
    stage.tell({ name: 'cells', data: { shard: 'shard-0' } as never });
    stage.tell({ name: 'source', data: source });
    await stage.time.runFor(100);
  }
  assert.equal(browser.received.length, written, 'nothing waits for it');
  browser.drain();
  await stage.settle();
  const fresh = browser.received.slice(written);
  assert.deepEqual(
    fresh.map(({ event }) => event),
    ['reset', 'source', 'cells', 'view'],
  );
  assert.equal(fresh[2]?.data['isOverflow'], true);
  assert.deepEqual(fresh[3]?.data['answer'], { version: stage.version, padding: '' });
});

test('after a reset every view is shown again, also one that has not changed', async () => {
  const stage = new Stage({ maxEvents: 10, maxChars: 1e6 });
  const browser = stage.open({ views: ['now'] });
  await stage.settle();
  browser.room = 1;
  for (let cycle = 1; cycle <= 20; cycle++) {
    stage.cycle(cycle);
    await stage.settle();
  }
  browser.drain();
  await stage.settle();
  assert.deepEqual([browser.of('reset').length, browser.of('view').length], [1, 2]);
});

test('a reader that was slow for a moment goes on where it was', async () => {
  const stage = new Stage();
  const browser = stage.open();
  browser.room = 1;
  for (let cycle = 1; cycle <= 50; cycle++) {
    stage.cycle(cycle);
    await stage.settle();
  }
  browser.drain();
  assert.equal(browser.of('reset').length, 0);
  assert.deepEqual(
    browser.cycles,
    Array.from({ length: 50 }, (_, at) => at + 1),
  );
});

test('one answer serves every stream, and not more often than four times a second', async () => {
  const stage = new Stage();
  const browsers = [stage.open({ views: ['now'] }), stage.open({ views: ['now'] })];
  await stage.settle();
  assert.equal(stage.askedCount, 1);
  for (let step = 0; step < 100; step++) {
    stage.version += 1;
    await stage.time.runFor(100);
  }
  assert.ok(stage.askedCount <= 41 && stage.askedCount >= 20, `${stage.askedCount} answers`);
  for (const browser of browsers) assert.equal(browser.of('view').length, stage.askedCount);
});

test('large answers come less often, unchanged ones not at all', async () => {
  const stage = new Stage();
  stage.padding = 'x'.repeat(2_000_000);
  const browser = stage.open({ views: ['map'] });
  await stage.settle();
  for (let step = 0; step < 100; step++) {
    stage.version += 1;
    await stage.time.runFor(100);
  }
  const views = browser.of('view').length;
  assert.ok(views >= 4 && views <= 7, `${views} in ten seconds`);
  const asked = stage.askedCount;
  await stage.time.runFor(10_000);
  assert.ok(stage.askedCount <= asked + 1);
  assert.ok(browser.of('view').length <= views + 1);
});

test('a past moment is answered once', async () => {
  const stage = new Stage();
  const browser = stage.open({ views: ['now?at=1000'] });
  for (let step = 0; step < 20; step++) {
    stage.version += 1;
    await stage.time.runFor(500);
  }
  assert.deepEqual([stage.askedCount, browser.of('view').length], [1, 1]);
});

test('a silent stream beats every second, a busy one does not', async () => {
  const stage = new Stage();
  const browser = stage.open();
  await stage.time.runFor(10_000);
  const beats = browser.of('beat').length;
  assert.ok(beats >= 8 && beats <= 10, `${beats} beats`);
  for (let cycle = 1; cycle <= 20; cycle++) {
    stage.cycle(cycle);
    await stage.time.runFor(500);
  }
  assert.equal(browser.of('beat').length, beats);
});

test('a view that cannot be asked is refused by name, and the others go on', async () => {
  const stage = new Stage();
  const browser = stage.open({ views: ['nowhere', 'now?at=x', 'now'] });
  await stage.time.runFor(1_000);
  const codes = browser.of('refused').map(({ data }) => [data['view'], data['code']]);
  assert.deepEqual(codes, [
    ['nowhere', 'view_unknown'],
    ['now?at=x', 'parameter_invalid'],
  ]);
  assert.equal(browser.of('view').length, 1);
});

test('as many streams as may be, and a closed one makes room', () => {
  const stage = new Stage(RING_LIMITS, 2);
  const first = stage.open();
  assert.ok(stage.open().isOpen);
  assert.equal(stage.open().isOpen, false);
  first.close();
  assert.ok(stage.open().isOpen);
  stage.hub.close();
  assert.equal(stage.open().isOpen, false);
  assert.equal(stage.time.pendingTimers, 0);
});

test('an answer that comes when the hub is closed is for nobody', async () => {
  const stage = new Stage();
  const delay = Promise.withResolvers<void>();
  stage.delay = delay.promise;
  const browser = stage.open({ views: ['now', 'cost'] });
  await stage.settle();
  assert.equal(stage.askedCount, 2);
  stage.hub.close();
  delay.resolve();
  await stage.settle();
  assert.deepEqual([browser.isEnded, browser.of('view').length], [true, 0]);
});

test('a stream that is closed twice takes no view from another', async () => {
  const stage = new Stage();
  const first = stage.open({ views: ['now'] });
  first.close();
  const second = stage.open({ views: ['now'] });
  await stage.settle();
  first.close();
  stage.version += 1;
  await stage.time.runFor(1_000);
  assert.equal(second.of('view').length, 2);
});

test('a refusal is asked for again when something has changed, and not before', async () => {
  const stage = new Stage();
  stage.refusal = { code: 'moment_not_yet', message: 'it has not come yet' };
  const browser = stage.open({ views: ['now', 'now?at=7'] });
  await stage.time.runFor(10_000);
  assert.equal(stage.askedCount, 2);
  stage.refusal = undefined;
  stage.version += 1;
  await stage.time.runFor(1_000);
  assert.deepEqual([browser.of('refused').length, browser.of('view').length], [2, 2]);
});
