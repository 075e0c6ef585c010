// The memory that a chart's container has by default: what its cluster kills it for, and what Node is told of it.

import { parseQuantity } from '@bigfleet/base';
import { chartOf } from './catalogue.ts';
import { Helm, nested } from './helm.ts';

export interface ContainerMemory {
  readonly limitBytes: number;
  /** NODE_OPTIONS with the heap's size. */
  readonly env: Readonly<Record<string, string>>;
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly resources: { readonly limits: { readonly memory: string } };
}

export async function containerMemory(chart: string): Promise<ContainerMemory> {
  await using helm = new Helm();
  const { folder, required } = chartOf(chart);
  const objects = await helm.objects(folder, nested(required));
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as
    | { spec: { template: { spec: { containers: readonly Container[] } } } }
    | undefined;
  const [container] = deployment?.spec.template.spec.containers ?? [];
  if (container === undefined) throw new Error(`${chart} renders no container`);
  const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value]));
  return { limitBytes: bytesOf(container.resources.limits.memory), env };
}

function bytesOf(memory: string): number {
  const parsed = parseQuantity(memory);
  if (!parsed.ok) throw new Error(`${memory} is no amount of memory`);
  return Number(parsed.value.nanos / 1_000_000_000n);
}
