// The custom resources as sections of a page: every field with its type, default, validation and
// description, and what kubectl shows and selects. The YAML that is applied is the only source.

import { cell, code, filledTable } from './markdown.ts';

interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly {
    readonly rule: string;
    readonly message?: string;
  }[];
}

export interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: {
      readonly kind: string;
      readonly plural: string;
      readonly shortNames?: readonly string[];
      readonly categories?: readonly string[];
    };
    readonly versions: readonly Version[];
  };
}

interface Version {
  readonly name: string;
  readonly subresources?: Readonly<Record<string, unknown>>;
  readonly additionalPrinterColumns?: readonly {
    readonly name: string;
    readonly type: string;
    readonly jsonPath: string;
  }[];
  readonly selectableFields?: readonly { readonly jsonPath: string }[];
  readonly schema: { readonly openAPIV3Schema: Schema };
}

/** Every Kubernetes object has these, and they mean the same everywhere. */
const COMMON = new Set(['apiVersion', 'kind', 'metadata']);

export function crdSections(definitions: readonly Definition[]): string[] {
  return definitions.flatMap(({ spec }) =>
    spec.versions.flatMap((version) => section(spec, version)),
  );
}

function section(spec: Definition['spec'], version: Version): string[] {
  const { names, group, scope } = spec;
  const { schema, additionalPrinterColumns = [], selectableFields = [] } = version;
  const root = schema.openAPIV3Schema;
  const kubectl = [names.plural, ...(names.shortNames ?? [])].map(code).join(', ');
  const categories = names.categories ?? [];
  const parts = Object.keys(version.subresources ?? {});
  return [
    `### ${names.kind}`,
    cell(root.description ?? ''),
    [
      `- \`apiVersion: ${group}/${version.name}\`, \`kind: ${names.kind}\`, ${scope.toLowerCase()}`,
      `- for kubectl: ${kubectl}${categories.length === 0 ? '' : `; in the category ${categories.map(code).join(', ')}`}`,
      `- subresources: ${parts.map(code).join(', ') || 'none'}`,
      `- selectable fields: ${selectableFields.map(({ jsonPath }) => code(jsonPath)).join(', ') || 'none'}`,
      `- printed columns: ${
        additionalPrinterColumns
          .map(({ name, jsonPath }) => `${name} (${code(jsonPath)})`)
          .join(', ') || 'those of Kubernetes'
      }`,
    ].join('\n'),
    filledTable(
      ['Field', 'Type', 'Required', 'Default', 'Validation', 'Meaning'],
      fieldRows('', root).filter(([path = '']) => !COMMON.has(path.replaceAll('`', ''))),
    ),
  ];
}

function fieldRows(prefix: string, schema: Schema): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    const row = [
      code(path),
      typeOf(field),
      schema.required?.includes(name) === true ? 'yes' : '',
      field.default === undefined ? '' : code(JSON.stringify(field.default)),
      validationOf(field),
      cell(field.description ?? ''),
    ];
    return [row, ...nestedRows(path, field)];
  });
}

function nestedRows(path: string, field: Schema): string[][] {
  if (field.properties !== undefined) return fieldRows(`${path}.`, field);
  if (field.items?.properties !== undefined) return fieldRows(`${path}[].`, field.items);
  return [];
}

function typeOf(schema: Schema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'quantity';
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties !== undefined) {
    return `map to ${typeOf(schema.additionalProperties)}`;
  }
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  return `${schema.type ?? 'any'}${format}`;
}

function validationOf(schema: Schema): string {
  const inner = schema.additionalProperties;
  const rules = [
    schema.enum === undefined ? '' : `one of ${schema.enum.map(code).join(', ')}`,
    bound('at least', schema.minimum, ''),
    bound('at most', schema.maximum, ''),
    schema.minLength === 1 ? 'not empty' : bound('at least', schema.minLength, 'characters'),
    bound('at most', schema.maxLength, 'characters'),
    bound('at least', schema.minItems, 'entries'),
    bound('at most', schema.maxItems, 'entries'),
    schema['x-kubernetes-int-or-string'] === true || inner?.['x-kubernetes-int-or-string'] === true
      ? 'the quantity grammar of Kubernetes'
      : pattern(schema.pattern),
    ...(schema['x-kubernetes-validations'] ?? []).map(
      ({ rule, message }) => `${code(rule)}${message === undefined ? '' : `: ${cell(message)}`}`,
    ),
  ];
  return rules.filter((rule) => rule !== '').join('; ');
}

function bound(words: string, value: number | undefined, unit: string): string {
  return value === undefined ? '' : `${words} ${value} ${unit}`.trim();
}

function pattern(text: string | undefined): string {
  return text === undefined ? '' : code(text);
}
