// Saves a snapshot as one tar with meta.json first. The state is spooled to a file beside the
// target, because a tar must know its size before its content; the target appears by rename, whole
// and checked, or not at all.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { SnapshotSaveChunk } from '@bigfleet/wire';
import { tarEnd, tarHeader, tarPadding } from './tar.ts';

export interface SnapshotMeta {
  readonly index: string;
  readonly term: string;
}

export interface SaveOptions {
  readonly target: string;
  readonly frames: AsyncIterable<SnapshotSaveChunk>;
  readonly nowUnixSeconds: number;
}

const OWNER_ONLY = 0o600;
const MAX_META_BYTES = 1_000_000;

interface Spooled {
  readonly metaJson: Uint8Array;
  readonly size: number;
  readonly sha256: string;
}

export async function saveSnapshot(options: SaveOptions): Promise<SnapshotMeta> {
  const { target } = options;
  const spool = `${target}.${process.pid}.spool`;
  const half = `${target}.${process.pid}.part`;
  try {
    const spooled = await spoolFrames(options.frames, spool);
    const meta = checkMeta(spooled);
    await writeTar(half, spool, spooled, options.nowUnixSeconds);
    await rename(half, target);
    await syncDirectory(path.dirname(path.resolve(target)));
    return meta;
  } finally {
    await rm(spool, { force: true });
    await rm(half, { force: true });
  }
}

async function spoolFrames(
  frames: AsyncIterable<SnapshotSaveChunk>,
  spool: string,
): Promise<Spooled> {
  const file = await open(spool, 'w', OWNER_ONLY);
  const hash = createHash('sha256');
  let metaJson: Uint8Array | undefined;
  let size = 0;
  try {
    for await (const { payload } of frames) {
      if (payload.case === 'metaJson') {
        if (metaJson !== undefined) throw incomplete('the server sent a second meta frame');
        metaJson = payload.value;
      } else if (payload.case === 'data') {
        if (metaJson === undefined) throw incomplete('the server sent data before meta');
        hash.update(payload.value);
        size += payload.value.length;
        await file.writeFile(payload.value);
      }
    }
  } finally {
    await file.close();
  }
  if (metaJson === undefined) throw incomplete('the server sent no meta frame');
  return { metaJson, size, sha256: hash.digest('hex') };
}

/** What arrived must be what the leader says it sent. */
function checkMeta({ metaJson, size, sha256 }: Spooled): SnapshotMeta {
  if (metaJson.length > MAX_META_BYTES) throw incomplete('meta.json is too long');
  let meta: unknown;
  try {
    meta = JSON.parse(Buffer.from(metaJson).toString('utf8'));
  } catch (error) {
    throw incomplete(`meta.json is not JSON: ${describeThrown(error)}`);
  }
  if (typeof meta !== 'object' || meta === null) throw incomplete('meta.json is no object');
  const fields = new Map<string, unknown>(Object.entries(meta));
  if (fields.has('size') && Number(fields.get('size')) !== size) {
    throw incomplete(`meta.json says ${textOf(fields.get('size'))} bytes, ${size} arrived`);
  }
  if (fields.has('sha256') && fields.get('sha256') !== sha256) {
    throw incomplete('the checksum in meta.json is not that of what arrived');
  }
  return { index: textOf(fields.get('index')), term: textOf(fields.get('term')) };
}

/** Numbers of 64 bits may be spelled as text. */
function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

async function writeTar(
  file: string,
  spool: string,
  { metaJson, size }: Spooled,
  modifiedUnixSeconds: number,
): Promise<void> {
  const tar: FileHandle = await open(file, 'w', OWNER_ONLY);
  try {
    await tar.writeFile(
      tarHeader({ name: 'meta.json', size: metaJson.length, modifiedUnixSeconds }),
    );
    await tar.writeFile(metaJson);
    await tar.writeFile(tarPadding(metaJson.length));
    await tar.writeFile(tarHeader({ name: 'state', size, modifiedUnixSeconds }));
    for await (const chunk of createReadStream(spool)) await tar.writeFile(chunk as Buffer);
    await tar.writeFile(Buffer.concat([tarPadding(size), tarEnd()]));
    await tar.sync();
  } finally {
    await tar.close();
  }
}

/** Without it the rename may not survive a power loss. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function incomplete(problem: string): BigFleetError {
  return new BigFleetError('snapshot_incomplete', problem);
}
