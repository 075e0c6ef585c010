// From files to the state that was acknowledged: the snapshot, then every journal from its
// generation on, in order. Repairs only what a crash explains (a cut tail, a journal that was just
// being created, leftovers of a finished compaction); everything else is an error for a person.

import type { BigFleetError } from '@bigfleet/base';
import { decodeChanges } from './change-lines.ts';
import { corrupt } from './failures.ts';
import { type Files, readAll } from './files.ts';
import type { FoundGenerations } from './generations.ts';
import type { StateImage } from '../state-image.ts';
import { JournalFile } from './journal-file.ts';
import { readLegacy } from './read-legacy.ts';
import { type LoadedSnapshot, readSnapshot } from './read-snapshot.ts';
import { type JournalScan, scanJournal } from './scan-journal.ts';
import { FORMAT_PREFIX } from './snapshot-layout.ts';
import type { StatePaths } from './state-paths.ts';
import { FormError } from './stored-forms.ts';

export interface RecoverOptions {
  readonly files: Files;
  readonly paths: StatePaths;
  readonly newIncarnation: string;
}

type Base =
  /** Nothing was ever acknowledged here. */
  | { readonly kind: 'first-boot' }
  /** A file of a simpler store; it needs a snapshot and a journal of ours before any commit. */
  | { readonly kind: 'legacy'; readonly image: StateImage }
  | { readonly kind: 'snapshot'; readonly snapshot: LoadedSnapshot };

/** A snapshot comes with the journals that were replayed over it. */
export type Recovered =
  | Exclude<Base, { readonly kind: 'snapshot' }>
  | (FoundGenerations & { readonly kind: 'loaded'; readonly snapshot: LoadedSnapshot });

export async function recover(options: RecoverOptions): Promise<Recovered> {
  const { files, paths } = options;
  const names = await files.list(paths.directory);
  const generations = names
    .map((name) => paths.generationOf(name))
    .filter((generation) => generation !== undefined)
    .toSorted((a, b) => a - b);
  const base = await readBase(options);
  if (base.kind === 'snapshot') return replay(options, base.snapshot, generations);
  for (const generation of generations) await refuseOrphan(options, generation, base.kind);
  // Unused, but in the way: a later load would miss the generations between them and the new one.
  for (const generation of generations) await files.remove(paths.journal(generation));
  return base;
}

async function readBase({ files, paths, newIncarnation }: RecoverOptions): Promise<Base> {
  const path = paths.snapshot;
  const kind = await files.kindOf(path);
  if (kind === 'absent') return { kind: 'first-boot' };
  if (kind !== 'file') throw corrupt(path, `it is a ${kind}, not a file`);
  const file = await files.open(path);
  try {
    const start = Buffer.from(await file.read(0, FORMAT_PREFIX.length)).toString('latin1');
    if (start === '') return { kind: 'first-boot' };
    if (start === FORMAT_PREFIX)
      return { kind: 'snapshot', snapshot: await readSnapshot(file, path) };
    return { kind: 'legacy', image: readLegacy(await readAll(file), { path, newIncarnation }) };
  } finally {
    await file.close();
  }
}

/** Without a snapshot of ours, a journal may only be one that was never used. */
async function refuseOrphan(
  { files, paths }: RecoverOptions,
  generation: number,
  base: 'first-boot' | 'legacy',
): Promise<void> {
  const path = paths.journal(generation);
  const scan = await scanFile(files, path, generation);
  if (scan.payloads.length === 0) return;
  const state = base === 'legacy' ? 'of another store' : 'missing or empty';
  throw corrupt(paths.snapshot, `it is ${state}, although ${path} holds changes that need it`);
}

async function replay(
  options: RecoverOptions,
  snapshot: LoadedSnapshot,
  generations: readonly number[],
): Promise<Recovered> {
  const { files, paths } = options;
  const live = generations.filter((generation) => generation >= snapshot.generation);
  for (const [index, generation] of live.entries()) {
    if (generation !== snapshot.generation + index)
      throw missing(paths, snapshot.generation + index);
  }
  if (live.length === 0) throw missing(paths, snapshot.generation);
  const scanned: ScannedJournal[] = [];
  for (const generation of live) {
    const path = paths.journal(generation);
    const scan = await scanFile(files, path, generation);
    refuseTornBefore(scanned, scan);
    if (scan.goodBytes === 0 && generation === snapshot.generation) {
      throw corrupt(path, 'its file header is broken');
    }
    applyPayloads(snapshot.image, path, scan.payloads);
    scanned.push({ path, generation, scan });
  }
  const current = await repair(options, scanned);
  await removeFinished(options, generations, snapshot.generation);
  const olderPaths = scanned.slice(0, -1).map(({ path }) => path);
  return { kind: 'loaded', snapshot, current, olderPaths };
}

type ReadableScan = Extract<JournalScan, { kind: 'readable' }>;

interface ScannedJournal {
  readonly path: string;
  readonly generation: number;
  readonly scan: ReadableScan;
}

/** A journal is whole before the next one gets its first frame. */
function refuseTornBefore(earlier: readonly ScannedJournal[], scan: ReadableScan): void {
  const torn = earlier.find((journal) => journal.scan.torn);
  if (torn === undefined || scan.payloads.length === 0) return;
  throw corrupt(
    torn.path,
    `it is cut at byte ${torn.scan.goodBytes}, but a later journal is in use`,
  );
}

function applyPayloads(image: StateImage, path: string, payloads: readonly Buffer[]): void {
  for (const [index, payload] of payloads.entries()) {
    try {
      image.applyAll(decodeChanges(payload));
    } catch (error) {
      if (error instanceof FormError)
        throw corrupt(path, `frame ${index}: ${error.message}`, error);
      throw error;
    }
  }
}

/**
 * Cuts torn tails, so that later frames never follow garbage, and makes durable what was read: the
 * process before us may have ended between a write and its fsync, and whoever asks us now is told
 * of a state that a power loss must not take back. The last journal, open.
 */
async function repair(
  { files, paths }: RecoverOptions,
  scanned: readonly ScannedJournal[],
): Promise<JournalFile> {
  let current: JournalFile | undefined;
  for (const journal of scanned) {
    const { scan, path } = journal;
    await current?.close();
    if (scan.goodBytes === 0) {
      current = await JournalFile.create(files, paths.directory, journal);
      continue;
    }
    const file = await files.open(path);
    try {
      if (scan.torn) await file.truncate(scan.goodBytes);
      await file.sync();
    } catch (error) {
      await file.close();
      throw error;
    }
    const found = { bytes: scan.goodBytes, frameCount: scan.payloads.length };
    current = new JournalFile(journal, file, found);
  }
  if (current === undefined) throw missing(paths, 0);
  await syncEntries(files, paths, current);
  return current;
}

async function syncEntries(files: Files, paths: StatePaths, current: JournalFile): Promise<void> {
  try {
    await files.syncDirectory(paths.directory);
  } catch (error) {
    await current.close();
    throw error;
  }
}

/** What a compaction had replaced but not removed before the process ended. */
async function removeFinished(
  { files, paths }: RecoverOptions,
  generations: readonly number[],
  snapshotGeneration: number,
): Promise<void> {
  for (const generation of generations) {
    if (generation < snapshotGeneration) await files.remove(paths.journal(generation));
  }
}

async function scanFile(files: Files, path: string, generation: number): Promise<ReadableScan> {
  const file = await files.open(path);
  try {
    const scan = scanJournal(await readAll(file), generation);
    if (scan.kind === 'damaged') throw corrupt(path, scan.problem);
    return scan;
  } finally {
    await file.close();
  }
}

function missing(paths: StatePaths, generation: number): BigFleetError {
  return corrupt(paths.journal(generation), 'it is missing, although the state needs it');
}
