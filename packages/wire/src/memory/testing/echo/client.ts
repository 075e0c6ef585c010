// The echo system's client: an endless, seeded sequence of calls of every shape, each with a
// deadline, a change of mind or the patience to wait for the network's verdict. It checks what
// every caller relies on: one outcome, in time, and answers that are in order and complete.

import { type Random, type Runtime, sleep, type Timer, withDeadline } from '@bigfleet/base';
import { RpcError, type StatusCode } from '../../../transport/status.ts';
import type { CallOptions, Channel } from '../../../transport/transport.ts';
import type { CallKind, EchoLedger } from './ledger.ts';
import {
  chatPath,
  countPath,
  fillerBytes,
  readHeader,
  sayPath,
  sumPath,
  writeMessage,
} from './service.ts';

export interface EchoClientOptions {
  readonly runtime: Runtime;
  readonly random: Random;
  readonly ledger: EchoLedger;
  readonly channels: readonly Channel[];
  readonly largestThinkMs: number;
  readonly largestFillerBytes: number;
}

const MAX_MESSAGES = 12;
const kinds: readonly CallKind[] = ['say', 'say', 'say', 'chat', 'chat', 'count', 'sum'];
const LONGEST_PAUSE_MS = 60;
/**
 * How late an outcome may be seen. Virtual time is exact, so a call without pauses gets only the
 * rounding; a reader that pauses sees the end of its stream when it comes back to it.
 */
const slackMs: Readonly<Record<CallKind, number>> = {
  say: 0.01,
  sum: 0.01,
  chat: LONGEST_PAUSE_MS * MAX_MESSAGES * 2,
  count: LONGEST_PAUSE_MS * MAX_MESSAGES * 2,
};
const PROBE_ATTEMPTS = 5;
const PROBE_DEADLINE_MS = 10_000;

export class EchoClient {
  readonly #options: EchoClientOptions;
  readonly #random: Random;
  readonly #ledger: EchoLedger;

  constructor(options: EchoClientOptions) {
    this.#options = options;
    this.#random = options.random;
    this.#ledger = options.ledger;
  }

  async runUntil(stop: AbortSignal): Promise<void> {
    const { runtime, channels, largestThinkMs } = this.#options;
    while (!stop.aborted) {
      await sleep(runtime, this.#random.below(largestThinkMs));
      const channel = channels[this.#random.below(channels.length)];
      const kind = kinds[this.#random.below(kinds.length)];
      if (channel !== undefined && kind !== undefined && !stop.aborted) {
        await this.#perform(kind, channel);
      }
    }
  }

  /** With the network whole again every server must answer, at the latest on a fresh connection. */
  async probe(): Promise<void> {
    for (const [index, channel] of this.#options.channels.entries()) {
      let isServed = false;
      for (let attempt = 0; attempt < PROBE_ATTEMPTS && !isServed; attempt += 1) {
        const code = await this.#attempt('say', channel, PROBE_DEADLINE_MS);
        isServed = code === 'OK' || code === 'FAILED_PRECONDITION' || code === 'CANCELLED';
      }
      this.#ledger.check(isServed, () => `server ${index} does not answer after the faults`);
    }
  }

  async #perform(kind: CallKind, channel: Channel): Promise<void> {
    const isPatient = kind !== 'say' && this.#random.below(4) === 0;
    await this.#attempt(kind, channel, isPatient ? undefined : 10 + this.#random.below(1_500));
  }

  /** One call with exactly one outcome, never later than its deadline. */
  async #attempt(
    kind: CallKind,
    channel: Channel,
    deadlineMs: number | undefined,
  ): Promise<StatusCode> {
    const { runtime } = this.#options;
    const call = this.#ledger.start(kind);
    const mind = new AbortController();
    const change = this.#changeOfMind(mind);
    const deadline =
      deadlineMs === undefined ? undefined : withDeadline(runtime, deadlineMs, mind.signal);
    const signal = deadline?.signal ?? mind.signal;
    const startedMs = runtime.clock.monotonicMs();
    let code: StatusCode = 'OK';
    try {
      await this.#call(kind, call, channel, { signal });
    } catch (error) {
      code = error instanceof RpcError ? error.code : 'UNKNOWN';
      this.#ledger.check(error instanceof RpcError, () => `call ${call}: ${String(error)}`);
    } finally {
      change?.cancel();
      deadline?.dispose();
    }
    const tookMs = runtime.clock.monotonicMs() - startedMs;
    this.#ledger.check(
      deadlineMs === undefined || tookMs <= deadlineMs + slackMs[kind],
      () => `call ${call} took ${tookMs} ms with a deadline of ${deadlineMs} ms`,
    );
    this.#ledger.finish(code);
    return code;
  }

  #changeOfMind(mind: AbortController): Timer | undefined {
    if (this.#random.below(8) !== 0) return undefined;
    return this.#options.runtime.timers.after(this.#random.below(300), () => mind.abort());
  }

  #call(kind: CallKind, call: number, channel: Channel, options: CallOptions): Promise<void> {
    switch (kind) {
      case 'say':
        return this.#say(call, channel, options);
      case 'chat':
        return this.#chat(call, channel, options);
      case 'count':
        return this.#count(call, channel, options);
      case 'sum':
        return this.#sum(call, channel, options);
    }
  }

  async #say(call: number, channel: Channel, options: CallOptions): Promise<void> {
    const request = this.#message(call, 0);
    const response = await channel.unary(sayPath, request, options);
    this.#ledger.messageCount += 1;
    this.#ledger.check(isSame(request, response), () => `call ${call}: someone else's answer`);
    this.#ledger.check(
      this.#ledger.executions(call) > 0,
      () => `call ${call}: answered without being executed`,
    );
  }

  async #chat(call: number, channel: Channel, options: CallOptions): Promise<void> {
    const count = this.#random.below(MAX_MESSAGES);
    const leavesAfter = this.#random.below(6) === 0 ? this.#random.below(MAX_MESSAGES) : count + 1;
    const responses = channel.stream(chatPath, this.#requests(call, count), options);
    const got = await this.#read(call, responses, leavesAfter);
    this.#ledger.check(
      got === count || got === leavesAfter,
      () => `call ${call}: a chat of ${count} ended cleanly after ${got}`,
    );
  }

  async #count(call: number, channel: Channel, options: CallOptions): Promise<void> {
    const wanted = this.#random.below(MAX_MESSAGES * 2);
    const request = writeMessage({ call, sequence: wanted }, 0);
    const responses = channel.stream(countPath, once(request), options);
    const got = await this.#read(call, responses, wanted + 1);
    this.#ledger.check(got === wanted, () => `call ${call}: ${got} of ${wanted} messages`);
  }

  async #sum(call: number, channel: Channel, options: CallOptions): Promise<void> {
    const count = 1 + this.#random.below(MAX_MESSAGES);
    const responses = channel.stream(sumPath, this.#requests(call, count), options);
    const step = await responses.next();
    const sum = step.done === true ? -1 : readHeader(step.value).sequence;
    this.#ledger.check(sum === count, () => `call ${call}: the sum of ${count} is ${sum}`);
    const end = await responses.next();
    this.#ledger.check(end.done === true, () => `call ${call}: two sums`);
  }

  /** Reads to the end or leaves early; the messages must be 0, 1, 2, … of this call. */
  async #read(
    call: number,
    responses: AsyncIterableIterator<Uint8Array>,
    leavesAfter: number,
  ): Promise<number> {
    let next = 0;
    if (leavesAfter === 0) await responses.return?.();
    for await (const response of responses) {
      const header = readHeader(response);
      this.#ledger.check(
        header.call === call && header.sequence === next,
        () => `call ${call}: got ${header.call}/${header.sequence} instead of message ${next}`,
      );
      this.#ledger.messageCount += 1;
      next += 1;
      if (next === leavesAfter) break;
      if (this.#random.below(6) === 0) await this.#pause();
    }
    return next;
  }

  async *#requests(call: number, count: number): AsyncIterable<Uint8Array> {
    for (let sequence = 0; sequence < count; sequence += 1) {
      if (this.#random.below(4) === 0) await this.#pause();
      yield this.#message(call, sequence);
    }
  }

  #message(call: number, sequence: number): Uint8Array {
    return writeMessage(
      { call, sequence },
      fillerBytes(this.#random, this.#options.largestFillerBytes),
    );
  }

  #pause(): Promise<void> {
    return sleep(this.#options.runtime, this.#random.below(LONGEST_PAUSE_MS));
  }
}

async function* once(message: Uint8Array): AsyncIterable<Uint8Array> {
  yield message;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}
