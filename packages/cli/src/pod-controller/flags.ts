// The flags of `bigfleet-unschedulable-pod-controller` (kubernetes §5.5). No certificates: it speaks to the
// API server alone, as its kubeconfig or ServiceAccount says.

import { oneOf, text } from '@bigfleet/process/flags';
import { clusterFlags, kubeProcessFlags } from '../kube-flags.ts';
import { ADDRESS } from '../process-flags.ts';

export const podControllerFlags = {
  ...clusterFlags,
  'metrics-addr': text(':8080', 'HTTP: /metrics, /healthz, /readyz; "0" turns it off', ADDRESS),
  'priority-class-defaults': text(
    '',
    'penalties and priority of each PriorityClass; empty is none',
    '<file>',
  ),
  'daemonset-pods': oneOf('count', ['count', 'ignore'], 'whether Pods of DaemonSets are demand'),
  'exclude-namespaces': text('', 'namespaces whose Pods are no demand', '<a,b>'),
  ...kubeProcessFlags,
};

export type PodControllerFlags = typeof podControllerFlags;
