// The law of model.test.ts for as long as the box allows: `decide` agrees with the naive model.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import fc from 'fast-check';
import { encodeLogical } from '../../store/logical-snapshot.ts';
import { FleetState } from '../fleet-state.ts';
import { arbitraryCommand } from '../testing/arbitrary-commands.ts';
import { NaiveModel } from '../testing/naive-model.ts';
import { StateMachine } from '../testing/state-machine.ts';

const BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? 60_000);
const ROUNDS = 1_000;

test('decide and the naive model agree on long streams', (context) => {
  const { clock } = realRuntime();
  const endMs = clock.monotonicMs() + BOX_MS;
  const streams = fc.array(arbitraryCommand, { minLength: 100, maxLength: 600 });
  let rounds = 0;
  while (rounds < ROUNDS && clock.monotonicMs() < endMs) {
    fc.assert(
      fc.property(streams, (stream) => {
        const machine = new StateMachine();
        const model = new NaiveModel();
        for (const body of stream)
          assert.equal(machine.apply(body).kind, model.apply(body, machine.nowMs), body.kind);
        assert.equal(encodeLogical(new FleetState(machine.loaded())), encodeLogical(machine.state));
      }),
      { numRuns: 20 },
    );
    rounds++;
  }
  assert.ok(rounds > 0);
  context.diagnostic(`${rounds} rounds of 20 streams`);
});
