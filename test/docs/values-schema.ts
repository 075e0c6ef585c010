// What the schema of a chart says about values on a page. Helm itself judges whole installations in
// test/kube; a page shows a few values, and a wrong name among them is what misleads a reader.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './pages.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

export function schemaProblems(chart: string, values: unknown): string[] {
  const file = path.join(ROOT, 'deploy/helm', chart, 'values.schema.json');
  const root = JSON.parse(readFileSync(file, 'utf8')) as Schema;
  return new Judge(chart, root).problemsOf(values, root, '');
}

class Judge {
  readonly #chart: string;
  readonly #root: Schema;

  constructor(chart: string, root: Schema) {
    this.#chart = chart;
    this.#root = root;
  }

  problemsOf(value: unknown, given: Schema, at: string): string[] {
    const schema = this.#resolved(given);
    const types = schema.type === undefined ? [] : [schema.type].flat();
    const type = typeOf(value);
    if (
      types.length > 0 &&
      !types.includes(type) &&
      !(type === 'integer' && types.includes('number'))
    ) {
      return [`${at} is a ${type} and not ${article(types)}`];
    }
    if (type !== 'object') return [];
    return Object.entries(value as object).flatMap(([key, inner]) => {
      const place = at === '' ? key : `${at}.${key}`;
      const next = schema.properties?.[key] ?? this.#others(schema);
      if (next === undefined) return [`${place} is not a value of the chart ${this.#chart}`];
      return this.problemsOf(inner, next, place);
    });
  }

  #others({ additionalProperties, properties }: Schema): Schema | undefined {
    if (typeof additionalProperties === 'object') return additionalProperties;
    return additionalProperties === true || properties === undefined ? {} : undefined;
  }

  #resolved(schema: Schema): Schema {
    const name = /^#\/definitions\/(.+)$/.exec(schema.$ref ?? '')?.[1];
    if (name === undefined) return schema;
    const found = this.#root.definitions?.[name];
    if (found === undefined) throw new Error(`${this.#chart}: no definition ${name}`);
    return found;
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function article(types: readonly string[]): string {
  const text = types.join(' or ');
  return /^[aeiou]/.test(text) ? `an ${text}` : `a ${text}`;
}
