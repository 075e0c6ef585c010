// An engine's snapshot written to a file while its checksum is taken: meta.json comes first in an
// archive and on the wire, and it holds the checksum and the size, so the state must be known first.
// Beside it the durable file steps that snapshots are made of.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Runtime } from '@bigfleet/base';
import type { StoreEngine, StoreSnapshot } from '../store/store.ts';
import type { SnapshotMeta } from './snapshot-meta.ts';

export const OWNER_ONLY = 0o600;
export const OWNER_ONLY_DIR = 0o700;
const NANOS_PER_MS = 1_000_000n;
const ID_BYTES = 4;
const CHUNK_BYTES = 1_048_576;

/** Called before each step that a crash could cut off; tests crash there. */
export type StepHook = (step: string) => void;

export interface SpoolOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'entropy'>;
  readonly engine: StoreEngine;
  /** Replaced; the caller removes it. */
  readonly file: string;
}

/** The file is complete and synced when this resolves. */
export async function spoolSnapshot(
  snapshot: StoreSnapshot,
  options: SpoolOptions,
): Promise<SnapshotMeta> {
  const { runtime, engine } = options;
  const { meta, format, storeRaftTerm } = snapshot;
  const { sha256, size } = await writeState(snapshot.bytes, options.file);
  return {
    version: 1,
    id: Buffer.from(runtime.entropy.bytes(ID_BYTES)).toString('hex'),
    index: meta.applyIndex,
    term: Number(meta.term),
    storeRaftTerm: Number(storeRaftTerm),
    engine,
    format,
    clusterUid: meta.clusterUid,
    createdAt: new Date(Number(runtime.clock.unixNanos() / NANOS_PER_MS)).toISOString(),
    sha256,
    size,
    ledgerGeneration: meta.ledgerGeneration,
  };
}

/** The spooled state in chunks of at most 1 MiB, as `SnapshotSave` sends it. */
export async function* spooledChunks(file: string): AsyncIterable<Uint8Array> {
  for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES }))
    yield chunk as Uint8Array;
}

interface Digest {
  readonly sha256: string;
  readonly size: number;
}

/** Copies a stream into a synced file and says what passed. */
export async function writeState(bytes: AsyncIterable<Uint8Array>, file: string): Promise<Digest> {
  const hash = createHash('sha256');
  let size = 0;
  const handle = await open(file, 'w', OWNER_ONLY);
  try {
    for await (const chunk of bytes) {
      hash.update(chunk);
      size += chunk.length;
      await handle.writeFile(chunk);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { sha256: hash.digest('hex'), size };
}

export async function syncPath(target: string): Promise<void> {
  const handle = await open(target, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A rename makes a thing exist; it counts only after the directory of the name was synced too. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncPath(path.dirname(to));
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
