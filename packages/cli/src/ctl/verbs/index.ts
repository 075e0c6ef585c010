// Every verb of bigfleetctl, in the order in which help and the reference page show them.

import type { Verb } from '../frame/verb.ts';
import { pauseVerb, railsVerb, resumeVerb } from './actuation.ts';
import { brakesClearVerb } from './brakes.ts';
import { createCompletionVerb, versionVerb } from './client.ts';
import { bindClusterVerb, clusterForgetVerb, unbindClusterVerb } from './clusters.ts';
import {
  configDeleteContextVerb,
  configGetContextsVerb,
  configSetContextVerb,
  configUseContextVerb,
  configViewVerb,
} from './config.ts';
import { describeVerb } from './describe.ts';
import { doctorVerb } from './doctor.ts';
import { assignDomainVerb, settleVerb, unassignDomainVerb } from './domains.ts';
import { explainVerb } from './explain.ts';
import { getVerb } from './get.ts';
import { inspectNeedsVerb, LIST_VERBS } from './list.ts';
import {
  deregisterProviderVerb,
  providerResetFailedVerb,
  registerProviderVerb,
} from './providers.ts';
import { recordsVerb } from './records.ts';
import { removeShardVerb } from './remove-shard.ts';
import { setQuotaVerb } from './set-quota.ts';
import { snapshotRestoreVerb, snapshotSaveVerb } from './snapshots.ts';
import { statusVerb } from './status.ts';
import { topVerb } from './top.ts';

export const VERBS: readonly Verb[] = [
  topVerb,
  statusVerb,
  getVerb,
  ...LIST_VERBS,
  describeVerb,
  doctorVerb,
  explainVerb,
  inspectNeedsVerb,
  recordsVerb,
  pauseVerb,
  resumeVerb,
  railsVerb,
  clusterForgetVerb,
  brakesClearVerb,
  assignDomainVerb,
  unassignDomainVerb,
  removeShardVerb,
  settleVerb,
  setQuotaVerb,
  registerProviderVerb,
  deregisterProviderVerb,
  bindClusterVerb,
  unbindClusterVerb,
  providerResetFailedVerb,
  snapshotSaveVerb,
  snapshotRestoreVerb,
  configGetContextsVerb,
  configUseContextVerb,
  configSetContextVerb,
  configDeleteContextVerb,
  configViewVerb,
  createCompletionVerb(() => VERBS),
  versionVerb,
];
