// Context of an error or a failed assertion. Flat primitives only: they become log fields and
// metadata as they are, and no object can smuggle a secret or a cycle into a log line.

export type FieldValue = string | number | bigint | boolean | undefined;

export type Fields = Readonly<Record<string, FieldValue>>;
