// The fake behind the shard's own interface, without a transport: it stamps tokens as the gRPC
// client does, and its List answers with the same bytes. Answers come in a
// later turn, never synchronously: a caller must not come to rely on that.

import type { Runtime } from '@bigfleet/base';
import { RpcError, type TokenSource } from '@bigfleet/wire';
import type {
  CallLimits,
  ConfigureOrder,
  DrainOrder,
  ListRequest,
  Provider,
  ReportedMachine,
  TransitionAck,
} from '../../provider/provider.ts';
import { toProviderError } from '../../provider/provider-error.ts';
import { encodeList } from './encode-list.ts';
import type { FakeProvider } from './fake-provider.ts';

export interface InProcessOptions {
  readonly runtime: Runtime;
  readonly fake: FakeProvider;
  readonly tokens: TokenSource;
}

export class InProcessProvider implements Provider {
  readonly #runtime: Runtime;
  readonly #fake: FakeProvider;
  readonly #tokens: TokenSource;

  constructor({ runtime, fake, tokens }: InProcessOptions) {
    this.#runtime = runtime;
    this.#fake = fake;
    this.#tokens = tokens;
  }

  create(machineId: string, limits?: CallLimits): Promise<TransitionAck> {
    const token = this.#tokens.next();
    return this.#answer(limits, () => this.#fake.create({ machineId, token }));
  }

  configure(order: ConfigureOrder, limits?: CallLimits): Promise<TransitionAck> {
    const token = this.#tokens.next();
    return this.#answer(limits, () => this.#fake.configure({ ...order, token }));
  }

  drain(order: DrainOrder, limits?: CallLimits): Promise<TransitionAck> {
    const token = this.#tokens.next();
    return this.#answer(limits, () => this.#fake.drain({ ...order, token }));
  }

  delete(machineId: string, limits?: CallLimits): Promise<TransitionAck> {
    const token = this.#tokens.next();
    return this.#answer(limits, () => this.#fake.delete({ machineId, token }));
  }

  get(machineId: string, limits?: CallLimits): Promise<ReportedMachine> {
    return this.#answer(limits, () => this.#fake.get(machineId));
  }

  list(request: ListRequest, limits?: CallLimits): Promise<Uint8Array> {
    const all = { states: [], maxResults: 0, sinceRevision: new Uint8Array(0) };
    return this.#answer(limits, () => encodeList(this.#fake.list({ ...all, ...request })));
  }

  async #answer<T>({ signal }: CallLimits = {}, work: () => T): Promise<T> {
    await this.#runtime.timers.turn();
    if (signal?.aborted === true) {
      throw toProviderError(
        new RpcError('CANCELLED', 'the caller gave up', { cause: signal.reason }),
      );
    }
    return work();
  }
}
