// Proves that a replica which waits for the others is alive and can be stopped: probes and gRPC answer
// before its etcd is formed, readiness says why not, and SIGTERM ends it at once, while it joins and
// while an empty ordinal 0 asks whether a cluster exists.

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { createClient, createGrpcChannel, Health } from '@bigfleet/wire';
import { realRuntime } from '@bigfleet/base/real';
import { CoordinatorProcess } from '../coordinator/failover/coordinator-process.ts';
import { createTempDir, eventually, leasePort } from '../toolkit/index.ts';

const HERE = {
  address: '127.0.0.1',
  command: (command: string, args: readonly string[]) => ({ command, args }),
};

async function waiting(
  nodeId: string,
  argv: readonly string[],
  opened: AsyncDisposableStack,
): Promise<CoordinatorProcess> {
  const folder = opened.use(createTempDir('joining'));
  const lease = async (): Promise<number> => opened.use(await leasePort()).port;
  const nobody = `127.0.0.1:${await lease()}`;
  const replica = opened.use(
    new CoordinatorProcess({
      nodeId,
      place: HERE,
      port: await lease(),
      metricsPort: await lease(),
      dataDir: path.join(folder.path, nodeId),
      argv: [
        `--join-addr=${nobody}`,
        `--raft-bind=127.0.0.1:${await lease()}`,
        `--etcd-client-addr=127.0.0.1:${await lease()}`,
        // It is never started: nobody answers.
        '--etcd-binary=/nonexistent/etcd',
        ...argv,
      ],
    }),
  );
  await replica.start();
  return replica;
}

async function healthOf(address: string): Promise<number> {
  const channel = createGrpcChannel({ runtime: realRuntime(), target: address });
  try {
    return (await createClient(Health, channel).check({ service: '' })).status;
  } finally {
    channel.close();
  }
}

const CASES: readonly (readonly [what: string, nodeId: string, argv: readonly string[]])[] = [
  ['a joiner', 'c-1', []],
  ['an empty ordinal 0 that may begin', 'c-0', ['--bootstrap']],
];

for (const [what, nodeId, argv] of CASES) {
  test(`${what} serves its probes while it waits, and stops`, async () => {
    await using opened = new AsyncDisposableStack();
    const replica = await waiting(nodeId, argv, opened);
    await eventually(async () => (await replica.probe('healthz')).status === 200, {
      what: 'alive',
      details: () => replica.outputText(),
      hopeless: () => (replica.isRunning ? undefined : 'it ended'),
    });
    assert.deepEqual(await replica.probe('readyz'), {
      status: 503,
      body: 'no raft leader observed\n',
    });
    assert.equal(await healthOf(replica.address), 1, 'SERVING for the life of the process');
    const { isLeader, clusterUid, storeEngine } = await replica.admin.getStatus({});
    assert.deepEqual(
      { isLeader, clusterUid, storeEngine },
      {
        isLeader: false,
        clusterUid: '',
        storeEngine: 'etcd',
      },
    );
    if (nodeId === 'c-1') {
      await replica.process.waitForLine(
        /msg="join attempt failed; will retry".* backoff=\S+s/,
        15_000,
      );
    }
    replica.process.signal('SIGTERM');
    assert.deepEqual(await replica.waitExit(), { kind: 'code', code: 0 }, replica.outputText());
    assert.match(replica.outputText(), /msg="coordinator started"/);
  });
}
