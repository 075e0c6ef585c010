// Proves that an inbox reads ahead no further than its bound, keeps order, and ends once.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Inbox } from './inbox.ts';
import { readAheadBytes, readAheadMessageCount } from './limits.ts';

/** A transport with endless messages of one size that answers each read at once. */
function endless(size: number) {
  const seen = { reads: 0, abandoned: 0 };
  const inbox: Inbox = new Inbox({
    startRead: () => {
      seen.reads += 1;
      inbox.push(new Uint8Array(size));
    },
    abandon: () => {
      seen.abandoned += 1;
    },
  });
  return { inbox, seen };
}

/** A transport that answers when the test says so. */
function manual() {
  const seen = { reads: 0, abandoned: 0 };
  const inbox = new Inbox({
    startRead: () => {
      seen.reads += 1;
    },
    abandon: () => {
      seen.abandoned += 1;
    },
  });
  return { inbox, seen };
}

const message = (byte: number): Uint8Array => Uint8Array.of(byte);

describe('inbox', () => {
  it('asks for nothing before it is opened', () => {
    assert.equal(manual().seen.reads, 0);
  });

  it('stops reading ahead at the message bound and goes on one by one', async () => {
    const { inbox, seen } = endless(1);
    inbox.open();
    assert.equal(seen.reads, readAheadMessageCount);
    await inbox.next();
    await inbox.next();
    assert.equal(seen.reads, readAheadMessageCount + 2);
  });

  it('stops reading ahead at the byte bound', async () => {
    const { inbox, seen } = endless(readAheadBytes / 2);
    inbox.open();
    assert.equal(seen.reads, 2);
    await inbox.next();
    assert.equal(seen.reads, 3);
  });

  it('answers concurrent reads in order', async () => {
    const { inbox } = manual();
    const reads = [inbox.next(), inbox.next(), inbox.next()];
    inbox.push(message(1));
    inbox.push(message(2));
    inbox.end();
    const steps = await Promise.all(reads);
    assert.deepEqual(
      steps.map(({ value }) => value?.[0]),
      [1, 2, undefined],
    );
  });

  it('delivers what came before a failure, then the failure once, then the end', async () => {
    const { inbox } = manual();
    inbox.open();
    inbox.push(message(1));
    inbox.push(message(2));
    const failure = new Error('broken');
    inbox.fail(failure);
    inbox.end();
    assert.deepEqual((await inbox.next()).value, message(1));
    assert.deepEqual((await inbox.next()).value, message(2));
    await assert.rejects(inbox.next(), failure);
    assert.equal((await inbox.next()).done, true);
  });

  it('fails one of several pending reads and ends the others', async () => {
    const { inbox } = manual();
    const reads = [inbox.next(), inbox.next()];
    inbox.fail(new Error('broken'));
    const outcomes = await Promise.allSettled(reads);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'fulfilled'],
    );
  });

  it('tells the transport once when the consumer leaves, and drops the rest', async () => {
    const { inbox, seen } = manual();
    inbox.open();
    inbox.push(message(1));
    const left = await inbox.return();
    assert.equal(left.done, true);
    await inbox.return();
    inbox.push(message(2));
    inbox.fail(new Error('late'));
    assert.equal((await inbox.next()).done, true);
    assert.equal(seen.abandoned, 1);
  });

  it('ends a pending read when the consumer leaves', async () => {
    const { inbox } = manual();
    const pending = inbox.next();
    await inbox.return();
    assert.equal((await pending).done, true);
  });
});
