// Proves that damaged files are never read as less than they held: any flipped byte of a snapshot or
// of a frame that others follow, and any missing file, is a startup error that says what to do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { encodeFileHeader } from './frame.ts';
import { createJournalStore } from './journal-store.ts';
import {
  INCARNATION,
  PATH,
  scriptedCommit,
  spelled,
  stateAfter,
  stillRuntime,
} from './testing/scripted-commits.ts';
import { type DiskImage, SimulatedDisk } from './testing/simulated-disk.ts';

const COMMITS = 6;
const COMPACT = { minCompactBytes: 1 };
const KEEP = { minCompactBytes: 1 << 20 };

/** A snapshot with records in it, and a journal of several frames. */
async function healthy(): Promise<{ image: DiskImage; frameStarts: readonly number[] }> {
  const disk = new SimulatedDisk();
  let store = createJournalStore({
    path: PATH,
    runtime: stillRuntime,
    files: disk.files,
    limits: COMPACT,
  });
  await store.load();
  await store.initialise(INCARNATION);
  for (let index = 0; index < COMMITS; index++) await store.commit(scriptedCommit(index));
  await store.close();
  store = createJournalStore({
    path: PATH,
    runtime: stillRuntime,
    files: disk.files,
    limits: KEEP,
  });
  await store.load();
  const frameStarts: number[] = [];
  for (let index = COMMITS; index < 2 * COMMITS; index++) {
    frameStarts.push(journalOf(disk.state.after(ALL)).length);
    await store.commit(scriptedCommit(index));
  }
  return { image: disk.state.after(ALL), frameStarts };
}

const ALL = { contents: 'all', entries: 'all' } as const;

function journalName(image: DiskImage): string {
  const names = [...image.keys()].filter((name) => name.includes('.journal.'));
  assert.equal(names.length, 1);
  return names[0] ?? '';
}

function journalOf(image: DiskImage): Buffer {
  return image.get(journalName(image)) ?? Buffer.alloc(0);
}

function withFile(image: DiskImage, name: string, bytes: Buffer | undefined): DiskImage {
  const changed = new Map(image);
  if (bytes === undefined) changed.delete(name);
  else changed.set(name, bytes);
  return changed;
}

async function load(image: DiskImage): Promise<string | BigFleetError> {
  const files = new SimulatedDisk(image).files;
  try {
    const store = createJournalStore({ path: PATH, runtime: stillRuntime, files });
    return spelled(await store.load());
  } catch (error) {
    assert.ok(error instanceof BigFleetError, String(error));
    return error;
  }
}

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

function all(count: number): string {
  return stateAfter(Array.from({ length: count }, (_, index) => scriptedCommit(index)));
}

test('one flipped bit anywhere in the snapshot is refused', async () => {
  const { image } = await healthy();
  assert.equal(await load(image), all(2 * COMMITS), 'undamaged, it loads');
  const bytes = image.get('state.json') ?? Buffer.alloc(0);
  assert.ok(bytes.length > 500);
  for (let at = 0; at < bytes.length; at++) {
    const found = await load(withFile(image, 'state.json', flipped(bytes, at, at % 8)));
    assert.ok(found instanceof BigFleetError && found.code === 'store_corrupt', `byte ${at}`);
  }
});

test('one flipped bit in a frame that another follows is refused, in the last one it is a cut', async () => {
  const { image, frameStarts } = await healthy();
  const name = journalName(image);
  const bytes = journalOf(image);
  const lastFrame = frameStarts.at(-1) ?? 0;
  for (let at = 0; at < bytes.length; at++) {
    const found = await load(withFile(image, name, flipped(bytes, at, at % 8)));
    if (at < lastFrame) {
      assert.ok(found instanceof BigFleetError && found.code === 'store_corrupt', `byte ${at}`);
      assert.match(found.message, new RegExp(`/state/${name}: .*backup`));
    } else {
      assert.equal(found, all(2 * COMMITS - 1), `byte ${at} of the last frame`);
    }
  }
});

test('missing, empty, swapped and foreign files are refused, and told apart from a first boot', async () => {
  const { image } = await healthy();
  const name = journalName(image);
  const generation = Number(name.split('.').at(-1));
  const later = `state.json.journal.${generation + 2}`;
  const journal = journalOf(image);
  const cases: readonly (readonly [string, DiskImage, RegExp])[] = [
    ['no journal', withFile(image, name, undefined), /missing, although the state needs it/],
    ['no snapshot', withFile(image, 'state.json', undefined), /missing or empty, although/],
    [
      'empty snapshot',
      withFile(image, 'state.json', Buffer.alloc(0)),
      /missing or empty, although/,
    ],
    ['empty journal', withFile(image, name, Buffer.alloc(0)), /file header is broken/],
    ['a gap', withFile(image, later, journal), /missing, although the state needs it/],
    ['wrong generation', withFile(withFile(image, later, journal), name, undefined), /missing/],
    [
      'foreign snapshot',
      withFile(image, 'state.json', Buffer.from('{"machines":[]}')),
      /of another/,
    ],
    ['no JSON', withFile(image, 'state.json', Buffer.from('hello')), /no JSON document/],
    ['cut snapshot', withFile(image, 'state.json', cutOff(image, 40)), /ends before|no end/],
    [
      'newer format',
      withFile(image, 'state.json', newer(image)),
      /format 2 was written by another/,
    ],
    ['renamed journal', new Map([...image, [name, foreign(journal, generation)]]), /generation/],
  ];
  for (const [what, damaged, expected] of cases) {
    const found = await load(damaged);
    assert.ok(found instanceof BigFleetError, `${what} must not load`);
    assert.equal(found.code, 'store_corrupt', what);
    assert.match(found.message, expected, what);
  }
  assert.equal(await load(new Map()), 'first boot');
  assert.equal(await load(new Map([['state.json', Buffer.alloc(0)]])), 'first boot');
});

function cutOff(image: DiskImage, count: number): Buffer {
  const bytes = image.get('state.json') ?? Buffer.alloc(0);
  return bytes.subarray(0, bytes.length - count);
}

function newer(image: DiskImage): Buffer {
  const text = (image.get('state.json') ?? Buffer.alloc(0)).toString('utf8');
  return Buffer.from(text.replace('{"format":1', '{"format":2'));
}

/** The file of another generation under this one's name. */
function foreign(journal: Buffer, generation: number): Buffer {
  const disk = Buffer.from(journal);
  disk.set(encodeFileHeader(generation + 1));
  return disk;
}

test('a journal that was never used does not stop a first boot, nor the start after it', async () => {
  const disk = new SimulatedDisk(new Map([['state.json.journal.7', encodeFileHeader(7)]]));
  const first = createJournalStore({ path: PATH, runtime: stillRuntime, files: disk.files });
  assert.equal(await first.load(), undefined);
  await first.initialise(INCARNATION);
  await first.commit(scriptedCommit(0));
  assert.equal(await load(disk.state.after(ALL)), all(1));
});
