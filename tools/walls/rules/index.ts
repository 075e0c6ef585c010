// All walls. The test beside proves for each that it can fail; a wall without a planted
// violation there fails that test.

import type { Rule } from '../rule.ts';
import { adapters, substrateSdk } from './adapters.ts';
import { runtimeOnly } from './clock.ts';
import { generatedOnce, oneContract } from './contract.ts';
import { folderLayers } from './folder-layers.ts';
import { demoUnimported, layers, packagesInward, publicFace } from './layers.ts';
import { manifest } from './manifest.ts';
import { basePure, enginePure } from './purity.ts';
import { coreWithoutProviders, shardWithoutCoordinator } from './reach.ts';
import { resolved } from './resolved.ts';
import { noSpeedBars } from './speed.ts';
import { tlsVerify } from './tls.ts';

export const RULES: readonly Rule[] = [
  resolved,
  basePure,
  enginePure,
  shardWithoutCoordinator,
  coreWithoutProviders,
  layers,
  publicFace,
  demoUnimported,
  packagesInward,
  folderLayers,
  manifest,
  adapters,
  substrateSdk,
  runtimeOnly,
  noSpeedBars,
  oneContract,
  generatedOnce,
  tlsVerify,
];
