// A published version of a chart is never overwritten (kubernetes §6.5): a chart whose files differ from those of
// a commit that was published has another version too. Pull requests ask this about the branch that they are for,
// before the publish job would refuse.

import { execFileSync } from 'node:child_process';
import { lstatSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { type Chart, listCharts, readMapping } from './charts.ts';

/** Charts that changed since the commit and kept their version; texts that say what to do. */
export function staleVersions(root: string, commit: string): string[] {
  return listCharts(root).flatMap((chart) => {
    const published = versionAt(root, commit, chart);
    if (published !== chart.version || !hasChanged(root, commit, chart)) return [];
    const file = `${chart.folder}/Chart.yaml`;
    return [`${chart.folder} differs from ${commit}: raise version ${chart.version} in ${file}`];
  });
}

/** Undefined: there was no such chart. */
function versionAt(root: string, commit: string, { folder }: Chart): string | undefined {
  const file = `${folder}/Chart.yaml`;
  if (git(root, 'ls-tree', '--name-only', commit, '--', file) === '') return undefined;
  const { version } = readMapping(git(root, 'show', `${commit}:${file}`), file);
  return String(version);
}

function hasChanged(root: string, commit: string, { folder }: Chart): boolean {
  const paths = [folder, ...linkedFolders(root, folder)];
  const differing = git(root, 'diff', '--name-only', commit, '--', ...paths);
  const added = git(root, 'ls-files', '--others', '--exclude-standard', '--', ...paths);
  return differing + added !== '';
}

/** What a chart links to is packed with it. */
function linkedFolders(root: string, folder: string): string[] {
  return git(root, 'ls-files', '--', folder)
    .split('\n')
    .filter((file) => file !== '' && isLink(path.join(root, file)))
    .map((file) => path.relative(realpathSync(root), realpathSync(path.join(root, file))));
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function git(root: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' });
}
