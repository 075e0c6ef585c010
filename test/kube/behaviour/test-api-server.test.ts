// The test API server speaks the dialogues that were recorded from a real kube-apiserver.

import { after, before } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { ApiServer, type ListeningServer, listen } from '@bigfleet/kube/testing';
import { Api } from '../api.ts';
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
