// Writes the image as a snapshot: temporary file, fsync, rename over the old one, fsync of the
// directory. A crash before the rename leaves the old snapshot, after it the new one, never half.
//
// Commits may go on meanwhile: the image is read as the writing proceeds, so the file may hold
// changes of its own generation's journal. That is harmless, because a load replays that journal
// over it and every change is an absolute value. What it may never hold is a change that is not
// durable yet, and the image has none.

import { crc32 } from 'node:zlib';
import { type Files, type OpenFile, writeAll } from './files.ts';
import type { StateImage } from '../state-image.ts';
import {
  checksumLine,
  CLOSE_RECORDS,
  headLine,
  OPEN_FENCES,
  OPEN_MACHINES,
  OPEN_OPERATIONS,
} from './snapshot-layout.ts';
import type { StatePaths } from './state-paths.ts';
import { formOfFence, formOfMachine, formOfOperation } from './stored-forms.ts';

/** One write per this many characters; each is a turn of the event loop for everyone else. */
const CHUNK_CHARS = 256 * 1_024;

export interface SnapshotPlace {
  readonly files: Files;
  readonly paths: StatePaths;
  readonly generation: number;
}

/** Its size in bytes. When it rejects, the old snapshot may or may not be replaced; both load. */
export async function writeSnapshot(place: SnapshotPlace, image: StateImage): Promise<number> {
  const { files, paths } = place;
  const file = await files.create(paths.temporary);
  let bytes: number;
  try {
    bytes = await writeLines(file, snapshotLines(place.generation, image));
    await file.sync();
  } finally {
    await file.close();
  }
  await files.rename(paths.temporary, paths.snapshot);
  await files.syncDirectory(paths.directory);
  return bytes;
}

function* snapshotLines(generation: number, image: StateImage): Generator<string> {
  yield headLine(generation, image);
  yield OPEN_MACHINES;
  yield* records(image.machines.values(), formOfMachine);
  yield OPEN_FENCES;
  yield* records(image.fences.values(), formOfFence);
  yield OPEN_OPERATIONS;
  yield* records(image.operations.values(), formOfOperation);
  yield CLOSE_RECORDS;
}

function* records<T>(values: Iterable<T>, formOf: (value: T) => object): Generator<string> {
  let separator = '';
  for (const value of values) {
    yield separator + JSON.stringify(formOf(value));
    separator = ',';
  }
}

async function writeLines(file: OpenFile, lines: Iterable<string>): Promise<number> {
  let at = 0;
  let crc = 0;
  let chunk = '';
  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(chunk, 'utf8');
    chunk = '';
    crc = crc32(bytes, crc);
    await writeAll(file, bytes, at);
    at += bytes.length;
  };
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length >= CHUNK_CHARS) await flush();
  }
  await flush();
  chunk = `${checksumLine(crc)}\n`;
  await flush();
  return at;
}
