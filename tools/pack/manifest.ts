// The manifest that a published package carries. In the repository `exports` point to sources,
// which Node runs directly; `npm pack` ignores publishConfig.exports, so the staged copy points
// to dist. Pure: staging.ts does the reading and writing.

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

export interface PublishedExport {
  readonly types: string;
  readonly default: string;
}

const KEPT: readonly string[] = ['description', 'license', 'type', 'bin', 'keywords'];

/**
 * Sibling dependencies are pinned to the exact version that is staged with them: published
 * packages of one revision only work with each other.
 */
export function publishedManifest(
  manifest: Manifest,
  siblings: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const kept = Object.entries(manifest).filter(([key]) => KEPT.includes(key));
  const dependencies = Object.entries(manifest.dependencies ?? {}).map(([name, range]) => [
    name,
    name.startsWith('@bigfleet/') ? pin(manifest.name, name, siblings) : range,
  ]);
  return {
    name: manifest.name,
    version: manifest.version,
    ...Object.fromEntries(kept),
    engines: { node: '>=24' },
    exports: publishedExports(manifest),
    files: ['dist'],
    ...(dependencies.length > 0 ? { dependencies: Object.fromEntries(dependencies) } : {}),
  };
}

function pin(from: string, name: string, siblings: ReadonlyMap<string, string>): string {
  const version = siblings.get(name);
  if (version === undefined) {
    throw new Error(`${from} depends on ${name}, which is not published with it`);
  }
  return version;
}

function publishedExports(manifest: Manifest): Record<string, PublishedExport> {
  const entries = Object.entries(manifest.exports).map(([key, source]) => {
    const built = distPath(source);
    if (built === undefined) {
      throw new Error(`${manifest.name} exports ${key} as ${source}: expected ./src/….ts`);
    }
    return [key, { types: `./${built}.d.ts`, default: `./${built}.js` }] as const;
  });
  return Object.fromEntries(entries);
}

/** `./src/a/b.ts` → `dist/a/b`. */
export function distPath(source: string): string | undefined {
  const match = /^(?:\.\/)?src\/(.+)\.ts$/.exec(source);
  return match?.[1] === undefined ? undefined : `dist/${match[1]}`;
}
