// Proves that the adapter speaks gRPC with peers that are not ours: bare grpc-js at the other end,
// with its metadata, trailers, deadlines, compression and statuses; and that a handler's bug is
// reported and answered, whatever it throws.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import {
  Client,
  compressionAlgorithms,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { BigFleetError, sleep } from '@bigfleet/base';
import { RpcError } from '../transport/status.ts';
import type { ByteMethod, CallContext } from '../transport/transport.ts';
import {
  bytes,
  dial,
  echoPath,
  eventually,
  failsWith,
  openServer,
  routes,
  runtime,
  streaming,
  text,
  unary,
} from './testing/fixture.ts';

const identity = (message: Buffer): Buffer => message;

interface Outcome {
  readonly error: ServiceError | null;
  readonly response: Buffer | undefined;
  readonly trailers: Metadata;
}

function bareCall(
  client: Client,
  metadata: Metadata,
  options: { deadline?: number } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    let answer: Pick<Outcome, 'error' | 'response'>;
    const call = client.makeUnaryRequest<Buffer, Buffer>(
      echoPath,
      identity,
      identity,
      Buffer.from('hello'),
      metadata,
      options,
      (error, response) => {
        answer = { error, response };
      },
    );
    call.on('status', ({ metadata: trailers }) => resolve({ ...answer, trailers }));
  });
}

async function serveTo(t: TestContext, method: ByteMethod, options = {}): Promise<Client> {
  const { address } = await openServer(t, { router: routes({ [echoPath]: method }) });
  const client = new Client(address, credentials.createInsecure(), options);
  t.after(() => client.close());
  return client;
}

async function bareServer(
  t: TestContext,
  handle: (stream: ServerDuplexStream<Buffer, Buffer>) => void,
): Promise<string> {
  const server = new Server();
  server.register(echoPath, handle, identity, identity, 'bidi');
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  t.after(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

describe('a bare client of our server', () => {
  it('is understood: text metadata arrives, the transport’s own and binary entries do not', async (t) => {
    let seen: CallContext['metadata'] = new Map();
    const client = await serveTo(
      t,
      unary(async (request, call) => {
        seen = call.metadata;
        call.setTrailer('x-done', 'yes');
        return request;
      }),
    );
    const metadata = new Metadata();
    metadata.add('x-one', 'a');
    metadata.add('x-one', 'b');
    metadata.add('x-raw-bin', Buffer.from([0, 255]));
    const { error, response, trailers } = await bareCall(client, metadata);
    assert.equal(error, null);
    assert.equal(response?.toString(), 'hello');
    assert.deepEqual([...seen], [['x-one', 'a, b']]);
    assert.deepEqual(trailers.get('x-done'), ['yes']);
  });

  it('may compress', async (t) => {
    const client = await serveTo(
      t,
      unary(async (request) => request),
      {
        'grpc.default_compression_algorithm': compressionAlgorithms.gzip,
      },
    );
    assert.equal((await bareCall(client, new Metadata())).response?.toString(), 'hello');
  });

  it('has its deadline seen and enforced', async (t) => {
    let reason: unknown;
    const client = await serveTo(
      t,
      unary(async (request, { signal }) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        reason = signal.reason;
        return request;
      }),
    );
    const deadline = Number(runtime.clock.unixNanos() / 1_000_000n) + 100;
    const { error } = await bareCall(client, new Metadata(), { deadline });
    assert.equal(error?.code, status.DEADLINE_EXCEEDED);
    // Its own deadline, or the reset that the client sends at the same moment.
    await eventually('the handler saw it', () => reason instanceof BigFleetError);
  });
});

describe('a bare server of our client', () => {
  it('has its messages delivered before its failure, to a reader that comes late', async (t) => {
    const address = await bareServer(t, (stream) => {
      for (let i = 0; i < 40; i += 1) stream.write(Buffer.from(String(i)));
      const metadata = new Metadata();
      metadata.set('x-why', 'because');
      stream.emit('error', Object.assign(new Error('stop'), { code: status.ABORTED, metadata }));
    });
    const responses = dial(t, address).stream(echoPath, (async function* () {})());
    await sleep(runtime, 50);
    const seen: string[] = [];
    const error = await failsWith(
      'ABORTED',
      (async () => {
        for await (const message of responses) seen.push(text(message));
      })(),
    );
    assert.equal(seen.length, 40);
    assert.deepEqual([error.message, error.metadata.get('x-why')], ['stop', 'because']);
  });

  it('is told the deadline and the cancellation', async (t) => {
    const seen = { deadlineMs: 0, cancelled: false };
    const address = await bareServer(t, (stream) => {
      seen.deadlineMs = Number(stream.getDeadline());
      stream.on('cancelled', () => {
        seen.cancelled = true;
      });
      stream.resume();
    });
    const controller = new AbortController();
    const call = dial(t, address).unary(echoPath, bytes(''), { signal: controller.signal });
    const failure = failsWith('CANCELLED', call);
    await eventually('the call arrived', () => seen.deadlineMs !== 0);
    const aheadMs = seen.deadlineMs - Number(runtime.clock.unixNanos() / 1_000_000n);
    assert.ok(aheadMs > 20_000 && aheadMs <= 30_000, `${aheadMs}`);
    controller.abort();
    await failure;
    await eventually('the server saw the cancellation', () => seen.cancelled);
  });
});

describe('a handler that is broken', () => {
  const bug = new TypeError('boom');
  const broken: Readonly<Record<string, ByteMethod>> = {
    'unary, rejecting': unary(async () => {
      throw bug;
    }),
    'unary, throwing': unary(() => {
      throw bug;
    }),
    'stream, throwing': streaming(() => {
      throw bug;
    }),
    'stream, at the first message': streaming(async function* () {
      yield await Promise.reject(bug);
    }),
    'stream, later': streaming(async function* () {
      yield bytes('one');
      throw bug;
    }),
  };
  for (const [name, method] of Object.entries(broken)) {
    it(`${name}: INTERNAL for the caller, the error for the operator`, async (t) => {
      const { dial, errors } = await openServer(t, { router: routes({ [echoPath]: method }) });
      const responses = dial().stream(echoPath, once('request'));
      const error = await failsWith(
        'INTERNAL',
        (async () => {
          for await (const _ of responses);
        })(),
      );
      assert.doesNotMatch(error.message, /boom/);
      assert.deepEqual(errors, [{ kind: 'panic', path: echoPath, error: bug }]);
    });
  }

  it('while it is being stopped: reported, nobody else to tell', async (t) => {
    const method = streaming(async function* (requests) {
      try {
        yield bytes('open');
        for await (const _ of requests);
      } finally {
        await Promise.reject(bug);
      }
    });
    const { dial, errors } = await openServer(t, { router: routes({ [echoPath]: method }) });
    const controller = new AbortController();
    const { signal } = controller;
    const responses = dial().stream(echoPath, hold(signal), { signal });
    await responses.next();
    controller.abort();
    await failsWith('CANCELLED', responses.next());
    await eventually('it is reported', () => errors.length > 0);
    assert.deepEqual(errors[0], { kind: 'panic', path: echoPath, error: bug });
  });

  it('with a status that HTTP/2 cannot carry: the status arrives without what cannot', async (t) => {
    const method = unary(async () => {
      throw new RpcError('ABORTED', 'half a pair \ud800', { metadata: new Map([['x-é', 'ü']]) });
    });
    const { dial, errors } = await openServer(t, { router: routes({ [echoPath]: method }) });
    const error = await failsWith('ABORTED', dial().unary(echoPath, bytes('')));
    assert.equal(error.message, 'half a pair \ufffd');
    assert.equal(errors.length, 1);
  });
});

async function* once(message: string): AsyncIterable<Uint8Array> {
  yield bytes(message);
}

async function* hold(signal: AbortSignal): AsyncIterable<Uint8Array> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  yield* [];
}
