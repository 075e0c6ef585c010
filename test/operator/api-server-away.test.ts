// Proves that the two processes of a cluster live through an API server that is away, refuses them, or
// has no definitions of BigFleet: they wait, say why, never send an empty roll-up, and can be stopped.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../toolkit/index.ts';
import { type ClusterProcess, type ProgramName, start } from './cluster-processes.ts';
import { KubeApi, PATHS } from './kube-api.ts';

const ARGV: Readonly<Record<ProgramName, readonly string[]>> = {
  operator: ['--cluster-id=c', '--shard-addr=127.0.0.1:1'],
  'pod-controller': [],
};
const PROGRAMS = ['operator', 'pod-controller'] as const;

function run(program: ProgramName, { kubeconfig }: KubeApi): Promise<ClusterProcess> {
  return start(program, [...ARGV[program], `--kubeconfig=${kubeconfig}`]);
}

function readyzSays(each: ClusterProcess, status: number, words: RegExp): Promise<true> {
  let last = '';
  return eventually(
    async () => {
      const answer = await each.get('/readyz');
      last = `${answer.status} ${answer.body}`;
      return answer.status === status && words.test(answer.body);
    },
    { what: `/readyz says ${words.source}`, details: () => last },
  );
}

for (const program of PROGRAMS) {
  test(`${program}: an API server that is not there yet is waited for`, async () => {
    await using api = await new KubeApi().start();
    await api.hangUp();
    await using each = await run(program, api);
    await readyzSays(each, 503, /^caches not synced: .*capacityrequests.*\(list: .*ECONNREFUSED/);
    assert.equal((await each.get('/healthz')).status, 200);
    await api.listen();
    await readyzSays(each, 200, /^ready$/m);
    assert.equal(each.process.exit, undefined);
  });

  test(`${program}: stopped while the first lists hang`, async () => {
    await using api = await new KubeApi().start();
    api.server.faults.add({}, { kind: 'hang' });
    await using each = await run(program, api);
    await readyzSays(each, 503, /^caches not synced: /);
    assert.deepEqual(await each.process.stop(), { kind: 'code', code: 0 });
    const output = each.process.output.text();
    assert.match(output, /msg="signal received, shutting down"[^]* stopped"/);
    assert.doesNotMatch(output, /level=ERROR|caches synced/);
  });

  test(`${program}: without the definitions it is not ready, and says what to install`, async () => {
    await using api = await new KubeApi().start({ withDefinitions: false });
    await using each = await run(program, api);
    await readyzSays(each, 503, /capacityrequests.*404.*install the CRDs/);
    await each.process.waitForLine(/msg="watch failed; trying again" .*resource=capacityrequests/);
  });
}

test('a controller whose API server goes away stays ready and serves again afterwards', async () => {
  await using api = await new KubeApi().start();
  await using controller = await run('pod-controller', api);
  await readyzSays(controller, 200, /^ready$/m);
  await api.hangUp();
  await controller.process.waitForLine(/msg="watch failed; trying again"/);
  assert.equal((await controller.get('/readyz')).status, 200, 'what it knows is still good');
  await api.listen();
  api.pod('late');
  await api.eventually('the Pod has its request', PATHS.requests, (found) => found.length === 1);
});
