// The files behind records and traces, as an argument: tests fail every call, and a simulation
// keeps them in memory. Names sort in the order of writing, of both kinds together, so that the
// oldest is the first. A trace file is a trace as the engine writes it, nothing around it.

import { open, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { BigFleetError } from '@bigfleet/base';
import { makeDirectory } from '@bigfleet/process';

export interface SegmentFile {
  append(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export type SegmentKind = 'records' | 'trace';

export interface SegmentInfo {
  readonly name: string;
  readonly kind: SegmentKind;
  readonly bytes: number;
}

export interface SegmentFiles {
  /** Oldest first. */
  list(): Promise<readonly SegmentInfo[]>;
  create(name: string): Promise<SegmentFile>;
  /** The whole of it, or its first `bytes`. */
  read(name: string, bytes?: number): Promise<Uint8Array>;
  remove(name: string): Promise<void>;
}

const NAME = /^\d{12}-\d{8}\.(records|trace)$/;
const EPOCH_DIGITS = 12;
const OWNER_ONLY = 0o600;

/** By epoch, then number: a new process never writes into an old segment. */
export function segmentName(epoch: bigint, number: number, kind: SegmentKind): string {
  return `${String(epoch).padStart(EPOCH_DIGITS, '0')}-${String(number).padStart(8, '0')}.${kind}`;
}

/** Undefined when the file is none of ours. */
export function segmentKindOf(name: string): SegmentKind | undefined {
  return NAME.exec(name)?.[1] as SegmentKind | undefined;
}

export function segmentEpochOf(name: string): bigint | undefined {
  return segmentKindOf(name) === undefined ? undefined : BigInt(name.slice(0, EPOCH_DIGITS));
}

export function directorySegments(directory: string): SegmentFiles {
  const inside = (name: string): string => path.join(directory, name);
  return {
    list: () => listSegments(directory),
    create: async (name) => {
      await makeDirectory(directory);
      const file = await open(inside(name), 'wx', OWNER_ONLY);
      return {
        append: async (bytes) => {
          await file.writeFile(bytes);
          // Without a name nobody will ever read it, and the disk takes it without a word.
          if ((await file.stat()).nlink > 0) return;
          throw new BigFleetError('records_removed', `${inside(name)} was deleted`);
        },
        close: () => file.close(),
      };
    },
    read: (name, bytes) =>
      bytes === undefined ? readFile(inside(name)) : readHead(inside(name), bytes),
    remove: (name) => rm(inside(name), { force: true }),
  };
}

/** A directory that is not there holds nothing. */
async function listSegments(directory: string): Promise<readonly SegmentInfo[]> {
  const found: SegmentInfo[] = [];
  for (const name of (await namesIn(directory)).sort()) {
    const kind = segmentKindOf(name);
    const size = kind === undefined ? undefined : await sizeOf(path.join(directory, name));
    if (kind !== undefined && size !== undefined) found.push({ name, kind, bytes: size });
  }
  return found;
}

async function namesIn(directory: string): Promise<string[]> {
  return (await unlessMissing(readdir(directory))) ?? [];
}

/** Undefined for what is gone, and for what is no file. */
async function sizeOf(file: string): Promise<number | undefined> {
  const found = await unlessMissing(stat(file));
  return found?.isFile() === true ? found.size : undefined;
}

async function readHead(file: string, bytes: number): Promise<Uint8Array> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The writer may drop the oldest segment at any moment. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
