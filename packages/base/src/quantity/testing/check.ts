// The one comparison of parser and oracle that both the quick and the long fuzz lane run.

import assert from 'node:assert/strict';
import type { Random } from '../../runtime/runtime.ts';
import { parseQuantity } from '../parse.ts';
import { fromQuanta, toQuanta } from '../quanta.ts';
import { randomQuantityText, RESOURCE_NAMES } from './inputs.ts';
import { oracleParse, oracleQuanta } from './oracle.ts';
import { printQuantity } from '../print.ts';

/** Draws one input, holds everything we say about it against the oracle; true if it parsed. */
export function checkRandomQuantity(random: Random): boolean {
  const text = randomQuantityText(random);
  const expected = oracleParse(text);
  const parsed = parseQuantity(text);
  assert.equal(parsed.ok, expected !== undefined, JSON.stringify(text));
  const resourceName = RESOURCE_NAMES[random.below(RESOURCE_NAMES.length)] ?? 'cpu';
  const rounding = random.below(2) === 0 ? 'demand' : 'allocatable';
  const quanta = toQuanta(text, resourceName, rounding);
  if (!parsed.ok || expected === undefined) {
    assert.deepEqual(quanta, parsed, JSON.stringify(text));
    return false;
  }
  assert.equal(parsed.value.nanos, expected.nanos, text);
  checkPrinting(text, parsed.value.nanos);
  if (expected.nanos < 0n) {
    assert.equal(quanta.ok ? 'ok' : quanta.error.code, 'quantity_negative', text);
  } else {
    const value = oracleQuanta(expected.nanos, resourceName, rounding);
    assert.deepEqual(quanta, { ok: true, value }, `${text} ${resourceName} ${rounding}`);
    const printed = fromQuanta(value, resourceName);
    assert.deepEqual(toQuanta(printed, resourceName, rounding), { ok: true, value }, printed);
  }
  return true;
}

function checkPrinting(text: string, nanos: bigint): void {
  const first = parseQuantity(text);
  assert.ok(first.ok);
  const printed = printQuantity(first.value);
  assert.equal(oracleParse(printed)?.nanos, nanos, `${text} printed as ${printed}`);
  const second = parseQuantity(printed);
  assert.ok(second.ok, printed);
  assert.equal(second.value.nanos, nanos, `${text} printed as ${printed}`);
  assert.equal(printQuantity(second.value), printed, `${text}: printing is not stable`);
}
