// Stand-in kubelets on a real control plane, ended with their scope. Join tokens are shown to the API server
// first, as a real machine would.

import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { Kubelets } from '@bigfleet/kube/testing';
import { Api } from '../api.ts';
import type { ControlPlane } from '../control-plane.ts';
import { kubeClient } from './kube-client.ts';

export interface RunningKubelets extends AsyncDisposable {
  readonly kubelets: Kubelets;
  readonly problems: readonly string[];
}

export async function startKubelets(
  plane: Pick<ControlPlane, 'adminKubeconfig' | 'url' | 'caPem'>,
): Promise<RunningKubelets> {
  const client = await kubeClient(plane.adminKubeconfig, 'kubelet');
  const ender = new AbortController();
  const problems: string[] = [];
  const kubelets = new Kubelets({
    runtime: realRuntime(),
    client,
    signal: ender.signal,
    onProblem: (problem) => problems.push(problem),
    checkToken: (token) => tokenProblem(plane, token),
  });
  const running = kubelets.run();
  return {
    kubelets,
    problems,
    [Symbol.asyncDispose]: async () => {
      ender.abort(new BigFleetError('cancelled', 'the test is over'));
      await running;
      client.transport.close();
    },
  };
}

async function tokenProblem(
  { url, caPem }: Pick<ControlPlane, 'url' | 'caPem'>,
  token: string,
): Promise<string | undefined> {
  await using api = new Api({ url, caPem, token });
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const { status, text } = await api.create(path, body);
  return status === 201 ? undefined : `the join token was refused: ${text}`;
}
