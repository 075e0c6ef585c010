// Names of wire enums as people and programs read them: lower case, without the type's prefix.

export function enumName(values: Readonly<Record<string, unknown>>, value: number): string {
  const found = Object.entries(values).find(([, number]) => number === value);
  // A newer server may know more than this build.
  return found === undefined ? `unknown(${value})` : found[0].toLowerCase();
}
