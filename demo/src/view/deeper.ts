// The commands that show more than the view, ready to paste into a second terminal.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOST, type Ports } from '../ports.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export function deeperCommands(dir: string, ports: Ports): readonly string[] {
  const place = path.relative(process.cwd(), root) || '.';
  const bin = path.join(place, 'node_modules', '.bin');
  const ctl = `${path.join(bin, 'node')} ${path.join(place, 'packages/cli/src/ctl-main.ts')}`;
  return [
    `  ctl() { ${ctl} --coordinator=${HOST}:${ports.coordinator} "$@"; }   # then:`,
    '  ctl top',
    '  ctl get machines --state=Configured',
    '  ctl list-transfers --all -o wide',
    '  ctl get needs -o wide   # and, with a name from it: ctl explain need train-us/<need>',
    '  ctl doctor',
    `  curl -s http://${HOST}:${ports['shard-metrics']}/metrics | grep ^bigfleet_shard_`,
    `  curl -s http://${HOST}:${ports['coordinator-metrics']}/metrics | grep ^bigfleet_coordinator_`,
    `  curl -s http://${HOST}:${ports['provider-metrics']}/metrics | grep ^bigfleet_simulated_`,
    `  tail -f ${path.join(dir, '*.log')}`,
  ];
}
