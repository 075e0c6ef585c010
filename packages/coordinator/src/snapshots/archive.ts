// Snapshots as files. Reading, from a directory or a tar, hands out the state only together with its
// checksum: a copy that does not fit is an error, never a file. Nothing is trusted: sizes are bounded
// by the file, names are two, and the order is meta first. `bigfleetctl snapshot save` writes the tar.

import { createReadStream } from 'node:fs';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import {
  decodeSnapshotMeta,
  malformedSnapshot,
  MAX_META_BYTES,
  META_FILE,
  type SnapshotMeta,
  STATE_FILE,
} from './snapshot-meta.ts';
import { isMissing, writeState } from './spool.ts';
import { BLOCK_BYTES, decodeTarHeader, paddingOf } from './tar-header.ts';

export interface SnapshotArchive {
  readonly meta: SnapshotMeta;
  /** Into a new synced file; throws `snapshot_malformed` when size or checksum differ. */
  copyState(file: string): Promise<void>;
}

interface StatePlace {
  readonly file: string;
  readonly offset: number;
  readonly size: number;
}

/** Throws `snapshot_malformed` for anything that is not a whole snapshot. */
export async function openArchive(source: string): Promise<SnapshotArchive> {
  const { meta, state } = await find(source);
  if (state.size !== meta.size)
    throw malformedSnapshot(`the state has ${state.size} bytes, ${META_FILE} says ${meta.size}`);
  return { meta, copyState: (file) => copyState(meta, state, file) };
}

async function find(source: string): Promise<{ meta: SnapshotMeta; state: StatePlace }> {
  try {
    const info = await stat(source);
    return info.isDirectory() ? await inDirectory(source) : await inTar(source, info.size);
  } catch (error) {
    if (isMissing(error)) throw malformedSnapshot(`${source}: no snapshot is there`, error);
    throw error;
  }
}

async function inDirectory(source: string): Promise<{ meta: SnapshotMeta; state: StatePlace }> {
  const metaFile = path.join(source, META_FILE);
  if ((await stat(metaFile)).size > MAX_META_BYTES) throw malformedSnapshot(META_TOO_LARGE);
  const meta = decodeSnapshotMeta(await readFile(metaFile, 'utf8'));
  const file = path.join(source, STATE_FILE);
  return { meta, state: { file, offset: 0, size: (await stat(file)).size } };
}

async function inTar(
  source: string,
  fileSize: number,
): Promise<{ meta: SnapshotMeta; state: StatePlace }> {
  const handle = await open(source, 'r');
  try {
    const first = await entryAt(handle, 0, fileSize);
    if (first?.name !== META_FILE) throw malformedSnapshot(`${META_FILE} is not the first entry`);
    if (first.size > MAX_META_BYTES) throw malformedSnapshot(META_TOO_LARGE);
    const json = await bytesAt(handle, first.offset, first.size);
    const meta = decodeSnapshotMeta(json.toString('utf8'));
    const second = await entryAt(handle, first.next, fileSize);
    if (second?.name !== STATE_FILE) throw malformedSnapshot('the state is missing');
    if ((await entryAt(handle, second.next, fileSize)) !== undefined)
      throw malformedSnapshot('the tar holds more than a snapshot');
    return { meta, state: { file: source, offset: second.offset, size: second.size } };
  } finally {
    await handle.close();
  }
}

interface Entry {
  readonly name: string;
  readonly size: number;
  /** Of its content. */
  readonly offset: number;
  /** Of the header after it. */
  readonly next: number;
}

/** Undefined at the end mark. */
async function entryAt(
  handle: FileHandle,
  at: number,
  fileSize: number,
): Promise<Entry | undefined> {
  const header = decodeTarHeader(await bytesAt(handle, at, BLOCK_BYTES));
  if (header === 'end') return undefined;
  const offset = at + BLOCK_BYTES;
  const next = offset + header.size + paddingOf(header.size);
  if (next > fileSize) throw malformedSnapshot('the tar ends early');
  return { ...header, offset, next };
}

async function bytesAt(handle: FileHandle, at: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await handle.read(buffer, 0, length, at);
  if (bytesRead < length) throw malformedSnapshot('the tar ends early');
  return buffer;
}

async function copyState(meta: SnapshotMeta, state: StatePlace, file: string): Promise<void> {
  const { sha256, size } = await writeState(stateBytes(state), file);
  if (size !== meta.size) throw malformedSnapshot(`the state ends after ${size} bytes`);
  if (sha256 !== meta.sha256) throw malformedSnapshot('the checksum of the state does not match');
}

async function* stateBytes({ file, offset, size }: StatePlace): AsyncIterable<Uint8Array> {
  if (size === 0) return;
  for await (const chunk of createReadStream(file, { start: offset, end: offset + size - 1 }))
    yield chunk as Uint8Array;
}

const META_TOO_LARGE = `${META_FILE} is larger than ${MAX_META_BYTES} bytes`;
