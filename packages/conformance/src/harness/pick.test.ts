// Proves that picks are distinct, speculative, never a failing slot, and that too few machines end
// in a typed skip; and that capabilities are probed as the catalogue says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SkipCheck } from './check.ts';
import type { ListQuery } from './endpoint.ts';
import type { MachineView } from './machine.ts';
import { pickCreateFault, pickN, pickSpeculative } from './pick.ts';
import { probeCapabilities } from './probe.ts';
import { quiescence } from './quiescence.ts';
import { alone } from './testing/alone.ts';
import { machineView } from './testing/scripted.ts';
import type { Rpcs } from './testing/tamper.ts';

const faulty = new Map([['conformance.fault/create', 'error']]);

function listOf(machines: readonly MachineView[]): Pick<Rpcs, 'list'> {
  return {
    list: async ({ states = [], maxResults = 0 }: ListQuery = {}) => {
      const matching = machines.filter(
        ({ state }) => states.length === 0 || states.includes(state),
      );
      const value = maxResults > 0 ? matching.slice(0, maxResults) : matching;
      return { ok: true, value: { machines: value, revision: new Uint8Array() } };
    },
  };
}

const isTooFew = (error: unknown): boolean =>
  error instanceof SkipCheck && error.kind === 'precondition-unmet';

test('failing slots in front of the list are passed over, busy machines too', async () => {
  const machines = [
    ...Array.from({ length: 40 }, (_, at) => machineView({ id: `f-${at}`, labels: faulty })),
    machineView({ id: 'busy', state: 'IDLE' }),
    ...Array.from({ length: 3 }, (_, at) => machineView({ id: `good-${at}` })),
  ];
  const { context } = alone(listOf(machines));
  assert.equal(await pickSpeculative(context), 'good-0');
  assert.deepEqual(await pickN(context, 3), ['good-0', 'good-1', 'good-2']);
  assert.equal(await pickCreateFault(context), 'f-0');
  await assert.rejects(pickN(context, 4), isTooFew);
});

test('a sample that repeats one machine does not pass for two', async () => {
  const { context } = alone(listOf([machineView({ id: 'a' }), machineView({ id: 'a' })]));
  await assert.rejects(pickN(context, 2), isTooFew);
  const empty = alone(listOf([]));
  await assert.rejects(pickSpeculative(empty.context), isTooFew);
  await assert.rejects(pickCreateFault(empty.context), isTooFew);
});

test('quiescence needs two equal revisions with nothing in transition', async () => {
  const script = [
    { state: 'DELETING', revision: 1 },
    { state: 'SPECULATIVE', revision: 2 },
    { state: 'SPECULATIVE', revision: 3 },
    { state: 'SPECULATIVE', revision: 3 },
  ] as const;
  let at = 0;
  const { context, time, run } = alone({
    list: async () => {
      const { state, revision } = script[Math.min(at++, 3)] ?? script[3];
      return {
        ok: true,
        value: { machines: [machineView({ state })], revision: Uint8Array.of(revision) },
      };
    },
  });
  const { revision } = await run(() => quiescence(context));
  assert.deepEqual([...revision], [3]);
  assert.equal(time.nowMs, 600);
});

test('quiescence that never comes says whose fault it is', async () => {
  let revision = 0;
  const restless = alone({
    list: async () => ({
      ok: true,
      value: { machines: [], revision: Uint8Array.of(revision++ % 251) },
    }),
  });
  await assert.rejects(
    restless.run(() => quiescence(restless.context)),
    /the revision keeps changing although no call was made/,
  );
  const stuck = alone(listOf([machineView({ state: 'DRAINING' })]));
  await assert.rejects(
    stuck.run(() => quiescence(stuck.context)),
    /m-1 does not leave DRAINING/,
  );
});

test('capabilities are probed over the wire, and taken as present when they cannot be', async () => {
  const probe = async (hasDelete: boolean, advances: boolean): Promise<unknown> => {
    let state: MachineView['state'] = 'SPECULATIVE';
    let revision = 1;
    const { context, run } = alone({
      list: async () => ({
        ok: true,
        value: { machines: [machineView({ state })], revision: Uint8Array.of(revision) },
      }),
      get: async () => ({ ok: true, value: machineView({ state }) }),
      create: async () => {
        state = 'IDLE';
        if (advances) revision++;
        return { ok: true, value: { operationId: 'op-1', machine: undefined } };
      },
      delete: async () => {
        if (!hasDelete) return { ok: false, code: 'UNIMPLEMENTED', message: 'fixed pool' };
        state = 'SPECULATIVE';
        return { ok: true, value: { operationId: 'op-2', machine: undefined } };
      },
    });
    return run(() => probeCapabilities(context));
  };
  for (const hasDelete of [true, false]) {
    for (const advances of [true, false]) {
      assert.deepEqual(await probe(hasDelete, advances), {
        delete: hasDelete,
        sinceRevision: advances,
      });
    }
  }
  const empty = alone(listOf([]));
  assert.deepEqual(await probeCapabilities(empty.context), { delete: true, sinceRevision: true });
  assert.match(empty.notes[0] ?? '', /could not be probed/);
});
