// BigFleet's own kinds in a cluster: installed where they are missing, left alone where they are. The
// operator looks for a missing kind again only much later, so they are served before it starts.

import { readdirSync, readFileSync } from 'node:fs';
import { BigFleetError, type Runtime, sleep } from '@bigfleet/base';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  describeRefusal,
  type KubeClient,
  type NamedBody,
} from '@bigfleet/kube';
import { parseYaml } from '@bigfleet/process';

const FOLDER = new URL('../../../api/crd/', import.meta.url);
const POLL_MS = 100;

/** Names of the definitions that were not there before. */
export async function installDefinitions(
  runtime: Runtime,
  client: KubeClient,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const installed: string[] = [];
  for (const definition of definitions()) {
    const { name } = definition.metadata;
    const target = { namespace: '', name };
    const answer = await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition, {
      lane: 'demand',
      signal,
    });
    if (answer.kind === 'ok') installed.push(name);
    else if (answer.reason !== 'AlreadyExists') {
      throw new BigFleetError('kube_refused', `${name}: ${describeRefusal(answer)}`);
    }
    while (!isServed(await client.get(CUSTOM_RESOURCE_DEFINITIONS, target, signal))) {
      await sleep(runtime, POLL_MS, signal);
    }
  }
  return installed;
}

interface Definition extends NamedBody {
  readonly metadata: { readonly name: string };
}

function definitions(): readonly Definition[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => {
    const parsed = parseYaml(readFileSync(new URL(file, FOLDER), 'utf8'));
    if (!parsed.ok) throw new BigFleetError('internal', `${file}: ${parsed.error}`);
    return parsed.value as Definition;
  });
}

/** A server that has only just stored it says `conditions: null`. */
export function isServed(answer: Awaited<ReturnType<KubeClient['get']>>): boolean {
  if (answer.kind === 'refused') {
    throw new BigFleetError('kube_refused', `a definition: ${describeRefusal(answer)}`);
  }
  const status = (answer.object['status'] ?? {}) as {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[] | null;
  };
  const conditions = status.conditions ?? [];
  return conditions.some((one) => one.type === 'Established' && one.status === 'True');
}
