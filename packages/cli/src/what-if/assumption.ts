// What `bigfleet what-if` can change: how long idle machines are held, and what a type of machine
// costs or how often it is interrupted.

import { err, ok, type Result } from '@bigfleet/base';
import { type Flag, parseDuration } from '@bigfleet/process/flags';

export type Assumption =
  | { readonly kind: 'hold'; readonly of: 'onDemand' | 'spot'; readonly ms: number }
  | { readonly kind: 'price'; readonly instanceType: string; readonly dollarsPerHour: number }
  | { readonly kind: 'interruption'; readonly instanceType: string; readonly probability: number };

const EXAMPLE =
  'write on-demand-hold=5m, spot-hold=0, price:m6i.large=0.12 or interruption:m6i.large=0.05';
const MAX_DOLLARS = 1_000_000;

export const assumptions: Flag<Assumption> & { readonly isRepeatable: true } = {
  fallback: '',
  help: 'Assume this instead: on-demand-hold, spot-hold, price:<type>, interruption:<type>.',
  form: '<name=value>',
  isRepeatable: true,
  parse: parseAssumption,
};

function parseAssumption(text: string): Result<Assumption, string> {
  const [, name = '', type = '', value = ''] = /^([a-z-]+)(?::([^=]+))?=(.+)$/.exec(text) ?? [];
  if (type === '' && (name === 'on-demand-hold' || name === 'spot-hold')) {
    const ms = parseDuration(value);
    const of = name === 'spot-hold' ? 'spot' : 'onDemand';
    return ms.ok ? ok({ kind: 'hold', of, ms: ms.value }) : ms;
  }
  const number = /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN;
  if (name === 'price' && type !== '' && number <= MAX_DOLLARS) {
    return ok({ kind: 'price', instanceType: type, dollarsPerHour: number });
  }
  if (name === 'interruption' && type !== '' && number <= 1) {
    return ok({ kind: 'interruption', instanceType: type, probability: number });
  }
  return err(EXAMPLE);
}
