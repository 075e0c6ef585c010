// The test API server speaks the dialogues that were recorded from a real kube-apiserver.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { ApiServer, type ListeningServer, listen } from '@bigfleet/kube/testing';
import { Api } from '../api.ts';
import { pinnedVersion } from '../binaries.ts';
import { installDefinitions } from '../control-plane.ts';
import { apiServerBehaviours } from './suite.ts';

const server = new ApiServer({ runtime: realRuntime() });
let listening: ListeningServer;
let api: Api;

before(async () => {
  listening = await listen({ server });
  api = new Api({ url: listening.url });
  await installDefinitions(api);
});

after(async () => {
  await api[Symbol.asyncDispose]();
  server.stop();
  await listening.close();
});

test('it tells the version of the server whose words it speaks', async () => {
  const { version, major, minor } = pinnedVersion();
  const { object } = await api.get('/version');
  assert.deepEqual(
    [object['gitVersion'], object['major'], object['minor']],
    [version, major, minor],
  );
});

apiServerBehaviours({
  subject: () => ({
    api,
    namespace: (name) => api.must(api.create('/api/v1/namespaces', { metadata: { name } })),
    compact: () => {
      server.compact();
      return Promise.resolve();
    },
  }),
});
