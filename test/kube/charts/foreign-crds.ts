// Definitions of others of which our charts and deploy/prometheus hold objects, from the modules that carry them (foreign-crds/go.mod):
// the real schemas, so that a field which cert-manager or the Prometheus operator does not know is refused.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseYaml } from '@bigfleet/process';
import { HANG_MS } from '../../toolkit/index.ts';
import { isMapping, type KubeObject } from './helm.ts';

const FOLDER = path.join(import.meta.dirname, '../foreign-crds');

const SOURCES: readonly { readonly module: string; readonly file: string }[] = [
  {
    module: 'github.com/cert-manager/cert-manager',
    file: 'deploy/crds/crd-certificates.yaml',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml',
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator',
    file: 'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
  },
];

/** A text says why they cannot be had: no Go, or no way to the modules. */
export function foreignDefinitions(): readonly KubeObject[] | string {
  try {
    return SOURCES.map(({ module, file }) => definitionIn(path.join(folderOf(module), file)));
  } catch (error) {
    return `NOT TESTED: the definitions of others: ${String(error).split('\n')[0]}`;
  }
}

function folderOf(module: string): string {
  const options = { cwd: FOLDER, encoding: 'utf8', timeout: HANG_MS, stdio: 'pipe' } as const;
  const answer: unknown = JSON.parse(
    execFileSync('go', ['mod', 'download', '-json', module], options),
  );
  if (!isMapping(answer) || typeof answer['Dir'] !== 'string') throw new Error(`no ${module}`);
  return answer['Dir'];
}

function definitionIn(file: string): KubeObject {
  const parsed = parseYaml(readFileSync(file, 'utf8'));
  if (!parsed.ok) throw new Error(`${file}: ${parsed.error}`);
  const { metadata, ...definition } = parsed.value as KubeObject;
  // Labels and annotations are those of the other chart, some of them still templates.
  return { ...definition, metadata: { name: metadata.name } };
}
