// Bundles commands into one flat folder of modules that Node runs without node_modules: what a
// container image carries. Third-party packages are inside, and their notices beside them.
//
// A worker thread is named in the sources by `new URL('./x.ts', import.meta.url)`, which no bundler
// follows: each becomes an entry of its own, and the URL names what was built. The folder is flat,
// because a chunk that holds such a URL may be loaded by any other one.
// Refused: a warning of the bundler, a worker that does not exist, two outputs of one name.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type BuildResult, build, type Plugin } from 'esbuild';
import { notices } from './notices.ts';

export interface BundleSpec {
  /** Paths of sources and notices are relative to it. */
  readonly root: string;
  /** Command → its source below the root. */
  readonly commands: Readonly<Record<string, string>>;
  /** Receives the modules; made when it is not there. */
  readonly out: string;
  /** The Node that the first line of a command names: an image without a shell has no `env`. */
  readonly node: string;
}

const WORKER_URL = /new URL\(\s*'(\.{1,2}\/[^']+\.ts)',\s*import\.meta\.url\s*,?\s*\)/g;
const EXTENSION = '.mjs';
/** CommonJS packages inside the bundle ask for Node's own modules through `require`. */
const REQUIRE =
  "import { createRequire as bundledRequire } from 'node:module'; const require = bundledRequire(import.meta.url);";

/** Names of the files that it wrote, in order. */
export async function bundle(spec: BundleSpec): Promise<readonly string[]> {
  const { root, out } = spec;
  const entries = new Map(
    Object.entries(spec.commands).map(([name, source]) => [path.resolve(root, source), name]),
  );
  if (entries.size !== Object.keys(spec.commands).length) {
    throw new Error('two commands have one source');
  }
  const built = await withWorkers(root, entries);
  const { outputFiles = [], metafile } = built;
  mkdirSync(out, { recursive: true });
  for (const { path: file, text } of outputFiles) {
    const name = path.basename(file);
    const isCommand = Object.hasOwn(spec.commands, path.basename(name, EXTENSION));
    const mode = isCommand ? 0o755 : 0o644;
    writeFileSync(path.join(out, name), isCommand ? `#!${spec.node}\n${text}` : text, { mode });
  }
  const inputs = Object.keys(metafile?.inputs ?? {});
  writeFileSync(path.join(out, 'THIRD-PARTY-NOTICES'), notices(root, inputs));
  return outputFiles.map(({ path: file }) => path.basename(file)).sort();
}

/** Builds until no module names a worker that is not an entry yet: a worker may start another. */
async function withWorkers(root: string, entries: Map<string, string>): Promise<BuildResult> {
  for (;;) {
    const found = new Map<string, string>();
    const built = await build({
      absWorkingDir: root,
      entryPoints: [...entries].map(([source, name]) => ({ in: source, out: name })),
      outdir: path.join(root, 'bundle'),
      outExtension: { '.js': EXTENSION },
      chunkNames: 'chunk-[hash]',
      bundle: true,
      splitting: true,
      write: false,
      metafile: true,
      platform: 'node',
      format: 'esm',
      target: 'node24',
      banner: { js: REQUIRE },
      logLevel: 'silent',
      plugins: [nameWorkers(root, found)],
    });
    const [warning] = built.warnings;
    if (warning !== undefined) {
      throw new Error(`${warning.location?.file ?? 'bundle'}: ${warning.text}`);
    }
    const missing = [...found].filter(([source]) => !entries.has(source));
    if (missing.length === 0) return built;
    for (const [source, name] of missing) {
      if ([...entries.values()].includes(name)) throw new Error(`two outputs are named ${name}`);
      entries.set(source, name);
    }
  }
}

/** Rewrites the URL of each worker to the name of its output, and collects source → name. */
function nameWorkers(root: string, found: Map<string, string>): Plugin {
  return {
    name: 'name-workers',
    setup(builder) {
      builder.onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
        const text = readFileSync(file, 'utf8');
        const contents = text.replaceAll(WORKER_URL, (_, relative: string) => {
          const source = path.resolve(path.dirname(file), relative);
          if (!existsSync(source)) throw new Error(`${file} names ${relative}: no such file`);
          const name = outputName(root, source);
          found.set(source, name);
          return `new URL('./${name}${EXTENSION}', import.meta.url)`;
        });
        return { contents, loader: 'ts' };
      });
    },
  };
}

/** `packages/shard/src/engine-host/worker-main.ts` → `shard.engine-host.worker-main`. */
function outputName(root: string, source: string): string {
  const parts = path.relative(root, source).replace(/\.ts$/, '').split(path.sep);
  return parts.filter((part) => part !== 'packages' && part !== 'src').join('.');
}
