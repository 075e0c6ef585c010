// The test API server over HTTP with the production transport: answers, watches, cut connections, and a
// journal that a later server reads.

import 'reflect-metadata';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import {
  BasicConstraintsExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { KubeClient } from '../api/client.ts';
import { WriteLanes } from '../api/lanes.ts';
import { NODES, PODS } from '../api/resource.ts';
import { clusterAccess } from '../auth/kubeconfig.ts';
import { Reflector } from '../reflector/reflector.ts';
import { HttpsTransport } from '../transport/https-transport.ts';
import { ApiServer } from './api-server/index.ts';
import { fileJournal, type ListenOptions, listen } from './listen.ts';
import { pod } from './test-cluster.ts';

interface HttpWorld {
  readonly server: ApiServer;
  readonly client: KubeClient;
  readonly signal: AbortSignal;
  readonly close: () => Promise<void>;
}

async function httpWorld(
  server: ApiServer,
  tls?: ListenOptions['tls'],
  token?: string,
): Promise<HttpWorld> {
  const runtime = realRuntime();
  const listening = await listen({ server, tls });
  const folder = mkdtempSync(path.join(tmpdir(), 'kube-http-'));
  const file = path.join(folder, 'kubeconfig');
  writeFileSync(file, listening.kubeconfig(token));
  const access = await clusterAccess({ kubeconfig: file, env: {}, clock: runtime.clock });
  const transport = new HttpsTransport({ access, userAgent: 'test' });
  const lanes = new WriteLanes({ runtime, qps: 1000, burst: 1000 });
  const ender = new AbortController();
  return {
    server,
    client: new KubeClient({ runtime, transport, lanes, fieldManager: 'test' }),
    signal: ender.signal,
    close: async () => {
      ender.abort(new BigFleetError('cancelled', 'the test is over'));
      transport.close();
      server.stop();
      await listening.close();
      rmSync(folder, { recursive: true });
    },
  };
}

test('a reflector over HTTP lists, follows, and resumes after its connection was cut', async () => {
  const runtime = realRuntime();
  const world = await httpWorld(new ApiServer({ runtime }));
  const { client, server, signal } = world;
  const write = { lane: 'demand', signal } as const;
  const waiters: { isMet: () => boolean; resolve: () => void }[] = [];
  const check = (): void => {
    for (const { isMet, resolve } of waiters) if (isMet()) resolve();
  };
  const reflector = new Reflector<string>({
    runtime,
    client,
    resource: PODS,
    read: (_, { name }) => name,
    observer: { upserted: check, removed: check, synced: check },
  });
  const until = (isMet: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      waiters.push({ isMet, resolve });
      check();
    });
  const created = (name: string): ReturnType<KubeClient['create']> =>
    client.create(PODS, { ...pod(name), metadata: { name, namespace: 'default' } }, write);
  assert.equal((await created('a')).kind, 'ok');
  const running = reflector.run(signal);
  await until(() => reflector.isSynced && reflector.get('default/a') === 'a');
  await created('b');
  await until(() => reflector.get('default/b') === 'b');
  server.faults.breakWatches();
  await created('c');
  await until(() => reflector.get('default/c') === 'c');
  await client.delete(PODS, { namespace: 'default', name: 'a' }, write);
  await until(() => reflector.get('default/a') === undefined);
  await world.close();
  await running;
});

test('refusals, Retry-After and lost connections reach the client as on a real server', async () => {
  const world = await httpWorld(new ApiServer({ runtime: realRuntime() }));
  const { client, server, signal } = world;
  const missing = await client.get(NODES, { namespace: '', name: 'n' }, signal);
  assert.deepEqual(missing, {
    kind: 'refused',
    status: 404,
    reason: 'NotFound',
    message: 'nodes "n" not found',
    retryAfterSeconds: undefined,
  });
  server.faults.add({ times: 1 }, { kind: 'refuse', code: 429, retryAfterSeconds: 3 });
  const busy = await client.get(NODES, { namespace: '', name: 'n' }, signal);
  assert.deepEqual(busy.kind === 'refused' && [busy.status, busy.retryAfterSeconds], [429, 3]);
  server.faults.add({ times: 1 }, { kind: 'reset' });
  assert.equal((await client.get(NODES, { namespace: '', name: 'n' }, signal)).kind, 'refused');
  const restore = server.faults.add({}, { kind: 'reset' });
  await assert.rejects(client.get(NODES, { namespace: '', name: 'n' }, signal), {
    code: 'kube_unreachable',
  });
  restore();
  await world.close();
});

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;

/** One certificate that is its own authority, for 127.0.0.1. */
async function certificate(): Promise<NonNullable<ListenOptions['tls']>> {
  const nowMs = Number(realRuntime().clock.unixNanos() / 1_000_000n);
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const made = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=test',
    notBefore: new Date(nowMs - HOUR_MS),
    notAfter: new Date(nowMs + HOUR_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
    ],
  });
  const pem = made.toString('pem');
  const keyPem = PemConverter.encode(
    await crypto.subtle.exportKey('pkcs8', keys.privateKey),
    'PRIVATE KEY',
  );
  return { certPem: pem, keyPem, caPem: pem };
}

test('with TLS and tokens, the kubeconfig holds what a client needs', async () => {
  const tokens = new Map([['secret', { name: 'root', groups: ['system:masters'] }]]);
  const server = new ApiServer({ runtime: realRuntime(), tokens, hasRbac: true });
  const world = await httpWorld(server, await certificate(), 'secret');
  const listed = await world.client.list(NODES, {}, world.signal);
  assert.equal(listed.kind, 'ok');
  tokens.clear();
  const refused = await world.client.list(NODES, {}, world.signal);
  assert.deepEqual(refused.kind === 'refused' && [refused.status, refused.reason], [
    401,
    'Unauthorized',
  ]);
  await world.close();
});

test('a journal brings objects, versions and definitions back after a restart', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'kube-journal-'));
  const file = path.join(folder, 'journal');
  const start = (): ApiServer =>
    new ApiServer({ runtime: realRuntime(), journal: fileJournal(file) });
  const ask = (server: ApiServer, method: string, target: string, body?: unknown): unknown => {
    const answer = server.answer({ method, path: target, body: JSON.stringify(body) });
    return answer.kind === 'answer' ? [answer.status, JSON.parse(answer.text)] : undefined;
  };
  const first = start();
  ask(first, 'POST', '/api/v1/namespaces/default/pods', pod('a'));
  ask(first, 'POST', '/api/v1/namespaces/default/pods', pod('b'));
  ask(first, 'DELETE', '/api/v1/namespaces/default/pods/b');
  ask(first, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'things.example.org' },
    spec: {
      group: 'example.org',
      names: { plural: 'things', kind: 'Thing' },
      scope: 'Cluster',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object' } },
        },
      ],
    },
  });
  ask(first, 'POST', '/apis/example.org/v1/things', {
    apiVersion: 'example.org/v1',
    kind: 'Thing',
    metadata: { name: 't' },
  });
  first.stop();
  const second = start();
  for (const target of [
    '/api/v1/namespaces/default/pods/a',
    '/api/v1/pods',
    '/apis/example.org/v1/things/t',
    '/api/v1/namespaces',
  ]) {
    assert.deepEqual(ask(second, 'GET', target), ask(first, 'GET', target), target);
  }
  second.stop();
  rmSync(folder, { recursive: true });
});
