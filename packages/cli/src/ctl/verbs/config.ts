// Verbs over the config file of this client: the fleets that it knows by name, and which one is in use.
// The file holds file names, never keys.

import path from 'node:path';
import {
  configDocument,
  configPath,
  configText,
  CONTEXT_KEYS,
  type ContextEntry,
  type CtlConfig,
  readConfig,
  writeConfig,
} from '../config/config-file.ts';
import { unknownContext } from '../config/target-settings.ts';
import { defineVerb } from '../frame/define-verb.ts';
import { tableReport, textReport } from '../output/report.ts';
import type { Column } from '../output/table.ts';

function contextRows({ contexts, currentContext }: CtlConfig) {
  return [...contexts].map(([name, entry]) => ({
    name,
    isCurrent: name === currentContext,
    coordinator: entry.coordinator ?? '',
    tlsCert: entry['tls-cert'] ?? '',
    tlsKey: entry['tls-key'] ?? '',
    tlsCa: entry['tls-ca'] ?? '',
  }));
}

const columns: readonly Column<ReturnType<typeof contextRows>[number]>[] = [
  { title: 'CURRENT', of: ({ isCurrent }) => (isCurrent ? '*' : ' ') },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'COORDINATOR', of: ({ coordinator }) => coordinator },
  { title: 'TLS', of: ({ tlsCa }) => (tlsCa === '' ? 'no' : 'yes') },
  { title: 'TLS_CERT', of: ({ tlsCert }) => tlsCert, isWide: true },
  { title: 'TLS_CA', of: ({ tlsCa }) => tlsCa, isWide: true },
];

export const configGetContextsVerb = defineVerb({
  name: 'config get-contexts',
  group: 'This client',
  summary: 'the contexts of the config file',
  flags: {},
  examples: ['config get-contexts'],
  needsNoFleet: true,
  report: async ({ values, context: { port } }) => {
    const rows = contextRows(readConfig(configPath(values.config, port)));
    return tableReport({ columns, rows });
  },
});

export const configUseContextVerb = defineVerb({
  name: 'config use-context',
  group: 'This client',
  summary: 'use a context from now on',
  words: [{ name: 'name' }],
  flags: {},
  examples: ['config use-context production'],
  needsNoFleet: true,
  report: async ({ values, words: [name = ''], context: { port } }) => {
    const file = configPath(values.config, port);
    const config = readConfig(file);
    if (!config.contexts.has(name)) unknownContext(name, [...config.contexts.keys()]);
    writeConfig(file, { ...config, currentContext: name });
    return textReport([`using context ${name}`], { currentContext: name });
  },
});

export const configSetContextVerb = defineVerb({
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
});

export const configDeleteContextVerb = defineVerb({
  name: 'config delete-context',
  group: 'This client',
  summary: 'drop a context',
  words: [{ name: 'name' }],
  flags: {},
  examples: ['config delete-context lab'],
  needsNoFleet: true,
  report: async ({ values, words: [name = ''], context: { port } }) => {
    const file = configPath(values.config, port);
    const config = readConfig(file);
    const contexts = new Map(config.contexts);
    if (!contexts.delete(name)) unknownContext(name, [...config.contexts.keys()]);
    const isCurrent = config.currentContext === name;
    const currentContext = isCurrent ? '' : config.currentContext;
    writeConfig(file, { currentContext, contexts });
    const more = isCurrent ? '; none is current now: config use-context chooses one' : '';
    return textReport([`deleted context ${name}${more}`], { name });
  },
});

export const configViewVerb = defineVerb({
  name: 'config view',
  group: 'This client',
  summary: 'the config file as it is understood, and where it is',
  flags: {},
  examples: ['config view', 'config view -o json'],
  needsNoFleet: true,
  report: async ({ values, context: { port } }) => {
    const file = configPath(values.config, port);
    const config = readConfig(file);
    const lines = [`# ${file}`, ...configText(config).trimEnd().split('\n')];
    return textReport(lines, configDocument(config));
  },
});
