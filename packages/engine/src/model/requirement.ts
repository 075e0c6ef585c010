// What a need demands of a machine's shape. Same is deliberately vacuous about which value:
// that all machines share one is enforced by the domain choice, never by the matcher.

export const Operator = { In: 1, NotIn: 2, Exists: 3, DoesNotExist: 4, Same: 5 } as const;

export type OperatorCode = 1 | 2 | 3 | 4 | 5;

/** 0, the wire's unspecified value, is none. */
export function isOperatorCode(operator: number): operator is OperatorCode {
  return Number.isInteger(operator) && operator >= 1 && operator <= 5;
}

export const INSTANCE_TYPE_KEY = 'node.kubernetes.io/instance-type';
export const ZONE_KEY = 'topology.kubernetes.io/zone';

export interface Requirement {
  readonly key: string;
  readonly operator: OperatorCode;
  readonly values: readonly string[];
}

/** What requirements look at. */
export interface Attributes {
  readonly instanceType: string;
  readonly zone: string;
  readonly labels: ReadonlyMap<string, string>;
}

export function attributeOf(attributes: Attributes, key: string): string | undefined {
  if (key === INSTANCE_TYPE_KEY && attributes.instanceType !== '') return attributes.instanceType;
  if (key === ZONE_KEY && attributes.zone !== '') return attributes.zone;
  return attributes.labels.get(key);
}

export function satisfies(attributes: Attributes, { key, operator, values }: Requirement): boolean {
  const value = attributeOf(attributes, key);
  switch (operator) {
    case Operator.In:
      return value !== undefined && values.includes(value);
    case Operator.NotIn:
      return value === undefined || !values.includes(value);
    case Operator.Exists:
      return value !== undefined;
    case Operator.DoesNotExist:
      return value === undefined;
    case Operator.Same:
      return value !== undefined && (values.length === 0 || values.includes(value));
  }
}

export function satisfiesAll(attributes: Attributes, all: readonly Requirement[]): boolean {
  return all.every((requirement) => satisfies(attributes, requirement));
}
