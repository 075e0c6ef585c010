// Acme, the cloud of the author guide, as a stateful HTTP server: asynchronous starts, small pages,
// idempotency keys, a token, and 404 for what is not there. It counts what an account would pay for.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const PAGE_SIZE = 3;
/** Looks until a server runs, and until its node is Ready. */
const LOOKS = 2;

interface AcmeMachine {
  readonly id: string;
  readonly label: string;
  readonly machineId: string;
  startLooks: number;
  nodeLooks: number;
  isJoined: boolean;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

export class AcmeServer implements AsyncDisposable {
  readonly token = 'acme-secret';
  readonly #machines = new Map<string, AcmeMachine>();
  readonly #byKey = new Map<string, AcmeMachine>();
  readonly #http: HttpServer;
  launchCount = 0;

  constructor() {
    this.#http = createServer((request, response) => {
      this.#answer(request).then(
        ({ status, body }) => {
          response.writeHead(status);
          response.end(body === undefined ? '' : JSON.stringify(body));
        },
        (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
      );
    });
  }

  async listen(): Promise<string> {
    this.#http.listen(0, '127.0.0.1');
    await once(this.#http, 'listening');
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Hosts that are billed at this moment. */
  get billedCount(): number {
    return this.#machines.size;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, 'close');
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.headers.authorization !== `Bearer ${this.token}`) return { status: 401 };
    const url = new URL(request.url ?? '/', 'http://acme');
    const [, , , id, action = ''] = url.pathname.split('/');
    const call = `${request.method ?? ''} ${id === undefined ? '' : 'one'} ${action}`.trim();
    if (call === 'GET') return this.#list(url);
    if (call === 'POST') return this.#create(request, Buffer.concat(chunks).toString());
    const machine = this.#machines.get(id ?? '');
    return machine === undefined ? { status: 404 } : this.#act(call, machine);
  }

  #list(url: URL): Answer {
    const label = url.searchParams.get('label');
    const after = Number(url.searchParams.get('after') ?? 0);
    const all = [...this.#machines.values()].filter((machine) => machine.label === label);
    const end = after + PAGE_SIZE;
    url.searchParams.set('after', String(end));
    const next = end < all.length ? `${url.pathname}${url.search}` : null;
    return { status: 200, body: { servers: all.slice(after, end).map(shown), next } };
  }

  #create(request: IncomingMessage, body: string): Answer {
    const key = String(request.headers['idempotency-key']);
    const known = this.#byKey.get(key);
    if (known !== undefined) return { status: 200, body: shown(known) };
    const order = JSON.parse(body) as { readonly label: string; readonly machine_id: string };
    assert.ok(key !== 'undefined' && order.machine_id !== '', 'an order without a key or an owner');
    const { label, machine_id: machineId } = order;
    this.launchCount += 1;
    const id = `srv-${this.launchCount}`;
    const machine = { id, label, machineId, startLooks: 0, nodeLooks: 0, isJoined: false };
    this.#machines.set(id, machine);
    this.#byKey.set(key, machine);
    return { status: 201, body: shown(machine) };
  }

  #act(call: string, machine: AcmeMachine): Answer {
    switch (call) {
      case 'GET one':
        machine.startLooks += 1;
        return { status: 200, body: shown(machine) };
      case 'GET one node':
        machine.nodeLooks += 1;
        return { status: 200, body: { ready: machine.isJoined && machine.nodeLooks >= LOOKS } };
      case 'POST one join':
        if (machine.isJoined) return { status: 409 };
        machine.isJoined = true;
        machine.nodeLooks = 0;
        return { status: 204 };
      case 'POST one leave':
        machine.isJoined = false;
        return { status: 204 };
      case 'DELETE one':
        this.#machines.delete(machine.id);
        return { status: 204 };
      default:
        return { status: 404 };
    }
  }
}

function shown({ id, machineId, startLooks }: AcmeMachine): Readonly<Record<string, string>> {
  return { id, machine_id: machineId, status: startLooks >= LOOKS ? 'running' : 'starting' };
}
