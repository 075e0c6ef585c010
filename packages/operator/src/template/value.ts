// Values of a template, as Go's text/template sees them: integers and floats are different kinds, and a
// struct has exactly its fields. Nothing here can reach a JavaScript prototype: fields are looked up in
// a Map, so a template that asks for `.constructor` is told that there is no such field.

export type Value =
  | string
  /** An int. */
  | bigint
  /** A float64. */
  | number
  | boolean
  | null
  | readonly Value[]
  | Struct;

export class Struct {
  readonly typeName: string;
  readonly fields: ReadonlyMap<string, Value>;

  constructor(typeName: string, fields: Readonly<Record<string, Value>>) {
    this.typeName = typeName;
    this.fields = new Map(Object.entries(fields));
  }
}

/** What a template does wrong while it runs, in the words of Go where it has them. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError';
}

/** `fail "<text>"`: the owner of the template refuses this machine; the text is the answer. */
export class TemplateRefusal extends TemplateError {}

export function typeName(value: Value): string {
  if (value === null) return 'nil';
  if (Array.isArray(value)) return value.every((v) => typeof v === 'string') ? '[]string' : '[]any';
  if (value instanceof Struct) return value.typeName;
  if (typeof value === 'bigint') return 'int';
  return typeof value === 'number' ? 'float64' : typeof value === 'boolean' ? 'bool' : 'string';
}

/** Go's truth: false, 0, nil, and what is empty are false; a struct is always true. */
export function isTrue(value: Value): boolean {
  if (value === null) return false;
  if (value instanceof Struct) return true;
  if (typeof value === 'object') return value.length > 0;
  if (typeof value === 'bigint') return value !== 0n;
  return Boolean(value);
}
