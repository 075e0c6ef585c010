// Finds uses of what only Node has, file by file. esbuild's `define` replaces free
// identifiers only, by scope: a parameter named `process`, a key, a type or a comment is no use,
// `globalThis['Buffer']` and `typeof process` are. `globalThis` itself is refused as well, because
// destructuring or a computed key would reach any of the others.
// Refuses nothing by itself: the caller decides what a use means.

import path from 'node:path';
import { build } from 'esbuild';

/**
 * Globals of Node that a browser worker lacks; engine-in-worker.test.ts holds it complete. A page
 * has SharedArrayBuffer only when its server isolates it: the engine may not count on that.
 */
export const NODE_GLOBALS: readonly string[] = [
  'Buffer',
  'Navigator',
  'SharedArrayBuffer',
  'clearImmediate',
  'global',
  'process',
  'setImmediate',
];

/** Names that Node gives to a module; without a module system they are unbound. */
const MODULE_NAMES: readonly string[] = [
  'require',
  'module',
  'exports',
  '__dirname',
  '__filename',
  'import.meta.dirname',
  'import.meta.filename',
];

const GLOBAL_OBJECTS: readonly string[] = ['globalThis', 'self', 'window'];

/** Files are named from here: the temporary trees of tests lie elsewhere than the repository. */
const ROOT = path.parse(import.meta.dirname).root;

const REFUSED: readonly string[] = [...NODE_GLOBALS, ...MODULE_NAMES, ...GLOBAL_OBJECTS];

export interface ScanOptions {
  /** Tests read their counts from `process.env`, which their bundle replaces by a literal. */
  readonly allowEnv: boolean;
}

export interface GlobalUse {
  readonly file: string;
  readonly name: string;
}

/** Each file alone, nothing bundled: what tree shaking would drop is looked at too. */
export async function nodeGlobalsIn(
  files: readonly string[],
  options: ScanOptions,
): Promise<GlobalUse[]> {
  const { metafile, outputFiles } = await build({
    entryPoints: [...files],
    absWorkingDir: ROOT,
    outbase: ROOT,
    outdir: path.join(ROOT, 'never-written'),
    write: false,
    metafile: true,
    target: 'es2024',
    logLevel: 'silent',
    define: marks(options),
  });
  return outputFiles.flatMap(({ path: output, text }) => {
    const entry = metafile.outputs[path.relative(ROOT, output)]?.entryPoint;
    if (entry === undefined) throw new Error(`${output} has no source`);
    const used = REFUSED.filter((_, at) => text.includes(markOf(at)));
    return used.map((name) => ({ file: path.join(ROOT, entry), name }));
  });
}

function marks({ allowEnv }: ScanOptions): Record<string, string> {
  const define: Record<string, string> = allowEnv ? { 'process.env': '1' } : {};
  REFUSED.forEach((name, at) => {
    define[name] = markOf(at);
    for (const object of NODE_GLOBALS.includes(name) ? GLOBAL_OBJECTS : []) {
      define[`${object}.${name}`] = markOf(at);
    }
  });
  return define;
}

function markOf(at: number): string {
  return `__refused_${at}_`;
}
