// `config view`: the config file as it was understood. It holds file names, never keys.

import { configDocument, configText, readConfig } from '../config/config-file.ts';
import { configPath } from '../config/config-path.ts';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const configViewVerb: Verb = defineVerb({
  name: 'config view',
  group: 'This client',
  summary: 'the config file as it is understood, and where it is',
  flags: {},
  examples: ['config view', 'config view -o json'],
  does: {
    kind: 'report',
    isWatchable: false,
    needsNoFleet: true,
    report: async ({ values, context: { port } }) => {
      const file = configPath(values.config, port);
      const config = readConfig(file);
      const lines = [`# ${file}`, ...configText(config).trimEnd().split('\n')];
      return textReport(lines, configDocument(config));
    },
  },
});
