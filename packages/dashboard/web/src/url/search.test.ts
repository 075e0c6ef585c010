// Proves that a page's URL is read strictly, told apart by name when it is wrong, and survives a round trip.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PAGE_NAMES, PAGES } from './pages.ts';
import { parseQuery, printQuery, readSearch, type SearchSpec, writeSearch } from './search.ts';

const map: SearchSpec = PAGES.map.search;

test('an empty URL is the default of every page', () => {
  for (const page of PAGE_NAMES) {
    const spec: SearchSpec = PAGES[page].search;
    const read = readSearch(spec, {});
    assert.ok(read.ok);
    assert.deepEqual(writeSearch(spec, read.search), {}, `${page} writes its own defaults`);
  }
});

test('what is written is read back as it was', () => {
  const search = {
    at: 1_767_225_600_123,
    by: 'cluster',
    q: 'a&b=c #%/ ü',
    table: true,
    colour: 'age',
  };
  const query = printQuery(writeSearch(map, search));
  const read = readSearch(map, parseQuery(query.slice(1)));
  assert.ok(read.ok);
  for (const [name, value] of Object.entries(search)) assert.equal(read.search[name], value);
});

test('each wrong parameter is named, all of them at once', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['at', '-1', /whole number of milliseconds/],
    ['at', '1e3', /whole number of milliseconds/],
    ['at', '99999999999999999', /whole number of milliseconds/],
    ['by', 'colour', /place, cluster, provider/],
    ['state', 'configured', /nothing, Speculative, Creating/],
    ['table', 'yes', /0 or 1/],
    ['q', 'x'.repeat(5_000), /at most 4096/],
    ['nosuch', '1', /no such parameter/],
    ['__proto__', '1', /no such parameter/],
    ['constructor', '1', /no such parameter/],
  ];
  for (const [name, value, message] of cases) {
    const read = readSearch(map, parseQuery(new URLSearchParams([[name, value]]).toString()));
    assert.ok(!read.ok, `${name}=${value} was taken`);
    assert.equal(read.wrong[0]?.name, name);
    assert.match(read.wrong[0]?.message ?? '', message);
  }
  const both = readSearch(map, { at: 'x', by: 'y' });
  assert.ok(!both.ok);
  assert.deepEqual(
    both.wrong.map((parameter) => parameter.name),
    ['at', 'by'],
  );
});

test('a number is held to both of its ends', () => {
  const machines: SearchSpec = PAGES.machines.search;
  for (const [limit, isTaken] of [
    ['0', false],
    ['1', true],
    ['5000', true],
    ['5001', false],
  ] as const) {
    assert.equal(readSearch(machines, { limit }).ok, isTaken, limit);
  }
});

test('no two pages share a path or a key', () => {
  const paths = PAGE_NAMES.map((page) => PAGES[page].path);
  const keys = PAGE_NAMES.map((page) => PAGES[page].key);
  assert.equal(new Set(paths).size, paths.length);
  assert.equal(new Set(keys).size, keys.length);
});
