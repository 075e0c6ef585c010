// A small complete system on a memory network: echo servers that come back after their host was
// down, and clients that never stop calling. It is what proves the transport (10,000 seeds in
// `make test`), and what `make up` shows until there is a shard.
//
// One run is a function of its options: same seed and same virtual length, same event log.

import { assert, type Random, type Runtime, type VirtualRuntime } from '@bigfleet/base';
import type { Channel } from '../../../transport/transport.ts';
import { EventLog, type EventLogOptions } from '../../event-log.ts';
import { type FaultPlan, randomFaults } from '../../faults.ts';
import { createMemoryNetwork, type MemoryNetwork } from '../../network.ts';
import type { MemoryServer } from '../../server.ts';
import type { Settings } from '../../settings.ts';
import { EchoClient } from './client.ts';
import { EchoLedger } from './ledger.ts';
import { createEchoService } from './service.ts';

export interface EchoOptions {
  readonly time: VirtualRuntime;
  readonly serverCount: number;
  readonly clientCount: number;
  readonly settings: Partial<Settings>;
  readonly largestThinkMs: number;
  readonly largestFillerBytes: number;
  /** Mean time between two faults, and the longest one. */
  readonly faultEveryMs: number;
  readonly longestFaultMs: number;
  /** Faults are planned up to here; a run that stops earlier never meets the rest. */
  readonly planMs: number;
  readonly duplicates: boolean;
  readonly log?: EventLogOptions;
}

const STOP_GRACE_MS = 2_000;
const QUIET_MAX_EVENTS = 200_000;
const QUIET_MAX_MS = 3_600_000;

export class EchoSystem {
  readonly network: MemoryNetwork;
  readonly ledger: EchoLedger = new EchoLedger();
  readonly log: EventLog;
  readonly plan: FaultPlan;
  readonly hosts: readonly string[];
  readonly #options: EchoOptions;
  readonly #runtime: Runtime;
  readonly #random: Random;
  readonly #servers = new Map<string, MemoryServer>();
  readonly #channels: Channel[] = [];
  readonly #clients: EchoClient[] = [];
  readonly #unwatch: (() => void)[] = [];
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: EchoOptions) {
    const { serverCount, clientCount } = options;
    this.#options = options;
    this.#runtime = options.time.runtime;
    this.#random = this.#runtime.random.stream('echo');
    this.log = new EventLog(options.log);
    const servers = Array.from({ length: serverCount }, (_, i) => `server-${i}`);
    const clients = Array.from({ length: clientCount }, (_, i) => `client-${i}`);
    this.hosts = [...servers, ...clients];
    this.plan = this.#planFaults(servers);
    const { settings } = options;
    const { log, plan: faults } = this;
    this.network = createMemoryNetwork({ runtime: this.#runtime, faults, log, settings });
    for (const host of servers) this.#addServer(host);
    for (const host of clients) this.#addClient(host, servers);
  }

  start(): void {
    const { signal } = this.#stop;
    this.#running = Promise.all(this.#clients.map((client) => client.runUntil(signal)));
  }

  /**
   * Ends the faults, lets every call finish, asks every server once more, and closes. What is
   * broken afterwards is in the ledger's violations.
   */
  async finish(): Promise<void> {
    this.#stop.abort();
    this.network.cancelPlan();
    this.network.apply({ kind: 'calm' });
    for (const host of this.hosts) {
      if (!this.network.isUp(host)) this.network.apply({ kind: 'restart', host });
    }
    await this.#settle('the running calls', this.#running);
    await this.#settle('the last probe', Promise.all(this.#clients.map((c) => c.probe())));
    this.#checkCounts();
    for (const unwatch of this.#unwatch) unwatch();
    for (const channel of this.#channels) channel.close();
    const stops = [...this.#servers.values()].map((server) => server.stop(STOP_GRACE_MS));
    await this.#settle('the servers', Promise.all(stops));
    await this.#quiet();
    this.#checkNothingLeft();
  }

  #planFaults(servers: readonly string[]): FaultPlan {
    const { planMs, faultEveryMs, longestFaultMs, duplicates } = this.#options;
    return randomFaults(this.#random.stream('faults'), {
      hosts: this.hosts,
      addresses: servers.map(addressOf),
      untilMs: planMs,
      everyMs: faultEveryMs,
      maxFaultMs: longestFaultMs,
      duplicates,
    });
  }

  #addServer(host: string): void {
    const router = createEchoService({
      runtime: this.#runtime,
      random: this.#random.stream(host),
      ledger: this.ledger,
      mostExecutions: this.#options.duplicates ? 2 : 1,
      largestFillerBytes: this.#options.largestFillerBytes,
    });
    const listen = (): void => {
      this.#servers.set(host, this.network.listen(addressOf(host), router));
    };
    listen();
    this.#unwatch.push(
      this.network.watchHost(host, (event) => {
        if (event === 'up') listen();
      }),
    );
  }

  #addClient(host: string, servers: readonly string[]): void {
    const channels = servers.map((server) =>
      this.network.connect({ from: host, to: addressOf(server) }),
    );
    this.#channels.push(...channels);
    const { largestThinkMs, largestFillerBytes } = this.#options;
    this.#clients.push(
      new EchoClient({
        runtime: this.#runtime,
        random: this.#random.stream(host),
        ledger: this.ledger,
        channels,
        largestThinkMs,
        largestFillerBytes,
      }),
    );
  }

  /** Runs time until the work is done; work that nothing can end any more is a hang. */
  async #settle(what: string, work: Promise<unknown>): Promise<void> {
    let isDone = false;
    const done = work.then(() => {
      isDone = true;
    });
    for (let round = 0; !isDone; round += 1) {
      const { stopped } = await this.#options.time.runUntilIdle({
        maxEvents: 1,
        maxMs: QUIET_MAX_MS,
      });
      if (isDone) break;
      const isStuck = stopped === 'idle' || round > QUIET_MAX_EVENTS;
      assert(!isStuck, 'the echo system hangs', { what });
    }
    await done;
  }

  async #quiet(): Promise<void> {
    const { time } = this.#options;
    const { stopped } = await time.runUntilIdle({
      maxEvents: QUIET_MAX_EVENTS,
      maxMs: QUIET_MAX_MS,
    });
    this.ledger.check(stopped === 'idle', () => `the network never becomes quiet: ${stopped}`);
  }

  #checkCounts(): void {
    const { startedCount, finishedCount } = this.ledger;
    this.ledger.check(
      startedCount === finishedCount,
      () => `${startedCount} calls started, ${finishedCount} have an outcome`,
    );
  }

  #checkNothingLeft(): void {
    for (const [what, count] of Object.entries(this.network.open)) {
      this.ledger.check(count === 0, () => `${count} ${what} left after the end`);
    }
    const { pendingTimers } = this.#options.time;
    this.ledger.check(pendingTimers === 0, () => `${pendingTimers} timers left after the end`);
    const { handlerBugs } = this.network.counters;
    this.ledger.check(handlerBugs === 0, () => `${handlerBugs} handler bugs`);
  }
}

function addressOf(host: string): string {
  return `${host}:7`;
}
