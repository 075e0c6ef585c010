// Proves what each machine state becomes (kubernetes §4.2).

import assert from 'node:assert/strict';
import test from 'node:test';
import type { UpcomingNodePhase } from '@bigfleet/kube';
import { MachineState } from '@bigfleet/wire';
import { phaseOf } from './upcoming-nodes.ts';

const at = (phase: UpcomingNodePhase): { phase: UpcomingNodePhase } => ({ phase });

for (const [name, state, before, expected] of [
  ['a machine in creation is on its way', MachineState.CREATING, undefined, 'Provisioning'],
  ['a slot is on its way', MachineState.SPECULATIVE, undefined, 'Provisioning'],
  [
    'a slot that waits for its machine is on its way',
    MachineState.SPECULATIVE,
    at('Provisioning'),
    'Provisioning',
  ],
  [
    'a slot whose machine failed holds nothing any more',
    MachineState.SPECULATIVE,
    at('Failed'),
    'gone',
  ],
  ['a slot whose machine served has left', MachineState.SPECULATIVE, at('Ready'), 'gone'],
  ['an idle machine on its way is launched', MachineState.IDLE, at('Provisioning'), 'Launched'],
  ['an idle machine that nobody knows writes nothing', MachineState.IDLE, undefined, 'gone'],
  ['an idle machine that was draining has left', MachineState.IDLE, at('Draining'), 'gone'],
  ['an idle machine whose Pods are gone has left', MachineState.IDLE, at('Drained'), 'gone'],
  ['an idle machine that failed has left', MachineState.IDLE, at('Failed'), 'gone'],
  ['an idle machine that got no blob has left', MachineState.IDLE, at('Registered'), 'gone'],
  ['an idle machine that served without a drain has left', MachineState.IDLE, at('Ready'), 'gone'],
  ['an idle machine that waits still waits', MachineState.IDLE, at('Launched'), 'Launched'],
  [
    'a machine in configuration is registered',
    MachineState.CONFIGURING,
    at('Launched'),
    'Registered',
  ],
  ['a configured machine is ready', MachineState.CONFIGURED, at('Registered'), 'Ready'],
  ['a draining machine drains', MachineState.DRAINING, at('Ready'), 'Draining'],
  ['a drained machine stays drained', MachineState.DRAINING, at('Drained'), 'Drained'],
  ['a failed machine failed', MachineState.FAILED, at('Registered'), 'Failed'],
  ['a known machine in deletion has left', MachineState.DELETING, at('Launched'), 'gone'],
  ['an unknown machine in deletion writes nothing', MachineState.DELETING, undefined, 'gone'],
] as const) {
  test(name, () => {
    assert.equal(phaseOf(state, before), expected);
  });
}
