// Proves that a slider says its value in words that fit it: one cluster, eight times, as written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sliderText, sliderTitle } from './slider-text.ts';

test('a count has its noun in the right number, and zero is as written', () => {
  assert.equal(sliderText({ unit: 'cluster' }, 0), 'as written');
  assert.equal(sliderText({ unit: 'cluster' }, 1), '1 cluster');
  assert.equal(sliderText({ unit: 'cluster' }, 24), '24 clusters');
  assert.equal(sliderTitle({ unit: 'cluster' }, 1), '1 cluster');
});

test('a factor is short beside the slider and in full in the title', () => {
  assert.equal(sliderText({ unit: '× the written price' }, 0.5), '0.5×');
  assert.equal(sliderTitle({ unit: '× the written price' }, 8), '8 × the written price');
});
