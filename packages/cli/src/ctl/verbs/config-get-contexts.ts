// `config get-contexts`: the contexts of the config file, with a star on the current one.

import { readConfig } from '../config/config-file.ts';
import { configPath } from '../config/config-path.ts';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { tableReport } from '../output/report.ts';
import type { Column } from '../output/table.ts';

interface ContextRow {
  readonly name: string;
  readonly isCurrent: boolean;
  readonly coordinator: string;
  readonly tlsCert: string;
  readonly tlsKey: string;
  readonly tlsCa: string;
}

const columns: readonly Column<ContextRow>[] = [
  { title: 'CURRENT', of: ({ isCurrent }) => (isCurrent ? '*' : ' ') },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'COORDINATOR', of: ({ coordinator }) => coordinator },
  { title: 'TLS', of: ({ tlsCa }) => (tlsCa === '' ? 'no' : 'yes') },
  { title: 'TLS_CERT', of: ({ tlsCert }) => tlsCert, isWide: true },
  { title: 'TLS_CA', of: ({ tlsCa }) => tlsCa, isWide: true },
];

export const configGetContextsVerb: Verb = defineVerb({
  name: 'config get-contexts',
  group: 'This client',
  summary: 'the contexts of the config file',
  flags: {},
  examples: ['config get-contexts'],
  does: {
    kind: 'report',
    isWatchable: false,
    needsNoFleet: true,
    report: async ({ values, context: { port } }) => {
      const { contexts, currentContext } = readConfig(configPath(values.config, port));
      const rows = [...contexts].map(([name, entry]) => ({
        name,
        isCurrent: name === currentContext,
        coordinator: entry.coordinator ?? '',
        tlsCert: entry['tls-cert'] ?? '',
        tlsKey: entry['tls-key'] ?? '',
        tlsCa: entry['tls-ca'] ?? '',
      }));
      return tableReport({ columns, rows });
    },
  },
});
