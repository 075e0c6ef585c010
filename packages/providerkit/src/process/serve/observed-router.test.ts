// Proves that every RPC is counted and logged once, with its code, whatever ends it: a handler's
// bug shows as INTERNAL, reads are quiet, changes are not, errors warn.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { captureSink, type CapturedLog, createLogger } from '@bigfleet/telemetry';
import {
  type ByteMethod,
  type CallContext,
  noMetadata,
  RpcError,
  type StatusCode,
} from '@bigfleet/wire';
import { observedRouter } from './observed-router.ts';

interface Sample {
  readonly method: string;
  readonly code: StatusCode;
}

function observed(method: ByteMethod): {
  find: (path: string) => ByteMethod;
  samples: Sample[];
  log: CapturedLog;
} {
  const { clock } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks }).runtime;
  const log = captureSink();
  const samples: Sample[] = [];
  const router = observedRouter({
    router: { find: (path) => (path.startsWith('/known/') ? method : undefined) },
    clock,
    logger: createLogger({ clock, sink: log, level: 'debug' }),
    metrics: { finished: (name, code) => samples.push({ method: name, code }) },
  });
  const find = (path: string): ByteMethod => {
    const found = router.find(path);
    assert.ok(found !== undefined);
    assert.equal(router.find(path), found, 'wrapped once');
    return found;
  };
  assert.equal(router.find('/other/Get'), undefined);
  return { find, samples, log };
}

function callOf(signal: AbortSignal = new AbortController().signal): CallContext {
  return {
    path: '/known/x',
    peer: { address: 'test', identity: { kind: 'unverified' } },
    metadata: noMetadata,
    signal,
    setTrailer: () => {},
  };
}

test('unary calls by method and outcome', async () => {
  const cases: readonly (readonly [string, Error | undefined, StatusCode, string])[] = [
    ['Create', undefined, 'OK', 'level=INFO msg=rpc method=Create code=OK dur_ms=0'],
    ['ResetFailed', undefined, 'OK', 'level=INFO'],
    ['Get', undefined, 'OK', 'level=DEBUG msg=rpc method=Get code=OK'],
    ['Check', undefined, 'OK', 'level=DEBUG'],
    [
      'Get',
      new RpcError('NOT_FOUND', 'no'),
      'NOT_FOUND',
      'level=WARN msg=rpc method=Get code=NotFound',
    ],
    [
      'Drain',
      new RpcError('FAILED_PRECONDITION', 'fenced'),
      'FAILED_PRECONDITION',
      'level=WARN msg=rpc method=Drain code=FailedPrecondition',
    ],
    ['List', new RpcError('INTERNAL', 'a bug'), 'INTERNAL', 'code=Internal'],
  ];
  for (const [method, failure, code, line] of cases) {
    const handle = async (request: Uint8Array): Promise<Uint8Array> => {
      if (failure !== undefined) throw failure;
      return request;
    };
    const { find, samples, log } = observed({ kind: 'unary', handle });
    const found = find(`/known/${method}`);
    assert.ok(found.kind === 'unary');
    const answer = found.handle(new Uint8Array([1]), callOf());
    if (failure === undefined) assert.deepEqual(await answer, new Uint8Array([1]));
    else await assert.rejects(answer, failure);
    assert.deepEqual(samples, [{ method, code }]);
    assert.equal(log.lines.length, 1);
    assert.ok(log.lines[0]?.includes(line), log.lines[0]);
  }
});

test('streams: to the end, failed, and left by their caller', async () => {
  const stream = (fail: boolean): ByteMethod => ({
    kind: 'stream',
    async *handle() {
      yield new Uint8Array([1]);
      if (fail) throw new RpcError('RESOURCE_EXHAUSTED', 'too many');
      yield new Uint8Array([2]);
    },
  });
  const whole = observed(stream(false));
  const found = whole.find('/known/Watch');
  assert.ok(found.kind === 'stream');
  const bytes: number[] = [];
  for await (const [byte] of found.handle(none(), callOf())) bytes.push(byte ?? 0);
  assert.deepEqual(bytes, [1, 2]);
  assert.deepEqual(whole.samples, [{ method: 'Watch', code: 'OK' }]);

  const failed = observed(stream(true));
  const failing = failed.find('/known/Watch');
  assert.ok(failing.kind === 'stream');
  const iterator = failing.handle(none(), callOf())[Symbol.asyncIterator]();
  await iterator.next();
  await assert.rejects(iterator.next(), /too many/);
  assert.deepEqual(failed.samples, [{ method: 'Watch', code: 'RESOURCE_EXHAUSTED' }]);

  const left = observed(stream(false));
  const leaving = left.find('/known/Watch');
  assert.ok(leaving.kind === 'stream');
  for await (const _first of leaving.handle(none(), callOf())) break;
  assert.deepEqual(left.samples, [{ method: 'Watch', code: 'CANCELLED' }]);
  assert.match(left.log.lines[0] ?? '', /level=DEBUG/, 'a caller that leaves is no warning');
});

async function* none(): AsyncGenerator<Uint8Array> {}
