// What to type at the demo's clusters, ready to paste into a second terminal, in this order: look, then
// ask for more, then let go. The first line is for all that follow.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { YOURS } from '../clusters/yours.ts';
import { kubeconfigOf } from '../kube/cluster-addresses.ts';
import type { Profile } from '../profiles.ts';

const folder = fileURLToPath(new URL('../../try', import.meta.url));

export function kubectlCommands(dir: string, { clusters }: Profile): readonly string[] {
  const [first = ''] = clusters;
  const last = clusters.find((name) => name.startsWith('train')) ?? first;
  const node = '"$(kubectl get nodes -o name | head -1)"';
  const file = (name: string): string => path.join(path.relative(process.cwd(), folder), name);
  return [
    `  export KUBECONFIG=${kubeconfigOf(dir)}`,
    `  kubectl config get-contexts  # the current one is ${first}`,
    '  kubectl get pods,capacityrequests,upcomingnodes',
    '  kubectl get capacityrequests --field-selector=status.phase=Pending',
    '  kubectl get nodes,availablecapacity',
    `  kubectl scale deployment ${YOURS} --replicas=20`,
    `  kubectl apply -f ${file('urgent-pod.yaml')}  # of the highest priority`,
    `  kubectl --context=${last} apply -f ${file('gpu-pod.yaml')}`,
    `  kubectl drain ${node} --force`,
    `  kubectl uncordon ${node}`,
    `  kubectl scale deployment ${YOURS} --replicas=0  # and machines go`,
  ];
}
