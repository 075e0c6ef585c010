// `config use-context`: makes a context the current one.

import { readConfig, writeConfig } from '../config/config-file.ts';
import { configPath } from '../config/config-path.ts';
import { unknownContext } from '../config/target-settings.ts';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const configUseContextVerb: Verb = defineVerb({
  name: 'config use-context',
  group: 'This client',
  summary: 'use a context from now on',
  words: [{ name: 'name' }],
  flags: {},
  examples: ['config use-context production'],
  does: {
    kind: 'report',
    isWatchable: false,
    needsNoFleet: true,
    report: async ({ values, words: [name = ''], context: { port } }) => {
      const file = configPath(values.config, port);
      const config = readConfig(file);
      if (!config.contexts.has(name)) unknownContext(name, [...config.contexts.keys()]);
      writeConfig(file, { ...config, currentContext: name });
      return textReport([`using context ${name}`], { currentContext: name });
    },
  },
});
