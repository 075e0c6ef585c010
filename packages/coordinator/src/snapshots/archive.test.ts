// Proves that an archive, tar or directory, gives back exactly the state that went in, that GNU tar
// reads it, and that every damage (any byte, any length, any order) is an error and never a state.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import fc from 'fast-check';
import { FIRST_META } from '../state/testing/state-machine.ts';
import { openArchive } from './archive.ts';
import { decodeSnapshotMeta, encodeSnapshotMeta, type SnapshotMeta } from './snapshot-meta.ts';
import { spoolSnapshot } from './spool.ts';
import { decodeTarHeader } from './tar-header.ts';
import { encodeTarHeader, writeSnapshotTar } from './testing/write-tar.ts';

const { runtime } = createVirtualRuntime({ seed: 'archive', drain: drainMicrotasks });

function folder(context: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'coordinator-archive-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function* chunks(...parts: readonly Uint8Array[]): AsyncIterable<Uint8Array> {
  yield* parts;
}

interface Saved {
  readonly directory: string;
  readonly tar: string;
  readonly stateFile: string;
  readonly meta: SnapshotMeta;
}

async function saved(context: TestContext, state: Uint8Array): Promise<Saved> {
  const directory = folder(context);
  const stateFile = path.join(directory, 'spool');
  const bytes = chunks(state.subarray(0, 3), state.subarray(3));
  const head = { applyIndex: 7, term: 9n, clusterUid: 'uid', ledgerGeneration: 3 };
  const source = { format: 'logical-json', storeRaftTerm: 2n } as const;
  const snapshot = { ...source, meta: { ...FIRST_META, ...head }, bytes };
  const meta = await spoolSnapshot(snapshot, { runtime, engine: 'etcd', file: stateFile });
  const tar = path.join(directory, 'snapshot.tar');
  await writeSnapshotTar({ meta, stateFile, target: tar });
  return { directory, tar, stateFile, meta };
}

const STATE = Buffer.from('the state of the fleet, '.repeat(100));

test('a tar gives back its meta and its state, and GNU tar reads it', async (context) => {
  const { directory, tar, meta } = await saved(context, STATE);
  const archive = await openArchive(tar);
  assert.deepEqual(archive.meta, meta);
  assert.deepEqual(
    { ...meta, id: '', sha256: '' },
    {
      version: 1,
      id: '',
      index: 7,
      term: 9,
      storeRaftTerm: 2,
      engine: 'etcd',
      format: 'logical-json',
      clusterUid: 'uid',
      createdAt: '2026-01-01T00:00:00.000Z',
      sha256: '',
      size: STATE.length,
      ledgerGeneration: 3,
    },
  );
  const copy = path.join(directory, 'copy');
  await archive.copyState(copy);
  assert.deepEqual(readFileSync(copy), STATE);
  const listed = execFileSync('tar', ['tf', tar], { encoding: 'utf8' });
  assert.equal(listed, 'meta.json\nstate\n');
  assert.equal(existsSync(`${tar}.part`), false);
});

test('a directory, and a tar that GNU tar made, are read too', async (context) => {
  const { directory, stateFile, meta } = await saved(context, STATE);
  const place = path.join(directory, 'export');
  mkdirSync(place);
  writeFileSync(path.join(place, 'meta.json'), encodeSnapshotMeta(meta));
  writeFileSync(path.join(place, 'state'), readFileSync(stateFile));
  const byHand = path.join(directory, 'by-hand.tar');
  execFileSync('tar', ['cf', byHand, '-C', place, './meta.json', './state']);
  for (const source of [place, byHand]) {
    const copy = path.join(directory, 'copy');
    await (await openArchive(source)).copyState(copy);
    assert.deepEqual(readFileSync(copy), STATE);
  }
});

async function refusal(source: string, into: string): Promise<string> {
  try {
    await (await openArchive(source)).copyState(into);
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error);
    assert.equal(error.code, 'snapshot_malformed', error.message);
    return error.message;
  }
  return 'taken';
}

function linked(directory: string, meta: SnapshotMeta): string {
  const place = path.join(directory, 'linked');
  mkdirSync(place);
  writeFileSync(path.join(place, 'meta.json'), encodeSnapshotMeta(meta));
  symlinkSync('/etc/hostname', path.join(place, 'state'));
  const tar = path.join(directory, 'linked.tar');
  execFileSync('tar', ['cf', tar, '-C', place, 'meta.json', 'state']);
  return tar;
}

test('what is no snapshot is refused with its reason', async (context) => {
  const { directory, tar, meta } = await saved(context, STATE);
  const put = (name: string, bytes: Uint8Array | string): string => {
    const file = path.join(directory, name);
    writeFileSync(file, bytes);
    return file;
  };
  const whole = readFileSync(tar);
  const metaEntry = whole.subarray(0, 1_024);
  const stateEntry = whole.subarray(1_024, whole.length - 1_024);
  const end = Buffer.alloc(1_024);
  const zero = { ...meta, index: 0 };
  const json = Buffer.from(encodeSnapshotMeta(zero));
  const cases: readonly [string, string, RegExp][] = [
    ['absent', path.join(directory, 'nowhere'), /no snapshot is there/],
    ['empty', put('e', ''), /ends early/],
    ['text', put('t', 'x'.repeat(2_000)), /no tar/],
    ['state first', put('s', Buffer.concat([stateEntry, metaEntry, end])), /not the first/],
    ['meta only', put('m', Buffer.concat([metaEntry, end])), /state is missing/],
    [
      'a third entry',
      put('3', Buffer.concat([metaEntry, stateEntry, stateEntry, end])),
      /more than a snapshot/,
    ],
    ['no end', put('n', Buffer.concat([metaEntry, stateEntry])), /ends early/],
    [
      'index 0',
      put(
        '0',
        Buffer.concat([
          encodeTarHeader({ name: 'meta.json', size: json.length }),
          json,
          Buffer.alloc(512 - (json.length % 512)),
          stateEntry,
          end,
        ]),
      ),
      /^snapshot index 0 — not a valid coordinator snapshot$/,
    ],
    ['an empty directory', folder(context), /no snapshot is there/],
    ['a link as state', linked(directory, meta), /more than plain files/],
  ];
  for (const [name, source, reason] of cases)
    assert.match(await refusal(source, path.join(directory, 'copy')), reason, name);
});

test('no flipped byte and no truncation goes unnoticed', async (context) => {
  const { directory, tar } = await saved(context, STATE);
  const whole = readFileSync(tar);
  const broken = path.join(directory, 'broken.tar');
  const into = path.join(directory, 'copy');
  const { meta: ok } = await openArchive(tar);
  await fc.assert(
    fc.asyncProperty(
      fc.nat(whole.length - 1),
      fc.integer({ min: 1, max: 255 }),
      async (at, flip) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        writeFileSync(broken, bytes);
        if ((await refusal(broken, into)) !== 'taken') return;
        // Padding, and meta fields that bind nothing (id, time): the state itself is untouched.
        assert.deepEqual(readFileSync(into), STATE);
        assert.equal((await openArchive(broken)).meta.sha256, ok.sha256);
      },
    ),
    { numRuns: 300 },
  );
  for (let length = 0; length < whole.length - 512; length += 97) {
    writeFileSync(broken, whole);
    truncateSync(broken, length);
    assert.notEqual(await refusal(broken, into), 'taken', `cut at ${length}`);
  }
});

test('random blocks are never a header, and never anything but an error', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 512, maxLength: 512 }), (bytes) => {
      if (bytes.every((byte) => byte === 0)) return;
      assert.throws(() => decodeTarHeader(Buffer.from(bytes)), { code: 'snapshot_malformed' });
    }),
  );
});

test('meta.json with a missing or wrong field names it', () => {
  const good = {
    version: 1,
    id: 'a',
    index: 1,
    term: 1,
    store_raft_term: 0,
    engine: 'sqlite',
    format: 'sqlite',
    cluster_uid: 'u',
    created_at: 'now',
    sha256: 'a'.repeat(64),
    size: 3,
    of_the_future: true,
  };
  assert.equal(decodeSnapshotMeta(JSON.stringify(good)).size, 3);
  for (const [field, value] of Object.entries({
    version: 2,
    index: -1,
    term: 1.5,
    engine: 'raft',
    format: 'zip',
    sha256: 'xyz',
    size: '3',
    cluster_uid: undefined,
    ledger_generation: -1,
  }))
    assert.throws(
      () => decodeSnapshotMeta(JSON.stringify({ ...good, [field]: value })),
      {
        code: 'snapshot_malformed',
      },
      field,
    );
});
