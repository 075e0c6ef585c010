// Builds packages, stages what is published of them into a folder of their own, and packs
// there. Only the built form of what the entry points reach is taken (closure.ts), so that a stale
// dist cannot leak a module that was removed, and no test is ever published.

import { execFileSync, type StdioOptions } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { publishedSources } from './closure.ts';
import {
  commandSources,
  distPath,
  entrySources,
  type Manifest,
  publishedManifest,
} from './manifest.ts';

/**
 * What is published today: all that a provider outside this repository needs. Each name is a
 * folder below packages/.
 */
export const PUBLISHED: readonly string[] = [
  'base',
  'process',
  'wire',
  'telemetry',
  'providerkit',
  'conformance',
];

export interface StageOptions {
  readonly root: string;
  readonly names: readonly string[];
  /** Receives one folder per package and the tarballs. */
  readonly out: string;
}

export interface Packed {
  readonly name: string;
  readonly version: string;
  readonly tarball: string;
  /** Paths inside the package. */
  readonly files: readonly string[];
}

export function stagePackages({ root, names, out }: StageOptions): Packed[] {
  const folders = names.map((name) => path.join(root, 'packages', name));
  build(root, folders);
  const manifests = folders.map(readManifest);
  const siblings = new Map(manifests.map(({ name, version }) => [name, version]));
  return folders.map((folder, i) => {
    const manifest = manifests[i];
    if (manifest === undefined) throw new Error(`no manifest in ${folder}`);
    const staged = path.join(out, path.basename(folder));
    const files = copyBuilt(folder, manifest, staged);
    const published = publishedManifest(manifest, siblings);
    writeFileSync(path.join(staged, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
    copyNotices(root, folder, staged);
    const tarball = pack(staged, out);
    return { name: manifest.name, version: manifest.version, tarball, files };
  });
}

function build(root: string, folders: readonly string[]): void {
  const tsc = path.join(import.meta.dirname, '../../node_modules/.bin/tsc');
  execFileSync(tsc, ['-b', ...folders], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Copies the built form of every published source; fails when one was not built. */
function copyBuilt(folder: string, manifest: Manifest, staged: string): string[] {
  const sources = sourcesOf(folder, manifest);
  const commands = commandSources(manifest);
  return sources.flatMap((source) => {
    const built = distPath(source);
    if (built === undefined) throw new Error(`${source} has no place in dist`);
    return ['.js', '.d.ts'].map((extension) => {
      const file = `${built}${extension}`;
      const target = path.join(staged, file);
      mkdirSync(path.dirname(target), { recursive: true });
      copyFileSync(path.join(folder, file), target);
      if (extension === '.js' && commands.includes(source)) makeRunnable(target);
      return file;
    });
  });
}

function sourcesOf(folder: string, manifest: Manifest): string[] {
  return publishedSources({
    folder,
    entries: entrySources(manifest),
    dependencies: Object.keys(manifest.dependencies ?? {}),
  });
}

/** What an installation of the package in this folder brings, as paths of sources. */
export function publishedFilesOf(folder: string): string[] {
  return sourcesOf(folder, readManifest(folder));
}

/** npm sets the mode of a command; the line that says who runs it is ours. */
function makeRunnable(file: string): void {
  const text = readFileSync(file, 'utf8');
  if (!text.startsWith('#!')) writeFileSync(file, `#!/usr/bin/env node\n${text}`);
}

function copyNotices(root: string, folder: string, staged: string): void {
  const candidates = [path.join(root, 'LICENSE'), path.join(folder, 'README.md')];
  for (const file of candidates.filter((one) => existsSync(one))) {
    copyFileSync(file, path.join(staged, path.basename(file)));
  }
}

function pack(staged: string, out: string): string {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', out];
  // npm's warnings are not the caller's; its errors reach the message of what this throws.
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe'];
  const report = execFileSync('npm', args, { cwd: staged, encoding: 'utf8', stdio });
  const [packed] = JSON.parse(report) as ReadonlyArray<{ readonly filename: string }>;
  if (packed === undefined) throw new Error(`npm pack reported nothing for ${staged}`);
  return path.join(out, packed.filename);
}
