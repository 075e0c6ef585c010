// Proves that the time box is shared out fully and fairly, that no file is begun for too little of it
// or may run far beyond it, that every file gets its turn to be first, and that durations are read
// strictly.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LANES } from './lanes.ts';
import { HUNG_MS, killAfterMs, MIN_SHARE_MS, rotate, shareMs } from './long.ts';
import { parseOptions } from './options.ts';

test('rotation keeps the files, depends on the key only and reaches every start', () => {
  const files = ['a', 'b', 'c', 'd'];
  const starts = new Set<string | undefined>();
  for (let day = 0; day < 100; day++) {
    const rotated = rotate(files, `day ${day}`);
    assert.deepEqual(rotated, rotate(files, `day ${day}`));
    assert.deepEqual([...rotated].sort(), files);
    assert.equal(files.indexOf(rotated[1] ?? ''), (files.indexOf(rotated[0] ?? '') + 1) % 4);
    starts.add(rotated[0]);
  }
  assert.equal(starts.size, 4);
  assert.deepEqual(rotate([], 'x'), []);
});

test('shares', () => {
  const table: ReadonlyArray<
    readonly [left: number, files: number, processes: number, ms: number]
  > = [
    [1_000_000, 4, 1, 250_000],
    [1_000_000, 4, 2, 500_000],
    [1_000_000, 1, 2, 1_000_000],
    [1_000_000, 2, 4, 1_000_000],
    [0, 3, 2, 0],
    [-5, 3, 2, 0],
    [1_000_000, 0, 2, 0],
    // Too little for all of them is enough for the first.
    [100_000, 50, 2, MIN_SHARE_MS],
    [MIN_SHARE_MS, 50, 2, MIN_SHARE_MS],
    [MIN_SHARE_MS - 1, 1, 2, 0],
  ];
  for (const [leftMs, filesLeft, processes, ms] of table) {
    assert.equal(shareMs({ leftMs, filesLeft, processes }), ms);
  }
});

test('files that use their share fill the box exactly; unused time goes to later ones', () => {
  let now = 0;
  for (let filesLeft = 5; filesLeft > 0; filesLeft--) {
    now += shareMs({ leftMs: 1_000_000 - now, filesLeft, processes: 1 });
  }
  assert.equal(now, 1_000_000);
  const afterQuickFirst = shareMs({ leftMs: 1_000_000 - 10, filesLeft: 4, processes: 1 });
  assert.ok(afterQuickFirst > 200_000);
});

test('whenever a file is begun, its share ends in the box, and a hung one soon after it', () => {
  for (const boxMs of [1_000, MIN_SHARE_MS, 480_000, 1_800_000]) {
    for (let now = 0; now < boxMs; now += 997) {
      const share = shareMs({ leftMs: boxMs - now, filesLeft: 37, processes: 2 });
      assert.ok(share === 0 || share >= MIN_SHARE_MS, `${share} ms of ${boxMs}`);
      assert.ok(now + share <= boxMs, `${share} ms at ${now} of ${boxMs}`);
      if (share > 0) assert.ok(now + killAfterMs(share) <= boxMs + HUNG_MS);
    }
  }
});

test('durations', () => {
  const table: ReadonlyArray<readonly [text: string, ms: number | undefined]> = [
    ['30m', 1_800_000],
    ['90s', 90_000],
    ['500ms', 500],
    ['1.5h', 5_400_000],
    ['0s', undefined],
    ['25h', undefined],
    ['30', undefined],
    ['-5m', undefined],
    ['m', undefined],
  ];
  for (const [text, ms] of table) {
    const read = () => parseOptions(['--long', `--time=${text}`], LANES, []).boxMs;
    if (ms === undefined) assert.throws(read, /bad --time/, text);
    else assert.equal(read(), ms, text);
  }
});
