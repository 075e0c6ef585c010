// `bigfleet-operator`.

import { startOperator } from '@bigfleet/operator';
import { serveCommand, type ServeOptions, type Serving } from '../command.ts';
import { type Program, programWording, unhandledBug } from '../program.ts';
import { operatorFlags } from './flags.ts';
import { type OperatorCommand, operatorSettings, operatorWarnings } from './settings.ts';

const wording = programWording('bigfleet-operator', 'operator');

export const operatorProgram: Program = {
  wording,
  command: serveCommand({
    name: 'operator',
    wording,
    summary: 'one cluster: its requests to the shard, and what the shard sends into it',
    flags: operatorFlags,
    settings: operatorSettings,
    warnings: operatorWarnings,
    start,
  }),
};

async function start(options: ServeOptions<OperatorCommand>): Promise<Serving> {
  const { settings } = options.settings;
  const running = await startOperator({ ...options, settings });
  return { ...running, failed: Promise.race([running.failed, unhandledBug(options.port)]) };
}
