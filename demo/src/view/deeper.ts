// The commands that show more than the view, ready to paste into a second terminal: those of the
// checkout, with the address of the coordinator where it is not the one that they ask by default.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOST } from '../places.ts';
import { defaultPorts, type Ports } from '../ports/ports.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export function deeperCommands(dir: string, ports: Ports): readonly string[] {
  const command = path.join(path.relative(process.cwd(), root), 'bin/bigfleetctl');
  const isUsual = ports.coordinator === defaultPorts.coordinator;
  const ctl = isUsual ? command : `${command} --coordinator=${HOST}:${ports.coordinator}`;
  return [
    `  ${ctl} top`,
    `  ${ctl} get machines --state=Configured`,
    `  ${ctl} get needs`,
    `  ${ctl} explain need NEED  # of get needs`,
    `  ${ctl} list-transfers --all`,
    `  ${ctl} doctor`,
    `  curl -s http://${HOST}:${ports['shard-metrics']}/metrics | grep ^bigfleet_shard_`,
    `  curl -s http://${HOST}:${ports['coordinator-metrics']}/metrics | grep ^bigfleet_coordinator_`,
    `  curl -s http://${HOST}:${ports['sim-north-metrics']}/metrics | grep ^bigfleet_simulated_`,
    `  tail -f ${path.join(dir, '*.log')}`,
  ];
}
