// The kubeconfig of the demo's clusters: one file, one context per cluster, the first one current.

import { writeFileSync } from 'node:fs';
import { yamlText } from '@bigfleet/process';

export interface NamedServer {
  readonly name: string;
  readonly url: string;
}

export function writeKubeconfig(file: string, servers: readonly NamedServer[]): void {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': servers[0]?.name ?? '',
    clusters: servers.map(({ name, url }) => ({ name, cluster: { server: url } })),
    contexts: servers.map(({ name }) => ({ name, context: { cluster: name, user: 'demo' } })),
    users: [{ name: 'demo', user: {} }],
  };
  writeFileSync(file, yamlText(config));
}
