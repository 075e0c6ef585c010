// Finds bench files and what they define. A file under bench/<area>/ may only define names that
// start with <area>/, which is what lets a run load just the files its pattern could match.

import { globSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bench, BenchEntry, Ratio } from './define-bench.ts';
import { couldMatchInside } from './name-glob.ts';

export interface Discovered {
  readonly benches: ReadonlyMap<string, FoundBench>;
  readonly ratios: readonly Ratio[];
  readonly fileCount: number;
}

export interface FoundBench {
  readonly bench: Bench<unknown>;
  readonly file: string;
}

/** Loads every bench file under `folder` of which some name could match one of `patterns`. */
export async function discover(folder: string, patterns: readonly string[]): Promise<Discovered> {
  const benches = new Map<string, FoundBench>();
  const ratios: Ratio[] = [];
  const pending = findFiles(folder);
  const loaded = new Set<string>();
  const wanted = [...patterns];
  // A ratio found in one file may ask for a partner in another; each file is loaded once.
  for (let next = takeNext(pending, wanted); next; next = takeNext(pending, wanted)) {
    loaded.add(next.file);
    for (const entry of entriesOf(await import(pathToFileURL(next.file).href), next.file)) {
      if (entry.kind === 'ratio') {
        ratios.push(entry.ratio);
        wanted.push(entry.ratio.over);
        continue;
      }
      const { name } = entry.bench;
      if (!name.startsWith(`${next.area}/`)) {
        throw new Error(`${next.file}: ${name} must start with ${next.area}/`);
      }
      if (benches.has(name)) throw new Error(`${next.file}: ${name} is defined twice`);
      benches.set(name, { bench: entry.bench, file: next.file });
    }
  }
  return { benches, ratios, fileCount: loaded.size };
}

interface BenchFile {
  readonly file: string;
  readonly area: string;
}

/** `testdata` holds benches that exist to be wrong. */
function findFiles(folder: string): BenchFile[] {
  return globSync('**/*.bench.ts', { cwd: folder, exclude: ['**/testdata/**'] })
    .toSorted()
    .map((path) => ({ file: join(folder, path), area: dirname(path).split(sep).join('/') }));
}

function takeNext(pending: BenchFile[], patterns: readonly string[]): BenchFile | undefined {
  const at = pending.findIndex(({ area }) =>
    patterns.some((pattern) => couldMatchInside(pattern, area)),
  );
  return at === -1 ? undefined : pending.splice(at, 1)[0];
}

/** The default export of a bench file: a list of what defineBench and defineRatio returned. */
export function entriesOf(module: unknown, file: string): readonly BenchEntry[] {
  const exported: unknown =
    typeof module === 'object' && module !== null && 'default' in module
      ? module.default
      : undefined;
  if (!Array.isArray(exported) || exported.length === 0 || !exported.every(isEntry)) {
    throw new Error(`${file}: export default [defineBench(…), …]`);
  }
  return exported;
}

function isEntry(value: unknown): value is BenchEntry {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  return value.kind === 'bench' || value.kind === 'ratio';
}
