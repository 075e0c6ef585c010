// From the flags of `bigfleet-unschedulable-pod-controller` to its settings.

import { err, ok, type Result } from '@bigfleet/base';
import type { PodControllerSettings } from '@bigfleet/pod-controller';
import type { Parsed } from '@bigfleet/process/flags';
import { parseListenAddress } from '@bigfleet/telemetry';
import { isTlsRequired } from '@bigfleet/wire';
import { BUILD_VERSION, type Env } from '../command.ts';
import { commaSeparated } from '../kube-flags.ts';
import type { PodControllerFlags } from './flags.ts';

const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export interface PodControllerCommand {
  readonly settings: PodControllerSettings;
  readonly hasReflection: boolean;
}

export function podControllerSettings(
  { values }: Parsed<PodControllerFlags>,
  env: Env,
): Result<PodControllerCommand, string> {
  if (values.burst < 1) return err('--burst is at least 1');
  const metricsAddress = parseListenAddress(values['metrics-addr']);
  if (!metricsAddress.ok) return err(`--metrics-addr: ${metricsAddress.error}`);
  const excludedNamespaces = commaSeparated(values['exclude-namespaces']);
  const wrong = [...excludedNamespaces].find((name) => !NAMESPACE.test(name));
  if (wrong !== undefined) {
    return err(`--exclude-namespaces: ${JSON.stringify(wrong)} is no namespace; write a,b`);
  }
  const settings: PodControllerSettings = {
    kubeconfig: values.kubeconfig,
    metricsAddress: metricsAddress.value,
    qps: values.qps,
    burst: values.burst,
    classDefaultsFile: values['priority-class-defaults'],
    daemonSetPods: values['daemonset-pods'],
    excludedNamespaces,
    requireTls: isTlsRequired({ requireTls: values['require-tls'], env }),
    traceSamples: values['trace-samples'],
    hasDebugEndpoints: values['debug-endpoints'],
    build: { version: BUILD_VERSION, revision: env['BIGFLEET_REVISION'] ?? 'unknown' },
  };
  return ok({ settings, hasReflection: values.reflection });
}
