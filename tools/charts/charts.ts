// The Helm charts of this repository: BigFleet's own below deploy/helm, and those of the providers, which
// live with them (providers A11). Core stands without providers/.

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseYaml } from '@bigfleet/process';

export interface Chart {
  /** Relative to the root, with forward slashes. */
  readonly folder: string;
  readonly name: string;
  readonly version: string;
}

const CHART_FILES = ['deploy/helm/*/Chart.yaml', 'providers/*/deploy/helm/*/Chart.yaml'];

export function listCharts(root: string): Chart[] {
  return globSync(CHART_FILES, { cwd: root })
    .map((file) => path.dirname(file).split(path.sep).join('/'))
    .sort()
    .map((folder) => ({ folder, ...readIdentity(path.join(root, folder, 'Chart.yaml')) }));
}

function readIdentity(file: string): Pick<Chart, 'name' | 'version'> {
  const { name, version } = readMapping(readFileSync(file, 'utf8'), file);
  if (typeof name !== 'string' || typeof version !== 'string') {
    throw new Error(`${file}: name and version are texts`);
  }
  return { name, version };
}

export type Mapping = Readonly<Record<string, unknown>>;

export function readMapping(text: string, file: string): Mapping {
  const parsed = parseYaml(text);
  if (!parsed.ok) throw new Error(`${file}: ${parsed.error}`);
  if (!isMapping(parsed.value)) throw new Error(`${file}: not a mapping`);
  return parsed.value;
}

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The name that follows from where a chart is. */
export function expectedName(folder: string): string {
  const provider = /^providers\/([^/]+)\//.exec(folder)?.[1];
  if (provider === undefined) return path.posix.basename(folder);
  return `bigfleet-provider-${provider.replace(/^_/, '')}`;
}
