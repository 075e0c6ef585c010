// The bootstrap blob as the stand-in for a machine reads it. A real machine runs the blob through
// cloud-init, which hands flags to kubeadm and to the kubelet; the stand-in finds those flags in the text,
// so that it joins with whatever template a test renders:
//
//   # cluster: <id>                      the cluster that the machine is meant for
//   --hostname-override=<name>           the node's name; the machine's own when absent
//   --node-labels=<key>=<value>,…        labels of the node; several flags add up
//   --register-with-taints=<key>[=<value>]:<effect>,…
//   --provider-id=<id>                   the machine's own when absent
//   --token <id>.<secret>                a bootstrap token, checked before the node registers

import type { Taint } from '../../api/capacity.ts';

export interface JoinBlob {
  readonly clusterId: string | undefined;
  readonly nodeName: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly providerId: string | undefined;
  readonly token: string | undefined;
}

/** A template that `readJoinBlob` reads in full, and that a cloud-init with kubeadm would run. */
export const JOIN_TEMPLATE = `#cloud-config
# cluster: {{ .ClusterID }}
write_files:
- path: /etc/default/kubelet
  content: |
    KUBELET_EXTRA_ARGS=--node-labels=bigfleet.lucy.sh/machine-id={{ .MachineIDLabel }}
{{- if .BootstrapToken }}
runcmd:
- kubeadm join {{ .APIServerEndpoint }} --token {{ .BootstrapToken }} --discovery-token-ca-cert-hash {{ .CACertHash }}
{{- end }}
`;

export function readJoinBlob(text: string): JoinBlob {
  return {
    clusterId: /^# cluster: (\S+)$/m.exec(text)?.[1],
    nodeName: flags(text, 'hostname-override')[0],
    labels: Object.fromEntries(flags(text, 'node-labels').flatMap(pairs).map(label)),
    taints: flags(text, 'register-with-taints').flatMap(pairs).map(taint),
    providerId: flags(text, 'provider-id')[0],
    token: /--token[= ]([a-z0-9]{6}\.[a-z0-9]{16})\b/.exec(text)?.[1],
  };
}

function flags(text: string, name: string): string[] {
  const found = text.matchAll(new RegExp(`--${name}[= ]"?([^\\s"']+)`, 'g'));
  return Array.from(found, ([, value = '']) => value);
}

function pairs(list: string): string[] {
  return list.split(',').filter((one) => one !== '');
}

function label(pair: string): [string, string] {
  const [key = '', value = ''] = pair.split('=');
  return [key, value];
}

function taint(text: string): Taint {
  const [pair = '', effect = ''] = text.split(':');
  const [key = '', value] = pair.split('=');
  return { key, effect, ...(value === undefined ? {} : { value }) };
}
