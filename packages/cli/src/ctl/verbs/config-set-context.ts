// `config set-context`: makes or changes a context. Flags that are not given stay as they are.

import path from 'node:path';
import { CONTEXT_KEYS, type ContextEntry, readConfig, writeConfig } from '../config/config-file.ts';
import { configPath } from '../config/config-path.ts';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const configSetContextVerb: Verb = defineVerb({
  name: 'config set-context',
  group: 'This client',
  summary: 'make or change a context from the flags that are given',
  details: [
    'Takes --coordinator, --tls-cert, --tls-key and --tls-ca; an empty value removes one. Relative',
    'files are kept as absolute ones. The first context becomes the current one.',
  ],
  words: [{ name: 'name' }],
  flags: {},
  examples: [
    'config set-context lab --coordinator=10.0.0.5:7790',
    'config set-context production --coordinator=bigfleet-coordinator.bigfleet.svc:7790 ' +
      '--tls-cert=admin.crt --tls-key=admin.key --tls-ca=ca.crt',
  ],
  problem: (_, [name = '']) =>
    /^[A-Za-z0-9][\w.-]{0,62}$/.test(name)
      ? undefined
      : `${JSON.stringify(name)}: a name is letters, digits, dot, dash and underscore`,
  does: {
    kind: 'report',
    isWatchable: false,
    needsNoFleet: true,
    report: async ({ values, words: [name = ''], given, context: { port } }) => {
      const file = configPath(values.config, port);
      const config = readConfig(file);
      const entry: Record<string, string> = { ...config.contexts.get(name) };
      for (const key of CONTEXT_KEYS) {
        if (!given.has(key)) continue;
        const value = values[key];
        if (value === '') delete entry[key];
        else entry[key] = key === 'coordinator' ? value : path.resolve(value);
      }
      const isNew = !config.contexts.has(name);
      const contexts = new Map<string, ContextEntry>([...config.contexts, [name, entry]]);
      const currentContext = config.currentContext || name;
      writeConfig(file, { currentContext, contexts });
      const line = `${isNew ? 'created' : 'changed'} context ${name} in ${file}`;
      return textReport([line], { name, ...entry });
    },
  },
});
