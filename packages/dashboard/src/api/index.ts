// `/api/v1`: frozen and additive. GET only.

export * from './answers.ts';
export * from './common.ts';
export * from './params.ts';
export * from './stream.ts';
