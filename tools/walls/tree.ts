// The repository as the walls see it: every file below the root with its tokens and imports,
// the workspaces with their manifests, and each import resolved to a file, a builtin or an
// npm package through `exports`, as Node resolves it.
//
// Two listings of the files are made in different ways: this walk of the folders, which the
// rules read, and listIndependently(), which asks git. A rule that saw fewer files than git
// knows fails (run.ts), so a walk that goes blind cannot report a clean tree.

import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import path from 'node:path';
import { findImports, type ImportRef } from './imports.ts';
import { LexError, lex, type Token } from './lex.ts';

export interface Tree {
  readonly files: ReadonlyMap<string, TreeFile>;
  /** By package name. */
  readonly workspaces: ReadonlyMap<string, Workspace>;
}

export interface TreeFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Present for JavaScript and TypeScript. */
  readonly source?: Source;
}

export interface Source {
  readonly tokens: readonly Token[];
  readonly edges: readonly Edge[];
  readonly problem?: { readonly line: number; readonly message: string };
}

export interface Edge {
  readonly ref: ImportRef;
  readonly to: Target;
}

export type Target =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'npm'; readonly name: string }
  | { readonly kind: 'unresolved'; readonly why: string };

export interface Workspace {
  readonly name: string;
  readonly folder: string;
  readonly exports: ReadonlyMap<string, string>;
  readonly dependencies: ReadonlyMap<string, string>;
  readonly devDependencies: ReadonlyMap<string, string>;
}

const SOURCE = /\.[mc]?[jt]sx?$/;
const READ = /\.(?:[mc]?[jt]sx?|json|ya?ml|proto)$/;
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set([
  'node_modules',
  'dist',
  '.git',
  '.cache',
  'coverage',
]);
const SKIPPED_PATHS = /^bench\/results\/|^tools\/(?:.*\/)?fixtures\//;

export function isSource(file: string): boolean {
  return SOURCE.test(file);
}

/** Tests, long tests and test-only helpers: they may use development dependencies. */
export function isTest(file: string): boolean {
  return (
    /\.(?:test|long|e2e)\.[mc]?[jt]sx?$/.test(file) ||
    /\/(?:testing|testdata)\//.test(file) ||
    /^(?:test|bench|tools)\//.test(file) ||
    /^providers\/[^/]+\/(?:test|contract)\//.test(file)
  );
}

/** `packages/base`, `providers/aws`, `demo`, `test`, …; '' for files at the root. */
export function areaOf(file: string): string {
  const parts = file.split('/');
  if (parts.length < 2) return '';
  const nested = parts[0] === 'packages' || parts[0] === 'providers';
  return nested && parts.length > 2 ? `${parts[0]}/${parts[1]}` : (parts[0] ?? '');
}

export function readTree(root: string): Tree {
  const texts = walk(root, '').map((file): [string, string] => [
    file,
    READ.test(file) ? readFileSync(path.join(root, file), 'utf8') : '',
  ]);
  return buildTree(new Map(texts));
}

/** From path → text; files that no rule reads may have an empty text. */
export function buildTree(texts: ReadonlyMap<string, string>): Tree {
  const workspaces = readWorkspaces(texts);
  const files = [...texts].map(([file, text]): [string, TreeFile] => {
    const source = isSource(file) ? { source: scan({ texts, workspaces }, file) } : {};
    return [file, { path: file, text, ...source }];
  });
  return { files: new Map(files), workspaces };
}

/**
 * The same set of files, found without walk(): by git, or by glob outside a repository. git lists a link to a
 * folder like a file; what is in the folder is listed where it is.
 */
export function listIndependently(root: string): string[] {
  const inRepository = existsSync(path.join(root, '.git'));
  const all = inRepository
    ? execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
        cwd: root,
        encoding: 'utf8',
        maxBuffer: 256 * 1024 * 1024,
      }).split('\0')
    : globSync('**/*', { cwd: root, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
  const skipped = /(?:^|\/)(?:node_modules|dist|\.git|\.cache|coverage)\//;
  return [...new Set(all)].filter(
    (file) =>
      file !== '' &&
      !skipped.test(file) &&
      !SKIPPED_PATHS.test(file) &&
      statSync(path.join(root, file), { throwIfNoEntry: false })?.isFile() === true,
  );
}

function walk(root: string, folder: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(path.join(root, folder), { withFileTypes: true })) {
    const file = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!SKIPPED_FOLDERS.has(entry.name)) found.push(...walk(root, file));
    } else if (entry.isFile() && !SKIPPED_PATHS.test(file)) found.push(file);
  }
  return found.sort();
}

/** What imports are resolved in. */
interface Texts {
  readonly texts: ReadonlyMap<string, string>;
  readonly workspaces: ReadonlyMap<string, Workspace>;
}

function scan(within: Texts, file: string): Source {
  try {
    const tokens = lex(within.texts.get(file) ?? '', { jsx: file.endsWith('x') });
    const edges = findImports(tokens).flatMap((ref): Edge[] => {
      const to = resolve(within, file, ref);
      return to === undefined ? [] : [{ ref, to }];
    });
    return { tokens, edges };
  } catch (error) {
    if (!(error instanceof LexError)) throw error;
    return { tokens: [], edges: [], problem: { line: error.line, message: error.message } };
  }
}

interface Manifest {
  readonly name?: string;
  readonly exports?: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

function readWorkspaces(texts: ReadonlyMap<string, string>): Map<string, Workspace> {
  const workspaces = new Map<string, Workspace>();
  for (const [file, text] of texts) {
    const match = /^(packages\/[^/]+|providers\/[^/]+|demo)\/package\.json$/.exec(file);
    if (match?.[1] === undefined) continue;
    const manifest = JSON.parse(text) as Manifest;
    // `_template` has no name on purpose: npm names its copies by their folder.
    const name = manifest.name ?? match[1];
    workspaces.set(name, {
      name,
      folder: match[1],
      exports: flatExports(manifest.exports),
      dependencies: new Map(
        Object.entries({
          ...manifest.dependencies,
          ...manifest.peerDependencies,
          ...manifest.optionalDependencies,
        }),
      ),
      devDependencies: new Map(Object.entries(manifest.devDependencies ?? {})),
    });
  }
  return workspaces;
}

/** `exports` as subpath → file; of conditions, the one that Node takes for an import. */
function flatExports(value: unknown): Map<string, string> {
  const flat = new Map<string, string>();
  if (typeof value === 'string') flat.set('.', value);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, entry] of Object.entries(value)) {
      const target = key.startsWith('.') ? pickCondition(entry) : undefined;
      if (target !== undefined) flat.set(key, target);
    }
    const direct = pickCondition(value);
    if (flat.size === 0 && direct !== undefined) flat.set('.', direct);
  }
  return flat;
}

function pickCondition(entry: unknown): string | undefined {
  if (typeof entry === 'string') return entry;
  if (typeof entry !== 'object' || entry === null) return undefined;
  const conditions = new Map<string, unknown>(Object.entries(entry));
  for (const condition of ['import', 'node', 'default']) {
    const target = pickCondition(conditions.get(condition));
    if (target !== undefined) return target;
  }
  return undefined;
}

/** Undefined when the reference is no module, such as a URL of a data file. */
function resolve(within: Texts, from: string, ref: ImportRef): Target | undefined {
  const specifier = ref.specifier?.replace(/\?[\w&=]*$/, '');
  if (specifier === undefined) {
    return { kind: 'unresolved', why: 'the specifier is computed, so no wall can check it' };
  }
  if (ref.kind === 'url' && !isSource(specifier)) return undefined;
  if (specifier.startsWith('.') || ref.kind === 'url') {
    const target = path.posix.join(path.posix.dirname(from), specifier);
    if (within.texts.has(target)) return { kind: 'file', path: target };
    return { kind: 'unresolved', why: `there is no file ${target}` };
  }
  if (specifier.startsWith('node:') || builtinModules.includes(specifier)) {
    return { kind: 'builtin', name: `node:${specifier.replace(/^node:/, '')}` };
  }
  const name = /^(?:@[^/]+\/)?[^/@#.][^/]*/.exec(specifier)?.[0];
  if (name === undefined) return { kind: 'unresolved', why: 'not a path and not a package name' };
  const workspace = within.workspaces.get(name);
  if (workspace !== undefined) {
    return resolveExport(within, workspace, specifier.slice(name.length));
  }
  if (name.startsWith('@bigfleet/')) return { kind: 'unresolved', why: `no workspace is ${name}` };
  return { kind: 'npm', name };
}

function resolveExport({ texts }: Texts, workspace: Workspace, subpath: string): Target {
  const wanted = `.${subpath}`;
  for (const [key, value] of workspace.exports) {
    const star = key.indexOf('*');
    const head = star < 0 ? key : key.slice(0, star);
    const tail = star < 0 ? '' : key.slice(star + 1);
    const matches = star < 0 ? wanted === key : wanted.startsWith(head) && wanted.endsWith(tail);
    if (!matches) continue;
    const middle = wanted.slice(head.length, wanted.length - tail.length);
    const target = path.posix.join(workspace.folder, value.replace('*', middle));
    if (texts.has(target)) return { kind: 'file', path: target };
    return { kind: 'unresolved', why: `${workspace.name} exports ${target}, which does not exist` };
  }
  return { kind: 'unresolved', why: `${workspace.name} does not export "${wanted}"` };
}
