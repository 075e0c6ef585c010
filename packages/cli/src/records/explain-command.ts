// `bigfleet explain`: why a machine or a need was treated as it was, from the records alone.

import { describeExplanation, explainRecords } from '@bigfleet/shard';
import { bigNumber, text, toggle } from '@bigfleet/process/flags';
import { type Command, EXIT } from '../command.ts';
import { directoryCommand, directoryFlags, offlineText } from './directory-command.ts';

const flags = {
  ...directoryFlags,
  machine: text('', 'The machine to explain.', '<id>'),
  cluster: text('', 'The cluster of the need to explain.', '<id>'),
  fingerprint: text('', 'The profile fingerprint of the need.', '<text>'),
  group: text('', 'The gang of the need, where it has one.', '<text>'),
  cycle: bigNumber(0n, 'In which cycle; 0 is the newest that mentions it.'),
  counterfactuals: toggle(false, 'Also try what would cover the need, and say what it costs.'),
} as const;

export const explainCommand: Command = directoryCommand({
  name: 'explain',
  summary: 'why a machine or a need was treated as it was, from a records directory',
  flags,
  problem: ({ machine, cluster, fingerprint }) => {
    if (machine !== '' && cluster === '' && fingerprint === '') return undefined;
    if (machine === '' && cluster !== '' && fingerprint !== '') return undefined;
    return 'give --machine, or --cluster and --fingerprint';
  },
  run: async (files, values, { port }) => {
    const { machine, cluster, fingerprint, group, cycle, counterfactuals, output } = values;
    const result = await explainRecords(files, {
      subject: machine === '' ? { need: { cluster, fingerprint, group } } : { machineId: machine },
      ...(cycle === 0n ? {} : { cycle }),
      hasCounterfactuals: counterfactuals,
    });
    port.writeOutput(offlineText(output, result, () => describeExplanation(result)));
    return result.kind === 'answered' ? EXIT.ok : EXIT.failed;
  },
});
