// Proves that the catalogue is complete and usable as documentation, and that errors take code,
// kind and status from it and keep their cause.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BigFleetError, describeThrown, toBigFleetError } from './bigfleet-error.ts';
import { errorCatalogue, errorCodes, isErrorCode } from './catalogue.ts';

test('every entry is a stable code with a kind, two sentences and a status', () => {
  assert.ok(errorCodes.length >= 20);
  for (const code of errorCodes) {
    const entry = errorCatalogue[code];
    assert.match(code, /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/);
    assert.match(entry.kind, /^(user|system|transient)$/);
    for (const text of [entry.meaning, entry.action]) assert.match(text, /^[A-Z].{10,}\.$/, code);
    assert.match(entry.grpc, /^[A-Z_]+$/);
    assert.notEqual(entry.grpc, 'OK');
  }
});

test('the codes that other packages rely on are there', () => {
  const relied = [
    ['tls_partial_configuration', 'tls_bad_material', 'tls_no_ca_certificates', 'tls_required'],
    ['identity_missing', 'identity_ambiguous', 'identity_malformed', 'identity_denied'],
    ['method_not_in_table', 'message_too_large', 'message_malformed', 'deadline_exceeded'],
    ['cancelled', 'unavailable', 'internal', 'node_version', 'address_in_use'],
    ['quantity_malformed', 'quantity_negative', 'quantity_too_long', 'id_malformed'],
    ['price_invalid'],
  ].flat();
  for (const code of relied) assert.ok(isErrorCode(code), code);
  for (const code of ['', 'toString', '__proto__', 'constructor', 'Internal']) {
    assert.equal(isErrorCode(code), false, code);
  }
});

test('an error takes kind and status from the catalogue', () => {
  const cause = new Error('socket closed');
  const error = new BigFleetError('unavailable', 'shard-3 refused', {
    fields: { peer: 'shard-3', attempt: 2 },
    cause,
  });
  assert.ok(error instanceof Error);
  assert.equal(error.name, 'BigFleetError');
  assert.equal(error.kind, 'transient');
  assert.equal(error.grpcStatus, 'UNAVAILABLE');
  assert.equal(error.message, 'shard-3 refused');
  assert.equal(error.cause, cause);
  assert.deepEqual(error.fields, { peer: 'shard-3', attempt: 2 });
  assert.equal('cause' in new BigFleetError('internal', 'no cause'), false);
});

test('a boundary converts anything once', () => {
  const ours = new BigFleetError('tls_required', 'plaintext was not asked for');
  assert.equal(toBigFleetError(ours, 'internal'), ours);
  const wrapped = toBigFleetError(new TypeError('x is not a function'));
  assert.equal(wrapped.code, 'internal');
  assert.equal(wrapped.message, 'x is not a function');
  assert.ok(wrapped.cause instanceof TypeError);
  assert.equal(toBigFleetError('text', 'unavailable').message, 'text');
  assert.equal(toBigFleetError(undefined).message, 'undefined');
  const hostile = Object.create(null) as object;
  assert.equal(describeThrown(hostile), 'a value that cannot be described was thrown');
});
