// Proves that a stream tells every event once whatever happens to its connections, says within three
// seconds that it is stale, and comes back from the event it saw last.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { LiveEvent } from './source.ts';
import { type Connect, type Frame, isAfter, Stream } from './stream.ts';

interface Peer {
  readonly query: URLSearchParams;
  readonly frame: (frame: Frame) => void;
  readonly lost: () => void;
  isOpen: boolean;
}

/** The server's side of every connection that a stream opens, in order. */
class Server {
  readonly peers: Peer[] = [];
  readonly connect: Connect = (query, { frame, lost }) => {
    const peer: Peer = { query: new URLSearchParams(query), frame, lost, isOpen: true };
    this.peers.push(peer);
    return {
      close: () => {
        peer.isOpen = false;
      },
    };
  };

  get last(): Peer {
    const peer = this.peers.at(-1);
    assert.ok(peer !== undefined, 'nothing has connected');
    return peer;
  }
}

function frame(name: Frame['name'], data: unknown, id = ''): Frame {
  return { name, id, data: JSON.stringify(data) };
}

function hello(id: string, isResumed: boolean): Frame {
  return frame('hello', { id, isResumed, version: '1', nowMs: 5 }, id);
}

function decision(sequence: number, incarnation = 'a'): Frame {
  return frame('decision', { id: `d${sequence}` }, `${incarnation}.${sequence}`);
}

function start() {
  const time = new VirtualRuntime({ seed: 'stream', drain: drainMicrotasks });
  const server = new Server();
  const told: LiveEvent[] = [];
  const stream = new Stream({
    runtime: time.runtime,
    connect: server.connect,
    listener: (event) => told.push(event),
  });
  const names = (): readonly string[] =>
    told.map((event) => (event.name === 'state' ? event.data : event.name));
  return { time, server, told, stream, names };
}

test('views wanted in the first turn go into one request', async () => {
  const { time, server, stream } = start();
  stream.want({ views: ['now', 'map?by=place'], cells: true });
  await time.runFor(1);
  assert.equal(server.peers.length, 1);
  assert.deepEqual(server.last.query.getAll('view'), ['now', 'map?by=place']);
  assert.equal(server.last.query.get('cells'), '1');
  assert.equal(server.last.query.get('after'), null);
  stream.close();
});

test('a changed wish opens anew after the last event, and the old connection is not heard again', async () => {
  const { time, server, stream, told } = start();
  await time.runFor(1);
  const old = server.last;
  old.frame(hello('a.7', false));
  old.frame(decision(8));
  stream.want({ views: ['cost'], cells: false });
  await time.runFor(1);
  assert.equal(server.last.query.get('after'), 'a.8');
  assert.equal(old.isOpen, false);
  old.frame(decision(9));
  server.last.frame(hello('a.8', true));
  server.last.frame(decision(9));
  const ids = told.flatMap((event) => (event.name === 'decision' ? [event.data.id] : []));
  assert.deepEqual(ids, ['d8', 'd9']);
  stream.close();
});

test('silence is stale within three seconds and reconnected after ten; a frame makes it live', async () => {
  const { time, server, stream, names } = start();
  await time.runFor(1);
  server.last.frame(hello('a.1', false));
  assert.deepEqual(names(), ['time', 'live']);
  await time.runFor(2_400);
  assert.equal(names().includes('stale'), false);
  await time.runFor(600);
  assert.equal(names().at(-1), 'stale');
  assert.equal(server.peers.length, 1);
  await time.runFor(8_000);
  assert.equal(server.peers.length, 2);
  server.last.frame(frame('beat', { nowMs: 6 }));
  assert.equal(names().at(-1), 'live');
  stream.close();
});

test('silence is stale also when the clock was put back an hour', async () => {
  const { time, server, stream, names } = start();
  await time.runFor(1);
  server.last.frame(hello('a.1', false));
  time.wallJump(-3_600_000);
  await time.runFor(3_000);
  assert.equal(names().at(-1), 'stale');
  await time.runFor(8_000);
  assert.equal(server.peers.length, 2);
  stream.close();
});

test('a lost connection is retried with pauses that double up to five seconds', async () => {
  const { time, server, stream } = start();
  await time.runFor(1);
  for (const ceilingMs of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
    const before = server.peers.length;
    server.last.lost();
    // Jitter takes at most half of a pause.
    await time.runFor(ceilingMs / 2 - 1);
    assert.equal(server.peers.length, before, `sooner than half of ${ceilingMs} ms`);
    while (server.peers.length === before) await time.runFor(10);
    assert.ok(server.last.isOpen);
  }
  server.last.frame(hello('a.1', false));
  server.last.lost();
  const before = server.peers.length;
  await time.runFor(251);
  assert.equal(server.peers.length, before + 1, 'a frame starts the pauses anew');
  stream.close();
});

test('an hour of sleep ends with a reset when the server no longer has what was missed', async () => {
  const { time, server, stream, names } = start();
  await time.runFor(1);
  server.last.frame(hello('a.1', false));
  server.last.frame(decision(2));
  await time.runFor(3_600_000);
  const asleep = server.peers.length;
  stream.wake();
  await time.runFor(1);
  assert.equal(server.peers.length, asleep + 1);
  assert.equal(server.last.query.get('after'), 'a.2');
  server.last.frame(hello('b.900', false));
  server.last.frame(decision(901, 'b'));
  assert.deepEqual(names().slice(-4), ['time', 'reset', 'live', 'decision']);
  stream.close();
});

test('waking a live stream opens nothing', async () => {
  const { time, server, stream } = start();
  await time.runFor(1);
  server.last.frame(hello('a.1', false));
  stream.wake();
  await time.runFor(10);
  assert.equal(server.peers.length, 1);
  stream.close();
});

test('a page that is put aside holds nothing open, and comes back from its last event', async () => {
  const { time, server, stream, told } = start();
  await time.runFor(1);
  server.last.frame(hello('a.1', false));
  server.last.frame(decision(2));
  stream.rest();
  assert.equal(server.last.isOpen, false);
  stream.want({ views: ['now'], cells: false });
  await time.runFor(60_000);
  assert.equal(server.peers.length, 1);
  stream.wake();
  await time.runFor(1);
  assert.equal(server.peers.length, 2);
  assert.equal(server.last.query.get('after'), 'a.2');
  assert.deepEqual(server.last.query.getAll('view'), ['now']);
  server.last.frame(hello('a.2', true));
  assert.equal(
    told.some((event) => event.name === 'reset'),
    false,
  );
  await time.runFor(3_600);
  assert.deepEqual(told.at(-1), { name: 'state', data: 'stale' });
  stream.close();
});

test('a stream that rests for a moment is opened again although its last frame is young', async () => {
  const { time, server, stream } = start();
  await time.runFor(1);
  server.last.frame(hello('a.1', false));
  stream.rest();
  stream.wake();
  await time.runFor(1);
  assert.equal(server.peers.length, 2);
  assert.equal(server.last.isOpen, true);
  stream.close();
});

test('a closed stream opens nothing and arms nothing', async () => {
  const { time, server, stream } = start();
  await time.runFor(1);
  stream.close();
  await time.runFor(60_000);
  assert.equal(server.peers.length, 1);
  assert.equal(server.last.isOpen, false);
});

test('over random losses, replays and changed wishes each event is told once and in order', async () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const random = createRandom(`stream-${seed}`);
    const { time, server, stream, told } = start();
    await time.runFor(1);
    let sequence = 0;
    server.last.frame(hello('a.0', false));
    for (let step = 0; step < 80; step += 1) {
      const peer = server.last;
      switch (random.below(5)) {
        case 0:
          peer.lost();
          break;
        case 1:
          stream.want({ views: [`now?at=${random.below(4)}`], cells: random.below(2) === 0 });
          break;
        case 2:
          // A server that repeats what it has sent.
          peer.frame(decision(Math.max(1, sequence - random.below(3))));
          sequence = Math.max(1, sequence);
          break;
        default:
          sequence += 1;
          peer.frame(decision(sequence));
      }
      await time.runFor(6_000);
      const now = server.last;
      if (now === peer) continue;
      // A real server answers `after` with everything behind it.
      const after = Number(now.query.get('after')?.split('.')[1] ?? 0);
      now.frame(hello(`a.${after}`, true));
      for (let missed = after + 1; missed <= sequence; missed += 1) now.frame(decision(missed));
    }
    const ids = told.flatMap((event) => (event.name === 'decision' ? [event.data.id] : []));
    const expected = Array.from({ length: sequence }, (_, index) => `d${index + 1}`);
    assert.deepEqual(ids, expected, `seed ${seed}`);
    stream.close();
  }
});

test('ids are ordered within an incarnation, and new in another', () => {
  assert.equal(isAfter('a.10', 'a.9'), true);
  assert.equal(isAfter('a.9', 'a.9'), false);
  assert.equal(isAfter('a.8', 'a.9'), false);
  assert.equal(isAfter('b.1', 'a.9'), true);
  assert.equal(isAfter('a-1.2.10', 'a-1.2.9'), true);
});
