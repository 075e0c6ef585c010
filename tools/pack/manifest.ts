// The manifest that a published package carries. In the repository `exports` point to sources,
// which Node runs directly; `npm pack` ignores publishConfig.exports, so the staged copy points
// to dist. Pure: staging.ts does the reading and writing.

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  /**
   * Commands exist in the published form only: npm would link and chmod one of `bin` in the
   * working tree at every install.
   */
  readonly publishConfig?: { readonly bin?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

export interface PublishedExport {
  readonly types: string;
  readonly default: string;
}

const KEPT: readonly string[] = ['description', 'license', 'type', 'keywords'];

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
    ...publishedCommands(manifest),
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
    const built = builtPath(manifest, key, source);
    return [key, { types: `./${built}.d.ts`, default: `./${built}.js` }] as const;
  });
  return Object.fromEntries(entries);
}

function publishedCommands(manifest: Manifest): { readonly bin?: Record<string, string> } {
  const commands = Object.entries(manifest.publishConfig?.bin ?? {});
  if (commands.length === 0) return {};
  const built = commands.map(
    ([command, source]) => [command, `${builtPath(manifest, command, source)}.js`] as const,
  );
  return { bin: Object.fromEntries(built) };
}

function builtPath(manifest: Manifest, key: string, source: string): string {
  const built = distPath(source);
  if (built !== undefined) return built;
  throw new Error(`${manifest.name} exports ${key} as ${source}: expected ./src/….ts`);
}

/** Sources of what an installation can import or run: `src/index.ts`, …. */
export function entrySources({ exports, publishConfig }: Manifest): string[] {
  const commands = Object.values(publishConfig?.bin ?? {});
  const all = [...Object.values(exports), ...commands];
  return [...new Set(all.map(withoutDot))];
}

/** Sources of the commands among them. */
export function commandSources({ publishConfig }: Manifest): string[] {
  return Object.values(publishConfig?.bin ?? {}).map(withoutDot);
}

/** `./src/a/b.ts` → `dist/a/b`. */
export function distPath(source: string): string | undefined {
  const match = /^(?:\.\/)?src\/(.+)\.ts$/.exec(source);
  return match?.[1] === undefined ? undefined : `dist/${match[1]}`;
}

function withoutDot(source: string): string {
  return source.replace(/^\.\//, '');
}
