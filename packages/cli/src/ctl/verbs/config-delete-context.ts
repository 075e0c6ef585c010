// `config delete-context`: drops a context.

import { readConfig, writeConfig } from '../config/config-file.ts';
import { configPath } from '../config/config-path.ts';
import { unknownContext } from '../config/target-settings.ts';
import { defineVerb } from '../frame/define-verb.ts';
import type { Verb } from '../frame/verb.ts';
import { textReport } from '../output/report.ts';

export const configDeleteContextVerb: Verb = defineVerb({
  name: 'config delete-context',
  group: 'This client',
  summary: 'drop a context',
  words: [{ name: 'name' }],
  flags: {},
  examples: ['config delete-context lab'],
  does: {
    kind: 'report',
    isWatchable: false,
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
  },
});
