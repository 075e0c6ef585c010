// A real metric registry that also remembers what was defined in it, in order: the page is written
// from what processes define, not from a list that somebody keeps.

import {
  createRegistry,
  type InstrumentType,
  LABEL_OVERFLOW_TOTAL,
  type LabelDeclarations,
  type MetricRegistry,
} from '@bigfleet/telemetry';

export interface DefinedMetric {
  readonly name: string;
  readonly type: InstrumentType;
  readonly help: string;
  readonly labels: LabelDeclarations;
}

export interface RecordingRegistry {
  readonly registry: MetricRegistry;
  readonly defined: readonly DefinedMetric[];
}

interface Definition {
  readonly name: string;
  readonly help: string;
  readonly labels?: LabelDeclarations;
}

export function createRecordingRegistry(): RecordingRegistry {
  const defined: DefinedMetric[] = [];
  const registry = new Proxy(createRegistry(), {
    get(target, property) {
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== 'function') return member;
      return (...inputs: readonly unknown[]): unknown => {
        if (isType(property)) defined.push(metricOf(property, inputs[0] as Definition));
        return Reflect.apply(member, target, inputs);
      };
    },
  });
  return { registry, defined };
}

/** What a scrape would show and nobody was seen to define; the registry counts overflow by itself. */
export function undefinedNames({ registry, defined }: RecordingRegistry): readonly string[] {
  const known = new Set(defined.map(({ name }) => name)).add(LABEL_OVERFLOW_TOTAL);
  return registry
    .snapshot()
    .families.map(({ name }) => name)
    .filter((name) => !known.has(name));
}

function isType(property: string | symbol): property is InstrumentType {
  return property === 'counter' || property === 'gauge' || property === 'histogram';
}

function metricOf(type: InstrumentType, { name, help, labels = {} }: Definition): DefinedMetric {
  return { name, type, help, labels };
}
