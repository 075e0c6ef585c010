// Bundles sources for a browser and refuses everything that only Node has: built-in modules (with
// or without `node:`), npm packages, `@bigfleet/base/real`, files outside the named folders, and
// Node's globals. Without the refusals a bundler may leave such an import to fail at run time, or
// replace it by an empty module, and "browser-safe" would mean nothing.
// Test files alone may be given shims for node:test and node:assert, and a literal for process.env.

import { isBuiltin } from 'node:module';
import path from 'node:path';
import { type BuildFailure, build, type Message, type Plugin } from 'esbuild';
import { nodeGlobalsIn } from './node-globals.ts';

export interface BundleSpec {
  /** TypeScript text; its imports name files by path. */
  readonly entry: string;
  /** Where relative imports of the entry start. */
  readonly from: string;
  /** Every bundled file lies in one of these. */
  readonly folders: readonly string[];
  /** Absent for what ships. */
  readonly tests?: TestSupport;
}

export interface TestSupport {
  readonly isTest: (file: string) => boolean;
  /** Built-in module → file that stands in for it, in test files only. */
  readonly shims: Readonly<Record<string, string>>;
  /** What `process.env` is. */
  readonly env: Readonly<Record<string, string>>;
  /** Code written for the worker: it may use the worker's own globals. */
  readonly workerFolder: string;
}

export type Bundle =
  | { readonly ok: true; readonly code: string; readonly files: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

const OWN_PACKAGES: readonly string[] = ['@bigfleet/base', '@bigfleet/engine'];
const ENTRY = 'browser-entry.ts';

export async function bundleForBrowser(spec: BundleSpec): Promise<Bundle> {
  const built = await build({
    stdin: { contents: spec.entry, resolveDir: spec.from, sourcefile: ENTRY, loader: 'ts' },
    absWorkingDir: spec.from,
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2024',
    logLevel: 'silent',
    define: spec.tests === undefined ? {} : { 'process.env': JSON.stringify(spec.tests.env) },
    plugins: [refuseImports(spec.tests)],
  }).catch((error: unknown) => failureOf(error));
  if ('problems' in built) return { ok: false, problems: built.problems };
  const files = Object.keys(built.metafile.inputs)
    .filter((input) => input !== ENTRY && !input.startsWith('<define:'))
    .map((input) => path.resolve(spec.from, input));
  const problems = [
    ...built.warnings.map(describeMessage),
    ...outside(files, spec.folders),
    ...(await globalsUsed(files, spec.tests)),
  ];
  if (problems.length > 0) return { ok: false, problems };
  return { ok: true, code: built.outputFiles.map(({ text }) => text).join('\n'), files };
}

function refuseImports(tests: TestSupport | undefined): Plugin {
  return {
    name: 'refuse-imports',
    setup(builder) {
      builder.onResolve({ filter: /.*/ }, ({ path: wanted, importer, kind }) => {
        if (kind === 'entry-point' || /^[./]/.test(wanted)) return undefined;
        if (OWN_PACKAGES.includes(wanted)) return undefined;
        const shim = tests?.isTest(importer) === true ? tests.shims[wanted] : undefined;
        if (shim !== undefined) return { path: shim };
        const what = isBuiltin(wanted) ? 'a Node built-in' : 'not a browser-safe package';
        return { errors: [{ text: `imports ${wanted}: ${what}` }] };
      });
    },
  };
}

function outside(files: readonly string[], folders: readonly string[]): string[] {
  return files
    .filter((file) => !folders.some((folder) => file.startsWith(folder + path.sep)))
    .map((file) => `${file}: outside the folders of this bundle`);
}

async function globalsUsed(
  files: readonly string[],
  tests: TestSupport | undefined,
): Promise<string[]> {
  const isTest = (file: string): boolean => tests?.isTest(file) === true;
  const isWorkers = (file: string): boolean =>
    tests !== undefined && file.startsWith(tests.workerFolder + path.sep);
  const shipped = files.filter((file) => !isTest(file) && !isWorkers(file));
  const uses = [
    ...(await nodeGlobalsIn(shipped, { allowEnv: false })),
    ...(await nodeGlobalsIn(files.filter(isTest), { allowEnv: true })),
  ];
  return uses.map(({ file, name }) => `${file}: uses ${name}`);
}

/** A refused bundle is an expected outcome; anything else is not ours to explain. */
function failureOf(error: unknown): { readonly problems: readonly string[] } {
  if (!isBuildFailure(error)) throw error;
  return { problems: error.errors.map(describeMessage) };
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors);
}

function describeMessage({ location, text }: Message): string {
  return location === null ? text : `${location.file}:${location.line}: ${text}`;
}
