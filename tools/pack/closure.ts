// The modules that a published package is made of: what its entry points reach, and nothing else.
// Tests, self-tests and mutants beside the code are never published, and a module that would break
// in an empty folder (a package that is no dependency, a path out of the package, a source file
// named by URL, which the compiler does not rename) stops the packing instead of its reader.

import { existsSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { findImports, type ImportRef } from '../walls/imports.ts';
import { lex } from '../walls/lex.ts';

export interface PackageSources {
  readonly folder: string;
  /** `src/index.ts`, …: exports and commands. */
  readonly entries: readonly string[];
  /** Names of the packages that an installation brings. */
  readonly dependencies: readonly string[];
}

/** Every source below `src/` that an entry reaches, in order; throws on the first broken import. */
export function publishedSources({ folder, entries, dependencies }: PackageSources): string[] {
  const found = new Set<string>();
  const queue = [...entries];
  for (let source = queue.pop(); source !== undefined; source = queue.pop()) {
    if (found.has(source)) continue;
    found.add(source);
    const file = path.join(folder, source);
    if (!existsSync(file)) throw new Error(`${file} is an entry or imported, but does not exist`);
    for (const ref of findImports(lex(readFileSync(file, 'utf8'), { jsx: false }))) {
      const next = reached(source, ref, dependencies);
      if (next !== undefined) queue.push(next);
    }
  }
  return [...found].sort();
}

/** The source that the import leads to; undefined when it leaves the package in an allowed way. */
function reached(
  from: string,
  { kind, specifier, line }: ImportRef,
  dependencies: readonly string[],
): string | undefined {
  const place = `${from}:${line}`;
  if (specifier === undefined) {
    if (kind === 'url') return undefined;
    throw new Error(`${place} imports what is computed at run time`);
  }
  if (!specifier.startsWith('.')) {
    if (isBuiltin(specifier) || kind === 'url') return undefined;
    const name = packageOf(specifier);
    if (dependencies.includes(name)) return undefined;
    throw new Error(`${place} imports ${name}, which is no dependency of its package`);
  }
  const target = path.posix.join(path.posix.dirname(from), specifier);
  const isInside = target.startsWith('src/');
  if (kind !== 'url') {
    if (isInside) return target;
    throw new Error(`${place} imports ${specifier}, outside src/`);
  }
  // Folders and files outside are looked for at run time, by code that can do without them.
  if (!isInside || !target.endsWith('.ts')) return undefined;
  throw new Error(`${place} names ${specifier} by URL: it is built as .js`);
}

function isBuiltin(specifier: string): boolean {
  return specifier.startsWith('node:') || builtinModules.includes(specifier);
}

/** `@scope/name/deep` → `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
